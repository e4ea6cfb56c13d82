/* SPDX-License-Identifier: BSD-2-Clause */
/* Minimum, median and 99th percentile of all samples of all repetitions. */
#include <stdlib.h>
#include <string.h>

#include "results.h"

void figures_add(struct figures *figures, const double *times, size_t count)
{
	if (count == 0)
		return;
	figures->times = realloc(figures->times, (figures->count + count) * sizeof(*times));
	if (!figures->times)
		abort();
	memcpy(figures->times + figures->count, times, count * sizeof(*times));
	figures->count += count;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The nearest rank: a time that was measured, none in between. */
static double percentile(const struct figures *figures, unsigned percent)
{
	size_t rank = (figures->count * percent + 99) / 100;

	return figures->times[rank ? rank - 1 : 0];
}

void figures_complete(struct figures *figures)
{
	if (figures->count == 0)
		return;
	qsort(figures->times, figures->count, sizeof(*figures->times), ascending);
	figures->least = figures->times[0];
	figures->median = percentile(figures, 50);
	figures->p99 = percentile(figures, 99);
}

double results_ratio(const struct results_of *of, size_t size, size_t ours, size_t peer)
{
	const struct figures *own = &of->figures[size][ours], *others = &of->figures[size][peer];

	return own->count && others->count && own->median > 0 ? others->median / own->median : 0;
}
