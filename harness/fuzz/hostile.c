/* SPDX-License-Identifier: BSD-2-Clause */
#include "hostile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ends.h"

enum { NOBODY = 65534 };
/* So long a peer stays when a call waits for it, and so long that call may take when it is gone. */
enum { STAY_MS = 20, LIMIT_MS = 20000 };

unsigned char buffer[1 << 16];
scif_epd_t victim_listener;

static char fabric[40];

void broken(const char *property)
{
	fprintf(stderr, "broken: %s\n", property);
	abort();
}

/* --- input --- */

uint8_t take8(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)take8(in) << 8 * i;
	return value;
}

uint64_t take_number(struct input *in)
{
	static const uint64_t edges[] = {
		0,
		1,
		2,
		3,
		4,
		5,
		56,
		57,
		58,
		64,
		168,
		255,
		4095,
		4096,
		5000,
		9000,
		1 << 19,
		1 << 20,
		INT32_MAX,
		UINT32_MAX,
		UINT64_C(1) << 32,
		UINT64_C(1) << 48,
		UINT64_C(1) << 50,
		(UINT64_C(1) << 52) - 1,
		UINT64_C(1) << 62,
		INT64_MAX,
		UINT64_MAX - 1,
		UINT64_MAX,
	};
	enum { EDGES = sizeof(edges) / sizeof(edges[0]) };
	uint8_t which = take8(in);

	if (which < EDGES)
		return edges[which];
	return take(in, which < 128 ? 2 : which < 192 ? 4 : 8);
}

/* --- watching over calls --- */

static struct {
	_Atomic(void (*)(void)) leave;
	_Atomic uint64_t since; /* 0: no call */
} watched;

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + 1;
}

static void *watch(void *unused)
{
	const struct timespec pace = {.tv_nsec = 5000000};

	(void)unused;
	for (;;) {
		nanosleep(&pace, NULL);
		uint64_t since = atomic_load(&watched.since);
		if (since == 0 || now_ms() - since < STAY_MS)
			continue;
		void (*leave)(void) = atomic_exchange(&watched.leave, NULL);
		if (leave != NULL)
			leave();
		if (now_ms() - since > LIMIT_MS && atomic_load(&watched.since) == since)
			broken("a call ends when its peer is gone");
	}
	return NULL;
}

void call_begins(void (*leave)(void))
{
	atomic_store(&watched.leave, leave);
	atomic_store(&watched.since, now_ms());
}

void call_ends(void)
{
	atomic_store(&watched.since, 0);
	atomic_store(&watched.leave, NULL);
}

/* --- what may be touched --- */

int __real_safe_copy(void *dst, const void *src, size_t n);
int __wrap_safe_copy(void *dst, const void *src, size_t n);

static ino_t innocent_store; /* 0: with one user there is one class, which may touch it */
static _Atomic bool guarded;

static struct {
	uintptr_t start, end;
} allowed[16];
static unsigned allowed_next;

static bool known(uintptr_t at, size_t n)
{
	for (unsigned i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (at >= allowed[i].start && at + n <= allowed[i].end)
			return true;
	return false;
}

/* Shared with the peer's class, or on the stack. A place where there is nothing does no harm. */
static bool is_free_to_touch(const char *line)
{
	unsigned long inode = 0;

	if (strstr(line, "[stack]") || strstr(line, "---p"))
		return true;
	if (!strstr(line, "memfd:"))
		return false;
	sscanf(line, "%*s %*s %*s %*s %lu", &inode);
	return !strstr(line, "memfd:scif-store") || inode != innocent_store;
}

static bool look_up(uintptr_t at, size_t n)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[300];
	bool good = true;

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || at >= end || at + n <= start)
			continue;
		if (is_free_to_touch(line)) {
			allowed[allowed_next].start = start;
			allowed[allowed_next].end = end;
			allowed_next = (allowed_next + 1) % 16;
			continue;
		}
		good = false;
		fprintf(stderr, "%zu bytes at %#lx: %s", n, (unsigned long)at, line);
	}
	fclose(maps);
	return good;
}

static void must_be_free(const void *p, size_t n)
{
	uintptr_t at = (uintptr_t)p;

	if (n == 0 || at + n < at)
		return;
	if (at >= (uintptr_t)buffer && at + n <= (uintptr_t)buffer + sizeof(buffer))
		return;
	if (!known(at, n) && !look_up(at, n))
		broken("nothing is touched that was not registered for the peer's class");
}

int __wrap_safe_copy(void *dst, const void *src, size_t n)
{
	if (atomic_load(&guarded)) {
		must_be_free(dst, n);
		must_be_free(src, n);
	}
	return __real_safe_copy(dst, src, n);
}

/* --- the innocent connection --- */

static struct {
	scif_epd_t a, b;
	unsigned char *memory, *spare;
	off_t there;
	uint8_t count;
} innocent;

static unsigned char pattern(size_t i)
{
	return (unsigned char)(i * 7 + (i >> 8));
}

static void *pages(void)
{
	void *memory =
		mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	return memory;
}

static void innocent_begin(void)
{
	connect_ends(&innocent.a, &innocent.b);
	innocent.memory = pages();
	innocent.spare = pages();
	for (size_t i = 0; i < WINDOW; i++)
		innocent.memory[i] = pattern(i);
	innocent.there = scif_register(innocent.b, innocent.memory, WINDOW, 0,
				       SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	must(innocent.there, "register");
}

void innocent_goes_on(void)
{
	static unsigned char seen[WINDOW];
	uint8_t out = ++innocent.count, byte = (uint8_t)~out;
	bool guard = atomic_exchange(&guarded, false);
	off_t spare;

	if (scif_send(innocent.a, &out, 1, 0) != 1 || scif_recv(innocent.b, &byte, 1, 0) != 1 ||
	    byte != out)
		broken("other connections carry messages");
	if (scif_vreadfrom(innocent.a, seen, WINDOW, innocent.there, 0) != 0)
		broken("other connections carry transfers");
	for (size_t i = 0; i < WINDOW; i++)
		if (innocent_store != 0 && seen[i] != pattern(i))
			broken("windows of other connections keep what is in them");
	spare = scif_register(innocent.a, innocent.spare, WINDOW, 0, SCIF_PROT_READ, 0);
	if (spare < 0 || scif_unregister(innocent.a, spare, WINDOW) != 0)
		broken("other connections get windows");
	atomic_store(&guarded, guard);
}

/* --- the process --- */

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static void show_descriptors(void)
{
	char path[40], link[80];

	for (int fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t length = readlink(path, link, sizeof(link) - 1);

		if (length > 0)
			fprintf(stderr, "%d %.*s\n", fd, (int)length, link);
	}
}

static ino_t store_of(const void *memory)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end, inode = 0;
	char line[300];

	while (inode == 0 && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &start, &end, &inode) != 3 ||
		    (uintptr_t)memory < start || (uintptr_t)memory >= end)
			inode = 0;
	fclose(maps);
	return inode;
}

static int before;

void begin(void)
{
	static bool begun;
	struct peer first;
	pthread_t watcher;

	atomic_store(&guarded, true);
	if (begun)
		return;
	begun = true;
	atomic_store(&guarded, false);
	snprintf(fabric, sizeof(fabric), "fuzz-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setenv("SCIF_PROVIDER", "embedded", 1);
	innocent_begin();
	victim_listener = scif_open();
	must(scif_bind(victim_listener, LISTENER_PORT), "bind");
	must(scif_listen(victim_listener, 4), "listen");
	innocent_goes_on();
	/* The first peer leaves a store for its class. */
	peer_connects(&first);
	scif_close(first.victim);
	peer_end(&first);
	innocent_goes_on();
	if (geteuid() == 0)
		innocent_store = store_of(innocent.memory);
	before = descriptors();
	must(pthread_create(&watcher, NULL, watch, NULL) ? -1 : 0, "pthread_create");
	atomic_store(&guarded, true);
}

void finish(void)
{
	call_begins(NULL);
	innocent_goes_on();
	call_ends();
	atomic_store(&guarded, false);
	memset(allowed, 0, sizeof(allowed));
	if (descriptors() > before) {
		show_descriptors();
		broken("no descriptor is left");
	}
}

/* --- the peer --- */

/* System calls, not those of libc, which make all threads another user. */
static void be(uid_t effective)
{
	must(syscall(SYS_setresuid, effective, effective, 0), "setresuid");
	/* A process that has been somebody else is not dumpable, and shares less. */
	prctl(PR_SET_DUMPABLE, 1);
}

static bool another;

void as_another(void)
{
	another = geteuid() == 0;
	if (another)
		be(NOBODY);
}

void as_ourselves(void)
{
	if (another)
		be(0);
	another = false;
}

static int one_of_two(int ends[2], int *other)
{
	if (other == NULL)
		close(ends[1]);
	else
		*other = ends[1];
	return ends[0];
}

int file_of_kind(enum file_kind kind, int *other)
{
	int ends[2];

	switch (kind) {
	case FILE_BLOCK:
		return hand_made_block(BLOCK_MAGIC);
	case FILE_STORE:
		return hand_made_memory(STORE_SIZE, F_SEAL_SHRINK);
	case FILE_PIPE:
		must(pipe2(ends, O_CLOEXEC), "pipe2");
		return one_of_two(ends, other);
	case FILE_UNSEALED:
		return hand_made_memory(sizeof(struct block), 0);
	case FILE_OTHER_SIZE:
		return hand_made_memory(4096, F_SEAL_SHRINK);
	case FILE_OTHER_MAGIC:
		return hand_made_block(1);
	case FILE_READ_ONLY:
		return hand_made_reopened(hand_made_block(BLOCK_MAGIC), O_RDONLY);
	case FILE_HUGE:
		return hand_made_memory((size_t)1 << 50, F_SEAL_SHRINK);
	case FILE_EMPTY:
		return hand_made_memory(0, F_SEAL_SHRINK);
	case FILE_EVENT:
		return eventfd(0, EFD_CLOEXEC);
	default:
		must(socketpair(AF_UNIX,
				(kind == FILE_STREAM ? SOCK_STREAM : SOCK_SEQPACKET) |
					SOCK_CLOEXEC | SOCK_NONBLOCK,
				0, ends),
		     "socketpair");
		return one_of_two(ends, other);
	}
}

int socket_named(const char *format, int port)
{
	return hand_made_socket(SOCK_NONBLOCK, format, fabric, port);
}

int reach(int sock, const char *format, int port)
{
	struct sockaddr_un name;
	socklen_t length = hand_made_name(&name, format, fabric, port);

	return connect(sock, (struct sockaddr *)&name, length);
}

int send_with(int to, const void *bytes, size_t length, const int *fds, size_t count)
{
	return (int)hand_made_send(to, bytes, length, fds, count, MSG_DONTWAIT);
}

long receive_with(int from, void *bytes, size_t length, int *fds, size_t *count)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(FDS_MOST * sizeof(int))];
	} control;
	struct iovec part = {.iov_base = bytes, .iov_len = length};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	long got = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*count = header ? (header->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	if (*count > 0)
		memcpy(fds, CMSG_DATA(header), *count * sizeof(int));
	return got;
}

/* --- a peer --- */

static void *mapped(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	must(at == MAP_FAILED ? -1 : 0, "mmap");
	return at;
}

int accept_next(struct scif_portID *who, scif_epd_t *epd)
{
	int result;

	do
		result = scif_accept(victim_listener, who, epd, 0);
	while (result < 0 && errno == EINTR);
	return result;
}

void peer_connects(struct peer *p)
{
	static char bytes[FILLER];
	struct hello hello = {HELLO_MAGIC, BLOCK_VERSION, FILLER, FILLER};
	struct scif_portID who;
	scif_epd_t epd;
	int fds[HELLO_FDS];

	p->side = SIDE_CONNECTOR;
	p->sock = socket_named("scif/%s/0/%d", PEER_PORT);
	fds[HELLO_BLOCK] = file_of_kind(FILE_BLOCK, NULL);
	fds[HELLO_STORE] = file_of_kind(FILE_STORE, NULL);
	fds[HELLO_CTL] = file_of_kind(FILE_SOCKET, &p->talk);
	p->block = mapped(fds[HELLO_BLOCK], sizeof(*p->block));
	p->store = mapped(fds[HELLO_STORE], STORE_SIZE);
	memcpy(bytes, &hello, sizeof(hello));
	as_another();
	must(reach(p->sock, "scif/%s/0/%d", LISTENER_PORT), "connect");
	as_ourselves();
	must(send_with(p->sock, bytes, FILLER, fds, HELLO_FDS), "hello");
	for (int i = 0; i < HELLO_FDS; i++)
		close(fds[i]);
	must(accept_next(&who, &epd), "accept");
	p->victim = epd;
}

static void answer(struct peer *p, int sock)
{
	static char bytes[FILLER];
	const struct welcome welcome = {HELLO_MAGIC, FILLER};
	int fds[FDS_MOST], store = file_of_kind(FILE_STORE, NULL);
	size_t count;

	must(receive_with(sock, bytes, sizeof(struct hello), fds, &count), "hello");
	must(count == HELLO_FDS ? 0 : -1, "hello");
	p->block = mapped(fds[HELLO_BLOCK], sizeof(*p->block));
	p->store = mapped(store, STORE_SIZE);
	p->talk = fds[HELLO_CTL];
	close(fds[HELLO_BLOCK]);
	close(fds[HELLO_STORE]);
	must(send_with(p->talk, &welcome, sizeof(welcome), &store, 1), "welcome");
	close(store);
	atomic_store(&p->block->side[SIDE_ACCEPTOR].state, BLOCK_SIDE_JOINED);
	while (recv(sock, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

void peer_is_reached(struct peer *p)
{
	struct scif_portID to = {0, FALSE_PORT};
	int listener = socket_named("scif/%s/0/%d", FALSE_PORT);

	p->side = SIDE_ACCEPTOR;
	as_another();
	must(listen(listener, 1), "listen");
	as_ourselves();
	p->victim = scif_open();
	fcntl(p->victim, F_SETFL, O_NONBLOCK);
	scif_connect(p->victim, &to);
	p->sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	must(p->sock, "accept");
	close(listener);
	answer(p, p->sock);
	must(scif_connect(p->victim, &to), "connect");
}

void peer_leaves(struct peer *p)
{
	static pthread_mutex_t leaving = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&leaving);
	if (p->sock >= 0) {
		close(p->sock);
		close(p->talk);
	}
	p->sock = p->talk = -1;
	pthread_mutex_unlock(&leaving);
}

void peer_end(struct peer *p)
{
	peer_leaves(p);
	munmap(p->block, sizeof(*p->block));
	munmap(p->store, STORE_SIZE);
}
