/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An exporter on node 1 for a test process on node 0. A step that fails ends the process with 99:
 * the set-up broke.
 */
#ifndef RSM_TESTS_PAIR_H
#define RSM_TESTS_PAIR_H

#include <rsmapi.h>
#include <stddef.h>
#include <sys/types.h>

struct pair {
	pid_t exporter;
	int end; /* closed: the exporter ends */
	rsm_memseg_id_t id;
	rsmapi_controller_handle_t controller;
	rsm_memseg_import_handle_t segment;
	rsmapi_barrier_t barrier;
};

/* In a fabric of its own; forks, so it comes before any other use of the library. */
void pair_begin(struct pair *pair, size_t bytes);

/* Connected for reading and writing, with a barrier. */
void pair_connect(struct pair *pair);

void pair_end(struct pair *pair);

/* How many this process has open; to be compared. */
int pair_descriptors(void);

void pair_must(int error, const char *what);

#endif
