/* SPDX-License-Identifier: BSD-2-Clause */
/* A measurement is run: all its subjects in turns. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "results.h"

/* Fills OF. Returns false when a subject has failed; the others are measured all the same. */
bool run_measurement(const struct results *results, struct results_of *of,
		     const struct measurement *measurement);

#endif
