/* SPDX-License-Identifier: BSD-2-Clause */
/* Connects and disconnects: who, from where, to whom that is gone, stopped or late. */
#include "parties.h"

#include <stdlib.h>

SCENARIO(connect_from_everywhere)
{
	struct far_export there = far_published(cts_peer(), 1);
	rsm_node_id_t node = cts_peer_node(there.peer);
	struct cts_peer *peers[] = {there.peer, second_peer(), neighbour()};
	struct near_import own, again;

	EXPECT(near_connect(&own, "scif0", node, there.id, RSM_PERM_RDWR), RSM_SUCCESS);
	for (int i = 0; i < 3; i++) {
		struct far_import import = far_connect(peers[i], node, there.id, RSM_PERM_RDWR);

		CTS_CHECK(far_reads(import, 0, there.len, 3, 0),
			  "every importer finds the segment");
	}
	EXPECT(near_connect(&again, "scif0", node, there.id, RSM_PERM_READ), RSM_SUCCESS);
	CTS_CHECK(near_reads(&own, 0, there.len, 3, 0) && near_reads(&again, 0, there.len, 3, 0),
		  "and so does this process, twice");
	CTS_ASSERT(rsm_memseg_import_disconnect(own.handle) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_disconnect(again.handle) == RSM_SUCCESS);
}

static int import_in_child(void *arg)
{
	const struct far_export *there = arg;
	rsm_node_id_t node = 1;
	struct near_import i;

	if (near_connect(&i, "scif0", node, there->id, RSM_PERM_RDWR) != RSM_SUCCESS)
		return 1;
	if (!near_reads(&i, 0, there->len, 3, 0))
		return 2;
	if (near_put(&i, 0, there->len, 9, 0) != RSM_SUCCESS)
		return 3;
	return rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS ? 0 : 4;
}

SCENARIO(connect_in_child)
{
	struct far_export there = far_published(cts_peer(), 1);
	rsm_node_id_t node = cts_peer_node(there.peer);
	struct near_import i;

	CTS_REQUIRE(node == 1);
	EXPECT(near_connect(&i, "scif0", node, there.id, RSM_PERM_RDWR), RSM_SUCCESS);
	CTS_CHECK(cts_wait_child(cts_fork(import_in_child, &there)) == 0,
		  "the child connects, transfers and disconnects");
	CTS_CHECK(near_reads(&i, 0, there.len, 9, 0), "the import of the parent is alive");
	CTS_ASSERT(rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS);
}

static int use_inherited(void *arg)
{
	struct near_import *i = arg;

	if (!near_reads(i, 0, cts_page_size(), 3, 0))
		return 1;
	if (near_put(i, 0, cts_page_size(), 9, 0) != RSM_SUCCESS)
		return 2;
	if (rsm_memseg_import_disconnect(i->handle) != RSM_SUCCESS)
		return 3;
	return near_get8(i) == RSMERR_BAD_SEG_HNDL ? 0 : 4;
}

SCENARIO(import_is_inherited)
{
	struct far_export there = far_published(cts_peer(), 1);
	struct near_import i;

	EXPECT(near_connect(&i, "scif0", cts_peer_node(there.peer), there.id, RSM_PERM_RDWR),
	       RSM_SUCCESS);
	CTS_CHECK(cts_wait_child(cts_fork(use_inherited, &i)) == 0,
		  "the child transfers and disconnects");
	CTS_CHECK(near_reads(&i, 0, there.len, 9, 0), "the parent reads what the child wrote");
	CTS_ASSERT(rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS);
}

static int connect_often(void *arg)
{
	const struct far_export *there = arg;
	int value = RSM_SUCCESS;

	for (int i = 0; i < 10 && value == RSM_SUCCESS; i++)
		value = near_can_connect(cts_peer_node(there->peer), there->id, RSM_PERM_RDWR);
	return value;
}

SCENARIO(connect_from_threads)
{
	struct far_export there = far_published(cts_peer(), 1);
	struct cts_thread *running[4];

	for (int i = 0; i < 4; i++)
		running[i] = begin(connect_often, &there);
	for (int i = 0; i < 4; i++)
		EXPECT(end_of(running[i]), RSM_SUCCESS);
}

struct waiting_client {
	rsm_node_id_t node;
	rsm_memseg_id_t id;
	atomic_int misses;
	int last;
};

/* RSM_SUCCESS goes on: nobody is there yet. */
static int try_until_published(void *arg)
{
	struct waiting_client *w = arg;

	w->last = near_can_connect(w->node, w->id, RSM_PERM_RDWR);
	return w->last == RSMERR_SEG_NOT_PUBLISHED ? RSM_SUCCESS : 1000;
}

SCENARIO(connect_retries)
{
	struct far_export there = far_create(cts_peer(), 1, 0);
	struct waiting_client w = {.node = cts_peer_node(there.peer),
				   .id = cts_fx_free_segment_id()};
	struct loop client;

	loop_begin(&client, try_until_published, &w);
	loop_wait(&client, 5);
	CTS_ASSERT(value_of(far_publish(&there, w.id, (struct list){.count = 0})) == RSM_SUCCESS);
	loop_ended(&client);
	EXPECT(w.last, RSM_SUCCESS);
}

SCENARIO(connect_to_killed_exporter)
{
	struct far_export there = far_published(second_peer(), 1),
			  other = far_published(cts_peer(), 1);

	CTS_ASSERT(near_can_connect(cts_peer_node(there.peer), there.id, RSM_PERM_READ) ==
		   RSM_SUCCESS);
	cts_peer_kill(there.peer);
	EXPECT(near_can_connect(cts_peer_node(there.peer), there.id, RSM_PERM_READ),
	       RSMERR_SEG_NOT_PUBLISHED);
	EXPECT(near_can_connect(cts_peer_node(there.peer), there.id, RSM_PERM_READ),
	       RSMERR_SEG_NOT_PUBLISHED);
	CTS_CHECK_EFFECT(near_can_connect(cts_peer_node(other.peer), other.id, RSM_PERM_READ) ==
				 RSM_SUCCESS,
			 "the control, to another exporter, succeeds");
}

SCENARIO(connect_to_lost_node)
{
	struct far_export there = far_published(cts_peer(), 1);
	rsm_node_id_t node = cts_peer_node(there.peer);

	cts_node((int)node, "down");
	EXPECT(near_can_connect(node, there.id, RSM_PERM_READ), RSMERR_REMOTE_NODE_UNREACHABLE);
	EXPECT(near_can_connect(node, there.id, RSM_PERM_READ), RSMERR_REMOTE_NODE_UNREACHABLE);
	cts_node((int)node, "up");
	struct far_export again = far_published(cts_peer_start((int)node), 1);
	CTS_CHECK_EFFECT(near_can_connect(node, again.id, RSM_PERM_READ) == RSM_SUCCESS,
			 "the control, with the node up again, succeeds");
}

static int connect_to(void *arg)
{
	const struct far_export *there = arg;

	return near_can_connect(cts_peer_node(there->peer), there->id, RSM_PERM_READ);
}

SCENARIO(connect_node_lost_while_waiting)
{
	struct far_export there = far_published(cts_peer(), 1);

	cts_peer_stall_process(there.peer, true);
	struct cts_thread *connecting = begin(connect_to, &there);
	cts_wait_asleep(connecting);
	cts_node(cts_peer_node(there.peer), "down");
	EXPECT(end_of(connecting), RSMERR_REMOTE_NODE_UNREACHABLE);
}

SCENARIO(connect_to_stopped_exporter)
{
	struct far_export there = far_published(cts_peer(), 1);

	cts_peer_stall_process(there.peer, true);
	uint64_t before = cts_now_us();
	EXPECT(connect_to(&there), RSMERR_REMOTE_NODE_UNREACHABLE);
	CTS_CHECK(cts_now_us() - before < 20000000, "the call does not wait for ever");
	cts_peer_stall_process(there.peer, false);
	CTS_CHECK_EFFECT(connect_to(&there) == RSM_SUCCESS,
			 "the control, with the exporter going on, succeeds");
}

SCENARIO(connect_interrupted)
{
	struct far_export there = far_published(cts_peer(), 1);

	CTS_ASSERT(connect_to(&there) == RSM_SUCCESS);
	struct cts_holdings before = cts_holdings();
	cts_peer_stall_process(there.peer, true);
	EXPECT(end_interrupted(begin(connect_to, &there)), RSMERR_INTERRUPTED);
	CTS_CHECK_EFFECT(cts_descriptor_count() <= before.descriptors,
			 "no descriptor is left of the attempt");
	cts_peer_stall_process(there.peer, false);
	CTS_CHECK_EFFECT(connect_to(&there) == RSM_SUCCESS,
			 "the control, with the exporter going on, succeeds");
}

/* ---- disconnect ---- */

static void connect_use_disconnect(const struct far_export *there)
{
	struct near_import i;
	rsmapi_controller_handle_t c;
	void *map = NULL;

	CTS_ASSERT(rsm_get_controller("scif0", &c) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_connect(c, cts_peer_node(there->peer), there->id,
					     RSM_PERM_RDWR, &i.handle) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_init_barrier(i.handle, RSM_BAR_DEFAULT, &i.barrier) ==
		   RSM_SUCCESS);
	CTS_ASSERT(near_get8(&i) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_map(i.handle, &map, RSM_MAP_NONE, RSM_PERM_RDWR, 0,
					 there->len) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_unmap(i.handle) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_destroy_barrier(&i.barrier) == RSM_SUCCESS);
	EXPECT(rsm_memseg_import_disconnect(i.handle), RSM_SUCCESS);
	CTS_ASSERT(rsm_release_controller(c) == RSM_SUCCESS);
}

SCENARIO(disconnect_leaves_nothing)
{
	struct far_export there = far_published(cts_peer(), 2);

	for (int i = 0; i < WARM_UP; i++)
		connect_use_disconnect(&there);
	struct cts_holdings before = cts_holdings();
	for (long i = cts_param("rounds"); i; i--)
		connect_use_disconnect(&there);
	nothing_left(&before);
}

SCENARIO(disconnect_spares_others)
{
	struct far_export there = far_published(cts_peer(), 1);
	rsm_node_id_t node = cts_peer_node(there.peer);
	struct far_import far = far_connect(second_peer(), node, there.id, RSM_PERM_RDWR);
	struct near_import one, two;

	CTS_ASSERT(near_connect(&one, "scif0", node, there.id, RSM_PERM_RDWR) == RSM_SUCCESS);
	CTS_ASSERT(near_connect(&two, "scif0", node, there.id, RSM_PERM_RDWR) == RSM_SUCCESS);
	EXPECT(rsm_memseg_import_disconnect(one.handle), RSM_SUCCESS);
	CTS_CHECK(near_reads(&two, 0, there.len, 3, 0), "the other import of this process works");
	CTS_CHECK(far_reads(far, 0, there.len, 3, 0), "that of another process works");
	EXPECT(rsm_memseg_import_disconnect(two.handle), RSM_SUCCESS);
	CTS_CHECK(far_reads(far, 0, there.len, 3, 0), "and still does");
}

SCENARIO(disconnect_from_stopped_exporter)
{
	struct far_export there = far_published(cts_peer(), 1);
	struct near_import i;

	CTS_ASSERT(near_connect(&i, "scif0", cts_peer_node(there.peer), there.id, RSM_PERM_RDWR) ==
		   RSM_SUCCESS);
	cts_peer_stall_process(there.peer, true);
	/* A wait of five seconds would be longer than the case may last. */
	EXPECT(rsm_memseg_import_disconnect(i.handle), RSM_SUCCESS);
	cts_peer_stall_process(there.peer, false);
	CTS_CHECK_EFFECT(connect_to(&there) == RSM_SUCCESS, "the exporter goes on");
}

SCENARIO(disconnect_mapped_after_abort)
{
	struct far_export there = far_published(cts_peer(), 1);
	struct near_import i;
	unsigned char *map = NULL;

	CTS_ASSERT(near_connect(&i, "scif0", cts_peer_node(there.peer), there.id, RSM_PERM_RDWR) ==
		   RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_map(i.handle, (void **)&map, RSM_MAP_NONE, RSM_PERM_RDWR, 0,
					 there.len) == RSM_SUCCESS);
	CTS_ASSERT(value_of(cts_peer_call(there.peer, "rsm_destroy %jd", (intmax_t)there.handle)) ==
		   RSM_SUCCESS);
	CTS_ASSERT(near_get8(&i) == RSMERR_CONN_ABORTED);
	EXPECT(rsm_memseg_import_disconnect(i.handle), RSMERR_SEG_STILL_MAPPED);
	EXPECT(rsm_memseg_import_disconnect(i.handle), RSMERR_SEG_STILL_MAPPED);
	CTS_CHECK_EFFECT(!cts_faults_on_read(map), "the mapping can be touched");
	CTS_CHECK_EFFECT(rsm_memseg_import_unmap(i.handle) == RSM_SUCCESS &&
				 rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS,
			 "the control, after unmapping, succeeds");
}
