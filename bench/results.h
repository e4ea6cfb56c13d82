/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run has measured, for whoever writes it down. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <stdio.h>

#include "bench.h"

/* The times of one subject at one size, in nanoseconds for an operation. */
struct figures {
	size_t count;
	double *times; /* ascending once they are complete */
	double least, median, p99;
};

struct results_of {
	const struct measurement *measurement;
	char skipped[TEXT_LENGTH]; /* why nothing of it was measured, or empty */
	size_t size_count, subject_count;
	size_t sizes[MOST_SIZES];
	struct figures figures[MOST_SIZES][MOST_SUBJECTS];
	char command[MOST_SIZES][MOST_SUBJECTS][TEXT_LENGTH];
	char without[MOST_SUBJECTS][TEXT_LENGTH]; /* why a subject has no figures, or empty */
	bool has_failed[MOST_SUBJECTS];
};

struct results {
	int cpu[2];
	unsigned repetitions;
	bool is_quick;
	size_t count;
	struct results_of *of;
};

void figures_add(struct figures *figures, const double *times, size_t count);
void figures_complete(struct figures *figures);

/* The peer's median by ours: above 1 where ours is faster. 0: one of them has no figures. */
double results_ratio(const struct results_of *of, size_t size, size_t ours, size_t peer);

void results_print(FILE *to, const struct results *results);
void results_print_one(FILE *to, const struct results_of *of);
void results_print_head(FILE *to, const struct results *results);

#endif
