/* SPDX-License-Identifier: BSD-2-Clause */
/* Transfers across windows, over scattered places, over memory that changed, and transfers that are
 * refused. */
#include "rma_ends.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/prctl.h>

/* Local windows of two and two pages, remote ones of one and three. */
SCENARIO(rma_windows_shifted)
{
	size_t page = cts_page_size();
	struct rma_ends e = {.call = (enum rma_call)cts_param("call"), .epd = cts_fx_connected()};
	struct cts_peer_window one = cts_fx_peer_window_at(1, READ_WRITE, 0x100000);
	struct cts_peer_window three = cts_fx_peer_window_at(3, READ_WRITE, 0x100000 + (off_t)page);
	struct cts_window win = cts_fx_window_pair(2, READ_WRITE);

	e.local = win.addr;
	e.loffset = win.offset;
	e.far = one;
	CTS_ASSERT(rma_transfer(&e, 100, 100, 4 * page - 200, SCIF_RMA_SYNC).ret == 0);
	if (rma_reads(e.call)) {
		CTS_ASSERT(cts_is_pattern_at(e.local + 100, page - 100, 3, 100));
		CTS_ASSERT(cts_is_pattern(e.local + page, 3 * page - 100, 3));
		CTS_ASSERT(cts_is_pattern_at(e.local + 4 * page - 100, 100, 2, 4 * page - 100));
	} else {
		CTS_ASSERT(cts_peer_is(one, 100, page - 100, 2, 100));
		CTS_ASSERT(cts_peer_is(three, 0, 3 * page - 100, 2, page));
		CTS_ASSERT(cts_peer_is(three, 3 * page - 100, 100, 3, 3 * page - 100));
	}
}

SCENARIO(rma_reverse_registration)
{
	size_t page = cts_page_size();
	struct rma_ends e = {.call = (enum rma_call)cts_param("call"), .epd = cts_fx_connected()};
	struct cts_peer_window part[3];

	for (int i = 2; i >= 0; i--)
		part[i] = cts_fx_peer_window_at(1, READ_WRITE, 0x100000 + i * (off_t)page);
	e.far = part[0];
	e.local = cts_fx_pages(3);
	e.loffset = 0x100000;
	for (int i = 2; i >= 0 && rma_is_registered(e.call); i--)
		CTS_REQUIRE(scif_register(e.epd, e.local + (size_t)i * page, page,
					  0x100000 + i * (off_t)page, READ_WRITE,
					  SCIF_MAP_FIXED) != SCIF_REGISTER_FAILED);
	CTS_ASSERT(rma_transfer(&e, 0, 0, 3 * page, SCIF_RMA_SYNC).ret == 0);
	for (size_t i = 0; i < 3; i++)
		CTS_ASSERT(rma_reads(e.call) ? cts_is_pattern(e.local + i * page, page, 3)
					     : cts_peer_is(part[i], 0, page, 2, i * page));
}

/* A small generator, so that a failure comes back with the same places. */
static size_t next_place(uint32_t *state, size_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

SCENARIO(rma_random_places)
{
	size_t pages = (size_t)cts_param("pages"), page = cts_page_size();
	struct rma_ends e = rma_ends_open(pages);
	uint32_t state = 1;

	for (int i = 0; i < 200; i++) {
		size_t local = next_place(&state, pages * page - 16), n = i % 2 ? 1 : 16;
		size_t remote = i % 2 ? next_place(&state, pages * page - 16)
				      : (next_place(&state, pages - 1) + 1) * page - 8;
		size_t target = rma_reads(e.call) ? local : remote,
		       source = rma_reads(e.call) ? remote : local;

		rma_source_fill(&e, source, n, 50, (size_t)i);
		CTS_ASSERT(rma_transfer(&e, local, remote, n, SCIF_RMA_SYNC).ret == 0);
		CTS_ASSERT(rma_target_is(&e, target, n, 50, (size_t)i));
	}
}

/* ---- more than 2 GiB: the same 16 MiB again and again, and a page of its own at the end ---- */

#define BLOCK	    ((size_t)16 << 20)
#define BLOCKS	    128
#define HUGE_OFFSET 0x100000

static uint64_t far_blocks(scif_epd_t epd)
{
	size_t page = cts_page_size();
	uint64_t there = far_alloc(epd, BLOCK + page);

	for (size_t i = 0; i <= BLOCKS; i++) {
		off_t at = HUGE_OFFSET + (off_t)(i * BLOCK);

		if (i < BLOCKS)
			CTS_REQUIRE(far_register(epd, there, BLOCK, at, READ_WRITE).ret == at);
		else
			CTS_REQUIRE(far_register(epd, there + BLOCK, page, at, READ_WRITE).ret ==
				    at);
	}
	return there;
}

static void own_blocks(scif_epd_t epd, unsigned char *block)
{
	for (size_t i = 0; i <= BLOCKS; i++) {
		off_t at = HUGE_OFFSET + (off_t)(i * BLOCK);
		unsigned char *part = i < BLOCKS ? block : block + BLOCK;

		CTS_ASSERT(scif_register(epd, part, i < BLOCKS ? BLOCK : cts_page_size(), at,
					 READ_WRITE, SCIF_MAP_FIXED) == at);
	}
}

/* Plain memory that shows the blocks: the same file mapped again and again. */
static unsigned char *block_memory(unsigned char **block)
{
	size_t page = cts_page_size();
	int fd = memfd_create("cts-blocks", MFD_CLOEXEC);

	CTS_REQUIRE(fd != -1 && ftruncate(fd, (off_t)(BLOCK + page)) == 0);
	*block = mmap(NULL, BLOCK + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *all = mmap(NULL, BLOCKS * BLOCK + page, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CTS_REQUIRE(*block != MAP_FAILED && all != MAP_FAILED);
	for (size_t i = 0; i <= BLOCKS; i++)
		CTS_REQUIRE(mmap(all + i * BLOCK, i < BLOCKS ? BLOCK : page, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd,
				 i < BLOCKS ? 0 : (off_t)BLOCK) != MAP_FAILED);
	close(fd);
	return all;
}

SCENARIO(rma_huge)
{
	size_t page = cts_page_size(), len = BLOCKS * BLOCK + page;
	struct rma_ends e = {.call = (enum rma_call)cts_param("call"),
			     .epd = cts_fx_connected(),
			     .loffset = HUGE_OFFSET};
	uint64_t there = far_blocks(e.epd);
	unsigned char *block;

	e.far = (struct cts_peer_window){
		.offset = HUGE_OFFSET, .len = BLOCK + page, .there = there, .epd = e.epd};
	if (rma_is_registered(e.call)) {
		block = e.local = mmap(NULL, BLOCK + page, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CTS_REQUIRE(block != MAP_FAILED);
		own_blocks(e.epd, block);
	} else {
		e.local = block_memory(&block);
	}
	cts_fill(block, BLOCK + page, 60);
	cts_peer_fill_at(e.far, 0, BLOCK + page, 61, 0);
	CTS_ASSERT(rma_transfer(&e, 0, 0, len, SCIF_RMA_SYNC).ret == 0);
	CTS_ASSERT(rma_reads(e.call) ? cts_is_pattern(block, BLOCK + page, 61)
				     : cts_peer_is(e.far, 0, BLOCK + page, 60, 0));
}

SCENARIO(rma_after_owner_unmap)
{
	struct rma_ends e = rma_ends_open(2);
	size_t len = e.far.len;
	unsigned char *check = cts_fx_buffer(len);

	CTS_REQUIRE(
		cts_peer_call(cts_peer_of(e.epd), "free %" PRIu64 " %zu", e.far.there, len).ret ==
		0);
	if (rma_is_registered(e.call))
		CTS_REQUIRE(munmap(e.local, len) == 0);
	CTS_ASSERT(rma_transfer(&e, 0, 0, len, SCIF_RMA_SYNC).ret == 0);
	if (rma_reads(e.call) && !rma_is_registered(e.call)) {
		CTS_ASSERT(cts_is_pattern(e.local, len, 3));
		return;
	}
	CTS_ASSERT(scif_vreadfrom(e.epd, check, len, e.far.offset, SCIF_RMA_SYNC) == 0);
	CTS_ASSERT(cts_is_pattern(check, len, rma_reads(e.call) ? 3 : 2));
}

SCENARIO(rma_undumpable)
{
	CTS_REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
	struct rma_ends e = rma_ends_open(2);
	struct cts_window win = cts_fx_window_on(e.epd, 1, READ_WRITE);

	CTS_ASSERT(rma_transfer(&e, 5, 9, 5000, SCIF_RMA_SYNC).ret == 0);
	CTS_ASSERT(rma_target_is(&e, rma_reads(e.call) ? 5 : 9, 5000, rma_reads(e.call) ? 3 : 2,
				 rma_reads(e.call) ? 9 : 5));
	cts_expect_ok(cts_peer_readfrom_us(win, 0, 256, SCIF_RMA_SYNC),
		      "the peer reads from a process that it may not trace");
	CTS_ASSERT(cts_peer_scratch_is(e.epd, 256, 2, 0));
	cts_expect_ok(cts_peer_writeto_us(win, 0, 256, 9, SCIF_RMA_SYNC), "the peer writes to it");
	CTS_ASSERT(cts_is_pattern(win.addr, 256, 9));
}

/* Half of the target lies behind its window. */
SCENARIO(rma_rejected_then_fence)
{
	struct rma_ends e = rma_ends_open(1);
	size_t len = e.far.len;
	int mark;

	CTS_OBSERVE_ERROR(rma_transfer(&e, 0, len / 2, len, 0).ret, ENXIO);
	CTS_ASSERT(cts_is_pattern(e.local, len, 2));
	CTS_ASSERT(cts_peer_is(e.far, 0, len, 3, 0));
	CTS_ASSERT(scif_fence_mark(e.epd, SCIF_FENCE_INIT_SELF, &mark) == 0);
	CTS_ASSERT(scif_fence_wait(e.epd, mark) == 0);
	CTS_ASSERT(rma_transfer(&e, 0, 0, len, SCIF_RMA_SYNC).ret == 0);
}

static void map_anew(unsigned char *addr, size_t len, unsigned seed)
{
	CTS_REQUIRE(munmap(addr, len) == 0);
	CTS_REQUIRE(mmap(addr, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			 -1, 0) == addr);
	cts_fill(addr, len, seed);
}

SCENARIO(rma_usecache_remap)
{
	struct rma_ends e = rma_ends_open(4);
	int flags = SCIF_RMA_USECACHE | SCIF_RMA_SYNC;
	size_t len = e.far.len;

	for (unsigned seed = 70; seed < 75; seed++) {
		CTS_ASSERT(rma_transfer(&e, 0, 0, len, flags).ret == 0);
		map_anew(e.local, len, seed);
		CTS_ASSERT(rma_transfer(&e, 0, 0, len, flags).ret == 0);
		CTS_ASSERT(rma_reads(e.call) ? cts_is_pattern(e.local, len, 3)
					     : cts_peer_is(e.far, 0, len, seed, 0));
	}
	CTS_REQUIRE(munmap(e.local, len) == 0);
}
