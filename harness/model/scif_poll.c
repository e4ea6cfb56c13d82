/* SPDX-License-Identifier: BSD-2-Clause */
/* What scif_poll may say of endpoints whose state is known. */
#include "scif.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY  3 /* numbers per entry: epd, events, revents */
#define ALWAYS (POLLERR | POLLHUP | POLLNVAL)

/* Bits that must be shown if they were asked for, and bits that may be. */
struct bits {
	unsigned must, may;
};

static struct bits bits_of_messages(const struct scif_call *call, const struct endpoint *endpoint)
{
	struct bits bits = {0, POLLIN | POLLOUT};
	size_t capacity = scif_capacity(call->scif);
	struct count in, out;

	if (!endpoint->peer || call->flight->crowded || !model_is_whole(call->scif->model) ||
	    scif_has_alias(call->scif, endpoint) || scif_has_alias(call->scif, endpoint->peer))
		return bits;
	in = scif_bytes_for(endpoint);
	out = scif_bytes_of(endpoint);
	bits.must = (in.least ? POLLIN : 0U) | (out.most < capacity ? POLLOUT : 0U);
	bits.may = (in.most ? POLLIN : 0U) | (out.least < capacity ? POLLOUT : 0U);
	return bits;
}

/* An accept that is not told apart may have been its. */
static bool may_be_accepted(const struct scif_call *call, const struct endpoint *endpoint)
{
	size_t i;

	if (endpoint->port > 0)
		return false;
	for (i = 0; i < call->scif->endpoint_count; i++) {
		if (call->scif->endpoints[i]->was_made && !call->scif->endpoints[i]->peer)
			return true;
	}
	return call->scif->unknown_accepts;
}

/* Later something else may have that number, and show what it likes. */
static bool is_just_closed(const struct scif_call *call, intptr_t epd)
{
	return !model_surroundings(call->scif->model)->descriptors &&
	       model_is_whole(call->scif->model) && !call->flight->crowded &&
	       call->scif->closer == call->step->process && call->scif->just_closed == epd;
}

static struct bits bits_of_pending(const struct scif_call *call, const struct endpoint *endpoint)
{
	if (endpoint->was_accepted)
		return (struct bits){POLLOUT, POLLIN | POLLOUT};
	/* One that is refused is told somehow; without a port it may be one that was accepted. */
	if (endpoint->to_port < 0 || may_be_accepted(call, endpoint) || call->flight->crowded ||
	    scif_node_loss(call->scif) ||
	    !scif_listener(call->scif, endpoint->to_node, endpoint->to_port))
		return (struct bits){0, POLLIN | POLLOUT | POLLERR | POLLHUP};
	return (struct bits){0, 0};
}

/* After so many milliseconds a request is where it is sent to. */
#define ARRIVAL 2000

/* Somebody has asked since before the call and is still not answered, and it waited long enough. */
static bool has_old_request(const struct scif_call *call, const struct endpoint *listener)
{
	intptr_t patience;

	return argument_number(call->step, 2, &patience) && patience >= ARRIVAL &&
	       !call->step->ret && call->step->times == 1 && listener->backlog > 0 &&
	       model_is_whole(call->scif->model) &&
	       scif_requests(call->scif, listener, call->step->number) > 0;
}

/* False: nothing is known for sure. */
static bool expect(const struct scif_call *call, intptr_t epd, struct bits *bits)
{
	const struct endpoint *endpoint = scif_endpoint(call->scif, call->step->process, epd);
	unsigned states = endpoint ? scif_states(call->scif, endpoint) : ALL_STATES;

	if (epd < 0) {
		*bits = (struct bits){0, 0};
		return true;
	}
	if (!endpoint && is_just_closed(call, epd)) {
		*bits = (struct bits){POLLNVAL, POLLNVAL};
		return true;
	}
	switch (states) {
	case UNBOUND:
	case BOUND:
		*bits = (struct bits){POLLERR, POLLERR};
		return true;
	case LISTENING:
		*bits = (struct bits){0, POLLIN};
		return true;
	case CONNECTING:
		*bits = bits_of_pending(call, endpoint);
		return true;
	case CONNECTED:
	case ACCEPTED:
		*bits = bits_of_messages(call, endpoint);
		return true;
	case PEER_CLOSED:
		*bits = bits_of_messages(call, endpoint);
		bits->must = (bits->must & POLLIN) | POLLHUP;
		bits->may = (bits->may & POLLIN) | POLLHUP;
		return true;
	default:
		return false;
	}
}

static bool has_event(const struct scif_call *call)
{
	const struct value *entries = &call->step->arguments[0];
	size_t i, shown = 0;

	for (i = 0; i + ENTRY <= entries->at_count; i += ENTRY)
		shown += entries->at[i + 2] != 0;
	return (intptr_t)shown == call->step->ret;
}

/* What others do meanwhile does not matter to a request that nobody has answered. */
static bool lacks_request(const struct scif_call *call, const intptr_t *entry)
{
	const struct endpoint *endpoint = scif_endpoint(call->scif, call->step->process, entry[0]);

	return endpoint && endpoint->states == LISTENING && entry[1] & POLLIN && !entry[2] &&
	       has_old_request(call, endpoint);
}

static struct complaint *judge_entry(const struct scif_call *call, const intptr_t *entry)
{
	unsigned events = (unsigned)entry[1], shown = (unsigned)entry[2];
	struct bits bits;

	if (shown & ~(events | ALWAYS))
		return scif_complain(call, "bits that were asked for", "selected",
				     "entry %d shows 0x%x and was asked for 0x%x", (int)entry[0],
				     shown, events);
	if (lacks_request(call, entry))
		return scif_complain(
			call, "POLLIN", "selected",
			"a connect to the listener is under way since before the call");
	if (call->flight->disturbed || !expect(call, entry[0], &bits))
		return NULL;
	if (shown & ~bits.may & (POLLIN | POLLOUT | ALWAYS))
		return scif_complain(call, "bits that hold", "selected",
				     "entry %d shows 0x%x, of which 0x%x cannot be", (int)entry[0],
				     shown, shown & ~bits.may);
	if (bits.must & (events | ALWAYS) & ~shown)
		return scif_complain(call, "all bits that hold", "selected", "entry %d lacks 0x%x",
				     (int)entry[0], bits.must & (events | ALWAYS) & ~shown);
	return NULL;
}

struct complaint *scif_judge_poll(const struct scif_call *call)
{
	const struct value *entries = &call->step->arguments[0];
	intptr_t count;
	size_t i;

	if (strcmp(call->function->name, "scif_poll") || !entries->at_count)
		return NULL;
	if (argument_number(call->step, 1, &count) && (size_t)count * ENTRY == entries->at_count &&
	    !has_event(call))
		return scif_complain(call, "how many entries show a bit", "selected",
				     "another number of entries shows a bit");
	for (i = 0; i + ENTRY <= entries->at_count; i += ENTRY) {
		struct complaint *complaint = judge_entry(call, entries->at + i);

		if (complaint)
			return complaint;
	}
	return NULL;
}
