/* SPDX-License-Identifier: BSD-2-Clause */
/* The one clock of all measurements, the loop around an operation, and where processes run. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "bench.h"

static inline uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* In a loop that waits for the other side: where both have one CPU, it gets it. */
static inline void await_other(const struct pair *pair)
{
	if (pair->cpu[0] == pair->cpu[1])
		sched_yield();
	else
		relax();
}

void timing_note(struct pair *pair, double nanoseconds);

/* Does ONCE as often as the pair's effort says, after a warm-up, and notes the times divided by
 * PARTS. */
void timing_loop(struct pair *pair, void (*once)(struct pair *pair), unsigned parts);

/* For a partner, between the driver's message and its answer to it: earlier or later the driver may
 * be elsewhere. */
static inline bool timing_was_last(const struct pair *pair)
{
	return atomic_load(&pair->board->is_last);
}

/* The number of the samples that only warm up, and how many more there can be. */
struct progress {
	unsigned warm, made;
	uint64_t end;
};
struct progress timing_begin(struct pair *pair);
/* Whether the sample that is to come is the last one. */
bool timing_is_last(const struct pair *pair, const struct progress *progress);

/* The first two CPUs that this process may use; twice the same where there is one. */
void timing_choose_cpus(int cpu[2]);
void timing_pin(const struct pair *pair, int cpu);

#endif
