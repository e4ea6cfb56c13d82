/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that peers export. */
#include "rsm_segments.h"

#include <inttypes.h>
#include <stdio.h>

#define OTHER_USER 65534
#define HANDLE_MAX 128

/* What each peer has got already. */
static struct {
	struct cts_peer *peer;
	const char *name;
	uint64_t handle;
} controllers[HANDLE_MAX];
static int controller_count;

static struct {
	struct cts_peer *peer;
	uint64_t there;
} scratches[HANDLE_MAX];
static int scratch_count;

void peers_controllers_forget(void)
{
	controller_count = scratch_count = 0;
}

uint64_t cts_peer_controller(struct cts_peer *p, const char *name)
{
	for (int i = 0; i < controller_count; i++)
		if (controllers[i].peer == p && !strcmp(controllers[i].name, name))
			return controllers[i].handle;
	if (controller_count == HANDLE_MAX)
		cts_unresolved("too many controllers of peers");
	uint64_t handle = (uint64_t)rsm_must_peer(cts_peer_call(p, "rsm_controller %s", name),
						  "rsm_get_controller");
	controllers[controller_count].peer = p;
	controllers[controller_count].name = name;
	controllers[controller_count++].handle = handle;
	return handle;
}

/* A page of the peer for values on their way. */
uint64_t peer_scratch(struct cts_peer *p)
{
	for (int i = 0; i < scratch_count; i++)
		if (scratches[i].peer == p)
			return scratches[i].there;
	if (scratch_count == HANDLE_MAX)
		cts_unresolved("too many peers");
	scratches[scratch_count].peer = p;
	scratches[scratch_count].there =
		(uint64_t)cts_peer_call(p, "alloc %zu", cts_page_size()).ret;
	return scratches[scratch_count++].there;
}

/* Published to that node alone; node -1: to ours and the peer's. */
struct cts_peer_segment peer_export(struct cts_peer *p, size_t pages, int node,
				    rsm_permission_t perm)
{
	struct cts_peer_segment s = {.node = cts_peer_node(p),
				     .pages = pages,
				     .len = pages * cts_page_size(),
				     .peer = p};
	unsigned ours = cts_self_node(), theirs = s.node;
	char list[64];

	s.controller = cts_peer_controller(p, FABRIC);
	s.there = (uint64_t)cts_peer_call(p, "alloc %zu", s.len).ret;
	cts_peer_call(p, "fill %" PRIu64 " %zu %d 0", s.there, s.len, PEER_SEED);
	s.handle = (uint64_t)rsm_must_peer(
		cts_peer_call(p, "rsm_create %" PRIu64 " %" PRIu64 " %zu %d", s.controller, s.there,
			      s.len, RSM_ALLOW_REBIND),
		"rsm_memseg_export_create");
	if (node != -1)
		snprintf(list, sizeof list, "%d %u", node, perm);
	else if (ours == theirs)
		snprintf(list, sizeof list, "%u %u", ours, perm);
	else
		snprintf(list, sizeof list, "%u %u %u %u", ours, perm, theirs, perm);
	s.id = next_segment_id();
	rsm_must_peer(cts_peer_call(p, "rsm_publish %" PRIu64 " %u %s", s.handle, s.id, list),
		      "rsm_memseg_export_publish");
	return s;
}

struct cts_peer_segment cts_fx_peer_segment(size_t pages, rsm_permission_t perm)
{
	return peer_export(cts_peer(), pages, -1, perm);
}

struct cts_peer_segment cts_fx_peer_segment_on(int node, size_t pages, rsm_permission_t perm)
{
	return peer_export(cts_peer_start(node), pages, -1, perm);
}

struct cts_peer_segment cts_fx_peer_segment_own_node(size_t pages, rsm_permission_t perm)
{
	return cts_fx_peer_segment_on(cts_self_node(), pages, perm);
}

struct cts_peer_segment cts_fx_peer_segment_closed(size_t pages, rsm_permission_t perm)
{
	struct cts_peer_segment s = cts_fx_peer_segment(pages, perm);

	rsm_must(cts_peer_segment_unpublish(s), "rsm_memseg_export_unpublish of the peer");
	return s;
}

struct cts_peer_segment cts_fx_peer_segment_only_for(size_t pages, int node, rsm_permission_t perm)
{
	return peer_export(cts_peer(), pages, node, perm);
}

struct cts_peer_segment cts_fx_peer_segment_other_user(size_t pages, rsm_permission_t perm)
{
	return peer_export(cts_peer_start_as(cts_peer_node(cts_peer()), OTHER_USER), pages, -1,
			   perm);
}

rsm_memseg_id_t cts_fx_taken_segment_id(void)
{
	return cts_fx_peer_segment_own_node(1, EVERYBODY).id;
}

int cts_peer_segment_unpublish(struct cts_peer_segment s)
{
	return rsm_code(cts_peer_call(s.peer, "rsm_unpublish %" PRIu64, s.handle));
}

int cts_peer_segment_destroy(struct cts_peer_segment s)
{
	return rsm_code(cts_peer_call(s.peer, "rsm_destroy %" PRIu64, s.handle));
}
