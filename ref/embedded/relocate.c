/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The range is write-protected through userfaultfd, copied, and replaced by a shared mapping of the
 * copy. A thread that stores into it meanwhile sleeps in its page fault, is woken after the
 * replacement, and its store goes into the new pages. Where userfaultfd is refused, stores made
 * between copy and replacement are lost.
 */
#include "relocate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "process.h"
#include "safe_copy.h"
#include "store.h"

/* As the kernel has it; musl does not know it. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* Younger than the headers we build with: pages never touched can be protected too (Linux 6.4). */
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { STACK_BELOW = 1 << 15, STACK_ABOVE = 1 << 12, STACK_BYTES = 1 << 17 };

static struct {
	bool tried;
	bool untouched_too; /* protects pages that were never touched */
	int fd;
} guard = {.fd = -1};

static int open_guard(int flags, uint64_t features)
{
	int fd = fd_keep(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags));
	if (fd < 0)
		return -1;
	struct uffdio_api api = {.api = UFFD_API, .features = features};
	if (ioctl(fd, UFFDIO_API, &api) == 0 && (api.features & features) == features)
		return fd;
	close(fd);
	return -1;
}

/* With the full mode, system calls of other threads that write into the range wait as well. */
static void prepare_guard(void)
{
	static const int modes[] = {0, UFFD_USER_MODE_ONLY};
	const uint64_t basic = UFFD_FEATURE_PAGEFAULT_FLAG_WP;
	if (guard.tried)
		return;
	guard.tried = true;
	for (int i = 0; i < 2 && guard.fd < 0; i++) {
		guard.fd = open_guard(modes[i], basic | UFFD_FEATURE_WP_UNPOPULATED);
		guard.untouched_too = guard.fd >= 0;
		if (guard.fd < 0)
			guard.fd = open_guard(modes[i], basic);
	}
}

static void unprotect(struct uffdio_range range)
{
	ioctl(guard.fd, UFFDIO_UNREGISTER, &range);
}

static bool protect(void *addr, size_t len)
{
	struct uffdio_range range = {.start = (uintptr_t)addr, .len = len};
	struct uffdio_register reg = {.range = range, .mode = UFFDIO_REGISTER_MODE_WP};
	struct uffdio_writeprotect wp = {.range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
	prepare_guard();
	/* Refused for mappings of files and for ranges with a userfaultfd of the application. */
	if (guard.fd < 0 || ioctl(guard.fd, UFFDIO_REGISTER, &reg))
		return false;
	if (!guard.untouched_too)
		madvise(addr, len, MADV_POPULATE_READ);
	if (ioctl(guard.fd, UFFDIO_WRITEPROTECT, &wp) == 0)
		return true;
	unprotect(range);
	return false;
}

/*
 * Not through the C library: a page holds more than the caller's buffer, and sanitizers look at
 * what the library function is given.
 */
static int copy_in(const unsigned char *from, size_t len, const struct store *s, uint64_t frame)
{
	off_t offset = frame << PAGE_BITS;
	if (!fd_may_reach(offset + (off_t)len))
		return -ENOMEM;
	while (len) {
		ssize_t n = syscall(SYS_pwrite64, s->fd, from, len, offset);
		if (n <= 0)
			return errno == EFAULT ? -EFAULT : -ENOMEM;
		from += n;
		offset += n;
		len -= n;
	}
	return 0;
}

struct move {
	void *addr;
	size_t len;
	int prot;
	struct store *store;
	uint64_t frame;
	int error;
};

static void move_in(struct move *m)
{
	struct uffdio_range range = {.start = (uintptr_t)m->addr, .len = m->len};
	bool held = protect(m->addr, m->len);
	m->error = copy_in(m->addr, m->len, m->store, m->frame);
	if (!m->error)
		/* All at once: one fault for each page, when they are used next, costs far more. */
		m->error = store_map(m->store, m->frame, m->len >> PAGE_BITS, m->prot, m->addr,
				     MAP_POPULATE);
	if (m->error && held)
		unprotect(range);
	else if (held)
		ioctl(guard.fd, UFFDIO_WAKE, &range);
}

/* --- a stack elsewhere, for ranges that contain the one in use --- */

static bool contains_stack(const void *addr, size_t len)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), start = (uintptr_t)addr;
	return start < here + STACK_ABOVE && start + len > here - STACK_BELOW;
}

static _Thread_local struct {
	void (*run)(struct move *m);
	struct move *move;
} detour;

static void take_detour(void)
{
	detour.run(detour.move);
}

/* False: there is no way to do that. */
#ifdef __GLIBC__
static bool call_on(void *stack, size_t size, void (*call)(void))
{
	ucontext_t here, there;
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = size;
	there.uc_link = &here;
	makecontext(&there, call, 0);
	swapcontext(&here, &there);
	return true;
}
#elif defined __x86_64__
/* musl has no contexts. The call saves what it has to on its own stack, and rbx it gives back. */
static bool call_on(void *stack, size_t size, void (*call)(void))
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "call *%[call]\n\t"
			 "movq %%rbx, %%rsp"
			 : [call] "+a"(call)
			 : [top] "c"((char *)stack + size)
			 : "rbx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
			   "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
	return true;
}
#else
static bool call_on(void *stack, size_t size, void (*call)(void))
{
	(void)stack, (void)size, (void)call;
	return false;
}
#endif

static void run_elsewhere(void (*run)(struct move *m), struct move *m)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	m->error = -ENOMEM;
	if (stack == MAP_FAILED)
		return;
	/* What is written from there on is not in the range. */
	struct move *copy = (struct move *)stack;
	*copy = *m;
	detour.run = run;
	detour.move = copy;
	if (call_on((char *)stack + PAGE_BYTES, STACK_BYTES - PAGE_BYTES, take_detour))
		m->error = copy->error;
	else
		m->error = -EAGAIN;
	munmap(stack, STACK_BYTES);
}

/* A signal handler that stored into the range would wait for its own thread. */
static void run_undisturbed(void (*run)(struct move *m), struct move *m)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (contains_stack(m->addr, m->len))
		run_elsewhere(run, m);
	else
		run(m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int relocate_in(void *addr, size_t len, int prot, struct store *s, uint64_t frame)
{
	struct move m = {.addr = addr, .len = len, .prot = prot, .store = s, .frame = frame};
	run_undisturbed(move_in, &m);
	return m.error == -EINVAL ? -EAGAIN : m.error;
}

/* --- the child's way back --- */

static bool copy_out(unsigned char *to, const struct move *m)
{
	off_t offset = m->frame << PAGE_BITS;
	for (size_t done = 0; done < m->len;) {
		ssize_t n = pread(m->store->fd, to + done, m->len - done, offset + done);
		if (n <= 0)
			return false;
		done += n;
	}
	return true;
}

static void move_out(struct move *m)
{
	void *copy = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy != MAP_FAILED && copy_out(copy, m) && mprotect(copy, m->len, m->prot) == 0 &&
	    mremap(copy, m->len, m->len, MREMAP_MAYMOVE | MREMAP_FIXED, m->addr) != MAP_FAILED)
		return;
	/* Better no memory than memory shared with the parent. */
	mmap(m->addr, m->len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void relocate_out(void *addr, size_t len, int prot, const struct store *s, uint64_t frame)
{
	struct move m = {.addr = addr,
			 .len = len,
			 .prot = prot,
			 .store = (struct store *)(uintptr_t)s,
			 .frame = frame};
	run_undisturbed(move_out, &m);
}

void relocate_shared(void *addr, size_t len)
{
	void *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy != MAP_FAILED && safe_copy(copy, addr, len) == 0)
		mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, addr);
}

/* The inherited descriptor works on the parent's memory. */
void relocate_atfork_child(void)
{
	if (guard.fd >= 0)
		close(guard.fd);
	guard.fd = -1;
	guard.tried = false;
}
