/* SPDX-License-Identifier: BSD-2-Clause */
/* When the bytes of a transfer are there: on return, after a fence, and the last cache line after
 * the rest. */
#include "rma_ends.h"

#include <stdatomic.h>

SCENARIO(rma_sync_complete)
{
	size_t pages = (1 << 20) / cts_page_size() + 1;
	struct rma_ends e = rma_ends_open(pages);
	size_t len = (1 << 20) + 3;

	for (unsigned seed = 80; seed < 82; seed++) {
		rma_source_fill(&e, 0, len, seed, 0);
		CTS_ASSERT(rma_transfer(&e, 0, 0, len, SCIF_RMA_SYNC).ret == 0);
		CTS_ASSERT(rma_target_is(&e, 0, len, seed, 0));
	}
}

SCENARIO(rma_async_then_fence)
{
	size_t part = 32 * cts_page_size();
	struct rma_ends e = rma_ends_open(8 * 32);
	unsigned seed = rma_reads(e.call) ? 3 : 2;

	for (size_t i = 0; i < 8; i++)
		CTS_ASSERT(rma_transfer(&e, i * part, (7 - i) * part, part, 0).ret == 0);
	rma_fence(e.epd);
	for (size_t i = 0; i < 8; i++)
		CTS_ASSERT(rma_target_is(&e, i * part, part, seed, (7 - i) * part));
}

/* ---- ORDERED ---- */

#define BLOCK ((1 << 20) + 40)
#define LINE  64

/* Spins on the last byte of the target and looks at all the rest as soon as it has changed. */
struct watcher {
	const unsigned char *target;
	atomic_int asked; /* the byte that will come, 0: end */
	atomic_int seen;  /* the last one that came */
	atomic_int early; /* how often the rest was not there yet */
};

static struct cts_result watch(void *arg)
{
	struct watcher *w = arg;

	for (int n; (n = atomic_load(&w->asked)) != 0;) {
		const volatile unsigned char *tail = w->target + BLOCK - 1;

		if (n == atomic_load(&w->seen) || *tail != n)
			continue;
		atomic_thread_fence(memory_order_acquire);
		if (!cts_is_byte(w->target, BLOCK - LINE, n))
			atomic_fetch_add(&w->early, 1);
		atomic_store(&w->seen, n);
	}
	return (struct cts_result){0, 0};
}

static bool wait_seen(struct watcher *w, int n)
{
	return cts_wait32(&w->seen, (uint32_t)n);
}

static void source_set(const struct rma_ends *e, int byte)
{
	if (rma_reads(e->call))
		cts_peer_set(e->far, 0, BLOCK + LINE, byte);
	else
		memset(e->local, byte, BLOCK + LINE);
}

/* Odd rounds read the source from an unaligned place. */
static void ordered_rounds(struct rma_ends *e, struct watcher *w, long rounds, int flags)
{
	for (long i = 1; i <= rounds; i++) {
		int byte = (int)(i % 250) + 1;
		size_t shift = i % 2 ? 24 : 0;

		source_set(e, byte);
		atomic_store(&w->asked, byte);
		CTS_ASSERT(rma_transfer(e, rma_reads(e->call) ? 0 : shift,
					rma_reads(e->call) ? shift : 0, BLOCK, flags)
				   .ret == 0);
		CTS_ASSERT(wait_seen(w, byte));
	}
}

SCENARIO(rma_ordered_tail)
{
	struct rma_ends e = rma_ends_open(BLOCK / cts_page_size() + 2);
	struct watcher w = {.target = e.local, .asked = 1};

	if (!rma_reads(e.call))
		w.target = cts_fx_mapping(e.far, READ_WRITE).addr;
	source_set(&e, 251);
	CTS_REQUIRE(rma_transfer(&e, 0, 0, BLOCK, SCIF_RMA_SYNC).ret == 0);
	struct cts_thread *t = cts_thread_start(watch, &w);
	ordered_rounds(&e, &w, cts_param("rounds"), (int)cts_param("flags"));
	atomic_store(&w.asked, 0);
	CTS_REQUIRE(cts_join(t).ret == 0);
	CTS_ASSERT(atomic_load(&w.early) == 0);
}

static struct cts_result ordered_three_pages(void *arg)
{
	return rma_transfer(arg, 0, 0, 3 * cts_page_size(), SCIF_RMA_ORDERED);
}

/* The start of the caller's memory is held back, so the transfer is really between first and last. */
SCENARIO(rma_ordered_tail_waits)
{
	size_t page = cts_page_size(), len = 3 * page;
	struct rma_ends e = {.call = (enum rma_call)cts_param("call"), .epd = cts_fx_connected()};
	unsigned char before[LINE];
	const unsigned char *target;

	e.far = cts_fx_peer_window_on(e.epd, 3, READ_WRITE);
	e.local = cts_held_start(3);
	memset(e.local + page, 0x5a, 2 * page);
	target = rma_reads(e.call) ? e.local : cts_fx_mapping(e.far, READ_WRITE).addr;
	memcpy(before, target + len - LINE, LINE);
	struct cts_thread *t = cts_thread_start(ordered_three_pages, &e);
	cts_wait_asleep(t);
	if (cts_thread_done(t))
		cts_untested("the transfer cannot be held back");
	CTS_CHECK(cts_same(target + len - LINE, before, LINE),
		  "the last line is not there before the first page");
	cts_held_release(e.local);
	cts_expect_ok(cts_join(t), "the transfer ends");
	if (rma_reads(e.call))
		CTS_CHECK(cts_is_pattern(target, len, 3), "everything is there");
	else
		CTS_CHECK(cts_is_byte(target + page, 2 * page, 0x5a), "everything is there");
}
