/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a peer may do to the memory that it shares with us: for each damage of a table a peer writes
 * nonsense into the block of a connection, or into its control socket, while both sides have
 * windows, mappings and messages. Every call on the connection then comes back, with an error that
 * its text has; the process and its other connection are none the worse.
 *
 * A damage is a place in the block and bytes, and exercise() does not know which it meets: made-up
 * damages can be tried the same way.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <scif.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ends.h"
#include "block.h"
#include "hand_made.h"

enum { PAGE = 4096, PAGES = 4, SIZE = PAGES * PAGE, PORT = 2000, LONG = 5000 };
/* So long a peer stays: a call that waits for it ends when it goes. All of a damage takes no longer
 * than that. */
enum { STAY_MS = 200, LIMIT_SECONDS = 20 };
/* The peer connects, so that places are the same each time. */
enum { PEER = SIDE_CONNECTOR, OWN = SIDE_ACCEPTOR };

/* --- damages --- */

struct damage {
	const char *name;
	uint64_t value;
	size_t at, bytes;     /* in the block */
	size_t count, stride; /* so many times over; count 0: once */
	bool restless;	      /* value and what was there, in turn, as long as the peer is there */
};

#define AT(member)                                                                                 \
	.at = offsetof(struct block, member), .bytes = sizeof(((struct block *)NULL)->member)
/* Both children of a node. */
#define BOTH_WAYS(side)                                                                            \
	.at = offsetof(struct block, mem[side].node[0].left), .bytes = sizeof(uint64_t)
#define NODES	  .count = MEM_NODES_INLINE, .stride = sizeof(struct tree_node)
#define TRANSFERS .count = MEM_TRANSFERS, .stride = sizeof(struct transfer)
#define SIGNALS	  .count = MEM_SIGNALS, .stride = sizeof(struct pending_signal)

static const struct damage damages[] = {
	{"none", BLOCK_MAGIC, AT(magic)},
	{"more in the ring to us than fits", 5000, AT(ring[PEER].head)},
	{"more taken than there was", 5000, AT(ring[PEER].tail)},
	{"more in the ring from us than fits", 9000, AT(ring[OWN].head)},
	{"less in the ring from us than was taken", 9000, AT(ring[OWN].tail)},
	{"bytes without a doorbell", 17, AT(ring[PEER].head)},
	{"a ring that is full without a doorbell", 4095, AT(ring[OWN].head)},
	{"every mark of a writer", UINT64_MAX << 32 | 17, AT(ring[PEER].head)},
	{"every mark of ours", UINT64_MAX << 32 | 17, AT(ring[OWN].head)},
	{"every mark of a reader", UINT64_MAX << 32 | 8, AT(ring[OWN].tail)},
	{"a ring to us that never rests", 4000, AT(ring[PEER].head), .restless = true},
	{"a ring from us that never rests", 4000, AT(ring[OWN].head), .restless = true},
	{"a reader that never rests", UINT64_MAX << 32, AT(ring[OWN].tail), .restless = true},
	{"our reading never rests", UINT64_MAX << 32, AT(ring[PEER].tail), .restless = true},
	{"what it wrote is being taken back", RING_TAKEBACK | sizeof(off_t), AT(ring[PEER].tail)},
	{"a state that is none", 77, AT(side[PEER].state)},
	{"our own state closed", BLOCK_SIDE_CLOSED, AT(side[OWN].state)},
	{"its windows begin at no node", UINT32_MAX, AT(mem[PEER].windows)},
	{"its windows begin in a chunk that is not there", 5000, AT(mem[PEER].windows)},
	{"a chunk outside its store", UINT32_MAX, AT(mem[PEER].chunk_frame[1])},
	{"its windows go round", 1, AT(mem[PEER].node[0].left), NODES},
	{"its windows go round to the right", 1, AT(mem[PEER].node[0].right), NODES},
	{"its windows go round both ways", UINT64_C(1) << 32 | 1, BOTH_WAYS(PEER), NODES},
	{"its windows never rest", UINT64_C(1) << 32, AT(mem[PEER].windows), .restless = true},
	{"its windows end everywhere", UINT64_MAX, AT(mem[PEER].node[0].pages), NODES},
	{"its windows are empty", 0, AT(mem[PEER].node[0].pages), NODES},
	{"its windows are in no store", 1, AT(mem[PEER].node[0].store), NODES},
	{"its windows are in a store beyond all", 4711, AT(mem[PEER].node[0].store), NODES},
	{"its windows are outside its store", UINT64_MAX, AT(mem[PEER].node[0].frame), NODES},
	{"its windows allow everything", 255, AT(mem[PEER].node[0].prot), NODES},
	{"its windows are closed", 1, AT(mem[PEER].node[0].closed), NODES},
	{"its mappings begin at no node", UINT32_MAX, AT(mem[PEER].mappings)},
	{"its mappings never rest", UINT64_C(1) << 32, AT(mem[PEER].mappings), .restless = true},
	{"its mappings are everywhere", UINT64_MAX, AT(mem[PEER].node[0].end), NODES},
	{"its mappings are of nobody", 0, AT(mem[PEER].node[0].holder), NODES},
	{"our windows begin at no node", UINT32_MAX, AT(mem[OWN].windows)},
	{"our windows begin in a chunk", 60, AT(mem[OWN].windows)},
	{"our windows go round", 1, AT(mem[OWN].node[0].left), NODES},
	{"our windows go round to the right", 1, AT(mem[OWN].node[0].right), NODES},
	{"our windows go round both ways", UINT64_C(1) << 32 | 1, BOTH_WAYS(OWN), NODES},
	{"our windows never rest", UINT64_C(1) << 32, AT(mem[OWN].windows), .restless = true},
	{"our windows are longer than they were", 1 << 20, AT(mem[OWN].node[0].pages), NODES},
	{"our windows have children of no pool", UINT32_MAX, AT(mem[OWN].node[0].left), NODES},
	{"our windows are elsewhere", 12345, AT(mem[OWN].node[0].page), NODES},
	{"our windows end early", 0, AT(mem[OWN].node[0].end), NODES},
	{"our windows leave no gap", UINT64_MAX, AT(mem[OWN].node[0].gap), NODES},
	{"our windows are of another store", 3, AT(mem[OWN].node[0].store), NODES},
	{"our windows have other frames", 1 << 19, AT(mem[OWN].node[0].frame), NODES},
	{"our windows are of one version", 3, AT(mem[OWN].node[0].version), NODES},
	{"our windows are closed", 1, AT(mem[OWN].node[0].closed), NODES},
	{"something of our windows is closed", 1, AT(mem[OWN].node[0].any_closed), NODES},
	{"our free nodes go round", 2, AT(mem[OWN].node[0].made), NODES},
	{"our old nodes go round", 2, AT(mem[OWN].node[0].retired), NODES},
	{"our mappings begin at no node", 99, AT(mem[OWN].mappings)},
	{"our mappings are to be looked at", 5, AT(mem[OWN].verify)},
	{"our places for transfers are taken", 1, AT(mem[OWN].transfer[0].seq), TRANSFERS},
	{"its places for transfers are taken", 1, AT(mem[PEER].transfer[0].seq), TRANSFERS},
	{"our places for transfers are being taken", UINT64_MAX, AT(mem[OWN].transfer[0].seq),
	 TRANSFERS},
	{"its places for transfers are being taken", UINT64_MAX, AT(mem[PEER].transfer[0].seq),
	 TRANSFERS},
	{"its transfers use all of our space", UINT64_MAX, AT(mem[PEER].transfer[0].remote_end),
	 TRANSFERS},
	{"our signals are being filled in", SIGNAL_FILLING, AT(mem[OWN].pending[0].state), SIGNALS},
	{"its signals are being filled in", SIGNAL_FILLING, AT(mem[PEER].pending[0].state),
	 SIGNALS},
	{"our signals are due", SIGNAL_READY, AT(mem[OWN].pending[0].state), SIGNALS},
	{"signals to no side", 9, AT(mem[OWN].pending[0].target[0].side), SIGNALS},
	{"signals are counted that are not there", 1, AT(mem[OWN].signals)},
	{"its process ids are ours", 0, AT(mem[PEER].pid_space)},
};
enum { DAMAGES = sizeof(damages) / sizeof(damages[0]) };

static void apply(char *block, const struct damage *d, char *before, bool back)
{
	for (size_t i = 0; i < (d->count ? d->count : 1); i++) {
		char *at = block + d->at + i * d->stride;

		if (back)
			memcpy(at, before, d->bytes);
		else
			memcpy(at, &d->value, d->bytes);
	}
}

/* What a peer sends over the control socket, whose messages tell of stores. */
struct notice {
	const char *name;
	uint32_t message[6]; /* magic, number, pages as two words, writable, sealed */
	size_t length;	     /* 0: it closes its end instead */
	enum { NO_FILE, A_PIPE, PLAIN_MEMORY, SEALED_MEMORY, PLAIN_TWICE } file;
};

#define NOTICE 0x53544f52

static const struct notice notices[] = {
	{"half a notice", {NOTICE}, 4, NO_FILE},
	{"half a notice with a file", {NOTICE}, 4, PLAIN_MEMORY},
	{"another notice", {1, 1, 1, 0, 0, 0}, 24, PLAIN_MEMORY},
	{"a notice of no number", {NOTICE, 0, 1, 0, 0, 0}, 24, PLAIN_MEMORY},
	{"a notice of too high a number", {NOTICE, 99, 1, 0, 0, 0}, 24, PLAIN_MEMORY},
	{"a notice without a file", {NOTICE, 1, 1, 0, 0, 0}, 24, NO_FILE},
	{"a pipe for a store", {NOTICE, 1, 1, 0, 0, 0}, 24, A_PIPE},
	{"a store that may shrink", {NOTICE, 1, 1, 0, 0, 1}, 24, PLAIN_MEMORY},
	{"a store that is too small", {NOTICE, 1, 4711, 0, 0, 0}, 24, PLAIN_MEMORY},
	{"a store that can be written but is not", {NOTICE, 1, 1, 0, 0, 1}, 24, SEALED_MEMORY},
	{"a notice with two files", {NOTICE, 1, 1, 0, 0, 0}, 24, PLAIN_TWICE},
	{"no notices any more", {0}, 0, NO_FILE},
};
enum { NOTICES = sizeof(notices) / sizeof(notices[0]) };

static int file_of(const struct notice *n)
{
	int fd = -1, ends[2];

	if (n->file == A_PIPE) {
		must(pipe(ends), "pipe");
		return ends[0];
	}
	if (n->file != NO_FILE) {
		fd = memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		must(fd, "memfd_create");
		must(ftruncate(fd, PAGE), "ftruncate");
	}
	if (n->file == SEALED_MEMORY)
		must(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), "F_ADD_SEALS");
	return fd;
}

/* The one descriptor of this process that keeps messages apart. */
static int control_socket(void)
{
	for (int fd = 3; fd < 256; fd++) {
		int type = 0;
		socklen_t length = sizeof(type);

		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
		    type == SOCK_SEQPACKET)
			return fd;
	}
	errno = ENOENT;
	return -1;
}

static void send_notice(const struct notice *n)
{
	int fds[2], to = control_socket();
	size_t count = n->file == NO_FILE ? 0 : n->file == PLAIN_TWICE ? 2 : 1;

	must(to, "control socket");
	if (n->length == 0) {
		close(to);
		return;
	}
	for (size_t i = 0; i < count; i++)
		fds[i] = file_of(n);
	must(hand_made_send(to, n->message, n->length, fds, count, 0), "sendmsg");
}

/* --- the peer --- */

/* A byte means: go on. */
static void go_on(int fd)
{
	must(send(fd, "g", 1, MSG_NOSIGNAL), "go on");
}

static void await(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		exit(BROKEN);
}

static char *block_here(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, at = 0;
	char line[300];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:scif-block") && sscanf(line, "%lx-", &start) == 1)
			at = start;
	fclose(maps);
	errno = ENOENT;
	must(at ? 0 : -1, "block");
	return (char *)at;
}

static void connect_to_us(scif_epd_t epd)
{
	struct scif_portID to = {.node = 0, .port = PORT};

	must(scif_connect(epd, &to), "connect");
}

/* A window of each side, mapped by the other one, and a few bytes under way. */
static off_t open_up(scif_epd_t epd, char *memory, off_t *there)
{
	off_t here = scif_register(epd, memory, SIZE, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);

	must(here, "register");
	if (scif_send(epd, &here, sizeof(here), SCIF_SEND_BLOCK) != sizeof(here) ||
	    scif_recv(epd, there, sizeof(*there), SCIF_RECV_BLOCK) != sizeof(*there))
		must(-1, "exchange");
	if (scif_mmap(NULL, PAGE, SCIF_PROT_READ, 0, epd, *there) == SCIF_MMAP_FAILED)
		must(-1, "mmap");
	must(scif_send(epd, "some more", 10, SCIF_SEND_BLOCK), "send");
	return here;
}

static void *pages(void)
{
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	return memory;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Until the other side is through or the time is up. */
static void stay(char *block, const struct damage *d, char *before, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t end = now_ms() + STAY_MS;

	while (now_ms() < end && poll(&p, 1, d->restless ? 0 : STAY_MS) == 0)
		if (d->restless)
			for (int i = 0; i < 1000; i++)
				apply(block, d, before, i % 2);
}

/* In a program of its own, which has no other block: case NUMBER, on the end FD of the talk. */
static int be_the_peer(int number, int fd)
{
	static const struct damage elsewhere = {"", 1, AT(mem[PEER].node[0].store), NODES};
	const struct notice *n = number < DAMAGES ? NULL : &notices[number - DAMAGES];
	const struct damage *d = n ? &elsewhere : &damages[number];
	scif_epd_t epd = scif_open();
	char before[8] = {0};
	off_t there;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	connect_to_us(epd);
	open_up(epd, pages(), &there);
	char *block = block_here();
	await(fd);
	if (n)
		send_notice(n);
	memcpy(before, block + d->at, d->bytes);
	apply(block, d, before, false);
	go_on(fd);
	stay(block, d, before, fd);
	return 0;
}

/* --- our side --- */

static int failed;
static const char *meanwhile;
static bool damaged; /* the first case is none */

/* What the text has for calls of a party that did nothing wrong itself, when its peer is gone or
 * wrong. */
static void may_fail(intptr_t result, const char *call, const int *errors)
{
	int error = errno;

	if (result >= 0)
		return;
	for (; *errors && damaged; errors++)
		if (*errors == error)
			return;
	printf("  %s: %s gave %s\n", meanwhile, call, strerrorname_np(error));
	failed++;
}

#define MAY(call, ...) may_fail((intptr_t)(call), #call, (const int[]){__VA_ARGS__, 0})

static void messages(scif_epd_t epd)
{
	static char bytes[LONG];
	struct scif_pollepd entry = {.epd = epd, .events = SCIF_POLLIN | SCIF_POLLOUT};

	MAY(scif_poll(&entry, 1, 10), ENOMEM);
	MAY(scif_recv(epd, bytes, 4, 0), ECONNRESET);
	MAY(scif_recv(epd, bytes, LONG, 0), ECONNRESET);
	entry.events = SCIF_POLLIN;
	MAY(scif_poll(&entry, 1, 10), ENOMEM);
	MAY(scif_send(epd, bytes, 10, 0), ECONNRESET);
	MAY(scif_send(epd, bytes, LONG, 0), ECONNRESET);
	entry.events = SCIF_POLLOUT;
	MAY(scif_poll(&entry, 1, 10), ENOMEM);
	MAY(scif_send(epd, bytes, 10, 0), ECONNRESET);
}

static void windows(scif_epd_t epd, char *memory)
{
	const int prot = SCIF_PROT_READ | SCIF_PROT_WRITE;
	off_t fixed = 0x100000;

	for (int i = 0; i < 3; i++)
		MAY(scif_register(epd, memory, PAGE * (size_t)(i + 1), 0, prot, 0), ECONNRESET,
		    ENOMEM, EAGAIN);
	for (int i = 0; i < 3; i++, fixed += 2 * PAGE)
		MAY(scif_register(epd, memory, PAGE, fixed, prot, SCIF_MAP_FIXED), ECONNRESET,
		    ENOMEM, EADDRINUSE, EAGAIN);
	MAY(scif_unregister(epd, 0x100000, PAGE), ECONNRESET, ENXIO, EINVAL);
	MAY(scif_unregister(epd, 0x102000, 3 * PAGE), ECONNRESET, ENXIO, EINVAL);
}

static void transfers(scif_epd_t epd, char *memory, off_t here, off_t there)
{
	int mark = 0;

	MAY(scif_readfrom(epd, here, SIZE, there, 0), ECONNRESET, ENXIO, EACCES);
	MAY(scif_writeto(epd, here, PAGE, there + PAGE, SCIF_RMA_ORDERED), ECONNRESET, ENXIO,
	    EACCES);
	MAY(scif_vreadfrom(epd, memory, PAGE, there, SCIF_RMA_SYNC), ECONNRESET, ENXIO, EACCES);
	MAY(scif_vwriteto(epd, memory, SIZE, there, 0), ECONNRESET, ENXIO, EACCES);
	MAY(scif_fence_mark(epd, SCIF_FENCE_INIT_SELF, &mark), ECONNRESET, ENOMEM);
	MAY(scif_fence_mark(epd, SCIF_FENCE_INIT_PEER, &mark), ECONNRESET, ENOMEM);
	MAY(scif_fence_signal(epd, here, 1, there, 2,
			      SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_LOCAL | SCIF_SIGNAL_REMOTE),
	    ECONNRESET, ENXIO, EACCES, ENOMEM);
	MAY(scif_fence_signal(epd, here, 1, there, 2, SCIF_FENCE_INIT_PEER | SCIF_SIGNAL_LOCAL),
	    ECONNRESET, ENXIO, EACCES, ENOMEM);
	MAY(scif_fence_wait(epd, mark), ECONNRESET, EINVAL);
}

static void mappings(scif_epd_t epd, off_t there)
{
	void *at = scif_mmap(NULL, PAGE, SCIF_PROT_READ | SCIF_PROT_WRITE, 0, epd, there);

	MAY(at == SCIF_MMAP_FAILED ? -1 : 0, ECONNRESET, ENXIO, EACCES, ENOMEM);
	if (at != SCIF_MMAP_FAILED)
		MAY(scif_munmap(at, PAGE), EINVAL);
}

/* Every call there is on a connection. */
static void exercise(scif_epd_t epd, char *memory, off_t here, off_t there)
{
	messages(epd);
	windows(epd, memory);
	transfers(epd, memory, here, there);
	mappings(epd, there);
	MAY(scif_unregister(epd, here, SIZE), ECONNRESET, ENXIO, EINVAL);
}

static scif_epd_t accepted(scif_epd_t listener)
{
	struct scif_portID who;
	scif_epd_t epd;

	must(scif_accept(listener, &who, &epd, SCIF_ACCEPT_SYNC), "accept");
	return epd;
}

static pid_t start_peer(int number, int ends[2])
{
	char which[16], end[16];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	snprintf(which, sizeof(which), "%d", number);
	snprintf(end, sizeof(end), "%d", ends[1]);
	close(ends[0]);
	execl("/proc/self/exe", "hostile-block", which, end, NULL);
	_exit(BROKEN);
}

static void suffer(scif_epd_t listener, int number)
{
	char *memory = pages();
	int ends[2], status = 0;
	off_t there;

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	pid_t pid = start_peer(number, ends);
	close(ends[1]);
	alarm(LIMIT_SECONDS);
	scif_epd_t epd = accepted(listener);
	off_t here = open_up(epd, memory, &there);
	go_on(ends[0]);
	await(ends[0]);
	exercise(epd, memory, here, there);
	close(ends[0]);
	waitpid(pid, &status, 0);
	if (status != 0)
		must(-1, "the peer failed");
	/* What it left behind stays. */
	damaged = true;
	messages(epd);
	MAY(scif_close(epd), EINVAL);
	munmap(memory, SIZE);
}

/* --- the connection beside --- */

static struct {
	scif_epd_t a, b;
	off_t there;
	char *memory;
} beside;

static void connect_beside(scif_epd_t listener)
{
	beside.a = scif_open();
	fcntl(beside.a, F_SETFL, O_NONBLOCK);
	struct scif_portID to = {.node = 0, .port = PORT};
	scif_connect(beside.a, &to);
	beside.b = accepted(listener);
	connect_to_us(beside.a);
	fcntl(beside.a, F_SETFL, 0);
	beside.memory = pages();
	beside.there = scif_register(beside.b, beside.memory, SIZE, 0,
				     SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	must(beside.there, "register");
}

static bool is_well(void)
{
	static char count;
	char byte = 0, out = ++count;

	return scif_send(beside.a, &out, 1, 0) == 1 && scif_recv(beside.b, &byte, 1, 0) == 1 &&
	       byte == out && scif_vwriteto(beside.a, &out, 1, beside.there + 5, 0) == 0 &&
	       beside.memory[5] == out;
}

static void try(scif_epd_t listener, int number)
{
	int before = failed;

	damaged = number > 0;
	meanwhile = number < DAMAGES ? damages[number].name : notices[number - DAMAGES].name;
	fprintf(stderr, "# %s\n", meanwhile); /* the last line tells where it ended, should it */
	suffer(listener, number);
	if (!is_well()) {
		printf("  %s: the other connection does not work any more\n", meanwhile);
		failed++;
	}
	printf("%s: %s\n", failed == before ? "ok" : "not ok", meanwhile);
}

int main(int argc, char **argv)
{
	char fabric[40];

	if (argc == 3)
		return be_the_peer(atoi(argv[1]), atoi(argv[2]));
	snprintf(fabric, sizeof(fabric), "hostile-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setbuf(stdout, NULL);
	scif_epd_t listener = scif_open();
	must(scif_bind(listener, PORT), "bind");
	must(scif_listen(listener, 4), "listen");
	connect_beside(listener);
	for (int i = 0; i < DAMAGES + NOTICES; i++)
		try(listener, i);
	return failed != 0;
}
