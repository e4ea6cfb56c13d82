/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may import a segment: the access list it is published with, the nodes of the processes, the
 * users where the log tells them. What an empty list grants depends on a file mode creation mask,
 * which no log has.
 */
#include "rsm.h"

#include <string.h>

#include "../runner/format.h"

enum { MAY_READ = 4, MAY_WRITE = 2 };

void rsm_set_node(struct rsm *rsm, int process, int node)
{
	size_t i;

	if (rsm_node(rsm, process) >= 0)
		return;
	rsm->nodes = grown_array(rsm->nodes, rsm->node_count + 1, sizeof(*rsm->nodes));
	rsm->nodes[rsm->node_count].process = process;
	rsm->nodes[rsm->node_count].is_gone = false;
	rsm->nodes[rsm->node_count++].node = node;
	for (i = 0; i < rsm->segment_count; i++) {
		if (rsm->segments[i]->process == process)
			rsm->segments[i]->node = node;
	}
}

void rsm_learn_list(const struct rsm_call *call, size_t argument)
{
	const struct value *list = &call->step->arguments[argument];
	intptr_t length;

	call->segment->list = NULL;
	if (!call->step->error && !call->flight->crowded &&
	    argument_number(call->step, argument + 1, &length) &&
	    list->at_count == 2 * (size_t)length)
		call->segment->list = list;
}

static bool same_user(const struct value *one, const struct value *other)
{
	return one && one->at_count && one->at_count == other->at_count &&
	       !memcmp(one->at, other->at, one->at_count * sizeof(*one->at));
}

void rsm_learn_user(const struct rsm_call *call)
{
	/* Created by one and published by another it is nobody's for certain. */
	if (!same_user(call->segment->user, &call->step->user))
		call->segment->user = NULL;
}

/* The permission of the first entry for a node; -1: there is none. */
static intptr_t listed(const struct value *list, intptr_t node)
{
	size_t i;

	for (i = 0; i + 1 < list->at_count; i += 2) {
		if (list->at[i] == node)
			return list->at[i + 1];
	}
	return -1;
}

/* Whether a number is behind the first one: a group of a user, another node of a topology. */
static bool names(const struct value *list, intptr_t number)
{
	size_t i;

	for (i = 1; i < list->at_count; i++) {
		if (list->at[i] == number)
			return true;
	}
	return false;
}

/* The digit that holds for an importer. */
static intptr_t digit_of(const struct value *exporter, const struct value *importer,
			 intptr_t permission)
{
	if (exporter->at[0] == importer->at[0])
		return permission >> 6 & 7;
	return permission >> (names(importer, exporter->at[1]) ? 3 : 0) & 7;
}

/* If its process has ended a connect does not come as far as the list. */
static const struct segment *asked_for(const struct rsm *rsm, intptr_t node, intptr_t id)
{
	const struct segment *segment = rsm_published(rsm, node, id, true);
	size_t i;

	for (i = rsm->segment_count; !segment && i-- > 0;) {
		const struct segment *other = rsm->segments[i];

		if (other->may_be_gone && other->state == EXPORT_PUBLISHED && other->node == node &&
		    other->id == id)
			segment = other;
	}
	return segment;
}

/* A connect whose segment and list are known. */
struct request {
	const struct segment *exporter;
	intptr_t node, permission; /* of the importer; that it asks for */
	intptr_t granted;	   /* by the list; -1: its node is not there */
	intptr_t digit;		   /* -1: not known */
};

static bool read_request(const struct rsm_call *call, struct request *request)
{
	const struct value *importer = &call->step->user;
	intptr_t node, id;

	if (!argument_number(call->step, 1, &node) || !argument_number(call->step, 2, &id) ||
	    !argument_number(call->step, 3, &request->permission) || call->flight->crowded ||
	    call->rsm->is_shaken || model_surroundings(call->rsm->model)->threads)
		return false;
	request->exporter = asked_for(call->rsm, node, id);
	request->node = rsm_node(call->rsm, call->step->process);
	if (!request->exporter || !request->exporter->list || request->node < 0)
		return false;
	request->granted = listed(request->exporter->list, request->node);
	request->digit = -1;
	if (request->granted >= 0 && request->exporter->user && importer->at_count > 1)
		request->digit = digit_of(request->exporter->user, importer, request->granted);
	return true;
}

static intptr_t needed(intptr_t permission)
{
	return (permission & PERM_READ ? MAY_READ : 0) | (permission & PERM_WRITE ? MAY_WRITE : 0);
}

struct complaint *rsm_judge_access(const struct rsm_call *call)
{
	struct request request;

	if (!read_request(call, &request) || !request.exporter->list->at_count)
		return NULL;
	if (request.granted < 0)
		return rsm_complain(call, "RSMERR_SEG_NOT_PUBLISHED_TO_NODE",
				    "RSMERR_SEG_NOT_PUBLISHED_TO_NODE",
				    "the access list has no entry for node %jd",
				    (intmax_t)request.node);
	/* A process with privilege passes the digits. */
	if (request.digit < 0 || !call->step->user.at[0] ||
	    (request.digit & needed(request.permission)) == needed(request.permission))
		return NULL;
	return rsm_complain(call, "RSMERR_PERM_DENIED", "RSMERR_PERM_DENIED",
			    "of the permission 0%jo of the access list the digit %jd holds",
			    (uintmax_t)request.granted, (intmax_t)request.digit);
}

bool rsm_access_excludes(const struct rsm_call *call, const char *error)
{
	struct request request;

	if (!read_request(call, &request))
		return false;
	if (!strcmp(error, "RSMERR_SEG_NOT_PUBLISHED_TO_NODE"))
		return !request.exporter->list->at_count || request.granted >= 0;
	return !strcmp(error, "RSMERR_PERM_DENIED") && request.digit >= 0 && request.permission &&
	       !(request.permission & ~(PERM_READ | PERM_WRITE)) &&
	       (request.digit & needed(request.permission)) == needed(request.permission);
}

struct complaint *rsm_judge_topology(const struct rsm_call *call)
{
	const struct value *topology = &call->step->arguments[0];
	const struct rsm *rsm = call->rsm;
	int own = rsm_node(rsm, call->step->process);
	size_t i;

	if (!topology->at_count)
		return NULL;
	if (own >= 0 && topology->at[0] != own)
		return rsm_complain(call, "the own node",
				    "RSM-GET-INTERCONNECT-TOPOLOGY-TOPOLOGY-2",
				    "the process is on node %d", own);
	if (names(topology, topology->at[0]))
		return rsm_complain(call, "the other nodes",
				    "RSM-GET-INTERCONNECT-TOPOLOGY-TOPOLOGY-5",
				    "the own node is among the remote ones");
	for (i = 0; i < rsm->node_count; i++) {
		if (rsm->nodes[i].is_gone || rsm->nodes[i].node == topology->at[0] ||
		    rsm->is_shaken || model_surroundings(rsm->model)->node_loss ||
		    names(topology, rsm->nodes[i].node))
			continue;
		return rsm_complain(call, "every other node that is up",
				    "RSM-GET-INTERCONNECT-TOPOLOGY-TOPOLOGY-5",
				    "node %d, on which there is a process, is missing",
				    rsm->nodes[i].node);
	}
	return NULL;
}
