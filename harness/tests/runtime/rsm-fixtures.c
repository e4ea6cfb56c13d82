/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every fixture of the RSMAPI vocabulary, tried on the reference library: each must reach the state
 * that it names, or clauses built on it would test something else.
 */
#include "cts_rsm.h"

const struct cts_api *const cts_api = &cts_api_rsm;
const char cts_function[] = "rsm-fixtures";

#define RDWR	  RSM_PERM_RDWR
#define EVERYBODY 0666

static int get_byte(rsm_memseg_import_handle_t im, unsigned char *byte)
{
	return rsm_memseg_import_get(im, 1, byte, 1);
}

static bool reads(rsm_memseg_import_handle_t im, unsigned seed)
{
	unsigned char byte = 0;

	return get_byte(im, &byte) == RSM_SUCCESS && byte == cts_pattern(seed, 1);
}

static int polled(const void *handle)
{
	struct pollfd entry;
	int code = rsm_memseg_get_pollfd((void *)(uintptr_t)handle, &entry);

	if (!code)
		rsm_memseg_release_pollfd((void *)(uintptr_t)handle);
	return code;
}

static void controllers(void)
{
	rsmapi_controller_attr_t attr;

	CTS_ASSERT(rsm_get_controller_attr(cts_fx_controller("scif0"), &attr) == RSM_SUCCESS);
	CTS_ASSERT(rsm_get_controller_attr(cts_fx_controller_released("loopback"), &attr) !=
		   RSM_SUCCESS);
	CTS_ASSERT(cts_fx_own_node() == 0 && cts_fx_peer_node() == 1 && cts_node_count() == 2);
	CTS_ASSERT(cts_fx_topology()->topology_hdr.local_nodeid == cts_fx_own_node());
	CTS_ASSERT(rsm_memseg_export_destroy(cts_fx_garbage()) == RSMERR_BAD_SEG_HNDL);
	CTS_ASSERT(!cts_fx_no_handle());
}

static void segment_ids(void)
{
	rsm_memseg_id_t base = 0, taken = cts_fx_taken_segment_id();
	rsm_memseg_export_handle_t ex = cts_fx_exported(1);
	uint32_t length = 0;
	char appid[] = "cts";

	CTS_ASSERT(rsm_memseg_export_publish(ex, &taken, NULL, 0) == RSMERR_SEGID_IN_USE);
	taken = cts_fx_free_segment_id();
	CTS_ASSERT(rsm_memseg_export_publish(ex, &taken, NULL, 0) == RSM_SUCCESS);
	cts_fx_segmentid_file("reserved cts 600000 100\n");
	CTS_ASSERT(rsm_get_segmentid_range(appid, &base, &length) == RSM_SUCCESS);
	CTS_ASSERT(base == 0x600000 && length == 100);
	cts_fx_segmentid_path("/nowhere/rsm.segmentid");
	CTS_ASSERT(rsm_get_segmentid_range(appid, &base, &length) == RSMERR_BAD_CONF);
}

static void exports(void)
{
	rsm_memseg_export_handle_t ex = cts_fx_exported(2);

	CTS_ASSERT(cts_segment_length(ex) == 2 * cts_page_size());
	CTS_ASSERT(cts_segment_is(ex, 0, 2 * cts_page_size(), 2, 0));
	CTS_ASSERT(polled(ex) == RSMERR_BAD_SEG_HNDL);
	CTS_ASSERT(polled(cts_fx_published(1)) == RSM_SUCCESS);
	CTS_ASSERT(polled(cts_fx_published_acl(1, -1, 0)) == RSM_SUCCESS);
	CTS_ASSERT(polled(cts_fx_published_on(cts_fx_controller("loopback"), 1)) == RSM_SUCCESS);
	CTS_ASSERT(polled(cts_fx_unpublished(1)) == RSMERR_BAD_SEG_HNDL);
	CTS_ASSERT(rsm_memseg_export_destroy(cts_fx_export_destroyed()) == RSMERR_BAD_SEG_HNDL);
	CTS_ASSERT(rsm_memseg_export_destroy(cts_fx_published_polled(1)) == RSMERR_POLLFD_IN_USE);
	CTS_ASSERT(rsm_memseg_export_rebind(cts_fx_exported_rebindable(1), cts_fx_pages(1), 0,
					    cts_page_size()) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_export_rebind(
			   cts_fx_exported_over(cts_fx_pages(1), cts_page_size(), 0),
			   cts_fx_pages(1), 0, cts_page_size()) == RSMERR_REBIND_NOT_ALLOWED);
	CTS_ASSERT(polled(cts_fx_export_new()) == RSMERR_BAD_SEG_HNDL);
	CTS_ASSERT(polled(cts_fx_export_published()) == RSM_SUCCESS);
	CTS_ASSERT(polled(cts_fx_export_unpublished()) == RSMERR_BAD_SEG_HNDL);
}

static void importing_peer(void)
{
	rsm_memseg_export_handle_t ex = cts_fx_published_mapped(1);
	uint64_t value = 0;

	CTS_ASSERT(cts_importer_put64(ex, 8, 77) == RSM_SUCCESS);
	CTS_ASSERT(cts_segment_peek64(ex, 8) == 77);
	CTS_ASSERT(cts_importer_get64(ex, 8, &value) == RSM_SUCCESS && value == 77);
	cts_segment_poke64(ex, 16, 78);
	CTS_ASSERT(cts_importer_peek64(ex, 16) == 78);
	cts_importer_poke64(ex, 16, 79);
	CTS_ASSERT(cts_segment_wait64(ex, 16, 79));
	CTS_ASSERT(cts_importer_post(ex, 0) == RSM_SUCCESS);
	CTS_ASSERT(rsm_intr_signal_wait(ex, 2000) == RSM_SUCCESS);
	CTS_ASSERT(rsm_intr_signal_post(ex, 0) == RSM_SUCCESS);
	CTS_ASSERT(cts_importer_wait(ex, 2000) == RSM_SUCCESS);
	CTS_ASSERT(cts_importer_wait(ex, 0) == RSMERR_TIMEOUT);
	CTS_ASSERT(cts_importer_disconnect(ex) == RSMERR_SEG_STILL_MAPPED);
	CTS_ASSERT(cts_connect_from(cts_peer(), ex, RSM_PERM_READ) == RSM_SUCCESS);
	CTS_ASSERT(cts_connect_from(cts_peer(), cts_fx_published_acl(1, 0, EVERYBODY),
				    RSM_PERM_READ) == RSMERR_SEG_NOT_PUBLISHED_TO_NODE);
	cts_importer_kill(ex);
}

static void exporting_peer(void)
{
	struct cts_peer_segment s = cts_fx_peer_segment(1, EVERYBODY);

	CTS_ASSERT(reads(cts_fx_imported_from(s, RDWR), 3));
	CTS_ASSERT(cts_peer_segment_destroy(s) == RSM_SUCCESS);
	CTS_ASSERT(cts_fx_peer_segment_own_node(1, EVERYBODY).node == cts_fx_own_node());
	CTS_ASSERT(cts_fx_peer_segment_only_for(1, 1, EVERYBODY).node == 1);
	CTS_ASSERT(cts_peer_segment_unpublish(cts_fx_peer_segment_closed(1, EVERYBODY)) ==
		   RSMERR_SEG_NOT_PUBLISHED);
}

static void imports(void)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(2, RDWR);
	unsigned char byte;

	CTS_ASSERT(reads(im, 3) && cts_segment_is(im, 0, 2 * cts_page_size(), 3, 0));
	CTS_ASSERT(cts_exporter_node(im) == 1 && cts_exporter(im) == cts_peer());
	CTS_ASSERT(get_byte(cts_fx_imported_bare(1, RDWR), &byte) == RSMERR_BARRIER_UNINITIALIZED);
	CTS_ASSERT(reads(cts_fx_imported_explicit(1, RSM_PERM_READ), 3));
	CTS_ASSERT(reads(cts_fx_imported_again(im, RSM_PERM_READ), 3));
	CTS_ASSERT(reads(cts_fx_imported_own(1, RDWR), 2));
	CTS_ASSERT(reads(cts_fx_imported_own_node(1, RDWR), 3));
	CTS_ASSERT(get_byte(cts_fx_imported(1, RSM_PERM_WRITE), &byte) == RSMERR_PERM_DENIED);
	rsm_memseg_import_handle_t mapped = cts_fx_import_mapped(2, RDWR);
	CTS_ASSERT(cts_is_pattern(cts_import_address(mapped), 2 * cts_page_size(), 3));
	CTS_ASSERT(rsm_memseg_import_disconnect(mapped) == RSMERR_SEG_STILL_MAPPED);
	CTS_ASSERT(rsm_memseg_import_disconnect(cts_fx_import_polled(1, RDWR)) ==
		   RSMERR_POLLFD_IN_USE);
	CTS_ASSERT(rsm_memseg_import_disconnect(cts_fx_import_connected()) == RSM_SUCCESS);
	CTS_ASSERT(cts_import_address(cts_fx_import_with_map()));
}

static void other_order(void)
{
	rsm_memseg_import_handle_t im = cts_fx_imported_other_order(1, RDWR);
	uint32_t value = 0x01020304;

	CTS_ASSERT(rsm_memseg_import_put32(im, 0, &value, 1) == RSM_SUCCESS);
	CTS_ASSERT((uint32_t)cts_segment_peek64(im, 0) == 0x04030201);
}

static void relay(void)
{
	cts_need("root");
	CTS_ASSERT(reads(cts_fx_import_relay(1, RDWR), 3));
	CTS_ASSERT(cts_fx_peer_segment_other_user(1, EVERYBODY).node == 1);
}

static void behind_an_import(void)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RDWR);

	cts_segment_fill(im, 8, 8, 9, 0);
	CTS_ASSERT(cts_segment_is(im, 8, 8, 9, 0));
	cts_segment_set(im, 0, 8, 5);
	CTS_ASSERT(cts_segment_is_byte(im, 0, 8, 5));
	CTS_ASSERT(cts_segment_has_no_signal(im));
	CTS_ASSERT(cts_segment_post(im, 0) == RSM_SUCCESS);
	CTS_ASSERT(rsm_intr_signal_wait(im, 2000) == RSM_SUCCESS);
	CTS_ASSERT(cts_segment_republish(im, 0, EVERYBODY) == RSM_SUCCESS);
	CTS_ASSERT(cts_segment_rebind(im, 4) == RSM_SUCCESS && reads(im, 4));
	CTS_ASSERT(cts_segment_unpublish(im) == RSM_SUCCESS);
	CTS_ASSERT(cts_segment_publish_again(im) == RSM_SUCCESS);
	CTS_ASSERT(reads(cts_fx_imported_again(im, RDWR), 4));
}

static void ended(void)
{
	unsigned char byte;

	CTS_ASSERT(get_byte(cts_fx_import_unpublished(1, RDWR), &byte) == RSMERR_CONN_ABORTED);
	CTS_ASSERT(get_byte(cts_fx_import_destroyed(1, RDWR), &byte) == RSMERR_CONN_ABORTED);
	CTS_ASSERT(cts_is_loss(get_byte(cts_fx_import_killed(1, RDWR), &byte)));
	CTS_ASSERT(get_byte(cts_fx_import_lost(1, RDWR), &byte) == RSMERR_CONN_ABORTED);
	CTS_ASSERT(get_byte(cts_fx_import_aborted(), &byte) == RSMERR_CONN_ABORTED);
	CTS_ASSERT(get_byte(cts_fx_import_disconnected(), &byte) == RSMERR_BAD_SEG_HNDL);
}

static void node_lost(void)
{
	unsigned char byte;

	CTS_ASSERT(cts_is_loss(get_byte(cts_fx_import_node_lost(1, RDWR), &byte)));
}

static void node_down(void)
{
	rsm_node_id_t node = cts_fx_down_node();

	CTS_ASSERT(node == 1 && cts_node_count() == 1);
}

static void barriers(void)
{
	rsm_memseg_import_handle_t im = cts_fx_imported_bare(1, RDWR);

	CTS_ASSERT(rsm_memseg_import_open_barrier(cts_fx_barrier(im)) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_close_barrier(cts_fx_barrier_open(im)) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_close_barrier(cts_fx_barrier_closed(im)) ==
		   RSMERR_BARRIER_NOT_OPENED);
	CTS_ASSERT(rsm_memseg_import_close_barrier(cts_fx_barrier_zeroed()) ==
		   RSMERR_BARRIER_UNINITIALIZED);
	CTS_ASSERT(rsm_memseg_import_close_barrier(cts_fx_barrier_destroyed(im)) ==
		   RSMERR_BARRIER_UNINITIALIZED);
}

static void vectors(void)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(2, RDWR);
	rsmapi_controller_handle_t controller = cts_fx_controller("scif0");
	unsigned char *local = cts_fx_pages(1);
	rsm_localmemory_handle_t handle = cts_fx_localmem(controller, local, cts_page_size());
	rsm_iovec_t *entries = cts_fx_vector(2);

	entries[0] = cts_handle_entry(handle, 0, 0, 16);
	entries[1] = cts_va_entry(local, 16, 16, 16);
	rsm_scat_gath_t request = cts_fx_scat_gath(im, entries, 2, 0);
	CTS_ASSERT(rsm_memseg_import_putv(&request) == RSM_SUCCESS);
	CTS_ASSERT(request.io_residual_count == 0 && cts_segment_is(im, 0, 32, 2, 0));
	CTS_ASSERT(rsm_free_localmemory_handle(controller, handle) == RSM_SUCCESS);
	handle = cts_fx_localmem_freed(controller, local, cts_page_size());
	CTS_ASSERT(rsm_free_localmemory_handle(controller, handle) == RSMERR_BAD_LOCALMEM_HNDL);
}

static void waits(void)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RDWR);
	struct pollfd entry = cts_fx_pollfd_of(im);
	struct cts_thread *t = cts_fx_waiting(im, -1);

	CTS_ASSERT(entry.fd >= 0 && cts_is_open(entry.fd));
	CTS_ASSERT(cts_segment_post(im, 0) == RSM_SUCCESS);
	CTS_ASSERT(cts_join(t).ret == RSM_SUCCESS);
}

static void stalls(void)
{
	cts_need("userfaultfd");
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RDWR);
	struct cts_stall *put = cts_fx_stalled_put(im), *get;

	CTS_ASSERT(cts_stall_pending(put));
	cts_stall_release(put);
	CTS_ASSERT(cts_stall_join(put).ret == RSM_SUCCESS);
	CTS_ASSERT(cts_segment_is(im, 0, cts_page_size(), 7, 0));
	get = cts_fx_stalled_get(im);
	cts_stall_release(get);
	CTS_ASSERT(cts_stall_join(get).ret == RSM_SUCCESS);
}

static void in_a_child(void)
{
	rsm_memseg_export_handle_t ex = cts_fx_published(1);

	cts_become_child();
	CTS_OBSERVE_ERROR(rsm_memseg_export_unpublish(ex), RSMERR_NOT_CREATOR);
}

#define FIXTURES(name)                                                                             \
	{                                                                                          \
		.id = #name, .function = "rsm_get_controller", .outcome = "reached",               \
		.scenario = name                                                                   \
	}

const struct cts_case cts_cases[] = {
	FIXTURES(controllers),	  FIXTURES(segment_ids),    FIXTURES(exports),
	FIXTURES(importing_peer), FIXTURES(exporting_peer), FIXTURES(imports),
	FIXTURES(other_order),	  FIXTURES(relay),	    FIXTURES(behind_an_import),
	FIXTURES(ended),	  FIXTURES(node_lost),	    FIXTURES(node_down),
	FIXTURES(barriers),	  FIXTURES(vectors),	    FIXTURES(waits),
	FIXTURES(stalls),	  FIXTURES(in_a_child),
};
const int cts_case_count = sizeof cts_cases / sizeof *cts_cases;
