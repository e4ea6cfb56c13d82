/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifiers of published segments: who finds what under them, and who gets them. */
#include "parties.h"

#include <stdlib.h>

static const struct list everybody = {.count = 0};

SCENARIO(published_is_found)
{
	rsm_memseg_export_handle_t segment = cts_fx_exported(2);
	rsm_memseg_id_t id = cts_param("id") ? cts_fx_free_segment_id() : 0;

	EXPECT(rsm_memseg_export_publish(segment, &id, NULL, 0), RSM_SUCCESS);
	CTS_ASSERT(far_can_connect(cts_peer(), cts_self_node(), id, RSM_PERM_READ) == RSM_SUCCESS);
	struct far_import i = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_READ);
	CTS_CHECK(far_reads(i, 0, 2 * cts_page_size(), 2, 0), "the importer finds the segment");
}

#define MOST_IDS 64

static bool all_differ(const rsm_memseg_id_t *ids, long count)
{
	for (long i = 0; i < count; i++)
		for (long j = 0; j < i; j++)
			if (ids[i] == ids[j])
				return false;
	return true;
}

SCENARIO(assigned_ids_differ)
{
	struct cts_peer *other = neighbour();
	long segments = cts_param("segments"), count = 0;
	rsm_memseg_id_t ids[MOST_IDS];
	void *mem = cts_fx_pages(1);

	for (long i = 0; i < segments; i++) {
		ids[count] = 0;
		EXPECT(rsm_memseg_export_publish(near_create("scif0", mem, cts_page_size(), 0),
						 &ids[count++], NULL, 0),
		       RSM_SUCCESS);
		ids[count++] = far_published(other, 1).id;
		ids[count] = 0;
		EXPECT(rsm_memseg_export_publish(near_create("loopback", mem, cts_page_size(), 0),
						 &ids[count++], NULL, 0),
		       RSM_SUCCESS);
	}
	CTS_CHECK(all_differ(ids, count), "no two segments have one identifier");
	for (long i = 0; i < count; i++)
		CTS_CHECK(ids[i] >= RSM_USER_APP_ID_BASE, "each is of the system's range");
}

SCENARIO(same_id_on_two_nodes)
{
	rsm_memseg_id_t id = cts_fx_free_segment_id();
	struct cts_peer *third = second_peer();
	struct far_export there = far_create(cts_peer(), 1, 0);
	rsm_memseg_export_handle_t here = cts_fx_exported(1);

	CTS_ASSERT(value_of(far_publish(&there, id, everybody)) == RSM_SUCCESS);
	EXPECT(rsm_memseg_export_publish(here, &id, NULL, 0), RSM_SUCCESS);
	struct far_import of_there =
		far_connect(third, cts_peer_node(there.peer), id, RSM_PERM_READ);
	struct far_import of_here = far_connect(third, cts_self_node(), id, RSM_PERM_READ);
	CTS_CHECK(far_reads(of_there, 0, cts_page_size(), 3, 0),
		  "the segment of the node that was named");
	CTS_CHECK(far_reads(of_here, 0, cts_page_size(), 2, 0), "and that of the other node");
	CTS_ASSERT(rsm_memseg_export_unpublish(here) == RSM_SUCCESS);
	CTS_CHECK_EFFECT(far_get8(of_there) == RSM_SUCCESS,
			 "the end of the one leaves the other alone");
}

SCENARIO(published_on_two_controllers)
{
	size_t len = cts_page_size();
	unsigned char *mem = cts_fx_pages(1);
	rsm_memseg_export_handle_t on_fabric = near_create("scif0", mem, len, 0),
				   on_loopback = near_create("loopback", mem, len, 0);
	rsm_memseg_id_t first = near_publish(on_fabric, everybody), second = 0;
	struct near_import near;

	EXPECT(rsm_memseg_export_publish(on_loopback, &second, NULL, 0), RSM_SUCCESS);
	CTS_CHECK(first != second, "each has an identifier of its own");
	struct far_import far = far_connect(cts_peer(), cts_self_node(), first, RSM_PERM_RDWR);
	CTS_ASSERT(near_connect(&near, "loopback", cts_self_node(), second, RSM_PERM_RDWR) ==
		   RSM_SUCCESS);
	CTS_ASSERT(far_put(far, 0, len, 4, 0) == RSM_SUCCESS);
	CTS_CHECK(near_reads(&near, 0, len, 4, 0), "both lead to the one memory");
	CTS_ASSERT(rsm_memseg_import_disconnect(near.handle) == RSM_SUCCESS);
}

SCENARIO(fabric_segment_through_loopback)
{
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	rsm_memseg_id_t id = 0;
	struct near_import i;

	EXPECT(rsm_memseg_export_publish(segment, &id, NULL, 0), RSM_SUCCESS);
	CTS_ASSERT(near_connect(&i, "loopback", cts_self_node(), id, RSM_PERM_RDWR) == RSM_SUCCESS);
	CTS_CHECK(near_reads(&i, 0, cts_page_size(), 2, 0), "the import shows the segment");
	CTS_ASSERT(rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS);
}

#define MOST_PUBLISHERS 8

struct race {
	struct far_export rivals[MOST_PUBLISHERS];
	int tags[MOST_PUBLISHERS];
	long peers;
};

/* How many won; every other must have found the identifier in use. */
static int race_once(struct race *r, rsm_memseg_id_t id)
{
	int winners = 0;

	for (long i = 0; i < r->peers; i++)
		r->tags[i] = cts_peer_begin(r->rivals[i].peer, "rsm_publish %jd %u",
					    (intmax_t)r->rivals[i].handle, id);
	for (long i = 0; i < r->peers; i++) {
		int value = value_of(cts_peer_end(r->rivals[i].peer, r->tags[i]));

		if (value == RSM_SUCCESS)
			winners++;
		else
			EXPECT(value, RSMERR_SEGID_IN_USE);
		if (value == RSM_SUCCESS)
			r->rivals[i].id = id;
	}
	return winners;
}

static void race_undo(struct race *r)
{
	for (long i = 0; i < r->peers; i++) {
		if (!r->rivals[i].id)
			continue;
		r->rivals[i].id = 0;
		CTS_REQUIRE(value_of(cts_peer_call(r->rivals[i].peer, "rsm_unpublish %jd",
						   (intmax_t)r->rivals[i].handle)) == RSM_SUCCESS);
	}
}

SCENARIO(publishers_race)
{
	struct race race = {.peers = cts_param("peers")};
	rsm_memseg_id_t id = cts_fx_free_segment_id();

	for (long i = 0; i < race.peers; i++)
		race.rivals[i] = far_create(neighbour(), 1, 0);
	for (long i = cts_param("rounds"); i; i--) {
		CTS_CHECK(race_once(&race, id) == 1, "exactly one publishes");
		race_undo(&race);
	}
	CTS_CHECK_EFFECT(value_of(far_publish(&race.rivals[0], id, everybody)) == RSM_SUCCESS,
			 "the control, without rivals, succeeds");
}

struct contender {
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id;
};

static int contend(void *arg)
{
	struct contender *c = arg;

	return rsm_memseg_export_publish(c->segment, &c->id, NULL, 0);
}

SCENARIO(publishing_threads_race)
{
	long threads = cts_param("threads");
	struct contender contenders[MOST_PUBLISHERS];
	struct cts_thread *running[MOST_PUBLISHERS];
	rsm_memseg_id_t id = cts_fx_free_segment_id();

	for (long i = 0; i < threads; i++)
		contenders[i] = (struct contender){cts_fx_exported(1), id};
	for (long round = cts_param("rounds"); round; round--) {
		int winners = 0, winner = 0;

		for (long i = 0; i < threads; i++)
			running[i] = begin(contend, &contenders[i]);
		for (int i = 0; i < threads; i++) {
			int value = end_of(running[i]);

			if (value == RSM_SUCCESS) {
				winners++;
				winner = i;
			} else {
				EXPECT(value, RSMERR_SEGID_IN_USE);
			}
		}
		CTS_CHECK(winners == 1, "exactly one publishes");
		CTS_CHECK_EFFECT(rsm_memseg_export_unpublish(contenders[winner].segment) ==
					 RSM_SUCCESS,
				 "the winner's segment is published");
	}
}
