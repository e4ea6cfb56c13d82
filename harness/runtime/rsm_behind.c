/* SPDX-License-Identifier: BSD-2-Clause */
/* What lies behind a handle of ours: memory here or in the exporter, and the exporter itself. */
#include "rsm_segments.h"

#include "pattern.h"

#include <inttypes.h>
#include <sched.h>

#define WAIT_MS 1000

/* The entry whose memory is in this process, or NULL when it is in a peer. */
static const struct segment *in_our_memory(const struct segment *s)
{
	if (s->is_export)
		return s;
	return s->own ? segment_find(s->own) : NULL;
}

static const struct segment *with_peer(const void *handle)
{
	const struct segment *s = segment_find(handle);

	if (!s->behind.peer)
		cts_unresolved("that handle is no import from a peer");
	return s;
}

unsigned char *cts_segment_memory(const void *handle)
{
	const struct segment *ours = in_our_memory(segment_find(handle));

	if (!ours)
		cts_unresolved("the segment is in the memory of a peer");
	return ours->memory;
}

size_t cts_segment_length(const void *handle)
{
	return segment_find(handle)->len;
}

rsm_memseg_id_t cts_segment_id(const void *handle)
{
	return segment_find(handle)->id;
}

bool cts_segment_is(const void *handle, size_t at, size_t n, unsigned seed, size_t from)
{
	const struct segment *s = segment_find(handle), *ours = in_our_memory(s);

	if (ours)
		return cts_is_pattern_at(ours->memory + at, n, seed, from);
	return cts_peer_call(s->behind.peer, "is %" PRIu64 " %zu %u %zu", s->behind.there + at, n,
			     seed, from)
		.ret;
}

bool cts_segment_is_byte(const void *handle, size_t at, size_t n, int byte)
{
	const struct segment *s = segment_find(handle), *ours = in_our_memory(s);

	if (ours)
		return cts_is_byte(ours->memory + at, n, byte);
	return cts_peer_call(s->behind.peer, "isbyte %" PRIu64 " %zu %d", s->behind.there + at, n,
			     byte)
		.ret;
}

void cts_segment_fill(const void *handle, size_t at, size_t n, unsigned seed, size_t from)
{
	const struct segment *s = segment_find(handle), *ours = in_our_memory(s);

	if (ours)
		cts_fill_at(ours->memory + at, n, seed, from);
	else
		cts_peer_call(s->behind.peer, "fill %" PRIu64 " %zu %u %zu", s->behind.there + at,
			      n, seed, from);
}

void cts_segment_set(const void *handle, size_t at, size_t n, int byte)
{
	const struct segment *s = segment_find(handle), *ours = in_our_memory(s);

	if (ours)
		memset(ours->memory + at, byte, n);
	else
		cts_peer_call(s->behind.peer, "set %" PRIu64 " %zu %d", s->behind.there + at, n,
			      byte);
}

uint64_t cts_segment_peek64(const void *handle, size_t at)
{
	const struct segment *s = segment_find(handle), *ours = in_our_memory(s);
	uint64_t value;

	if (!ours)
		return (uint64_t)cts_peer_call(s->behind.peer, "peek %" PRIu64 " 8",
					       s->behind.there + at)
			.ret;
	memcpy(&value, ours->memory + at, sizeof value);
	return value;
}

void cts_segment_poke64(const void *handle, size_t at, uint64_t value)
{
	const struct segment *s = segment_find(handle), *ours = in_our_memory(s);

	if (ours)
		memcpy(ours->memory + at, &value, sizeof value);
	else
		cts_peer_call(s->behind.peer, "poke %" PRIu64 " 8 %" PRIu64, s->behind.there + at,
			      value);
}

bool cts_segment_wait64(const void *handle, size_t at, uint64_t value)
{
	const struct segment *s = segment_find(handle), *ours = in_our_memory(s);

	if (ours)
		return cts_wait64(ours->memory + at, value);
	return cts_peer_call(s->behind.peer, "wait %" PRIu64 " 8 %" PRIu64 " %d",
			     s->behind.there + at, value, (int)(case_timeout(current) * 500))
		.ret;
}

/* ---- the exporter ---- */

struct cts_peer *cts_exporter(rsm_memseg_import_handle_t im)
{
	return with_peer(im)->behind.peer;
}

rsm_node_id_t cts_exporter_node(rsm_memseg_import_handle_t im)
{
	const struct segment *s = segment_find(im);

	return s->own ? cts_self_node() : s->behind.node;
}

rsm_memseg_id_t cts_exporter_id(rsm_memseg_import_handle_t im)
{
	return cts_segment_id(im);
}

struct cts_peer_segment *cts_peer_segment_of(rsm_memseg_import_handle_t im)
{
	return (struct cts_peer_segment *)(uintptr_t)&with_peer(im)->behind;
}

/* Our own export behind an import of ours, or NULL. */
static rsm_memseg_export_handle_t own_export(rsm_memseg_import_handle_t im)
{
	return (rsm_memseg_export_handle_t)(uintptr_t)segment_find(im)->own;
}

static int ask(rsm_memseg_import_handle_t im, const char *verb)
{
	const struct segment *s = with_peer(im);

	return rsm_code(cts_peer_call(s->behind.peer, "%s %" PRIu64, verb, s->behind.handle));
}

int cts_segment_unpublish(rsm_memseg_import_handle_t im)
{
	rsm_memseg_export_handle_t own = own_export(im);

	return own ? rsm_memseg_export_unpublish(own) : ask(im, "rsm_unpublish");
}

int cts_segment_destroy(rsm_memseg_import_handle_t im)
{
	rsm_memseg_export_handle_t own = own_export(im);

	if (!own)
		return ask(im, "rsm_destroy");
	segment_find(own)->live = false;
	return rsm_memseg_export_destroy(own);
}

int cts_segment_publish_again(rsm_memseg_import_handle_t im)
{
	const struct segment *s = segment_find(im);
	rsmapi_access_entry_t entry = {cts_self_node(), digits_of(s->perm)};
	rsm_memseg_id_t id = s->id;

	if (s->own)
		return rsm_memseg_export_publish(own_export(im), &id, &entry, 1);
	return rsm_code(cts_peer_call(s->behind.peer, "rsm_publish %" PRIu64 " %u %u %u",
				      s->behind.handle, id, entry.ae_node, entry.ae_permission));
}

int cts_segment_republish(rsm_memseg_import_handle_t im, int node, rsm_permission_t perm)
{
	const struct segment *s = segment_find(im);
	rsmapi_access_entry_t entry = {(rsm_node_id_t)node, perm};

	if (s->own)
		return rsm_memseg_export_republish(own_export(im), node == -1 ? NULL : &entry,
						   node != -1);
	if (node == -1)
		return ask(im, "rsm_republish");
	return rsm_code(cts_peer_call(s->behind.peer, "rsm_republish %" PRIu64 " %d %u",
				      s->behind.handle, node, perm));
}

static int rebind_own(rsm_memseg_export_handle_t own, unsigned seed)
{
	struct segment *s = segment_find(own);
	unsigned char *memory = cts_fx_pages(s->len / cts_page_size());
	int code;

	cts_fill(memory, s->len, seed);
	code = rsm_memseg_export_rebind(own, memory, 0, s->len);
	if (code == RSM_SUCCESS)
		s->memory = memory;
	return code;
}

/* Every import of ours of that segment looks at the new memory from then on. */
static void moved(const struct cts_peer_segment *to)
{
	for (int i = 0; i < segment_count; i++)
		if (segments[i].behind.peer == to->peer && segments[i].behind.handle == to->handle)
			segments[i].behind.there = to->there;
}

int cts_segment_rebind(rsm_memseg_import_handle_t im, unsigned seed)
{
	if (own_export(im))
		return rebind_own(own_export(im), seed);
	struct cts_peer_segment to = with_peer(im)->behind;
	to.there = (uint64_t)cts_peer_call(to.peer, "alloc %zu", to.len).ret;
	cts_peer_call(to.peer, "fill %" PRIu64 " %zu %u 0", to.there, to.len, seed);
	int code = rsm_code(cts_peer_call(to.peer, "rsm_rebind %" PRIu64 " %" PRIu64 " 0 %zu",
					  to.handle, to.there, to.len));
	if (code == RSM_SUCCESS)
		moved(&to);
	return code;
}

int cts_segment_post(rsm_memseg_import_handle_t im, unsigned flags)
{
	const struct segment *s = segment_find(im);

	if (s->own)
		return rsm_intr_signal_post(own_export(im), flags);
	return rsm_code(
		cts_peer_call(s->behind.peer, "rsm_post %" PRIu64 " %u", s->behind.handle, flags));
}

int cts_segment_wait(rsm_memseg_import_handle_t im, int timeout_ms)
{
	const struct segment *s = segment_find(im);

	if (s->own)
		return rsm_intr_signal_wait(own_export(im), timeout_ms);
	return rsm_code(cts_peer_call(s->behind.peer, "rsm_wait %" PRIu64 " %d", s->behind.handle,
				      timeout_ms));
}

/* Signals of one connection arrive in their order, so the one that is waited for is the last. */
bool cts_segment_has_no_signal(rsm_memseg_import_handle_t im)
{
	rsm_must(rsm_intr_signal_post(im, 0), "rsm_intr_signal_post");
	if (cts_segment_wait(im, WAIT_MS) != RSM_SUCCESS)
		waited_in_vain("a signal reaches the exporter");
	return cts_segment_wait(im, 0) == RSMERR_TIMEOUT;
}

void cts_await_signal(void *handle)
{
	struct pollfd entry = {0};
	int ready = 0;

	rsm_must(rsm_memseg_get_pollfd(handle, &entry), "rsm_memseg_get_pollfd");
	while (ready == 0 && cts_time_left())
		ready = poll(&entry, 1, WAIT_MS);
	rsm_must(rsm_memseg_release_pollfd(handle), "rsm_memseg_release_pollfd");
	if (ready != 1)
		waited_in_vain("a signal reaches us");
}

void cts_segment_kill(rsm_memseg_import_handle_t im)
{
	cts_peer_kill(cts_exporter(im));
	cts_let_notice();
}

void cts_segment_stop(rsm_memseg_import_handle_t im, bool stopped)
{
	cts_peer_stall_process(cts_exporter(im), stopped);
}

void cts_segment_node(rsm_memseg_import_handle_t im, const char *state)
{
	cts_node((int)cts_exporter_node(im), state);
	cts_let_notice();
}
