/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs of rsm-cts-peer that make RSMAPI calls. Handles are numbers that mean something in this
 * process only. */
#include "peer.h"

#include "../runtime/functions.h"
#include "../runtime/rsm_errname.h"

#include <inttypes.h>
#include <pthread.h>
#include <rsmapi.h>
#include <stdio.h>
#include <stdlib.h>

#define N(i)	   request_number(request, i)
#define AT(i)	   request_address(request, i)
#define CALL(name) static void name(const struct request *request, struct reply *reply)

const char *const peer_program = "rsm-cts-peer";
const char *const *const peer_functions = rsm_functions;
const char *const *const peer_substrate = scif_functions;

int peer_node(void)
{
	rsm_topology_t *topology;

	if (rsm_get_interconnect_topology(&topology) != RSM_SUCCESS)
		return -1;
	int node = (int)topology->topology_hdr.local_nodeid;
	rsm_free_interconnect_topology(topology);
	return node;
}

/* The result of a call: what it gave, or the name of its error. */
static void answer(struct reply *reply, int code, intmax_t gave)
{
	if (code == RSM_SUCCESS)
		reply_value(reply, gave);
	else
		reply_error(reply, rsm_errname(code));
}

CALL(call_controller)
{
	rsmapi_controller_handle_t controller = NULL;
	int code = rsm_get_controller((char *)(uintptr_t)request->argv[0], &controller);

	answer(reply, code, (intptr_t)controller);
}

CALL(call_release)
{
	answer(reply, rsm_release_controller(AT(0)), 0);
}

/* rsm_topology: the node, then the number of controllers */
CALL(call_topology)
{
	rsm_topology_t *topology = NULL;
	int code = rsm_get_interconnect_topology(&topology);

	(void)request;
	answer(reply, code, code ? 0 : topology->topology_hdr.local_nodeid);
	if (code)
		return;
	snprintf(reply->text, sizeof reply->text, "%u", topology->topology_hdr.local_cntlr_count);
	rsm_free_interconnect_topology(topology);
}

/* rsm_create CONTROLLER ADDR LEN FLAGS: the handle */
CALL(call_create)
{
	rsm_memseg_export_handle_t handle = NULL;
	int code = rsm_memseg_export_create(AT(0), &handle, AT(1), (size_t)N(2), (uint_t)N(3));

	answer(reply, code, (intptr_t)handle);
}

/* [NODE PERM]... from word `from`; NULL when there are none or half of one. */
static rsmapi_access_entry_t *access_list(const struct request *request, int from, unsigned *count)
{
	rsmapi_access_entry_t *list;

	*count = (unsigned)(request->argc - from) / 2;
	list = *count ? calloc(*count, sizeof *list) : NULL;
	for (unsigned i = 0; list && i < *count; i++) {
		list[i].ae_node = (rsm_node_id_t)N(from + 2 * (int)i);
		list[i].ae_permission = (rsm_permission_t)N(from + 2 * (int)i + 1);
	}
	return list;
}

/* rsm_publish H ID [NODE PERM]...: the id */
CALL(call_publish)
{
	rsm_memseg_id_t id = (rsm_memseg_id_t)N(1);
	unsigned count;
	rsmapi_access_entry_t *list = access_list(request, 2, &count);
	int code = rsm_memseg_export_publish(AT(0), &id, list, count);

	answer(reply, code, id);
	free(list);
}

/* rsm_republish H [NODE PERM]... */
CALL(call_republish)
{
	unsigned count;
	rsmapi_access_entry_t *list = access_list(request, 1, &count);

	answer(reply, rsm_memseg_export_republish(AT(0), list, count), 0);
	free(list);
}

CALL(call_unpublish)
{
	answer(reply, rsm_memseg_export_unpublish(AT(0)), 0);
}

CALL(call_destroy)
{
	answer(reply, rsm_memseg_export_destroy(AT(0)), 0);
}

/* rsm_rebind H ADDR OFF LEN */
CALL(call_rebind)
{
	answer(reply, rsm_memseg_export_rebind(AT(0), AT(1), N(2), (size_t)N(3)), 0);
}

/* rsm_connect CONTROLLER NODE ID PERM: the handle */
CALL(call_connect)
{
	rsm_memseg_import_handle_t handle = NULL;
	int code = rsm_memseg_import_connect(AT(0), (rsm_node_id_t)N(1), (rsm_memseg_id_t)N(2),
					     (rsm_permission_t)N(3), &handle);

	answer(reply, code, (intptr_t)handle);
}

CALL(call_disconnect)
{
	answer(reply, rsm_memseg_import_disconnect(AT(0)), 0);
}

/* rsm_map H PERM OFFSET LEN: the address */
CALL(call_map)
{
	void *address = NULL;
	int code = rsm_memseg_import_map(AT(0), &address, RSM_MAP_NONE, (rsm_permission_t)N(1),
					 N(2), (size_t)N(3));

	answer(reply, code, (intptr_t)address);
}

CALL(call_unmap)
{
	answer(reply, rsm_memseg_import_unmap(AT(0)), 0);
}

/* rsm_get and rsm_put: H OFFSET LEN ADDR */
CALL(call_get)
{
	answer(reply, rsm_memseg_import_get(AT(0), N(1), AT(3), (size_t)N(2)), 0);
}

CALL(call_put)
{
	answer(reply, rsm_memseg_import_put(AT(0), N(1), AT(3), (size_t)N(2)), 0);
}

/* rsm_get8 and so on: H OFFSET COUNT ADDR */
#define CALL_OF_ITEMS(name, type)                                                                  \
	CALL(call_##name)                                                                          \
	{                                                                                          \
		int code =                                                                         \
			rsm_memseg_import_##name(AT(0), N(1), (type *)AT(3), (unsigned long)N(2)); \
                                                                                                   \
		answer(reply, code, 0);                                                            \
	}

CALL_OF_ITEMS(get8, uint8_t)
CALL_OF_ITEMS(get16, uint16_t)
CALL_OF_ITEMS(get32, uint32_t)
CALL_OF_ITEMS(get64, uint64_t)
CALL_OF_ITEMS(put8, uint8_t)
CALL_OF_ITEMS(put16, uint16_t)
CALL_OF_ITEMS(put32, uint32_t)
CALL_OF_ITEMS(put64, uint64_t)

/* Also of a barrier that is never destroyed somebody knows the address. */
struct kept_barrier {
	rsmapi_barrier_t barrier;
	struct kept_barrier *next;
};

static struct kept_barrier *kept_barriers;
static pthread_mutex_t barriers_lock = PTHREAD_MUTEX_INITIALIZER;

static struct kept_barrier *barrier_taken(const void *barrier)
{
	struct kept_barrier **at = &kept_barriers, *kept;

	pthread_mutex_lock(&barriers_lock);
	while (*at && &(*at)->barrier != barrier)
		at = &(*at)->next;
	kept = *at;
	if (kept)
		*at = kept->next;
	pthread_mutex_unlock(&barriers_lock);
	return kept;
}

/* rsm_barrier H: a barrier object of this process, initialised */
CALL(call_barrier)
{
	struct kept_barrier *kept = calloc(1, sizeof *kept);

	if (!kept) {
		reply_bad(reply, "out of memory");
		return;
	}
	int code = rsm_memseg_import_init_barrier(AT(0), RSM_BAR_DEFAULT, &kept->barrier);
	if (code) {
		free(kept);
		answer(reply, code, 0);
		return;
	}
	pthread_mutex_lock(&barriers_lock);
	kept->next = kept_barriers;
	kept_barriers = kept;
	pthread_mutex_unlock(&barriers_lock);
	answer(reply, code, (intptr_t)&kept->barrier);
}

CALL(call_open_barrier)
{
	answer(reply, rsm_memseg_import_open_barrier(AT(0)), 0);
}

CALL(call_order_barrier)
{
	answer(reply, rsm_memseg_import_order_barrier(AT(0)), 0);
}

CALL(call_close_barrier)
{
	answer(reply, rsm_memseg_import_close_barrier(AT(0)), 0);
}

CALL(call_destroy_barrier)
{
	int code = rsm_memseg_import_destroy_barrier(AT(0));

	if (!code)
		free(barrier_taken(AT(0)));
	answer(reply, code, 0);
}

CALL(call_mode)
{
	answer(reply, rsm_memseg_import_set_mode(AT(0), (rsm_barrier_mode_t)N(1)), 0);
}

CALL(call_get_mode)
{
	rsm_barrier_mode_t mode = RSM_BARRIER_MODE_EXPLICIT;
	int code = rsm_memseg_import_get_mode(AT(0), &mode);

	answer(reply, code, mode);
}

CALL(call_post)
{
	answer(reply, rsm_intr_signal_post(AT(0), (uint_t)N(1)), 0);
}

CALL(call_wait)
{
	answer(reply, rsm_intr_signal_wait(AT(0), (int)N(1)), 0);
}

/* rsm_pollfd H: the descriptor, then its events */
CALL(call_pollfd)
{
	struct pollfd entry = {.fd = -1};
	int code = rsm_memseg_get_pollfd(AT(0), &entry);

	answer(reply, code, entry.fd);
	if (!code)
		snprintf(reply->text, sizeof reply->text, "%d", entry.events);
}

CALL(call_release_pollfd)
{
	answer(reply, rsm_memseg_release_pollfd(AT(0)), 0);
}

/* rsm_wait_pollfd FD EVENTS MS: how many are ready, then revents */
CALL(call_wait_pollfd)
{
	struct pollfd entry = {.fd = (int)N(0), .events = (short)N(1)};
	int count = 0;
	int code = rsm_intr_signal_wait_pollfd(&entry, 1, (int)N(2), &count);

	answer(reply, code, count);
	if (!code)
		snprintf(reply->text, sizeof reply->text, "%d", entry.revents);
}

static const struct verb calls[] = {
	{"rsm_controller", 1, call_controller},
	{"rsm_release", 1, call_release},
	{"rsm_topology", 0, call_topology},
	{"rsm_create", 4, call_create},
	{"rsm_publish", -3, call_publish},
	{"rsm_republish", -2, call_republish},
	{"rsm_unpublish", 1, call_unpublish},
	{"rsm_destroy", 1, call_destroy},
	{"rsm_rebind", 4, call_rebind},
	{"rsm_connect", 4, call_connect},
	{"rsm_disconnect", 1, call_disconnect},
	{"rsm_map", 4, call_map},
	{"rsm_unmap", 1, call_unmap},
	{"rsm_get", 4, call_get},
	{"rsm_put", 4, call_put},
	{"rsm_get8", 4, call_get8},
	{"rsm_get16", 4, call_get16},
	{"rsm_get32", 4, call_get32},
	{"rsm_get64", 4, call_get64},
	{"rsm_put8", 4, call_put8},
	{"rsm_put16", 4, call_put16},
	{"rsm_put32", 4, call_put32},
	{"rsm_put64", 4, call_put64},
	{"rsm_barrier", 1, call_barrier},
	{"rsm_open_barrier", 1, call_open_barrier},
	{"rsm_order_barrier", 1, call_order_barrier},
	{"rsm_close_barrier", 1, call_close_barrier},
	{"rsm_destroy_barrier", 1, call_destroy_barrier},
	{"rsm_mode", 2, call_mode},
	{"rsm_get_mode", 1, call_get_mode},
	{"rsm_post", 2, call_post},
	{"rsm_wait", 2, call_wait},
	{"rsm_pollfd", 1, call_pollfd},
	{"rsm_release_pollfd", 1, call_release_pollfd},
	{"rsm_wait_pollfd", 3, call_wait_pollfd},
};

bool run_call(const struct request *request, struct reply *reply)
{
	return run_verb(calls, sizeof calls / sizeof *calls, request, reply);
}
