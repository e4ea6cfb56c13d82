/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the test runtime that belongs to RSMAPI: controllers, segments of ours and of the
 * peer, what is behind a handle, and the fixtures of spec/rsm-vocabulary.yaml. Only the public
 * interface is used below this header, so it works on any implementation.
 *
 * A result of the peer (struct cts_result) has ret -1 and the RSMERR value in err when the call
 * failed there; helpers that return int give the RSMERR value of a call, RSM_SUCCESS included.
 */
#ifndef CTS_RSM_H
#define CTS_RSM_H

#include "cts.h"
#include "rsmapi.h"

extern const struct cts_api cts_api_rsm;

/* A segment that a peer has published. */
struct cts_peer_segment {
	rsm_node_id_t node;
	rsm_memseg_id_t id;
	size_t len, pages;
	uint64_t there;	 /* address of its memory in the peer's process */
	uint64_t handle; /* the peer's export handle */
	uint64_t controller;
	struct cts_peer *peer;
};

/* CTS_OBSERVE, and FAIL (the case ends) unless the call returned VALUE. */
#define CTS_OBSERVE_VALUE(call, value)                                                             \
	cts_expect_value(CTS_OBSERVE(call), (value), #call " gives " #value)
struct cts_result cts_expect_value(struct cts_result r, int value, const char *text);

/* RSMERR_BARRIER_FAILURE or RSMERR_CONN_ABORTED */
bool cts_is_loss(int value);
/* "RSMERR_BAD_LENGTH" */
const char *cts_rsm_name(int value);

/* An exception to the oracle of error cases, for set-up statements: that segment may be another
 * after the failing call. */
void cts_may_change_segment(const void *handle);

/* What is behind a handle. */

/*
 * `handle` is any handle that a fixture gave: the segment behind an export of ours lies in our
 * memory, that behind an import in the exporter's, which is asked through its peer unless we export
 * it ourselves. `at` counts bytes from the base of the segment.
 */
unsigned char *cts_segment_memory(const void *handle); /* of an export, or an import of our own */
size_t cts_segment_length(const void *handle);
rsm_memseg_id_t cts_segment_id(const void *handle);
bool cts_segment_is(const void *handle, size_t at, size_t n, unsigned seed, size_t from);
bool cts_segment_is_byte(const void *handle, size_t at, size_t n, int byte);
void cts_segment_fill(const void *handle, size_t at, size_t n, unsigned seed, size_t from);
void cts_segment_set(const void *handle, size_t at, size_t n, int byte);
uint64_t cts_segment_peek64(const void *handle, size_t at);
void cts_segment_poke64(const void *handle, size_t at, uint64_t value);
bool cts_segment_wait64(const void *handle, size_t at, uint64_t value); /* bounded */

/* The exporter behind our import. */

struct cts_peer *cts_exporter(rsm_memseg_import_handle_t im);
rsm_node_id_t cts_exporter_node(rsm_memseg_import_handle_t im);
rsm_memseg_id_t cts_exporter_id(rsm_memseg_import_handle_t im);
struct cts_peer_segment *cts_peer_segment_of(rsm_memseg_import_handle_t im);
/* our address of an import that an import_mapped or import_mapping fixture mapped */
unsigned char *cts_import_address(rsm_memseg_import_handle_t im);
/* the barrier that the import fixture initialised */
rsmapi_barrier_t *cts_import_barrier(rsm_memseg_import_handle_t im);
/* Calls of the exporter on its handle. node -1: an empty list; perm as digits (0666). */
int cts_segment_unpublish(rsm_memseg_import_handle_t im);
int cts_segment_publish_again(rsm_memseg_import_handle_t im); /* same id, same list */
int cts_segment_republish(rsm_memseg_import_handle_t im, int node, rsm_permission_t perm);
/* to new memory, filled with that pattern; cts_segment_* look there from then on */
int cts_segment_rebind(rsm_memseg_import_handle_t im, unsigned seed);
int cts_segment_destroy(rsm_memseg_import_handle_t im);
int cts_segment_post(rsm_memseg_import_handle_t im, unsigned flags);
int cts_segment_wait(rsm_memseg_import_handle_t im, int timeout_ms);
/* The exporter has no event that is counted or under way: one of ours is the only one it gets. */
bool cts_segment_has_no_signal(rsm_memseg_import_handle_t im);
/* Waits (bounded) until a signal is pending at our handle, an import or a published export; it is
 * not taken. */
void cts_await_signal(void *handle);
void cts_segment_kill(rsm_memseg_import_handle_t im);		    /* and waits until it is gone */
void cts_segment_stop(rsm_memseg_import_handle_t im, bool stopped); /* SIGSTOP, SIGCONT */
/* its node by the node adapter: "down", "sleep", "up" */
void cts_segment_node(rsm_memseg_import_handle_t im, const char *state);
/* Lets the time pass that an implementation may take to notice what has happened already. */
void cts_let_notice(void);

/* Segments published by any peer: rsm_memseg_export_unpublish and _destroy there. */
int cts_peer_segment_unpublish(struct cts_peer_segment s);
int cts_peer_segment_destroy(struct cts_peer_segment s);

/* The peer that has connected to our export: published_imported, published_mapped. */

struct cts_peer *cts_importer(rsm_memseg_export_handle_t ex);
uint64_t cts_importer_handle(rsm_memseg_export_handle_t ex); /* its import handle */
int cts_importer_post(rsm_memseg_export_handle_t ex, unsigned flags);
int cts_importer_wait(rsm_memseg_export_handle_t ex, int timeout_ms);
int cts_importer_put64(rsm_memseg_export_handle_t ex, size_t at, uint64_t value);
int cts_importer_get64(rsm_memseg_export_handle_t ex, size_t at, uint64_t *value);
/* through its mapping */
uint64_t cts_importer_peek64(rsm_memseg_export_handle_t ex, size_t at);
void cts_importer_poke64(rsm_memseg_export_handle_t ex, size_t at, uint64_t value);
int cts_importer_disconnect(rsm_memseg_export_handle_t ex);
void cts_importer_kill(rsm_memseg_export_handle_t ex);
void cts_importer_stop(rsm_memseg_export_handle_t ex, bool stopped);
/* What a peer gets that connects to our export; it disconnects again. */
int cts_connect_from(struct cts_peer *p, rsm_memseg_export_handle_t ex, rsm_permission_t perm);

/* The peer's controller of that name, its handle there; got on first use. */
uint64_t cts_peer_controller(struct cts_peer *p, const char *name);
/* Begins rsm_intr_signal_wait in a thread. */
struct cts_thread *cts_begin_wait(const void *handle, int timeout_ms);

/* Vectors. */

rsm_iovec_t cts_va_entry(void *vaddr, size_t local_offset, size_t remote_offset, size_t length);
rsm_iovec_t cts_handle_entry(rsm_localmemory_handle_t handle, size_t local_offset,
			     size_t remote_offset, size_t length);

/* Fixtures: spec/rsm-vocabulary.yaml says what each one is. */

rsmapi_controller_handle_t cts_fx_controller(const char *name);
rsmapi_controller_handle_t cts_fx_controller_released(const char *name);
void *cts_fx_garbage(void);
void *cts_fx_no_handle(void);
rsm_node_id_t cts_fx_own_node(void);
rsm_node_id_t cts_fx_peer_node(void);
rsm_node_id_t cts_fx_absent_node(void);
rsm_node_id_t cts_fx_down_node(void);
rsm_memseg_id_t cts_fx_free_segment_id(void);
rsm_memseg_id_t cts_fx_taken_segment_id(void);
rsm_topology_t *cts_fx_topology(void);
const char *cts_fx_segmentid_file(const char *text);
const char *cts_fx_segmentid_path(const char *path);

rsm_memseg_export_handle_t cts_fx_exported(size_t pages);
rsm_memseg_export_handle_t cts_fx_exported_rebindable(size_t pages);
rsm_memseg_export_handle_t cts_fx_exported_on(rsmapi_controller_handle_t controller, size_t pages,
					      unsigned flags);
rsm_memseg_export_handle_t cts_fx_exported_over(void *addr, size_t bytes, unsigned flags);
rsm_memseg_export_handle_t cts_fx_published(size_t pages);
rsm_memseg_export_handle_t cts_fx_published_rebindable(size_t pages);
rsm_memseg_export_handle_t cts_fx_published_on(rsmapi_controller_handle_t controller, size_t pages);
rsm_memseg_export_handle_t cts_fx_published_acl(size_t pages, int node, rsm_permission_t perm);
rsm_memseg_export_handle_t cts_fx_published_imported(size_t pages);
rsm_memseg_export_handle_t cts_fx_published_mapped(size_t pages);
rsm_memseg_export_handle_t cts_fx_published_polled(size_t pages);
rsm_memseg_export_handle_t cts_fx_unpublished(size_t pages);
rsm_memseg_export_handle_t cts_fx_export_destroyed(void);
rsm_memseg_export_handle_t cts_fx_export_new(void);
rsm_memseg_export_handle_t cts_fx_export_published(void);
rsm_memseg_export_handle_t cts_fx_export_unpublished(void);

struct cts_peer_segment cts_fx_peer_segment(size_t pages, rsm_permission_t perm);
struct cts_peer_segment cts_fx_peer_segment_own_node(size_t pages, rsm_permission_t perm);
struct cts_peer_segment cts_fx_peer_segment_closed(size_t pages, rsm_permission_t perm);
struct cts_peer_segment cts_fx_peer_segment_only_for(size_t pages, int node, rsm_permission_t perm);
struct cts_peer_segment cts_fx_peer_segment_other_user(size_t pages, rsm_permission_t perm);
struct cts_peer_segment cts_fx_peer_segment_on(int node, size_t pages, rsm_permission_t perm);

rsm_memseg_import_handle_t cts_fx_imported(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_imported_bare(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_imported_explicit(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_imported_from(struct cts_peer_segment s, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_imported_again(rsm_memseg_import_handle_t im,
						 rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_imported_own(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_imported_own_bare(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_imported_own_node(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_imported_other_order(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_import_relay(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_import_mapped(size_t pages, rsm_permission_t perm);
unsigned char *cts_fx_import_mapping(rsm_memseg_import_handle_t im, off_t offset, size_t length,
				     rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_import_unpublished(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_import_destroyed(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_import_killed(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_import_lost(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_import_node_lost(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_import_disconnected(void);
rsm_memseg_import_handle_t cts_fx_import_polled(size_t pages, rsm_permission_t perm);
rsm_memseg_import_handle_t cts_fx_import_connected(void);
rsm_memseg_import_handle_t cts_fx_import_with_map(void);
rsm_memseg_import_handle_t cts_fx_import_aborted(void);

rsmapi_barrier_t *cts_fx_barrier(rsm_memseg_import_handle_t im);
rsmapi_barrier_t *cts_fx_barrier_open(rsm_memseg_import_handle_t im);
rsmapi_barrier_t *cts_fx_barrier_closed(rsm_memseg_import_handle_t im);
rsmapi_barrier_t *cts_fx_barrier_zeroed(void);
rsmapi_barrier_t *cts_fx_barrier_destroyed(rsm_memseg_import_handle_t im);

rsm_localmemory_handle_t cts_fx_localmem(rsmapi_controller_handle_t controller, void *addr,
					 size_t length);
rsm_localmemory_handle_t cts_fx_localmem_freed(rsmapi_controller_handle_t controller, void *addr,
					       size_t length);
rsm_iovec_t *cts_fx_vector(size_t entries);
rsm_scat_gath_t cts_fx_scat_gath(rsm_memseg_import_handle_t im, rsm_iovec_t *entries,
				 unsigned long count, unsigned flags);
struct pollfd cts_fx_pollfd_of(const void *handle);
struct cts_thread *cts_fx_waiting(const void *handle, int timeout_ms);
struct cts_stall *cts_fx_stalled_put(rsm_memseg_import_handle_t im);
struct cts_stall *cts_fx_stalled_get(rsm_memseg_import_handle_t im);

#endif
