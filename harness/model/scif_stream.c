/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages: nobody receives what nobody has sent, and how much a call takes follows from its flags.
 */
#include "scif.h"

#include <limits.h>
#include <string.h>

#define SCIF_BLOCK 1

static bool is_send(const struct step *step)
{
	return step->function && !strcmp(step->function, "scif_send");
}

static bool is_recv(const struct step *step)
{
	return step->function && !strcmp(step->function, "scif_recv");
}

static size_t asked(const struct step *step)
{
	intptr_t length;

	return argument_number(step, 2, &length) && length > 0 ? (size_t)length : 0;
}

static size_t gave(const struct step *step)
{
	return step->error || step->ret < 0 ? 0 : (size_t)step->ret * step->times;
}

/* While it is under way it may have moved anything from nothing to all. */
void scif_begin_stream(struct scif *scif, struct flight *flight, struct endpoint *endpoint)
{
	size_t most = asked(flight->step) * flight->step->times;

	(void)scif;
	if (is_send(flight->step))
		endpoint->sent.most += most;
	else if (is_recv(flight->step))
		endpoint->taken.most += most;
}

void scif_learn_stream(const struct scif_call *call)
{
	const struct before *before = call->flight->of_api;
	const struct step *step = call->step;
	struct endpoint *endpoint = before->endpoint ? before->endpoint : call->endpoint;
	struct count *count;

	if (!endpoint || (!is_send(step) && !is_recv(step)))
		return;
	count = is_send(step) ? &endpoint->sent : &endpoint->taken;
	if (before->endpoint)
		count->most -= asked(step) * step->times;
	count->most += gave(step);
	count->least += gave(step);
}

static size_t difference(size_t a, size_t b)
{
	return a > b ? a - b : 0;
}

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The reasons for which a blocking call ends early. */
static bool may_end_early(const struct scif_call *call)
{
	const struct surroundings *around = model_surroundings(call->scif->model);

	return around->signals || scif_node_loss(call->scif) || around->threads ||
	       call->flight->disturbed || call->step->interrupted ||
	       call->states & (PEER_CLOSED | NODE_LOST);
}

/* What may lie in the queue that a call takes from or puts into, without what itself moved. */
static struct count queued(const struct scif_call *call)
{
	const struct before *before = call->flight->of_api;
	const struct endpoint *near = call->endpoint, *far = near->peer;
	size_t own = asked(call->step) * call->step->times;

	if (is_recv(call->step))
		return (struct count){
			.least = difference(before->peer_sent.least, near->taken.most - own),
			.most = difference(far->sent.most, before->taken.least)};
	return (struct count){.least = difference(before->sent.least, far->taken.most),
			      .most = difference(near->sent.most - own, before->peer_taken.least)};
}

bool scif_may_have_bytes(const struct scif_call *call)
{
	const struct before *before = call->flight->of_api;

	return !call->endpoint->peer || !before->endpoint || queued(call).most > 0;
}

static struct complaint *judge_recv(const struct scif_call *call, bool blocks)
{
	struct count queue = queued(call);
	size_t wanted = asked(call->step), got = gave(call->step);

	if (got > queue.most)
		return scif_complain(call, "no more than was sent", "received",
				     "the peer has sent at most %zu bytes that are not received",
				     queue.most);
	if (call->step->times > 1)
		return NULL;
	if (blocks && got < wanted && !may_end_early(call))
		return scif_complain(call, "all bytes", "received",
				     "nothing ends a blocking call early here");
	if (!blocks && got < lesser(wanted, queue.least))
		return scif_complain(call, "what there is", "received",
				     "at least %zu bytes have been sent and not received",
				     queue.least);
	if (!blocks && !got && wanted && !queue.most && !call->flight->crowded &&
	    call->endpoint->peer->node >= 0 && call->scif->asleep == 1 + call->endpoint->peer->node)
		return scif_complain(call, "EAGAIN", "EAGAIN", "the peer's node is asleep");
	if (got == 0 && wanted && !(call->states & ~(unsigned)PEER_CLOSED))
		return scif_complain(call, "ECONNRESET", "ECONNRESET",
				     "the peer is gone and there is nothing to receive");
	return NULL;
}

static struct complaint *judge_send(const struct scif_call *call, bool blocks)
{
	size_t capacity =
		(size_t)tables_number(model_tables(call->scif->model), "SCIF-SEND-SENT-5", INT_MAX);
	struct count queue = queued(call);
	size_t wanted = asked(call->step), got = gave(call->step);

	if (call->step->times > 1)
		return NULL;
	if (blocks)
		return got < wanted && !may_end_early(call)
			       ? scif_complain(call, "all bytes", "sent",
					       "nothing ends a blocking call early here")
			       : NULL;
	if (got > lesser(wanted, difference(capacity, queue.least)))
		return scif_complain(call, "as many bytes as there is room for", "sent",
				     "at least %zu of %zu bytes are not received", queue.least,
				     capacity);
	if (got < lesser(wanted, difference(capacity, queue.most)))
		return scif_complain(call, "as many bytes as there is room for", "sent",
				     "at most %zu of %zu bytes are not received", queue.most,
				     capacity);
	return NULL;
}

/* Both ends and what they have done are known. */
static bool is_known(const struct scif_call *call)
{
	const struct before *before = call->flight->of_api;
	const struct endpoint *near = call->endpoint;

	return near && near->peer && before->endpoint && model_is_whole(call->scif->model) &&
	       !scif_has_alias(call->scif, near) && !scif_has_alias(call->scif, near->peer);
}

struct count scif_bytes_for(const struct endpoint *endpoint)
{
	return (struct count){.least = difference(endpoint->peer->sent.least, endpoint->taken.most),
			      .most = difference(endpoint->peer->sent.most, endpoint->taken.least)};
}

struct count scif_bytes_of(const struct endpoint *endpoint)
{
	return scif_bytes_for(endpoint->peer);
}

size_t scif_capacity(const struct scif *scif)
{
	return (size_t)tables_number(model_tables(scif->model), "SCIF-SEND-SENT-5", INT_MAX);
}

/* An empty message is no matter of the connection. */
static struct complaint *contradict_nothing(const struct scif_call *call)
{
	static const char *const about_state[] = {"ENOTCONN", "ECONNRESET", "ENODEV"};
	size_t i;

	for (i = 0; i < sizeof(about_state) / sizeof(*about_state); i++) {
		if (!strcmp(call->step->error, about_state[i]) && !call->flight->disturbed)
			return scif_complain(call, "0", "nothing", "the length is 0");
	}
	return NULL;
}

/* What was sent comes before the news that the sender is gone. */
static struct complaint *contradict_end(const struct scif_call *call)
{
	struct count queue = queued(call);

	if (!is_recv(call->step) || !queue.least || scif_node_loss(call->scif) ||
	    call->flight->disturbed)
		return NULL;
	return scif_complain(call, "the bytes that were sent", "received",
			     "at least %zu bytes have been sent and not received", queue.least);
}

/* What ends a call after some bytes makes it a success that is short. */
static struct complaint *contradict_interrupt(const struct scif_call *call)
{
	struct count queue = queued(call);
	size_t capacity = scif_capacity(call->scif);

	if (call->flight->crowded)
		return NULL;
	if (is_recv(call->step) && queue.least)
		return scif_complain(call, "the bytes that were there", "received",
				     "at least %zu bytes were there", queue.least);
	if (is_send(call->step) && queue.most < capacity)
		return scif_complain(call, "the bytes there was room for", "sent",
				     "there was room for %zu bytes", capacity - queue.most);
	return NULL;
}

struct complaint *scif_contradict_stream(const struct scif_call *call)
{
	const char *error = call->step->error;
	intptr_t length, flags;

	if ((!is_send(call->step) && !is_recv(call->step)) ||
	    !argument_number(call->step, 2, &length) || !argument_number(call->step, 3, &flags))
		return NULL;
	if (!length)
		return contradict_nothing(call);
	if (!is_known(call) || length < 0)
		return NULL;
	if (!strcmp(error, "ECONNRESET"))
		return contradict_end(call);
	return strcmp(error, "EINTR") ? NULL : contradict_interrupt(call);
}

struct complaint *scif_judge_stream(const struct scif_call *call)
{
	intptr_t flags;

	if (!is_send(call->step) && !is_recv(call->step))
		return NULL;
	if (call->step->ret < 0 || (size_t)call->step->ret > asked(call->step))
		return scif_complain(call, "at most the length that was asked for",
				     is_send(call->step) ? "sent" : "received",
				     "it is more than was asked for");
	if (!is_known(call) || !argument_number(call->step, 3, &flags))
		return NULL;
	return is_send(call->step) ? judge_send(call, flags & SCIF_BLOCK)
				   : judge_recv(call, flags & SCIF_BLOCK);
}
