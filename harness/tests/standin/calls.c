/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of the replay. The public API does the work: which provider is behind it is not known
 * here. Memory comes from a region of its own, so that a hole that a row wants stays a hole.
 */
#include "calls.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"
#include "scif.h"

#define PAGE	   4096
#define VARIABLES  64
#define REGION	   0x200000000000
#define FIRST_PORT 3000 /* of the listeners that `pair` makes; never one the driver hands out first */

struct named_value {
	const char *name;
	int64_t value;
};

static const struct named_value names[] = {
	{"page", PAGE},
	{"NULL", 0},
	{"R", SCIF_PROT_READ},
	{"W", SCIF_PROT_WRITE},
	{"RW", SCIF_PROT_READ | SCIF_PROT_WRITE},
	{"FIXED", SCIF_MAP_FIXED},
	{"KERNEL", SCIF_MAP_KERNEL},
	{"WAIT", 1}, /* SCIF_ACCEPT_SYNC, SCIF_SEND_BLOCK, SCIF_RECV_BLOCK */
	{"SYNC", SCIF_RMA_SYNC},
	{"CACHE", SCIF_RMA_USECACHE},
	{"SELF", SCIF_FENCE_INIT_SELF},
	{"PEER", SCIF_FENCE_INIT_PEER},
	{"LOCAL", SCIF_SIGNAL_LOCAL},
	{"REMOTE", SCIF_SIGNAL_REMOTE},
	{"IN", POLLIN},
	{"OUT", POLLOUT},
	{"PRI", POLLPRI},
	{"ERR", POLLERR},
	{"HUP", POLLHUP},
	{"NVAL", POLLNVAL},
	{"BADADDR", 0x10},
	{"KERNELADDR", (int64_t)0xffff800000000000},
};

static struct {
	char name[24];
	int64_t value;
} variable[VARIABLES];

static uintptr_t region_next = REGION;
static int next_pair;
static char file_path[256];

void variable_set(const char *name, int64_t value)
{
	int i = 0;

	while (i < VARIABLES - 1 && variable[i].name[0] != '\0' &&
	       strcmp(variable[i].name, name) != 0)
		i++;
	snprintf(variable[i].name, sizeof variable[i].name, "%s", name);
	variable[i].value = value;
}

static bool name_value(const char *name, size_t length, int64_t *value)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strlen(names[i].name) == length && strncmp(names[i].name, name, length) == 0) {
			*value = names[i].value;
			return true;
		}
	}
	for (int i = 0; i < VARIABLES && variable[i].name[0] != '\0'; i++) {
		if (strlen(variable[i].name) == length &&
		    strncmp(variable[i].name, name, length) == 0) {
			*value = variable[i].value;
			return true;
		}
	}
	return false;
}

static const char *term(const char *text, int64_t *value)
{
	if (strncmp(text, "2^", 2) == 0) {
		char *end;

		*value = (int64_t)(UINT64_C(1) << strtoul(text + 2, &end, 10));
		return end;
	}
	if (isdigit((unsigned char)*text)) {
		char *end;

		*value = (int64_t)strtoull(text, &end, 0);
		return end;
	}
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_.");

	return length > 0 && name_value(text, length, value) ? text + length : NULL;
}

bool evaluate(const char *text, int64_t *value)
{
	uint64_t sum = 0;
	char sign = '+';

	if (*text == '-')
		sign = *text++;
	for (;;) {
		int64_t next;

		text = term(text, &next);
		if (text == NULL)
			return false;
		sum = sign == '+' ? sum + (uint64_t)next
		      : sign == '-' ? sum - (uint64_t)next : (sum | (uint64_t)next);
		if (*text == '\0')
			break;
		sign = *text++;
		if (sign != '+' && sign != '-' && sign != '|')
			return false;
	}
	*value = (int64_t)sum;
	return true;
}

static void *at(int64_t address)
{
	return (void *)(uintptr_t)address;
}

static void take(struct outcome *outcome, int64_t result)
{
	outcome->result = result;
	outcome->value = result;
	outcome->name = result == -1 && errno != 0 ? strerrorname_np(errno) : NULL;
}

/* The calls of the interface. */

static void call_open(struct outcome *o, const int64_t *a, char **word)
{
	(void)a, (void)word;
	take(o, scif_open());
}

static void call_close(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_close((int)a[0]));
}

static void call_bind(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_bind((int)a[0], (uint16_t)a[1]));
}

static void call_listen(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_listen((int)a[0], (int)a[1]));
}

static void call_connect(struct outcome *o, const int64_t *a, char **word)
{
	struct scif_portID peer = {.node = (uint16_t)a[1], .port = (uint16_t)a[2]};

	(void)word;
	take(o, scif_connect((int)a[0], &peer));
}

static void call_connect_null(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_connect((int)a[0], NULL));
}

/* The new endpoint is the value; the peer goes to peer.node and peer.port. */
static void call_accept(struct outcome *o, const int64_t *a, char **word)
{
	struct scif_portID peer = {.node = 77, .port = 77};
	scif_epd_t accepted = -5;

	(void)word;
	take(o, scif_accept((int)a[0], &peer, &accepted, (int)a[1]));
	o->value = accepted;
	variable_set("peer.node", peer.node);
	variable_set("peer.port", peer.port);
}

static void call_accept_without(struct outcome *o, const int64_t *a, char **word)
{
	struct scif_portID peer;
	struct scif_portID *where = &peer;
	scif_epd_t accepted;
	scif_epd_t *whose = &accepted;

	if (strcmp(word[2], "peer") == 0 || strcmp(word[2], "both") == 0)
		where = NULL;
	if (strcmp(word[2], "epd") == 0 || strcmp(word[2], "both") == 0)
		whose = NULL;
	if (strcmp(word[2], "memory") == 0)
		where = at(0x10);
	take(o, scif_accept((int)a[0], where, whose, (int)a[1]));
}

static void call_send(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_send((int)a[0], at(a[1]), (int)a[2], (int)a[3]));
}

static void call_recv(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_recv((int)a[0], at(a[1]), (int)a[2], (int)a[3]));
}

static void call_register(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_register((int)a[0], at(a[1]), (size_t)a[2], a[3], (int)a[4], (int)a[5]));
}

static void call_unregister(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_unregister((int)a[0], a[1], (size_t)a[2]));
}

static void call_mmap(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, (int64_t)(uintptr_t)scif_mmap(at(a[1]), (size_t)a[2], (int)a[3], (int)a[4],
					      (int)a[0], a[5]));
}

static void call_munmap(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_munmap(at(a[0]), (size_t)a[1]));
}

static void call_readfrom(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_readfrom((int)a[0], a[1], (size_t)a[2], a[3], (int)a[4]));
}

static void call_writeto(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_writeto((int)a[0], a[1], (size_t)a[2], a[3], (int)a[4]));
}

static void call_vreadfrom(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_vreadfrom((int)a[0], at(a[1]), (size_t)a[2], a[3], (int)a[4]));
}

static void call_vwriteto(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_vwriteto((int)a[0], at(a[1]), (size_t)a[2], a[3], (int)a[4]));
}

static void call_mark(struct outcome *o, const int64_t *a, char **word)
{
	int mark = -5;

	(void)word;
	take(o, scif_fence_mark((int)a[0], (int)a[1], &mark));
	o->value = mark;
}

static void call_mark_null(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_fence_mark((int)a[0], (int)a[1], NULL));
}

static void call_wait(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_fence_wait((int)a[0], (int)a[1]));
}

static void call_signal(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_fence_signal((int)a[0], a[1], (uint64_t)a[2], a[3], (uint64_t)a[4],
				  (int)a[5]));
}

static void call_nodeids(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_get_nodeIDs(at(a[0]), (int)a[1], at(a[2])));
}

static void call_get_fd(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_get_fd((int)a[0]));
}

static void call_poll(struct outcome *o, const int64_t *a, char **word)
{
	struct scif_pollepd wanted = {.epd = (int)a[0], .events = (short)a[1]};

	(void)word;
	take(o, scif_poll(&wanted, 1, a[2]));
	o->bits = o->result < 0 ? -1 : (unsigned short)wanted.revents;
}

/* Three at once; the bits are those of the second. */
static void call_poll3(struct outcome *o, const int64_t *a, char **word)
{
	struct scif_pollepd wanted[3] = {
		{.epd = (int)a[0], .events = (short)a[3]},
		{.epd = (int)a[1], .events = (short)a[3]},
		{.epd = (int)a[2], .events = (short)a[3]},
	};

	(void)word;
	take(o, scif_poll(wanted, 3, 0));
	o->bits = wanted[0].revents == 0 && wanted[2].revents == 0 ? wanted[1].revents : -1;
}

static void call_poll_null(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, scif_poll(NULL, (unsigned int)a[0], a[1]));
}

static void call_select(struct outcome *o, const int64_t *a, char **word)
{
	fd_set in, out, exceptional;
	struct timeval at_once = {0};
	int fd = scif_get_fd((int)a[0]);

	(void)word;
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&exceptional);
	FD_SET(fd, &in);
	FD_SET(fd, &out);
	FD_SET(fd, &exceptional);
	take(o, select(fd + 1, &in, &out, &exceptional, &at_once));
	o->bits = (FD_ISSET(fd, &in) ? POLLIN : 0) | (FD_ISSET(fd, &out) ? POLLOUT : 0) |
		  (FD_ISSET(fd, &exceptional) ? POLLPRI : 0);
}

/* Descriptors as such. */

static const char *device(void)
{
	const char *path = getenv("SCIF_HW_DEVICE");

	return path != NULL ? path : "/dev/mic/scif";
}

static void call_open_readonly(struct outcome *o, const int64_t *a, char **word)
{
	(void)a, (void)word;
	take(o, open(device(), O_RDONLY | O_CLOEXEC));
}

static void call_getfd(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, fcntl((int)a[0], F_GETFD));
}

static void call_getfl(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, fcntl((int)a[0], F_GETFL));
}

static void call_nonblock(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, fcntl((int)a[0], F_SETFL, a[1] ? O_NONBLOCK : 0));
}

static void call_dup(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, dup((int)a[0]));
}

static void call_read(struct outcome *o, const int64_t *a, char **word)
{
	char bytes[8];

	(void)word;
	take(o, read((int)a[0], bytes, sizeof bytes));
}

static void call_write(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, write((int)a[0], "8 bytes!", 8));
}

static void call_lseek(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, lseek((int)a[0], 0, SEEK_SET));
}

static void call_fsync(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, fsync((int)a[0]));
}

static void call_shutdown(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, shutdown((int)a[0], SHUT_RDWR));
}

static void call_socket_send(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, send((int)a[0], "x", 1, MSG_NOSIGNAL));
}

static void call_ioctl(struct outcome *o, const int64_t *a, char **word)
{
	int64_t argument[8] = {0};

	(void)word;
	take(o, ioctl((int)a[0], (unsigned long)a[1], argument));
}

static void call_chardev(struct outcome *o, const int64_t *a, char **word)
{
	struct stat status;

	(void)word;
	take(o, fstat((int)a[0], &status));
	if (o->result == 0)
		take(o, S_ISCHR(status.st_mode));
}

static void call_null_device(struct outcome *o, const int64_t *a, char **word)
{
	(void)a, (void)word;
	take(o, open("/dev/null", O_RDWR | O_CLOEXEC));
}

static void call_directory(struct outcome *o, const int64_t *a, char **word)
{
	(void)a, (void)word;
	take(o, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static void call_pipe(struct outcome *o, const int64_t *a, char **word)
{
	int ends[2];

	(void)a, (void)word;
	take(o, pipe2(ends, O_CLOEXEC));
	if (o->result == 0)
		take(o, ends[0]);
}

/* What threads of the provider still do for an earlier call may have a descriptor for a moment. */
static void await_other_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
		pid_t tid = (pid_t)atoi(entry->d_name);
		int fd = tid != 0 && tid != gettid() ? asleep_open(tid) : -1;

		for (int tries = 0; fd >= 0 && tries < 100000 && !asleep_now(fd); tries++)
			asleep_pace();
		if (fd >= 0)
			close(fd);
	}
	if (tasks != NULL)
		closedir(tasks);
}

/* Uses up the descriptors: the limit becomes the lowest free number. */
static void call_no_descriptors(struct outcome *o, const int64_t *a, char **word)
{
	struct rlimit limit;
	int lowest;

	(void)a, (void)word;
	await_other_threads();
	lowest = dup(0);
	close(lowest);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)lowest;
	take(o, setrlimit(RLIMIT_NOFILE, &limit));
}

static void call_all_descriptors(struct outcome *o, const int64_t *a, char **word)
{
	struct rlimit limit;

	(void)a, (void)word;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	take(o, setrlimit(RLIMIT_NOFILE, &limit));
}

static void call_memlock(struct outcome *o, const int64_t *a, char **word)
{
	struct rlimit limit = {.rlim_cur = (rlim_t)a[0], .rlim_max = (rlim_t)a[0]};

	(void)word;
	take(o, setrlimit(RLIMIT_MEMLOCK, &limit));
}

static void call_user(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, setgid((gid_t)a[0]) == 0 && setuid((uid_t)a[0]) == 0 ? 0 : -1);
}

/* Memory. */

static void *region(size_t pages)
{
	void *memory = mmap(at((int64_t)region_next), pages * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	region_next += (pages + 16) * PAGE;
	return memory;
}

static void call_mem(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, (int64_t)(uintptr_t)region((size_t)a[0]));
}

static void call_protect(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, mprotect(at(a[0]), (size_t)a[1], (int)a[2]));
}

static void call_unmap(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, munmap(at(a[0]), (size_t)a[1]));
}

static void call_map_again(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, (int64_t)(uintptr_t)mmap(at(a[0]), (size_t)a[1], PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

/* A shared mapping of a named file of so many pages, longer or shorter than the mapping. */
static void call_file(struct outcome *o, const int64_t *a, char **word)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	(void)word;
	if (file_path[0] != '\0')
		unlink(file_path);
	snprintf(file_path, sizeof file_path, "%s/replay-XXXXXX", folder ? folder : "/tmp");
	fd = mkostemp(file_path, O_CLOEXEC);
	take(o, fd < 0 ? -1 : ftruncate(fd, a[1] * PAGE));
	if (o->result < 0)
		return;
	take(o, (int64_t)(uintptr_t)mmap(at((int64_t)region_next), (size_t)a[0] * PAGE, (int)a[2],
					 MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0));
	region_next += (uintptr_t)(a[0] + 16) * PAGE;
	close(fd);
}

void calls_end(void)
{
	if (file_path[0] != '\0')
		unlink(file_path);
}

static void call_textpage(struct outcome *o, const int64_t *a, char **word)
{
	(void)a, (void)word;
	take(o, (int64_t)((uintptr_t)call_textpage & ~(uintptr_t)(PAGE - 1)));
}

static void call_constants(struct outcome *o, const int64_t *a, char **word)
{
	(void)a, (void)word;
	take(o, (int64_t)(uintptr_t)names);
}

static sigjmp_buf no_access;

static void access_failed(int number)
{
	siglongjmp(no_access, number);
}

/* Loads or stores a byte; the signal's name if there is one. */
static void access_byte(struct outcome *o, volatile unsigned char *byte, int store)
{
	struct sigaction catch = {.sa_handler = access_failed};
	struct sigaction old_segv, old_bus;

	sigaction(SIGSEGV, &catch, &old_segv);
	sigaction(SIGBUS, &catch, &old_bus);
	int number = sigsetjmp(no_access, 1);

	if (number == 0) {
		errno = 0;
		if (store >= 0)
			*byte = (unsigned char)store;
		take(o, store >= 0 ? 0 : *byte);
	} else {
		o->result = -1;
		o->name = number == SIGSEGV ? "SIGSEGV" : "SIGBUS";
	}
	sigaction(SIGSEGV, &old_segv, NULL);
	sigaction(SIGBUS, &old_bus, NULL);
}

static void call_load(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	access_byte(o, at(a[0]), -1);
}

static void call_store(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	access_byte(o, at(a[0]), (int)a[1]);
}

static void call_put(struct outcome *o, const int64_t *a, char **word)
{
	memcpy(at(a[0]), word[1], strlen(word[1]));
	take(o, 0);
}

static void call_text(struct outcome *o, const int64_t *a, char **word)
{
	take(o, memcmp(at(a[0]), word[1], strlen(word[1])) == 0);
}

static unsigned char pattern_byte(size_t i, int64_t seed)
{
	return (unsigned char)(i * 7 + i / 4093 + (uint64_t)seed);
}

static void call_fill(struct outcome *o, const int64_t *a, char **word)
{
	unsigned char *memory = at(a[0]);

	(void)word;
	for (size_t i = 0; i < (size_t)a[1]; i++)
		memory[i] = pattern_byte(i, a[2]);
	take(o, 0);
}

static void call_pattern(struct outcome *o, const int64_t *a, char **word)
{
	const unsigned char *memory = at(a[0]);
	bool same = true;

	(void)word;
	for (size_t i = 0; i < (size_t)a[1]; i++)
		same = same && memory[i] == pattern_byte(i, a[2]);
	take(o, same);
}

static void call_set(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	memset(at(a[0]), (int)a[2], (size_t)a[1]);
	take(o, 0);
}

static void call_same(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, memcmp(at(a[0]), at(a[1]), (size_t)a[2]) == 0);
}

static void call_word(struct outcome *o, const int64_t *a, char **word)
{
	int64_t value;

	(void)word;
	errno = 0;
	memcpy(&value, at(a[0]), sizeof value);
	take(o, value);
}

static void call_half(struct outcome *o, const int64_t *a, char **word)
{
	uint16_t value;

	(void)word;
	memcpy(&value, at(a[0]), sizeof value);
	take(o, value);
}

static void call_mremap(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, (int64_t)(uintptr_t)mremap(at(a[0]), (size_t)a[1], (size_t)a[2], MREMAP_MAYMOVE));
}

static void call_msync(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, msync(at(a[0]), (size_t)a[1], MS_SYNC));
}

static void call_dontneed(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, madvise(at(a[0]), (size_t)a[1], MADV_DONTNEED));
}

/* The kernel itself stores to and loads from the address. */
static void call_kernel_store(struct outcome *o, const int64_t *a, char **word)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	(void)word;
	take(o, read(zero, at(a[0]), 16));
	close(zero);
}

static void call_kernel_load(struct outcome *o, const int64_t *a, char **word)
{
	int ends[2];

	(void)word;
	take(o, pipe2(ends, O_CLOEXEC));
	if (o->result < 0)
		return;
	take(o, write(ends[1], at(a[0]), 16));
	close(ends[0]);
	close(ends[1]);
}

/* Numbers. */

static void call_is(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	errno = 0;
	take(o, a[0]);
}

static void call_atleast(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, a[0] >= a[1]);
}

static void call_differ(struct outcome *o, const int64_t *a, char **word)
{
	(void)word;
	take(o, a[0] != a[1]);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void call_clock(struct outcome *o, const int64_t *a, char **word)
{
	(void)a, (void)word;
	take(o, now_ms());
}

/* Calls in a loop. */

struct connecting {
	int epd;
	struct scif_portID peer;
	int result;
};

static void *connect_in_thread(void *argument)
{
	struct connecting *connecting = argument;

	connecting->result = scif_connect(connecting->epd, &connecting->peer);
	return NULL;
}

/* A connection: connector, acceptor and, if named, the listener stays. */
static void call_pair(struct outcome *o, const int64_t *a, char **word)
{
	struct connecting connecting = {.peer.port = (uint16_t)(FIRST_PORT + next_pair++)};
	struct scif_portID peer;
	scif_epd_t accepted = -1;
	pthread_t thread;
	int listener = scif_open();

	(void)a;
	connecting.epd = scif_open();
	take(o, scif_bind(listener, connecting.peer.port) < 0 ? -1 : scif_listen(listener, 5));
	if (o->result < 0)
		return;
	take(o, -1);
	if (pthread_create(&thread, NULL, connect_in_thread, &connecting) != 0)
		return;
	take(o, scif_accept(listener, &peer, &accepted, SCIF_ACCEPT_SYNC));
	pthread_join(thread, NULL);
	if (connecting.result < 0)
		take(o, -1);
	variable_set(word[0], connecting.epd);
	variable_set(word[1], accepted);
	if (strcmp(word[2], "-") == 0)
		scif_close(listener);
	else
		variable_set(word[2], listener);
}

/* The result of a non-blocking connect, once there is one. */
static void call_collect(struct outcome *o, const int64_t *a, char **word)
{
	do {
		sched_yield();
		call_connect(o, a, word);
	} while (o->result < 0 && errno == EINPROGRESS);
}

static void call_send_until_full(struct outcome *o, const int64_t *a, char **word)
{
	int sent = 0;

	(void)word;
	while (scif_send((int)a[0], "x", 1, 0) == 1)
		sent++;
	take(o, sent);
}

static void call_drain(struct outcome *o, const int64_t *a, char **word)
{
	char bytes[4096];
	int got, total = 0;

	(void)word;
	while ((got = scif_recv((int)a[0], bytes, sizeof bytes, 0)) > 0)
		total += got;
	take(o, total);
}

/*
 * Receives that many in pieces of up to 1000 and compares them with the pattern. It takes what is
 * there: a receiver that waits for 1000 and a sender that waits for room for 4095 would both sleep.
 */
static void call_recv_pattern(struct outcome *o, const int64_t *a, char **word)
{
	int64_t total = 0;
	bool same = true;

	(void)word;
	while (total < a[1]) {
		unsigned char bytes[1000];
		int want = a[1] - total < 1000 ? (int)(a[1] - total) : 1000;
		struct scif_pollepd ready = {.epd = (int)a[0], .events = SCIF_POLLIN};

		if (scif_poll(&ready, 1, -1) != 1)
			break;
		int got = scif_recv((int)a[0], bytes, want, 0);

		if (got <= 0)
			break;
		for (int i = 0; i < got; i++)
			same = same && bytes[i] == pattern_byte((size_t)(total + i), a[2]);
		total += got;
	}
	take(o, same ? total : -2);
}

/* Binds to port 0 until it fails; the endpoints stay. first.port and last.port are set. */
static void call_bind_all(struct outcome *o, const int64_t *a, char **word)
{
	int bound = 0;
	const char *why = NULL;

	(void)a, (void)word;
	for (;;) {
		int epd = scif_open();
		int port = epd < 0 ? -1 : scif_bind(epd, 0);

		if (port < 0) {
			why = strerrorname_np(errno);
			variable_set("unbound", epd);
			break;
		}
		if (bound == 0)
			variable_set("first.port", port);
		variable_set("last.port", port);
		bound++;
	}
	take(o, bound);
	variable_set("ended.with.ENOSPC", why != NULL && strcmp(why, "ENOSPC") == 0);
}

enum transfer { TRANSFER_READFROM, TRANSFER_WRITETO, TRANSFER_VREADFROM, TRANSFER_VWRITETO };

static int transfer(enum transfer kind, int epd, int64_t local, void *memory, size_t length,
		    int64_t remote, int flags)
{
	switch (kind) {
	case TRANSFER_READFROM:
		return scif_readfrom(epd, local, length, remote, flags);
	case TRANSFER_WRITETO:
		return scif_writeto(epd, local, length, remote, flags);
	case TRANSFER_VREADFROM:
		return scif_vreadfrom(epd, memory, length, remote, flags);
	default:
		return scif_vwriteto(epd, memory, length, remote, flags);
	}
}

struct sides {
	enum transfer kind;
	int epd;
	int64_t local, remote; /* offsets of two pages each */
	unsigned char *mine, *theirs;
	int flags;
};

static bool moves_exactly(const struct sides *s, size_t length, size_t lo, size_t ro)
{
	bool inwards = s->kind == TRANSFER_READFROM || s->kind == TRANSFER_VREADFROM;
	const unsigned char *target = inwards ? s->mine : s->theirs;
	const unsigned char *source = inwards ? s->theirs : s->mine;
	size_t to = inwards ? lo : ro;
	size_t from = inwards ? ro : lo;
	bool right = true;

	for (size_t i = 0; i < 2 * PAGE; i++) {
		s->mine[i] = pattern_byte(i, inwards ? 1 : 99);
		s->theirs[i] = pattern_byte(i, inwards ? 99 : 1);
	}
	if (transfer(s->kind, s->epd, s->local + (int64_t)lo, s->mine + lo, length,
		     s->remote + (int64_t)ro, s->flags) != 0)
		return false;
	for (size_t i = 0; i < 2 * PAGE; i++) {
		bool inside = i >= to && i < to + length;

		right = right && source[i] == pattern_byte(i, 99);
		right = right && target[i] == (inside ? pattern_byte(i - to + from, 99)
						      : pattern_byte(i, 1));
	}
	return right;
}

/* Lengths by offsets below a page on both sides; the number that went wrong. */
static void call_combinations(struct outcome *o, const int64_t *a, char **word)
{
	static const size_t lengths[] = {1,  2,  3,   4,   7,	 8,    9,    15,
					 63, 64, 65, 127, 4095, 4096, 4097};
	static const size_t offsets[] = {0, 1, 7, 63, 64, 4000};
	struct sides sides = {.kind = (enum transfer)a[0], .epd = (int)a[1], .local = a[2],
			      .mine = at(a[3]), .remote = a[4], .theirs = at(a[5]),
			      .flags = (int)a[6]};
	int wrong = 0;

	(void)word;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		for (size_t j = 0; j < sizeof offsets / sizeof offsets[0]; j++) {
			for (size_t k = 0; k < sizeof offsets / sizeof offsets[0]; k++) {
				if (lengths[i] + offsets[j] > 2 * PAGE ||
				    lengths[i] + offsets[k] > 2 * PAGE)
					continue;
				wrong += !moves_exactly(&sides, lengths[i], offsets[j],
							offsets[k]);
			}
		}
	}
	take(o, wrong);
}

static const struct command commands[] = {
	{"open", "", call_open},
	{"close", "e", call_close},
	{"bind", "ee", call_bind},
	{"listen", "ee", call_listen},
	{"connect", "eee", call_connect},
	{"connect_null", "e", call_connect_null},
	{"collect", "eee", call_collect},
	{"accept", "ee", call_accept},
	{"accept_without", "eet", call_accept_without},
	{"send", "eeee", call_send},
	{"recv", "eeee", call_recv},
	{"register", "eeeeee", call_register},
	{"unregister", "eee", call_unregister},
	{"mmap", "eeeeee", call_mmap},
	{"munmap", "ee", call_munmap},
	{"readfrom", "eeeee", call_readfrom},
	{"writeto", "eeeee", call_writeto},
	{"vreadfrom", "eeeee", call_vreadfrom},
	{"vwriteto", "eeeee", call_vwriteto},
	{"mark", "ee", call_mark},
	{"mark_null", "ee", call_mark_null},
	{"wait", "ee", call_wait},
	{"signal", "eeeeee", call_signal},
	{"nodeids", "eee", call_nodeids},
	{"get_fd", "e", call_get_fd},
	{"poll", "eee", call_poll},
	{"poll3", "eeee", call_poll3},
	{"poll_null", "ee", call_poll_null},
	{"select", "e", call_select},
	{"open_readonly", "", call_open_readonly},
	{"getfd", "e", call_getfd},
	{"getfl", "e", call_getfl},
	{"nonblock", "ee", call_nonblock},
	{"dup", "e", call_dup},
	{"read", "e", call_read},
	{"write", "e", call_write},
	{"lseek", "e", call_lseek},
	{"fsync", "e", call_fsync},
	{"shutdown", "e", call_shutdown},
	{"socket_send", "e", call_socket_send},
	{"ioctl", "ee", call_ioctl},
	{"chardev", "e", call_chardev},
	{"null_device", "", call_null_device},
	{"directory", "", call_directory},
	{"pipe", "", call_pipe},
	{"no_descriptors", "", call_no_descriptors},
	{"all_descriptors", "", call_all_descriptors},
	{"memlock", "e", call_memlock},
	{"user", "e", call_user},
	{"mem", "e", call_mem},
	{"protect", "eee", call_protect},
	{"unmap", "ee", call_unmap},
	{"map_again", "ee", call_map_again},
	{"file", "eee", call_file},
	{"textpage", "", call_textpage},
	{"constants", "", call_constants},
	{"load", "e", call_load},
	{"store", "ee", call_store},
	{"put", "et", call_put},
	{"text", "et", call_text},
	{"fill", "eee", call_fill},
	{"pattern", "eee", call_pattern},
	{"set", "eee", call_set},
	{"same", "eee", call_same},
	{"word", "e", call_word},
	{"half", "e", call_half},
	{"mremap", "eee", call_mremap},
	{"msync", "ee", call_msync},
	{"dontneed", "ee", call_dontneed},
	{"kernel_store", "e", call_kernel_store},
	{"kernel_load", "e", call_kernel_load},
	{"is", "e", call_is},
	{"atleast", "ee", call_atleast},
	{"differ", "ee", call_differ},
	{"clock", "", call_clock},
	{"pair", "nnn", call_pair},
	{"send_until_full", "e", call_send_until_full},
	{"drain", "e", call_drain},
	{"recv_pattern", "eee", call_recv_pattern},
	{"bind_all", "", call_bind_all},
	{"combinations", "eeeeeee", call_combinations},
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

bool command_values(const struct command *command, char **word, int words, int64_t *values)
{
	if (words != (int)strlen(command->takes))
		return false;
	for (int i = 0; i < words; i++) {
		if (command->takes[i] == 'e' && !evaluate(word[i], &values[i]))
			return false;
	}
	return true;
}

void command_run(const struct command *command, const int64_t *values, char **word,
		 struct outcome *outcome)
{
	int64_t start = now_ms();

	*outcome = (struct outcome){.bits = -1};
	errno = 0;
	command->run(outcome, values, word);
	outcome->took_ms = now_ms() - start;
}
