/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that this process imports, in every state a clause can ask for. */
#include "rsm_segments.h"

#include <stdlib.h>

#define OTHER_USER 65534
#define NOTICE_US  300 /* an implementation may ask the kernel about its peer only so often */

void cts_let_notice(void)
{
	cts_let_pass_us(NOTICE_US);
}

rsm_permission_t digits_of(rsm_permission_t perm)
{
	return perm | perm >> 3 | perm >> 6;
}

static rsm_memseg_import_handle_t handle_of(const struct segment *s)
{
	return (rsm_memseg_import_handle_t)(uintptr_t)s->handle;
}

static struct segment *connect_on(const char *controller, rsm_node_id_t node, rsm_memseg_id_t id,
				  rsm_permission_t perm, size_t len)
{
	rsm_memseg_import_handle_t handle = NULL;

	rsm_must(rsm_memseg_import_connect(own_controller(controller), node, id, perm, &handle),
		 "rsm_memseg_import_connect");
	struct segment *s = segment_add(handle, false);
	s->perm = perm;
	s->id = id;
	s->len = len;
	s->transfers = true;
	return s;
}

static struct segment *connect_to(const char *controller, struct cts_peer_segment behind,
				  rsm_permission_t perm)
{
	struct segment *s = connect_on(controller, behind.node, behind.id, perm, behind.len);

	s->behind = behind;
	return s;
}

static struct segment *with_barrier(struct segment *s)
{
	s->barrier = (void *)cts_fx_buffer(sizeof *s->barrier);
	rsm_must(rsm_memseg_import_init_barrier(handle_of(s), RSM_BAR_DEFAULT, s->barrier),
		 "rsm_memseg_import_init_barrier");
	return s;
}

static struct segment *imported_from(struct cts_peer *p, size_t pages, rsm_permission_t perm)
{
	return with_barrier(connect_to(FABRIC, peer_export(p, pages, -1, digits_of(perm)), perm));
}

static struct segment *imported(size_t pages, rsm_permission_t perm)
{
	return imported_from(cts_peer(), pages, perm);
}

/* From a peer of its own, because others of the case may be wanted alive. */
static struct segment *imported_alone(size_t pages, rsm_permission_t perm)
{
	return imported_from(cts_peer_start(cts_peer_node(cts_peer())), pages, perm);
}

rsm_memseg_import_handle_t cts_fx_imported(size_t pages, rsm_permission_t perm)
{
	return handle_of(imported(pages, perm));
}

rsm_memseg_import_handle_t cts_fx_imported_bare(size_t pages, rsm_permission_t perm)
{
	struct cts_peer_segment behind = peer_export(cts_peer(), pages, -1, digits_of(perm));

	return handle_of(connect_to(FABRIC, behind, perm));
}

rsm_memseg_import_handle_t cts_fx_imported_explicit(size_t pages, rsm_permission_t perm)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(pages, perm);

	rsm_must(rsm_memseg_import_set_mode(im, RSM_BARRIER_MODE_EXPLICIT),
		 "rsm_memseg_import_set_mode");
	return im;
}

rsm_memseg_import_handle_t cts_fx_imported_from(struct cts_peer_segment behind,
						rsm_permission_t perm)
{
	return handle_of(with_barrier(connect_to(FABRIC, behind, perm)));
}

rsm_memseg_import_handle_t cts_fx_imported_again(rsm_memseg_import_handle_t im,
						 rsm_permission_t perm)
{
	const struct segment first = *segment_find(im);
	struct segment *s;

	if (!first.own)
		return cts_fx_imported_from(first.behind, perm);
	s = with_barrier(connect_on(LOOPBACK, cts_self_node(), first.id, perm, first.len));
	s->own = first.own;
	return handle_of(s);
}

static struct segment *imported_own(size_t pages, rsm_permission_t perm)
{
	rsmapi_access_entry_t entry = {cts_self_node(), digits_of(perm)};
	rsm_memseg_export_handle_t ex =
		cts_fx_exported_on(own_controller(LOOPBACK), pages, RSM_ALLOW_REBIND);
	struct segment *exported = segment_find(ex);

	exported->id = next_segment_id();
	rsm_must(rsm_memseg_export_publish(ex, &exported->id, &entry, 1),
		 "rsm_memseg_export_publish");
	struct segment *s = connect_on(LOOPBACK, entry.ae_node, exported->id, perm, exported->len);
	s->own = ex;
	return s;
}

rsm_memseg_import_handle_t cts_fx_imported_own(size_t pages, rsm_permission_t perm)
{
	return handle_of(with_barrier(imported_own(pages, perm)));
}

rsm_memseg_import_handle_t cts_fx_imported_own_bare(size_t pages, rsm_permission_t perm)
{
	return handle_of(imported_own(pages, perm));
}

rsm_memseg_import_handle_t cts_fx_imported_own_node(size_t pages, rsm_permission_t perm)
{
	struct cts_peer *p = cts_peer_start(cts_self_node());
	struct cts_peer_segment behind = peer_export(p, pages, -1, digits_of(perm));

	return handle_of(with_barrier(connect_to(LOOPBACK, behind, perm)));
}

static bool big_endian(void)
{
	const char *declared = getenv("RSM_BYTE_ORDER");
	const uint16_t one = 1;

	if (declared && *declared)
		return !strcmp(declared, "big");
	return !*(const unsigned char *)&one;
}

rsm_memseg_import_handle_t cts_fx_imported_other_order(size_t pages, rsm_permission_t perm)
{
	int node = cts_peer_node(cts_peer());

	peers_setting(big_endian() ? "RSM_BYTE_ORDER=little" : "RSM_BYTE_ORDER=big");
	struct cts_peer *p = cts_peer_start(node);
	peers_setting(NULL);
	return handle_of(imported_from(p, pages, perm));
}

rsm_memseg_import_handle_t cts_fx_import_relay(size_t pages, rsm_permission_t perm)
{
	struct cts_peer *p = cts_peer_start_as(cts_peer_node(cts_peer()), OTHER_USER);

	return handle_of(imported_from(p, pages, perm));
}

unsigned char *cts_fx_import_mapping(rsm_memseg_import_handle_t im, off_t offset, size_t length,
				     rsm_permission_t perm)
{
	void *address = NULL;

	rsm_must(rsm_memseg_import_map(im, &address, RSM_MAP_NONE, perm, offset, length),
		 "rsm_memseg_import_map");
	segment_find(im)->address = address;
	return address;
}

rsm_memseg_import_handle_t cts_fx_import_mapped(size_t pages, rsm_permission_t perm)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(pages, perm);

	cts_fx_import_mapping(im, 0, pages * cts_page_size(), perm);
	return im;
}

unsigned char *cts_import_address(rsm_memseg_import_handle_t im)
{
	unsigned char *address = segment_find(im)->address;

	if (!address)
		cts_unresolved("no fixture mapped that import");
	return address;
}

rsmapi_barrier_t *cts_import_barrier(rsm_memseg_import_handle_t im)
{
	struct segment *s = segment_find(im);

	if (!s->barrier)
		cts_unresolved("no fixture initialised a barrier for that import");
	/* The case may open it from now on, and the oracle must not get between. */
	s->transfers = false;
	return s->barrier;
}

rsm_memseg_import_handle_t cts_fx_import_polled(size_t pages, rsm_permission_t perm)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(pages, perm);

	cts_fx_pollfd_of(im);
	return im;
}

/* ---- imports that ended ---- */

rsm_memseg_import_handle_t cts_fx_import_unpublished(size_t pages, rsm_permission_t perm)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(pages, perm);

	rsm_must(cts_segment_unpublish(im), "rsm_memseg_export_unpublish of the peer");
	cts_let_notice();
	return im;
}

rsm_memseg_import_handle_t cts_fx_import_destroyed(size_t pages, rsm_permission_t perm)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(pages, perm);

	rsm_must(cts_segment_destroy(im), "rsm_memseg_export_destroy of the peer");
	cts_let_notice();
	return im;
}

rsm_memseg_import_handle_t cts_fx_import_killed(size_t pages, rsm_permission_t perm)
{
	rsm_memseg_import_handle_t im = handle_of(imported_alone(pages, perm));

	cts_segment_kill(im);
	return im;
}

rsm_memseg_import_handle_t cts_fx_import_lost(size_t pages, rsm_permission_t perm)
{
	rsm_memseg_import_handle_t im = cts_fx_import_killed(pages, perm);
	struct segment *s = segment_find(im);
	unsigned char byte = 0;
	int code = perm & RSM_PERM_READ ? rsm_memseg_import_get(im, 0, &byte, 1)
					: rsm_memseg_import_put(im, 0, &byte, 1);

	if (!cts_is_loss(code))
		cts_unresolved("a transfer after the exporter's death gave %s", rsm_errname(code));
	s->live = true;
	return im;
}

rsm_memseg_import_handle_t cts_fx_import_node_lost(size_t pages, rsm_permission_t perm)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(pages, perm);

	cts_segment_node(im, "down");
	return im;
}

rsm_memseg_import_handle_t cts_fx_import_disconnected(void)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);

	rsm_must(rsm_memseg_import_disconnect(im), "rsm_memseg_import_disconnect");
	segment_find(im)->live = false;
	return im;
}

rsm_memseg_import_handle_t cts_fx_import_connected(void)
{
	return cts_fx_imported(STATE_PAGES, RSM_PERM_RDWR);
}

rsm_memseg_import_handle_t cts_fx_import_with_map(void)
{
	return cts_fx_import_mapped(STATE_PAGES, RSM_PERM_RDWR);
}

rsm_memseg_import_handle_t cts_fx_import_aborted(void)
{
	return cts_fx_import_unpublished(STATE_PAGES, RSM_PERM_RDWR);
}
