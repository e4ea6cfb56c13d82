/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments of RSMAPI: transfers, mappings, barriers, signals. */
#include <errno.h>
#include <rsmapi.h>
#include <stdio.h>
#include <string.h>

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
