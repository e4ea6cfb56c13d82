/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows: where they are, what may be done through them, and transfers between them. */
#include "scif.h"

#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

/* The numbers are those of the public header. */
enum { READ = 1, WRITE = 2, FIXED = 0x10 };
enum { INIT_SELF = 1, INIT_PEER = 2, SIGNAL_LOCAL = 0x10, SIGNAL_REMOTE = 0x20 };
#define RMA_FLAGS 0xf

enum cover { UNSURE, COVERED, OUTSIDE };

/* A range that a call goes through: whose windows, and what must be allowed there. */
struct range {
	const struct endpoint *owner;
	intptr_t offset;
	size_t length;
	int protection;
	bool whole; /* in one window */
};

static bool overlaps(const struct window *window, intptr_t offset, size_t length)
{
	return window->offset < offset + (intptr_t)length &&
	       offset < window->offset + (intptr_t)window->length;
}

static const struct window *window_at(const struct endpoint *owner, intptr_t offset)
{
	size_t i;

	for (i = 0; i < owner->window_count; i++) {
		if (overlaps(&owner->windows[i], offset, 1))
			return &owner->windows[i];
	}
	return NULL;
}

/* Whether windows lie under all of it; and the protection that all of them have. */
static enum cover cover_of(const struct scif_call *call, const struct range *range, int *protection)
{
	intptr_t at = range->offset, end = at + (intptr_t)range->length;
	const struct window *window, *first;

	*protection = READ | WRITE;
	if (!range->owner || !range->owner->windows_known ||
	    scif_has_alias(call->scif, range->owner) || call->flight->windows_disturbed ||
	    call->flight->disturbed || !model_is_whole(call->scif->model))
		return UNSURE;
	if (at < 0 || end < at)
		return OUTSIDE;
	for (first = window_at(range->owner, at); at < end;
	     at = window->offset + (intptr_t)window->length) {
		window = window_at(range->owner, at);
		if (!window || (range->whole && window != first))
			return OUTSIDE;
		*protection &= window->protection;
	}
	return COVERED;
}

#define RANGES 2

/* The ranges of a call; returns how many, 0 where an argument is not known. */
static size_t ranges_of(const struct scif_call *call, struct range *ranges)
{
	const char *name = call->function->name;
	const struct endpoint *near = call->endpoint, *far = near ? near->peer : NULL;
	bool reads = !strcmp(name, "scif_readfrom") || !strcmp(name, "scif_vreadfrom");
	bool writes = !strcmp(name, "scif_writeto") || !strcmp(name, "scif_vwriteto");
	intptr_t a[6] = {0};
	bool known[6];
	size_t i, count = 0;

	for (i = 0; i < 6; i++)
		known[i] = argument_number(call->step, i, &a[i]);
	if ((reads || writes) && known[2] && known[3]) {
		ranges[count++] =
			(struct range){far, a[3], (size_t)a[2], reads ? READ : WRITE, false};
		if (name[5] != 'v' && known[1])
			ranges[count++] = (struct range){near, a[1], (size_t)a[2],
							 reads ? WRITE : READ, false};
	} else if (!strcmp(name, "scif_mmap") && known[1] && known[2] && known[5]) {
		ranges[count++] = (struct range){far, a[5], (size_t)a[1], (int)a[2], false};
	} else if (!strcmp(name, "scif_fence_signal") && known[1] && known[3] && known[5]) {
		if (a[5] & SIGNAL_LOCAL)
			ranges[count++] = (struct range){near, a[1], 8, WRITE, true};
		if (a[5] & SIGNAL_REMOTE)
			ranges[count++] = (struct range){far, a[3], 8, WRITE, true};
	}
	return count;
}

static struct complaint *judge_ranges(const struct scif_call *call)
{
	struct range ranges[RANGES];
	size_t count = ranges_of(call, ranges), i;

	for (i = 0; i < count; i++) {
		int protection;
		enum cover cover = cover_of(call, &ranges[i], &protection);
		const char *whose = ranges[i].owner == call->endpoint ? "caller" : "peer";

		if (cover == OUTSIDE)
			return scif_complain(call, "ENXIO", "ENXIO",
					     "no window of the %s covers %zu bytes at 0x%jx", whose,
					     ranges[i].length, (uintmax_t)ranges[i].offset);
		if (cover == COVERED && ranges[i].protection & ~protection & (READ | WRITE))
			return scif_complain(call, "EACCES", "EACCES",
					     "the window of the %s at 0x%jx does not allow it",
					     whose, (uintmax_t)ranges[i].offset);
	}
	return NULL;
}

static bool ranges_exclude(const struct scif_call *call, const char *error)
{
	struct range ranges[RANGES];
	size_t count = ranges_of(call, ranges), i;

	for (i = 0; i < count; i++) {
		int protection;
		enum cover cover = cover_of(call, &ranges[i], &protection);

		if (cover == UNSURE || (cover == OUTSIDE && !strcmp(error, "ENXIO")))
			return false;
		if (!strcmp(error, "EACCES") && ranges[i].protection & ~protection)
			return false;
	}
	return count > 0;
}

static struct complaint *judge_register(const struct scif_call *call)
{
	intptr_t offset = call->step->ret, wanted, length, flags;
	const struct endpoint *endpoint = call->endpoint;
	size_t i;

	if (!argument_number(call->step, 2, &length) || !argument_number(call->step, 3, &wanted) ||
	    !argument_number(call->step, 5, &flags))
		return NULL;
	if (flags & FIXED && offset != wanted)
		return scif_complain(call, "the offset that was asked for", "offset",
				     "another offset was asked for");
	for (i = 0; endpoint && i < endpoint->window_count && call->step->times < 2; i++) {
		if (!call->flight->windows_disturbed &&
		    overlaps(&endpoint->windows[i], offset, (size_t)length))
			return scif_complain(call, "EADDRINUSE", "EADDRINUSE",
					     "a window lies at 0x%jx",
					     (uintmax_t)endpoint->windows[i].offset);
	}
	return NULL;
}

/* Windows that a range holds as a whole, and those that it cuts. */
static void count_windows(const struct endpoint *endpoint, intptr_t offset, size_t length,
			  size_t *held, size_t *cut)
{
	size_t i;

	*held = *cut = 0;
	for (i = 0; i < endpoint->window_count; i++) {
		const struct window *window = &endpoint->windows[i];

		if (!overlaps(window, offset, length))
			continue;
		if (window->offset >= offset &&
		    window->offset + (intptr_t)window->length <= offset + (intptr_t)length)
			++*held;
		else
			++*cut;
	}
}

static bool unregister_is_known(const struct scif_call *call, size_t *held, size_t *cut)
{
	intptr_t offset, length;

	if (!call->endpoint || !argument_number(call->step, 1, &offset) ||
	    !argument_number(call->step, 2, &length) || call->flight->windows_disturbed ||
	    call->flight->disturbed || !call->endpoint->windows_known ||
	    !model_is_whole(call->scif->model) || offset < 0 || length < 1 ||
	    offset + length < offset)
		return false;
	count_windows(call->endpoint, offset, (size_t)length, held, cut);
	return true;
}

static struct complaint *judge_unregister(const struct scif_call *call)
{
	size_t held, cut;

	if (call->step->times > 1 || !unregister_is_known(call, &held, &cut))
		return NULL;
	if (cut)
		return scif_complain(call, "EINVAL", "EINVAL", "the range cuts a window");
	if (!held)
		return scif_complain(call, "ENXIO", "ENXIO", "there is no window in the range");
	return NULL;
}

struct complaint *scif_judge_windows(const struct scif_call *call)
{
	if (call->step->error)
		return NULL;
	if (!strcmp(call->function->name, "scif_register"))
		return judge_register(call);
	if (!strcmp(call->function->name, "scif_unregister"))
		return judge_unregister(call);
	return judge_ranges(call);
}

static bool flags_exclude(const struct scif_call *call)
{
	const char *name = call->function->name;
	intptr_t flags, length;

	if (!strcmp(name, "scif_fence_mark"))
		return argument_number(call->step, 1, &flags) &&
		       (flags == INIT_SELF || flags == INIT_PEER);
	if (!strcmp(name, "scif_readfrom") || !strcmp(name, "scif_writeto") ||
	    !strcmp(name, "scif_vreadfrom") || !strcmp(name, "scif_vwriteto"))
		return argument_number(call->step, 4, &flags) && !(flags & ~(intptr_t)RMA_FLAGS) &&
		       argument_number(call->step, 2, &length) && length != 0;
	if (!strcmp(name, "scif_send") || !strcmp(name, "scif_recv"))
		return argument_number(call->step, 3, &flags) && !(flags & ~(intptr_t)1) &&
		       argument_number(call->step, 2, &length) && length >= 0;
	return false;
}

bool scif_windows_exclude(const struct scif_call *call, const char *error)
{
	size_t held, cut;

	if (!strcmp(call->function->name, "scif_recv") && !strcmp(error, "EAGAIN"))
		return !model_surroundings(call->scif->model)->node_loss &&
		       !call->scif->node_sleeps;
	if (!strcmp(error, "EINVAL"))
		return flags_exclude(call);
	if (!strcmp(call->function->name, "scif_unregister") && !strcmp(error, "ENXIO"))
		return unregister_is_known(call, &held, &cut) && held && !cut;
	if (!strcmp(error, "ENXIO") || !strcmp(error, "EACCES"))
		return ranges_exclude(call, error);
	return false;
}

struct complaint *scif_contradict_windows(const struct scif_call *call)
{
	if (strcmp(call->step->error, "ENXIO") ||
	    !strcmp(call->function->name, "scif_unregister") || !ranges_exclude(call, "ENXIO"))
		return NULL;
	return scif_complain(call, "success", "ENXIO", "windows cover all of the range");
}

static void add_window(struct endpoint *endpoint, const struct window *window)
{
	endpoint->windows = grown_array(endpoint->windows, endpoint->window_count + 1,
					sizeof(*endpoint->windows));
	endpoint->windows[endpoint->window_count++] = *window;
}

static void learn_register(const struct scif_call *call)
{
	struct window window = {.offset = call->step->ret};
	intptr_t length, protection;

	if (!argument_number(call->step, 2, &length) ||
	    !argument_number(call->step, 4, &protection) || call->step->times > 1) {
		call->endpoint->windows_known = false;
		return;
	}
	window.length = (size_t)length;
	window.protection = (int)protection;
	argument_number(call->step, 1, &window.address);
	add_window(call->endpoint, &window);
}

static void learn_unregister(const struct scif_call *call)
{
	struct endpoint *endpoint = call->endpoint;
	intptr_t offset, length;
	size_t i = 0;

	if (!argument_number(call->step, 1, &offset) || !argument_number(call->step, 2, &length)) {
		endpoint->windows_known = false;
		return;
	}
	while (i < endpoint->window_count) {
		if (overlaps(&endpoint->windows[i], offset, (size_t)length))
			endpoint->windows[i] = endpoint->windows[--endpoint->window_count];
		else
			i++;
	}
}

void scif_learn_windows(const struct scif_call *call)
{
	if (!call->endpoint || call->step->error)
		return;
	if (!strcmp(call->function->name, "scif_register"))
		learn_register(call);
	else if (!strcmp(call->function->name, "scif_unregister"))
		learn_unregister(call);
}
