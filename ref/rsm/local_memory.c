/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_create_localmemory_handle, rsm_free_localmemory_handle, and what a handle stands for. A
 * handle has the number of its place in a table and a serial number, by which a freed one is told
 * apart.
 */
#include "local_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "caller_memory.h"
#include "controller.h"
#include "service.h"

struct range {
	uint64_t handle; /* 0: the place is free */
	const struct rsm_controller *controller;
	char *start;
	size_t length;
};

/* Under the library lock; no table while there is no handle. */
static struct range *table;
static size_t places, used;
static uint64_t serial;

enum { PLACE_BITS = 20, SERIAL_BITS = 28, PLACES_MOST = 1 << PLACE_BITS, PLACES_FIRST = 16 };

/* No pointer has these bits, and no handle of a segment. */
#define TAG ((uint64_t)0x4c4d << (PLACE_BITS + SERIAL_BITS))

_Static_assert(sizeof(void *) == sizeof(uint64_t), "a handle holds tag, serial number and place");

static uint64_t new_handle(size_t place)
{
	serial = (serial + 1) % (1 << SERIAL_BITS);
	return TAG | serial << PLACE_BITS | place;
}

static bool grow(void)
{
	size_t more = places == 0 ? PLACES_FIRST : 2 * places;
	struct range *larger = NULL;

	if (more <= PLACES_MOST)
		larger = reallocarray(table, more, sizeof(table[0]));
	if (larger == NULL)
		return false;
	for (size_t i = places; i < more; i++)
		larger[i].handle = 0;
	table = larger;
	places = more;
	return true;
}

/* The range's handle, or 0 if there is no memory for one. */
static uint64_t add(struct range range)
{
	size_t place = used;

	if (used == places && !grow())
		return 0;
	/* Places fill up from the start, so the first one looked at is free unless some were freed.
	 */
	while (table[place % places].handle != 0)
		place++;
	place %= places;
	range.handle = new_handle(place);
	table[place] = range;
	used++;
	return range.handle;
}

static struct range *look_up(rsm_localmemory_handle_t handle)
{
	uint64_t bits = (uintptr_t)handle;
	size_t place = bits % PLACES_MOST;

	if (bits == 0 || place >= places || table[place].handle != bits)
		return NULL;
	return &table[place];
}

static void drop(struct range *range)
{
	range->handle = 0;
	if (--used > 0)
		return;
	free(table);
	table = NULL;
	places = 0;
}

/* RSMERR_BAD_LENGTH, RSMERR_BAD_OFFSET or RSM_SUCCESS; sums cannot overflow. */
static int check_piece(const struct range *range, size_t offset, size_t length)
{
	if (offset > range->length || (offset == range->length && length > 0))
		return RSMERR_BAD_OFFSET;
	if (length > range->length - offset)
		return RSMERR_BAD_LENGTH;
	return RSM_SUCCESS;
}

static int resolve_locked(rsm_localmemory_handle_t handle, const struct rsm_controller *controller,
			  size_t offset, size_t length, void **addr)
{
	const struct range *range = look_up(handle);
	int rc;

	if (range == NULL)
		return RSMERR_BAD_SGIO;
	if (range->controller != controller || controller_released(controller))
		return RSMERR_BAD_CTLR_HNDL;
	rc = check_piece(range, offset, length);
	if (rc == RSM_SUCCESS)
		*addr = range->start + offset;
	return rc;
}

int local_memory_resolve(rsm_localmemory_handle_t handle, const struct rsm_controller *controller,
			 size_t offset, size_t length, void **addr)
{
	int rc;

	service_lock();
	rc = resolve_locked(handle, controller, offset, length, addr);
	service_unlock();
	return rc;
}

/* msync without a wait has no effect but to tell whether all of the range is mapped. */
static bool is_mapped(char *start, size_t length)
{
	int saved = errno;
	bool mapped = msync(start, length, MS_ASYNC) == 0;

	errno = saved;
	return mapped;
}

static int check_range(const struct range *range)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (range->length == 0 || range->length > UINTPTR_MAX - (uintptr_t)range->start)
		return RSMERR_BAD_LENGTH;
	if (range->start == NULL || (uintptr_t)range->start % page != 0)
		return RSMERR_BAD_ADDR;
	return is_mapped(range->start, range->length) ? RSM_SUCCESS : RSMERR_BAD_ADDR;
}

int rsm_create_localmemory_handle(rsmapi_controller_handle_t cntrl_handle,
				  rsm_localmemory_handle_t *local_handle, caddr_t local_vaddr,
				  size_t length)
{
	struct range range = {.start = local_vaddr, .length = length};
	struct rsm_controller *controller;
	rsm_localmemory_handle_t handle;
	int rc = controller_check(cntrl_handle, &controller);

	if (rc != RSM_SUCCESS)
		return rc;
	if (local_handle == NULL)
		return RSMERR_BAD_LOCALMEM_HNDL;
	rc = check_range(&range);
	if (rc != RSM_SUCCESS)
		return rc;
	range.controller = controller;
	service_lock();
	handle = (rsm_localmemory_handle_t)(uintptr_t)add(range);
	service_unlock();
	if (handle == NULL)
		return RSMERR_INSUFFICIENT_MEM;
	if (caller_store(local_handle, &handle, sizeof(handle)) == 0)
		return RSM_SUCCESS;
	service_lock();
	drop(look_up(handle));
	service_unlock();
	return RSMERR_BAD_ADDR;
}

static int free_locked(const struct rsm_controller *controller, rsm_localmemory_handle_t handle)
{
	struct range *range = look_up(handle);

	if (range == NULL)
		return RSMERR_BAD_LOCALMEM_HNDL;
	if (range->controller != controller)
		return RSMERR_BAD_CTLR_HNDL;
	drop(range);
	return RSM_SUCCESS;
}

int rsm_free_localmemory_handle(rsmapi_controller_handle_t cntrl_handle,
				rsm_localmemory_handle_t handle)
{
	struct rsm_controller *controller;
	int rc = controller_check(cntrl_handle, &controller);

	if (rc != RSM_SUCCESS)
		return rc;
	service_lock();
	rc = free_locked(controller, handle);
	service_unlock();
	return rc;
}
