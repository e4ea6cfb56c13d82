/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals of RSMAPI: how many of a segment are pending, which descriptors tell of them. */
#include "rsm.h"

#include <poll.h>
#include <string.h>

enum { NO_ACCUMULATE = 2, IMPLICIT_SIGPOST = 1 };

/*
 * A post does not wait until its signal is there, and what is posted through several handles may
 * arrive in any order: one that does not accumulate may be there first.
 */
static void add_signal(const struct rsm_call *call, struct segment *to, bool accumulates)
{
	to->has_posters = to->most_signals && (to->has_posters || to->poster != call->segment);
	to->poster = call->segment;
	if (accumulates) {
		to->most_signals += call->step->times;
		to->least_signals += call->flight->crowded ? 0 : call->step->times;
		return;
	}
	if (!to->most_signals || to->has_posters || call->flight->crowded)
		to->most_signals++;
	if (!to->least_signals && !call->flight->crowded)
		to->least_signals++;
}

static void take_signals(const struct rsm_call *call, struct segment *from)
{
	size_t taken = call->step->times;

	from->least_signals -= from->least_signals < taken ? from->least_signals : taken;
	if (!call->flight->crowded)
		from->most_signals -= from->most_signals < taken ? from->most_signals : taken;
}

void rsm_learn_post(const struct rsm_call *call)
{
	struct rsm *rsm = call->rsm;
	intptr_t flags = 0;
	bool accumulates;
	size_t i;

	accumulates = argument_number(call->step, 1, &flags) && !(flags & NO_ACCUMULATE);
	if (!call->segment)
		return;
	if (call->segment->exporter)
		add_signal(call, call->segment->exporter, accumulates);
	for (i = 0; i < rsm->segment_count; i++) {
		if (rsm->segments[i]->exporter == call->segment &&
		    rsm->segments[i]->state != IMPORT_ABORTED)
			add_signal(call, rsm->segments[i], accumulates);
	}
}

void rsm_learn_implicit_post(const struct rsm_call *call, intptr_t flags)
{
	if (call->segment && call->segment->exporter && flags & IMPLICIT_SIGPOST)
		add_signal(call, call->segment->exporter, !(flags & NO_ACCUMULATE));
}

void rsm_learn_wait(const struct rsm_call *call)
{
	if (call->segment)
		take_signals(call, call->segment);
}

/* Who posts to it may be somebody whose calls are not in the log. */
static bool knows_other_end(const struct rsm_call *call, const struct segment *segment)
{
	size_t i;

	for (i = 0; i < call->rsm->segment_count; i++) {
		if (call->rsm->segments[i]->exporter == segment)
			return true;
	}
	return segment->exporter != NULL || model_sees_all(call->rsm->model);
}

/* All that was posted to it is known, and all that was taken. */
static bool knows_signals(const struct rsm_call *call, const struct segment *segment)
{
	return segment && !segment->signals_blurred && !segment->is_blurred &&
	       !call->rsm->hides_handles && !call->rsm->has_forked && !call->flight->crowded;
}

static struct complaint *judge_taken(const struct rsm_call *call, const struct segment *segment)
{
	if (!knows_signals(call, segment) || !knows_other_end(call, segment) ||
	    call->step->times > 1 || segment->most_signals)
		return NULL;
	return rsm_complain(call, "RSMERR_TIMEOUT", "RSMERR_TIMEOUT", "no signal is pending");
}

struct complaint *rsm_judge_wait(const struct rsm_call *call)
{
	return judge_taken(call, call->segment);
}

/* The entries of a wait for several, three numbers each; 0: not told. */
static size_t entries_of(const struct rsm_call *call)
{
	intptr_t count;

	if (!argument_number(call->step, 1, &count) || count < 0 ||
	    call->step->arguments[0].at_count != 3 * (size_t)count)
		return 0;
	return (size_t)count;
}

static const intptr_t *entry_of(const struct rsm_call *call, size_t index)
{
	return call->step->arguments[0].at + 3 * index;
}

static bool is_told(const intptr_t *entry)
{
	return entry[0] >= 0 && entry[2];
}

/* The segment whose descriptor it is; NULL: none, or it is not known. */
static struct segment *polled(const struct rsm_call *call, intptr_t descriptor)
{
	size_t i;

	for (i = call->rsm->segment_count; i-- > 0;) {
		struct segment *segment = call->rsm->segments[i];

		if (segment->process == call->step->process && segment->pollfds > 0 &&
		    segment->descriptor == descriptor)
			return segment;
	}
	return NULL;
}

struct complaint *rsm_judge_wait_pollfd(const struct rsm_call *call)
{
	const struct value *number = &call->step->arguments[3];
	struct complaint *complaint = NULL;
	size_t i, told = 0, count = entries_of(call);

	for (i = 0; i < count; i++)
		told += is_told(entry_of(call, i));
	if (count && number->at_count && (size_t)number->at[0] != told)
		return rsm_complain(call, "the number of entries that are told",
				    "RSM-INTR-SIGNAL-WAIT-POLLFD-SIGNALLED-8",
				    "%zu of the entries are told, and counted %jd", told,
				    (intmax_t)number->at[0]);
	for (i = 0; i < count && !complaint; i++) {
		if (is_told(entry_of(call, i)))
			complaint = judge_taken(call, polled(call, *entry_of(call, i)));
	}
	return complaint;
}

/* Whatever was posted to a segment that is waited for surely has not all been taken. */
static bool is_pending(const struct rsm_call *call)
{
	size_t i, count;

	if (rsm_is(call, "rsm_intr_signal_wait"))
		return knows_signals(call, call->segment) && call->segment->least_signals > 0;
	count = entries_of(call);
	for (i = 0; i < count; i++) {
		const struct segment *segment = polled(call, *entry_of(call, i));

		if (knows_signals(call, segment) && segment->least_signals > 0)
			return true;
	}
	return false;
}

bool rsm_wait_excludes(const struct rsm_call *call)
{
	size_t limit = rsm_is(call, "rsm_intr_signal_wait") ? 1 : 2;
	intptr_t timeout;

	return (argument_number(call->step, limit, &timeout) && timeout < 0) || is_pending(call);
}

struct complaint *rsm_judge_hanging_wait(const struct rsm_call *call)
{
	bool waits =
		rsm_is(call, "rsm_intr_signal_wait") || rsm_is(call, "rsm_intr_signal_wait_pollfd");

	if (!waits || !is_pending(call))
		return NULL;
	return rsm_complain(call, "success", "signalled",
			    "a signal is pending and the call does not come back");
}

/* Of a process, those whose descriptor is not known, or all of them. */
static void blur_signals(const struct rsm_call *call, bool all)
{
	size_t i;

	for (i = 0; i < call->rsm->segment_count; i++) {
		struct segment *segment = call->rsm->segments[i];

		if (segment->process == call->step->process && (all || segment->descriptor < 0))
			segment->signals_blurred = true;
	}
}

void rsm_learn_wait_pollfd(const struct rsm_call *call)
{
	size_t i, k, count = entries_of(call);

	if (!count)
		blur_signals(call, true);
	for (i = 0; i < count; i++) {
		struct segment *segment = polled(call, *entry_of(call, i));

		if (!is_told(entry_of(call, i)))
			continue;
		if (!segment) {
			blur_signals(call, false);
			continue;
		}
		take_signals(call, segment);
		/* Listed twice it may have been told twice of one signal. */
		for (k = 0; k < i; k++)
			segment->signals_blurred |= *entry_of(call, k) == *entry_of(call, i);
	}
}

struct complaint *rsm_judge_pollfd(const struct rsm_call *call)
{
	const struct value *entry = &call->step->arguments[1];

	if (entry->at_count < 2)
		return NULL;
	if (entry->at[1] != POLLRDNORM)
		return rsm_complain(call, "POLLRDNORM", "RSM-GET-POLLFD-GOT-2",
				    "the entry asks for the events 0x%jx", (uintmax_t)entry->at[1]);
	if (entry->at_count > 3 && entry->at[2] != entry->at[3])
		return rsm_complain(call, "revents as it was", "RSM-GET-POLLFD-GOT-3",
				    "revents was 0x%jx and is 0x%jx", (uintmax_t)entry->at[2],
				    (uintmax_t)entry->at[3]);
	if (call->segment && !call->segment->is_blurred && call->segment->pollfds > 0 &&
	    call->segment->descriptor >= 0 && call->segment->descriptor != entry->at[0])
		return rsm_complain(call, "the same descriptor", "RSM-GET-POLLFD-GOT-13",
				    "descriptor %jd was given before",
				    (intmax_t)call->segment->descriptor);
	return NULL;
}

void rsm_learn_pollfd(const struct rsm_call *call)
{
	const struct value *entry = &call->step->arguments[1];

	if (rsm_is(call, "rsm_memseg_get_pollfd")) {
		call->segment->pollfds += (int)call->step->times;
		call->segment->descriptor = entry->at_count ? entry->at[0] : -1;
		return;
	}
	/* Releasing one more than there are changes nothing. */
	call->segment->pollfds -= (int)call->step->times;
	if (call->segment->pollfds <= 0) {
		call->segment->pollfds = 0;
		call->segment->descriptor = -1;
	}
}

bool rsm_is_polled(const struct rsm_call *call)
{
	return call->segment && call->segment->pollfds > 0 && call->state != STATE_UNKNOWN;
}
