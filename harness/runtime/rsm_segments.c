/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The segments that fixtures made, and RSMAPI for the engine. The state probe asks each of them
 * whether a descriptor can still be had for it (published, connected) and each import whether a
 * byte can still be read.
 */
#include "rsm_segments.h"

#include "errname.h"
#include "functions.h"

#include <stdlib.h>
#include <stdio.h>

#define SEGMENT_MAX 1024
#define NODE_MAX    64

struct segment segments[SEGMENT_MAX];
int segment_count;

struct segment *segment_add(const void *handle, bool is_export)
{
	if (segment_count == SEGMENT_MAX)
		cts_unresolved("too many segments");
	struct segment *s = &segments[segment_count++];
	*s = (struct segment){.handle = handle, .is_export = is_export, .live = true};
	return s;
}

/* The latest one with that handle, because a value may come up again. */
struct segment *segment_find(const void *handle)
{
	for (int i = segment_count; i-- > 0;)
		if (segments[i].handle == handle)
			return &segments[i];
	cts_unresolved("segment %p was made by no fixture", handle);
}

void rsm_must(int code, const char *what)
{
	if (code != RSM_SUCCESS)
		cts_unresolved("%s: %s", what, rsm_errname(code));
}

int rsm_code(struct cts_result r)
{
	return r.ret == -1 ? r.err : RSM_SUCCESS;
}

intptr_t rsm_must_peer(struct cts_result r, const char *what)
{
	if (r.ret == -1)
		cts_unresolved("%s of the peer: %s", what, rsm_errname(r.err));
	return r.ret;
}

struct cts_result cts_expect_value(struct cts_result r, int value, const char *text)
{
	observe_event("ssis", "expect", rsm_errname(value), r.ret, rsm_errname((int)r.ret));
	if (r.ret == value)
		return r;
	verdict_derived(FAIL, r.ret == RSM_SUCCESS ? KIND_VALUE : KIND_ERRNO,
			"does not hold: %s (%s)", text, rsm_errname((int)r.ret));
	case_end();
}

bool cts_is_loss(int value)
{
	return value == RSMERR_BARRIER_FAILURE || value == RSMERR_CONN_ABORTED;
}

const char *cts_rsm_name(int value)
{
	return rsm_errname(value);
}

void cts_may_change_segment(const void *handle)
{
	segment_find(handle)->live = false;
}

/* ---- for the engine ---- */

struct probe {
	int count;
	struct {
		int descriptor, byte; /* RSMERR values; -1: not asked */
	} of[];
};

static int ask_descriptor(const struct segment *s)
{
	struct pollfd entry;
	int code = rsm_memseg_get_pollfd((void *)(uintptr_t)s->handle, &entry);

	if (code == RSM_SUCCESS)
		rsm_memseg_release_pollfd((void *)(uintptr_t)s->handle);
	return code;
}

static int ask_byte(const struct segment *s)
{
	unsigned char byte;

	return rsm_memseg_import_get((rsm_memseg_import_handle_t)(uintptr_t)s->handle, 0, &byte, 1);
}

static void *probe_take(void)
{
	struct probe *p = calloc(1, sizeof *p + (size_t)segment_count * sizeof *p->of);

	p->count = segment_count;
	for (int i = 0; i < segment_count; i++) {
		const struct segment *s = &segments[i];

		p->of[i].descriptor = s->live ? ask_descriptor(s) : -1;
		p->of[i].byte = s->live && !s->is_export && s->transfers ? ask_byte(s) : -1;
	}
	return p;
}

static const char *answer(int code)
{
	return code == -1 ? "nothing" : rsm_errname(code);
}

static bool probe_same(const void *before, const void *after, char *why, size_t size)
{
	const struct probe *a = before, *b = after;

	for (int i = 0; i < a->count; i++) {
		const char *kind = segments[i].is_export ? "export" : "import";

		if (a->of[i].descriptor != b->of[i].descriptor) {
			snprintf(why, size, "rsm_memseg_get_pollfd of %s %d gives %s", kind, i,
				 answer(b->of[i].descriptor));
			return false;
		}
		if (a->of[i].byte != b->of[i].byte) {
			snprintf(why, size, "a get from %s %d gives %s", kind, i,
				 answer(b->of[i].byte));
			return false;
		}
	}
	return true;
}

/* Who asks an import of it first may get another answer than who asks later. */
static void peer_ended(const struct cts_peer *p)
{
	for (int i = 0; i < segment_count; i++)
		if (segments[i].behind.peer == p)
			segments[i].live = false;
}

static void forget(void)
{
	segment_count = 0;
	controllers_forget();
	peers_controllers_forget();
}

static int self_node(void)
{
	rsm_topology_t *topology;

	rsm_must(rsm_get_interconnect_topology(&topology), "rsm_get_interconnect_topology");
	int node = (int)topology->topology_hdr.local_nodeid;
	rsm_free_interconnect_topology(topology);
	return node;
}

static void note_nodes(const rsm_connections_t *c, bool present[NODE_MAX])
{
	for (int i = 0; i < c->hdr.remote_cntlr_count; i++) {
		const rsm_remote_cntlr_t *remote = &c->remote_cntlr[i];

		if (remote->connection_state == RSM_CONNECTION_ACTIVE &&
		    remote->remote_nodeid < NODE_MAX)
			present[remote->remote_nodeid] = true;
	}
}

static int node_count(void)
{
	bool present[NODE_MAX] = {false};
	rsm_topology_t *topology;
	int count = 0;

	rsm_must(rsm_get_interconnect_topology(&topology), "rsm_get_interconnect_topology");
	for (unsigned i = 0; i < topology->topology_hdr.local_cntlr_count; i++)
		note_nodes(topology->connections[i], present);
	if (topology->topology_hdr.local_nodeid < NODE_MAX)
		present[topology->topology_hdr.local_nodeid] = true;
	rsm_free_interconnect_topology(topology);
	for (int i = 0; i < NODE_MAX; i++)
		count += present[i];
	return count;
}

static int use(void)
{
	rsm_topology_t *topology;

	if (rsm_get_interconnect_topology(&topology) != RSM_SUCCESS)
		return EACCES;
	rsm_free_interconnect_topology(topology);
	return 0;
}

/* Set-up meets errors of the C library too. */
static int error_number(const char *name)
{
	int code = rsm_errnumber(name);

	return code ? code : cts_errnumber(name);
}

const struct cts_api cts_api_rsm = {
	.returns_errors = true,
	.functions = rsm_functions,
	.substrate = scif_functions,
	.error_name = rsm_errname,
	.error_number = error_number,
	.probe_take = probe_take,
	.probe_same = probe_same,
	.peer_ended = peer_ended,
	.forget = forget,
	.self_node = self_node,
	.node_count = node_count,
	.use = use,
};
