/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports, listeners, and how two endpoints become a connection. */
#include "scif.h"

#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

/* The numbers are those of the public header. */
#define SCIF_PORT_RSVD	 1088
#define SCIF_ADMIN_PORT	 1024
#define SCIF_ACCEPT_SYNC 1
#define SCIF_NODE_MOST	 256

static bool is_call(const struct scif_call *call, const char *function)
{
	return !strcmp(call->step->function, function);
}

static bool same_node(int a, int b)
{
	return a == b || a < 0 || b < 0;
}

static bool surely_same_node(int a, int b)
{
	return a == b && a >= 0;
}

/* An endpoint that holds a port; only one that does so for sure where SURE is set. */
static const struct endpoint *holder_of(const struct scif_call *call, int node, int port, bool sure)
{
	size_t i;

	for (i = 0; i < call->scif->endpoint_count; i++) {
		const struct endpoint *other = call->scif->endpoints[i];

		if (other == call->endpoint || other->was_made ||
		    (!other->holders && !other->may_be_held) ||
		    (other->port != port && (sure || other->port >= 0)))
			continue;
		if (sure ? surely_same_node(other->node, node) && other->holders &&
				    !scif_may_be_gone(call->scif, other)
			 : same_node(other->node, node))
			return other;
	}
	return NULL;
}

static struct complaint *judge_open(const struct scif_call *call)
{
	if (call->step->ret < 0)
		return scif_complain(call, "a descriptor", "descriptor", "the number is negative");
	if (model_surroundings(call->scif->model)->descriptors || call->step->times > 1 ||
	    call->flight->crowded ||
	    !scif_endpoint(call->scif, call->step->process, call->step->ret))
		return NULL;
	return scif_complain(call, "a number of its own", "descriptor",
			     "an endpoint that is still open has that number");
}

static struct complaint *judge_bind(const struct scif_call *call)
{
	const struct before *before = call->flight->of_api;
	intptr_t port;

	if (!argument_number(call->step, 1, &port))
		return NULL;
	port &= 0xffff;
	if (!port && call->step->ret < SCIF_PORT_RSVD)
		return scif_complain(call, "a port from 1088 on", "port",
				     "a port is assigned that is reserved");
	if (port && call->step->ret != port)
		return scif_complain(call, "the port that was asked for", "port",
				     "another port was asked for");
	if (port && port < SCIF_ADMIN_PORT && before->is_unprivileged &&
	    call->process->is_unprivileged)
		return scif_complain(call, "EACCES", "EACCES", "the user is not privileged");
	if (call->flight->around || call->step->times > 1 ||
	    !holder_of(call, call->process->node, (int)call->step->ret, true))
		return NULL;
	return scif_complain(call, "EINVAL", "EINVAL", "another endpoint has the port");
}

/* Of the requests that were answered. */
static bool has_accept(const struct scif_call *call)
{
	return call->scif->connects < call->scif->accepts_begun ||
	       model_surroundings(call->scif->model)->threads || !model_is_whole(call->scif->model);
}

/* A port that a success gives must be the one that an accept was told of. */
static bool was_told(const struct scif_call *call)
{
	size_t i;

	if (call->scif->unknown_accepts || call->flight->crowded || !call->endpoint ||
	    call->endpoint->peer || !model_is_whole(call->scif->model))
		return true;
	for (i = 0; i < call->scif->endpoint_count; i++) {
		const struct endpoint *other = call->scif->endpoints[i];

		if (other->was_made && !other->peer && other->peer_port == (int)call->step->ret &&
		    same_node(other->peer_node, call->endpoint->node))
			return true;
	}
	return false;
}

static struct complaint *judge_connect(const struct scif_call *call)
{
	const struct endpoint *endpoint = call->endpoint;

	if (call->step->ret < 1 || call->step->ret > 65535)
		return scif_complain(call, "a port", "port", "that is no port");
	if (endpoint && endpoint->port > 0 && endpoint->port != call->step->ret)
		return scif_complain(call, "the port that the endpoint has", "port",
				     "the endpoint is bound to port %d", endpoint->port);
	if (!has_accept(call))
		return scif_complain(call, "ECONNREFUSED, EINPROGRESS, or no return yet", "port",
				     "nobody has accepted");
	if (!was_told(call))
		return scif_complain(call, "the port that accept was told", "port",
				     "no accept was told of a request from that port");
	return NULL;
}

/* A connect is under way, and on which endpoint is not known. */
static bool has_unknown_connect(const struct scif_call *call)
{
	const struct flight *other;
	size_t i;

	for (i = 0; (other = model_flight(call->scif->model, i)); i++) {
		const struct before *before = other->of_api;

		if (!strcmp(other->step->function, "scif_connect") && !before->endpoint)
			return true;
	}
	return false;
}

static struct complaint *judge_accept(const struct scif_call *call)
{
	const struct value *peer = &call->step->arguments[1];
	size_t i;

	if (peer->at_count < 2 || has_unknown_connect(call))
		return NULL;
	for (i = 0; i < call->scif->endpoint_count; i++) {
		const struct endpoint *other = call->scif->endpoints[i];

		if (other->has_asked && (other->port <= 0 || other->port == (int)peer->at[1]) &&
		    same_node(other->node, (int)peer->at[0]))
			return NULL;
	}
	if (model_surroundings(call->scif->model)->threads || !model_is_whole(call->scif->model))
		return NULL;
	return scif_complain(call, "the node and port of a request", "accepted",
			     "nobody asks from node %d, port %d", (int)peer->at[0],
			     (int)peer->at[1]);
}

static struct complaint *judge_nodes(const struct scif_call *call)
{
	const struct value *nodes = &call->step->arguments[0], *self = &call->step->arguments[2];
	bool has_self = !self->at_count || (intptr_t)nodes->at_count < call->step->ret;
	size_t i;

	if (call->step->ret < 1)
		return scif_complain(call, "1 or more", "count", "the own node is online");
	for (i = 0; i < nodes->at_count; i++) {
		if (i && nodes->at[i] <= nodes->at[i - 1])
			return scif_complain(call, "numbers in ascending order, each once", "count",
					     "node %d is told behind node %d", (int)nodes->at[i],
					     (int)nodes->at[i - 1]);
		has_self |= nodes->at[i] == self->at[0];
	}
	if (!has_self)
		return scif_complain(call, "the own node among those that are named", "count",
				     "node %d is not named", (int)self->at[0]);
	if (call->scif->node_total && call->step->ret != call->scif->node_total &&
	    !scif_node_loss(call->scif))
		return scif_complain(call, "as many nodes as before", "count",
				     "there were %d, and none has come or gone",
				     (int)call->scif->node_total);
	return NULL;
}

struct complaint *scif_judge_ports(const struct scif_call *call)
{
	static const struct {
		const char *function;
		struct complaint *(*judge)(const struct scif_call *call);
	} judges[] = {
		{"scif_open", judge_open},	   {"scif_bind", judge_bind},
		{"scif_connect", judge_connect},   {"scif_accept", judge_accept},
		{"scif_get_nodeIDs", judge_nodes},
	};
	size_t i;

	for (i = 0; i < sizeof(judges) / sizeof(*judges); i++) {
		if (is_call(call, judges[i].function))
			return judges[i].judge(call);
	}
	return NULL;
}

static bool bind_excludes(const struct scif_call *call, const char *error)
{
	const struct before *before = call->flight->of_api;
	intptr_t port;

	if (!argument_number(call->step, 1, &port))
		return false;
	port &= 0xffff;
	if (!strcmp(error, "EACCES"))
		return !port || port >= SCIF_ADMIN_PORT ||
		       (!model_surroundings(call->scif->model)->unprivileged &&
			!before->is_unprivileged && !call->process->is_unprivileged);
	if (strcmp(error, "EINVAL"))
		return false;
	if (call->states & ~(unsigned)UNBOUND || call->flight->around)
		return false;
	return !port || !holder_of(call, call->process->node, (int)port, false);
}

const struct endpoint *scif_listening(const struct scif *scif, int node, int port)
{
	size_t i;

	for (i = 0; i < scif->endpoint_count; i++) {
		const struct endpoint *other = scif->endpoints[i];

		if (other->port == port && surely_same_node(other->node, node) &&
		    other->states == LISTENING && !scif_may_be_gone(scif, other) &&
		    !scif_has_alias(scif, other))
			return other;
	}
	return NULL;
}

/* Nobody can have ended the connect but the listener. */
static bool is_asking(const struct scif *scif, const struct flight *flight)
{
	const struct before *before = flight->of_api;
	const struct endpoint *endpoint = before->endpoint;

	return endpoint && endpoint->holders && !flight->step->interrupted &&
	       !scif_may_be_gone(scif, endpoint);
}

int scif_requests(const struct scif *scif, const struct endpoint *listener, size_t before)
{
	const struct flight *other;
	int count = 0;
	size_t i;

	if (scif->accepts_begun > scif->connects || scif->has_withdrawn || scif_node_loss(scif))
		return 0;
	for (i = 0; (other = model_flight(scif->model, i)); i++) {
		const struct value *to = &other->step->arguments[1];

		if (!other->step->function || strcmp(other->step->function, "scif_connect") != 0)
			continue;
		if (to->at_count < 2 || !is_asking(scif, other))
			return 0;
		count += other->step->number < before &&
			 scif_listening(scif, (int)to->at[0], (int)to->at[1]) == listener;
	}
	return count;
}

const struct endpoint *scif_listener(const struct scif *scif, int node, int port)
{
	const struct endpoint *listening = scif_listening(scif, node, port);

	return listening && listening->backlog > 0 ? listening : NULL;
}

/* How many requests may wait at all. */
static bool has_waiting_requests(const struct scif_call *call)
{
	size_t i;

	for (i = 0; i < call->scif->endpoint_count; i++) {
		if (call->scif->endpoints[i]->states & CONNECTING)
			return true;
	}
	for (i = 0; model_flight(call->scif->model, i); i++) {
		const struct flight *other = model_flight(call->scif->model, i);

		if (other != call->flight && !strcmp(other->step->function, "scif_connect"))
			return true;
	}
	return false;
}

static bool connect_excludes(const struct scif_call *call, const char *error)
{
	const struct value *to = &call->step->arguments[1];

	if (!strcmp(error, "ECONNREFUSED"))
		return to->at_count > 1 && !call->flight->around && !(call->states & CONNECTING) &&
		       !has_waiting_requests(call) && !scif_node_loss(call->scif) &&
		       scif_listener(call->scif, (int)to->at[0], (int)to->at[1]);
	if (!strcmp(error, "ENODEV") && call->step->arguments[1].at_count > 1)
		return call->step->arguments[1].at[0] == call->process->node &&
		       !scif_node_loss(call->scif);
	if (!strcmp(error, "EOPNOTSUPP"))
		return !(call->states & LISTENING);
	return false;
}

static bool accept_excludes(const struct scif_call *call, const char *error)
{
	intptr_t flags;

	if (!argument_number(call->step, 3, &flags))
		return false;
	if (!strcmp(error, "EINVAL"))
		return !(flags & ~SCIF_ACCEPT_SYNC) && call->step->arguments[1].is != VALUE_NULL &&
		       call->step->arguments[2].is != VALUE_NULL &&
		       !(call->states & ~(unsigned)LISTENING);
	return false;
}

bool scif_ports_exclude(const struct scif_call *call, const char *error)
{
	if (is_call(call, "scif_bind"))
		return bind_excludes(call, error);
	if (is_call(call, "scif_connect"))
		return connect_excludes(call, error);
	if (is_call(call, "scif_accept"))
		return accept_excludes(call, error);
	if (is_call(call, "scif_listen") && !strcmp(error, "EINVAL"))
		return !(call->states & ~(unsigned)(BOUND | LISTENING));
	return false;
}

static struct complaint *contradict_connect(const struct scif_call *call)
{
	const struct before *before = call->flight->of_api;

	if (strcmp(call->step->error, "EINPROGRESS") || !call->endpoint ||
	    !call->endpoint->was_accepted || !(before->states & CONNECTING) || call->flight->around)
		return NULL;
	return scif_complain(call, "success", "port", "the request has been accepted");
}

static struct complaint *contradict_accept(const struct scif_call *call)
{
	intptr_t flags;

	if (strcmp(call->step->error, "EAGAIN") || !argument_number(call->step, 3, &flags) ||
	    !(flags & SCIF_ACCEPT_SYNC))
		return NULL;
	return scif_complain(call, "no return before there is a request", "accepted",
			     "the call is one that waits");
}

struct complaint *scif_contradict_ports(const struct scif_call *call)
{
	if (is_call(call, "scif_connect"))
		return contradict_connect(call);
	return is_call(call, "scif_accept") ? contradict_accept(call) : NULL;
}

static void join(struct endpoint *accepted, struct endpoint *connected)
{
	accepted->peer = connected;
	connected->peer = accepted;
	connected->was_accepted = true;
	if (connected->states == CLOSED)
		accepted->states = PEER_CLOSED;
	if (accepted->states == CLOSED && connected->states & HAS_PEER)
		connected->states = PEER_CLOSED;
}

/* Whether the endpoint may be the one whose request was accepted. */
static bool may_have_asked(const struct endpoint *other, const struct endpoint *accepted)
{
	return !other->peer && other != accepted && other->has_asked &&
	       other->port == accepted->peer_port && same_node(other->node, accepted->peer_node);
}

/* Ports are used again; where more than one may be meant it stays open. */
static void find_requester(const struct scif_call *call, struct endpoint *accepted)
{
	struct endpoint *found = NULL;
	size_t i, count = 0;

	for (i = 0; i < call->scif->endpoint_count; i++) {
		if (!may_have_asked(call->scif->endpoints[i], accepted))
			continue;
		found = call->scif->endpoints[i];
		count++;
	}
	/* A connect that is still under way will find it by itself. */
	if (count == 1 && found->states & (CONNECTED | CONNECTING))
		join(accepted, found);
}

/* Any of these may be the one; it is connected, though nobody has told it. */
static void find_requesters(const struct scif_call *call, const struct endpoint *accepted)
{
	size_t i;

	for (i = 0; i < call->scif->endpoint_count; i++) {
		struct endpoint *other = call->scif->endpoints[i];

		if (other->states & CONNECTING &&
		    (other->port == -1 || other->port == accepted->peer_port) &&
		    same_node(other->node, accepted->peer_node))
			other->states |= CONNECTED;
	}
}

static bool is_accepting(const struct scif_call *call)
{
	const struct flight *other;
	size_t i;

	for (i = 0; (other = model_flight(call->scif->model, i)); i++) {
		if (!strcmp(other->step->function, "scif_accept"))
			return true;
	}
	return false;
}

static void find_acceptor(const struct scif_call *call, struct endpoint *connected)
{
	struct endpoint *found = NULL;
	size_t i, count = 0;

	for (i = 0; i < call->scif->endpoint_count; i++) {
		struct endpoint *other = call->scif->endpoints[i];

		if (other->peer || other->peer_port != connected->port ||
		    !same_node(other->peer_node, connected->node))
			continue;
		found = other;
		count++;
	}
	/* The one that was accepted may have been told before this, or not yet. */
	if (count == 1 && !is_accepting(call))
		join(found, connected);
}

static void learn_accept(const struct scif_call *call)
{
	const struct value *peer = &call->step->arguments[1], *made = &call->step->arguments[2];
	struct endpoint *accepted;
	static const char *const without[] = {"EAGAIN", "EINVAL", "EBADF", "ENOTTY"};
	const char *error = call->step->error;
	size_t i;

	/* One that failed for another reason may have let the other side believe in a connection.
	 */
	for (i = 0; error && i < sizeof(without) / sizeof(*without); i++) {
		if (!strcmp(error, without[i]))
			call->scif->accepts_begun--;
	}
	if (error)
		return;
	if (!made->at_count) {
		call->scif->unknown_accepts++;
		call->process->has_unknown = true;
		return;
	}
	accepted = scif_new_endpoint(call->scif, call->process, made->at[0]);
	accepted->states = ACCEPTED;
	accepted->was_made = true;
	accepted->port = call->endpoint ? call->endpoint->port : -1;
	if (peer->at_count < 2) {
		call->scif->unknown_accepts++;
		return;
	}
	accepted->peer_node = (int)peer->at[0];
	accepted->peer_port = (int)peer->at[1];
	find_requester(call, accepted);
	find_requesters(call, accepted);
}

static void learn_connected(const struct scif_call *call)
{
	struct endpoint *endpoint = call->endpoint;

	call->scif->connects++;
	if (!endpoint)
		return;
	endpoint->states =
		endpoint->peer && endpoint->peer->states == CLOSED ? PEER_CLOSED : CONNECTED;
	endpoint->port = (int)call->step->ret;
	if (!endpoint->peer)
		find_acceptor(call, endpoint);
}

static void learn_connect(const struct scif_call *call)
{
	struct endpoint *endpoint = call->endpoint;

	if (endpoint)
		endpoint->has_asked = true;
	if (call->step->error && strcmp(call->step->error, "ECONNREFUSED") != 0 &&
	    strcmp(call->step->error, "EINPROGRESS") != 0)
		call->scif->has_withdrawn = true;
	if (!call->step->error) {
		learn_connected(call);
		return;
	}
	if (!endpoint || endpoint->states & (HAS_PEER | LISTENING))
		return;
	if (!strcmp(call->step->error, "EINPROGRESS"))
		endpoint->states = CONNECTING;
	else if (!strcmp(call->step->error, "ECONNREFUSED"))
		endpoint->states = BOUND;
	else
		endpoint->states |= BOUND;
	/* Which port it was given is not told. */
	if (!endpoint->port)
		endpoint->port = -1;
}

static void set_state(const struct scif_call *call, unsigned state)
{
	if (call->flight->disturbed)
		call->endpoint->states |= state;
	else
		call->endpoint->states = state;
}

static void learn_close(const struct scif_call *call)
{
	struct scif_process *process = call->process;
	size_t i;

	for (i = 0; i < process->open_count; i++) {
		if (process->open[i].endpoint != call->endpoint)
			continue;
		process->closed = grown_array(process->closed, process->closed_count + 1,
					      sizeof(*process->closed));
		process->closed[process->closed_count++] = process->open[i].epd;
		call->scif->closer = process->number;
		call->scif->just_closed = process->open[i].epd;
		process->open[i] = process->open[--process->open_count];
		if (!--call->endpoint->holders)
			scif_close_endpoint(call->scif, call->endpoint);
		return;
	}
}

/* The node, where the call was told it; what the process has opened before is there too. */
static void learn_nodes(const struct scif_call *call)
{
	const struct value *self = &call->step->arguments[2];
	size_t i;

	if (call->step->error)
		return;
	call->scif->node_total = call->step->ret;
	if (!self->at_count)
		return;
	call->process->node = (int)self->at[0];
	for (i = 0; i < call->process->open_count; i++) {
		if (call->process->open[i].endpoint->node < 0)
			call->process->open[i].endpoint->node = call->process->node;
	}
}

void scif_learn_ports(const struct scif_call *call)
{
	bool good = !call->step->error;

	if (is_call(call, "scif_accept")) {
		learn_accept(call);
	} else if (is_call(call, "scif_get_nodeIDs")) {
		learn_nodes(call);
	} else if (is_call(call, "scif_open") && good && call->step->ret >= 0) {
		scif_new_endpoint(call->scif, call->process, call->step->ret);
	} else if (is_call(call, "scif_connect")) {
		learn_connect(call);
	} else if (!call->endpoint || !good) {
		return;
	} else if (is_call(call, "scif_bind")) {
		set_state(call, BOUND);
		call->endpoint->port = (int)call->step->ret;
	} else if (is_call(call, "scif_listen")) {
		set_state(call, LISTENING);
		call->endpoint->backlog = (int)call->step->arguments[1].number;
	} else if (is_call(call, "scif_close")) {
		learn_close(call);
	}
}
