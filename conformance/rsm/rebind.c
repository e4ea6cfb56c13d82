/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments whose memory is exchanged, as their importers see it. The fixtures' memory holds pattern
 * 2, the other memory pattern 6. */
#include "parties.h"

#include <stdlib.h>

#define OLD 2
#define NEW 6

static unsigned char *new_memory(size_t pages)
{
	unsigned char *mem = cts_fx_pages((int)pages);

	cts_fill(mem, pages * cts_page_size(), NEW);
	return mem;
}

static int rebind_to(rsm_memseg_export_handle_t segment, void *mem)
{
	return rsm_memseg_export_rebind(segment, mem, 0, cts_segment_length(segment));
}

static struct far_import import_of(struct cts_peer *peer, rsm_memseg_export_handle_t segment)
{
	return far_connect(peer, cts_self_node(), cts_segment_id(segment), RSM_PERM_RDWR);
}

SCENARIO(rebound_shows_new_memory)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(2);
	size_t len = 2 * cts_page_size();
	unsigned char *mem = new_memory(2);
	bool imported = cts_param("imported"), mapped = cts_param("mapped");
	struct far_import i = {.peer = NULL};
	intptr_t map = 0;

	if (imported) {
		i = import_of(cts_peer(), segment);
		CTS_ASSERT(far_reads(i, 0, len, OLD, 0));
	}
	if (mapped) {
		map = far_map(i, RSM_PERM_RDWR, 0, len);
		CTS_ASSERT(far_mapping_is(i, map, len, OLD, 0));
	}
	EXPECT(rebind_to(segment, mem), RSM_SUCCESS);
	if (!imported)
		i = import_of(cts_peer(), segment);
	CTS_CHECK(far_reads(i, 0, len, NEW, 0), "the importer gets the new memory");
	CTS_CHECK(far_put(i, 0, len, 7, 0) == RSM_SUCCESS && cts_is_pattern(mem, len, 7),
		  "what it puts is in the new memory");
	if (!mapped)
		return;
	CTS_CHECK(far_mapping_is(i, map, len, 7, 0), "its mapping shows the new memory");
	cts_peer_call(i.peer, "poke %jd 8 4711", (intmax_t)map);
	CTS_CHECK(cts_wait64(mem, 4711), "what it stores there is in the new memory");
}

SCENARIO(rebound_partial_mapping)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(3);
	size_t page = cts_page_size();
	struct far_import i = import_of(cts_peer(), segment);
	intptr_t map = far_map(i, RSM_PERM_READ, (off_t)page, page);

	CTS_ASSERT(far_mapping_is(i, map, page, OLD, page));
	EXPECT(rebind_to(segment, new_memory(3)), RSM_SUCCESS);
	CTS_CHECK(far_mapping_is(i, map, page, NEW, page), "the part shows its new memory");
}

SCENARIO(rebound_releases_old_memory)
{
	size_t len = 2 * cts_page_size();
	unsigned char *old =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CTS_REQUIRE(old != MAP_FAILED);
	cts_fill(old, len, OLD);
	rsm_memseg_export_handle_t segment = near_create("scif0", old, len, RSM_ALLOW_REBIND);
	rsm_memseg_id_t id = near_publish(segment, (struct list){.count = 0});
	struct far_import i = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);
	intptr_t map = far_map(i, RSM_PERM_RDWR, 0, len);
	unsigned char *mem = new_memory(2);

	EXPECT(rsm_memseg_export_rebind(segment, mem, 0, len), RSM_SUCCESS);
	CTS_ASSERT(far_put(i, 0, len, 8, 0) == RSM_SUCCESS);
	cts_peer_call(i.peer, "poke %jd 8 4711", (intmax_t)map);
	CTS_CHECK(cts_wait64(mem, 4711), "the importer writes to the new memory");
	CTS_CHECK(cts_is_pattern(old, len, OLD), "nothing reaches the old memory");
	CTS_ASSERT(munmap(old, len) == 0);
	CTS_CHECK(far_get8(i) == RSM_SUCCESS, "the old memory is not needed any more");
}

static void rebind_round(rsm_memseg_export_handle_t segment, struct far_import i, void *mem,
			 unsigned seed)
{
	EXPECT(rebind_to(segment, mem), RSM_SUCCESS);
	CTS_CHECK(far_reads(i, 0, cts_page_size(), seed, 0), "the importer follows");
}

SCENARIO(rebound_many_times)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(1);
	void *old = cts_segment_memory(segment), *new = new_memory(1);
	struct far_import i = import_of(cts_peer(), segment);

	for (int round = 0; round < WARM_UP; round++) {
		rebind_round(segment, i, new, NEW);
		rebind_round(segment, i, old, OLD);
	}
	struct cts_holdings before = cts_holdings();
	for (long round = cts_param("rounds"); round; round--) {
		rebind_round(segment, i, new, NEW);
		rebind_round(segment, i, old, OLD);
	}
	nothing_left(&before);
}

/* ---- under load ---- */

struct reader {
	struct far_import import;
	intptr_t map, buffer;
	size_t at, len;
	uint64_t old, new;
};

static uint64_t word_of(unsigned seed, size_t at)
{
	uint64_t word;

	cts_fill_at(&word, sizeof word, seed, at);
	return word;
}

/* Reads the next word of the segment, which is the old or the new one. */
static int read_word(void *arg)
{
	struct reader *r = arg;
	struct cts_peer *peer = r->import.peer;
	intptr_t from = r->map + (intptr_t)r->at;

	if (!r->map) {
		struct cts_result got =
			cts_peer_call(peer, "rsm_get %jd %zu 8 %jd", (intmax_t)r->import.handle,
				      r->at, (intmax_t)r->buffer);
		if (got.ret == -1)
			return got.err;
		from = r->buffer;
	}
	uint64_t word = (uint64_t)cts_peer_call(peer, "peek %jd 8", (intmax_t)from).ret;
	bool known = word == word_of(OLD, r->at) || word == word_of(NEW, r->at);

	r->at = (r->at + 1032) % (r->len - 8) & ~(size_t)7;
	return known ? RSM_SUCCESS : 1000;
}

static void reader_begin(struct reader *r, struct loop *l, struct cts_peer *peer,
			 rsm_memseg_export_handle_t segment, bool mapped)
{
	*r = (struct reader){.import = import_of(peer, segment),
			     .len = cts_segment_length(segment)};
	r->buffer = cts_peer_call(peer, "alloc 8").ret;
	if (mapped)
		r->map = far_map(r->import, RSM_PERM_RDWR, 0, r->len);
	loop_begin(l, read_word, r);
}

SCENARIO(rebind_under_load)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(4);
	void *memory[] = {cts_segment_memory(segment), new_memory(4)};
	bool mapped = cts_param("mapped");
	struct reader readers[2];
	struct loop loops[2];

	reader_begin(&readers[0], &loops[0], cts_peer(), segment, mapped);
	reader_begin(&readers[1], &loops[1], second_peer(), segment, mapped);
	for (long i = cts_param("rounds"); i; i--) {
		EXPECT(rebind_to(segment, memory[i % 2]), RSM_SUCCESS);
		loop_wait(&loops[i % 2], i % 3 == 0);
	}
	for (int i = 0; i < 2; i++)
		CTS_CHECK(loop_end(&loops[i]) == RSM_SUCCESS,
			  "no read fails, and each word is of the old or the new memory");
}

struct newcomer {
	struct cts_peer *peer;
	rsm_memseg_id_t id;
};

static int connect_and_read(void *arg)
{
	struct newcomer *n = arg;
	struct cts_result r = far_try(n->peer, cts_self_node(), n->id, RSM_PERM_RDWR);

	if (r.ret == -1)
		return r.err;
	struct far_import i = {n->peer, r.ret};
	intptr_t map = far_map(i, RSM_PERM_READ, 0, cts_page_size());
	uint64_t word = (uint64_t)cts_peer_call(n->peer, "peek %jd 8", (intmax_t)map).ret;
	CTS_REQUIRE(value_of(cts_peer_call(n->peer, "rsm_unmap %jd", (intmax_t)i.handle)) ==
		    RSM_SUCCESS);
	far_disconnect(i);
	return word == word_of(OLD, 0) || word == word_of(NEW, 0) ? RSM_SUCCESS : 1000;
}

SCENARIO(rebind_races_connect)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(1);
	void *memory[] = {cts_segment_memory(segment), new_memory(1)};
	struct newcomer n = {cts_peer(), cts_segment_id(segment)};
	struct loop newcomers;

	loop_begin(&newcomers, connect_and_read, &n);
	for (long i = cts_param("rounds"); i; i--) {
		EXPECT(rebind_to(segment, memory[i % 2]), RSM_SUCCESS);
		loop_wait(&newcomers, i % 3 == 0);
	}
	CTS_CHECK(loop_end(&newcomers) == RSM_SUCCESS,
		  "every client connects and sees the old or the new memory");
}

SCENARIO(rebound_for_all_importers)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(1);
	size_t len = cts_page_size();
	struct cts_peer *peers[] = {cts_peer(), cts_peer(), second_peer(), neighbour()};
	struct far_import imports[4];

	for (int i = 0; i < 4; i++)
		imports[i] = import_of(peers[i], segment);
	EXPECT(rebind_to(segment, new_memory(1)), RSM_SUCCESS);
	for (int i = 0; i < 4; i++)
		CTS_CHECK(far_reads(imports[i], 0, len, NEW, 0),
			  "every importer has the new memory");
}

SCENARIO(rebound_for_own_importer)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(1);
	size_t len = cts_page_size();
	struct near_import i;
	void *map = NULL;

	CTS_ASSERT(near_connect(&i, "loopback", cts_self_node(), cts_segment_id(segment),
				RSM_PERM_RDWR) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_map(i.handle, &map, RSM_MAP_NONE, RSM_PERM_RDWR, 0, len) ==
		   RSM_SUCCESS);
	EXPECT(rebind_to(segment, new_memory(1)), RSM_SUCCESS);
	CTS_CHECK(near_reads(&i, 0, len, NEW, 0), "a get has the new memory");
	CTS_CHECK(cts_is_pattern(map, len, NEW), "the mapping shows it");
	CTS_ASSERT(rsm_memseg_import_unmap(i.handle) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS);
}

/* Four times the five seconds: a loaded machine is slow. */
#define PATIENCE_US 20000000

SCENARIO(rebind_cuts_off_stopped_importer)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(1);
	struct cts_peer *stopped = second_peer();
	struct far_import i = import_of(stopped, segment), lively = import_of(cts_peer(), segment);

	cts_peer_stall_process(stopped, true);
	uint64_t before = cts_now_us();
	EXPECT(rebind_to(segment, new_memory(1)), RSM_SUCCESS);
	CTS_CHECK(cts_now_us() - before < PATIENCE_US, "the call does not wait for ever");
	CTS_CHECK(far_reads(lively, 0, cts_page_size(), NEW, 0),
		  "the other importer has the new memory");
	cts_peer_stall_process(stopped, false);
	CTS_CHECK(cts_is_loss(far_get8(i)), "the stopped importer finds that it is cut off");
}

/* ---- failures ---- */

SCENARIO(refused_rebind_changes_nothing)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(2);
	size_t len = 2 * cts_page_size();
	struct far_import i = import_of(cts_peer(), segment);
	intptr_t map = far_map(i, RSM_PERM_RDWR, 0, len);

	EXPECT(rebind_to(segment, cts_fx_unmapped_pages(2)), RSMERR_BAD_ADDR);
	EXPECT(rebind_to(segment, cts_fx_straddling_pages(2)), RSMERR_BAD_ADDR);
	CTS_CHECK_EFFECT(far_reads(i, 0, len, OLD, 0) && far_mapping_is(i, map, len, OLD, 0),
			 "the importer has the old memory");
	CTS_CHECK_EFFECT(far_put(i, 0, len, 7, 0) == RSM_SUCCESS &&
				 cts_is_pattern(cts_segment_memory(segment), len, 7),
			 "what it puts is in the old memory");
	CTS_CHECK_EFFECT(rebind_to(segment, new_memory(2)) == RSM_SUCCESS &&
				 far_reads(i, 0, len, NEW, 0),
			 "the control, with good memory, succeeds");
}

SCENARIO(rebind_without_memory)
{
	rsm_memseg_export_handle_t segment = cts_fx_published_rebindable(1);
	struct far_import i = import_of(cts_peer(), segment);
	void *mem = new_memory(1);
	int value, seen, failures = 0;

	cts_need("inject");
	for (int nth = 1; nth < 100; nth++) {
		cts_fault_arm("memory", nth, ENOMEM);
		value = rebind_to(segment, mem);
		if (!cts_fault_disarm(&seen) || value == RSM_SUCCESS)
			break;
		EXPECT(value, RSMERR_INSUFFICIENT_MEM);
		CTS_CHECK_EFFECT(far_reads(i, 0, cts_page_size(), OLD, 0),
				 "the importer has the old memory");
		failures++;
	}
	CTS_CHECK(failures > 0, "memory is needed");
	CTS_CHECK_EFFECT(value == RSM_SUCCESS && far_reads(i, 0, cts_page_size(), NEW, 0),
			 "the control, with memory, succeeds");
}

struct rebinding {
	rsm_memseg_export_handle_t segment;
	void *mem;
};

static int rebind_begun(void *arg)
{
	struct rebinding *r = arg;

	return rebind_to(r->segment, r->mem);
}

SCENARIO(rebind_interrupted)
{
	size_t len = cts_page_size();
	struct rebinding r = {cts_fx_published_rebindable(1), new_memory(1)};
	struct cts_peer *stopped = second_peer();
	struct far_import i = import_of(stopped, r.segment),
			  lively = import_of(cts_peer(), r.segment);

	cts_peer_stall_process(stopped, true);
	EXPECT(end_interrupted(begin(rebind_begun, &r)), RSMERR_INTERRUPTED);
	CTS_CHECK_EFFECT(far_reads(lively, 0, len, OLD, 0), "an importer has the old memory");
	cts_peer_stall_process(stopped, false);
	CTS_CHECK_EFFECT(far_reads(i, 0, len, OLD, 0), "so has the one that was stopped");
	CTS_CHECK_EFFECT(far_put(i, 0, len, 7, 0) == RSM_SUCCESS &&
				 cts_is_pattern(cts_segment_memory(r.segment), len, 7),
			 "what it puts is in the old memory");
	CTS_CHECK_EFFECT(rebind_to(r.segment, r.mem) == RSM_SUCCESS &&
				 far_reads(i, 0, len, NEW, 0) && far_reads(lively, 0, len, NEW, 0),
			 "the control, with the importer going on, succeeds");
}
