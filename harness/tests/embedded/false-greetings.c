/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that reach our sockets without keeping to the way a connection is made: connectors with
 * another hello, listeners with another welcome. They get no connection, leave no descriptor, and
 * the next one is served.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <scif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"
#include "block.h"
#include "hand_made.h"
#include "request.h"

enum {
	PORT = 2000,
	FALSE_PORT = 3000,
	OTHER_PORT = 4000,
	PRIVILEGED = 700,
	NOBODY = 65534,
	FILLER = 9000,
	LIMIT_SECONDS = 60
};

static char fabric[40];

static int a_pipe(void)
{
	int ends[2];

	must(pipe2(ends, O_CLOEXEC), "pipe2");
	close(ends[1]);
	return ends[0];
}

/* --- connectors --- */

enum { A_BLOCK, A_STORE, A_SOCKET, A_PIPE, UNSEALED, ANOTHER_SIZE, ANOTHER_MAGIC, READ_ONLY };

static const struct connector {
	const char *name;
	const char *from;
	uint32_t magic, version, filler;
	size_t files;
	int file[HELLO_FDS];
	bool half;
	int port; /* 0: OTHER_PORT */
	bool other_user;
} connectors[] = {
	{"a right one",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = false},
	{"another magic",
	 "scif/%s/0/%d",
	 1,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = false},
	{"another version",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 9,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = false},
	{"no filler",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 0,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = false},
	{"half a hello",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = true},
	{"no file", "scif/%s/0/%d", HELLO_MAGIC, BLOCK_VERSION, FILLER, 0, {0}, .half = false},
	{"one file",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 1,
	 {A_BLOCK},
	 .half = false},
	{"many files",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 HAND_MADE_FDS,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = false},
	{"a block that may shrink",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {UNSEALED, A_STORE, A_SOCKET},
	 .half = false},
	{"a block of another size",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {ANOTHER_SIZE, A_STORE, A_SOCKET},
	 .half = false},
	{"a block of another magic",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {ANOTHER_MAGIC, A_STORE, A_SOCKET},
	 .half = false},
	{"a block that cannot be written",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {READ_ONLY, A_STORE, A_SOCKET},
	 .half = false},
	{"a pipe for a block",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_PIPE, A_STORE, A_SOCKET},
	 .half = false},
	{"a store that may shrink",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, UNSEALED, A_SOCKET},
	 .half = false},
	{"a pipe for a store",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_PIPE, A_SOCKET},
	 .half = false},
	{"a pipe to talk",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_PIPE},
	 .half = false},
	{"another name",
	 "other/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = false},
	{"a name of no port",
	 "scif/%s/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = false},
	{"a name of no number",
	 "scif/%s/0/x%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = false},
	{"root on a privileged port",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 false,
	 .port = PRIVILEGED},
	{"another user on a privileged port",
	 "scif/%s/0/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 false,
	 .port = PRIVILEGED,
	 .other_user = true},
	{"a node that is not there",
	 "scif/%s/77/%d",
	 HELLO_MAGIC,
	 BLOCK_VERSION,
	 FILLER,
	 3,
	 {A_BLOCK, A_STORE, A_SOCKET},
	 .half = false},
};
enum { CONNECTORS = sizeof(connectors) / sizeof(connectors[0]) };

static int file_of_kind(int kind, int *other_end)
{
	int ends[2];

	switch (kind) {
	case A_BLOCK:
		return hand_made_block(BLOCK_MAGIC);
	case ANOTHER_MAGIC:
		return hand_made_block(1);
	case READ_ONLY:
		return hand_made_reopened(hand_made_block(BLOCK_MAGIC), O_RDONLY);
	case A_STORE:
		return hand_made_memory((size_t)1 << 20, F_SEAL_SHRINK);
	case ANOTHER_SIZE:
		return hand_made_memory(4096, F_SEAL_SHRINK);
	case UNSEALED:
		return hand_made_memory(sizeof(struct block), 0);
	case A_PIPE:
		return a_pipe();
	default:
		must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair");
		*other_end = ends[1];
		return ends[0];
	}
}

static int port_of(const struct connector *c)
{
	return c->port ? c->port : OTHER_PORT;
}

/* Privileged ports are root's. */
static bool is_right(const struct connector *c)
{
	return c == connectors || (c->port == PRIVILEGED && !c->other_user && geteuid() == 0);
}

/* The kernel remembers who connects. */
static void reach(const struct connector *c, int sock, const struct sockaddr_un *to,
		  socklen_t length)
{
	uid_t user = geteuid();

	if (c->other_user && user == 0)
		must(seteuid(NOBODY), "seteuid");
	must(connect(sock, (const struct sockaddr *)to, length), "connect");
	must(seteuid(user), "seteuid");
	/* Who has been somebody else has other stores. */
	prctl(PR_SET_DUMPABLE, 1);
}

/* Its socket and its end of the talk. */
static int knock(const struct connector *c, int *talk)
{
	static char bytes[FILLER];
	struct hello hello = {c->magic, c->version, FILLER, c->filler};
	struct sockaddr_un to;
	socklen_t length = hand_made_name(&to, "scif/%s/0/%d", fabric, PORT);
	int sock = hand_made_socket(0, c->from, fabric, port_of(c)), fds[HAND_MADE_FDS];

	for (size_t i = 0; i < c->files; i++)
		fds[i] = file_of_kind(c->file[i < HELLO_FDS ? i : 0], talk);
	memcpy(bytes, &hello, sizeof(hello));
	reach(c, sock, &to, length);
	must(hand_made_send(sock, bytes, c->half ? sizeof(hello) / 2 : FILLER, fds, c->files, 0),
	     "sendmsg");
	for (size_t i = 0; i < c->files; i++)
		close(fds[i]);
	return sock;
}

static int descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) != -1;
	return count;
}

static bool is_served(scif_epd_t listener, const struct connector *c)
{
	struct scif_portID who;
	scif_epd_t epd = -1;
	int talk = -1, sock = knock(c, &talk);
	bool accepted = scif_accept(listener, &who, &epd, 0) == 0;

	if (!accepted && errno != EAGAIN && errno != ENODEV)
		printf("  accept gave %s\n", strerrorname_np(errno));
	else if (accepted)
		accepted = who.port == port_of(c) && scif_close(epd) == 0;
	close(talk);
	close(sock);
	return accepted;
}

/* Those that gave up while they waited are not shown, one behind them is. */
static bool dead_are_not_shown(scif_epd_t listener)
{
	struct scif_pollepd entry = {.epd = listener, .events = SCIF_POLLIN};
	int talk = -1;
	bool good;

	for (int i = 0; i < 2; i++) {
		close(knock(&connectors[0], &talk));
		close(talk);
	}
	good = scif_poll(&entry, 1, 0) == 0;
	int sock = knock(&connectors[0], &talk);
	good = good && scif_poll(&entry, 1, 0) == 1 && entry.revents == SCIF_POLLIN;
	close(sock);
	close(talk);
	return good && scif_poll(&entry, 1, 0) == 0;
}

/* An honest connector behind it; in this process. */
static bool next_is_served(scif_epd_t listener)
{
	struct scif_portID to = {0, PORT}, who;
	scif_epd_t epd = scif_open(), other;
	bool good;

	fcntl(epd, F_SETFL, O_NONBLOCK);
	scif_connect(epd, &to);
	good = scif_accept(listener, &who, &other, SCIF_ACCEPT_SYNC) == 0 &&
	       scif_connect(epd, &to) > 0;
	if (good)
		scif_close(other);
	scif_close(epd);
	return good;
}

/* --- listeners --- */

static const struct listener {
	const char *name;
	bool joins, says;
	uint32_t magic, filler;
	int file; /* -1: none */
	int error;
} listeners[] = {
	{"a right one", true, true, HELLO_MAGIC, FILLER, A_STORE, 0},
	{"one that says nothing", true, false, 0, 0, -1, ECONNREFUSED},
	{"one that leaves", false, false, 0, 0, -1, ECONNREFUSED},
	{"another magic", true, true, 1, FILLER, A_STORE, ECONNREFUSED},
	{"no filler", true, true, HELLO_MAGIC, 0, A_STORE, ECONNREFUSED},
	{"too much filler", true, true, HELLO_MAGIC, 1 << 30, A_STORE, ECONNREFUSED},
	{"no store", true, true, HELLO_MAGIC, FILLER, -1, ECONNREFUSED},
	{"a pipe for a store", true, true, HELLO_MAGIC, FILLER, A_PIPE, ENOBUFS},
};
enum { LISTENERS = sizeof(listeners) / sizeof(listeners[0]) };

static void answer(const struct listener *l, int sock)
{
	char bytes[FILLER];
	int fds[HELLO_FDS], file = -1, unused;
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(HELLO_FDS * sizeof(int))];
	} control;
	struct iovec part = {.iov_base = bytes, .iov_len = sizeof(struct hello)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct welcome welcome = {l->magic, l->filler};

	must(recvmsg(sock, &message, MSG_WAITALL), "recvmsg");
	memcpy(fds, CMSG_DATA(&control.header), sizeof(fds));
	struct block *block =
		mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED, fds[HELLO_BLOCK], 0);
	must(block == MAP_FAILED ? -1 : 0, "mmap");
	if (l->file >= 0)
		file = file_of_kind(l->file, &unused);
	if (l->says)
		must(hand_made_send(fds[HELLO_CTL], &welcome, sizeof(welcome), &file, file >= 0, 0),
		     "sendmsg");
	if (l->joins)
		atomic_store(&block->side[SIDE_ACCEPTOR].state, BLOCK_SIDE_JOINED);
	/* The connector looks again when the hello has been taken off. */
	while (l->joins && recv(sock, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	while (l->joins && recv(sock, bytes, sizeof(bytes), 0) > 0)
		;
	close(sock);
	for (int i = 0; i < HELLO_FDS; i++)
		close(fds[i]);
	close(file);
	munmap(block, sizeof(*block));
}

static pid_t start_listeners(void)
{
	int listener = hand_made_socket(0, "scif/%s/0/%d", fabric, FALSE_PORT);
	pid_t pid;

	must(listen(listener, 4), "listen");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < LISTENERS; i++)
			answer(&listeners[i], accept4(listener, NULL, NULL, SOCK_CLOEXEC));
		_exit(0);
	}
	close(listener);
	return pid;
}

static bool is_answered(const struct listener *l)
{
	struct scif_portID to = {0, FALSE_PORT};
	scif_epd_t epd = scif_open();
	int port = scif_connect(epd, &to), error = errno;

	if (port < 0 && error != l->error)
		printf("  connect gave %s\n", strerrorname_np(error));
	scif_close(epd);
	return port > 0 ? l->error == 0 : error == l->error;
}

int main(void)
{
	int failed = 0, before;

	alarm(LIMIT_SECONDS);
	snprintf(fabric, sizeof(fabric), "greetings-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setbuf(stdout, NULL);
	pid_t pid = start_listeners();
	scif_epd_t listener = scif_open();
	must(scif_bind(listener, PORT), "bind");
	must(scif_listen(listener, 4), "listen");
	next_is_served(listener);
	before = descriptors();
	for (int i = 0; i < CONNECTORS; i++) {
		const struct connector *c = &connectors[i];
		bool good = is_served(listener, c) == is_right(c) && next_is_served(listener);

		printf("%s: a connector: %s\n", good ? "ok" : "not ok", c->name);
		failed += !good;
	}
	bool shown = dead_are_not_shown(listener);
	printf("%s: connectors that gave up\n", shown ? "ok" : "not ok");
	failed += !shown;
	for (int i = 0; i < LISTENERS; i++) {
		bool good = is_answered(&listeners[i]);

		printf("%s: a listener: %s\n", good ? "ok" : "not ok", listeners[i].name);
		failed += !good;
	}
	waitpid(pid, NULL, 0);
	printf("%s: no descriptor is left\n", descriptors() == before ? "ok" : "not ok");
	return failed > 0 || descriptors() != before;
}
