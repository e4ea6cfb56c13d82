/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of one subject, as the coordinator sees them. */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "bench.h"

struct turns {
	const struct subject *subject;
	struct board *board;
	pid_t driver; /* also its process group; 0: ended */
	int orders, answers;
};

/* Starts driver and partner; 0 once both are ready, or -1 with the reason in the board. */
int turns_begin(struct turns *turns, const struct subject *subject,
		const struct measurement *measurement, size_t largest, const int cpu[2],
		int seconds);

/* One repetition; the times are in the board. Returns as turns_begin(). */
int turns_take(struct turns *turns, size_t size, struct effort effort, int seconds);

/* Nothing of it is left afterwards. */
void turns_end(struct turns *turns);

#endif
