/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which memory is registered is looked up among the process's mappings: on a kernel that answers
 * questions about them, on one that has only their list, a long one, and where the list cannot be
 * read. Files are found again by their name or by a descriptor, or refused with EAGAIN.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <scif.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ends.h"

enum {
	PAGE = 4096,
	SIZE = 2 * PAGE,
	SKIPPED = 77,
	NOBODY = 65534,
	MANY = 30000,
	SOME_MEMORY = 512 << 10, /* less than is taken for a list to begin with */
	LIMIT_SECONDS = 60
};

/* PROCMAP_QUERY, Linux 6.11. */
#define ASK 0xc0686611u

static scif_epd_t own, peer;

static off_t opened(void *memory, int prot)
{
	return scif_register(own, memory, SIZE, 0, prot, 0);
}

/* Registered; the peer reads what the program has written. */
static bool is_shared(char *memory, int prot)
{
	off_t window = opened(memory, prot);
	char byte = 0;

	return window >= 0 && scif_vreadfrom(peer, &byte, 1, window + PAGE + 1, 0) == 0 &&
	       byte == memory[PAGE + 1] && byte == 'm';
}

static bool is_refused(char *memory, int error)
{
	errno = 0;
	return opened(memory, SCIF_PROT_READ | SCIF_PROT_WRITE) == -1 && errno == error;
}

static char *mapped(int fd, int prot)
{
	void *memory =
		mmap(NULL, SIZE, prot, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	if (prot & PROT_WRITE)
		memset(memory, 'm', SIZE);
	return memory;
}

static char name[64];

static int new_file(void)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(name, sizeof(name), "%s/found-XXXXXX", dir && strlen(dir) < 40 ? dir : "/tmp");
	fd = mkstemp(name);
	must(fd, "mkstemp");
	must(ftruncate(fd, SIZE), "ftruncate");
	return fd;
}

/* --- what is registered --- */

enum { BOTH = SCIF_PROT_READ | SCIF_PROT_WRITE };

static bool own_memory(void)
{
	return is_shared(mapped(-1, PROT_READ | PROT_WRITE), BOTH);
}

static bool own_memory_twice(void)
{
	char *memory = mapped(-1, PROT_READ | PROT_WRITE);

	return is_shared(memory, BOTH) && is_shared(memory, BOTH);
}

static bool file_by_name(void)
{
	int fd = new_file();
	char *memory = mapped(fd, PROT_READ | PROT_WRITE);

	close(fd);
	bool good = is_shared(memory, BOTH);
	unlink(name);
	return good;
}

static bool file_by_descriptor(void)
{
	int fd = new_file();
	char *memory = mapped(fd, PROT_READ | PROT_WRITE);

	unlink(name);
	return is_shared(memory, BOTH);
}

static bool file_that_is_gone(void)
{
	int fd = new_file();
	char *memory = mapped(fd, PROT_READ | PROT_WRITE);

	unlink(name);
	close(fd);
	return is_refused(memory, EAGAIN);
}

static bool another_file_of_that_name(void)
{
	int fd = new_file();
	char *memory = mapped(fd, PROT_READ | PROT_WRITE);

	close(fd);
	must(unlink(name), "unlink");
	close(open(name, O_CREAT | O_RDWR, 0600));
	bool good = is_refused(memory, EAGAIN);
	unlink(name);
	return good;
}

/* By one who may only read it. */
static bool file_to_read(void)
{
	int fd = new_file();

	mapped(fd, PROT_READ | PROT_WRITE);
	fchmod(fd, 0444);
	close(fd);
	if (geteuid() == 0)
		must(setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
	prctl(PR_SET_DUMPABLE, 1);
	/* Connected anew, as the user that it is now. */
	connect_ends(&own, &peer);
	fd = open(name, O_RDONLY);
	char *memory = mapped(fd, PROT_READ);
	close(fd);
	return is_shared(memory, SCIF_PROT_READ) && is_refused(memory, EFAULT);
}

static bool nothing(void)
{
	char *memory = mapped(-1, PROT_READ);

	mprotect(memory, PAGE, PROT_NONE);
	bool good = is_refused(memory, EFAULT);
	munmap(memory + PAGE, PAGE);
	return good && is_refused(memory, EFAULT);
}

/* One window of pages that lie in two files, the process's own and another: a value across both,
 * and its end. */
static bool two_kinds(void)
{
	const uint64_t value = UINT64_C(0x0102030405060708);
	int fd = new_file();
	char *memory = mapped(-1, PROT_READ | PROT_WRITE);
	void *second =
		mmap(memory + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	off_t window = second == MAP_FAILED ? -1 : opened(memory, BOTH);

	must(window, "register");
	unlink(name);
	return scif_fence_signal(own, window + PAGE - 4, value, 0, 0,
				 SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_LOCAL) == 0 &&
	       memcmp(memory + PAGE - 4, &value, sizeof(value)) == 0 &&
	       scif_unregister(own, window + PAGE, PAGE) == -1 && errno == EINVAL &&
	       scif_unregister(own, window, SIZE) == 0 &&
	       scif_vreadfrom(peer, memory, 1, window + PAGE, 0) == -1 && errno == ENXIO;
}

enum { PIECES = 200 };

/* A window of pages from here and there is one range to who maps it. */
static bool many_pieces(void)
{
	int fd = new_file();
	char *memory = mmap(NULL, PIECES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	unlink(name);
	must(memory == MAP_FAILED ? -1 : ftruncate(fd, PIECES * PAGE), "memory");
	for (int i = 0; i < PIECES; i += 2)
		must(mmap(memory + i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			  fd, i * PAGE) == MAP_FAILED
			     ? -1
			     : 0,
		     "mmap");
	for (int i = 0; i < PIECES; i++)
		memory[i * PAGE] = (char)i;
	off_t window = scif_register(own, memory, PIECES * PAGE, 0, BOTH, 0);
	must(window, "register");
	char *far = scif_mmap(NULL, PIECES * PAGE, SCIF_PROT_READ, 0, peer, window);
	bool good = far != SCIF_MMAP_FAILED;
	for (int i = 0; good && i < PIECES; i++)
		good = far[i * PAGE] == (char)i;
	return good && scif_munmap(far, PIECES * PAGE) == 0 &&
	       scif_unregister(own, window, PIECES * PAGE) == 0;
}

enum { DEEP = 16 * PAGE };

static __attribute__((noinline)) void grow_stack(void)
{
	volatile char deep[DEEP + PAGE];

	for (int i = 0; i < DEEP; i += PAGE)
		deep[i] = 0;
	(void)deep[0];
}

/* The frames of the very call that registers it are on it. */
static bool stack_in_use(void)
{
	volatile char byte = 'm';
	char *start = (char *)((uintptr_t)&byte & -(uintptr_t)PAGE) - DEEP;
	off_t at = (char *)(uintptr_t)&byte - start;
	char seen = 0, other = 'n';

	grow_stack();
	off_t window = scif_register(own, start, DEEP + PAGE, 0, BOTH, 0);
	if (window < 0 || scif_vreadfrom(peer, &seen, 1, window + at, 0) != 0 || seen != 'm')
		return false;
	return scif_vwriteto(peer, &other, 1, window + at, SCIF_RMA_SYNC) == 0 && byte == 'n' &&
	       scif_unregister(own, window, DEEP + PAGE) == 0 && byte == 'n';
}

/* --- where it is looked up --- */

static void asked(void)
{
}

static void listed(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ASK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
	char *many = mmap(NULL, (size_t)MANY * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		exit(SKIPPED);
	for (int i = 0; i < MANY; i += 2)
		must(mprotect(many + (size_t)i * PAGE, PAGE, PROT_NONE), "mprotect");
}

/* No descriptor is left for the list. */
static void guessed(void)
{
	int next = dup(0);
	struct rlimit limit = {.rlim_cur = (rlim_t)next, .rlim_max = (rlim_t)next};

	must(next, "dup");
	close(next);
	must(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

static void no_memory_for_the_list(void)
{
	listed();
	leave_memory(SOME_MEMORY);
}

static void no_memory_for_all_of_it(void)
{
	listed();
	leave_memory(3 * SOME_MEMORY);
}

static bool shared_is_refused(void)
{
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return is_refused(memory, EAGAIN);
}

static bool twice_is_refused(void)
{
	char *memory = mapped(-1, PROT_READ | PROT_WRITE);

	return is_shared(memory, BOTH) && is_refused(memory, EAGAIN);
}

static int how_it_ends(void (*where)(void), bool (*holds)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(LIMIT_SECONDS);
		connect_ends(&own, &peer);
		where();
		exit(!holds());
	}
	return ended_as(pid);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*where)(void);
		bool (*holds)(void);
	} cases[] = {
		{"asked: own memory", asked, own_memory},
		{"asked: own memory twice", asked, own_memory_twice},
		{"asked: a file by its name", asked, file_by_name},
		{"asked: a file by a descriptor", asked, file_by_descriptor},
		{"asked: a file that is gone", asked, file_that_is_gone},
		{"asked: another file of that name", asked, another_file_of_that_name},
		{"asked: a file that may be read only", asked, file_to_read},
		{"asked: no memory", asked, nothing},
		{"asked: two kinds of memory", asked, two_kinds},
		{"asked: many kinds of it in turn", asked, many_pieces},
		{"asked: the stack in use", asked, stack_in_use},
		{"listed: own memory", listed, own_memory},
		{"listed: own memory twice", listed, own_memory_twice},
		{"listed: a file by its name", listed, file_by_name},
		{"listed: a file by a descriptor", listed, file_by_descriptor},
		{"listed: a file that is gone", listed, file_that_is_gone},
		{"listed: another file of that name", listed, another_file_of_that_name},
		{"listed: no memory", listed, nothing},
		{"listed: two kinds of memory", listed, two_kinds},
		{"no memory for the list: own memory", no_memory_for_the_list, own_memory},
		{"no memory for all of the list: own memory", no_memory_for_all_of_it, own_memory},
		{"guessed: own memory", guessed, own_memory},
		{"guessed: own memory twice", guessed, twice_is_refused},
		{"guessed: memory that is shared", guessed, shared_is_refused},
		{"guessed: no memory", guessed, nothing},
	};
	char fabric[40];
	int failed = 0;

	snprintf(fabric, sizeof(fabric), "found-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setbuf(stdout, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int end = how_it_ends(cases[i].where, cases[i].holds);

		printf("%s: %s\n", end == 0 ? "ok" : "not ok", cases[i].name);
		if (end != 0)
			printf("  it ended with %d\n", end);
		if (end == SKIPPED)
			return SKIPPED;
		failed += end != 0;
	}
	return failed != 0;
}
