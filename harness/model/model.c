/* SPDX-License-Identifier: BSD-2-Clause */
/* The model apart from what an API is about: which calls are under way, and who hears of it. */
#include "core.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

struct model {
	const struct model_api *api;
	struct tables tables;
	struct surroundings surroundings;
	void *state;
	struct flight **flights;
	size_t flight_count;
	bool is_whole;
	bool sees_all;
};

const struct surroundings surroundings_unknown = {
	.signals = true,
	.node_loss = true,
	.shortage = true,
	.unprivileged = true,
	.descriptors = true,
	.threads = true,
	.memory = true,
};

const struct tables *model_tables(const struct model *model)
{
	return &model->tables;
}

const struct surroundings *model_surroundings(const struct model *model)
{
	return &model->surroundings;
}

struct flight *model_flight(struct model *model, size_t index)
{
	return index < model->flight_count ? model->flights[index] : NULL;
}

bool model_is_whole(const struct model *model)
{
	return model->is_whole;
}

bool model_sees_all(const struct model *model)
{
	return model->sees_all;
}

bool argument_number(const struct step *step, size_t argument, intptr_t *number)
{
	if (argument >= step->count || step->arguments[argument].is != VALUE_NUMBER)
		return false;
	*number = step->arguments[argument].number;
	return true;
}

struct complaint *complain(const struct model *model, const struct flight *flight,
			   const struct plan_function *function, const char *state,
			   const char *allowed, const char *outcome, const char *why,
			   va_list details)
{
	const struct tables *tables = model_tables(model);
	struct complaint *complaint;
	char *clauses;
	size_t length;
	FILE *out;

	if (tables_deviates(tables, function, outcome))
		return NULL;
	complaint = zeroed_array(1, sizeof(*complaint));
	clauses = tables_clauses(tables, function, outcome);
	complaint->step = flight->step;
	complaint->state = copy_text(state);
	complaint->allowed = copy_text(allowed);
	complaint->clauses = copy_text(*clauses ? clauses : outcome);
	free(clauses);
	out = text_stream(&complaint->why, &length);
	vfprintf(out, why, details);
	fclose(out);
	return complaint;
}

void complaint_free(struct complaint *complaint)
{
	if (!complaint)
		return;
	free(complaint->state);
	free(complaint->allowed);
	free(complaint->clauses);
	free(complaint->why);
	free(complaint);
}

static void print_line(FILE *out, const char *name, const char *text)
{
	if (*text)
		fprintf(out, "    %-8s %s\n", name, text);
}

void complaint_print(FILE *out, const struct complaint *complaint)
{
	fputs("    ", out);
	step_print(out, complaint->step);
	fprintf(out, "\n    %-8s %s\n", "by", step_who(complaint->step));
	print_line(out, "state", complaint->state);
	print_line(out, "allowed", complaint->allowed);
	print_line(out, "clauses", complaint->clauses);
	print_line(out, "why", complaint->why);
}

struct model *model_create(const struct plan *plan, const char *api, const char *profile)
{
	struct model *model;

	if (!plan_api(plan, api))
		return NULL;
	model = zeroed_array(1, sizeof(*model));
	model->api = strcmp(api, "rsm") ? &model_of_scif : &model_of_rsm;
	model->tables = (struct tables){.plan = plan, .api = model->api->name, .profile = profile};
	model->surroundings = surroundings_unknown;
	model->state = model->api->create(model);
	return model;
}

static void forget_flights(struct model *model)
{
	while (model->flight_count) {
		struct flight *flight = model->flights[--model->flight_count];

		free(flight->of_api);
		free(flight);
	}
}

void model_free(struct model *model)
{
	if (!model)
		return;
	forget_flights(model);
	free(model->flights);
	model->api->destroy(model->state);
	free(model);
}

void model_start(struct model *model, const struct surroundings *surroundings)
{
	forget_flights(model);
	model->surroundings = *surroundings;
	model->is_whole = true;
	model->sees_all = true;
	model->api->start(model->state);
}

static void disturb_others(struct model *model, const struct flight *one)
{
	size_t i;

	for (i = 0; i < model->flight_count; i++) {
		if (model->flights[i] != one)
			model->api->disturb(model->state, one->step, model->flights[i]);
	}
}

static void take_sign(struct model *model, const struct step *step)
{
	struct flight flight = {.step = step};

	if (step->kind >= STEP_HELD) {
		model->api->sign(model->state, step);
		return;
	}
	disturb_others(model, &flight);
	model->api->sign(model->state, step);
	disturb_others(model, &flight);
}

void model_begin(struct model *model, const struct step *step)
{
	struct flight *flight;
	size_t i;

	if (step->kind != STEP_CALL) {
		take_sign(model, step);
		return;
	}
	flight = zeroed_array(1, sizeof(*flight));
	flight->step = step;
	flight->function = step->function ? tables_function(&model->tables, step->function) : NULL;
	model->flights =
		grown_array(model->flights, model->flight_count + 1, sizeof(*model->flights));
	model->flights[model->flight_count++] = flight;
	for (i = 0; i + 1 < model->flight_count; i++)
		model->api->disturb(model->state, model->flights[i]->step, flight);
	disturb_others(model, flight);
	if (flight->function)
		model->api->begin(model->state, flight);
}

static size_t find_flight(const struct model *model, const struct step *step)
{
	size_t i = 0;

	while (i < model->flight_count && model->flights[i]->step != step)
		i++;
	return i;
}

struct complaint *model_end(struct model *model, const struct step *step)
{
	size_t at = find_flight(model, step);
	struct complaint *complaint = NULL;
	struct flight *flight;

	if (at == model->flight_count)
		return NULL;
	flight = model->flights[at];
	if (flight->function)
		complaint = model->api->end(model->state, flight);
	disturb_others(model, flight);
	model->flights[at] = model->flights[--model->flight_count];
	free(flight->of_api);
	free(flight);
	return complaint;
}

struct complaint *model_step(struct model *model, const struct step *step)
{
	model_begin(model, step);
	return step->kind == STEP_CALL && step->came_back ? model_end(model, step) : NULL;
}

/* The calls that never came back. */
static size_t judge_rest(struct model *model, const struct history *history,
			 void (*tell)(void *to, const struct history *history,
				      const struct complaint *complaint),
			 void *to)
{
	size_t i, count = 0;

	for (i = 0; i < model->flight_count && model->api->hangs; i++) {
		struct flight *flight = model->flights[i];
		struct complaint *complaint = NULL;

		if (flight->function && (history->ran_out || flight->step->waited))
			complaint = model->api->hangs(model->state, flight);
		if (!complaint)
			continue;
		count++;
		tell(to, history, complaint);
		complaint_free(complaint);
	}
	return count;
}

size_t model_judge(struct model *model, const struct history *history,
		   const struct surroundings *surroundings,
		   void (*tell)(void *to, const struct history *history,
				const struct complaint *complaint),
		   void *to)
{
	size_t i, count = 0;

	model_start(model, surroundings);
	model->is_whole = history->is_whole;
	model->sees_all = history->id == NULL || strcmp(history->id, "trace") != 0;
	for (i = 0; i < history->move_count; i++) {
		const struct move *move = &history->moves[i];
		const struct step *step = &history->steps[move->step];
		struct complaint *complaint;

		if (!move->is_end) {
			model_begin(model, step);
			continue;
		}
		complaint = model_end(model, step);
		if (!complaint)
			continue;
		count++;
		tell(to, history, complaint);
		complaint_free(complaint);
	}
	return count + judge_rest(model, history, tell, to);
}

const char *model_state(const struct model *model, int process, intptr_t object)
{
	return model->api->state_of ? model->api->state_of(model->state, process, object) : NULL;
}
