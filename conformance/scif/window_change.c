/* SPDX-License-Identifier: BSD-2-Clause */
/* A window keeps its pages whatever happens to the addresses under which they were registered. */
#include "far_memory.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

enum change { UNMAP, MAP_OVER, FREE_HEAP, SCIF_MAP_OVER, SCIF_UNMAP, MOVE };

static void peer_still_sees(struct cts_window win, size_t from)
{
	cts_expect_ok(cts_peer_readfrom_us(win, from, win.len - from, SCIF_RMA_SYNC),
		      "the peer reads the window");
	CTS_ASSERT(cts_peer_scratch_is(win.epd, win.len - from, 2, from));
}

static void map_over(struct cts_window win, void *addr)
{
	void *fresh = mmap(addr, win.len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	CTS_REQUIRE(fresh == addr);
	cts_fill(fresh, win.len, 6);
}

static void after_map_over(struct cts_window win)
{
	map_over(win, win.addr);
	peer_still_sees(win, 0);
	cts_expect_ok(cts_peer_writeto_us(win, 0, win.len, 8, SCIF_RMA_SYNC),
		      "the peer writes the window");
	CTS_ASSERT(cts_is_pattern(win.addr, win.len, 6));
}

static void after_scif_map_over(struct cts_window win)
{
	struct cts_peer_window far = cts_fx_peer_window_on(win.epd, win.pages, READ_WRITE);
	void *p = scif_mmap(win.addr, win.len, READ_WRITE, SCIF_MAP_FIXED, win.epd, far.offset);

	CTS_ASSERT(p == win.addr);
	CTS_ASSERT(cts_is_pattern(win.addr, win.len, 3));
	peer_still_sees(win, 0);
	cts_fill(win.addr, win.len, 6);
	CTS_ASSERT(cts_peer_is(far, 0, far.len, 6, 0));
	peer_still_sees(win, 0);
}

static void after_move(struct cts_window win)
{
	void *place = cts_fx_unmapped_pages(win.pages);
	void *moved = mremap(win.addr, win.len, win.len, MREMAP_MAYMOVE | MREMAP_FIXED, place);

	CTS_REQUIRE(moved == place);
	peer_still_sees(win, 0);
	cts_fill(moved, win.len, 6);
	cts_expect_ok(cts_peer_readfrom_us(win, 0, win.len, SCIF_RMA_SYNC),
		      "the peer reads after a store");
	CTS_ASSERT(cts_peer_scratch_is(win.epd, win.len, 6, 0));
}

/* The allocator may keep its notes at the start of a freed block, which is still the registered
 * page. */
static void after_free(scif_epd_t epd)
{
	void *block = NULL;
	size_t len = 4 * cts_page_size();

	CTS_REQUIRE(posix_memalign(&block, cts_page_size(), len) == 0);
	cts_fill(block, len, 2);
	struct cts_window win = cts_fx_window_of(epd, block, len, READ_WRITE);
	free(block);
	peer_still_sees(win, 256);
	for (int i = 0; i < 100; i++)
		free(malloc((size_t)i * 1000));
	CTS_ASSERT(scif_unregister(epd, win.offset, win.len) == 0);
}

SCENARIO(window_after_change)
{
	scif_epd_t epd = cts_fx_connected();
	enum change change = (enum change)cts_param("change");

	if (change == FREE_HEAP) {
		after_free(epd);
		return;
	}
	struct cts_window win = cts_fx_window(3, READ_WRITE);
	switch (change) {
	case UNMAP:
		CTS_REQUIRE(munmap(win.addr, win.len) == 0);
		peer_still_sees(win, 0);
		break;
	case MAP_OVER:
		after_map_over(win);
		break;
	case SCIF_MAP_OVER:
		after_scif_map_over(win);
		break;
	case SCIF_UNMAP:
		CTS_ASSERT(scif_munmap(win.addr, win.len) == 0);
		peer_still_sees(win, 0);
		break;
	default:
		after_move(win);
		break;
	}
}

SCENARIO(window_swap_both_sides)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_window win = cts_fx_window(4, READ_WRITE);
	struct cts_peer_window far = cts_fx_peer_window(4, READ_WRITE);
	int tag = cts_peer_begin(cts_peer_of(epd), "mmap %d %" PRIu64 " %zu %d %d %jd",
				 cts_far(epd), far.there, win.len, READ_WRITE, SCIF_MAP_FIXED,
				 (intmax_t)win.offset);
	void *p = scif_mmap(win.addr, far.len, READ_WRITE, SCIF_MAP_FIXED, epd, far.offset);

	CTS_ASSERT(p == win.addr);
	CTS_ASSERT((uint64_t)cts_peer_end(cts_peer_of(epd), tag).ret == far.there);
	CTS_ASSERT(cts_is_pattern(win.addr, win.len, 3));
	CTS_ASSERT(far_is(epd, far.there, far.len, 2, 0));
	peer_still_sees(win, 0);
	unsigned char *buf = cts_fx_buffer(far.len);
	CTS_ASSERT(scif_vreadfrom(epd, buf, far.len, far.offset, SCIF_RMA_SYNC) == 0);
	CTS_ASSERT(cts_is_pattern(buf, far.len, 3));
}

SCENARIO(window_after_remap_second)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_window first = cts_fx_window(2, READ_WRITE);

	map_over(first, first.addr);
	struct cts_window second = cts_fx_window_of(epd, first.addr, first.len, READ_WRITE);
	peer_still_sees(first, 0);
	cts_expect_ok(cts_peer_readfrom_us(second, 0, second.len, SCIF_RMA_SYNC),
		      "the peer reads the second window");
	CTS_ASSERT(cts_peer_scratch_is(epd, second.len, 6, 0));
	cts_expect_ok(cts_peer_writeto_us(first, 0, first.len, 8, SCIF_RMA_SYNC),
		      "the peer writes the first window");
	CTS_ASSERT(cts_is_pattern(second.addr, second.len, 6));
	cts_expect_ok(cts_peer_writeto_us(second, 0, second.len, 9, SCIF_RMA_SYNC),
		      "the peer writes the second window");
	CTS_ASSERT(cts_is_pattern(second.addr, second.len, 9));
}

SCENARIO(window_pages_not_reused)
{
	cts_fx_connected();
	struct cts_window win = cts_fx_window(16, READ_WRITE), other;

	CTS_REQUIRE(munmap(win.addr, win.len) == 0);
	for (int i = 0; i < 64; i++) {
		size_t len = 64 * cts_page_size();
		void *p =
			mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CTS_REQUIRE(p != MAP_FAILED);
		memset(p, 0xee, len);
		munmap(p, len);
	}
	other = cts_fx_window(64, READ_WRITE);
	memset(other.addr, 0xdd, other.len);
	peer_still_sees(win, 0);
}

/* ---- stores of another thread during register ---- */

#define TRIALS	    12
#define STORE_PAGES 16

struct writer {
	volatile uint64_t *mem;
	size_t words_per_page;
	atomic_bool stop;
	atomic_uint_fast64_t rounds;
	uint64_t last[STORE_PAGES];
};

static struct cts_result store_on(void *arg)
{
	struct writer *w = arg;
	uint64_t n = 0;

	while (!atomic_load(&w->stop)) {
		n++;
		for (size_t i = 0; i < STORE_PAGES; i++) {
			w->mem[i * w->words_per_page] = n;
			w->last[i] = n;
		}
		atomic_store(&w->rounds, n);
	}
	return (struct cts_result){0, 0};
}

static void one_trial(scif_epd_t epd)
{
	size_t len = STORE_PAGES * cts_page_size();
	struct writer w = {.mem = (volatile uint64_t *)cts_fx_pages(STORE_PAGES),
			   .words_per_page = cts_page_size() / 8};
	struct cts_thread *t = cts_thread_start(store_on, &w);

	while (atomic_load(&w.rounds) < 10)
		;
	off_t offset = scif_register(epd, (void *)w.mem, len, 0, READ_WRITE, 0);
	uint64_t then = atomic_load(&w.rounds);
	while (atomic_load(&w.rounds) < then + 10)
		;
	atomic_store(&w.stop, true);
	CTS_REQUIRE(cts_join(t).ret == 0);
	CTS_ASSERT(offset != SCIF_REGISTER_FAILED);
	for (size_t i = 0; i < STORE_PAGES; i++)
		CTS_ASSERT(w.mem[i * w.words_per_page] == w.last[i]);
	struct cts_window win = {.addr = (void *)w.mem, .len = len, .offset = offset, .epd = epd};
	cts_fill(win.addr, len, 30);
	cts_expect_ok(cts_peer_readfrom_us(win, 0, len, SCIF_RMA_SYNC), "the peer reads");
	CTS_ASSERT(cts_peer_scratch_is(epd, len, 30, 0));
}

SCENARIO(window_store_during_register)
{
	scif_epd_t epd = cts_fx_connected();

	for (int i = 0; i < TRIALS; i++)
		one_trial(epd);
}
