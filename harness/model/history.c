/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the log of a case: its calls, and the exchanges with peers, which are calls as well. Where
 * the log does not say how long a call lasted, it lasts until its thread is heard of again.
 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

/* Of the time at which event N was noted: what came back before it, itself, what follows it. */
enum { BEFORE, AT, DONE, BEHIND, PHASES };

static size_t time_of(size_t event, int phase)
{
	return event * PHASES + (size_t)phase;
}

static const json_t *extras_of(const json_t *event)
{
	const json_t *last = json_array_get(event, json_array_size(event) - 1);

	return json_is_object(last) ? last : NULL;
}

/* Who noted an event: "thread 2" or "process 3"; the first thread of all is process 1, thread 1. */
static struct origin origin_of(const json_t *event)
{
	const char *by = json_string_value(json_object_get(extras_of(event), "by"));
	struct origin origin = {1, 1};

	if (by && !strncmp(by, "thread ", 7))
		origin.thread = atoi(by + 7);
	else if (by)
		sscanf(by, "process %d thread %d", &origin.process, &origin.thread);
	return origin;
}

struct step *history_add_step(struct reader *reader, size_t event, enum step_kind kind)
{
	struct history *history = reader->history;
	struct step *step;

	history->steps =
		grown_array(history->steps, history->step_count + 1, sizeof(*history->steps));
	step = &history->steps[history->step_count++];
	*step = (struct step){.kind = kind, .number = event, .times = 1};
	return step;
}

void history_add_move(struct reader *reader, size_t step, size_t time, bool is_end)
{
	struct history *history = reader->history;

	history->moves =
		grown_array(history->moves, history->move_count + 1, sizeof(*history->moves));
	history->moves[history->move_count++] =
		(struct move){.step = step, .time = time, .is_end = is_end};
}

static struct value value_of(const json_t *item)
{
	const char *text = json_string_value(item);

	if (json_is_null(item))
		return (struct value){.is = VALUE_NULL};
	if (json_is_integer(item))
		return (struct value){.is = VALUE_NUMBER, .number = json_integer_value(item)};
	/* An endpoint with its state, "7 bound"; the model has its own thoughts of that. */
	if (text && strcmp(text, "pointer"))
		return (struct value){.is = VALUE_NUMBER, .number = atol(text)};
	return (struct value){0};
}

static intptr_t number_in(const json_t *item)
{
	const char *text = json_string_value(item);

	return text ? (intptr_t)strtoull(text, NULL, 0) : (intptr_t)json_integer_value(item);
}

/* Also what is in arrays within an array. */
static void flatten(struct value *value, const json_t *item)
{
	const json_t *inner;
	size_t i;

	json_array_foreach((json_t *)item, i, inner) flatten(value, inner);
	if (json_is_array(item))
		return;
	value->at = grown_array(value->at, value->at_count + 1, sizeof(*value->at));
	value->at[value->at_count++] = number_in(item);
}

/* A handle is the argument itself, unless a place for one was handed over. */
static bool is_content(const struct plan_function *function, size_t parameter, const json_t *item)
{
	const char *type = tables_type(function, parameter);

	return !json_is_string(item) || strstr(type, "handle_t *") || strstr(type, "**");
}

/* Every other string is an address. */
static bool is_name(const json_t *item)
{
	const char *text = json_string_value(item);

	return text && strncmp(text, "0x", 2) != 0;
}

static void read_values(const struct reader *reader, struct step *step, const json_t *values)
{
	const struct plan_function *function =
		step->function ? tables_function(reader->tables, step->function) : NULL;
	const char *name;
	json_t *item;

	json_object_foreach((json_t *)values, name, item)
	{
		int at = function ? tables_parameter(function, name) : -1;

		if (!strcmp(name, "user"))
			flatten(&step->user, item);
		if (at < 0 || at >= STEP_ARGUMENTS)
			continue;
		if (is_name(item)) {
			step->arguments[at].text = json_string_value(item);
			continue;
		}
		if (is_content(function, (size_t)at, item))
			flatten(&step->arguments[at], item);
		else
			step->arguments[at] =
				(struct value){.is = VALUE_NUMBER, .number = number_in(item)};
	}
}

static void read_arguments(const struct reader *reader, struct step *step, const json_t *event)
{
	const json_t *arguments = json_array_get(event, 2);
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)arguments, i, item)
	{
		if (i == STEP_ARGUMENTS)
			break;
		step->arguments[i] = value_of(item);
		step->count = i + 1;
	}
	read_values(reader, step, json_object_get(extras_of(event), "values"));
}

/* RSMAPI names the code it returned also where that is success. */
static const char *error_of(const json_t *item)
{
	const char *name = json_string_value(item);

	return name && strcmp(name, "RSM_SUCCESS") ? name : NULL;
}

/* The next event of the same thread; the number of events where there is none. */
static size_t next_of(const struct reader *reader, size_t event)
{
	size_t next = event + 1;

	while (next < reader->event_count &&
	       (reader->origins[next].process != reader->origins[event].process ||
		reader->origins[next].thread != reader->origins[event].thread))
		next++;
	return next;
}

/* The last event of the same thread before this one, and 0 where there is none. */
static size_t last_of(const struct reader *reader, size_t event)
{
	size_t last = event;

	while (last-- > 0) {
		if (reader->origins[last].process == reader->origins[event].process &&
		    reader->origins[last].thread == reader->origins[event].thread)
			return last;
	}
	return 0;
}

static size_t return_time(const struct reader *reader, const json_t *event, size_t index)
{
	const json_t *until = json_object_get(extras_of(event), "until");
	size_t next = next_of(reader, index);

	if (until)
		return time_of((size_t)json_integer_value(until), BEFORE);
	if (reader->history->knows_intervals || next == index + 1)
		return time_of(index, DONE);
	return time_of(next, BEFORE);
}

static void read_call(struct reader *reader, const json_t *event, size_t index)
{
	const json_t *ret = json_array_get(event, 3);
	const json_t *times = json_object_get(extras_of(event), "times");
	size_t number = reader->history->step_count;
	struct step *step = history_add_step(reader, index, STEP_CALL);

	step->process = reader->origins[index].process;
	step->thread = reader->origins[index].thread;
	step->function = json_string_value(json_array_get(event, 1));
	read_arguments(reader, step, event);
	step->came_back = !json_is_null(ret);
	step->ret = json_is_integer(ret) ? json_integer_value(ret) : 1;
	step->error = error_of(json_array_get(event, 4));
	if (times)
		step->times = (unsigned)json_integer_value(times);
	step->waited = (unsigned)json_integer_value(json_object_get(extras_of(event), "waited"));
	history_add_move(reader, number, time_of(index, AT), false);
	if (step->came_back)
		history_add_move(reader, number, return_time(reader, event, index), true);
}

static void add_sign(struct reader *reader, size_t index, enum step_kind kind, int process)
{
	size_t number = reader->history->step_count;

	history_add_step(reader, index, kind)->process = process;
	history_add_move(reader, number, time_of(index, AT), false);
}

/* What the process does beside its calls: an event of one number or truth. */
static void read_deed(struct reader *reader, const json_t *event, size_t index, enum step_kind kind)
{
	const json_t *item = json_array_get(event, 1);
	intptr_t number =
		json_is_integer(item) ? (intptr_t)json_integer_value(item) : json_is_true(item);
	size_t at = reader->history->step_count;

	add_sign(reader, index, kind, reader->origins[index].process);
	reader->history->steps[at].arguments[0] =
		(struct value){.is = VALUE_NUMBER, .number = number};
}

static void read_node(struct reader *reader, const json_t *event, size_t index)
{
	static const char *const names[] = {"up", "down", "sleep"};
	const char *state = json_string_value(json_array_get(event, 2));
	size_t number = reader->history->step_count;
	int change = NODE_UP;
	struct step *step;

	while (change < NODE_OTHERWISE && strcmp(names[change], state ? state : ""))
		change++;
	add_sign(reader, index, STEP_NODE, 0);
	step = &reader->history->steps[number];
	step->arguments[0] = value_of(json_array_get(event, 1));
	step->arguments[1] = (struct value){.is = VALUE_NUMBER, .number = change};
}

static bool is_text(const json_t *item, const char *text)
{
	return json_is_string(item) && !strcmp(json_string_value(item), text);
}

/* What is not a call or an exchange, but changes what there is. */
static void read_other(struct reader *reader, const json_t *event, const char *what, size_t index)
{
	if (!strcmp(what, "fork"))
		add_sign(reader, index, STEP_FORKS, reader->origins[index].process);
	else if (!strcmp(what, "peer-end"))
		history_end_peer(reader, (int)json_integer_value(json_array_get(event, 1)), index,
				 time_of(index, AT));
	else if (!strcmp(what, "node"))
		read_node(reader, event, index);
	else if (!strcmp(what, "held"))
		read_deed(reader, event, index, STEP_HELD);
	else if (!strcmp(what, "stalled"))
		read_deed(reader, event, index, STEP_STALLED);
	else if (!strcmp(what, "released"))
		read_deed(reader, event, index, STEP_RELEASED);
	else if (!strcmp(what, "privilege"))
		read_deed(reader, event, index, STEP_PRIVILEGE);
	else if (!strcmp(what, "dropped") || !strcmp(what, "full"))
		reader->history->is_whole = false;
	else if (!strcmp(what, "end"))
		reader->history->ran_out = is_text(json_array_get(event, 1), "timeout");
	else if (!strcmp(what, "judge"))
		reader->history->profile = json_string_value(json_array_get(event, 1));
}

/* A process that is heard of for the first time; a round begins with nothing. */
static void read_process(struct reader *reader, size_t index)
{
	int process = reader->origins[index].process;
	size_t i;

	for (i = 0; i < index; i++) {
		if (reader->origins[i].process == process)
			return;
	}
	if (process != 1)
		add_sign(reader, index, STEP_FORKED, process);
}

/* A process that forked off ends when it likes, and says nothing of it. */
static void end_process(struct reader *reader, size_t index)
{
	int process = reader->origins[index].process;
	size_t i;

	for (i = index + 1; i < reader->event_count; i++) {
		if (reader->origins[i].process == process)
			return;
	}
	if (process != 1)
		add_sign(reader, index, STEP_LAST_SIGN, process);
}

static void read_event(struct reader *reader, size_t index)
{
	const json_t *event = json_array_get(reader->events, index);
	const char *what = json_string_value(json_array_get(event, 0));

	if (!what)
		return;
	read_process(reader, index);
	if (!strcmp(what, "call"))
		read_call(reader, event, index);
	else if (!strcmp(what, "peer"))
		history_read_exchange(reader, event, index, time_of(last_of(reader, index), BEHIND),
				      time_of(index, AT));
	else
		read_other(reader, event, what, index);
	end_process(reader, index);
}

/* qsort() is not stable, and a step ends behind its beginning. */
static int compare_moves(const void *left, const void *right)
{
	const struct move *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return a->is_end - b->is_end;
}

void history_read(struct history *history, json_t *line, const struct tables *tables,
		  bool knows_intervals)
{
	struct reader reader = {
		.history = history, .events = json_object_get(line, "events"), .tables = tables};
	size_t i;

	*history = (struct history){.id = json_string_value(json_object_get(line, "id")),
				    .line = json_incref(line),
				    .is_whole = true,
				    .knows_intervals = knows_intervals};
	reader.event_count = json_array_size(reader.events);
	reader.origins = zeroed_array(reader.event_count + 1, sizeof(*reader.origins));
	for (i = 0; i < reader.event_count; i++)
		reader.origins[i] = origin_of(json_array_get(reader.events, i));
	for (i = 0; i < reader.event_count; i++)
		read_event(&reader, i);
	history_end_exchanges(&reader);
	free(reader.origins);
	if (history->move_count)
		qsort(history->moves, history->move_count, sizeof(*history->moves), compare_moves);
}

void history_free(struct history *history)
{
	size_t i, k;

	for (i = 0; i < history->step_count; i++) {
		for (k = 0; k < STEP_ARGUMENTS; k++)
			free(history->steps[i].arguments[k].at);
		free(history->steps[i].user.at);
	}
	free(history->steps);
	free(history->moves);
	json_decref(history->line);
	*history = (struct history){0};
}
