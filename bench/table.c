/* SPDX-License-Identifier: BSD-2-Clause */
/* The results as text: a block for each measurement, a line for each size and subject. */
#include <string.h>

#include "results.h"

static const char *time_text(char text[16], double nanoseconds)
{
	if (nanoseconds < 1e3)
		snprintf(text, 16, "%.1f ns", nanoseconds);
	else if (nanoseconds < 1e6)
		snprintf(text, 16, "%.2f us", nanoseconds / 1e3);
	else
		snprintf(text, 16, "%.2f ms", nanoseconds / 1e6);
	return text;
}

const char *bench_size_text(char text[24], enum size_kind kind, size_t size)
{
	if (kind == SIZE_COUNT)
		snprintf(text, 24, "%zu", size);
	else if (size >= 1 << 20 && size % (1 << 20) == 0)
		snprintf(text, 24, "%zu MiB", size >> 20);
	else if (size >= 1024 && size % 1024 == 0)
		snprintf(text, 24, "%zu KiB", size >> 10);
	else
		snprintf(text, 24, "%zu B", size);
	return text;
}

static void print_ratios(FILE *to, const struct results_of *of, size_t size, size_t subject)
{
	const struct subject *const *subjects = of->measurement->subjects;
	size_t peer;

	if (subjects[subject]->is_peer)
		return;
	for (peer = 0; peer < of->subject_count; peer++) {
		double ratio = results_ratio(of, size, subject, peer);

		if (subjects[peer]->is_peer && ratio > 0)
			fprintf(to, "  %.2f %s", ratio, subjects[peer]->name);
	}
}

static void print_line(FILE *to, const struct results_of *of, size_t size, size_t subject)
{
	const struct figures *figures = &of->figures[size][subject];
	char name[24], least[16], median[16], p99[16];

	if (figures->count == 0)
		return;
	fprintf(to, "  %8s  %-22s %10s %10s %10s",
		bench_size_text(name, of->measurement->kind, of->sizes[size]),
		of->measurement->subjects[subject]->name, time_text(least, figures->least),
		time_text(median, figures->median), time_text(p99, figures->p99));
	print_ratios(to, of, size, subject);
	fputc('\n', to);
}

static void print_commands(FILE *to, const struct results_of *of)
{
	size_t size, subject;

	for (subject = 0; subject < of->subject_count; subject++)
		for (size = 0; size < of->size_count; size++)
			if (of->command[size][subject][0])
				fprintf(to, "  ran  %s\n", of->command[size][subject]);
}

void results_print_one(FILE *to, const struct results_of *of)
{
	size_t size, subject;

	fprintf(to, "\n%s: %s\n", of->measurement->name, of->measurement->title);
	if (of->skipped[0]) {
		fprintf(to, "  skipped: %s\n", of->skipped);
		return;
	}
	fprintf(to, "  %8s  %-22s %10s %10s %10s  %s\n", "size", "by", "minimum", "median", "p99",
		"times as fast as");
	for (size = 0; size < of->size_count; size++)
		for (subject = 0; subject < of->subject_count; subject++)
			print_line(to, of, size, subject);
	print_commands(to, of);
	for (subject = 0; subject < of->subject_count; subject++)
		if (of->without[subject][0])
			fprintf(to, "  %s: %s: %s\n",
				of->has_failed[subject] ? "FAILED" : "skipped",
				of->measurement->subjects[subject]->name, of->without[subject]);
	fflush(to);
}

void results_print_head(FILE *to, const struct results *results)
{
	if (results->cpu[0] == results->cpu[1])
		fprintf(to, "one CPU: all processes on CPU %d; what needs two is left out\n",
			results->cpu[0]);
	else
		fprintf(to, "CPU %d: who keeps the time; CPU %d: the other side\n", results->cpu[0],
			results->cpu[1]);
	fprintf(to, "%u repetitions of each, in turns%s\n", results->repetitions,
		results->is_quick ? "; quick: fewer sizes and repetitions" : "");
}

void results_print(FILE *to, const struct results *results)
{
	size_t i;

	results_print_head(to, results);
	for (i = 0; i < results->count; i++)
		results_print_one(to, &results->of[i]);
}
