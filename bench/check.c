/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times differ from machine to machine and from hour to hour; what a peer takes beside ours less
 * so, and still enough that one time is none.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "run.h"

enum { TIMES = 3 };

static const double most_lost = 0.15;

struct drops {
	bool is_lost[MOST_SIZES][MOST_SUBJECTS][MOST_SUBJECTS]; /* size, ours, peer */
	size_t compared, lost;
};

json_t *check_load(const char *path)
{
	json_error_t error;
	json_t *reference = json_load_file(path, 0, &error);
	const char *format;

	if (!reference) {
		fprintf(stderr, "scif-bench: %s: %s\n", path, error.text);
		return NULL;
	}
	format = json_string_value(json_object_get(reference, "format"));
	if (format && strcmp(format, "scif-bench/1") == 0)
		return reference;
	fprintf(stderr, "scif-bench: %s: its format is not scif-bench/1\n", path);
	json_decref(reference);
	return NULL;
}

static const json_t *with_name(const json_t *array, const char *key, const char *name)
{
	const json_t *entry;
	size_t i;

	json_array_foreach((json_t *)array, i, entry)
	{
		const char *value = json_string_value(json_object_get(entry, key));

		if (value && strcmp(value, name) == 0)
			return entry;
	}
	return NULL;
}

static const json_t *with_size(const json_t *array, size_t size)
{
	const json_t *entry;
	size_t i;

	json_array_foreach((json_t *)array, i, entry)
	{
		if (json_integer_value(json_object_get(entry, "size")) == (json_int_t)size)
			return entry;
	}
	return NULL;
}

/* 0: the reference has none. */
static double earlier_ratio(const json_t *reference, const struct results_of *of, size_t size,
			    size_t ours, size_t peer)
{
	const struct subject *const *subjects = of->measurement->subjects;
	const json_t *found = with_name(json_object_get(reference, "measurements"), "name",
					of->measurement->name);

	found = with_size(json_object_get(found, "sizes"), of->sizes[size]);
	found = with_name(json_object_get(found, "results"), "by", subjects[ours]->name);
	return json_number_value(
		json_object_get(json_object_get(found, "times_as_fast_as"), subjects[peer]->name));
}

static void find_drops(const json_t *reference, const struct results_of *of, struct drops *drops)
{
	size_t size, ours, peer;

	drops->compared = drops->lost = 0;
	for (size = 0; size < of->size_count; size++) {
		for (ours = 0; ours < of->subject_count; ours++) {
			for (peer = 0; peer < of->subject_count; peer++) {
				double before = earlier_ratio(reference, of, size, ours, peer);
				double ratio = results_ratio(of, size, ours, peer);
				bool *is_lost = &drops->is_lost[size][ours][peer];

				if (before <= 0 || ratio <= 0)
					*is_lost = false;
				else
					drops->compared++;
				*is_lost = *is_lost && ratio < before * (1 - most_lost);
				drops->lost += *is_lost;
			}
		}
	}
}

static void print_drops(FILE *to, const json_t *reference, const struct results_of *of,
			const struct drops *drops)
{
	const struct subject *const *subjects = of->measurement->subjects;
	size_t size, ours, peer;

	for (size = 0; size < of->size_count; size++)
		for (ours = 0; ours < of->subject_count; ours++)
			for (peer = 0; peer < of->subject_count; peer++)
				if (drops->is_lost[size][ours][peer])
					fprintf(to,
						"  slower  %s, %zu: %s was %.2f times as fast as "
						"%s, is %.2f\n",
						of->measurement->name, of->sizes[size],
						subjects[ours]->name,
						earlier_ratio(reference, of, size, ours, peer),
						subjects[peer]->name,
						results_ratio(of, size, ours, peer));
}

static void free_figures(struct results_of *of)
{
	size_t size, subject;

	for (size = 0; size < of->size_count; size++)
		for (subject = 0; subject < of->subject_count; subject++)
			free(of->figures[size][subject].times);
}

static size_t count_lost(FILE *to, const json_t *reference, const struct results *results,
			 const struct results_of *of, size_t *compared)
{
	struct results_of *again = calloc(1, sizeof(*again));
	struct drops drops;
	int time;

	if (!again)
		abort();
	memset(drops.is_lost, true, sizeof(drops.is_lost));
	find_drops(reference, of, &drops);
	*compared += drops.compared;
	for (time = 1; drops.lost && time < TIMES; time++) {
		free_figures(again);
		memset(again, 0, sizeof(*again));
		if (!run_measurement(results, again, of->measurement))
			break;
		find_drops(reference, again, &drops);
	}
	print_drops(to, reference, again->measurement ? again : of, &drops);
	free_figures(again);
	free(again);
	return drops.lost;
}

bool check_ratios(FILE *to, const json_t *reference, const struct results *results)
{
	size_t lost = 0, compared = 0, i;

	fprintf(to, "\nbeside the reference\n");
	for (i = 0; i < results->count; i++)
		lost += count_lost(to, reference, results, &results->of[i], &compared);
	fprintf(to, "  %zu of %zu ratios are more than %.0f %% lower, %d times\n", lost, compared,
		most_lost * 100, TIMES);
	/* A comparison of nothing is none. */
	return lost == 0 && compared > 0;
}
