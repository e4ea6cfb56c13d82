/* SPDX-License-Identifier: BSD-2-Clause */
/* What the libraries are to reach beside their peers, and whether they have. */
#ifndef BENCH_TARGETS_H
#define BENCH_TARGETS_H

#include "results.h"

enum rule {
	TIMES_AS_FAST, /* the peer's median by ours is at least the bound */
	NS_MORE,       /* ours is at most that many nanoseconds above the peer's */
	GROWTH,	       /* ours at the largest size by ours at the smallest is at most the bound */
};

struct target {
	const char *measurement;
	const char *ours; /* NULL: each of ours */
	const char *peer;
	size_t from, to; /* sizes */
	enum rule rule;
	double bound;
};

extern const struct target targets[]; /* up to one without a measurement */

struct judgement {
	bool is_measured, is_met;
	double worst;
	size_t size;	  /* where it is the worst */
	const char *ours; /* and whose */
};

struct judgement target_judge(const struct target *target, const struct results *results);
/* "write, 64 KiB to 1 MiB: at least 0.95 times as fast as memcpy" */
void target_describe(FILE *to, const struct target *target);
const char *target_size_text(char text[24], const struct target *target, size_t size);
void targets_print(FILE *to, const struct results *results);

#endif
