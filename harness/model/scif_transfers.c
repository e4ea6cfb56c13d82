/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers that surely are under way, since the memory that they were told is held back, and who
 * must wait for them: the wait for a mark that was made meanwhile, the close of either endpoint.
 */
#include "scif.h"

#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

#define INIT_SELF 1

bool scif_is_transfer(const struct step *step)
{
	static const char *const names[] = {"scif_readfrom", "scif_writeto", "scif_vreadfrom",
					    "scif_vwriteto"};
	size_t i;

	for (i = 0; step->function && i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(step->function, names[i]))
			return true;
	}
	return false;
}

static struct held *find_held(const struct scif *scif, int process, intptr_t address)
{
	size_t i;

	for (i = 0; i < scif->held_count; i++) {
		if (scif->held[i].process == process && scif->held[i].address == address)
			return &scif->held[i];
	}
	return NULL;
}

static void hold(struct scif *scif, int process, intptr_t address)
{
	if (find_held(scif, process, address))
		return;
	scif->held = grown_array(scif->held, scif->held_count + 1, sizeof(*scif->held));
	scif->held[scif->held_count++] = (struct held){.process = process, .address = address};
}

/* The one transfer that was told that memory sleeps there. */
static void stall(struct scif *scif, struct held *held)
{
	const struct flight *flight;
	size_t i;

	for (i = 0; (flight = model_flight(scif->model, i)); i++) {
		const struct before *before = flight->of_api;
		intptr_t address;

		if (flight->step->process != held->process || !scif_is_transfer(flight->step) ||
		    !argument_number(flight->step, 1, &address) || address != held->address)
			continue;
		held->mover = before->endpoint;
		held->transfer = flight->step;
		held->since = ++scif->stalls;
	}
}

void scif_take_memory(struct scif *scif, const struct step *step)
{
	intptr_t address = step->arguments[0].number;
	struct held *held = find_held(scif, step->process, address);

	if (step->kind == STEP_HELD)
		hold(scif, step->process, address);
	else if (held && step->kind == STEP_STALLED)
		stall(scif, held);
	else if (held)
		*held = scif->held[--scif->held_count];
}

/* Nothing moves that a mark made now could be about. */
bool scif_nothing_moves(const struct scif *scif)
{
	const struct flight *flight;
	size_t i;

	for (i = 0; (flight = model_flight(scif->model, i)); i++) {
		if (scif_is_transfer(flight->step))
			return false;
	}
	return !scif->held_count;
}

const struct mark *scif_mark(const struct endpoint *endpoint, intptr_t number)
{
	size_t i;

	for (i = 0; i < endpoint->mark_count; i++) {
		if (endpoint->marks[i].number == number)
			return &endpoint->marks[i];
	}
	return NULL;
}

/* A number that is given again stands for what all marks of that number have in common. */
static void add_mark(struct endpoint *endpoint, const struct mark *mark)
{
	struct mark *known = (struct mark *)scif_mark(endpoint, mark->number);

	if (!known) {
		endpoint->marks = grown_array(endpoint->marks, endpoint->mark_count + 1,
					      sizeof(*endpoint->marks));
		endpoint->marks[endpoint->mark_count++] = *mark;
		return;
	}
	known->is_quiet &= mark->is_quiet;
	if (known->is_own != mark->is_own)
		known->stalls = 0;
	else if (mark->stalls < known->stalls)
		known->stalls = mark->stalls;
}

void scif_learn_transfers(const struct scif_call *call)
{
	const struct before *before = call->flight->of_api;
	struct mark mark = {.stalls = before->stalls,
			    .is_quiet = before->nothing_moves && !call->flight->crowded};
	intptr_t flags;
	size_t i;

	for (i = 0; i < call->scif->held_count; i++) {
		if (call->scif->held[i].transfer == call->step)
			call->scif->held[i].mover = NULL;
	}
	if (strcmp(call->function->name, "scif_fence_mark") || call->step->error ||
	    !call->endpoint || !call->step->arguments[2].at_count ||
	    !argument_number(call->step, 1, &flags))
		return;
	mark.number = call->step->arguments[2].at[0];
	mark.is_own = flags == INIT_SELF;
	add_mark(call->endpoint, &mark);
}

/* A transfer through that endpoint sleeps since then or before. */
static bool is_moving(const struct scif_call *call, const struct endpoint *mover, size_t since)
{
	size_t i;

	for (i = 0; mover && i < call->scif->held_count; i++) {
		const struct held *held = &call->scif->held[i];

		if (held->mover == mover && held->since <= since)
			return true;
	}
	return false;
}

static struct complaint *judge_fence_wait(const struct scif_call *call)
{
	const struct mark *mark;
	intptr_t number;

	if (!argument_number(call->step, 1, &number))
		return NULL;
	mark = scif_mark(call->endpoint, number);
	if (!mark ||
	    !is_moving(call, mark->is_own ? call->endpoint : call->endpoint->peer, mark->stalls))
		return NULL;
	return scif_complain(call, "no return before the transfer has ended", "completed",
			     "a transfer that began before the mark is still under way");
}

static struct complaint *judge_close(const struct scif_call *call)
{
	const struct endpoint *endpoint = call->endpoint;

	if (endpoint->holders != 1 || endpoint->may_be_held ||
	    !(is_moving(call, endpoint, call->scif->stalls) ||
	      is_moving(call, endpoint->peer, call->scif->stalls)))
		return NULL;
	return scif_complain(call, "no return before the transfer has ended", "closed",
			     "a transfer through the connection is still under way");
}

struct complaint *scif_judge_transfers(const struct scif_call *call)
{
	const struct endpoint *endpoint = call->endpoint;

	if (!endpoint || endpoint->states & ~(unsigned)(CONNECTED | ACCEPTED) ||
	    scif_node_loss(call->scif) || scif_has_alias(call->scif, endpoint) ||
	    (endpoint->peer && scif_may_be_gone(call->scif, endpoint->peer)))
		return NULL;
	if (!strcmp(call->function->name, "scif_fence_wait"))
		return judge_fence_wait(call);
	return strcmp(call->function->name, "scif_close") ? NULL : judge_close(call);
}
