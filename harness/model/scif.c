/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCIF in the model: who has which endpoint, and the judgement that all calls have in common, which
 * is the state matrix and the reasons for errors.
 */
#include "scif.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

static const char *const state_names[STATE_COUNT] = {
	"never_opened", "closed",    "other_kind", "unbound",	  "bound",     "listening",
	"connecting",	"connected", "accepted",   "peer_closed", "node_lost",
};

const char *scif_state_names(unsigned states)
{
	static char text[256];
	size_t length = 0, i;

	*text = '\0';
	for (i = 0; i < STATE_COUNT; i++) {
		if (states & 1U << i)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
						   length ? " or " : "", state_names[i]);
	}
	return text;
}

struct scif_process *scif_process(struct scif *scif, int number)
{
	size_t i;

	for (i = 0; i < scif->process_count; i++) {
		if (scif->processes[i].number == number)
			return &scif->processes[i];
	}
	scif->processes =
		grown_array(scif->processes, scif->process_count + 1, sizeof(*scif->processes));
	scif->processes[scif->process_count] = (struct scif_process){.number = number, .node = -1};
	return &scif->processes[scif->process_count++];
}

static size_t find_open(const struct scif_process *process, intptr_t epd)
{
	size_t i = 0;

	while (i < process->open_count && process->open[i].epd != epd)
		i++;
	return i;
}

struct endpoint *scif_endpoint(const struct scif *scif, int number, intptr_t epd)
{
	const struct scif_process *process = scif_process((struct scif *)scif, number);
	size_t at = find_open(process, epd);

	return at < process->open_count ? process->open[at].endpoint : NULL;
}

static void add_open(struct scif_process *process, intptr_t epd, struct endpoint *endpoint)
{
	process->open = grown_array(process->open, process->open_count + 1, sizeof(*process->open));
	process->open[process->open_count].epd = epd;
	process->open[process->open_count++].endpoint = endpoint;
	endpoint->holders++;
}

static void drop_open(struct scif *scif, struct scif_process *process, size_t at)
{
	struct endpoint *endpoint = process->open[at].endpoint;

	process->open[at] = process->open[--process->open_count];
	if (!--endpoint->holders)
		scif_close_endpoint(scif, endpoint);
}

struct endpoint *scif_new_endpoint(struct scif *scif, struct scif_process *process, intptr_t epd)
{
	struct endpoint *endpoint = zeroed_array(1, sizeof(*endpoint));
	size_t at = find_open(process, epd);

	/* The number was closed without the API's knowledge. */
	if (at < process->open_count)
		drop_open(scif, process, at);
	scif->endpoints =
		grown_array(scif->endpoints, scif->endpoint_count + 1, sizeof(*scif->endpoints));
	scif->endpoints[scif->endpoint_count++] = endpoint;
	*endpoint = (struct endpoint){.states = UNBOUND,
				      .node = process->node,
				      .peer_node = -1,
				      .peer_port = -1,
				      .to_node = -1,
				      .to_port = -1,
				      .windows_known = true};
	add_open(process, epd, endpoint);
	return endpoint;
}

/* The last that held it is gone, or said so. */
void scif_close_endpoint(struct scif *scif, struct endpoint *endpoint)
{
	struct endpoint *peer = endpoint->peer;
	size_t i;

	if (endpoint->has_asked && !(endpoint->states & HAS_PEER))
		scif->has_withdrawn = true;
	/* Who waited there was refused, whoever listens there next. */
	for (i = 0; i < scif->endpoint_count && endpoint->states & LISTENING; i++) {
		struct endpoint *other = scif->endpoints[i];

		if (other->states & CONNECTING &&
		    (other->to_port < 0 || other->to_port == endpoint->port))
			other->states |= BOUND;
	}
	if (peer && peer->states & HAS_PEER)
		peer->states = endpoint->may_be_held ? peer->states | PEER_CLOSED
						     : PEER_CLOSED | (peer->states & NODE_LOST);
	endpoint->states = endpoint->may_be_held ? endpoint->states | CLOSED : CLOSED;
}

int scif_endpoint_argument(const struct step *step)
{
	static const char *const without[] = {"scif_open", "scif_get_nodeIDs", "scif_munmap",
					      "scif_poll", "scif_event_register"};
	size_t i;

	for (i = 0; i < sizeof(without) / sizeof(*without); i++) {
		if (!strcmp(step->function, without[i]))
			return -1;
	}
	return strcmp(step->function, "scif_mmap") ? 0 : 4;
}

static struct endpoint *endpoint_of(const struct scif *scif, const struct step *step)
{
	int argument =
		step->kind == STEP_CALL && step->function ? scif_endpoint_argument(step) : -1;
	intptr_t epd;

	if (argument < 0 || !argument_number(step, (size_t)argument, &epd))
		return NULL;
	return scif_endpoint(scif, step->process, epd);
}

/* Whether all processes that have it may have died. */
bool scif_may_be_gone(const struct scif *scif, const struct endpoint *endpoint)
{
	size_t i;

	for (i = 0; i < scif->process_count; i++) {
		const struct scif_process *process = &scif->processes[i];
		size_t k;

		for (k = 0; k < process->open_count; k++) {
			if (process->open[k].endpoint == endpoint && process->may_be_gone)
				return true;
		}
	}
	return false;
}

bool scif_has_alias(const struct scif *scif, const struct endpoint *endpoint)
{
	size_t i, k;

	for (i = 0; i < scif->process_count; i++) {
		const struct scif_process *process = &scif->processes[i];

		for (k = 0; process->has_alias && k < process->open_count; k++) {
			if (process->open[k].endpoint == endpoint)
				return true;
		}
	}
	return false;
}

bool scif_node_loss(const struct scif *scif)
{
	return model_surroundings(scif->model)->node_loss || scif->nodes_changed;
}

unsigned scif_states(const struct scif *scif, const struct endpoint *endpoint)
{
	unsigned states = endpoint->states;

	if (scif_has_alias(scif, endpoint) ||
	    (endpoint->peer && scif_has_alias(scif, endpoint->peer)))
		return ALL_STATES;

	if (states & CONNECTING && !scif_listener(scif, endpoint->to_node, endpoint->to_port))
		states |= BOUND;
	if (states & (CONNECTED | ACCEPTED) &&
	    (!endpoint->peer || scif_may_be_gone(scif, endpoint->peer)))
		states |= PEER_CLOSED;
	if (states & HAS_PEER && scif_node_loss(scif))
		states |= NODE_LOST | PEER_CLOSED;
	/* close(2) behind the library's back. */
	if (model_surroundings(scif->model)->descriptors)
		states |= NO_ENDPOINT | (states & HAS_PEER ? PEER_CLOSED : 0);
	return states;
}

static bool was_closed(const struct scif_process *process, intptr_t epd)
{
	size_t i;

	for (i = 0; i < process->closed_count; i++) {
		if (process->closed[i] == epd)
			return true;
	}
	return false;
}

/* What a number that names no known endpoint may be. */
static unsigned states_of_unknown(const struct scif_call *call)
{
	int argument = scif_endpoint_argument(call->step);
	const struct scif_process *process = call->process;
	intptr_t epd;

	if (!argument_number(call->step, (size_t)argument, &epd) || process->has_unknown ||
	    model_surroundings(call->scif->model)->descriptors ||
	    !model_is_whole(call->scif->model))
		return ALL_STATES;
	/* A number that no call of the API has made may still be a copy that dup(2) has made. */
	return epd < 0 || was_closed(process, epd) ? NO_ENDPOINT : ALL_STATES;
}

struct complaint *scif_complain(const struct scif_call *call, const char *allowed,
				const char *outcome, const char *why, ...)
{
	struct complaint *complaint;
	va_list details;

	va_start(details, why);
	complaint = complain(
		call->scif->model, call->flight, call->function,
		scif_endpoint_argument(call->step) < 0 ? "" : scif_state_names(call->states),
		allowed, outcome, why, details);
	va_end(details);
	return complaint;
}

/* Whether such a failure is about something else than the endpoint's state. */
static bool is_let_through(const char *error)
{
	static const char *const later[] = {"ENXIO", "ECONNREFUSED", "EAGAIN", "EINPROGRESS"};
	size_t i;

	for (i = 0; i < sizeof(later) / sizeof(*later); i++) {
		if (!strcmp(error, later[i]))
			return true;
	}
	return false;
}

/* The cells of all states that the endpoint may be in. */
static bool may_get_through(const struct scif_call *call)
{
	size_t i;

	for (i = 0; i < STATE_COUNT; i++) {
		const struct plan_clause *cell = tables_cell(call->function, state_names[i]);

		if (!(call->states & 1U << i))
			continue;
		if (!cell || !cell->is_error || is_let_through(cell->outcome))
			return true;
	}
	/* What a peer sent before it was gone is still there; a mark that was made is waited for.
	 */
	if (!strcmp(call->function->name, "scif_recv"))
		return call->states & HAS_PEER && scif_may_have_bytes(call);
	return !strcmp(call->function->name, "scif_fence_wait") &&
	       call->states & (CONNECTED | ACCEPTED);
}

static bool cell_allows(const struct scif_call *call, const char *error)
{
	size_t i;

	for (i = 0; i < STATE_COUNT; i++) {
		const struct plan_clause *cell = tables_cell(call->function, state_names[i]);

		if (call->states & 1U << i && cell &&
		    tables_allows(model_tables(call->scif->model), cell, error))
			return true;
	}
	return false;
}

static void add_word(FILE *out, const char *word, size_t *count)
{
	fprintf(out, "%s%s", (*count)++ ? ", " : "", word);
}

/* What the model would have let pass; to be freed. */
static char *allowed_words(const struct scif_call *call, const struct plan_function *function)
{
	char *text;
	size_t length, i, count = 0;
	FILE *out = text_stream(&text, &length);

	for (i = 0; i < function->outcome_count; i++) {
		const struct plan_outcome *outcome = &function->outcomes[i];

		if (!outcome->is_error && may_get_through(call))
			add_word(out, "success", &count);
		else if (outcome->is_error &&
			 (cell_allows(call, outcome->name) || !scif_excludes(call, outcome->name)))
			add_word(out, outcome->name, &count);
	}
	fclose(out);
	return text;
}

static char *cells_of(const struct scif_call *call)
{
	char *text;
	size_t length, i, count = 0;
	FILE *out = text_stream(&text, &length);

	for (i = 0; i < STATE_COUNT; i++) {
		const struct plan_clause *cell = tables_cell(call->function, state_names[i]);

		if (call->states & 1U << i && cell)
			fprintf(out, "%s%s", count++ ? " " : "", cell->id);
	}
	fclose(out);
	return text;
}

static struct complaint *judge_failure(const struct scif_call *call)
{
	const struct tables *tables = model_tables(call->scif->model);
	const char *error = call->step->error;
	struct complaint *complaint;
	char *allowed;

	/* A function that may be missing may also be there and say that nothing is behind it. */
	if (cell_allows(call, error) ||
	    (call->function->linkage == LINKAGE_OPTIONAL && !strcmp(error, "ENOSYS")))
		return NULL;
	if (tables_documented(tables, call->function, error) && !scif_excludes(call, error))
		return NULL;
	allowed = allowed_words(call, call->function);
	complaint = scif_complain(call, allowed, error,
				  tables_documented(tables, call->function, error)
					  ? "none of the reasons documented for %s is there"
					  : "%s is not documented for the call",
				  error);
	free(allowed);
	return complaint;
}

/* Calls that do not look at the endpoint, such as an empty message. */
static bool needs_no_state(const struct scif_call *call)
{
	intptr_t length;
	bool is_message = !strcmp(call->function->name, "scif_send") ||
			  !strcmp(call->function->name, "scif_recv");

	return is_message && argument_number(call->step, 2, &length) && length == 0;
}

static struct complaint *judge_success(const struct scif_call *call)
{
	struct complaint *complaint;
	char *allowed, *cells;

	if (scif_endpoint_argument(call->step) < 0 || needs_no_state(call) || may_get_through(call))
		return NULL;
	allowed = allowed_words(call, call->function);
	cells = cells_of(call);
	complaint =
		scif_complain(call, allowed, cells, "the endpoint's state does not let it through");
	free(allowed);
	free(cells);
	return complaint;
}

static void *create(struct model *model)
{
	struct scif *scif = zeroed_array(1, sizeof(*scif));

	scif->model = model;
	return scif;
}

static void forget(struct scif *scif)
{
	size_t i;

	for (i = 0; i < scif->process_count; i++) {
		free(scif->processes[i].open);
		free(scif->processes[i].closed);
	}
	for (i = 0; i < scif->endpoint_count; i++) {
		free(scif->endpoints[i]->windows);
		free(scif->endpoints[i]->gone);
		free(scif->endpoints[i]->marks);
		free(scif->endpoints[i]);
	}
	free(scif->processes);
	free(scif->endpoints);
	free(scif->held);
	*scif = (struct scif){.model = scif->model};
}

static void destroy(void *state)
{
	forget(state);
	free(state);
}

static void start(void *state)
{
	forget(state);
}

/* All that the process of that number has, the other one has too. */
static void fork_process(struct scif *scif, int from, int to)
{
	struct scif_process *parent, *child;
	size_t i;

	/* Both must be there before either is looked at: the array moves. */
	scif_process(scif, from);
	scif_process(scif, to);
	parent = scif_process(scif, from);
	child = scif_process(scif, to);
	child->node = parent->node;
	child->has_unknown = parent->has_unknown;
	child->is_unprivileged = parent->is_unprivileged;
	for (i = 0; i < parent->open_count; i++)
		add_open(child, parent->open[i].epd, parent->open[i].endpoint);
}

static void end_process(struct scif *scif, int number)
{
	struct scif_process *process = scif_process(scif, number);

	while (process->open_count)
		drop_open(scif, process, process->open_count - 1);
}

static void note_forks(struct scif *scif, int number)
{
	struct scif_process *process = scif_process(scif, number);
	size_t i;

	for (i = 0; i < process->open_count; i++)
		process->open[i].endpoint->may_be_held = true;
}

/* Whoever is on a node that is changed may end by it. */
static void note_node(struct scif *scif, int node)
{
	size_t i;

	for (i = 0; i < scif->process_count; i++)
		scif->processes[i].may_be_gone |= scif->processes[i].node == node;
}

static void sign(void *state, const struct step *step)
{
	struct scif *scif = state;
	intptr_t node;

	switch (step->kind) {
	case STEP_STARTED:
		if (argument_number(step, 0, &node) || step->arguments[0].is == VALUE_NUMBER)
			scif_process(scif, step->process)->node = (int)step->arguments[0].number;
		break;
	case STEP_FORKED:
		fork_process(scif, 1, step->process);
		break;
	case STEP_ENDED:
		end_process(scif, step->process);
		break;
	case STEP_LAST_SIGN:
		scif_process(scif, step->process)->may_be_gone = true;
		break;
	case STEP_FORKS:
		note_forks(scif, step->process);
		break;
	case STEP_NODE:
		scif->nodes_changed = true;
		note_node(scif, (int)step->arguments[0].number);
		scif->node_sleeps |= step->arguments[1].number == NODE_ASLEEP;
		scif->asleep = step->arguments[1].number == NODE_ASLEEP
				       ? 1 + (int)step->arguments[0].number
				       : 0;
		break;
	case STEP_HELD:
	case STEP_STALLED:
	case STEP_RELEASED:
		scif_take_memory(scif, step);
		break;
	case STEP_PRIVILEGE:
		scif_process(scif, step->process)->is_unprivileged = !step->arguments[0].number;
		break;
	case STEP_CALL:
		break;
	}
}

/* A call on a number that nobody made may be one on an endpoint that has another. */
static void note_alias(struct scif *scif, const struct step *step)
{
	int argument = scif_endpoint_argument(step);
	struct scif_process *process = scif_process(scif, step->process);
	intptr_t epd;

	if (argument < 0 || !argument_number(step, (size_t)argument, &epd) || epd < 0 ||
	    (step->error && (!strcmp(step->error, "EBADF") || !strcmp(step->error, "ENOTTY"))))
		return;
	if (!was_closed(process, epd))
		process->has_alias = true;
}

/* One that goes on asking says where only the first time. */
static void note_request(struct endpoint *endpoint, const struct value *to)
{
	endpoint->has_asked = true;
	if (to->at_count < 2 || endpoint->states & CONNECTING)
		return;
	endpoint->to_node = (int)to->at[0];
	endpoint->to_port = (int)to->at[1];
}

static void begin(void *state, struct flight *flight)
{
	struct scif *scif = state;
	struct endpoint *endpoint = endpoint_of(scif, flight->step);
	struct before *before = zeroed_array(1, sizeof(*before));

	flight->of_api = before;
	if (strcmp(flight->step->function, "scif_poll") != 0)
		scif->closer = 0;
	before->stalls = scif->stalls;
	before->nothing_moves = scif_nothing_moves(scif);
	before->is_unprivileged = scif_process(scif, flight->step->process)->is_unprivileged;
	if (!strcmp(flight->step->function, "scif_accept"))
		scif->accepts_begun++;
	if (!endpoint)
		return;
	before->endpoint = endpoint;
	before->states = scif_states(scif, endpoint);
	if (!strcmp(flight->step->function, "scif_connect"))
		note_request(endpoint, &flight->step->arguments[1]);
	before->sent = endpoint->sent;
	before->taken = endpoint->taken;
	if (endpoint->peer) {
		before->peer_sent = endpoint->peer->sent;
		before->peer_taken = endpoint->peer->taken;
	}
	scif_begin_stream(scif, flight, endpoint);
}

static bool is_one_of(const char *function, const char *const *list)
{
	while (*list && strcmp(*list, function))
		list++;
	return *list;
}

/* Calls that change the state of an endpoint, and those that change windows. */
static const char *const changes_state[] = {"scif_bind",   "scif_listen", "scif_connect",
					    "scif_accept", "scif_close",  NULL};
static const char *const changes_windows[] = {"scif_register", "scif_unregister", "scif_mmap",
					      "scif_munmap", NULL};
/* What these give depends on other endpoints than their own. */
static const char *const looks_around[] = {"scif_connect", "scif_accept", "scif_bind", NULL};

static void disturb(void *state, const struct step *one, struct flight *other)
{
	struct scif *scif = state;
	struct endpoint *changed = endpoint_of(scif, one), *used = endpoint_of(scif, other->step);
	bool is_near = changed && used && (changed == used || changed->peer == used);

	other->crowded = true;
	if (one->kind != STEP_CALL) {
		other->disturbed = other->windows_disturbed = true;
		return;
	}
	if (!one->function || !other->step->function)
		return;
	if (is_one_of(one->function, changes_windows) && (is_near || !changed))
		other->windows_disturbed = true;
	if (!is_one_of(one->function, changes_state))
		return;
	if (is_near || !strcmp(other->step->function, "scif_poll"))
		other->disturbed = true;
	if (is_near || is_one_of(other->step->function, looks_around))
		other->around = true;
	if (is_near)
		other->windows_disturbed = true;
}

static struct complaint *contradict(const struct scif_call *call)
{
	struct complaint *complaint = scif_contradict_ports(call);

	if (!complaint)
		complaint = scif_contradict_windows(call);
	return complaint ? complaint : scif_contradict_stream(call);
}

static struct complaint *judge_result(const struct scif_call *call)
{
	struct complaint *complaint = scif_judge_ports(call);

	if (!complaint)
		complaint = scif_judge_stream(call);
	if (!complaint)
		complaint = scif_judge_windows(call);
	if (!complaint)
		complaint = scif_judge_transfers(call);
	return complaint ? complaint : scif_judge_poll(call);
}

static struct scif_call call_of(struct scif *scif, struct flight *flight)
{
	return (struct scif_call){.scif = scif,
				  .flight = flight,
				  .step = flight->step,
				  .function = flight->function,
				  .process = scif_process(scif, flight->step->process),
				  .endpoint = endpoint_of(scif, flight->step),
				  .states = ALL_STATES};
}

/* So many seconds are enough for a call that waits for nothing. */
enum { PATIENCE = 2 };

static struct complaint *hangs(void *state, struct flight *flight)
{
	struct scif_call call = call_of(state, flight);

	if (flight->step->waited < PATIENCE)
		return NULL;
	if (call.endpoint)
		call.states = scif_states(state, call.endpoint);
	return scif_judge_wait(&call);
}

static struct complaint *end(void *state, struct flight *flight)
{
	struct scif *scif = state;
	struct complaint *complaint = NULL;
	struct scif_call call = call_of(scif, flight);

	if (!call.endpoint)
		note_alias(scif, flight->step);
	if (scif_endpoint_argument(call.step) < 0 || flight->disturbed)
		call.states = ALL_STATES;
	else if (call.endpoint)
		call.states = scif_states(scif, call.endpoint);
	else
		call.states = states_of_unknown(&call);
	if (call.step->error)
		complaint = judge_failure(&call);
	else
		complaint = judge_success(&call);
	if (!complaint)
		complaint = call.step->error ? contradict(&call) : judge_result(&call);
	scif_learn_stream(&call);
	scif_learn_windows(&call);
	scif_learn_transfers(&call);
	scif_learn_ports(&call);
	return complaint;
}

/* More than a machine may have. */
static bool asks_for_much(const struct step *step)
{
	intptr_t number;
	size_t i;

	for (i = 0; i < step->count; i++) {
		if (argument_number(step, i, &number) && (number < 0 || number >= 1 << 30))
			return true;
	}
	return false;
}

bool scif_excludes(const struct scif_call *call, const char *error)
{
	const struct surroundings *around = model_surroundings(call->scif->model);
	bool about_number = !strcmp(error, "EBADF") || !strcmp(error, "ENOTTY");

	if (about_number && scif_endpoint_argument(call->step) >= 0)
		return !(call->states & NO_ENDPOINT);
	if (!strcmp(error, "ENOMEM") || !strcmp(error, "ENOBUFS") || !strcmp(error, "ENOSPC"))
		return !around->shortage && !asks_for_much(call->step);
	if (!strcmp(error, "ENOTCONN"))
		return !(call->states & ~(unsigned)HAS_PEER);
	if (!strcmp(error, "EISCONN"))
		return !(call->states & (HAS_PEER | LISTENING | CONNECTING)) &&
		       !call->flight->disturbed;
	if (!strcmp(error, "ECONNRESET"))
		return !(call->states & (PEER_CLOSED | NODE_LOST));
	if (!strcmp(error, "EINTR"))
		return !around->signals && !call->step->interrupted && !call->flight->disturbed;
	if (!strcmp(error, "ENODEV") && strcmp(call->function->name, "scif_connect"))
		return !scif_node_loss(call->scif) && !(call->states & NODE_LOST);
	return scif_ports_exclude(call, error) || scif_windows_exclude(call, error);
}

static const char *state_of(const void *state, int process, intptr_t epd)
{
	const struct scif *scif = state;
	const struct endpoint *endpoint = scif_endpoint(scif, process, epd);

	return endpoint ? scif_state_names(endpoint->states) : NULL;
}

const struct model_api model_of_scif = {
	.name = "scif",
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
