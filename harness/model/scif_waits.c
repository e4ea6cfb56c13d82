/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that had not come back when the time of the case was up, though nothing lets them wait. */
#include "scif.h"

#include <string.h>

/* Calls that wait for nobody; some only where an argument is 0. */
static const struct quick {
	const char *function, *outcome;
	int argument; /* -1: they never wait */
} quick[] = {
	{"scif_open", "descriptor", -1},   {"scif_bind", "port", -1},
	{"scif_listen", "listening", -1},  {"scif_get_nodeIDs", "count", -1},
	{"scif_accept", "accepted", 3},	   {"scif_poll", "selected", 2},
	{"scif_send", "sent", 3},	   {"scif_recv", "received", 3},
	{"scif_fence_mark", "marked", -1},
};

static const struct quick *find_quick(const struct scif_call *call)
{
	intptr_t number;
	size_t i;

	for (i = 0; i < sizeof(quick) / sizeof(*quick); i++) {
		if (strcmp(call->function->name, quick[i].function))
			continue;
		if (quick[i].argument < 0)
			return &quick[i];
		return argument_number(call->step, (size_t)quick[i].argument, &number) && !number
			       ? &quick[i]
			       : NULL;
	}
	return NULL;
}

static bool is_call(const struct scif_call *call, const char *function)
{
	return !strcmp(call->function->name, function);
}

static struct complaint *judge_connect(const struct scif_call *call)
{
	const struct value *to = &call->step->arguments[1];
	const struct endpoint *listener;
	int count;

	if (to->at_count < 2)
		return NULL;
	listener = scif_listening(call->scif, (int)to->at[0], (int)to->at[1]);
	count = listener ? scif_requests(call->scif, listener, call->step->number + 1) : 0;
	if (count < 1 || count <= listener->backlog)
		return NULL;
	return scif_complain(call, "ECONNREFUSED", "ECONNREFUSED",
			     "the listener lets %d wait, and this is one of %d that do",
			     listener->backlog > 0 ? listener->backlog : 0, count);
}

static struct complaint *judge_fence_wait(const struct scif_call *call)
{
	const struct mark *mark;
	intptr_t number;

	if (!call->endpoint || scif_has_alias(call->scif, call->endpoint) ||
	    !argument_number(call->step, 1, &number))
		return NULL;
	mark = scif_mark(call->endpoint, number);
	if (!mark || !mark->is_quiet)
		return NULL;
	return scif_complain(call, "success", "completed",
			     "it waits in vain: no transfer was under way when the mark was made");
}

struct complaint *scif_judge_wait(const struct scif_call *call)
{
	const struct quick *found = find_quick(call);

	if (scif_node_loss(call->scif) || !model_is_whole(call->scif->model))
		return NULL;
	if (is_call(call, "scif_connect"))
		return judge_connect(call);
	if (is_call(call, "scif_fence_wait"))
		return judge_fence_wait(call);
	/* A mark has nothing to do with memory that is held back; what moves bytes may have. */
	if (!found || (call->scif->held_count && !is_call(call, "scif_fence_mark")))
		return NULL;
	return scif_complain(call, "a return at once", found->outcome,
			     "it waits, and after %u seconds it had not come back",
			     call->step->waited);
}
