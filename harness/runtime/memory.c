/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers and pages of every kind that a call can be given, and what can be asked about memory. */
#include "engine.h"

#include "pattern.h"

#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/shm.h>

#define GUARD	   64
#define GUARD_BYTE 0xc5
#define PAGES_SEED 2

/* The size of a buffer stands before its first guard; buffers begin at a cache line. */
struct buffer_head {
	_Alignas(64) size_t bytes;
	struct buffer_head *older;
};

/* Buffers live until the process ends, whatever becomes of the pointers to them. */
static _Atomic(struct buffer_head *) newest;

size_t cts_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t n)
{
	size_t page = cts_page_size();

	return (n + page - 1) / page * page;
}

/*
 * Far from where the kernel places mappings by itself, with room between: what a fixture leaves
 * unmapped must not be filled by the next mapping that the implementation makes. A sanitizer has
 * its own memory there, and leaves little else free.
 */
static void *place_aside(size_t len)
{
	static uintptr_t next;

	if (!next)
		next = sizeof(void *) == 4 ? (uintptr_t)1 << 30
		       : memory_sanitizer()  ? (uintptr_t)0x7e900000 << 16
					     : (uintptr_t)1 << 44;
	uintptr_t place = next;

	next += round_up(len) + 64 * cts_page_size();
	return (void *)place;
}

void *pages_map(size_t len, int prot, int flags, int fd)
{
	void *p = mmap(place_aside(len), len, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		cts_unresolved("no memory for %zu bytes: %s", len, strerror(errno));
	return p;
}

static unsigned char *anonymous(size_t len, int prot)
{
	return pages_map(len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void protect(void *p, size_t len, int prot)
{
	if (mprotect(p, len, prot) == -1)
		cts_unresolved("mprotect: %s", strerror(errno));
}

static void unmap(void *p, size_t len)
{
	if (munmap(p, len) == -1)
		cts_unresolved("munmap: %s", strerror(errno));
}

unsigned char *cts_fx_buffer(size_t bytes)
{
	size_t len = sizeof(struct buffer_head) + GUARD + bytes + GUARD;
	unsigned char *whole = aligned_alloc(64, (len + 63) / 64 * 64);

	if (!whole)
		cts_unresolved("no memory for %zu bytes", bytes);
	unsigned char *buffer = whole + sizeof(struct buffer_head) + GUARD;
	struct buffer_head *head = (struct buffer_head *)whole;
	head->bytes = bytes;
	head->older = atomic_exchange(&newest, head);
	memset(buffer - GUARD, GUARD_BYTE, GUARD);
	memset(buffer, 0, bytes);
	memset(buffer + bytes, GUARD_BYTE, GUARD);
	return buffer;
}

bool cts_guards_ok(const unsigned char *buffer)
{
	const unsigned char *whole = buffer - GUARD - sizeof(struct buffer_head);
	size_t bytes = ((const struct buffer_head *)whole)->bytes;

	return cts_is_byte(buffer - GUARD, GUARD, GUARD_BYTE) &&
	       cts_is_byte(buffer + bytes, GUARD, GUARD_BYTE);
}

unsigned char *cts_fx_pattern(size_t bytes, unsigned seed)
{
	unsigned char *buffer = cts_fx_buffer(bytes);

	cts_fill(buffer, bytes, seed);
	return buffer;
}

/* Room for the bytes, and one inaccessible page behind. */
static unsigned char *room_before_hole(size_t bytes, size_t *len)
{
	*len = round_up(bytes ? bytes : 1);
	unsigned char *p = anonymous(*len + cts_page_size(), PROT_READ | PROT_WRITE);
	protect(p + *len, cts_page_size(), PROT_NONE);
	return p;
}

unsigned char *cts_fx_guarded(size_t bytes)
{
	size_t len;
	unsigned char *p = room_before_hole(bytes, &len);

	return p + len - bytes;
}

unsigned char *cts_fx_guarded_before(size_t bytes)
{
	size_t page = cts_page_size();
	unsigned char *p = anonymous(page + round_up(bytes ? bytes : 1), PROT_READ | PROT_WRITE);

	protect(p, page, PROT_NONE);
	return p + page;
}

unsigned char *cts_fx_readonly(size_t bytes)
{
	size_t len;
	unsigned char *p = room_before_hole(bytes, &len);

	cts_fill(p + len - bytes, bytes, 1);
	protect(p, len, PROT_READ);
	return p + len - bytes;
}

unsigned char *cts_fx_noaccess(size_t bytes)
{
	return anonymous(round_up(bytes ? bytes : 1), PROT_NONE);
}

unsigned char *cts_fx_unmapped(size_t bytes)
{
	size_t len = round_up(bytes ? bytes : 1);
	unsigned char *p = anonymous(len, PROT_NONE);

	unmap(p, len);
	return p;
}

/* Half of the bytes lie before a page boundary, where the second half's pages begin. */
static unsigned char *two_halves(size_t bytes, unsigned char **second, size_t *second_len)
{
	size_t first = bytes / 2, first_len = round_up(first ? first : 1);

	*second_len = round_up(bytes - first ? bytes - first : 1);
	unsigned char *p = anonymous(first_len + *second_len, PROT_READ | PROT_WRITE);
	*second = p + first_len;
	cts_fill(*second - first, bytes, 1);
	return *second - first;
}

unsigned char *cts_fx_straddling(size_t bytes)
{
	unsigned char *second;
	size_t len;
	unsigned char *p = two_halves(bytes, &second, &len);

	unmap(second, len);
	return p;
}

unsigned char *cts_fx_straddling_readonly(size_t bytes)
{
	unsigned char *second;
	size_t len;
	unsigned char *p = two_halves(bytes, &second, &len);

	protect(second, len, PROT_READ);
	return p;
}

unsigned char *cts_fx_pages(size_t pages)
{
	size_t len = pages * cts_page_size();
	unsigned char *p = anonymous(len, PROT_READ | PROT_WRITE);

	cts_fill(p, len, PAGES_SEED);
	return p;
}

unsigned char *cts_fx_heap_pages(size_t pages)
{
	size_t len = pages * cts_page_size();
	void *p;

	if (posix_memalign(&p, cts_page_size(), len))
		cts_unresolved("no memory for %zu bytes", len);
	cts_fill(p, len, PAGES_SEED);
	return p;
}

unsigned char *cts_fx_shared_pages(size_t pages)
{
	size_t len = pages * cts_page_size();
	unsigned char *p = pages_map(len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);

	cts_fill(p, len, PAGES_SEED);
	return p;
}

unsigned char *cts_fx_file_pages(size_t pages)
{
	size_t len = pages * cts_page_size();
	int fd = memfd_create("cts-pages", MFD_CLOEXEC);

	if (fd == -1 || ftruncate(fd, (off_t)len) == -1)
		cts_unresolved("no memory file: %s", strerror(errno));
	unsigned char *p = pages_map(len, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	close(fd);
	cts_fill(p, len, PAGES_SEED);
	return p;
}

unsigned char *cts_fx_readonly_pages(size_t pages)
{
	unsigned char *p = cts_fx_pages(pages);

	protect(p, pages * cts_page_size(), PROT_READ);
	return p;
}

unsigned char *cts_fx_noaccess_pages(size_t pages)
{
	return anonymous(pages * cts_page_size(), PROT_NONE);
}

unsigned char *cts_fx_unmapped_pages(size_t pages)
{
	return cts_fx_unmapped(pages * cts_page_size());
}

unsigned char *cts_fx_straddling_pages(size_t pages)
{
	unsigned char *p = cts_fx_pages(pages);

	unmap(p + (pages - 1) * cts_page_size(), cts_page_size());
	return p;
}

unsigned char *cts_fx_sysv_pages(size_t pages)
{
	size_t len = pages * cts_page_size();
	int id = shmget(IPC_PRIVATE, len, IPC_CREAT | 0600);
	void *p = id == -1 ? (void *)-1 : shmat(id, NULL, 0);

	if (id != -1)
		shmctl(id, IPC_RMID, NULL);
	if (p == (void *)-1)
		cts_unresolved("System V shared memory: %s", strerror(errno));
	cts_fill(p, len, PAGES_SEED);
	return p;
}

/* Pages of a file that has a place in a file system, though no name. */
static unsigned char *disk_pages(size_t pages, int flags)
{
	size_t len = pages * cts_page_size();
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd == -1)
		cts_untested("no file without a name can be made: %s", strerror(errno));
	if (ftruncate(fd, (off_t)len) == -1)
		cts_unresolved("ftruncate: %s", strerror(errno));
	unsigned char *p = pages_map(len, PROT_READ | PROT_WRITE, flags, fd);
	close(fd);
	cts_fill(p, len, PAGES_SEED);
	return p;
}

unsigned char *cts_fx_shared_file_pages(size_t pages)
{
	return disk_pages(pages, MAP_SHARED);
}

unsigned char *cts_fx_private_file_pages(size_t pages)
{
	return disk_pages(pages, MAP_PRIVATE);
}

unsigned char *cts_fx_writeonly_pages(size_t pages)
{
	unsigned char *p = cts_fx_pages(pages);

	protect(p, pages * cts_page_size(), PROT_WRITE);
	return p;
}

void cts_fill(void *p, size_t n, unsigned seed)
{
	cts_fill_at(p, n, seed, 0);
}

bool cts_is_pattern(const void *p, size_t n, unsigned seed)
{
	return cts_is_pattern_at(p, n, seed, 0);
}

bool cts_same(const void *a, const void *b, size_t n)
{
	return !memcmp(a, b, n);
}

static _Thread_local sigjmp_buf after_fault;
static _Thread_local volatile sig_atomic_t probing;
static struct sigaction segv_before, bus_before;

/* A fault of another thread meanwhile belongs to the handler that was there: a library's, that
 * copies carefully. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *before = sig == SIGSEGV ? &segv_before : &bus_before;

	if (probing)
		siglongjmp(after_fault, 1);
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(sig, info, context);
	else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
		before->sa_handler(sig);
	else
		signal(sig, SIG_DFL); /* the access is tried again, and ends the process */
}

/* Whatever handler is in place for the two signals is put back afterwards. */
static bool faults(volatile unsigned char *p, bool write)
{
	struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	bool faulted = true;

	sigaction(SIGSEGV, NULL, &segv_before);
	sigaction(SIGBUS, NULL, &bus_before);
	sigaction(SIGSEGV, &ours, NULL);
	sigaction(SIGBUS, &ours, NULL);
	if (!sigsetjmp(after_fault, 1)) {
		probing = true;
		unsigned char value = *p;

		if (write)
			*p = value;
		faulted = false;
	}
	probing = false;
	sigaction(SIGSEGV, &segv_before, NULL);
	sigaction(SIGBUS, &bus_before, NULL);
	return faulted;
}

bool cts_faults_on_read(const void *p)
{
	return faults((volatile unsigned char *)(uintptr_t)p, false);
}

bool cts_faults_on_write(void *p)
{
	return faults(p, true);
}

/* A signal of 8 bytes may lie at any multiple of 4. */
typedef uint64_t signal_value __attribute__((aligned(4)));

bool cts_wait64(const volatile void *p, uint64_t value)
{
	while (*(const volatile signal_value *)p != value) {
		if (!cts_time_left())
			return false;
		sched_yield();
	}
	return true;
}

bool cts_wait32(const volatile void *p, uint32_t value)
{
	while (__atomic_load_n((const volatile uint32_t *)p, __ATOMIC_ACQUIRE) != value) {
		if (!cts_time_left())
			return false;
		sched_yield();
	}
	return true;
}
