/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes up calls of SCIF: mostly those that the state of an endpoint lets through, now and then
 * any, and says of a call whether it would wait for somebody else.
 */
#include "scif.h"

#include <poll.h>
#include <string.h>

#include "../runner/format.h"

#define PAGE	       4096
#define MOST_ENDPOINTS 6
#define MOST_BYTES     6000
enum { READ_WRITE = 3, SYNC = 4, INIT_SELF = 1 };

/* Whom the choice is made for, and by. */
struct proposal {
	const struct scif *scif;
	struct scif_process *process;
	struct step *step;
	size_t (*choose)(void *from, size_t below);
	void *from;
	intptr_t epd;
	const struct endpoint *endpoint;
};

static size_t pick(const struct proposal *proposal, size_t below)
{
	return proposal->choose(proposal->from, below);
}

static void call(struct proposal *proposal, const char *function)
{
	proposal->step->function = function;
	proposal->step->count = 0;
}

static void add(struct proposal *proposal, intptr_t number)
{
	proposal->step->arguments[proposal->step->count++] =
		(struct value){.is = VALUE_NUMBER, .number = number};
}

static void add_buffer(struct proposal *proposal, size_t bytes)
{
	proposal->step->arguments[proposal->step->count++] =
		(struct value){.number = (intptr_t)bytes};
}

static void add_contents(struct proposal *proposal, const intptr_t *numbers, size_t count)
{
	struct value *value = &proposal->step->arguments[proposal->step->count++];

	*value = (struct value){.at = zeroed_array(count, sizeof(*value->at)), .at_count = count};
	memcpy(value->at, numbers, count * sizeof(*numbers));
}

static void propose_message(struct proposal *proposal)
{
	size_t length = 1 + pick(proposal, pick(proposal, 3) ? 200 : MOST_BYTES);

	call(proposal, pick(proposal, 2) ? "scif_send" : "scif_recv");
	add(proposal, proposal->epd);
	add_buffer(proposal, length);
	add(proposal, (intptr_t)length);
	add(proposal, (intptr_t)pick(proposal, 2));
	if (model_may_block(proposal->scif->model, proposal->step))
		proposal->step->arguments[3].number = 0;
}

static void propose_poll(struct proposal *proposal)
{
	intptr_t entry[3] = {proposal->epd, (intptr_t)pick(proposal, 8) & (POLLIN | POLLOUT), 0};

	call(proposal, "scif_poll");
	add_contents(proposal, entry, 3);
	add(proposal, 1);
	add(proposal, 0);
}

static void propose_register(struct proposal *proposal)
{
	size_t pages = 1 + pick(proposal, 4);

	call(proposal, "scif_register");
	add(proposal, proposal->epd);
	add_buffer(proposal, pages * PAGE);
	add(proposal, (intptr_t)(pages * PAGE));
	add(proposal, 0);
	add(proposal, (intptr_t)pick(proposal, READ_WRITE + 1));
	add(proposal, 0);
}

static const struct window *pick_window(const struct proposal *proposal,
					const struct endpoint *owner)
{
	if (!owner || !owner->window_count)
		return NULL;
	return &owner->windows[pick(proposal, owner->window_count)];
}

static void propose_unregister(struct proposal *proposal)
{
	const struct window *window = pick_window(proposal, proposal->endpoint);

	call(proposal, "scif_unregister");
	add(proposal, proposal->epd);
	add(proposal, window ? window->offset : 0);
	add(proposal, window ? (intptr_t)window->length : PAGE);
}

/* Within a window of each side, where there are such, or a little beyond. */
static void propose_transfer(struct proposal *proposal)
{
	static const char *const functions[] = {"scif_readfrom", "scif_writeto", "scif_vreadfrom",
						"scif_vwriteto"};
	const struct window *near = pick_window(proposal, proposal->endpoint);
	const struct window *far = pick_window(proposal, proposal->endpoint->peer);
	size_t length = 1 + pick(proposal, PAGE), kind = pick(proposal, 4);

	call(proposal, functions[kind]);
	add(proposal, proposal->epd);
	if (kind < 2)
		add(proposal, near ? near->offset : 0);
	else
		add_buffer(proposal, length);
	add(proposal, (intptr_t)length);
	add(proposal, far ? far->offset + (intptr_t)pick(proposal, 64) : 0);
	add(proposal, SYNC);
}

static void propose_plain(struct proposal *proposal, const char *function, intptr_t second,
			  bool has_second)
{
	call(proposal, function);
	add(proposal, proposal->epd);
	if (has_second)
		add(proposal, second);
}

static void propose_mark(struct proposal *proposal)
{
	propose_plain(proposal, "scif_fence_mark", INIT_SELF, true);
	add_buffer(proposal, sizeof(int));
}

static void propose_accept(struct proposal *proposal)
{
	call(proposal, "scif_accept");
	add(proposal, proposal->epd);
	add_buffer(proposal, 2 * sizeof(uint16_t));
	add_buffer(proposal, sizeof(int));
	add(proposal, 0);
}

/* To somebody who listens, if anybody does. */
static void propose_connect(struct proposal *proposal)
{
	intptr_t to[2] = {proposal->process->node < 0 ? 0 : proposal->process->node, 1};
	size_t i, seen = 0;

	for (i = 0; i < proposal->scif->endpoint_count; i++) {
		const struct endpoint *other = proposal->scif->endpoints[i];

		if (other->states != LISTENING || pick(proposal, ++seen))
			continue;
		to[0] = other->node < 0 ? to[0] : other->node;
		to[1] = other->port;
	}
	call(proposal, "scif_connect");
	add(proposal, proposal->epd);
	add_contents(proposal, to, 2);
}

static void propose_any(struct proposal *proposal)
{
	static void (*const makers[])(struct proposal * proposal) = {
		propose_message,  propose_poll, propose_register, propose_unregister,
		propose_transfer, propose_mark, propose_accept,	  propose_connect,
	};

	makers[pick(proposal, sizeof(makers) / sizeof(*makers))](proposal);
}

static void propose_connected(struct proposal *proposal)
{
	static void (*const makers[])(struct proposal * proposal) = {
		propose_message,    propose_message,  propose_message, propose_register,
		propose_unregister, propose_transfer, propose_poll,    propose_mark,
	};

	makers[pick(proposal, sizeof(makers) / sizeof(*makers))](proposal);
}

static void propose_for_state(struct proposal *proposal)
{
	unsigned states = proposal->endpoint->states;

	if (!pick(proposal, 12))
		propose_any(proposal);
	else if (!pick(proposal, 15))
		propose_plain(proposal, "scif_close", 0, false);
	else if (states & (CONNECTED | ACCEPTED | PEER_CLOSED))
		propose_connected(proposal);
	else if (states & LISTENING)
		propose_accept(proposal);
	else if (states & CONNECTING || !pick(proposal, 3))
		propose_connect(proposal);
	else if (states & BOUND)
		propose_plain(proposal, "scif_listen", 1 + (intptr_t)pick(proposal, 3), true);
	else
		propose_plain(proposal, "scif_bind", 0, true);
}

bool scif_propose(const void *state, int process, struct step *step,
		  size_t (*choose)(void *from, size_t below), void *from)
{
	struct scif *scif = (struct scif *)state;
	struct proposal proposal = {.scif = scif,
				    .process = scif_process(scif, process),
				    .step = step,
				    .choose = choose,
				    .from = from};
	size_t count = proposal.process->open_count, at;

	*step = (struct step){.kind = STEP_CALL, .process = process, .thread = 1, .times = 1};
	if (!count || (count < MOST_ENDPOINTS && !pick(&proposal, 8))) {
		call(&proposal, "scif_open");
		return true;
	}
	at = pick(&proposal, count);
	proposal.epd = proposal.process->open[at].epd;
	proposal.endpoint = proposal.process->open[at].endpoint;
	propose_for_state(&proposal);
	return true;
}

/* Somebody listens there, or may. */
static bool may_listen(const struct scif *scif, const struct value *to)
{
	size_t i;

	for (i = 0; i < scif->endpoint_count; i++) {
		if (scif->endpoints[i]->states & LISTENING &&
		    (to->at_count < 2 || scif->endpoints[i]->port == (int)to->at[1]))
			return true;
	}
	return false;
}

static bool message_may_block(const struct scif *scif, const struct step *step, bool sends)
{
	const struct endpoint *endpoint =
		scif_endpoint(scif, step->process, step->arguments[0].number);
	intptr_t length = 0, flags = 0;
	struct count queue;

	argument_number(step, 2, &length);
	if (!argument_number(step, 3, &flags) || flags != 1 || length <= 0)
		return false;
	if (!endpoint || endpoint->states & (UNBOUND | BOUND | LISTENING | PEER_CLOSED))
		return false;
	if (!endpoint->peer)
		return true;
	queue = sends ? scif_bytes_of(endpoint) : scif_bytes_for(endpoint);
	return sends ? queue.most + (size_t)length > scif_capacity(scif)
		     : queue.least < (size_t)length;
}

bool scif_may_block(const void *state, const struct step *step)
{
	const struct scif *scif = state;
	intptr_t number = 0;

	if (!strcmp(step->function, "scif_accept"))
		return argument_number(step, 3, &number) && number & 1;
	if (!strcmp(step->function, "scif_connect"))
		return may_listen(scif, &step->arguments[1]);
	if (!strcmp(step->function, "scif_poll"))
		return argument_number(step, 2, &number) && number < 0;
	if (!strcmp(step->function, "scif_send") || !strcmp(step->function, "scif_recv"))
		return message_may_block(scif, step, !strcmp(step->function, "scif_send"));
	return false;
}
