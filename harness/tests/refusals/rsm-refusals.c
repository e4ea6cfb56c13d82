/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A life of librsm: a process that imports a segment of another node and does everything with it, and one that exports
 * a segment which a process of another node imports over and over.
 */
#include <poll.h>
#include <rsmapi.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "refuse.h"

enum { ID = 0x700123, SIZE = 65536, MOST_CALLS = 1000 };

static bool tolerant;

/* What a call may say that is refused something, or whose other party is not what it was. */
static bool is_shortage(int error)
{
	switch (error) {
	case RSMERR_INSUFFICIENT_MEM:
	case RSMERR_INSUFFICIENT_RESOURCES:
	case RSMERR_CTLR_NOT_PRESENT:
	case RSMERR_REMOTE_NODE_UNREACHABLE:
	case RSMERR_CONN_ABORTED:
	case RSMERR_SEG_NOT_PUBLISHED:
	case RSMERR_MAP_FAILED:
	case RSMERR_BARRIER_OPEN_FAILED:
	case RSMERR_BARRIER_FAILURE:
	case RSMERR_TIMEOUT:
	case RSMERR_INTERRUPTED:
		return true;
	default:
		return false;
	}
}

static bool well(const char *call, int error)
{
	if (error == RSM_SUCCESS)
		return true;
	if (!tolerant || !is_shortage(error))
		refuse_say(" %s gave %d%s;", call, error,
			   tolerant ? "" : " although nothing was refused");
	return false;
}

static void *memory(void)
{
	void *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return bytes == MAP_FAILED ? NULL : bytes;
}

static bool move(rsm_memseg_import_handle_t segment)
{
	static char bytes[SIZE];
	uint64_t items[8] = {0};

	return well("put", rsm_memseg_import_put(segment, 0, bytes, SIZE)) &&
	       well("get", rsm_memseg_import_get(segment, 0, bytes, SIZE)) &&
	       well("put64", rsm_memseg_import_put64(segment, 64, items, 8)) &&
	       well("get64", rsm_memseg_import_get64(segment, 64, items, 8));
}

static bool move_vector(rsmapi_controller_handle_t controller, rsm_memseg_import_handle_t segment)
{
	rsm_iovec_t piece = {.io_type = RSM_HANDLE_TYPE, .remote_offset = 128, .transfer_length = 4096};
	rsm_scat_gath_t list = {.io_request_count = 1, .remote_handle = segment, .iovec = &piece};
	void *bytes = memory();
	bool good = bytes != NULL;

	good = good && well("create_localmemory_handle",
			    rsm_create_localmemory_handle(controller, &piece.local.handle, bytes, SIZE));
	if (good) {
		good = well("putv", rsm_memseg_import_putv(&list)) &&
		       well("getv", rsm_memseg_import_getv(&list));
		good &= well("free_localmemory_handle",
			     rsm_free_localmemory_handle(controller, piece.local.handle));
	}
	if (bytes)
		munmap(bytes, SIZE);
	return good;
}

static bool map(rsm_memseg_import_handle_t segment)
{
	volatile char *far;

	if (!well("map", rsm_memseg_import_map(segment, (void **)(uintptr_t)&far, RSM_MAP_NONE,
					       RSM_PERM_RDWR, 0, 8192)))
		return false;
	far[0] = far[1];
	return well("unmap", rsm_memseg_import_unmap(segment));
}

/* Every transfer is within an interval of a barrier, which is there as long as the segment is used. */
static bool within_barrier(rsmapi_controller_handle_t controller, rsm_memseg_import_handle_t segment)
{
	rsmapi_barrier_t b;
	bool good;

	if (!well("init_barrier", rsm_memseg_import_init_barrier(segment, RSM_BAR_DEFAULT, &b)))
		return false;
	good = well("set_mode", rsm_memseg_import_set_mode(segment, RSM_BARRIER_MODE_EXPLICIT)) &&
	       well("open_barrier", rsm_memseg_import_open_barrier(&b)) && move(segment) &&
	       move_vector(controller, segment) &&
	       well("order_barrier", rsm_memseg_import_order_barrier(&b)) && map(segment) &&
	       well("close_barrier", rsm_memseg_import_close_barrier(&b));
	return well("destroy_barrier", rsm_memseg_import_destroy_barrier(&b)) && good;
}

/* Posted to the exporter, and to the own side. */
static bool signals(rsm_memseg_import_handle_t segment)
{
	struct pollfd entry;

	if (!well("post", rsm_intr_signal_post(segment, 0)) ||
	    !well("get_pollfd", rsm_memseg_get_pollfd(segment, &entry)))
		return false;
	return well("release_pollfd", rsm_memseg_release_pollfd(segment));
}

static bool use(rsmapi_controller_handle_t controller)
{
	rsm_memseg_import_handle_t segment;
	bool good;
	int error;

	/* Its exporter may not be there yet. */
	while ((error = rsm_memseg_import_connect(controller, 1, ID, RSM_PERM_RDWR, &segment)) ==
	       RSMERR_SEG_NOT_PUBLISHED)
		sched_yield();
	if (!well("connect", error))
		return false;
	good = within_barrier(controller, segment) && signals(segment);
	return well("disconnect", rsm_memseg_import_disconnect(segment)) && good;
}

static bool serve(rsmapi_controller_handle_t controller)
{
	rsmapi_access_entry_t all = {.ae_node = 1, .ae_permission = RSM_PERM_RDWR};
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = ID;
	char *bytes = memory();
	bool good = bytes && well("create", rsm_memseg_export_create(controller, &segment, bytes, SIZE,
								      RSM_ALLOW_REBIND));

	if (good) {
		good = well("publish", rsm_memseg_export_publish(segment, &id, &all, 1));
		/* Somebody has been here. */
		good = good && well("signal_wait", rsm_intr_signal_wait(segment, 5000)) &&
		       well("republish", rsm_memseg_export_republish(segment, NULL, 0)) &&
		       well("rebind", rsm_memseg_export_rebind(segment, bytes, 0, SIZE)) &&
		       well("unpublish", rsm_memseg_export_unpublish(segment));
		good &= well("destroy", rsm_memseg_export_destroy(segment));
	}
	if (bytes)
		munmap(bytes, SIZE);
	return good;
}

static bool with_controller(bool (*act)(rsmapi_controller_handle_t))
{
	rsmapi_controller_handle_t controller;
	rsm_topology_t *topology;
	bool good;

	if (!well("get_controller", rsm_get_controller("scif0", &controller)))
		return false;
	good = act(controller);
	if (well("topology", rsm_get_interconnect_topology(&topology)))
		rsm_free_interconnect_topology(topology);
	else
		good = false;
	return well("release_controller", rsm_release_controller(controller)) && good;
}

/* For the party: no waiting for anybody in particular. */
static bool serve_all(rsmapi_controller_handle_t controller)
{
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = ID;
	char *bytes = memory();

	if (rsm_memseg_export_create(controller, &segment, bytes, SIZE, 0) ||
	    rsm_memseg_export_publish(segment, &id, NULL, 0))
		return false;
	for (;;)
		rsm_intr_signal_wait(segment, -1);
}

static bool use_far(rsmapi_controller_handle_t controller)
{
	rsm_memseg_import_handle_t segment;
	char bytes[64];

	if (rsm_memseg_import_connect(controller, 0, ID, RSM_PERM_RDWR, &segment))
		return false;
	rsm_memseg_import_put(segment, 0, bytes, sizeof(bytes));
	rsm_intr_signal_post(segment, 0);
	return rsm_memseg_import_disconnect(segment) == RSM_SUCCESS;
}

static void export_tolerantly(void)
{
	tolerant = true;
	with_controller(serve_all);
}

static void import_tolerantly(void)
{
	tolerant = true;
	with_controller(use_far);
}

static void start_exporter(void)
{
	refuse_start_party(export_tolerantly);
}

static void start_importer(void)
{
	refuse_start_party(import_tolerantly);
}

static bool importing_life(bool may_fail)
{
	tolerant = may_fail;
	return with_controller(use);
}

static bool exporting_life(bool may_fail)
{
	tolerant = may_fail;
	return with_controller(serve);
}

int main(void)
{
	static const struct refuse_life lives[] = {
		{"importing", MOST_CALLS, start_exporter, importing_life, refuse_end_party},
		{"exporting", MOST_CALLS, start_importer, exporting_life, refuse_end_party},
	};

	return refuse_all(lives, sizeof(lives) / sizeof(lives[0]));
}
