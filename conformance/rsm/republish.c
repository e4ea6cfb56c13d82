/* SPDX-License-Identifier: BSD-2-Clause */
/* Access lists that are replaced while the segment is published. */
#include "parties.h"

static int republish_to(rsm_memseg_export_handle_t segment, struct list l)
{
	return rsm_memseg_export_republish(segment, l.entries, l.count);
}

static struct list own_node_only(void)
{
	return list_of(cts_self_node(), EVERYTHING);
}

static struct list with_peer(struct cts_peer *peer)
{
	return list_and(own_node_only(), cts_peer_node(peer), EVERYTHING);
}

static rsm_memseg_export_handle_t published_to(struct list l, rsm_memseg_id_t *id)
{
	rsm_memseg_export_handle_t segment = cts_fx_exported_rebindable(2);

	*id = near_publish(segment, l);
	return segment;
}

static int connect_of(struct cts_peer *peer, rsm_memseg_id_t id)
{
	return far_can_connect(peer, cts_self_node(), id, RSM_PERM_RDWR);
}

SCENARIO(republish_takes_away)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = published_to(with_peer(cts_peer()), &id);

	CTS_ASSERT(connect_of(cts_peer(), id) == RSM_SUCCESS);
	EXPECT(republish_to(segment, own_node_only()), RSM_SUCCESS);
	CTS_CHECK(connect_of(cts_peer(), id) == RSMERR_SEG_NOT_PUBLISHED_TO_NODE,
		  "the node that lost its entry cannot connect");
	CTS_CHECK(near_can_connect(cts_self_node(), id, RSM_PERM_RDWR) == RSM_SUCCESS,
		  "the node that kept its entry can");
}

SCENARIO(republish_gives)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = published_to(own_node_only(), &id);

	CTS_ASSERT(connect_of(cts_peer(), id) == RSMERR_SEG_NOT_PUBLISHED_TO_NODE);
	EXPECT(republish_to(segment, with_peer(cts_peer())), RSM_SUCCESS);
	CTS_CHECK(connect_of(cts_peer(), id) == RSM_SUCCESS, "the node that got an entry connects");
}

SCENARIO(republish_keeps_imports)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = published_to(with_peer(cts_peer()), &id);
	struct far_import i = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);

	EXPECT(republish_to(segment, list_of(cts_self_node(), 0)), RSM_SUCCESS);
	CTS_CHECK(far_reads(i, 0, cts_page_size(), 2, 0), "the import reads");
	CTS_CHECK(far_put(i, 0, 100, 4, 0) == RSM_SUCCESS, "it writes");
	intptr_t map = far_map(i, RSM_PERM_RDWR, 0, cts_page_size());
	CTS_CHECK(far_mapping_is(i, map, 100, 4, 0), "it can be mapped");
}

SCENARIO(republish_replaces_list)
{
	struct cts_peer *one = cts_peer(), *two = neighbour();
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment =
		published_to(list_of(cts_peer_node(one), EVERYTHING), &id);

	EXPECT(republish_to(segment, list_of(cts_peer_node(two), EVERYTHING)), RSM_SUCCESS);
	CTS_CHECK(connect_of(one, id) == RSMERR_SEG_NOT_PUBLISHED_TO_NODE,
		  "the entry of the old list is gone");
	CTS_CHECK(connect_of(two, id) == RSM_SUCCESS, "the entry of the new one holds");
}

SCENARIO(republish_beside_import)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = published_to(with_peer(cts_peer()), &id);
	struct far_import i = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);

	EXPECT(republish_to(segment, own_node_only()), RSM_SUCCESS);
	CTS_CHECK(connect_of(cts_peer(), id) == RSMERR_SEG_NOT_PUBLISHED_TO_NODE,
		  "a new connect is told that its node has no entry");
	CTS_CHECK(far_get8(i) == RSM_SUCCESS, "the import that was granted lives");
}

SCENARIO(republish_empty)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = published_to(own_node_only(), &id);

	CTS_ASSERT(connect_of(cts_peer(), id) == RSMERR_SEG_NOT_PUBLISHED_TO_NODE);
	EXPECT(rsm_memseg_export_republish(segment, NULL, 0), RSM_SUCCESS);
	CTS_CHECK(connect_of(cts_peer(), id) == RSM_SUCCESS, "every node can connect");
}

struct client {
	struct cts_peer *peer;
	rsm_memseg_id_t id;
	struct far_import import;
	atomic_int granted, refused;
};

static int connect_or_not(void *arg)
{
	struct client *c = arg;
	int value = connect_of(c->peer, c->id);

	atomic_fetch_add(&c->granted, value == RSM_SUCCESS);
	atomic_fetch_add(&c->refused, value == RSMERR_SEG_NOT_PUBLISHED_TO_NODE);
	return value == RSMERR_SEG_NOT_PUBLISHED_TO_NODE ? RSM_SUCCESS : value;
}

static int transfer(void *arg)
{
	struct client *c = arg;
	int value = far_put(c->import, 0, cts_page_size(), 5, 0);

	return value == RSM_SUCCESS ? far_get8(c->import) : value;
}

SCENARIO(republish_under_load)
{
	struct cts_peer *one = cts_peer(), *two = neighbour();
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = published_to(with_peer(one), &id);
	struct client connecting = {.peer = one, .id = id}, transferring = {.peer = two, .id = id};
	struct loop connects, transfers;

	transferring.import = far_connect(two, cts_self_node(), id, RSM_PERM_RDWR);
	loop_begin(&connects, connect_or_not, &connecting);
	loop_begin(&transfers, transfer, &transferring);
	for (long i = cts_param("rounds"); i; i--) {
		EXPECT(republish_to(segment, i % 2 ? own_node_only() : with_peer(one)),
		       RSM_SUCCESS);
		loop_wait(&connects, i % 4 == 0);
		loop_wait(&transfers, i % 5 == 0);
	}
	EXPECT(republish_to(segment, own_node_only()), RSM_SUCCESS);
	loop_wait(&connects, 2);
	CTS_CHECK(loop_end(&connects) == RSM_SUCCESS,
		  "each connect is granted or told that the node has no entry");
	CTS_CHECK(loop_end(&transfers) == RSM_SUCCESS, "no transfer fails");
	CTS_CHECK(atomic_load(&connecting.granted) && atomic_load(&connecting.refused),
		  "clients met both lists");
}

static int republish_often(void *segment)
{
	int value = RSM_SUCCESS;

	for (int i = 0; i < 100 && value == RSM_SUCCESS; i++)
		value = republish_to(segment, own_node_only());
	return value;
}

SCENARIO(republish_from_threads)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment =
		published_to(list_of(cts_self_node() + 1, EVERYTHING), &id);
	struct cts_thread *running[4];

	for (int i = 0; i < 4; i++)
		running[i] = begin(republish_often, segment);
	for (int i = 0; i < 4; i++)
		EXPECT(end_of(running[i]), RSM_SUCCESS);
	CTS_CHECK(near_can_connect(cts_self_node(), id, RSM_PERM_RDWR) == RSM_SUCCESS,
		  "the list that all of them gave holds");
}

SCENARIO(refused_list_changes_nothing)
{
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = published_to(with_peer(cts_peer()), &id);
	struct list bad = list_and(own_node_only(), 3, 01666);

	EXPECT(republish_to(segment, bad), RSMERR_BAD_ACL);
	EXPECT(republish_to(segment, bad), RSMERR_BAD_ACL);
	CTS_CHECK_EFFECT(connect_of(cts_peer(), id) == RSM_SUCCESS, "the old list is in force");
	CTS_CHECK_EFFECT(republish_to(segment, own_node_only()) == RSM_SUCCESS &&
				 connect_of(cts_peer(), id) == RSMERR_SEG_NOT_PUBLISHED_TO_NODE,
			 "the control, with a good list, succeeds");
}

struct rebinding {
	rsm_memseg_export_handle_t segment;
	void *other;
};

static int rebind(void *arg)
{
	struct rebinding *r = arg;

	return rsm_memseg_export_rebind(r->segment, r->other, 0, 2 * cts_page_size());
}

static int republish_own(void *segment)
{
	return republish_to(segment, own_node_only());
}

SCENARIO(republish_interrupted)
{
	struct cts_peer *stopped = second_peer();
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment = published_to(with_peer(stopped), &id);
	struct rebinding r = {segment, cts_fx_pages(2)};

	far_connect(stopped, cts_self_node(), id, RSM_PERM_RDWR);
	cts_peer_stall_process(stopped, true);
	struct cts_thread *rebinding = begin(rebind, &r);
	cts_wait_asleep(rebinding);
	struct cts_thread *republishing = begin(republish_own, segment);
	EXPECT(end_interrupted(republishing), RSMERR_INTERRUPTED);
	cts_peer_stall_process(stopped, false);
	CTS_CHECK_EFFECT(end_of(rebinding) == RSM_SUCCESS, "the other operation succeeds");
	CTS_CHECK_EFFECT(connect_of(cts_peer(), id) == RSM_SUCCESS, "the old list is in force");
	CTS_CHECK_EFFECT(republish_own(segment) == RSM_SUCCESS,
			 "the control, with nothing to wait for, succeeds");
}
