/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows for the objects of RSMAPI from what came back. */
#include "rsm.h"

#include <string.h>

enum { NO_ACCUMULATE = 2, IMPLICIT_SIGPOST = 1 };

static void set_state(const struct rsm_call *call, enum segment_state state)
{
	call->segment->state = state;
	call->segment->is_blurred |= call->flight->crowded;
}

static struct segment *add_handle(const struct rsm_call *call, size_t argument,
				  enum segment_state state)
{
	const struct value *place = &call->step->arguments[argument];
	struct segment *segment;

	if (!place->at_count) {
		call->rsm->hides_handles = true;
		return NULL;
	}
	segment = rsm_new_segment(call->rsm, call->step->process, state);
	segment->is_blurred = call->step->times > 1;
	rsm_name(&call->rsm->handles, call->step->process, place->at[0])->segment = segment;
	return segment;
}

static void learn_create(const struct rsm_call *call)
{
	struct segment *segment = add_handle(call, 1, EXPORT_NEW);
	intptr_t length;

	if (segment && argument_number(call->step, 3, &length))
		segment->length = length;
}

static void learn_connect(const struct rsm_call *call)
{
	struct segment *segment = add_handle(call, 4, IMPORT_CONNECTED);
	intptr_t node, id, permission;

	if (!segment || !argument_number(call->step, 1, &node) ||
	    !argument_number(call->step, 2, &id))
		return;
	segment->exporter = rsm_published(call->rsm, node, id, true);
	if (!segment->exporter)
		segment->exporter = rsm_published(call->rsm, node, id, false);
	if (segment->exporter && segment->exporter->is_blurred)
		segment->exporter = NULL;
	/* Whose signals are whose cannot be told then. */
	if (!segment->exporter)
		call->rsm->hides_handles = true;
	segment->is_blurred |= call->flight->crowded;
	if (argument_number(call->step, 3, &permission))
		segment->permission = permission;
}

/* Its importers are disconnected by force. */
static void abort_imports(const struct rsm_call *call, const struct segment *exporter)
{
	size_t i;

	for (i = 0; i < call->rsm->segment_count; i++) {
		struct segment *segment = call->rsm->segments[i];

		if (segment->exporter != exporter ||
		    (segment->state != IMPORT_CONNECTED && segment->state != IMPORT_WITH_MAP))
			continue;
		/* With a mapping the matrix has no column for it. */
		segment->is_blurred |= call->flight->crowded || segment->state == IMPORT_WITH_MAP;
		segment->state = IMPORT_ABORTED;
	}
}

static void add_signal(const struct rsm_call *call, struct segment *to, bool accumulates)
{
	if (accumulates) {
		to->most_signals += call->step->times;
		to->least_signals += call->flight->crowded ? 0 : call->step->times;
		return;
	}
	if (!to->most_signals || call->flight->crowded)
		to->most_signals++;
	if (!to->least_signals && !call->flight->crowded)
		to->least_signals++;
}

static void learn_post(const struct rsm_call *call)
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

static void learn_wait(const struct rsm_call *call)
{
	struct segment *segment = call->segment;
	size_t taken = call->step->times;

	if (!segment)
		return;
	segment->least_signals -= segment->least_signals < taken ? segment->least_signals : taken;
	if (!call->flight->crowded)
		segment->most_signals -=
			segment->most_signals < taken ? segment->most_signals : taken;
}

/* Which of the process's descriptors were waited for is not told. */
static void learn_wait_pollfd(const struct rsm_call *call)
{
	size_t i;

	for (i = 0; i < call->rsm->segment_count; i++) {
		if (call->rsm->segments[i]->process == call->step->process)
			call->rsm->segments[i]->signals_blurred = true;
	}
}

static void learn_vector(const struct rsm_call *call)
{
	const struct value *list = &call->step->arguments[0];

	if (list->at_count < 4 || !call->segment || !call->segment->exporter)
		return;
	if (list->at[3] & IMPLICIT_SIGPOST)
		add_signal(call, call->segment->exporter, !(list->at[3] & NO_ACCUMULATE));
}

static void learn_barrier(const struct rsm_call *call)
{
	static const struct {
		const char *function;
		enum barrier_state state;
	} after[] = {{"rsm_memseg_import_open_barrier", BARRIER_OPEN},
		     {"rsm_memseg_import_close_barrier", BARRIER_CLOSED},
		     {"rsm_memseg_import_destroy_barrier", BARRIER_NONE}};
	size_t i;

	for (i = 0; i < sizeof(after) / sizeof(*after); i++) {
		if (!call->barrier || !rsm_is(call, after[i].function))
			continue;
		call->barrier->is_blurred |= call->flight->crowded;
		call->barrier->barrier = after[i].state;
	}
}

static void learn_init_barrier(const struct rsm_call *call)
{
	struct named *barrier;
	intptr_t address;

	if (call->segment)
		call->segment->has_barrier = true;
	if (!argument_number(call->step, 2, &address))
		return;
	barrier = rsm_name(&call->rsm->barriers, call->step->process, address);
	barrier->barrier = BARRIER_CLOSED;
	barrier->segment = call->segment;
	barrier->is_blurred = call->flight->crowded;
}

static void learn_controller(const struct rsm_call *call)
{
	const struct value *place = &call->step->arguments[1];
	struct named *controller;

	if (rsm_is(call, "rsm_release_controller")) {
		if (call->controller)
			call->controller->controllers -= (int)call->step->times;
		return;
	}
	if (!place->at_count)
		return;
	controller = rsm_name(&call->rsm->controllers, call->step->process, place->at[0]);
	controller->controllers += (int)call->step->times;
}

static void learn_segment(const struct rsm_call *call)
{
	const struct value *id = &call->step->arguments[1];
	intptr_t mode;

	if (rsm_is(call, "rsm_memseg_export_publish")) {
		set_state(call, EXPORT_PUBLISHED);
		call->segment->id = id->at_count > 1 ? id->at[1] : -1;
	} else if (rsm_is(call, "rsm_memseg_export_unpublish")) {
		abort_imports(call, call->segment);
		set_state(call, EXPORT_UNPUBLISHED);
	} else if (rsm_is(call, "rsm_memseg_export_destroy")) {
		abort_imports(call, call->segment);
		set_state(call, EXPORT_DESTROYED);
	} else if (rsm_is(call, "rsm_memseg_export_rebind")) {
		call->segment->length = -1;
	} else if (rsm_is(call, "rsm_memseg_import_disconnect")) {
		set_state(call, IMPORT_DISCONNECTED);
		call->segment->exporter = NULL;
	} else if (rsm_is(call, "rsm_memseg_import_map")) {
		set_state(call, IMPORT_WITH_MAP);
	} else if (rsm_is(call, "rsm_memseg_import_unmap")) {
		set_state(call, IMPORT_CONNECTED);
	} else if (rsm_is(call, "rsm_memseg_import_set_mode") &&
		   argument_number(call->step, 1, &mode)) {
		call->segment->mode = call->flight->crowded ? -1 : mode;
	} else if (rsm_is(call, "rsm_memseg_get_pollfd")) {
		call->segment->pollfds += (int)call->step->times;
	} else if (rsm_is(call, "rsm_memseg_release_pollfd")) {
		call->segment->pollfds -= (int)call->step->times;
	}
}

void rsm_learn(const struct rsm_call *call)
{
	/* A close that tells of a loss may have closed the barrier. */
	if (call->step->error && call->barrier && strstr(call->step->function, "_barrier"))
		call->barrier->is_blurred = true;
	if (call->step->error)
		return;
	if (!call->segment && tables_cell(call->function, "garbage"))
		call->rsm->hides_handles = true;
	if (rsm_is(call, "rsm_memseg_export_create"))
		learn_create(call);
	else if (rsm_is(call, "rsm_memseg_import_connect"))
		learn_connect(call);
	else if (rsm_is(call, "rsm_intr_signal_post"))
		learn_post(call);
	else if (rsm_is(call, "rsm_intr_signal_wait"))
		learn_wait(call);
	else if (rsm_is(call, "rsm_intr_signal_wait_pollfd"))
		learn_wait_pollfd(call);
	else if (rsm_is(call, "rsm_memseg_import_putv") || rsm_is(call, "rsm_memseg_import_getv"))
		learn_vector(call);
	else if (rsm_is(call, "rsm_memseg_import_init_barrier"))
		learn_init_barrier(call);
	else if (rsm_is(call, "rsm_get_controller") || rsm_is(call, "rsm_release_controller"))
		learn_controller(call);
	else if (strstr(call->step->function, "_barrier"))
		learn_barrier(call);
	else if (call->segment)
		learn_segment(call);
}
