/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_memseg_export_rebind: other memory under a segment, while importers stay connected.
 */
#include <errno.h>
#include <rsmapi.h>

#include "exporter.h"
#include "handle.h"

static bool follows(const struct link *l)
{
	return l->admitted && !l->relay && !l->ending;
}

/* --- the new memory on every link, before anybody is told --- */

static void forget_prepared(struct export *e, void (*forget)(struct link *l, off_t window))
{
	for (struct link *l = e->links; l != NULL; l = l->next) {
		if (l->has_other)
			forget(l, l->other);
		l->has_other = false;
	}
}

/* 0 or -ENOMEM, -EAGAIN. A link that is gone is no reason to fail. */
static int prepare_links(struct export *e, void *vaddr)
{
	off_t window;

	for (struct link *l = e->links; l != NULL; l = l->next) {
		if (!follows(l))
			continue;
		window = link_register(l, vaddr);
		if (window == -ECONNRESET || window == -ENODEV)
			continue;
		if (window < 0) {
			forget_prepared(e, link_unregister);
			return (int)window;
		}
		l->other = window;
		l->has_other = true;
	}
	return 0;
}

/* --- moving --- */

static void tell(struct link *l)
{
	struct wire_message m = {.type = WIRE_REBIND, .offset = (uint64_t)l->window};

	link_ask(l, &m);
}

static void swap_windows(struct link *l)
{
	off_t window = l->window;

	l->window = l->other;
	l->other = window;
}

static void move_links(struct export *e)
{
	for (struct link *l = e->links; l != NULL; l = l->next) {
		if (!l->has_other)
			continue;
		swap_windows(l);
		tell(l);
	}
}

/* One that connected meanwhile has only seen the memory that is not to be. */
static bool follow_back(struct link *l, void *vaddr)
{
	if (!l->has_other) {
		l->other = link_register(l, vaddr);
		if (l->other < 0)
			return false;
		l->has_other = true;
	}
	swap_windows(l);
	l->close_other = true;
	return true;
}

static void move_links_back(struct export *e)
{
	for (struct link *l = e->links; l != NULL; l = l->next) {
		if (!follows(l))
			continue;
		l->prompt = !l->waiting;
		if (follow_back(l, e->binding.vaddr))
			tell(l);
		else
			link_abort(l);
	}
}

/* --- the call --- */

static int failed_on_links(int error)
{
	return error == -ENOMEM || error == -EAGAIN ? RSMERR_INSUFFICIENT_MEM
						    : RSMERR_INSUFFICIENT_RESOURCES;
}

/* Lock held, in the segment's operation, with the new memory on the anchor. */
static int change_over(struct export *e, const struct binding *to)
{
	struct binding from = e->binding;
	int error;

	/* Answers to an earlier rebind that was taken back must not be taken for answers to this.
	 */
	if (links_await(e, true) != 0)
		return RSMERR_INTERRUPTED;
	error = prepare_links(e, to->vaddr);
	if (error != 0)
		return failed_on_links(error);
	e->binding = *to;
	move_links(e);
	if (links_await(e, true) != 0) {
		e->binding = from;
		move_links_back(e);
		/* So that the caller finds the old memory in force everywhere but where it cannot
		 * be. */
		links_await_prompt(e);
		return RSMERR_INTERRUPTED;
	}
	forget_prepared(e, link_vacate);
	links_await_vacated(e);
	links_await_registered_old(e);
	export_unbind(&from, e->size);
	return RSM_SUCCESS;
}

static int rebind(struct export *e, void *vaddr)
{
	struct binding to;
	int result;

	/* Unless the program has mapped something else there. */
	if (vaddr == e->binding.vaddr && export_memory_in_place(e))
		return RSM_SUCCESS;
	service_unlock();
	result = export_bind(&to, vaddr, e->size);
	service_lock();
	if (result != RSM_SUCCESS)
		return result;
	result = change_over(e, &to);
	if (result != RSM_SUCCESS) {
		links_await_registered_old(e);
		export_unbind(&to, e->size);
	}
	return result;
}

static int check(const struct export *e, const void *vaddr, size_t size)
{
	if (!export_is_own(e))
		return RSMERR_NOT_CREATOR;
	if (vaddr == NULL)
		return RSMERR_BAD_ADDR;
	if (!(e->flags & RSM_ALLOW_REBIND))
		return RSMERR_REBIND_NOT_ALLOWED;
	if (size != e->size)
		return RSMERR_BAD_LENGTH;
	return export_aligned((uintptr_t)vaddr) ? RSM_SUCCESS : RSMERR_BAD_ADDR;
}

int rsm_memseg_export_rebind(rsm_memseg_export_handle_t memseg, void *vaddr, offset_t off,
			     size_t size)
{
	struct export *e = (struct export *)handle_enter(memseg, SEGMENT_EXPORTS);
	int result;

	(void)off; /* the whole segment is bound anew */
	if (e == NULL)
		return RSMERR_BAD_SEG_HNDL;
	service_lock();
	result = check(e, vaddr, size);
	if (result == RSM_SUCCESS)
		result = export_begin(e, true);
	if (result == RSM_SUCCESS) {
		result = rebind(e, vaddr);
		export_end(e);
	}
	service_unlock();
	handle_leave(&e->segment);
	return result;
}
