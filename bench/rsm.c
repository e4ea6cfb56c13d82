/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments of RSMAPI: transfers, mappings, barriers, signals. */
#include <errno.h>
#include <rsmapi.h>
#include <stdio.h>
#include <string.h>

#include "channel.h"
#include "subjects.h"
#include "timing.h"

static rsmapi_controller_handle_t controller;
static rsm_memseg_export_handle_t exported;
static rsm_memseg_import_handle_t imported;
static rsmapi_barrier_t barrier;
static char *local;
static void *mapping;

static void must(const struct pair *pair, int error, const char *what)
{
	char text[128];

	if (error == RSM_SUCCESS)
		return;
	snprintf(text, sizeof(text), "%s: RSM error %d", what, error);
	errno = 0;
	bench_fail(pair, text);
}

static void export_memory(struct pair *pair)
{
	/* At least a page: mappings are made of them. */
	size_t length = (pair->largest + 4095) / 4096 * 4096;
	struct {
		rsm_memseg_id_t id;
		rsm_node_id_t node;
	} segment = {0};
	rsm_topology_t *topology;

	must(pair, rsm_get_controller("scif0", &controller), "rsm_get_controller");
	must(pair, rsm_get_interconnect_topology(&topology), "rsm_get_interconnect_topology");
	segment.node = topology->topology_hdr.local_nodeid;
	rsm_free_interconnect_topology(topology);
	must(pair,
	     rsm_memseg_export_create(controller, &exported, bench_pages(pair, length), length, 0),
	     "rsm_memseg_export_create");
	must(pair, rsm_memseg_export_publish(exported, &segment.id, NULL, 0),
	     "rsm_memseg_export_publish");
	pair_tell(pair, &segment.id, sizeof(segment.id));
	pair_tell(pair, &segment.node, sizeof(segment.node));
}

static void import_memory(struct pair *pair)
{
	size_t length = (pair->largest + 4095) / 4096 * 4096;
	rsm_memseg_id_t id;
	rsm_node_id_t node;

	pair_hear(pair, &id, sizeof(id));
	pair_hear(pair, &node, sizeof(node));
	local = bench_pages(pair, pair->largest + pair->shift);
	must(pair, rsm_get_controller("scif0", &controller), "rsm_get_controller");
	must(pair, rsm_memseg_import_connect(controller, node, id, RSM_PERM_RDWR, &imported),
	     "rsm_memseg_import_connect");
	must(pair, rsm_memseg_import_init_barrier(imported, RSM_BAR_DEFAULT, &barrier),
	     "rsm_memseg_import_init_barrier");
	must(pair,
	     rsm_memseg_import_map(imported, &mapping, RSM_MAP_NONE, RSM_PERM_RDWR, 0, length),
	     "rsm_memseg_import_map");
	memset(mapping, 1, length);
}

static void put(struct pair *pair)
{
	must(pair, rsm_memseg_import_put(imported, 0, local + pair->shift, pair->size),
	     "rsm_memseg_import_put");
}

static void get(struct pair *pair)
{
	must(pair, rsm_memseg_import_get(imported, 0, local + pair->shift, pair->size),
	     "rsm_memseg_import_get");
}

/* As many pieces as one call takes; the sizes are multiples of that. */
static void putv(struct pair *pair)
{
	rsm_iovec_t pieces[RSM_MAX_SGIOREQS];
	size_t length = pair->size / RSM_MAX_SGIOREQS, i;
	rsm_scat_gath_t all = {
		.io_request_count = RSM_MAX_SGIOREQS, .remote_handle = imported, .iovec = pieces};

	for (i = 0; i < RSM_MAX_SGIOREQS; i++)
		pieces[i] = (rsm_iovec_t){.io_type = RSM_VA_TYPE,
					  .local.vaddr = local,
					  .local_offset = i * length,
					  .remote_offset = i * length,
					  .transfer_length = length};
	must(pair, rsm_memseg_import_putv(&all), "rsm_memseg_import_putv");
}

static void span_of_barrier(struct pair *pair)
{
	must(pair, rsm_memseg_import_open_barrier(&barrier), "rsm_memseg_import_open_barrier");
	must(pair, rsm_memseg_import_close_barrier(&barrier), "rsm_memseg_import_close_barrier");
}

static void order_of_barrier(struct pair *pair)
{
	must(pair, rsm_memseg_import_order_barrier(&barrier), "rsm_memseg_import_order_barrier");
}

static void import_with_open_barrier(struct pair *pair)
{
	import_memory(pair);
	must(pair, rsm_memseg_import_open_barrier(&barrier), "rsm_memseg_import_open_barrier");
}

/* --- signals as a channel: who exports is the partner --- */

static void open_segment(struct pair *pair, unsigned connections)
{
	(void)connections;
	if (pair->partner == 0)
		export_memory(pair);
	else
		import_memory(pair);
}

static void *segment_of(const struct pair *pair)
{
	return pair->partner == 0 ? (void *)exported : (void *)imported;
}

static void post(const struct pair *pair, unsigned connection, size_t length)
{
	(void)connection;
	(void)length;
	must(pair, rsm_intr_signal_post(segment_of(pair), 0), "rsm_intr_signal_post");
}

static void await_signal(const struct pair *pair, unsigned connection, size_t length)
{
	(void)connection;
	(void)length;
	must(pair, rsm_intr_signal_wait(segment_of(pair), -1), "rsm_intr_signal_wait");
}

const struct channel channel_rsm_signal = {open_segment, post, await_signal};

static void store(struct pair *pair)
{
	memcpy(mapping, local + pair->shift, pair->size);
}

static void load(struct pair *pair)
{
	memcpy(local + pair->shift, mapping, pair->size);
}

#define EXPORTED .partner = {.begin = export_memory}

const struct subject subject_rsm_put = {"rsm_memseg_import_put", EXPORTED,
					.driver = {.begin = import_memory, .once = put},
					.largest = 64 << 20};
const struct subject subject_rsm_get = {"rsm_memseg_import_get", EXPORTED,
					.driver = {.begin = import_memory, .once = get},
					.largest = 64 << 20};
const struct subject subject_rsm_store = {"rsm_memseg_import_map", EXPORTED,
					  .driver = {.begin = import_memory, .once = store},
					  .largest = 64 << 20};
const struct subject subject_rsm_load = {"rsm_memseg_import_map", EXPORTED,
					 .driver = {.begin = import_memory, .once = load},
					 .largest = 64 << 20};

const struct measurement measurement_putv = {
	.name = "putv",
	.title = "Copy to another process in 16 pieces, by their size together",
	.sizes = {128, 4096, 65536, 1 << 20},
	.effort = copy_effort,
	.subjects =
		(const struct subject *const[]){
			&(const struct subject){"rsm_memseg_import_putv", EXPORTED,
						.driver = {.begin = import_memory, .once = putv}},
			&subject_memcpy_out, &subject_process_writev, NULL},
};

const struct measurement measurement_barrier = {
	.name = "barrier",
	.title = "Barriers of a connection to a segment",
	.sizes = {8},
	.effort = copy_effort,
	.subjects =
		(const struct subject *const[]){
			&(const struct subject){
				"open, close", EXPORTED,
				.driver = {.begin = import_memory, .once = span_of_barrier}},
			&(const struct subject){"order", EXPORTED,
						.driver = {.begin = import_with_open_barrier,
							   .once = order_of_barrier}},
			NULL},
};
