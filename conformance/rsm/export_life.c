/* SPDX-License-Identifier: BSD-2-Clause */
/* Exporting processes: how they end, fork, become others, and what is left of their segments. */
#include "parties.h"

#include <stdlib.h>

static const struct list everybody = {.count = 0};

/* The identifier leads nowhere and can be had by another process of that node. */
static void is_gone(rsm_node_id_t node, rsm_memseg_id_t id)
{
	CTS_CHECK(near_can_connect(node, id, RSM_PERM_READ) == RSMERR_SEG_NOT_PUBLISHED,
		  "the segment cannot be connected to");
	if (id >= RSM_USER_APP_ID_BASE)
		return;
	struct far_export again = far_create(cts_peer_start((int)node), 1, 0);
	CTS_CHECK(value_of(far_publish(&again, id, everybody)) == RSM_SUCCESS,
		  "another process publishes under its identifier");
}

static struct far_export far_published_as(struct cts_peer *peer, rsm_memseg_id_t id)
{
	struct far_export e = far_create(peer, 1, RSM_ALLOW_REBIND);

	CTS_REQUIRE(value_of(far_publish(&e, id, everybody)) == RSM_SUCCESS);
	return e;
}

SCENARIO(export_ends_with_process)
{
	int node = cts_peer_node(cts_peer());
	struct far_export there = far_published_as(cts_peer_start(node), cts_fx_free_segment_id());
	struct near_import i;

	CTS_ASSERT(near_connect(&i, "scif0", (rsm_node_id_t)node, there.id, RSM_PERM_RDWR) ==
		   RSM_SUCCESS);
	cts_observe(RSM_SUCCESS, 0);
	if (cts_param("how"))
		cts_peer_kill(there.peer);
	else
		cts_peer_exit(there.peer);
	is_gone((rsm_node_id_t)node, there.id);
	CTS_CHECK(cts_is_loss(near_get8(&i)), "the import has lost its segment");
	CTS_ASSERT(rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS);
}

struct line {
	struct turns turns;
	void *mem;
	rsm_memseg_id_t id;
	rsm_memseg_export_handle_t segment;
	int call;
};

static int publish_in_child(struct line *l)
{
	rsmapi_controller_handle_t c;
	rsm_memseg_export_handle_t segment;

	l->id = 0;
	if (rsm_get_controller("scif0", &c) != RSM_SUCCESS)
		return 1;
	if (rsm_memseg_export_create(c, &segment, l->mem, cts_page_size(), 0) != RSM_SUCCESS)
		return 2;
	if (rsm_memseg_export_publish(segment, &l->id, NULL, 0) != RSM_SUCCESS)
		return 3;
	say(l->turns.to_parent[1], l->id);
	return 0;
}

static int exporter_with_child(void *arg)
{
	struct line *l = arg;
	int failed = publish_in_child(l);
	uint64_t word;

	if (failed)
		return failed;
	hear(l->turns.to_child[0]);
	pid_t child = fork();
	if (child == -1)
		return 4;
	if (child)
		_exit(0);
	/* Said by the child, so that it has left fork when its parent's end is looked at. */
	say(l->turns.to_parent[1], (uint64_t)getpid());
	close(l->turns.to_child[1]);
	heard(l->turns.to_child[0], &word);
	_exit(0);
}

SCENARIO(export_ends_although_child_lives)
{
	struct line l = {.turns = turns_open(), .mem = cts_fx_pages(1)};
	pid_t exporter = cts_fork(exporter_with_child, &l);
	turns_of_parent(&l.turns);
	rsm_memseg_id_t id = (rsm_memseg_id_t)hear(l.turns.to_parent[0]);
	rsm_node_id_t node = cts_self_node();

	CTS_ASSERT(far_can_connect(cts_peer(), node, id, RSM_PERM_READ) == RSM_SUCCESS);
	struct far_import i = far_connect(cts_peer(), node, id, RSM_PERM_RDWR);
	cts_observe(RSM_SUCCESS, 0);
	say(l.turns.to_child[1], 0);
	pid_t child = (pid_t)hear(l.turns.to_parent[0]);
	CTS_ASSERT(cts_wait_child(exporter) == 0);
	CTS_CHECK(kill(child, 0) == 0, "the child of the exporter lives");
	CTS_CHECK(far_can_connect(cts_peer(), node, id, RSM_PERM_READ) == RSMERR_SEG_NOT_PUBLISHED,
		  "the segment is not published any more");
	CTS_CHECK(cts_is_loss(far_get8(i)), "the import has lost its segment");
	kill(child, SIGKILL);
	turns_close(&l.turns);
}

static int exporter_that_execs(void *arg)
{
	struct line *l = arg;
	int failed = publish_in_child(l);

	if (failed)
		return failed;
	hear(l->turns.to_child[0]);
	dup2(l->turns.to_child[0], STDIN_FILENO);
	execl("/bin/cat", "cat", (char *)NULL);
	return 5;
}

SCENARIO(export_ends_with_exec)
{
	struct line l = {.turns = turns_open(), .mem = cts_fx_pages(1)};
	pid_t exporter = cts_fork(exporter_that_execs, &l);
	turns_of_parent(&l.turns);
	rsm_memseg_id_t id = (rsm_memseg_id_t)hear(l.turns.to_parent[0]);
	rsm_node_id_t node = cts_self_node();
	struct far_import i = far_connect(cts_peer(), node, id, RSM_PERM_RDWR);
	uint64_t word;

	cts_observe(RSM_SUCCESS, 0);
	say(l.turns.to_child[1], 0);
	/* The pipe is closed by exec, and then there is nobody to write into it. */
	CTS_REQUIRE(!heard(l.turns.to_parent[0], &word));
	CTS_CHECK(far_can_connect(cts_peer(), node, id, RSM_PERM_READ) == RSMERR_SEG_NOT_PUBLISHED,
		  "the segment is not published any more");
	CTS_CHECK(cts_is_loss(far_get8(i)), "the import has lost its segment");
	turns_close(&l.turns);
	CTS_CHECK(cts_wait_child(exporter) == 0, "the other program runs and ends");
}

static int create_publish_destroy(void *mem)
{
	rsmapi_controller_handle_t c;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = 0;
	int value = rsm_get_controller("scif0", &c);

	for (int i = 0; i < 5 && value == RSM_SUCCESS; i++, id = 0) {
		value = rsm_memseg_export_create(c, &segment, mem, cts_page_size(), 0);
		if (value == RSM_SUCCESS)
			value = rsm_memseg_export_publish(segment, &id, NULL, 0);
		if (value == RSM_SUCCESS)
			value = near_can_connect(cts_self_node(), id, RSM_PERM_READ);
		if (value == RSM_SUCCESS)
			value = rsm_memseg_export_destroy(segment);
	}
	return value == RSM_SUCCESS ? rsm_release_controller(c) : value;
}

SCENARIO(export_from_threads)
{
	struct cts_thread *running[4];

	for (int i = 0; i < 4; i++)
		running[i] = begin(create_publish_destroy, cts_fx_pages(1));
	for (int i = 0; i < 4; i++)
		EXPECT(end_of(running[i]), RSM_SUCCESS);
}

static int exporter_in_child(void *arg)
{
	struct line *l = arg;
	int failed = publish_in_child(l);

	if (failed)
		return failed;
	hear(l->turns.to_child[0]);
	return cts_is_pattern(l->mem, cts_page_size(), 6) ? 0 : 6;
}

SCENARIO(export_in_child)
{
	rsm_memseg_export_handle_t own = cts_fx_published(1);
	struct line l = {.turns = turns_open(), .mem = cts_fx_pages(1)};
	pid_t child = cts_fork(exporter_in_child, &l);
	turns_of_parent(&l.turns);
	rsm_memseg_id_t id = (rsm_memseg_id_t)hear(l.turns.to_parent[0]);
	struct far_import i = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);

	cts_observe(RSM_SUCCESS, 0);
	CTS_ASSERT(far_put(i, 0, cts_page_size(), 6, 0) == RSM_SUCCESS);
	say(l.turns.to_child[1], 0);
	CTS_CHECK(cts_wait_child(child) == 0, "the child has what was written to its segment");
	CTS_CHECK_EFFECT(cts_is_pattern(l.mem, cts_page_size(), 2),
			 "the memory of the parent is what it was");
	CTS_CHECK_EFFECT(far_can_connect(cts_peer(), cts_self_node(), cts_segment_id(own),
					 RSM_PERM_READ) == RSM_SUCCESS,
			 "the segment of the parent is still published");
}

/* Descriptors from 0 on, one bit each. */
#define LOOKED_AT 128
static void descriptors_open(bool *open)
{
	for (int fd = 0; fd < LOOKED_AT; fd++)
		open[fd] = fcntl(fd, F_GETFD) != -1;
}

static int new_descriptors_are_hidden(const bool *before)
{
	bool now[LOOKED_AT];

	descriptors_open(now);
	for (int fd = 0; fd < LOOKED_AT; fd++) {
		if (before[fd] && !now[fd])
			return 10;
		if (now[fd] && !before[fd] && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			return 20;
	}
	return 0;
}

static int export_among_descriptors(void *arg)
{
	struct line *l = arg;
	bool before[LOOKED_AT];

	descriptors_open(before);
	int failed = publish_in_child(l);

	if (failed)
		return failed;
	hear(l->turns.to_child[0]);
	return new_descriptors_are_hidden(before);
}

SCENARIO(export_hides_descriptors)
{
	struct line l = {.turns = turns_open(), .mem = cts_fx_pages(1)};
	pid_t child = cts_fork(export_among_descriptors, &l);
	turns_of_parent(&l.turns);
	rsm_memseg_id_t id = (rsm_memseg_id_t)hear(l.turns.to_parent[0]);

	struct far_import i = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);
	CTS_CHECK(far_reads(i, 0, cts_page_size(), 2, 0), "the importer reads the segment");
	cts_observe(RSM_SUCCESS, 0);
	say(l.turns.to_child[1], 0);
	CTS_CHECK(cts_wait_child(child) == 0,
		  "the caller's descriptors stay open, and new ones are closed by exec");
}

static int import_among_descriptors(void *arg)
{
	struct line *l = arg;
	bool before[LOOKED_AT];
	struct near_import i;

	descriptors_open(before);
	if (near_connect(&i, "scif0", (rsm_node_id_t)l->call, l->id, RSM_PERM_READ) != RSM_SUCCESS)
		return 1;
	return new_descriptors_are_hidden(before);
}

SCENARIO(import_hides_descriptors)
{
	struct far_export there = far_published(cts_peer(), 1);
	struct line l = {.call = cts_peer_node(there.peer), .id = there.id};

	EXPECT(near_can_connect(cts_peer_node(there.peer), there.id, RSM_PERM_READ), RSM_SUCCESS);
	CTS_CHECK(cts_wait_child(cts_fork(import_among_descriptors, &l)) == 0,
		  "the caller's descriptors stay open, and new ones are closed by exec");
}

/* ---- killed at every step ---- */

static void exporter_steps(struct far_export *e, rsm_memseg_id_t id, struct near_import *i,
			   int steps)
{
	struct cts_peer *peer = e->peer;

	*e = far_create(peer, 1, RSM_ALLOW_REBIND);
	if (steps > 0)
		CTS_REQUIRE(value_of(far_publish(e, id, everybody)) == RSM_SUCCESS);
	if (steps > 1)
		CTS_REQUIRE(near_connect(i, "scif0", cts_peer_node(peer), id, RSM_PERM_RDWR) ==
			    RSM_SUCCESS);
	if (steps > 2)
		CTS_REQUIRE(near_put(i, 0, 16, 1, 0) == RSM_SUCCESS);
	if (steps > 3)
		CTS_REQUIRE(value_of(cts_peer_call(peer, "rsm_post %jd 0", (intmax_t)e->handle)) ==
			    RSM_SUCCESS);
	if (steps > 4)
		CTS_REQUIRE(value_of(cts_peer_call(peer, "rsm_republish %jd",
						   (intmax_t)e->handle)) == RSM_SUCCESS);
	if (steps > 5) {
		intptr_t other = cts_peer_call(peer, "alloc %zu", e->len).ret;

		CTS_REQUIRE(value_of(cts_peer_call(peer, "rsm_rebind %jd %jd 0 %zu",
						   (intmax_t)e->handle, (intmax_t)other, e->len)) ==
			    RSM_SUCCESS);
	}
	if (steps > 6)
		CTS_REQUIRE(value_of(cts_peer_call(peer, "rsm_unpublish %jd",
						   (intmax_t)e->handle)) == RSM_SUCCESS);
}

SCENARIO(exporter_killed_at_every_step)
{
	int node = cts_peer_node(cts_peer());
	rsm_memseg_id_t id = cts_fx_free_segment_id();

	for (int steps = 0; steps <= 7; steps++) {
		struct far_export e = {.peer = cts_peer_start(node)};
		struct near_import i = {.handle = NULL};

		exporter_steps(&e, id, &i, steps);
		cts_peer_kill(e.peer);
		EXPECT(near_can_connect((rsm_node_id_t)node, id, RSM_PERM_READ),
		       RSMERR_SEG_NOT_PUBLISHED);
		if (!i.handle)
			continue;
		CTS_CHECK(cts_is_loss(near_get8(&i)), "the import has lost its segment");
		CTS_CHECK(near_get8(&i) == RSMERR_CONN_ABORTED, "and says so from then on");
		CTS_ASSERT(rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS);
	}
	struct far_export last = far_published_as(cts_peer(), id);
	EXPECT(near_can_connect((rsm_node_id_t)node, last.id, RSM_PERM_READ), RSM_SUCCESS);
}

static void importer_steps(struct cts_peer *peer, rsm_memseg_id_t id, int steps)
{
	struct far_import i;

	if (steps < 1)
		return;
	i.peer = peer;
	i.handle = far_try(peer, cts_self_node(), id, RSM_PERM_RDWR).ret;
	CTS_ASSERT(i.handle != -1);
	if (steps > 1)
		CTS_REQUIRE(value_of(cts_peer_call(peer, "rsm_barrier %jd", (intmax_t)i.handle)) ==
			    RSM_SUCCESS);
	if (steps > 2)
		CTS_REQUIRE(far_put(i, 0, 16, 1, 0) == RSM_SUCCESS);
	if (steps > 3)
		far_map(i, RSM_PERM_RDWR, 0, cts_page_size());
	if (steps > 4)
		CTS_REQUIRE(value_of(cts_peer_call(peer, "rsm_post %jd 0", (intmax_t)i.handle)) ==
			    RSM_SUCCESS);
	if (steps > 5)
		cts_peer_asleep(peer, cts_peer_begin(peer, "rsm_wait %jd -1", (intmax_t)i.handle));
}

SCENARIO(importer_killed_at_every_step)
{
	int node = cts_peer_node(cts_peer());
	rsm_memseg_export_handle_t segment = cts_fx_published(1);
	rsm_memseg_id_t id = cts_segment_id(segment);

	for (int steps = 0; steps <= 6; steps++) {
		struct cts_peer *doomed = cts_peer_start(node);

		importer_steps(doomed, id, steps);
		cts_peer_kill(doomed);
		CTS_CHECK(far_can_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR) ==
				  RSM_SUCCESS,
			  "the next importer is served");
		CTS_CHECK(rsm_memseg_export_republish(segment, NULL, 0) == RSM_SUCCESS,
			  "the owner goes on");
	}
	EXPECT(rsm_memseg_export_unpublish(segment), RSM_SUCCESS);
}

SCENARIO(identifier_after_kill)
{
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	rsm_memseg_id_t id = cts_fx_free_segment_id();

	for (int i = 0; i < 5; i++) {
		struct far_export there = far_published_as(neighbour(), id);

		CTS_CHECK(rsm_memseg_export_publish(segment, &id, NULL, 0) == RSMERR_SEGID_IN_USE,
			  "the identifier is in use");
		cts_peer_kill(there.peer);
		EXPECT(rsm_memseg_export_publish(segment, &id, NULL, 0), RSM_SUCCESS);
		CTS_ASSERT(rsm_memseg_export_unpublish(segment) == RSM_SUCCESS);
	}
}

struct sender {
	struct near_import import;
	unsigned char *bytes;
};

static int send_page(void *arg)
{
	struct sender *s = arg;

	return rsm_memseg_import_put(s->import.handle, 0, s->bytes, cts_page_size());
}

SCENARIO(exporter_killed_under_load)
{
	int node = cts_peer_node(cts_peer());
	rsm_memseg_id_t id = cts_fx_free_segment_id();

	for (int round = 0; round < 3; round++) {
		struct far_export e = far_published_as(cts_peer_start(node), id);
		struct sender senders[2];
		struct loop loops[2];

		for (int i = 0; i < 2; i++) {
			senders[i].bytes = cts_fx_pages(1);
			EXPECT(near_connect(&senders[i].import, "scif0", (rsm_node_id_t)node, id,
					    RSM_PERM_RDWR),
			       RSM_SUCCESS);
			loop_begin(&loops[i], send_page, &senders[i]);
			loop_wait(&loops[i], 100);
		}
		cts_peer_kill(e.peer);
		for (int i = 0; i < 2; i++) {
			CTS_CHECK(cts_is_loss(loop_ended(&loops[i])),
				  "each importer learns of the end");
			CTS_ASSERT(rsm_memseg_import_disconnect(senders[i].import.handle) ==
				   RSM_SUCCESS);
		}
	}
}

/* ---- children of the creator ---- */

enum creator_call { PUBLISH, REPUBLISH, UNPUBLISH, REBIND };

static int creator_call(void *arg)
{
	struct line *l = arg;

	switch ((enum creator_call)l->call) {
	case PUBLISH:
		return rsm_memseg_export_publish(l->segment, &l->id, NULL, 0);
	case REPUBLISH:
		return rsm_memseg_export_republish(l->segment, NULL, 0);
	case UNPUBLISH:
		return rsm_memseg_export_unpublish(l->segment);
	default:
		return rsm_memseg_export_rebind(l->segment, l->mem, 0, cts_page_size());
	}
}

static int creator_call_twice(void *arg)
{
	int value = creator_call(arg);

	return value == creator_call(arg) ? value : 100;
}

SCENARIO(child_is_not_creator)
{
	struct line l = {.call = (int)cts_param("call"), .mem = cts_fx_pages(1)};

	l.segment = l.call == PUBLISH ? cts_fx_exported(1) : cts_fx_published_rebindable(1);
	l.id = cts_fx_free_segment_id();
	EXPECT(cts_wait_child(cts_fork(creator_call_twice, &l)), RSMERR_NOT_CREATOR);
	if (l.call != PUBLISH)
		CTS_CHECK_EFFECT(near_can_connect(cts_self_node(), cts_segment_id(l.segment),
						  RSM_PERM_READ) == RSM_SUCCESS,
				 "the segment is published as before");
	CTS_CHECK_EFFECT(creator_call(&l) == RSM_SUCCESS, "the control, by the creator, succeeds");
}

static int destroy_in_child(void *segment)
{
	int value = rsm_memseg_export_destroy(segment);

	if (value != RSM_SUCCESS)
		return value;
	return rsm_memseg_export_destroy(segment) == RSMERR_BAD_SEG_HNDL ? RSM_SUCCESS : 101;
}

SCENARIO(destroy_in_child)
{
	rsm_memseg_export_handle_t segment = cts_fx_published(1);
	struct far_import i =
		far_connect(cts_peer(), cts_self_node(), cts_segment_id(segment), RSM_PERM_RDWR);

	EXPECT(cts_wait_child(cts_fork(destroy_in_child, segment)), RSM_SUCCESS);
	CTS_CHECK_EFFECT(far_reads(i, 0, cts_page_size(), 2, 0), "the import is what it was");
	CTS_CHECK_EFFECT(far_can_connect(cts_peer(), cts_self_node(), cts_segment_id(segment),
					 RSM_PERM_READ) == RSM_SUCCESS,
			 "the segment is published as before");
	CTS_CHECK_EFFECT(rsm_memseg_export_unpublish(segment) == RSM_SUCCESS,
			 "its creator withdraws it");
}
