/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings of a peer's windows: what they outlive, and what their end sets free. */
#include "far_memory.h"

#include <inttypes.h>
#include <stdlib.h>

SCENARIO(mapping_reverse_registration)
{
	scif_epd_t epd = cts_fx_connected();
	size_t page = cts_page_size();

	for (int i = 2; i >= 0; i--)
		cts_peer_set(cts_fx_peer_window_at(1, READ_WRITE, 0x100000 + i * (off_t)page), 0,
			     page, 0x40 + i);
	unsigned char *p = scif_mmap(NULL, 3 * page, READ_WRITE, 0, epd, 0x100000);
	CTS_ASSERT((void *)p != SCIF_MMAP_FAILED);
	for (size_t i = 0; i < 3; i++)
		CTS_ASSERT(cts_is_byte(p + i * page, page, 0x40 + (int)i));
	CTS_ASSERT(scif_munmap(p, 3 * page) == 0);
}

SCENARIO(mapping_many)
{
	size_t count = (size_t)cts_param("count"), page = cts_page_size();
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window far = cts_fx_peer_window(count, READ_WRITE);
	unsigned char **maps = calloc(count, sizeof *maps);
	int descriptors;

	CTS_REQUIRE(maps);
	maps[0] = scif_mmap(NULL, page, READ_WRITE, 0, epd, far.offset);
	descriptors = cts_descriptor_count();
	for (size_t i = 1; i < count; i++)
		maps[i] = scif_mmap(NULL, page, READ_WRITE, 0, epd, far.offset + (off_t)(i * page));
	CTS_ASSERT(cts_descriptor_count() == descriptors);
	for (size_t i = 0; i < count; i++) {
		CTS_ASSERT((void *)maps[i] != SCIF_MMAP_FAILED);
		CTS_ASSERT(cts_is_pattern_at(maps[i], page, 3, i * page));
	}
	for (size_t i = 0; i < count; i++)
		CTS_ASSERT(scif_munmap(maps[i], page) == 0);
	free(maps);
}

/* ---- what a mapping outlives ---- */

enum end {
	OWN_CLOSE,
	PEER_CLOSE,
	BOTH_CLOSE,
	PEER_KILLED,
	UNREGISTERED,
	OWNER_UNMAPPED,
	NODE_DOWN
};

static bool peer_lives(enum end end)
{
	return end != PEER_KILLED && end != NODE_DOWN;
}

static void bring_about(enum end end, scif_epd_t epd, struct cts_peer_window far)
{
	struct cts_peer *peer = cts_peer_of(epd);

	switch (end) {
	case OWN_CLOSE:
		CTS_REQUIRE(scif_close(epd) == 0);
		break;
	case BOTH_CLOSE:
	case PEER_CLOSE:
		cts_far_close(epd);
		if (end == BOTH_CLOSE)
			CTS_REQUIRE(scif_close(epd) == 0);
		break;
	case PEER_KILLED:
		cts_far_kill(epd);
		break;
	case UNREGISTERED:
		CTS_REQUIRE(cts_peer_unregister(far).ret == 0);
		break;
	case OWNER_UNMAPPED:
		CTS_REQUIRE(cts_peer_call(peer, "free %" PRIu64 " %zu", far.there, far.len).ret ==
			    0);
		break;
	case NODE_DOWN:
		cts_far_node(epd, "down");
		break;
	}
}

SCENARIO(mapping_outlives)
{
	enum end end = (enum end)cts_param("what");
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window far = cts_fx_peer_window(2, READ_WRITE);
	struct cts_mapping map = cts_fx_mapping(far, READ_WRITE);

	if (end == NODE_DOWN && !strcmp(cts_profile(), "knc"))
		cts_untested("the driver kills processes that hold mappings into a lost node");
	bring_about(end, epd, far);
	CTS_ASSERT(cts_is_pattern(map.addr, map.len, 3));
	memset(map.addr + 8, 0x6b, 8);
	CTS_ASSERT(cts_is_byte(map.addr + 8, 8, 0x6b));
	if (peer_lives(end) && end != OWNER_UNMAPPED)
		CTS_ASSERT(cts_peer_peek64(far, 8) == 0x6b6b6b6b6b6b6b6bULL);
	CTS_ASSERT(scif_munmap(map.addr, map.len) == 0);
	CTS_ASSERT(!cts_is_mapped(map.addr, map.len));
}

/* ---- what the last unmapping sets free ---- */

enum removal {
	BY_SCIF_MUNMAP,
	BY_MUNMAP,
	BY_MMAP_OVER,
	BY_SCIF_MMAP_OVER,
	BY_PROCESS_END,
	BY_HALVES
};

/* The library sees an unmapping that went past it at the next call of the process. */
static void make_a_call(scif_epd_t epd)
{
	int mark;

	CTS_REQUIRE(scif_fence_mark(epd, SCIF_FENCE_INIT_SELF, &mark) == 0);
}

static void remove_mapping(enum removal how, scif_epd_t epd, struct cts_mapping map)
{
	struct cts_peer_window other;

	switch (how) {
	case BY_SCIF_MUNMAP:
		CTS_ASSERT(scif_munmap(map.addr, map.len) == 0);
		break;
	case BY_MUNMAP:
		CTS_REQUIRE(munmap(map.addr, map.len) == 0);
		make_a_call(epd);
		break;
	case BY_MMAP_OVER:
		CTS_REQUIRE(mmap(map.addr, map.len, PROT_READ,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == map.addr);
		make_a_call(epd);
		break;
	case BY_SCIF_MMAP_OVER:
		other = cts_fx_peer_window_on(epd, 2, READ_WRITE);
		CTS_ASSERT(scif_mmap(map.addr, map.len, READ_WRITE, SCIF_MAP_FIXED, epd,
				     other.offset) == map.addr);
		break;
	default:
		CTS_ASSERT(scif_munmap(map.addr, map.len / 2) == 0);
		CTS_ASSERT(!far_offset_is_free(epd, map.offset, map.len));
		CTS_ASSERT(scif_munmap(map.addr + map.len / 2, map.len / 2) == 0);
		break;
	}
}

struct mapper {
	scif_epd_t epd;
	struct cts_peer_window far;
	int ready[2];
};

static int map_and_wait(void *arg)
{
	struct mapper *m = arg;
	unsigned char *p = scif_mmap(NULL, m->far.len, READ_WRITE, 0, m->epd, m->far.offset);

	if ((void *)p == SCIF_MMAP_FAILED || !cts_is_pattern(p, m->far.len, 3))
		return 1;
	if (write(m->ready[1], "", 1) != 1)
		return 2;
	pause();
	return 3;
}

/* The mapping belongs to a forked child, so that the connection goes on when its process ends. */
static void end_of_mapper(scif_epd_t epd, struct cts_peer_window far)
{
	struct mapper m = {.epd = epd, .far = far};
	char byte;

	CTS_REQUIRE(pipe(m.ready) == 0);
	pid_t child = cts_fork(map_and_wait, &m);
	close(m.ready[1]);
	CTS_ASSERT(read(m.ready[0], &byte, 1) == 1);
	CTS_REQUIRE(cts_peer_unregister(far).ret == 0);
	CTS_ASSERT(!far_offset_is_free(epd, far.offset, far.len));
	cts_kill_child(child);
	make_a_call(epd);
	CTS_ASSERT(far_offset_is_free(epd, far.offset, far.len));
}

SCENARIO(mapping_releases_window)
{
	enum removal how = (enum removal)cts_param("how");
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window far = cts_fx_peer_window_at(2, READ_WRITE, 0x200000);

	if (how == BY_PROCESS_END) {
		end_of_mapper(epd, far);
		return;
	}
	struct cts_mapping map = cts_fx_mapping(far, READ_WRITE);
	CTS_REQUIRE(cts_peer_unregister(far).ret == 0);
	CTS_ASSERT(!far_offset_is_free(epd, far.offset, far.len));
	CTS_ASSERT(cts_is_pattern(map.addr, map.len, 3));
	remove_mapping(how, epd, map);
	CTS_ASSERT(far_offset_is_free(epd, far.offset, far.len));
}

SCENARIO(mapping_two_references)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window far = cts_fx_peer_window_at(2, READ_WRITE, 0x200000);
	struct cts_mapping one = cts_fx_mapping(far, READ_WRITE),
			   two = cts_fx_mapping(far, SCIF_PROT_READ);

	CTS_REQUIRE(cts_peer_unregister(far).ret == 0);
	CTS_ASSERT(scif_munmap(one.addr, one.len) == 0);
	CTS_ASSERT(!far_offset_is_free(epd, far.offset, far.len));
	CTS_ASSERT(cts_is_pattern(two.addr, two.len, 3));
	CTS_ASSERT(scif_munmap(two.addr, two.len) == 0);
	CTS_ASSERT(far_offset_is_free(epd, far.offset, far.len));
}

SCENARIO(mapping_remove_mixed)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window far = cts_fx_peer_window(1, READ_WRITE);
	size_t page = cts_page_size();
	unsigned char *mem = cts_fx_pages(4);

	CTS_ASSERT(scif_mmap(mem + page, page, READ_WRITE, SCIF_MAP_FIXED, epd, far.offset) ==
		   mem + page);
	CTS_ASSERT(cts_is_pattern(mem + page, page, 3));
	CTS_ASSERT(CTS_OBSERVE(scif_munmap(mem, 3 * page)).ret == 0);
	for (size_t i = 0; i < 3; i++)
		CTS_ASSERT(cts_faults_on_read(mem + i * page));
	CTS_ASSERT(cts_is_pattern_at(mem + 3 * page, page, 2, 3 * page));
	CTS_ASSERT(cts_peer_is(far, 0, far.len, 3, 0));
}
