/* SPDX-License-Identifier: BSD-2-Clause */
/* What RSMAPI may answer where the matrix lets a call through: ranges, permissions, barriers,
 * signals. */
#include "rsm.h"

#include <string.h>
#include <strings.h>

/* The numbers are those of the public headers. */
enum { EXPLICIT_MODE = 0, MAP_FIXED_ADDRESS = 1 };

/* A transfer: bytes per item and what it needs; false: none, or not known. */
struct transfer {
	intptr_t offset, length, permission;
};

static bool is_transfer(const struct rsm_call *call, struct transfer *transfer)
{
	static const char prefix[] = "rsm_memseg_import_";
	const char *name = call->step->function + sizeof(prefix) - 1;
	intptr_t count;

	if (strncmp(call->step->function, prefix, sizeof(prefix) - 1) ||
	    (strncmp(name, "get", 3) && strncmp(name, "put", 3)) || name[3] == 'v' ||
	    name[3] == '_')
		return false;
	if (!argument_number(call->step, 1, &transfer->offset) ||
	    !argument_number(call->step, 3, &count))
		return false;
	transfer->permission = *name == 'g' ? PERM_READ : PERM_WRITE;
	transfer->length = count;
	if (!strcmp(name + 3, "16"))
		transfer->length *= 2;
	else if (!strcmp(name + 3, "32"))
		transfer->length *= 4;
	else if (!strcmp(name + 3, "64"))
		transfer->length *= 8;
	return count >= 0 && count < 1 << 28;
}

/* In the explicit mode it is the barrier that tells of a loss. */
bool rsm_tells_later(const struct rsm_call *call)
{
	return call->state == IMPORT_ABORTED && call->segment->mode == EXPLICIT_MODE &&
	       (strstr(call->step->function, "_import_put") ||
		strstr(call->step->function, "_import_get"));
}

static bool is_inside(const struct segment *segment, const struct transfer *transfer)
{
	return transfer->offset >= 0 && transfer->offset <= segment->length &&
	       transfer->length <= segment->length - transfer->offset;
}

static struct complaint *judge_transfer(const struct rsm_call *call,
					const struct transfer *transfer)
{
	struct segment whole = {.length = rsm_length(call->segment)};

	if (!transfer->length)
		return NULL;
	if (call->segment->permission >= 0 && !(call->segment->permission & transfer->permission))
		return rsm_complain(call, "RSMERR_PERM_DENIED", "RSMERR_PERM_DENIED",
				    "the connection has the permission 0%jo",
				    (uintmax_t)call->segment->permission);
	if (whole.length >= 0 && !is_inside(&whole, transfer))
		return rsm_complain(call, "RSMERR_BAD_OFFSET, RSMERR_BAD_LENGTH",
				    "RSMERR_BAD_LENGTH", "the segment has %jd bytes",
				    (intmax_t)whole.length);
	return NULL;
}

static struct complaint *judge_publish(const struct rsm_call *call)
{
	const struct value *id = &call->step->arguments[1];
	const struct segment *other;

	if (id->at_count < 2)
		return NULL;
	if (id->at[0] && id->at[1] != id->at[0])
		return rsm_complain(call, "the id that was asked for, RSMERR_SEGID_IN_USE",
				    "published", "id %jd was asked for and %jd given",
				    (intmax_t)id->at[0], (intmax_t)id->at[1]);
	other = rsm_published(call->rsm, rsm_node(call->rsm, call->step->process), id->at[1], true);
	if (!other || other == call->segment)
		return NULL;
	return rsm_complain(call, "RSMERR_SEGID_IN_USE", "RSMERR_SEGID_IN_USE",
			    "another segment of the node has the id %jd", (intmax_t)id->at[1]);
}

/* All segments are known that could be meant. */
static bool knows_segments(const struct rsm *rsm)
{
	const struct surroundings *around = model_surroundings(rsm->model);

	return model_is_whole(rsm->model) && !rsm->has_forked && !rsm->hides_handles &&
	       !around->threads && rsm->segment_count > 0;
}

static struct complaint *judge_connect(const struct rsm_call *call)
{
	intptr_t node, id;

	if (!argument_number(call->step, 1, &node) || !argument_number(call->step, 2, &id) ||
	    !knows_segments(call->rsm) || rsm_published(call->rsm, node, id, false))
		return rsm_judge_access(call);
	return rsm_complain(call, "RSMERR_SEG_NOT_PUBLISHED", "RSMERR_SEG_NOT_PUBLISHED",
			    "node %jd has published no segment %jd", (intmax_t)node, (intmax_t)id);
}

static struct complaint *judge_map(const struct rsm_call *call)
{
	const struct value *place = &call->step->arguments[1];
	const struct segment *segment = call->segment;
	struct segment whole;
	struct transfer range;
	intptr_t attributes;

	if (argument_number(call->step, 2, &attributes) && attributes & MAP_FIXED_ADDRESS &&
	    place->at_count == 2 && place->at[0] != place->at[1])
		return rsm_complain(call, "the address that was asked for",
				    "RSM-IMPORT-MAP-MAPPED-15",
				    "0x%jx was asked for and 0x%jx given", (uintmax_t)place->at[0],
				    (uintmax_t)place->at[1]);
	if (call->state == STATE_UNKNOWN || !argument_number(call->step, 3, &range.permission) ||
	    !argument_number(call->step, 4, &range.offset) ||
	    !argument_number(call->step, 5, &range.length))
		return NULL;
	if (segment->permission >= 0 && range.permission & ~segment->permission)
		return rsm_complain(call, "RSMERR_BAD_PERMS", "RSMERR_BAD_PERMS",
				    "the connection has the permission 0%jo",
				    (uintmax_t)segment->permission);
	whole.length = rsm_length(segment);
	if (whole.length >= 0 && (range.length <= 0 || !is_inside(&whole, &range)))
		return rsm_complain(call, "RSMERR_BAD_OFFSET, RSMERR_BAD_LENGTH",
				    "RSMERR_BAD_LENGTH", "the segment has %jd bytes",
				    (intmax_t)whole.length);
	return NULL;
}

static struct complaint *judge_mode(const struct rsm_call *call)
{
	const struct value *mode = &call->step->arguments[1];

	if (!call->segment || call->segment->mode < 0 || !mode->at_count ||
	    mode->at[0] == call->segment->mode)
		return NULL;
	return rsm_complain(call, "the mode that was set", "mode", "mode %jd was set, %jd is told",
			    (intmax_t)call->segment->mode, (intmax_t)mode->at[0]);
}

static struct complaint *judge_barrier(const struct rsm_call *call)
{
	const struct segment *segment = call->barrier->segment;
	bool opens = rsm_is(call, "rsm_memseg_import_open_barrier");

	if (call->barrier->is_blurred)
		return NULL;
	if (call->barrier->barrier == BARRIER_NONE &&
	    !rsm_is(call, "rsm_memseg_import_destroy_barrier"))
		return rsm_complain(call, "a failure",
				    opens ? "RSMERR_BAD_BARRIER_PTR"
					  : "RSMERR_BARRIER_UNINITIALIZED",
				    "the barrier was destroyed");
	if (opens || rsm_is(call, "rsm_memseg_import_destroy_barrier"))
		return NULL;
	if (call->barrier->barrier == BARRIER_CLOSED)
		return rsm_complain(call, "RSMERR_BARRIER_NOT_OPENED", "RSMERR_BARRIER_NOT_OPENED",
				    "the barrier is not open");
	if (segment && !segment->is_blurred && segment->state == IMPORT_ABORTED)
		return rsm_complain(call, "RSMERR_CONN_ABORTED, RSMERR_BARRIER_FAILURE",
				    "RSMERR_CONN_ABORTED",
				    "the segment was withdrawn by its exporter");
	return NULL;
}

static bool is_about_barrier(const struct rsm_call *call)
{
	return strstr(call->step->function, "_barrier") &&
	       !rsm_is(call, "rsm_memseg_import_init_barrier");
}

static struct complaint *judge_controller(const struct rsm_call *call)
{
	if (call->controller->is_blurred || call->controller->controllers > 0 ||
	    call->rsm->has_forked)
		return NULL;
	return rsm_complain(call, "a failure",
			    rsm_is(call, "rsm_release_controller") ? "RSMERR_BAD_CTLR_HNDL"
								   : "RSMERR_CTLR_NOT_PRESENT",
			    "the controller has been released as often as it was got");
}

struct complaint *rsm_judge_success(const struct rsm_call *call)
{
	struct complaint *complaint = NULL;
	struct transfer transfer;

	if (call->controller && strstr(call->function->prototype, "(rsmapi_controller_handle_t"))
		complaint = judge_controller(call);
	if (complaint)
		return complaint;
	if (rsm_is(call, "rsm_memseg_export_publish"))
		return judge_publish(call);
	if (rsm_is(call, "rsm_memseg_import_connect"))
		return judge_connect(call);
	if (rsm_is(call, "rsm_memseg_import_get_mode"))
		return judge_mode(call);
	if (rsm_is(call, "rsm_intr_signal_wait"))
		return rsm_judge_wait(call);
	if (rsm_is(call, "rsm_intr_signal_wait_pollfd"))
		return rsm_judge_wait_pollfd(call);
	if (rsm_is(call, "rsm_memseg_get_pollfd"))
		return rsm_judge_pollfd(call);
	if (rsm_is(call, "rsm_get_interconnect_topology"))
		return rsm_judge_topology(call);
	if (rsm_is(call, "rsm_memseg_import_map"))
		return judge_map(call);
	if (rsm_is_vector(call))
		return rsm_judge_vector(call);
	if (is_about_barrier(call) && call->barrier)
		return judge_barrier(call);
	if (rsm_is_polled(call) &&
	    (rsm_is(call, "rsm_memseg_export_destroy") ||
	     (rsm_is(call, "rsm_memseg_import_disconnect") && call->state != IMPORT_ABORTED)))
		return rsm_complain(call, "RSMERR_POLLFD_IN_USE", "RSMERR_POLLFD_IN_USE",
				    "a descriptor of the segment is in use");
	if (call->segment && call->state != STATE_UNKNOWN && is_transfer(call, &transfer))
		return judge_transfer(call, &transfer);
	return NULL;
}

static bool range_excludes(const struct rsm_call *call)
{
	struct transfer transfer;
	struct segment whole;

	if (!call->segment || call->state == STATE_UNKNOWN || !is_transfer(call, &transfer))
		return false;
	whole.length = rsm_length(call->segment);
	return whole.length >= 0 && is_inside(&whole, &transfer);
}

static bool is_alive(const struct rsm_call *call)
{
	const struct segment *exporter = call->segment ? call->segment->exporter : NULL;

	return call->state != STATE_UNKNOWN && exporter && !exporter->is_blurred &&
	       exporter->state == EXPORT_PUBLISHED && !call->rsm->is_shaken &&
	       !model_surroundings(call->rsm->model)->node_loss;
}

static bool connect_excludes(const struct rsm_call *call)
{
	intptr_t node, id;

	return argument_number(call->step, 1, &node) && argument_number(call->step, 2, &id) &&
	       !call->flight->crowded && !call->rsm->is_shaken &&
	       rsm_published(call->rsm, node, id, true);
}

/* Loopback always is; another was there when somebody got it, and no node has gone since. */
static bool is_present(const struct rsm_call *call)
{
	const struct rsm *rsm = call->rsm;
	const char *name = call->step->arguments[0].text;
	size_t i;

	if (name && !strcasecmp(name, "loopback"))
		return true;
	if (!name || rsm->is_shaken || model_surroundings(rsm->model)->node_loss)
		return false;
	for (i = 0; i < rsm->present_count; i++) {
		if (rsm->present[i].process == call->step->process &&
		    !strcasecmp(rsm->present[i].text, name))
			return true;
	}
	return false;
}

static bool barrier_excludes(const struct rsm_call *call, const char *error)
{
	if (!call->barrier || call->barrier->is_blurred || call->flight->crowded)
		return false;
	if (!strcmp(error, "RSMERR_BARRIER_NOT_OPENED"))
		return call->barrier->barrier != BARRIER_CLOSED;
	return !strcmp(error, "RSMERR_BARRIER_UNINITIALIZED") &&
	       call->barrier->barrier != BARRIER_NONE;
}

bool rsm_excludes(const struct rsm_call *call, const char *error)
{
	struct transfer transfer;

	if (is_about_barrier(call))
		return barrier_excludes(call, error);
	if (!strcmp(error, "RSMERR_INTERRUPTED"))
		return !model_surroundings(call->rsm->model)->signals && !call->step->interrupted &&
		       !call->flight->disturbed;
	if (!strcmp(error, "RSMERR_TIMEOUT"))
		return rsm_wait_excludes(call);
	if (!strcmp(error, "RSMERR_CTLR_NOT_PRESENT") && rsm_is(call, "rsm_get_controller"))
		return is_present(call);
	/* Whose a handle of local memory is, is not kept: it may be another controller's. */
	if (!strcmp(error, "RSMERR_BAD_CTLR_HNDL"))
		return !rsm_is(call, "rsm_free_localmemory_handle") && call->controller &&
		       !call->controller->is_blurred && call->controller->controllers > 0 &&
		       !call->flight->crowded;
	if (!strcmp(error, "RSMERR_SEG_NOT_PUBLISHED") && rsm_is(call, "rsm_memseg_import_connect"))
		return connect_excludes(call);
	if (rsm_is(call, "rsm_memseg_import_connect"))
		return rsm_access_excludes(call, error);
	if (call->state == STATE_UNKNOWN || call->state == NO_HANDLE)
		return false;
	if (rsm_is_vector(call) && rsm_vector_excludes(call, error))
		return true;
	if (!strcmp(error, "RSMERR_POLLFD_IN_USE"))
		return !call->segment->pollfds && !call->rsm->has_forked;
	if (!strcmp(error, "RSMERR_BAD_SEG_HNDL") || !strcmp(error, "RSMERR_SEG_STILL_MAPPED") ||
	    !strcmp(error, "RSMERR_SEG_ALREADY_MAPPED") ||
	    !strcmp(error, "RSMERR_SEG_NOT_MAPPED") ||
	    !strcmp(error, "RSMERR_SEG_ALREADY_PUBLISHED") ||
	    (!strcmp(error, "RSMERR_SEG_NOT_PUBLISHED") && call->state == EXPORT_PUBLISHED))
		return tables_cell(call->function, "no_handle") != NULL;
	if (!strcmp(error, "RSMERR_CONN_ABORTED"))
		return is_alive(call);
	if (!strcmp(error, "RSMERR_BAD_OFFSET") || !strcmp(error, "RSMERR_BAD_LENGTH"))
		return range_excludes(call);
	if (!strcmp(error, "RSMERR_PERM_DENIED"))
		return is_transfer(call, &transfer) && call->segment->permission >= 0 &&
		       call->segment->permission & transfer.permission;
	return false;
}

/* The place for a handle or an address is left alone. */
struct complaint *rsm_judge_rest(const struct rsm_call *call)
{
	static const struct {
		const char *function;
		size_t place;
	} makers[] = {{"rsm_get_controller", 1},
		      {"rsm_memseg_export_create", 1},
		      {"rsm_memseg_import_connect", 4},
		      {"rsm_memseg_import_map", 1}};
	const struct value *place;
	size_t i;

	if (rsm_is_vector(call))
		return rsm_judge_failed_vector(call);
	for (i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
		place = &call->step->arguments[makers[i].place];
		if (!rsm_is(call, makers[i].function) || call->flight->crowded ||
		    place->at_count != 2 || place->at[0] == place->at[1])
			continue;
		return rsm_complain(call, "the place for the result as it was", call->step->error,
				    "0x%jx was there, and 0x%jx is", (uintmax_t)place->at[0],
				    (uintmax_t)place->at[1]);
	}
	return NULL;
}
