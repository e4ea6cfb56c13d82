/* SPDX-License-Identifier: BSD-2-Clause */
/* When and how a window and the memory behind it show the same bytes: at once, after a message, by
 * RMA, by mapping. */
#include "far_memory.h"

#include <inttypes.h>
#include <stdatomic.h>

SCENARIO(window_visible_at_once)
{
	scif_epd_t epd = cts_fx_connected();
	unsigned char *mem = cts_fx_pages(50);
	size_t page = cts_page_size();
	uint64_t there = far_alloc(epd, page);

	for (size_t i = 0; i < 50; i++) {
		off_t offset = scif_register(epd, mem + i * page, page, 0, READ_WRITE, 0);

		CTS_ASSERT(offset != SCIF_REGISTER_FAILED);
		cts_expect_ok(far_vreadfrom(epd, there, page, offset),
			      "the peer reads the new window");
		CTS_ASSERT(far_is(epd, there, page, 2, i * page));
	}
}

SCENARIO(window_visible_after_message)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer *peer = cts_peer_of(epd);
	unsigned char *mem = cts_fx_pages(20);
	size_t page = cts_page_size();
	uint64_t there = far_alloc(epd, page);

	for (size_t i = 0; i < 20; i++) {
		int tag = cts_peer_begin(peer, "recv %d 8 %d", cts_far(epd), SCIF_RECV_BLOCK);

		cts_peer_asleep(peer, tag);
		off_t offset = scif_register(epd, mem + i * page, page, 0, READ_WRITE, 0);
		CTS_ASSERT(offset != SCIF_REGISTER_FAILED);
		CTS_REQUIRE(scif_send(epd, &offset, sizeof offset, SCIF_SEND_BLOCK) ==
			    sizeof offset);
		CTS_REQUIRE(cts_peer_end(peer, tag).ret == sizeof offset);
		cts_expect_ok(far_vreadfrom(epd, there, page, offset),
			      "the peer reads the announced window");
		CTS_ASSERT(far_is(epd, there, page, 2, i * page));
	}
}

static void owner_store_seen_by_rma(scif_epd_t epd)
{
	struct cts_window win = cts_fx_window(2, READ_WRITE);

	for (unsigned seed = 20; seed < 30; seed++) {
		cts_fill(win.addr, win.len, seed);
		cts_expect_ok(cts_peer_readfrom_us(win, 0, win.len, SCIF_RMA_SYNC),
			      "the peer reads");
		CTS_ASSERT(cts_peer_scratch_is(epd, win.len, seed, 0));
	}
}

static void rma_seen_by_owner(void)
{
	struct cts_window win = cts_fx_window(2, READ_WRITE);

	for (unsigned seed = 20; seed < 30; seed++) {
		cts_expect_ok(cts_peer_writeto_us(win, 0, win.len, seed, SCIF_RMA_SYNC),
			      "the peer writes");
		CTS_ASSERT(cts_is_pattern(win.addr, win.len, seed));
	}
}

static void mapping_and_owner(void)
{
	struct cts_window win = cts_fx_window(1, READ_WRITE);
	struct cts_peer_mapping map = cts_fx_peer_mapping(win, READ_WRITE);
	volatile uint64_t *words = win.addr;

	for (uint64_t i = 1; i < 20; i++) {
		words[3] = i * 0x0101010101010101ULL;
		CTS_ASSERT(cts_peer_mapping_peek64(map, 24) == i * 0x0101010101010101ULL);
		cts_peer_mapping_poke64(map, 40, ~i);
		CTS_ASSERT(words[5] == ~i);
	}
}

SCENARIO(window_coherence)
{
	scif_epd_t epd = cts_fx_connected();

	switch (cts_param("way")) {
	case 0:
		owner_store_seen_by_rma(epd);
		break;
	case 1:
		rma_seen_by_owner();
		break;
	default:
		mapping_and_owner();
		break;
	}
}

#define ADDITIONS 50000

static struct cts_result add_many(void *word)
{
	for (int i = 0; i < ADDITIONS; i++)
		atomic_fetch_add((_Atomic uint64_t *)word, 1);
	return (struct cts_result){0, 0};
}

/* Owner and mapper add to one word at the same time; in the peer process first, then in two
 * threads. */
SCENARIO(window_atomics)
{
	scif_epd_t epd = cts_fx_connected(), pair[2];
	struct cts_peer_window far = cts_fx_peer_window_on(epd, 1, READ_WRITE);
	struct cts_mapping map = cts_fx_mapping(far, READ_WRITE);

	cts_peer_poke64(far, 0, 0);
	struct cts_thread *mapper = cts_thread_start(add_many, map.addr);
	for (int i = 0; i < 100; i++)
		cts_peer_call(cts_peer_of(epd), "add %" PRIu64 " 1", far.there);
	cts_join(mapper);
	CTS_ASSERT(cts_peer_peek64(far, 0) == ADDITIONS + 100);

	cts_pair(pair);
	struct cts_window own = cts_fx_window_on(pair[0], 1, READ_WRITE);
	uint64_t *alias = scif_mmap(NULL, own.len, READ_WRITE, 0, pair[1], own.offset);
	CTS_ASSERT(alias != SCIF_MMAP_FAILED);
	*(uint64_t *)own.addr = 0;
	mapper = cts_thread_start(add_many, alias);
	add_many(own.addr);
	cts_join(mapper);
	CTS_ASSERT(*(volatile uint64_t *)own.addr == 2 * ADDITIONS);
	CTS_ASSERT(*(volatile uint64_t *)alias == 2 * ADDITIONS);
}

SCENARIO(window_store_before_message)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window far = cts_fx_peer_window_on(epd, 1, READ_WRITE);
	struct cts_mapping map = cts_fx_mapping(far, READ_WRITE);
	volatile uint64_t *words = (volatile uint64_t *)map.addr;

	for (long i = 1; i <= cts_param("rounds"); i++) {
		words[i % 64] = (uint64_t)i;
		CTS_REQUIRE(scif_send(epd, "x", 1, SCIF_SEND_BLOCK) == 1);
		CTS_REQUIRE(cts_far_recv(epd, 1, SCIF_RECV_BLOCK).ret == 1);
		CTS_ASSERT(cts_peer_peek64(far, (size_t)(i % 64) * 8) == (uint64_t)i);
	}
}

/* ---- the same between two threads, both ways, for many rounds ---- */

struct echo {
	scif_epd_t epd;
	volatile uint64_t *own, *mapped;
	long rounds, wrong;
};

static struct cts_result echo(void *arg)
{
	struct echo *e = arg;
	char byte;

	for (long i = 1; i <= e->rounds; i++) {
		if (scif_recv(e->epd, &byte, 1, SCIF_RECV_BLOCK) != 1)
			return (struct cts_result){-1, errno};
		e->wrong += e->own[i % 64] != (uint64_t)i;
		e->mapped[i % 64] = (uint64_t)i;
		if (scif_send(e->epd, &byte, 1, SCIF_SEND_BLOCK) != 1)
			return (struct cts_result){-1, errno};
	}
	return (struct cts_result){0, 0};
}

static volatile uint64_t *mapping_of(scif_epd_t epd, struct cts_window win)
{
	void *p = scif_mmap(NULL, win.len, READ_WRITE, 0, epd, win.offset);

	CTS_REQUIRE(p != SCIF_MMAP_FAILED);
	return p;
}

SCENARIO(window_store_before_message_threads)
{
	scif_epd_t pair[2];
	char byte = 'x';

	cts_pair(pair);
	struct cts_window here = cts_fx_window_on(pair[0], 1, READ_WRITE);
	struct cts_window there = cts_fx_window_on(pair[1], 1, READ_WRITE);
	struct echo e = {.epd = pair[1],
			 .own = there.addr,
			 .mapped = mapping_of(pair[1], here),
			 .rounds = cts_param("rounds")};
	volatile uint64_t *mapped = mapping_of(pair[0], there), *own = here.addr;
	struct cts_thread *t = cts_thread_start(echo, &e);

	for (long i = 1; i <= e.rounds; i++) {
		mapped[i % 64] = (uint64_t)i;
		CTS_REQUIRE(scif_send(pair[0], &byte, 1, SCIF_SEND_BLOCK) == 1);
		CTS_REQUIRE(scif_recv(pair[0], &byte, 1, SCIF_RECV_BLOCK) == 1);
		CTS_ASSERT(own[i % 64] == (uint64_t)i);
	}
	CTS_REQUIRE(cts_join(t).ret == 0);
	CTS_ASSERT(e.wrong == 0);
}
