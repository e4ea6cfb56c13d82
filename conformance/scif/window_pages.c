/* SPDX-License-Identifier: BSD-2-Clause */
/* Which page of memory a page of a window stands for: large windows, shared pages and every kind of
 * memory. */
#include "far_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads 16 bytes at the end of every `stride`-th page, over into the next one where there is one.
 */
static void check_pages(struct cts_window win, size_t stride)
{
	size_t page = cts_page_size();

	for (size_t i = 0; i < win.pages; i += stride) {
		size_t at = (i + 1) * page - 8;
		size_t n = i + 1 < win.pages ? 16 : 8;

		cts_expect_ok(cts_peer_readfrom_us(win, at, n, SCIF_RMA_SYNC),
			      "the peer reads the window");
		CTS_ASSERT(cts_peer_scratch_is(win.epd, n, 2, at));
	}
}

static void check_window_of(size_t pages, size_t stride)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_window win = cts_fx_window(pages, READ_WRITE);
	size_t page = cts_page_size();

	check_pages(win, stride);
	cts_expect_ok(cts_peer_writeto_us(win, (pages - 1) * page + 1, 7, 9, SCIF_RMA_SYNC),
		      "the peer writes the last page");
	CTS_ASSERT(cts_is_pattern((unsigned char *)win.addr + (pages - 1) * page + 1, 7, 9));
	CTS_ASSERT(cts_is_pattern(win.addr, (pages - 1) * page + 1, 2));
	CTS_ASSERT(scif_unregister(epd, win.offset, win.len) == 0);
}

SCENARIO(window_pages_match)
{
	check_window_of((size_t)cts_param("pages"), 1);
}

SCENARIO(window_pages_match_large)
{
	check_window_of(4095, 5);
	check_window_of(4096, 5);
	check_window_of(16384, 11);
}

SCENARIO(window_untouched_memory)
{
	scif_epd_t epd = cts_fx_connected();
	size_t len = 2 * cts_page_size();
	void *mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t there = far_alloc(epd, len);

	CTS_REQUIRE(mem != MAP_FAILED);
	cts_peer_call(cts_peer_of(epd), "set %" PRIu64 " %zu 255", there, len);
	off_t offset = scif_register(epd, mem, len, 0, READ_WRITE, 0);
	CTS_ASSERT(offset != SCIF_REGISTER_FAILED);
	cts_expect_ok(far_vreadfrom(epd, there, len, offset), "the peer reads untouched pages");
	CTS_ASSERT(far_is_byte(epd, there, len, 0));
}

SCENARIO(window_same_pages_one_endpoint)
{
	scif_epd_t epd = cts_fx_connected();
	size_t page = cts_page_size();
	unsigned char *mem = cts_fx_pages(4);
	struct cts_window all = cts_fx_window_of(epd, mem, 4 * page, READ_WRITE);
	struct cts_window middle = cts_fx_window_of(epd, mem + page, 2 * page, SCIF_PROT_READ);
	struct cts_window last = cts_fx_window_of(epd, mem + 2 * page, 2 * page, SCIF_PROT_WRITE);

	cts_expect_ok(cts_peer_writeto_us(all, page + 5, 64, 9, SCIF_RMA_SYNC),
		      "write through the first window");
	cts_expect_ok(cts_peer_readfrom_us(middle, 5, 64, SCIF_RMA_SYNC),
		      "read through the second window");
	CTS_ASSERT(cts_peer_scratch_is(epd, 64, 9, 0));
	cts_expect_ok(cts_peer_writeto_us(last, 8, 32, 10, SCIF_RMA_SYNC),
		      "write through the third window");
	cts_expect_ok(cts_peer_readfrom_us(middle, page + 8, 32, SCIF_RMA_SYNC),
		      "read what the third window wrote");
	CTS_ASSERT(cts_peer_scratch_is(epd, 32, 10, 0));
	CTS_ASSERT(cts_is_pattern(mem + 2 * page + 8, 32, 10));
	CTS_ASSERT(cts_failed_with(cts_peer_writeto_us(middle, 0, 8, 1, SCIF_RMA_SYNC), EACCES) ||
		   !strcmp(cts_profile(), "knc"));
	CTS_ASSERT(scif_unregister(epd, all.offset, all.len) == 0);
	CTS_ASSERT(cts_window_is_open(middle));
	CTS_ASSERT(cts_window_is_open(last));
}

SCENARIO(window_same_pages_two_endpoints)
{
	scif_epd_t first = cts_fx_connected(), second = cts_fx_connected();
	unsigned char *mem = cts_fx_pages(2);
	size_t len = 2 * cts_page_size();
	struct cts_window one = cts_fx_window_of(first, mem, len, READ_WRITE);
	struct cts_window two = cts_fx_window_of(second, mem, len, READ_WRITE);

	cts_expect_ok(cts_peer_writeto_us(one, 100, 200, 9, SCIF_RMA_SYNC),
		      "write through the first connection");
	CTS_ASSERT(cts_is_pattern(mem + 100, 200, 9));
	cts_expect_ok(cts_peer_readfrom_us(two, 100, 200, SCIF_RMA_SYNC),
		      "read through the second connection");
	CTS_ASSERT(cts_peer_scratch_is(second, 200, 9, 0));
	CTS_ASSERT(scif_close(first) == 0);
	CTS_ASSERT(cts_window_is_open(two));
}

/* ---- kinds of memory ---- */

enum kind {
	MEMALIGN,
	ANONYMOUS,
	SHM,
	SHM_TWICE,
	FILE_SHARED,
	HEAP_PAGE,
	PAST_THE_END,
	STATIC_DATA,
	STACK,
	HUGE_PAGES,
	TRANSPARENT_HUGE
};

struct memory {
	unsigned char *addr;
	size_t len;
	unsigned char *alias; /* a second mapping of the same pages, or NULL */
	unsigned char *other; /* 64 bytes of another object in the same page, or NULL */
	const char *shm_name, *path;
};

static unsigned char static_data[4 * 65536];

static void map_shared(struct memory *m, int fd, bool twice)
{
	CTS_REQUIRE(fd != -1);
	CTS_REQUIRE(ftruncate(fd, (off_t)m->len) == 0);
	m->addr = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CTS_REQUIRE(m->addr != MAP_FAILED);
	if (twice)
		m->alias = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CTS_REQUIRE(m->alias != MAP_FAILED);
	close(fd);
}

static void shm_memory(struct memory *m, bool twice)
{
	static char name[64];

	snprintf(name, sizeof name, "/cts-%d", (int)getpid());
	m->shm_name = name;
	map_shared(m, shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600), twice);
}

static void file_memory(struct memory *m)
{
	static char path[] = "/tmp/cts-XXXXXX";

	m->path = path;
	map_shared(m, mkstemp(path), true);
}

/* A page of the heap that holds the start of one object and all of another. */
static void heap_memory(struct memory *m)
{
	size_t page = cts_page_size();
	unsigned char *block = malloc(4 * page);

	CTS_REQUIRE(block);
	m->len = page;
	m->addr = (unsigned char *)(((uintptr_t)block + page) & ~(uintptr_t)(page - 1));
	m->other = m->addr + page - 64;
}

static void past_the_end(struct memory *m)
{
	void *p = NULL;

	m->len = cts_page_size();
	CTS_REQUIRE(posix_memalign(&p, m->len, 600) == 0);
	m->addr = p;
}

static void huge_memory(struct memory *m)
{
	m->len = 2 << 20;
	m->addr = mmap(NULL, m->len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (m->addr == MAP_FAILED)
		cts_untested("no huge pages are set aside on this system (vm.nr_hugepages)");
}

/* Aligned and touched as a whole, so that the kernel may back it by one huge page. */
static void transparent_memory(struct memory *m)
{
	size_t size = 2 << 20;
	unsigned char *p =
		mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CTS_REQUIRE(p != MAP_FAILED);
	m->len = size;
	m->addr = (unsigned char *)(((uintptr_t)p + size - 1) & ~(uintptr_t)(size - 1));
	CTS_REQUIRE(madvise(m->addr, size, MADV_HUGEPAGE) == 0);
	memset(m->addr, 0, size);
}

static unsigned char *page_start(unsigned char *p)
{
	size_t page = cts_page_size();

	return (unsigned char *)(((uintptr_t)p + page - 1) & ~(uintptr_t)(page - 1));
}

static void make_memory(struct memory *m, enum kind kind, unsigned char *stack)
{
	void *p = NULL;

	m->len = 2 * cts_page_size();
	switch (kind) {
	case MEMALIGN:
		CTS_REQUIRE(posix_memalign(&p, cts_page_size(), m->len) == 0);
		m->addr = p;
		break;
	case ANONYMOUS:
		m->addr = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
		break;
	case SHM:
	case SHM_TWICE:
		shm_memory(m, kind == SHM_TWICE);
		break;
	case FILE_SHARED:
		file_memory(m);
		break;
	case HEAP_PAGE:
		heap_memory(m);
		break;
	case PAST_THE_END:
		past_the_end(m);
		break;
	case STATIC_DATA:
		m->addr = page_start(static_data);
		break;
	case STACK:
		m->addr = page_start(stack);
		break;
	case HUGE_PAGES:
		huge_memory(m);
		break;
	case TRANSPARENT_HUGE:
		transparent_memory(m);
		break;
	}
	CTS_REQUIRE(m->addr && m->addr != MAP_FAILED);
}

static void drop_names(const struct memory *m)
{
	if (m->shm_name)
		shm_unlink(m->shm_name);
	if (m->path)
		unlink(m->path);
}

static void check_memory(scif_epd_t epd, struct memory *m)
{
	off_t offset = scif_register(epd, m->addr, m->len, 0, READ_WRITE, 0);
	int err = errno;

	drop_names(m);
	errno = err;
	CTS_OBSERVE(offset);
	CTS_ASSERT(offset != SCIF_REGISTER_FAILED);
	struct cts_window win = {.addr = m->addr, .len = m->len, .offset = offset, .epd = epd};
	CTS_ASSERT(cts_is_pattern(m->addr, 256, 4));
	cts_fill(m->addr, 256, 11);
	cts_expect_ok(cts_peer_readfrom_us(win, 0, 256, SCIF_RMA_SYNC), "the peer reads");
	CTS_ASSERT(cts_peer_scratch_is(epd, 256, 11, 0));
	cts_expect_ok(cts_peer_writeto_us(win, 300, 256, 12, SCIF_RMA_SYNC), "the peer writes");
	CTS_ASSERT(cts_is_pattern(m->addr + 300, 256, 12));
	CTS_ASSERT(!m->alias || cts_is_pattern(m->alias + 300, 256, 12));
	CTS_ASSERT(!m->other || cts_is_pattern(m->other, 64, 13));
	CTS_ASSERT(scif_unregister(epd, offset, m->len) == 0);
	CTS_ASSERT(cts_is_pattern(m->addr + 300, 256, 12));
}

SCENARIO(window_memory_kind)
{
	unsigned char stack[3 * 4096 + 4096];
	struct memory m = {.addr = NULL};
	scif_epd_t epd = cts_fx_connected();

	if (cts_param("kind") == STACK && cts_page_size() > 4096)
		cts_untested("the array on the stack is made for pages of 4096 bytes");
	make_memory(&m, (enum kind)cts_param("kind"), stack);
	cts_fill(m.addr, 256, 4);
	if (m.other)
		cts_fill(m.other, 64, 13);
	check_memory(epd, &m);
}

SCENARIO(window_beyond_end_of_file)
{
	scif_epd_t epd = cts_fx_connected();
	char path[] = "/tmp/cts-XXXXXX";
	int fd = mkstemp(path);
	size_t page = cts_page_size();

	CTS_REQUIRE(fd != -1);
	CTS_REQUIRE(ftruncate(fd, (off_t)page) == 0);
	unsigned char *mem = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CTS_REQUIRE(mem != MAP_FAILED);
	struct cts_result good = CTS_RESULT(scif_register(epd, mem, page, 0, READ_WRITE, 0));
	struct cts_result bad = CTS_OBSERVE(scif_register(epd, mem, 2 * page, 0, READ_WRITE, 0));
	unlink(path);
	cts_expect_error(bad, EFAULT, "register beyond the end of a file gives EFAULT");
	CTS_ASSERT(good.ret >= 0);
}

/* Either the file behind the memory cannot be had, EAGAIN, or it can and the window is a true one.
 */
SCENARIO(window_unopenable_memory)
{
	scif_epd_t epd = cts_fx_connected();
	unsigned char *mem = cts_fx_shared_pages(1);
	size_t page = cts_page_size();
	off_t offset = scif_register(epd, mem, page, 0, READ_WRITE, 0);
	struct cts_result r = cts_observe(offset, errno);

	if (r.ret == -1) {
		cts_expect_error(r, EAGAIN, "anonymous shared memory gives EAGAIN");
		CTS_ASSERT(cts_is_pattern(mem, page, 2));
		return;
	}
	struct cts_window win = {.addr = mem, .len = page, .offset = offset, .epd = epd};
	cts_expect_ok(cts_peer_writeto_us(win, 8, 64, 9, SCIF_RMA_SYNC), "the peer writes");
	CTS_ASSERT(cts_is_pattern(mem + 8, 64, 9));
}
