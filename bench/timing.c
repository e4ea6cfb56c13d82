/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample is the time of a batch of operations divided by their number, so that reading the clock
 * does not count where an operation takes less than that.
 */
#include "timing.h"

/* A repetition that has taken this long ends early. */
enum { LONGEST_NS = 300000000 };

void timing_note(struct pair *pair, double nanoseconds)
{
	struct board *board = pair->board;

	if (board->taken < MOST_SAMPLES)
		board->times[board->taken++] = nanoseconds;
}

/* The first samples find caches and predictors cold; a tenth of them is made twice. */
struct progress timing_begin(struct pair *pair)
{
	atomic_store(&pair->board->is_last, false);
	return (struct progress){.warm = pair->effort.samples / 10 + 1, .end = now() + LONGEST_NS};
}

bool timing_is_last(const struct pair *pair, const struct progress *progress)
{
	return progress->made + 1 >= progress->warm + pair->effort.samples ||
	       (progress->made > progress->warm && now() > progress->end);
}

/* A span of time ends with the last of its operations, which is announced before it begins. */
static void do_batch(struct pair *pair, void (*once)(struct pair *pair), bool is_last)
{
	unsigned i;

	for (i = 1; i < pair->effort.batch; i++)
		once(pair);
	if (is_last)
		atomic_store(&pair->board->is_last, true);
	once(pair);
}

void timing_loop(struct pair *pair, void (*once)(struct pair *pair), unsigned parts)
{
	struct progress progress = timing_begin(pair);
	bool is_last;

	do {
		uint64_t start;

		is_last = timing_is_last(pair, &progress);
		start = now();
		do_batch(pair, once, is_last);
		if (progress.made++ >= progress.warm)
			timing_note(pair, (double)(now() - start) / pair->effort.batch / parts);
	} while (!is_last);
}

void timing_choose_cpus(int cpu[2])
{
	cpu_set_t allowed;
	int found = 0, i;

	cpu[0] = cpu[1] = -1;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	for (i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &allowed))
			cpu[found++] = i;
	if (found < 2)
		cpu[1] = cpu[0];
}

void timing_pin(const struct pair *pair, int cpu)
{
	cpu_set_t one;

	if (cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	bench_must(pair, sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity");
}
