/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exports: create, destroy, and what a forked child keeps of them.
 */
#include "export.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "anchor.h"
#include "caller_memory.h"
#include "controller.h"
#include "exporter.h"
#include "handle.h"
#include "publication.h"

bool export_is_own(const struct export *e)
{
	return e->family == service_family();
}

bool export_is_published(const struct export *e)
{
	return export_is_own(e) && e->state == EXPORT_PUBLISHED;
}

int export_begin(struct export *e, bool interruptible)
{
	while (e->busy && !e->segment.closing)
		if (service_wait(UINT64_MAX, interruptible) == -EINTR)
			return RSMERR_INTERRUPTED;
	if (e->segment.closing)
		return RSMERR_BAD_SEG_HNDL;
	e->busy = true;
	return RSM_SUCCESS;
}

void export_end(struct export *e)
{
	e->busy = false;
	service_changed();
}

/* --- memory --- */

static int binding_error(int error)
{
	switch (error) {
	case -EFAULT:
	case -EINVAL:
		return RSMERR_BAD_ADDR;
	case -EACCES:
	case -EPERM:
		return RSMERR_PERM_DENIED;
	case -ENOMEM:
	case -EAGAIN:
		return RSMERR_INSUFFICIENT_MEM;
	default:
		return RSMERR_INSUFFICIENT_RESOURCES;
	}
}

static int register_memory(struct binding *b, size_t size, bool shared)
{
	b->window = anchor_register(b->vaddr, size);
	if (b->window >= 0)
		return RSM_SUCCESS;
	if (b->window != -EAGAIN || !shared)
		return binding_error((int)b->window);
	b->window = BINDING_UNSHARED;
	return RSM_SUCCESS;
}

int export_bind(struct binding *b, void *vaddr, size_t size)
{
	struct backing backing;
	int result, error = backing_look(vaddr, size, &backing);

	if (error != 0)
		return binding_error(error);
	b->vaddr = vaddr;
	result = register_memory(b, size, backing.shared);
	if (result != RSM_SUCCESS)
		return result;
	/* Registering may have put other memory there, which is what the print has to tell. */
	error = backing_look(vaddr, size, &backing);
	b->print = backing.print;
	if (error == 0)
		return RSM_SUCCESS;
	export_unbind(b, size);
	return binding_error(error);
}

void export_unbind(const struct binding *b, size_t size)
{
	if (b->window != BINDING_UNSHARED)
		anchor_unregister(b->window, size);
}

bool export_memory_in_place(const struct export *e)
{
	return backing_is(e->binding.vaddr, e->size, e->binding.print);
}

/* --- create --- */

/* RSM_BYTE_ORDER declares another order than the machine's. */
static bool declared_big_endian(void)
{
	const char *order = secure_getenv("RSM_BYTE_ORDER");

	if (order != NULL && strcasecmp(order, "big") == 0)
		return true;
	if (order != NULL && strcasecmp(order, "little") == 0)
		return false;
	return __BYTE_ORDER == __BIG_ENDIAN;
}

static int export_new(struct export **made)
{
	struct export *e = calloc(1, sizeof(*e));
	int error;

	if (e == NULL)
		return RSMERR_INSUFFICIENT_MEM;
	error = event_queue_init(&e->segment.events);
	if (error != 0) {
		free(e);
		return segment_shortage(error);
	}
	e->segment.kind = SEGMENT_EXPORT;
	e->family = service_family();
	e->owner = geteuid();
	e->group = getegid();
	e->mode = access_default_mode();
	e->big_endian = declared_big_endian();
	e->listener.epd = -1;
	*made = e;
	return RSM_SUCCESS;
}

static void export_free(struct export *e)
{
	event_queue_free(&e->segment.events);
	access_list_free(&e->access);
	free(e);
}

static void release_memory(struct export *e)
{
	export_unbind(&e->binding, e->size);
	anchor_release();
}

static int anchor_error(int error)
{
	return error == -ENXIO || error == -ENODEV ? RSMERR_CTLR_NOT_PRESENT
						   : segment_shortage(error);
}

/* Lock held, but not while the memory is registered, which may take long. */
static int establish(struct export *e, void *vaddr)
{
	int result, error = anchor_use();

	if (error != 0)
		return anchor_error(error);
	service_unlock();
	result = export_bind(&e->binding, vaddr, e->size);
	service_lock();
	if (result != RSM_SUCCESS) {
		anchor_release();
		return result;
	}
	if (handle_new(&e->segment) != NULL)
		return RSM_SUCCESS;
	release_memory(e);
	return RSMERR_INSUFFICIENT_RESOURCES;
}

static int create(struct rsm_controller *controller, void *vaddr, size_t size, unsigned flags,
		  void **handle)
{
	struct export *e;
	int result = export_new(&e);

	if (result != RSM_SUCCESS)
		return result;
	e->segment.controller = controller;
	e->size = size;
	e->flags = flags;
	service_lock();
	result = establish(e, vaddr);
	*handle = e->segment.handle;
	service_unlock();
	if (result != RSM_SUCCESS)
		export_free(e);
	return result;
}

bool export_aligned(uintptr_t value)
{
	return value % (uintptr_t)sysconf(_SC_PAGESIZE) == 0;
}

static int check_create(const rsm_memseg_export_handle_t *memseg, void *vaddr, size_t size)
{
	if (memseg == NULL)
		return RSMERR_BAD_SEG_HNDL;
	if (vaddr == NULL)
		return RSMERR_BAD_ADDR;
	if (size == 0)
		return RSMERR_BAD_LENGTH;
	if (!export_aligned((uintptr_t)vaddr) || !export_aligned(size))
		return RSMERR_BAD_MEM_ALIGNMENT;
	return size > controller_longest_segment() ? RSMERR_BAD_LENGTH : RSM_SUCCESS;
}

int rsm_memseg_export_create(rsmapi_controller_handle_t controller,
			     rsm_memseg_export_handle_t *memseg, void *vaddr, size_t size,
			     uint_t flags)
{
	struct rsm_controller *c;
	void *handle;
	int result = controller_check(controller, &c);

	if (result == RSM_SUCCESS)
		result = check_create(memseg, vaddr, size);
	if (result == RSM_SUCCESS)
		result = create(c, vaddr, size, flags, &handle);
	if (result != RSM_SUCCESS)
		return result;
	if (caller_store(memseg, &handle, sizeof(handle)) == 0)
		return RSM_SUCCESS;
	rsm_memseg_export_destroy(handle);
	return RSMERR_BAD_ADDR;
}

/* --- destroy --- */

/* Lock held, dropped meanwhile. Afterwards nobody enters. */
static int retire(struct export *e)
{
	int result = export_begin(e, false);

	if (result != RSM_SUCCESS)
		return result;
	if (e->segment.pollfd_users > 0) {
		export_end(e);
		return RSMERR_POLLFD_IN_USE;
	}
	handle_retire(&e->segment);
	if (export_is_own(e)) {
		publication_end(e, false);
		release_memory(e);
	}
	export_end(e);
	return RSM_SUCCESS;
}

int rsm_memseg_export_destroy(rsm_memseg_export_handle_t memseg)
{
	struct export *e = (struct export *)handle_enter(memseg, SEGMENT_EXPORTS);
	int result;

	if (e == NULL)
		return RSMERR_BAD_SEG_HNDL;
	service_lock();
	result = retire(e);
	service_unlock();
	if (result != RSM_SUCCESS) {
		handle_leave(&e->segment);
		return result;
	}
	event_queue_close(&e->segment.events);
	handle_drain(&e->segment);
	export_free(e);
	return RSM_SUCCESS;
}

/* --- fork --- */

/* The segment is the parent's. The endpoints of the copy are closed already. */
void export_atfork_child(struct segment *s)
{
	struct export *e = (struct export *)s;
	struct link *l, *next;

	for (l = e->links; l != NULL; l = next) {
		next = l->next;
		channel_atfork_child(&l->channel);
		free(l);
	}
	e->links = NULL;
	e->busy = false;
	e->state = EXPORT_BOUND;
	e->listener.epd = -1;
	e->listener.accepting = 0;
	e->guests = e->registering = 0;
	e->listener.watch.armed = false;
}
