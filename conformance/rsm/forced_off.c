/* SPDX-License-Identifier: BSD-2-Clause */
/* Importers that lose their segment because it is destroyed or unpublished. */
#include "parties.h"

#include <stdlib.h>

enum way { DESTROY, UNPUBLISH };

static int end_segment(enum way way, rsm_memseg_export_handle_t segment)
{
	return way == DESTROY ? rsm_memseg_export_destroy(segment)
			      : rsm_memseg_export_unpublish(segment);
}

static rsm_memseg_export_handle_t own_segment(size_t pages, rsm_memseg_id_t *id)
{
	unsigned char *mem = cts_fx_pages((int)pages);
	rsm_memseg_export_handle_t segment =
		near_create("scif0", mem, pages * cts_page_size(), RSM_ALLOW_REBIND);

	*id = near_publish(segment, (struct list){.count = 0});
	return segment;
}

static void not_found_anywhere(rsm_memseg_id_t id)
{
	CTS_CHECK(far_can_connect(cts_peer(), cts_self_node(), id, RSM_PERM_READ) ==
			  RSMERR_SEG_NOT_PUBLISHED,
		  "another node does not find it");
	CTS_CHECK(near_can_connect(cts_self_node(), id, RSM_PERM_READ) == RSMERR_SEG_NOT_PUBLISHED,
		  "nor does the own one");
}

SCENARIO(destroyed_is_not_found)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = own_segment(1, &id);

	CTS_ASSERT(far_can_connect(cts_peer(), cts_self_node(), id, RSM_PERM_READ) == RSM_SUCCESS);
	EXPECT(rsm_memseg_export_destroy(segment), RSM_SUCCESS);
	not_found_anywhere(id);
}

SCENARIO(unpublished_is_not_found)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = own_segment(1, &id);

	CTS_ASSERT(far_can_connect(cts_peer(), cts_self_node(), id, RSM_PERM_READ) == RSM_SUCCESS);
	EXPECT(rsm_memseg_export_unpublish(segment), RSM_SUCCESS);
	not_found_anywhere(id);
}

static void live_once(enum way way, void *mem, rsmapi_controller_handle_t c)
{
	rsm_memseg_export_handle_t segment;

	CTS_ASSERT(rsm_memseg_export_create(c, &segment, mem, cts_page_size(), 0) == RSM_SUCCESS);
	rsm_memseg_id_t id = near_publish(segment, (struct list){.count = 0});
	struct far_import i = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);
	CTS_ASSERT(far_get8(i) == RSM_SUCCESS);
	EXPECT(end_segment(way, segment), RSM_SUCCESS);
	if (way == UNPUBLISH)
		CTS_ASSERT(rsm_memseg_export_destroy(segment) == RSM_SUCCESS);
	far_disconnect(i);
}

static void live_often(enum way way, int rounds)
{
	void *mem = cts_fx_pages(1);
	rsmapi_controller_handle_t c = cts_fx_controller("scif0");

	for (int i = 0; i < WARM_UP; i++)
		live_once(way, mem, c);
	struct cts_holdings before = cts_holdings();
	for (int i = 0; i < rounds; i++)
		live_once(way, mem, c);
	nothing_left(&before);
}

SCENARIO(destroyed_leaves_nothing)
{
	live_often(DESTROY, 20);
}

SCENARIO(unpublish_leaves_nothing)
{
	live_often(UNPUBLISH, (int)cts_param("rounds"));
}

SCENARIO(importers_are_forced_off)
{
	enum way way = (enum way)cts_param("way");
	bool mapped = cts_param("mapped");
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = own_segment(2, &id);
	struct cts_peer *peers[] = {cts_peer(), second_peer(), neighbour()};
	struct far_import imports[3];
	intptr_t maps[3] = {0};

	for (int i = 0; i < 3; i++) {
		imports[i] = far_connect(peers[i], cts_self_node(), id, RSM_PERM_RDWR);
		if (mapped)
			maps[i] = far_map(imports[i], RSM_PERM_RDWR, 0, 2 * cts_page_size());
		CTS_ASSERT(far_get8(imports[i]) == RSM_SUCCESS);
	}
	EXPECT(end_segment(way, segment), RSM_SUCCESS);
	for (int i = 0; i < 3; i++) {
		CTS_CHECK(far_get8(imports[i]) == RSMERR_CONN_ABORTED, "a get is aborted");
		CTS_CHECK(far_put(imports[i], 0, 1, 1, 0) == RSMERR_CONN_ABORTED,
			  "a put is aborted");
		if (mapped) {
			cts_peer_call(peers[i], "poke %jd 8 77", (intmax_t)maps[i]);
			CTS_CHECK(cts_peer_call(peers[i], "peek %jd 8", (intmax_t)maps[i]).ret >= 0,
				  "the mapping can be read and written");
		} else {
			CTS_CHECK(value_of(cts_peer_call(peers[i], "rsm_map %jd %u 0 %zu",
							 (intmax_t)imports[i].handle, RSM_PERM_READ,
							 cts_page_size())) == RSMERR_CONN_ABORTED,
				  "mapping is aborted");
		}
	}
}

static int put_whole(void *import)
{
	return far_put(*(struct far_import *)import, 0, 4 * cts_page_size(), 1, 0);
}

SCENARIO(forced_off_under_load)
{
	enum way way = (enum way)cts_param("way");
	size_t len = 4 * cts_page_size();
	unsigned char *mem = cts_fx_pages(4);
	rsm_memseg_export_handle_t segment = near_create("scif0", mem, len, 0);
	rsm_memseg_id_t id = near_publish(segment, (struct list){.count = 0});
	struct cts_peer *peers[] = {cts_peer(), second_peer(), neighbour()};
	struct far_import imports[3];
	struct loop loops[3];

	for (int i = 0; i < 3; i++) {
		imports[i] = far_connect(peers[i], cts_self_node(), id, RSM_PERM_RDWR);
		loop_begin(&loops[i], put_whole, &imports[i]);
		loop_wait(&loops[i], 5);
	}
	EXPECT(end_segment(way, segment), RSM_SUCCESS);
	cts_fill(mem, len, 9);
	for (int i = 0; i < 3; i++)
		CTS_CHECK(cts_is_loss(loop_ended(&loops[i])),
			  "each importer learns that it is cut off");
	CTS_CHECK_EFFECT(cts_is_pattern(mem, len, 9),
			 "nothing that an importer writes reaches the memory");
}

SCENARIO(destroy_spares_others)
{
	unsigned char *mem = cts_fx_pages(1);
	size_t len = cts_page_size();
	struct list all = {.count = 0};
	rsm_memseg_export_handle_t one = near_create("scif0", mem, len, 0),
				   other = near_create("scif0", mem, len, 0);
	struct far_import of_one =
		far_connect(cts_peer(), cts_self_node(), near_publish(one, all), RSM_PERM_RDWR);
	struct far_import of_other =
		far_connect(cts_peer(), cts_self_node(), near_publish(other, all), RSM_PERM_RDWR);

	EXPECT(rsm_memseg_export_destroy(one), RSM_SUCCESS);
	CTS_CHECK(far_get8(of_one) == RSMERR_CONN_ABORTED, "its own importer is cut off");
	CTS_CHECK(far_put(of_other, 0, len, 7, 0) == RSM_SUCCESS && cts_is_pattern(mem, len, 7),
		  "the importer of the other segment goes on");
	CTS_ASSERT(rsm_memseg_export_destroy(other) == RSM_SUCCESS);
}

SCENARIO(destroy_with_own_importer)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = own_segment(1, &id);
	struct near_import i;

	CTS_ASSERT(near_connect(&i, "loopback", cts_self_node(), id, RSM_PERM_RDWR) == RSM_SUCCESS);
	CTS_ASSERT(near_get8(&i) == RSM_SUCCESS);
	EXPECT(rsm_memseg_export_destroy(segment), RSM_SUCCESS);
	CTS_CHECK(near_get8(&i) == RSMERR_CONN_ABORTED, "the import is aborted");
	CTS_ASSERT(rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS);
}

SCENARIO(identifier_is_free_again)
{
	enum way way = (enum way)cts_param("way");
	rsm_memseg_id_t id = cts_fx_free_segment_id(), wanted = id;
	rsm_memseg_export_handle_t segment =
		near_create("scif0", cts_fx_pages(1), cts_page_size(), 0);
	rsm_memseg_export_handle_t other = cts_fx_exported(1);

	CTS_ASSERT(rsm_memseg_export_publish(segment, &id, NULL, 0) == RSM_SUCCESS);
	EXPECT(end_segment(way, segment), RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_export_publish(other, &wanted, NULL, 0) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_export_unpublish(other) == RSM_SUCCESS);
	struct far_export there = far_create(neighbour(), 1, 0);
	CTS_CHECK(value_of(far_publish(&there, id, (struct list){.count = 0})) == RSM_SUCCESS,
		  "another process of the node publishes under it");
}

static void published_again(rsm_memseg_export_handle_t segment, rsm_memseg_id_t id)
{
	if (id >= RSM_USER_APP_ID_BASE)
		cts_unresolved("an assigned identifier cannot be chosen");
	CTS_ASSERT(rsm_memseg_export_publish(segment, &id, NULL, 0) == RSM_SUCCESS);
}

SCENARIO(unpublished_is_published_again)
{
	rsm_memseg_export_handle_t segment = cts_fx_published(1);
	rsm_memseg_id_t id = cts_segment_id(segment);

	CTS_ASSERT(far_can_connect(cts_peer(), cts_self_node(), id, RSM_PERM_READ) == RSM_SUCCESS);
	EXPECT(rsm_memseg_export_unpublish(segment), RSM_SUCCESS);
	cts_fill(cts_segment_memory(segment), cts_page_size(), 12);
	published_again(segment, id);
	struct far_import i = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_READ);
	CTS_CHECK(far_reads(i, 0, cts_page_size(), 12, 0), "importers find what the memory holds");
}

SCENARIO(aborted_import_stays_aborted)
{
	rsm_memseg_export_handle_t segment = cts_fx_published(1);
	rsm_memseg_id_t id = cts_segment_id(segment);
	struct far_import old = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);

	EXPECT(rsm_memseg_export_unpublish(segment), RSM_SUCCESS);
	published_again(segment, id);
	struct far_import new = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);
	CTS_CHECK(far_get8(old) == RSMERR_CONN_ABORTED, "the old import does not revive");
	CTS_CHECK(far_get8(new) == RSM_SUCCESS, "the new one works");
}

struct chase {
	struct cts_peer *peer;
	rsm_memseg_id_t id;
	atomic_int connected, missed;
};

static int chase_once(void *arg)
{
	struct chase *c = arg;
	int value = far_can_connect(c->peer, cts_self_node(), c->id, RSM_PERM_READ);

	atomic_fetch_add(&c->connected, value == RSM_SUCCESS);
	atomic_fetch_add(&c->missed, value == RSMERR_SEG_NOT_PUBLISHED);
	return value == RSMERR_SEG_NOT_PUBLISHED ? RSM_SUCCESS : value;
}

SCENARIO(unpublish_races_connect)
{
	rsm_memseg_export_handle_t segment = cts_fx_published(1);
	rsm_memseg_id_t id = cts_segment_id(segment);
	struct chase chase = {.peer = cts_peer(), .id = id};
	struct loop clients;

	loop_begin(&clients, chase_once, &chase);
	for (long i = cts_param("rounds"); i; i--) {
		loop_wait(&clients, i % 2);
		EXPECT(rsm_memseg_export_unpublish(segment), RSM_SUCCESS);
		loop_wait(&clients, i % 3 == 0);
		published_again(segment, id);
	}
	CTS_CHECK(loop_end(&clients) == RSM_SUCCESS,
		  "clients connect or learn that the segment is not published");
	CTS_CHECK(atomic_load(&chase.connected) && atomic_load(&chase.missed), "clients met both");
}

/* Four times the five seconds: a loaded machine is slow. */
#define PATIENCE_US 20000000

SCENARIO(stopped_importer_is_cut_off)
{
	enum way way = (enum way)cts_param("way");
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = own_segment(1, &id);
	struct cts_peer *stopped = second_peer();
	struct far_import i = far_connect(stopped, cts_self_node(), id, RSM_PERM_RDWR),
			  lively = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);
	intptr_t map = far_map(i, RSM_PERM_RDWR, 0, cts_page_size());

	cts_peer_stall_process(stopped, true);
	uint64_t before = cts_now_us();
	EXPECT(end_segment(way, segment), RSM_SUCCESS);
	uint64_t took = cts_now_us() - before;
	CTS_CHECK(took < PATIENCE_US, "the call does not wait for ever");
	CTS_CHECK(far_get8(lively) == RSMERR_CONN_ABORTED, "the other importer is cut off");
	cts_peer_stall_process(stopped, false);
	CTS_CHECK(cts_is_loss(far_get8(i)), "the stopped importer finds that it is cut off");
	CTS_CHECK(far_get8(i) == RSMERR_CONN_ABORTED, "and stays so");
	CTS_CHECK(cts_peer_call(stopped, "peek %jd 1", (intmax_t)map).ret >= 0,
		  "its mapping can be touched");
}

SCENARIO(killed_importer_delays_nothing)
{
	enum way way = (enum way)cts_param("way");
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = own_segment(1, &id);
	struct cts_peer *doomed = second_peer();
	struct far_import i = far_connect(doomed, cts_self_node(), id, RSM_PERM_RDWR);

	far_map(i, RSM_PERM_RDWR, 0, cts_page_size());
	cts_peer_kill(doomed);
	/* A wait of five seconds would be longer than the case may last. */
	EXPECT(end_segment(way, segment), RSM_SUCCESS);
}

static int unpublish(void *segment)
{
	return rsm_memseg_export_unpublish(segment);
}

SCENARIO(unpublish_interrupted)
{
	rsm_memseg_export_handle_t segment = cts_fx_published(1);
	rsm_memseg_id_t id = cts_segment_id(segment);
	struct cts_peer *stopped = second_peer();

	far_connect(stopped, cts_self_node(), id, RSM_PERM_RDWR);
	cts_peer_stall_process(stopped, true);
	struct cts_thread *waiting = begin(unpublish, segment);
	EXPECT(end_interrupted(waiting), RSMERR_INTERRUPTED);
	CTS_CHECK_EFFECT(far_can_connect(cts_peer(), cts_self_node(), id, RSM_PERM_READ) ==
				 RSM_SUCCESS,
			 "the segment is still published");
	cts_peer_stall_process(stopped, false);
	CTS_CHECK_EFFECT(rsm_memseg_export_unpublish(segment) == RSM_SUCCESS,
			 "the control, with the importer going on, succeeds");
}

SCENARIO(unpublish_while_importer_dies)
{
	rsm_memseg_export_handle_t segment = cts_fx_published(1);
	struct cts_peer *doomed = second_peer();

	far_connect(doomed, cts_self_node(), cts_segment_id(segment), RSM_PERM_RDWR);
	cts_peer_stall_process(doomed, true);
	struct cts_thread *waiting = begin(unpublish, segment);
	cts_wait_asleep(waiting);
	cts_peer_kill(doomed);
	EXPECT(end_of(waiting), RSM_SUCCESS);
}
