/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a raw log. Endpoints are told with their state, which nothing is asked for: the calls
 * are read in their order.
 */
#include "observe_log.h"

#include "errname.h"
#include "rsm_errname.h"
#include "scif_states.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORIGINS 1024

/* Who wrote to the log, in the order of appearance. */
struct origin {
	pid_t process, thread;
	int process_number, thread_number; /* from 1 */
	struct scif_states *states;	   /* of the process */
};

struct writing {
	FILE *out;
	struct observe_log *log;
	struct origin origins[ORIGINS];
	int count, processes;
	uint32_t used, *places; /* of each entry, the place of its event in the text */
	unsigned long calls;
};

static struct scif_states no_states;

/* A process that is new has what the first one had, as after a fork. */
static void begin_process(struct writing *w, struct origin *origin)
{
	origin->process_number = ++w->processes;
	origin->states = calloc(1, sizeof *origin->states);
	if (origin->states && w->count)
		*origin->states = *w->origins[0].states;
	else if (!origin->states)
		origin->states = &no_states;
}

static struct origin *add_origin(struct writing *w, pid_t process, pid_t thread)
{
	struct origin *origin = &w->origins[w->count];

	*origin = (struct origin){.process = process, .thread = thread};
	for (int i = 0; i < w->count; i++) {
		if (w->origins[i].process != process)
			continue;
		origin->process_number = w->origins[i].process_number;
		origin->states = w->origins[i].states;
		origin->thread_number++;
	}
	origin->thread_number++;
	if (!origin->states)
		begin_process(w, origin);
	w->count++;
	return origin;
}

/* The process that watches over a case counts as its first thread. */
static struct origin *origin_of(struct writing *w, const struct observed_entry *e)
{
	if (e->process == getpid())
		return &w->origins[0];
	for (int i = 0; i < w->count; i++) {
		if (w->origins[i].process == e->process && w->origins[i].thread == e->thread)
			return &w->origins[i];
	}
	return w->count < ORIGINS ? add_origin(w, e->process, e->thread) : &w->origins[ORIGINS - 1];
}

static void free_origins(struct writing *w)
{
	for (int i = 0; i < w->count; i++) {
		if (w->origins[i].thread_number == 1 && w->origins[i].states != &no_states)
			free(w->origins[i].states);
	}
}

static void write_origin(FILE *out, const struct origin *origin)
{
	fputs("\"by\":\"", out);
	if (origin->process_number > 1)
		fprintf(out, "process %d", origin->process_number);
	if (origin->thread_number > 1)
		fprintf(out, "%sthread %d", origin->process_number > 1 ? " " : "",
			origin->thread_number);
	putc('"', out);
}

static void write_span(FILE *out, const struct observe_log *log, const struct observed_entry *e)
{
	fprintf(out, "\"span\":[%" PRIu64, e->call.begun - log->start);
	if (atomic_load(&e->state) == ENTRY_DONE)
		fprintf(out, ",%" PRIu64, e->call.ended - log->start);
	putc(']', out);
}

static void write_values(FILE *out, const struct observe_log *log, const struct observed_text *text)
{
	fputs("\"values\":{", out);
	fwrite(log->text + text->at, 1, text->length, out);
	putc('}', out);
}

/* The first event that begins after the return of the call, unless it is the next. */
static uint32_t place_after(const struct writing *w, const struct observed_entry *e)
{
	uint32_t at = (uint32_t)(e - w->log->entries);
	uint32_t until = e->call.until < w->used ? e->call.until : w->used;

	if (e->length || !w->places || atomic_load(&e->state) != ENTRY_DONE ||
	    w->places[until] == w->places[at] + 1)
		return 0;
	return w->places[until];
}

static void separate(FILE *out, int *items)
{
	fputs((*items)++ ? "," : ",{", out);
}

static void write_extras(struct writing *w, struct observed_entry *e, const struct origin *origin)
{
	unsigned times = atomic_load(&e->times);
	uint32_t after = place_after(w, e);
	int items = 0;

	if (times > 1) {
		separate(w->out, &items);
		fprintf(w->out, "\"times\":%u", times);
	}
	if (origin->process_number > 1 || origin->thread_number > 1) {
		separate(w->out, &items);
		write_origin(w->out, origin);
	}
	if (after) {
		separate(w->out, &items);
		fprintf(w->out, "\"until\":%" PRIu32, after);
	}
	if (w->log->has_clock && !e->length) {
		separate(w->out, &items);
		write_span(w->out, w->log, e);
	}
	if (!e->length && atomic_load(&e->state) == ENTRY_BEGUN && e->call.ended) {
		separate(w->out, &items);
		fprintf(w->out, "\"waited\":%" PRIu64,
			(e->call.ended - e->call.begun) / 1000000000);
	}
	if (!e->length && e->call.values.length) {
		separate(w->out, &items);
		write_values(w->out, w->log, &e->call.values);
	}
	fputs(items ? "}]" : "]", w->out);
}

static void write_argument(FILE *out, const struct observed_call *call, int i,
			   const struct scif_states *states)
{
	intptr_t value = call->arguments[i];

	if (call->classes[i] == OBSERVED_NUMBER)
		fprintf(out, "%" PRIdPTR, value);
	else if (call->classes[i] == OBSERVED_ENDPOINT)
		fprintf(out, "\"%d %s\"", (int)value, scif_state(states, (int)value));
	else
		fputs(value ? "\"pointer\"" : "null", out);
}

static void write_result(FILE *out, struct observed_entry *e)
{
	const struct observed_call *call = &e->call;
	const char *error = NULL;

	if (atomic_load(&e->state) != ENTRY_DONE) {
		fputs("null,null", out);
		return;
	}
	if (strncmp(call->function, "rsm_", 4) != 0)
		error = call->ret == -1 ? cts_errname(call->err) : NULL;
	else if (!call->returns_nothing)
		error = rsm_errname((int)call->ret);
	if (call->returns == OBSERVED_POINTER && call->ret && call->ret != -1)
		fputs("\"pointer\"", out);
	else
		fprintf(out, "%" PRIdPTR, call->ret);
	fprintf(out, error ? ",\"%s\"" : ",null", error);
}

static void write_call(struct writing *w, struct observed_entry *e)
{
	const struct observed_call *call = &e->call;
	const struct origin *origin = origin_of(w, e);

	fprintf(w->out, "[\"call\",\"%s\",[", call->function);
	for (int i = 0; i < call->count; i++) {
		if (i)
			putc(',', w->out);
		write_argument(w->out, call, i, origin->states);
	}
	fputs("],", w->out);
	write_result(w->out, e);
	write_extras(w, e, origin);
	if (atomic_load(&e->state) == ENTRY_DONE)
		scif_states_follow(origin->states, call->function, (int)call->arguments[0],
				   (int)call->ret, call->err, (int)call->made);
	w->calls += atomic_load(&e->times);
}

static void write_event(struct writing *w, struct observed_entry *e)
{
	/* Behind its last item, before the bracket that closes it. */
	fwrite(w->log->text + e->at, 1, e->length - 1, w->out);
	write_extras(w, e, origin_of(w, e));
}

/* The place behind the last is that of what is not there yet. */
static void find_places(struct writing *w)
{
	uint32_t place = 0;

	w->places = calloc(w->used + 1, sizeof *w->places);
	for (uint32_t i = 0; w->places && i < w->used; i++) {
		w->places[i] = place;
		place += atomic_load(&w->log->entries[i].state) != ENTRY_EMPTY;
	}
	if (w->places)
		w->places[w->used] = place;
}

static void write_entries(struct writing *w)
{
	uint32_t dropped = atomic_load(&w->log->dropped);
	bool any = false;

	for (uint32_t i = 0; i < w->used; i++) {
		struct observed_entry *e = &w->log->entries[i];

		if (atomic_load(&e->state) == ENTRY_EMPTY)
			continue;
		if (any)
			putc(',', w->out);
		any = true;
		if (e->length)
			write_event(w, e);
		else
			write_call(w, e);
	}
	if (atomic_load(&w->log->full)) {
		fprintf(w->out, "%s[\"full\"]", any ? "," : "");
		any = true;
	}
	if (dropped)
		fprintf(w->out, "%s[\"dropped\",%u]", any ? "," : "", dropped);
}

unsigned long observe_write_events(FILE *out, struct observe_log *log)
{
	static struct writing writing;

	writing = (struct writing){.out = out, .log = log, .used = atomic_load(&log->used)};
	find_places(&writing);
	add_origin(&writing, log->process, log->thread);
	write_entries(&writing);
	free_origins(&writing);
	free(writing.places);
	return writing.calls;
}
