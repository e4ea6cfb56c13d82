/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a peer of another user can get at when it does not keep to the calls: of the memory that it
 * shares with us, all that was ever registered for its user and nothing else; of privileged ports
 * nothing. A peer of our own user, beside it, sees all that is registered for that user.
 */
#include <errno.h>
#include <scif.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"
#include "hand_made.h"

enum { PAGE = 4096, NOBODY = 65534, SKIPPED = 77, LIMIT_SECONDS = 60 };
enum { PORT = 2000, PRIVILEGED = 700, LOOKED_AT = 1 << 20 };

static const char ours[] = "registered for our own user", theirs[] = "registered for the other one";

/* --- the peer --- */

/* In the beginning of every store that it has, its own and those that were handed to it. */
static bool finds(const char *text)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[300];
	bool found = false;

	must(maps == NULL ? -1 : 0, "maps");
	while (!found && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "memfd:scif-store") ||
		    sscanf(line, "%lx-%lx", &start, &end) != 2 || end - start < LOOKED_AT)
			continue;
		must(mprotect((void *)start, LOOKED_AT, PROT_READ), "mprotect");
		found = memmem((void *)start, LOOKED_AT, text, strlen(text) - 1) != NULL;
	}
	fclose(maps);
	return found;
}

/* Its answer has a bit for each text that it found. */
static int be_the_peer(void)
{
	struct scif_portID to = {.node = 0, .port = PORT};
	scif_epd_t epd = scif_open();
	char answer;

	must(scif_connect(epd, &to), "connect");
	if (scif_recv(epd, &answer, 1, SCIF_RECV_BLOCK) != 1)
		return BROKEN;
	answer = (char)(finds(ours) | finds(theirs) << 1);
	scif_send(epd, &answer, 1, SCIF_SEND_BLOCK);
	scif_recv(epd, &answer, 1, SCIF_RECV_BLOCK);
	return 0;
}

/* A listener on a privileged port, made past the library. */
static void pose(const char *fabric, int told)
{
	int sock = hand_made_socket(0, "scif/%s/0/%d", fabric, PRIVILEGED);

	must(listen(sock, 4), "listen");
	must(write(told, "l", 1), "write");
	for (;;)
		pause();
}

static pid_t start(uid_t uid, const char *fabric, int told)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	must(setresuid(uid, uid, uid), "setresuid");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (told >= 0)
		pose(fabric, told);
	execl("/proc/self/exe", "other-user", "peer", NULL);
	_exit(BROKEN);
}

/* --- our side --- */

static void open_with(scif_epd_t epd, const char *text)
{
	char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	strcpy(memory, text);
	must(scif_register(epd, memory, PAGE, 0, SCIF_PROT_READ, 0), "register");
}

static bool sees(scif_epd_t listener, scif_epd_t own, uid_t uid, int wanted)
{
	struct scif_portID who;
	pid_t pid = start(uid, NULL, -1);
	scif_epd_t epd;
	char answer = 'g';
	int status;

	must(scif_accept(listener, &who, &epd, SCIF_ACCEPT_SYNC), "accept");
	open_with(own, ours);
	open_with(epd, uid == getuid() ? "nothing" : theirs);
	must(scif_send(epd, &answer, 1, SCIF_SEND_BLOCK), "send");
	must(scif_recv(epd, &answer, 1, SCIF_RECV_BLOCK) == 1 ? 0 : -1, "recv");
	scif_close(epd);
	waitpid(pid, &status, 0);
	return answer == wanted;
}

static bool is_refused(const char *fabric)
{
	struct scif_portID to = {.node = 0, .port = PRIVILEGED};
	scif_epd_t epd = scif_open();
	int told[2], status;
	char byte;

	must(pipe(told), "pipe");
	pid_t pid = start(NOBODY, fabric, told[1]);
	must(read(told[0], &byte, 1) == 1 ? 0 : -1, "read");
	bool refused = scif_connect(epd, &to) < 0 && errno == ECONNREFUSED;
	scif_close(epd);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return refused;
}

static int failed;

static void say(bool good, const char *what)
{
	printf("%s: %s\n", good ? "ok" : "not ok", what);
	failed += !good;
}

int main(int argc, char **argv)
{
	char fabric[40];
	scif_epd_t one, other, listener;

	alarm(LIMIT_SECONDS);
	(void)argv;
	if (argc == 2)
		return be_the_peer();
	if (geteuid() != 0) {
		printf("SKIP: only root can have a peer that is another user\n");
		return SKIPPED;
	}
	snprintf(fabric, sizeof(fabric), "other-user-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setbuf(stdout, NULL);
	connect_ends(&one, &other);
	listener = scif_open();
	must(scif_bind(listener, PORT), "bind");
	must(scif_listen(listener, 4), "listen");
	say(sees(listener, one, 0, 1), "a peer of our user sees what is registered for our user");
	say(sees(listener, one, NOBODY, 2),
	    "a peer of another user sees what is registered for its user only");
	say(is_refused(fabric), "another user's listener on a privileged port is refused");
	return failed != 0;
}
