/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows for the objects of RSMAPI from what came back. */
#include "rsm.h"

#include <string.h>

#include "../runner/format.h"

static void set_state(const struct rsm_call *call, enum segment_state state)
{
	call->segment->state = state;
	call->segment->is_blurred |= call->flight->crowded;
}

static struct segment *add_handle(const struct rsm_call *call, size_t argument,
				  enum segment_state state)
{
	struct segment *segment;
	intptr_t name;

	if (!rsm_made(&call->step->arguments[argument], &name)) {
		call->rsm->hides_handles = true;
		return NULL;
	}
	segment = rsm_new_segment(call->rsm, call->step->process, state);
	segment->is_blurred = call->step->times > 1;
	rsm_name(&call->rsm->handles, call->step->process, name)->segment = segment;
	return segment;
}

static void learn_create(const struct rsm_call *call)
{
	struct segment *segment = add_handle(call, 1, EXPORT_NEW);
	intptr_t length;

	if (segment && argument_number(call->step, 3, &length))
		segment->length = length;
	if (segment)
		segment->user = call->step->user.at_count ? &call->step->user : NULL;
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

static void learn_present(struct rsm *rsm, int process, const char *name)
{
	rsm->present = grown_array(rsm->present, rsm->present_count + 1, sizeof(*rsm->present));
	rsm->present[rsm->present_count].process = process;
	rsm->present[rsm->present_count++].text = name;
}

static void learn_controller(const struct rsm_call *call)
{
	struct named *controller;
	intptr_t name;

	if (rsm_is(call, "rsm_release_controller")) {
		if (call->controller)
			call->controller->controllers -= (int)call->step->times;
		return;
	}
	if (call->step->arguments[0].text)
		learn_present(call->rsm, call->step->process, call->step->arguments[0].text);
	if (!rsm_made(&call->step->arguments[1], &name))
		return;
	controller = rsm_name(&call->rsm->controllers, call->step->process, name);
	controller->controllers += (int)call->step->times;
}

static void learn_segment(const struct rsm_call *call)
{
	const struct value *id = &call->step->arguments[1];
	intptr_t mode;

	if (rsm_is(call, "rsm_memseg_export_publish")) {
		set_state(call, EXPORT_PUBLISHED);
		call->segment->id = id->at_count > 1 ? id->at[1] : -1;
		rsm_learn_list(call, 2);
		rsm_learn_user(call);
	} else if (rsm_is(call, "rsm_memseg_export_republish")) {
		rsm_learn_list(call, 1);
		rsm_learn_user(call);
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
	} else if (strstr(call->step->function, "_pollfd")) {
		rsm_learn_pollfd(call);
	}
}

static void learn_topology(const struct rsm_call *call)
{
	const struct value *topology = &call->step->arguments[0];

	if (topology->at_count)
		rsm_set_node(call->rsm, call->step->process, (int)topology->at[0]);
}

static void learn_failure(const struct rsm_call *call)
{
	/* A close that tells of a loss may have closed the barrier. */
	if (call->barrier && strstr(call->step->function, "_barrier"))
		call->barrier->is_blurred = true;
	/* Which list holds after a failure is not said. */
	if (call->segment && rsm_is(call, "rsm_memseg_export_republish"))
		call->segment->list = NULL;
}

void rsm_learn(const struct rsm_call *call)
{
	if (call->step->error) {
		learn_failure(call);
		return;
	}
	if (!call->segment && tables_cell(call->function, "garbage"))
		call->rsm->hides_handles = true;
	if (rsm_is(call, "rsm_memseg_export_create"))
		learn_create(call);
	else if (rsm_is(call, "rsm_memseg_import_connect"))
		learn_connect(call);
	else if (rsm_is(call, "rsm_intr_signal_post"))
		rsm_learn_post(call);
	else if (rsm_is(call, "rsm_intr_signal_wait"))
		rsm_learn_wait(call);
	else if (rsm_is(call, "rsm_intr_signal_wait_pollfd"))
		rsm_learn_wait_pollfd(call);
	else if (rsm_is_vector(call))
		rsm_learn_vector(call);
	else if (rsm_is(call, "rsm_get_interconnect_topology"))
		learn_topology(call);
	else if (rsm_is(call, "rsm_memseg_import_init_barrier"))
		learn_init_barrier(call);
	else if (rsm_is(call, "rsm_get_controller") || rsm_is(call, "rsm_release_controller"))
		learn_controller(call);
	else if (strstr(call->step->function, "_barrier"))
		learn_barrier(call);
	else if (call->segment)
		learn_segment(call);
}
