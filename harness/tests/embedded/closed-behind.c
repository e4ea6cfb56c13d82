/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that close descriptors which they did not open, or leave no room for more: what a call
 * has to have is made anew or refused with an error that its text has, and what only tells others
 * of the process goes without.
 */
#include <errno.h>
#include <fcntl.h>
#include <scif.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"
#include "hand_made.h"

enum { PAGE = 4096, HIGH = 5000, NAMES = 64, CROWD = 600, LIMIT_SECONDS = 60 };
enum { BOTH = SCIF_PROT_READ | SCIF_PROT_WRITE };

static scif_epd_t own, peer;
static char fabric[40];

/* All but the two ends. */
static void close_all(void)
{
	for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
		if (fd != own && fd != peer)
			close(fd);
}

static bool talks(void)
{
	char byte = 0;

	return scif_send(own, "o", 1, 0) == 1 && scif_recv(peer, &byte, 1, SCIF_RECV_BLOCK) == 1 &&
	       byte == 'o' && scif_send(peer, "p", 1, 0) == 1 &&
	       scif_recv(own, &byte, 1, SCIF_RECV_BLOCK) == 1 && byte == 'p';
}

static char *memory(int flags)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);

	must(page == MAP_FAILED ? -1 : 0, "mmap");
	memset(page, 'm', PAGE);
	return page;
}

static bool reads(off_t window)
{
	char byte = 0;

	return window >= 0 && scif_vreadfrom(peer, &byte, 1, window, 0) == 0 && byte == 'm';
}

static bool messages_go_on(void)
{
	struct scif_pollepd entry = {.epd = own, .events = SCIF_POLLIN};
	uint16_t self;
	char byte;

	close_all();
	return scif_poll(&entry, 1, 10) == 0 && talks() && scif_recv(own, &byte, 1, 0) == 0 &&
	       scif_get_nodeIDs(NULL, 0, &self) == 2 && talks();
}

/* Where nothing has to be told to the peer, and where a file has to be handed over. */
static bool windows_go_on(void)
{
	off_t before = scif_register(own, memory(MAP_PRIVATE | MAP_ANONYMOUS), PAGE, 0, BOTH, 0);
	int fd = memfd_create("shared", 0);

	must(ftruncate(fd, PAGE), "ftruncate");
	char *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close_all();
	return reads(before) && scif_register(own, shared, PAGE, 0, BOTH, 0) == -1 &&
	       (errno == EAGAIN || errno == ECONNRESET) && reads(before) && talks();
}

static int shared_file(char **page)
{
	int fd = memfd_create("shared", MFD_CLOEXEC);

	must(fd, "memfd_create");
	must(ftruncate(fd, PAGE), "ftruncate");
	*page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(*page == MAP_FAILED ? -1 : 0, "mmap");
	return fd;
}

/* Sockets that tell of files, alone: the file itself is still there. */
static void close_control(void)
{
	for (int fd = STDERR_FILENO + 1; fd < 256; fd++) {
		int type = 0;
		socklen_t length = sizeof(type);

		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
		    type == SOCK_SEQPACKET)
			close(fd);
	}
}

static bool file_cannot_be_told(void)
{
	char *page;

	shared_file(&page);
	close_control();
	return scif_register(own, page, PAGE, 0, BOTH, 0) == -1 && errno == ECONNRESET && talks() &&
	       reads(scif_register(own, memory(MAP_PRIVATE | MAP_ANONYMOUS), PAGE, 0, BOTH, 0));
}

/* It was told of; who is to hear of it has no ear any more. */
static bool file_is_not_heard_of(void)
{
	char *page, byte;

	shared_file(&page);
	off_t window = scif_register(own, page, PAGE, 0, BOTH, 0);
	must(window, "register");
	close_control();
	return scif_vreadfrom(peer, &byte, 1, window, 0) == -1 &&
	       (errno == ECONNRESET || errno == ENXIO) && talks();
}

/* --- numbers beyond those that are described to scif-fabric --- */

static void allow_high(void)
{
	struct rlimit most;

	must(getrlimit(RLIMIT_NOFILE, &most), "getrlimit");
	most.rlim_cur = most.rlim_max;
	must(setrlimit(RLIMIT_NOFILE, &most), "setrlimit");
}

static bool high_number(void)
{
	scif_epd_t low = scif_open(), epd = fcntl(low, F_DUPFD, HIGH);

	must(epd, "F_DUPFD");
	close(low);
	return scif_bind(epd, 0) > 0 && scif_listen(epd, 1) == 0 && scif_close(epd) == 0 && talks();
}

static bool described_nowhere(void)
{
	allow_high();
	close_all();
	return high_number();
}

static bool no_file_to_grow(void)
{
	struct rlimit none = {0, 0};

	allow_high();
	signal(SIGXFSZ, SIG_IGN);
	must(setrlimit(RLIMIT_FSIZE, &none), "setrlimit");
	return high_number();
}

static bool no_memory_to_grow(void)
{
	allow_high();
	leave_memory(16 * PAGE);
	return high_number();
}

/* --- a child of which nothing is made anew --- */

static bool child_without_room(void)
{
	struct rlimit none = {0, 0};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		char byte;

		must(setrlimit(RLIMIT_NOFILE, &none), "setrlimit");
		_exit(scif_recv(own, &byte, 1, 0) != 0 || scif_open() != SCIF_OPEN_FAILED ||
		      errno != ENOMEM);
	}
	waitpid(pid, &status, 0);
	return status == 0 && talks();
}

/* Its names were taken by somebody who knew its number. */
static bool child_without_a_name(void)
{
	int status, ready[2];

	must(pipe(ready), "pipe");
	pid_t pid = fork();
	if (pid == 0) {
		char byte;

		must(read(ready[0], &byte, 1), "read");
		_exit(scif_open() != SCIF_OPEN_FAILED || errno != ENXIO);
	}
	for (int i = 0; i < NAMES; i++) {
		struct sockaddr_un name;
		char format[40] = "scif/%s/0/pid/%d";

		if (i > 0)
			snprintf(format + strlen(format), 8, ".%d", i);
		socklen_t length = hand_made_name(&name, format, fabric, (int)pid);
		must(bind(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), (struct sockaddr *)&name,
			  length),
		     "bind");
	}
	must(write(ready[1], "g", 1), "write");
	waitpid(pid, &status, 0);
	return status == 0 && talks();
}

/* More holders of one endpoint than are kept account of: it lives as long as any of them. */
static bool crowd_of_children(void)
{
	int hold[2];
	char byte;
	bool good;

	must(pipe(hold), "pipe");
	for (int i = 0; i < CROWD; i++) {
		pid_t pid = fork();

		/* A user may have no more; what holds for many holds for fewer. */
		if (pid < 0)
			break;
		if (pid == 0) {
			close(hold[1]);
			close(peer);
			_exit(read(hold[0], &byte, 1) != 0);
		}
	}
	scif_close(own);
	good = scif_send(peer, "x", 1, 0) == 1 && scif_recv(peer, &byte, 1, 0) == 0;
	close(hold[1]);
	return good && scif_recv(peer, &byte, 1, SCIF_RECV_BLOCK) == -1 && errno == ECONNRESET;
}

/* --- hardly any room --- */

/* A limit that every open descriptor is beyond, and that poll(2) still takes entries under. */
enum { POLLED = 3 };

static scif_epd_t listen_for(struct scif_portID *to)
{
	scif_epd_t listener = scif_open();
	int port = scif_bind(listener, 0);

	must(port, "bind");
	must(scif_listen(listener, 4), "listen");
	*to = (struct scif_portID){.node = 0, .port = (uint16_t)port};
	return listener;
}

static scif_epd_t begin_connect(struct scif_portID *to)
{
	scif_epd_t epd = scif_open();

	must(fcntl(epd, F_SETFL, O_NONBLOCK), "F_SETFL");
	must(scif_connect(epd, to) == -1 && errno == EINPROGRESS ? 0 : -1, "connect");
	return epd;
}

static bool gives(int error, int result)
{
	return result == -1 && errno == error;
}

/* One that was refused gets another socket, for which there is none: its next use needs one. */
static bool refused_without_room(void)
{
	struct scif_portID to;
	scif_epd_t listener = listen_for(&to), epd = begin_connect(&to);
	struct rlimit before, none;

	must(scif_close(listener), "close");
	must(getrlimit(RLIMIT_NOFILE, &before), "getrlimit");
	none = (struct rlimit){.rlim_cur = POLLED, .rlim_max = before.rlim_max};
	must(setrlimit(RLIMIT_NOFILE, &none), "setrlimit");
	bool refused = gives(ECONNREFUSED, scif_connect(epd, &to)) &&
		       gives(ENOBUFS, scif_connect(epd, &to)) && scif_listen(epd, 1) == -1 &&
		       (errno == ENOMEM || errno == ENOBUFS);
	must(setrlimit(RLIMIT_NOFILE, &before), "setrlimit");
	return refused && gives(ECONNREFUSED, scif_connect(epd, &to)) && scif_listen(epd, 1) == 0;
}

enum { LIMIT = 64, ROOM = 8 };

/* Nothing that comes with a request stays under a standard number but an endpoint, whatever else is
 * free. */
static bool accepts_with(scif_epd_t listener, struct scif_portID *to, int room)
{
	struct scif_portID from;
	struct scif_pollepd entry = {.epd = listener, .events = SCIF_POLLIN};
	scif_epd_t epd = begin_connect(to), new = -1;
	int filler[LIMIT], count = 0, error = 0;

	while ((filler[count] = fcntl(own, F_DUPFD, STDERR_FILENO + 1)) >= 0)
		count++;
	for (int i = 0; i < room && count > 0; i++)
		close(filler[--count]);
	if (scif_accept(listener, &from, &new, 0) != 0)
		error = errno;
	while (count > 0)
		close(filler[--count]);
	bool good = error == 0 || error == ENOBUFS || error == ENOMEM || error == EAGAIN;
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		good &= fd == epd || fd == new || fcntl(fd, F_GETFD) == -1;
	/* It is not lost for the shortage. */
	if (new < 0)
		good &= scif_poll(&entry, 1, 0) == 1 && scif_accept(listener, &from, &new, 0) == 0;
	scif_close(new);
	scif_close(epd);
	while (scif_accept(listener, &from, &new, 0) == 0)
		scif_close(new);
	return good;
}

static bool accept_without_standard_ones(void)
{
	struct scif_portID to;
	scif_epd_t listener = listen_for(&to);
	struct rlimit few = {LIMIT, LIMIT};
	bool good = true;

	must(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		close(fd);
	for (int room = 0; room < ROOM; room++)
		good &= accepts_with(listener, &to, room);
	return good && talks();
}

static int how_it_ends(bool (*holds)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(LIMIT_SECONDS);
		connect_ends(&own, &peer);
		exit(!holds());
	}
	return ended_as(pid);
}

int main(void)
{
	static const struct {
		const char *name;
		bool (*holds)(void);
	} cases[] = {
		{"all closed: messages go on", messages_go_on},
		{"all closed: windows go on", windows_go_on},
		{"a file cannot be told of", file_cannot_be_told},
		{"a file is not heard of", file_is_not_heard_of},
		{"all closed: a high number", described_nowhere},
		{"a high number, and files may not grow", no_file_to_grow},
		{"a high number, and no memory for more", no_memory_to_grow},
		{"a child that can have no descriptor", child_without_room},
		{"a child whose names are taken", child_without_a_name},
		{"many children that share an endpoint", crowd_of_children},
		{"a refused connect, and no room for another", refused_without_room},
		{"requests, and hardly any room", accept_without_standard_ones},
	};
	int failed = 0;

	snprintf(fabric, sizeof(fabric), "closed-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setbuf(stdout, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int end = how_it_ends(cases[i].holds);

		printf("%s: %s\n", end == 0 ? "ok" : "not ok", cases[i].name);
		if (end != 0)
			printf("  it ended with %d\n", end);
		failed += end != 0;
	}
	return failed != 0;
}
