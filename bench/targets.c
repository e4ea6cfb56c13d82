/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets are ratios of medians in one run; times are information. */
#include "targets.h"

#include <stdint.h>
#include <string.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

const struct target targets[] = {
	{"write", NULL, "memcpy", 64 * KIB, MIB, TIMES_AS_FAST, 0.95},
	{"read", NULL, "memcpy", 64 * KIB, MIB, TIMES_AS_FAST, 0.95},
	{"write", NULL, "memcpy", 16 * MIB, SIZE_MAX, TIMES_AS_FAST, 0.95},
	{"read", NULL, "memcpy", 16 * MIB, SIZE_MAX, TIMES_AS_FAST, 0.95},
	{"write", NULL, "memcpy", 8, 4 * KIB, NS_MORE, 100},
	{"read", NULL, "memcpy", 8, 4 * KIB, NS_MORE, 100},
	{"write", NULL, "UCX posix", 8, SIZE_MAX, TIMES_AS_FAST, 1},
	{"write", NULL, "UCX cma", 8, SIZE_MAX, TIMES_AS_FAST, 1},
	{"store", NULL, "memcpy", 8, SIZE_MAX, TIMES_AS_FAST, 0.95},
	{"load", NULL, "memcpy", 8, SIZE_MAX, TIMES_AS_FAST, 0.95},
	{"ping-pong", "scif_recv", "libfabric shm", 8, 8, TIMES_AS_FAST, 1},
	{"ping-pong", "scif_recv", "UCX posix", 8, 8, TIMES_AS_FAST, 0.5},
	{"wake", "scif_recv", "futex pair", 8, 8, TIMES_AS_FAST, 1 / 1.15},
	{"wake", "scif_recv", "AF_UNIX", 8, 8, TIMES_AS_FAST, 1},
	{"stream", "scif_send", "AF_UNIX", 64, 64, TIMES_AS_FAST, 10},
	{"windows", "scif_vreadfrom", NULL, 10, 100000, GROWTH, 2},
	{"register", "scif_register", "fresh shared copy", 64 * MIB, 64 * MIB, TIMES_AS_FAST,
	 1 / 1.3},
	{0},
};

static const struct results_of *find(const struct results *results, const char *name)
{
	size_t i;

	for (i = 0; i < results->count; i++)
		if (strcmp(results->of[i].measurement->name, name) == 0)
			return &results->of[i];
	return NULL;
}

static bool is_meant(const struct target *target, const struct subject *subject)
{
	return !subject->is_peer && (!target->ours || strcmp(target->ours, subject->name) == 0);
}

static void take_worst(const struct target *target, struct judgement *judgement, double value,
		       size_t size, const char *ours)
{
	bool is_worse =
		target->rule == TIMES_AS_FAST ? value < judgement->worst : value > judgement->worst;

	if (judgement->is_measured && !is_worse)
		return;
	*judgement =
		(struct judgement){.is_measured = true, .worst = value, .size = size, .ours = ours};
}

static void judge_beside(const struct target *target, const struct results_of *of, size_t size,
			 size_t ours, struct judgement *judgement)
{
	const struct subject *const *subjects = of->measurement->subjects;
	size_t peer;

	for (peer = 0; peer < of->subject_count; peer++) {
		double ratio = results_ratio(of, size, ours, peer);
		double more = of->figures[size][ours].median - of->figures[size][peer].median;

		if (ratio > 0 && strcmp(subjects[peer]->name, target->peer) == 0)
			take_worst(target, judgement, target->rule == NS_MORE ? more : ratio,
				   of->sizes[size], subjects[ours]->name);
	}
}

static void judge_growth(const struct target *target, const struct results_of *of, size_t ours,
			 struct judgement *judgement)
{
	const struct figures *first = &of->figures[0][ours],
			     *last = &of->figures[of->size_count - 1][ours];

	if (of->sizes[0] == target->from && of->sizes[of->size_count - 1] == target->to &&
	    first->count && last->count)
		take_worst(target, judgement, last->median / first->median, target->to,
			   of->measurement->subjects[ours]->name);
}

struct judgement target_judge(const struct target *target, const struct results *results)
{
	const struct results_of *of = find(results, target->measurement);
	struct judgement judgement = {0};
	size_t size, ours;

	if (!of)
		return judgement;
	for (ours = 0; ours < of->subject_count; ours++) {
		if (!is_meant(target, of->measurement->subjects[ours]))
			continue;
		if (target->rule == GROWTH)
			judge_growth(target, of, ours, &judgement);
		for (size = 0; target->peer && size < of->size_count; size++)
			if (of->sizes[size] >= target->from && of->sizes[size] <= target->to)
				judge_beside(target, of, size, ours, &judgement);
	}
	judgement.is_met = judgement.is_measured &&
			   (target->rule == TIMES_AS_FAST ? judgement.worst >= target->bound
							  : judgement.worst <= target->bound);
	return judgement;
}

const char *target_size_text(char text[24], const struct target *target, size_t size)
{
	return bench_size_text(text, target->rule == GROWTH ? SIZE_COUNT : SIZE_BYTES, size);
}

void target_describe(FILE *to, const struct target *target)
{
	char text[24];

	fprintf(to, "%s", target->measurement);
	if (target->ours)
		fprintf(to, " (%s)", target->ours);
	fprintf(to, ", %s", target_size_text(text, target, target->from));
	if (target->to == SIZE_MAX)
		fprintf(to, " and more");
	else if (target->to != target->from)
		fprintf(to, " to %s", target_size_text(text, target, target->to));
	if (target->rule == TIMES_AS_FAST)
		fprintf(to, ": at least %.2f times as fast as %s", target->bound, target->peer);
	else if (target->rule == NS_MORE)
		fprintf(to, ": at most %.0f ns above %s", target->bound, target->peer);
	else
		fprintf(to, ": grows at most %.1f times", target->bound);
}

void targets_print(FILE *to, const struct results *results)
{
	const struct target *target;

	fprintf(to, "\ntargets\n");
	for (target = targets; target->measurement; target++) {
		struct judgement judgement = target_judge(target, results);
		char text[24];

		fprintf(to, "  %-12s ",
			!judgement.is_measured ? "not measured"
			: judgement.is_met     ? "met"
					       : "NOT MET");
		target_describe(to, target);
		if (judgement.is_measured)
			fprintf(to, "; %.2f with %s at %s", judgement.worst, judgement.ours,
				target_size_text(text, target, judgement.size));
		fputc('\n', to);
	}
}
