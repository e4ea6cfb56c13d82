/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mappings of imported segments, at most one for each import. Under a mapping the memory changes:
 * after a rebind it is the segment's new memory, after the end of the connection nobody's. The
 * addresses stay mapped all the time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "caller_memory.h"
#include "handle.h"
#include "import.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int prot_of(rsm_permission_t perm)
{
	return (perm & RSM_PERM_READ ? SCIF_PROT_READ : 0) |
	       (perm & RSM_PERM_WRITE ? SCIF_PROT_WRITE : 0);
}

static bool put_scrap(const struct mapping *map, int how)
{
	int prot = (map->prot & SCIF_PROT_READ ? PROT_READ : 0) |
		   (map->prot & SCIF_PROT_WRITE ? PROT_WRITE : 0);

	return mmap(map->address, map->length, prot,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | how, -1, 0) != MAP_FAILED;
}

void mapping_scrap(struct import *m)
{
	struct mapping *map = &m->mapping;

	/*
	 * In one step, so that another thread's access never finds a hole. If it cannot be done the
	 * old memory stays, which harms nobody.
	 */
	if (map->address != NULL && !map->scrap)
		map->scrap = put_scrap(map, MAP_FIXED);
}

/*
 * libscif's mappings are not inherited by a forked child: whatever is mapped there next would take
 * the place. So the place is filled before anything else happens in the child.
 */
static void hold_place(struct segment *s, void *unused)
{
	struct mapping *map = &((struct import *)s)->mapping;

	(void)unused;
	if (map->address != NULL && !map->scrap)
		map->scrap = put_scrap(map, MAP_FIXED_NOREPLACE);
}

/* Where there are imports the lock is held: service.c takes it around every fork. */
static void hold_places(void)
{
	handle_each(SEGMENT_IMPORTS, hold_place, NULL);
}

/* Handlers of the child run in the order of their installation; libscif installs its own later. */
__attribute__((constructor)) static void install_hold(void)
{
	pthread_atfork(NULL, NULL, hold_places);
}

int mapping_renew(struct import *m)
{
	struct mapping *map = &m->mapping;
	off_t from = atomic_load(&m->window) + map->offset;
	int error;

	if (map->address == NULL)
		return 0;
	if (!m->relay && scif_mmap(map->address, map->length, map->prot, SCIF_MAP_FIXED,
				   m->channel.epd, from) != SCIF_MMAP_FAILED) {
		map->scrap = false;
		return 0;
	}
	error = m->relay ? EAGAIN : errno;
	mapping_scrap(m);
	return -error;
}

/* --- map --- */

struct map_request {
	void *address; /* fixed, or a suggestion */
	bool fixed;
	rsm_permission_t perm;
	off_t offset;
	size_t length;
};

static int check_map(const struct import *m, const struct map_request *r)
{
	size_t page = page_size();

	if (r->fixed && r->address == NULL)
		return RSMERR_BAD_ADDR;
	if (r->length == 0)
		return RSMERR_BAD_LENGTH;
	if (r->offset < 0 || (uint64_t)r->offset >= m->size)
		return RSMERR_BAD_OFFSET;
	if ((size_t)r->offset % page != 0 || (r->fixed && (uintptr_t)r->address % page != 0))
		return RSMERR_BAD_MEM_ALIGNMENT;
	if (r->length > m->size - (uint64_t)r->offset)
		return RSMERR_BAD_LENGTH;
	if (r->perm == 0 || (r->perm & ~m->permission) != 0)
		return RSMERR_BAD_PERMS;
	return RSM_SUCCESS;
}

static int map_failed(int error)
{
	switch (error) {
	case ECONNRESET:
	case ENODEV:
	case ENXIO: /* the exporter has cut us off */
	case ENOTCONN:
	case EBADF:
	case ENOTTY:
		return RSMERR_CONN_ABORTED;
	case EACCES:
		return RSMERR_BAD_PERMS;
	default:
		return RSMERR_MAP_FAILED;
	}
}

struct range {
	uintptr_t first, last_end;
	bool taken;
};

static void visit_mapping(struct segment *s, void *arg)
{
	const struct mapping *map = &((struct import *)s)->mapping;
	struct range *range = arg;
	uintptr_t at = (uintptr_t)map->address;

	range->taken |= at != 0 && at < range->last_end && at + map->length > range->first;
}

/* A mapping of another import keeps its place: what happens to that one must not show in this. */
static bool place_taken(const struct map_request *r, size_t length)
{
	struct range range = {.first = (uintptr_t)r->address};

	if (!r->fixed || __builtin_add_overflow(range.first, length, &range.last_end))
		return false;
	handle_each(SEGMENT_IMPORTS, visit_mapping, &range);
	return range.taken;
}

/* Lock held: the window stays where it is. */
static int map_window(struct import *m, const struct map_request *r)
{
	size_t page = page_size(), length = (r->length + page - 1) / page * page;
	void *hint = (void *)((uintptr_t)r->address / page * page);
	void *address;

	if (m->segment.closing)
		return RSMERR_SEG_NOT_CONNECTED;
	if (m->mapping.address != NULL)
		return RSMERR_SEG_ALREADY_MAPPED;
	if (atomic_load(&m->channel.state) != CHANNEL_UP)
		return RSMERR_CONN_ABORTED;
	if (m->relay || place_taken(r, length))
		return RSMERR_MAP_FAILED;
	address = scif_mmap(hint, length, prot_of(r->perm), r->fixed ? SCIF_MAP_FIXED : 0,
			    m->channel.epd, atomic_load(&m->window) + r->offset);
	if (address == SCIF_MMAP_FAILED)
		return map_failed(errno);
	m->mapping = (struct mapping){.address = address,
				      .length = length,
				      .offset = r->offset,
				      .prot = prot_of(r->perm)};
	return RSM_SUCCESS;
}

/* Lock held. 0 or -ENOMEM, and then it is still there. */
static int unmap_window(struct import *m)
{
	struct mapping *map = &m->mapping;

	/* A libscif may know only what it has mapped itself. */
	if (scif_munmap(map->address, map->length) != 0 && munmap(map->address, map->length) != 0)
		return -ENOMEM;
	*map = (struct mapping){0};
	return 0;
}

/* Without the lock: the caller's memory may keep us waiting. */
static int tell_address(struct import *m, void **place, void *address)
{
	if (caller_store(place, &address, sizeof(address)) == 0)
		return RSM_SUCCESS;
	service_lock();
	if (m->mapping.address == address)
		unmap_window(m);
	service_unlock();
	return RSMERR_BAD_ADDR;
}

static int map(struct import *m, void **place, struct map_request *r)
{
	void *address;
	int result;

	if (place == NULL || caller_fetch(&r->address, place, sizeof(r->address)) != 0 ||
	    caller_store(place, &r->address, sizeof(r->address)) != 0)
		return RSMERR_BAD_ADDR;
	result = check_map(m, r);
	if (result != RSM_SUCCESS)
		return result;
	import_state(m);
	service_lock();
	result = map_window(m, r);
	address = m->mapping.address;
	service_unlock();
	return result == RSM_SUCCESS ? tell_address(m, place, address) : result;
}

int rsm_memseg_import_map(rsm_memseg_import_handle_t im_memseg, void **address,
			  rsm_attribute_t attr, rsm_permission_t perm, off_t offset, size_t length)
{
	struct map_request request = {
		.fixed = attr & RSM_MAP_FIXED, .perm = perm, .offset = offset, .length = length};
	struct import *m = import_enter(im_memseg);
	int result;

	if (m == NULL)
		return handle_was(im_memseg, SEGMENT_IMPORT) ? RSMERR_SEG_NOT_CONNECTED
							     : RSMERR_BAD_SEG_HNDL;
	result = map(m, address, &request);
	import_leave(m);
	return result;
}

/* --- unmap --- */

static int unmap(struct import *m)
{
	if (m->mapping.address == NULL)
		return RSMERR_SEG_NOT_MAPPED;
	if (m->segment.pollfd_users > 0)
		return RSMERR_POLLFD_IN_USE;
	return unmap_window(m) == 0 ? RSM_SUCCESS : RSMERR_INSUFFICIENT_MEM;
}

int rsm_memseg_import_unmap(rsm_memseg_import_handle_t im_memseg)
{
	struct import *m = import_enter(im_memseg);
	int result;

	if (m == NULL)
		return RSMERR_BAD_SEG_HNDL;
	service_lock();
	result = unmap(m);
	service_unlock();
	import_leave(m);
	return result;
}
