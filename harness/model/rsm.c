/* SPDX-License-Identifier: BSD-2-Clause */
/* RSMAPI in the model: who has which handle, and the judgement that all calls have in common. */
#include "rsm.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

static const char *const state_names[] = {
	"no_handle",
	"garbage",
	"export_new",
	"export_published",
	"export_unpublished",
	"export_destroyed",
	"import_connected",
	"import_with_map",
	"import_aborted",
	"import_disconnected",
	"",
};

struct named *rsm_find(const struct names *names, int process, intptr_t name)
{
	size_t i;

	for (i = names->count; i-- > 0;) {
		if (names->at[i].process == process && names->at[i].name == name)
			return &names->at[i];
	}
	return NULL;
}

struct named *rsm_name(struct names *names, int process, intptr_t name)
{
	struct named *named = rsm_find(names, process, name);

	if (named)
		return named;
	names->at = grown_array(names->at, names->count + 1, sizeof(*names->at));
	names->at[names->count] = (struct named){.process = process, .name = name};
	return &names->at[names->count++];
}

int rsm_node(const struct rsm *rsm, int process)
{
	size_t i;

	for (i = 0; i < rsm->node_count; i++) {
		if (rsm->nodes[i].process == process)
			return rsm->nodes[i].node;
	}
	return -1;
}

struct segment *rsm_new_segment(struct rsm *rsm, int process, enum segment_state state)
{
	struct segment *segment = zeroed_array(1, sizeof(*segment));

	*segment = (struct segment){.state = state,
				    .process = process,
				    .node = rsm_node(rsm, process),
				    .length = -1,
				    .permission = -1,
				    .mode = -1,
				    .descriptor = -1};
	rsm->segments = grown_array(rsm->segments, rsm->segment_count + 1, sizeof(*rsm->segments));
	rsm->segments[rsm->segment_count++] = segment;
	return segment;
}

struct segment *rsm_published(const struct rsm *rsm, intptr_t node, intptr_t id, bool sure)
{
	size_t i;

	for (i = 0; i < rsm->segment_count; i++) {
		struct segment *segment = rsm->segments[i];
		bool here = segment->node == node || (!sure && segment->node < 0);

		if (segment->is_blurred && !sure)
			return segment;
		if (here && segment->state == EXPORT_PUBLISHED && segment->id == id &&
		    !segment->is_blurred)
			return segment;
	}
	return NULL;
}

intptr_t rsm_length(const struct segment *import)
{
	return import->exporter ? import->exporter->length : -1;
}

bool rsm_made(const struct value *place, intptr_t *made)
{
	if (!place->at_count)
		return false;
	*made = place->at[place->at_count - 1];
	return true;
}

bool rsm_is(const struct rsm_call *call, const char *function)
{
	return !strcmp(call->step->function, function);
}

struct complaint *rsm_complain(const struct rsm_call *call, const char *allowed,
			       const char *outcome, const char *why, ...)
{
	struct complaint *complaint;
	va_list details;

	va_start(details, why);
	complaint = complain(call->rsm->model, call->flight, call->function,
			     state_names[call->state], allowed, outcome, why, details);
	va_end(details);
	return complaint;
}

static void *create(struct model *model)
{
	struct rsm *rsm = zeroed_array(1, sizeof(*rsm));

	rsm->model = model;
	return rsm;
}

static void start(void *state)
{
	struct rsm *rsm = state;
	size_t i;

	for (i = 0; i < rsm->segment_count; i++)
		free(rsm->segments[i]);
	free(rsm->segments);
	free(rsm->handles.at);
	free(rsm->controllers.at);
	free(rsm->barriers.at);
	free(rsm->nodes);
	free(rsm->present);
	*rsm = (struct rsm){.model = rsm->model};
}

static void destroy(void *state)
{
	start(state);
	free(state);
}

/* What depends on a process, or on all of them where it is 0, is not known any more. */
static void blur(struct rsm *rsm, int process)
{
	size_t i;

	for (i = 0; i < rsm->segment_count; i++) {
		struct segment *segment = rsm->segments[i];
		bool is_of = segment->process == process ||
			     (segment->exporter && segment->exporter->process == process);

		segment->may_be_gone |= !segment->is_blurred && process && is_of;
		segment->is_blurred |= is_of || !process;
	}
}

/* Nobody is there any more who needs the node. */
static void forget_node(struct rsm *rsm, int process)
{
	size_t i;

	for (i = 0; i < rsm->node_count; i++)
		rsm->nodes[i].is_gone |= rsm->nodes[i].process == process;
}

static void sign(void *state, const struct step *step)
{
	struct rsm *rsm = state;

	switch (step->kind) {
	case STEP_STARTED:
		rsm_set_node(rsm, step->process, (int)step->arguments[0].number);
		break;
	case STEP_FORKED:
	case STEP_FORKS:
		rsm->has_forked = true;
		break;
	case STEP_ENDED:
	case STEP_LAST_SIGN:
		forget_node(rsm, step->process);
		blur(rsm, step->process);
		break;
	case STEP_NODE:
		rsm->is_shaken = true;
		blur(rsm, 0);
		break;
	case STEP_CALL:
	case STEP_HELD:
	case STEP_STALLED:
	case STEP_RELEASED:
	case STEP_PRIVILEGE:
		break;
	}
}

static void begin(void *state, struct flight *flight)
{
	(void)state;
	(void)flight;
}

static void disturb(void *state, const struct step *one, struct flight *other)
{
	(void)state;
	other->crowded = true;
	if (one->kind != STEP_CALL)
		other->disturbed = true;
}

/* The matrix calls a wait that found no signal a time-out; it got through all the same. */
static bool lets_through(const struct plan_clause *cell)
{
	return !cell || !cell->is_error || !strcmp(cell->outcome, "RSMERR_TIMEOUT");
}

static char *allowed_words(const struct rsm_call *call, const struct plan_clause *cell)
{
	char *text;
	size_t length, i;
	FILE *out = text_stream(&text, &length);

	if (lets_through(cell))
		fputs("success", out);
	for (i = 0; i < call->function->outcome_count; i++) {
		const struct plan_outcome *outcome = &call->function->outcomes[i];
		bool in_cell =
			cell && tables_allows(model_tables(call->rsm->model), cell, outcome->name);

		if (outcome->is_error && (in_cell || !rsm_excludes(call, outcome->name)))
			fprintf(out, "%s%s", ftell(out) > 0 ? ", " : "", outcome->name);
	}
	fclose(out);
	return text;
}

static struct complaint *judge_failure(const struct rsm_call *call, const struct plan_clause *cell)
{
	const struct tables *tables = model_tables(call->rsm->model);
	const char *error = call->step->error;
	struct complaint *complaint;
	char *allowed;
	bool documented = tables_documented(tables, call->function, error);

	if (cell && tables_allows(tables, cell, error) && strcmp(error, "RSMERR_TIMEOUT"))
		return rsm_judge_rest(call);
	if (documented && !rsm_excludes(call, error))
		return rsm_judge_rest(call);
	allowed = allowed_words(call, cell);
	complaint = rsm_complain(call, allowed, error,
				 documented ? "none of the reasons documented for %s is there"
					    : "%s is not documented for the call",
				 error);
	free(allowed);
	return complaint;
}

static struct complaint *judge(const struct rsm_call *call)
{
	const struct plan_clause *cell = tables_cell(call->function, state_names[call->state]);
	struct complaint *complaint;
	char *allowed;

	if (call->step->error)
		return judge_failure(call, cell);
	if (lets_through(cell) || rsm_tells_later(call))
		return call->flight->crowded ? NULL : rsm_judge_success(call);
	allowed = allowed_words(call, cell);
	complaint = rsm_complain(call, allowed, cell->id,
				 "the state of the handle does not let it through");
	free(allowed);
	return complaint;
}

/* The handle that a call is about; of a scattered transfer it is in what is pointed to. */
static void find_objects(struct rsm_call *call)
{
	const struct step *step = call->step;
	const struct value *first = &step->arguments[0];
	intptr_t name;
	struct named *named = NULL;

	call->state = STATE_UNKNOWN;
	if (rsm_is_vector(call) && first->at_count)
		named = rsm_find(&call->rsm->handles, step->process, first->at[0]);
	if (argument_number(step, 0, &name)) {
		named = rsm_find(&call->rsm->handles, step->process, name);
		call->controller = rsm_find(&call->rsm->controllers, step->process, name);
		call->barrier = rsm_find(&call->rsm->barriers, step->process, name);
	}
	call->segment = named ? named->segment : NULL;
	if (first->is == VALUE_NULL && tables_cell(call->function, state_names[NO_HANDLE]))
		call->state = NO_HANDLE;
	else if (call->segment && !call->segment->is_blurred && !call->flight->crowded &&
		 model_is_whole(call->rsm->model))
		call->state = call->segment->state;
}

static struct rsm_call call_of(struct rsm *rsm, struct flight *flight)
{
	struct rsm_call call = {
		.rsm = rsm, .flight = flight, .step = flight->step, .function = flight->function};

	find_objects(&call);
	return call;
}

static struct complaint *hangs(void *state, struct flight *flight)
{
	struct rsm_call call = call_of(state, flight);

	return rsm_judge_hanging_wait(&call);
}

static struct complaint *end(void *state, struct flight *flight)
{
	struct rsm_call call = call_of(state, flight);
	struct complaint *complaint = judge(&call);

	rsm_learn(&call);
	return complaint;
}

static const char *state_of(const void *state, int process, intptr_t object)
{
	static const char *const of_barriers[] = {"barrier_destroyed", "barrier_closed",
						  "barrier_open"};
	const struct rsm *rsm = state;
	const struct named *named = rsm_find(&rsm->handles, process, object);
	const struct named *barrier = rsm_find(&rsm->barriers, process, object);

	if (barrier)
		return of_barriers[barrier->barrier];
	return named && named->segment ? state_names[named->segment->state] : NULL;
}

const struct model_api model_of_rsm = {
	.name = "rsm",
	.create = create,
	.destroy = destroy,
	.start = start,
	.sign = sign,
	.begin = begin,
	.end = end,
	.hangs = hangs,
	.disturb = disturb,
	.state_of = state_of,
};
