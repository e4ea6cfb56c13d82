/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that this process exports, and the peer that imports them. */
#include "rsm_segments.h"

#include <inttypes.h>

#define DEFAULT_NODE 1

static rsm_memseg_export_handle_t handle_of(struct segment *s)
{
	return (rsm_memseg_export_handle_t)(uintptr_t)s->handle;
}

static struct segment *create(rsmapi_controller_handle_t controller, void *memory, size_t bytes,
			      unsigned flags)
{
	rsm_memseg_export_handle_t handle = NULL;

	rsm_must(rsm_memseg_export_create(controller, &handle, memory, bytes, flags),
		 "rsm_memseg_export_create");
	struct segment *s = segment_add(handle, true);
	s->memory = memory;
	s->len = bytes;
	return s;
}

static struct segment *create_pages(const char *controller, size_t pages, unsigned flags)
{
	return create(own_controller(controller), cts_fx_pages(pages), pages * cts_page_size(),
		      flags);
}

static void publish(struct segment *s, rsmapi_access_entry_t *list, unsigned entries)
{
	s->id = next_segment_id();
	rsm_must(rsm_memseg_export_publish(handle_of(s), &s->id, list, entries),
		 "rsm_memseg_export_publish");
}

static struct segment *publish_to_all(struct segment *s)
{
	rsmapi_access_entry_t list[] = {{cts_self_node(), EVERYBODY}, {DEFAULT_NODE, EVERYBODY}};

	publish(s, list, list[0].ae_node == list[1].ae_node ? 1 : 2);
	return s;
}

rsm_memseg_export_handle_t cts_fx_exported_on(rsmapi_controller_handle_t controller, size_t pages,
					      unsigned flags)
{
	return handle_of(create(controller, cts_fx_pages(pages), pages * cts_page_size(), flags));
}

rsm_memseg_export_handle_t cts_fx_exported_over(void *addr, size_t bytes, unsigned flags)
{
	return handle_of(create(own_controller(FABRIC), addr, bytes, flags));
}

rsm_memseg_export_handle_t cts_fx_exported(size_t pages)
{
	return handle_of(create_pages(FABRIC, pages, 0));
}

rsm_memseg_export_handle_t cts_fx_exported_rebindable(size_t pages)
{
	return handle_of(create_pages(FABRIC, pages, RSM_ALLOW_REBIND));
}

rsm_memseg_export_handle_t cts_fx_published(size_t pages)
{
	return handle_of(publish_to_all(create_pages(FABRIC, pages, 0)));
}

rsm_memseg_export_handle_t cts_fx_published_rebindable(size_t pages)
{
	return handle_of(publish_to_all(create_pages(FABRIC, pages, RSM_ALLOW_REBIND)));
}

/* A controller may reach the own node alone. */
rsm_memseg_export_handle_t cts_fx_published_on(rsmapi_controller_handle_t controller, size_t pages)
{
	rsmapi_access_entry_t own = {cts_self_node(), EVERYBODY};
	struct segment *s =
		create(controller, cts_fx_pages(pages), pages * cts_page_size(), RSM_ALLOW_REBIND);

	publish(s, &own, 1);
	return handle_of(s);
}

rsm_memseg_export_handle_t cts_fx_published_acl(size_t pages, int node, rsm_permission_t perm)
{
	rsmapi_access_entry_t entry = {(rsm_node_id_t)node, perm};
	struct segment *s = create_pages(FABRIC, pages, 0);

	publish(s, node == -1 ? NULL : &entry, node != -1);
	return handle_of(s);
}

rsm_memseg_export_handle_t cts_fx_unpublished(size_t pages)
{
	rsm_memseg_export_handle_t ex = cts_fx_published(pages);

	rsm_must(rsm_memseg_export_unpublish(ex), "rsm_memseg_export_unpublish");
	return ex;
}

rsm_memseg_export_handle_t cts_fx_export_destroyed(void)
{
	rsm_memseg_export_handle_t ex = cts_fx_exported(1);

	rsm_must(rsm_memseg_export_destroy(ex), "rsm_memseg_export_destroy");
	segment_find(ex)->live = false;
	return ex;
}

rsm_memseg_export_handle_t cts_fx_export_new(void)
{
	return cts_fx_exported_rebindable(1);
}

rsm_memseg_export_handle_t cts_fx_export_published(void)
{
	return cts_fx_published_rebindable(1);
}

rsm_memseg_export_handle_t cts_fx_export_unpublished(void)
{
	rsm_memseg_export_handle_t ex = cts_fx_published_rebindable(1);

	rsm_must(rsm_memseg_export_unpublish(ex), "rsm_memseg_export_unpublish");
	return ex;
}

rsm_memseg_export_handle_t cts_fx_published_polled(size_t pages)
{
	rsm_memseg_export_handle_t ex = cts_fx_published(pages);

	cts_fx_pollfd_of(ex);
	return ex;
}

/* ---- the peer that imports it ---- */

static struct cts_result connect_peer(struct cts_peer *p, const struct segment *s,
				      rsm_permission_t perm)
{
	return cts_peer_call(p, "rsm_connect %" PRIu64 " %u %u %u", cts_peer_controller(p, FABRIC),
			     cts_self_node(), s->id, perm);
}

rsm_memseg_export_handle_t cts_fx_published_imported(size_t pages)
{
	rsm_memseg_export_handle_t ex = cts_fx_published_rebindable(pages);
	struct segment *s = segment_find(ex);

	s->importer = cts_peer();
	s->importer_handle = (uint64_t)rsm_must_peer(connect_peer(s->importer, s, RSM_PERM_RDWR),
						     "rsm_memseg_import_connect");
	rsm_must_peer(cts_peer_call(s->importer, "rsm_barrier %" PRIu64, s->importer_handle),
		      "rsm_memseg_import_init_barrier");
	return ex;
}

rsm_memseg_export_handle_t cts_fx_published_mapped(size_t pages)
{
	rsm_memseg_export_handle_t ex = cts_fx_published_imported(pages);
	struct segment *s = segment_find(ex);

	s->importer_address =
		(uint64_t)rsm_must_peer(cts_peer_call(s->importer, "rsm_map %" PRIu64 " %u 0 %zu",
						      s->importer_handle, RSM_PERM_RDWR, s->len),
					"rsm_memseg_import_map");
	return ex;
}

static struct segment *imported(rsm_memseg_export_handle_t ex)
{
	struct segment *s = segment_find(ex);

	if (!s->importer)
		cts_unresolved("no fixture made a peer import that segment");
	return s;
}

struct cts_peer *cts_importer(rsm_memseg_export_handle_t ex)
{
	return imported(ex)->importer;
}

uint64_t cts_importer_handle(rsm_memseg_export_handle_t ex)
{
	return imported(ex)->importer_handle;
}

int cts_importer_post(rsm_memseg_export_handle_t ex, unsigned flags)
{
	const struct segment *s = imported(ex);

	return rsm_code(
		cts_peer_call(s->importer, "rsm_post %" PRIu64 " %u", s->importer_handle, flags));
}

int cts_importer_wait(rsm_memseg_export_handle_t ex, int timeout_ms)
{
	const struct segment *s = imported(ex);

	return rsm_code(cts_peer_call(s->importer, "rsm_wait %" PRIu64 " %d", s->importer_handle,
				      timeout_ms));
}

int cts_importer_put64(rsm_memseg_export_handle_t ex, size_t at, uint64_t value)
{
	const struct segment *s = imported(ex);
	uint64_t scratch = peer_scratch(s->importer);

	cts_peer_call(s->importer, "poke %" PRIu64 " 8 %" PRIu64, scratch, value);
	return rsm_code(cts_peer_call(s->importer, "rsm_put %" PRIu64 " %zu 8 %" PRIu64,
				      s->importer_handle, at, scratch));
}

int cts_importer_get64(rsm_memseg_export_handle_t ex, size_t at, uint64_t *value)
{
	const struct segment *s = imported(ex);
	uint64_t scratch = peer_scratch(s->importer);
	int code = rsm_code(cts_peer_call(s->importer, "rsm_get %" PRIu64 " %zu 8 %" PRIu64,
					  s->importer_handle, at, scratch));

	*value = (uint64_t)cts_peer_call(s->importer, "peek %" PRIu64 " 8", scratch).ret;
	return code;
}

uint64_t cts_importer_peek64(rsm_memseg_export_handle_t ex, size_t at)
{
	const struct segment *s = imported(ex);

	return (uint64_t)cts_peer_call(s->importer, "peek %" PRIu64 " 8", s->importer_address + at)
		.ret;
}

void cts_importer_poke64(rsm_memseg_export_handle_t ex, size_t at, uint64_t value)
{
	const struct segment *s = imported(ex);

	cts_peer_call(s->importer, "poke %" PRIu64 " 8 %" PRIu64, s->importer_address + at, value);
}

int cts_importer_disconnect(rsm_memseg_export_handle_t ex)
{
	const struct segment *s = imported(ex);

	return rsm_code(cts_peer_call(s->importer, "rsm_disconnect %" PRIu64, s->importer_handle));
}

void cts_importer_kill(rsm_memseg_export_handle_t ex)
{
	cts_peer_kill(cts_importer(ex));
	cts_let_notice();
}

void cts_importer_stop(rsm_memseg_export_handle_t ex, bool stopped)
{
	cts_peer_stall_process(cts_importer(ex), stopped);
}

int cts_connect_from(struct cts_peer *p, rsm_memseg_export_handle_t ex, rsm_permission_t perm)
{
	struct cts_result r = connect_peer(p, segment_find(ex), perm);

	if (r.ret != -1)
		rsm_must_peer(cts_peer_call(p, "rsm_disconnect %" PRIu64, (uint64_t)r.ret),
			      "rsm_memseg_import_disconnect");
	return rsm_code(r);
}
