/* SPDX-License-Identifier: BSD-2-Clause */
/* Barriers, vectors, local memory, descriptors and calls that wait. */
#include "rsm_segments.h"

#include <stdlib.h>

#define UNTOUCHED 0x5a5a

/* The oracle's own transfers would open and close what the case opens and closes. */
rsmapi_barrier_t *cts_fx_barrier(rsm_memseg_import_handle_t im)
{
	rsmapi_barrier_t *barrier = (void *)cts_fx_buffer(sizeof *barrier);

	rsm_must(rsm_memseg_import_init_barrier(im, RSM_BAR_DEFAULT, barrier),
		 "rsm_memseg_import_init_barrier");
	segment_find(im)->transfers = false;
	return barrier;
}

rsmapi_barrier_t *cts_fx_barrier_open(rsm_memseg_import_handle_t im)
{
	rsmapi_barrier_t *barrier = cts_fx_barrier(im);

	rsm_must(rsm_memseg_import_open_barrier(barrier), "rsm_memseg_import_open_barrier");
	return barrier;
}

rsmapi_barrier_t *cts_fx_barrier_closed(rsm_memseg_import_handle_t im)
{
	rsmapi_barrier_t *barrier = cts_fx_barrier_open(im);

	rsm_must(rsm_memseg_import_close_barrier(barrier), "rsm_memseg_import_close_barrier");
	return barrier;
}

rsmapi_barrier_t *cts_fx_barrier_zeroed(void)
{
	return (void *)cts_fx_buffer(sizeof(rsmapi_barrier_t));
}

rsmapi_barrier_t *cts_fx_barrier_destroyed(rsm_memseg_import_handle_t im)
{
	rsmapi_barrier_t *barrier = cts_fx_barrier(im);

	rsm_must(rsm_memseg_import_destroy_barrier(barrier), "rsm_memseg_import_destroy_barrier");
	return barrier;
}

rsm_localmemory_handle_t cts_fx_localmem(rsmapi_controller_handle_t controller, void *addr,
					 size_t length)
{
	rsm_localmemory_handle_t handle = NULL;

	rsm_must(rsm_create_localmemory_handle(controller, &handle, addr, length),
		 "rsm_create_localmemory_handle");
	return handle;
}

rsm_localmemory_handle_t cts_fx_localmem_freed(rsmapi_controller_handle_t controller, void *addr,
					       size_t length)
{
	rsm_localmemory_handle_t handle = cts_fx_localmem(controller, addr, length);

	rsm_must(rsm_free_localmemory_handle(controller, handle), "rsm_free_localmemory_handle");
	return handle;
}

rsm_iovec_t *cts_fx_vector(size_t entries)
{
	return (void *)cts_fx_guarded(entries * sizeof(rsm_iovec_t));
}

rsm_scat_gath_t cts_fx_scat_gath(rsm_memseg_import_handle_t im, rsm_iovec_t *entries,
				 unsigned long count, unsigned flags)
{
	return (rsm_scat_gath_t){
		.local_nodeid = cts_self_node(),
		.io_request_count = count,
		.io_residual_count = UNTOUCHED,
		.flags = flags,
		.remote_handle = im,
		.iovec = entries,
	};
}

rsm_iovec_t cts_va_entry(void *vaddr, size_t local_offset, size_t remote_offset, size_t length)
{
	return (rsm_iovec_t){
		.io_type = RSM_VA_TYPE,
		.local = {.vaddr = vaddr},
		.local_offset = local_offset,
		.remote_offset = remote_offset,
		.transfer_length = length,
	};
}

rsm_iovec_t cts_handle_entry(rsm_localmemory_handle_t handle, size_t local_offset,
			     size_t remote_offset, size_t length)
{
	return (rsm_iovec_t){
		.io_type = RSM_HANDLE_TYPE,
		.local = {.handle = handle},
		.local_offset = local_offset,
		.remote_offset = remote_offset,
		.transfer_length = length,
	};
}

struct pollfd cts_fx_pollfd_of(const void *handle)
{
	struct pollfd entry = {.fd = -1};

	rsm_must(rsm_memseg_get_pollfd((void *)(uintptr_t)handle, &entry), "rsm_memseg_get_pollfd");
	return entry;
}

/* ---- calls in threads ---- */

struct rsm_call {
	const void *handle;
	int timeout;
	void *p;
};

static struct cts_result do_wait(void *arg)
{
	const struct rsm_call *call = arg;

	return CTS_RESULT(rsm_intr_signal_wait((void *)(uintptr_t)call->handle, call->timeout));
}

static struct cts_result do_put(void *arg)
{
	const struct rsm_call *call = arg;

	return CTS_RESULT(rsm_memseg_import_put((void *)(uintptr_t)call->handle, 0, call->p,
						cts_page_size()));
}

static struct cts_result do_get(void *arg)
{
	const struct rsm_call *call = arg;

	return CTS_RESULT(rsm_memseg_import_get((void *)(uintptr_t)call->handle, 0, call->p,
						cts_page_size()));
}

static struct cts_thread *begin(struct cts_result (*fn)(void *arg), const void *handle, int timeout,
				void *p)
{
	struct rsm_call *call = malloc(sizeof *call);

	if (!call)
		cts_unresolved("no memory");
	*call = (struct rsm_call){handle, timeout, p};
	return cts_thread_start(fn, call);
}

struct cts_thread *cts_begin_wait(const void *handle, int timeout_ms)
{
	return begin(do_wait, handle, timeout_ms, NULL);
}

struct cts_thread *cts_fx_waiting(const void *handle, int timeout_ms)
{
	return thread_asleep(cts_begin_wait(handle, timeout_ms), "rsm_intr_signal_wait");
}

struct cts_stall *cts_fx_stalled_put(rsm_memseg_import_handle_t im)
{
	void *page;
	struct cts_stall *s = stall_local(&page);

	return stall_in_flight(s, begin(do_put, im, 0, page));
}

struct cts_stall *cts_fx_stalled_get(rsm_memseg_import_handle_t im)
{
	void *page;
	struct cts_stall *s = stall_local(&page);

	return stall_in_flight(s, begin(do_get, im, 0, page));
}
