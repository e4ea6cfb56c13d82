/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * putv and getv: several transfers with one connection, in order, up to the first that fails.
 */
#include <stddef.h>

#include "caller_memory.h"
#include "local_memory.h"
#include "signal_post.h"
#include "transfer.h"

/* The structure may be anywhere, also where it is not aligned. */
static int store_residual(rsm_scat_gath_t *user, ulong_t residual)
{
	char *place = (char *)user + offsetof(rsm_scat_gath_t, io_residual_count);

	return caller_store(place, &residual, sizeof(residual));
}

/* The residual count is written with what is there, so that it is known to be writable. */
static int fetch_vector(rsm_scat_gath_t *v, rsm_scat_gath_t *user)
{
	if (user == NULL || caller_fetch(v, user, sizeof(*v)) != 0 ||
	    store_residual(user, v->io_residual_count) != 0)
		return RSMERR_BAD_SGIO;
	return RSM_SUCCESS;
}

static int fetch_pieces(rsm_iovec_t pieces[RSM_MAX_SGIOREQS], const rsm_scat_gath_t *v)
{
	if (v->io_request_count == 0 || v->io_request_count > RSM_MAX_SGIOREQS)
		return RSMERR_BAD_SGIO;
	if (v->iovec == NULL ||
	    caller_fetch(pieces, v->iovec, v->io_request_count * sizeof(pieces[0])) != 0)
		return RSMERR_BAD_ADDR;
	return RSM_SUCCESS;
}

static int local_address(const struct import *m, const rsm_iovec_t *piece, void **address)
{
	uintptr_t at;

	if (piece->io_type == RSM_HANDLE_TYPE)
		return local_memory_resolve(piece->local.handle, m->segment.controller,
					    piece->local_offset, piece->transfer_length, address);
	if (piece->io_type != RSM_VA_TYPE)
		return RSMERR_BAD_SGIO;
	at = (uintptr_t)piece->local.vaddr;
	if (at == 0 || __builtin_add_overflow(at, piece->local_offset, &at))
		return RSMERR_BAD_ADDR;
	*address = (void *)at;
	return RSM_SUCCESS;
}

static int move_piece(struct import *m, const rsm_iovec_t *piece, bool put)
{
	struct transfer t = {
		.count = piece->transfer_length, .width = 1, .put = put, .interruptible = true};
	int result = local_address(m, piece, &t.data);

	if (result != RSM_SUCCESS)
		return result;
	if (piece->remote_offset > INT64_MAX)
		return RSMERR_BAD_OFFSET;
	t.offset = (off_t)piece->remote_offset;
	return transfer_run(m, &t);
}

static int move_pieces(struct import *m, const rsm_scat_gath_t *v, rsm_scat_gath_t *user, bool put)
{
	rsm_iovec_t pieces[RSM_MAX_SGIOREQS];
	int result = fetch_pieces(pieces, v);
	ulong_t done = 0;

	if (result != RSM_SUCCESS)
		return result;
	while (done < v->io_request_count && result == RSM_SUCCESS) {
		result = move_piece(m, &pieces[done], put);
		done += result == RSM_SUCCESS;
	}
	/* Memory of the caller that has gone meanwhile cannot be told anything. */
	if (store_residual(user, v->io_request_count - done) != 0 && result == RSM_SUCCESS)
		result = RSMERR_BAD_SGIO;
	if (result == RSM_SUCCESS && v->flags & RSM_IMPLICIT_SIGPOST)
		result = signal_exporter(m, !(v->flags & RSM_SIGPOST_NO_ACCUMULATE));
	return result;
}

static int move_vector(rsm_scat_gath_t *user, bool put)
{
	rsm_scat_gath_t v;
	struct import *m;
	int result = fetch_vector(&v, user);

	if (result != RSM_SUCCESS)
		return result;
	m = import_enter(v.remote_handle);
	if (m == NULL)
		return RSMERR_BAD_SEG_HNDL;
	result = move_pieces(m, &v, user, put);
	import_leave(m);
	return result;
}

int rsm_memseg_import_putv(rsm_scat_gath_t *sg_io)
{
	return move_vector(sg_io, true);
}

int rsm_memseg_import_getv(rsm_scat_gath_t *sg_io)
{
	return move_vector(sg_io, false);
}
