/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles on local memory: names for ranges of addresses that scattered transfers can use. A handle
 * is a number that is never followed as a pointer.
 */
#ifndef RSM_LOCAL_MEMORY_H
#define RSM_LOCAL_MEMORY_H

#include <rsmapi.h>
#include <stddef.h>

struct rsm_controller;

/*
 * The address of a piece of the memory of a handle, for a transfer over a controller: RSM_SUCCESS,
 * RSMERR_BAD_SGIO if the handle is none, RSMERR_BAD_CTLR_HNDL if it belongs to another controller
 * or to a released one, RSMERR_BAD_OFFSET or RSMERR_BAD_LENGTH if the piece is not within its
 * memory. Takes the library lock.
 */
int local_memory_resolve(rsm_localmemory_handle_t handle, const struct rsm_controller *controller,
			 size_t offset, size_t length, void **addr);

#endif
