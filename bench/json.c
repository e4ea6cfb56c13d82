/* SPDX-License-Identifier: BSD-2-Clause */
/* The document scif-bench/1. */
#include "json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "targets.h"

static json_t *machine_json(const struct results *results)
{
	struct utsname system;

	if (uname(&system) != 0)
		return json_null();
	return json_pack("{s:s, s:s, s:[i,i]}", "kernel", system.release, "processor",
			 system.machine, "cpus", results->cpu[0], results->cpu[1]);
}

static json_t *ratios_json(const struct results_of *of, size_t size, size_t subject)
{
	const struct subject *const *subjects = of->measurement->subjects;
	json_t *ratios = json_object();
	size_t peer;

	for (peer = 0; peer < of->subject_count; peer++) {
		double ratio = results_ratio(of, size, subject, peer);

		if (subjects[peer]->is_peer && ratio > 0)
			json_object_set_new(ratios, subjects[peer]->name, json_real(ratio));
	}
	return ratios;
}

static json_t *figures_json(const struct results_of *of, size_t size, size_t subject)
{
	const struct figures *figures = &of->figures[size][subject];
	const struct subject *own = of->measurement->subjects[subject];
	json_t *object =
		json_pack("{s:s, s:b, s:I, s:f, s:f, s:f}", "by", own->name, "is_peer",
			  (int)own->is_peer, "samples", (json_int_t)figures->count, "minimum_ns",
			  figures->least, "median_ns", figures->median, "p99_ns", figures->p99);

	if (!own->is_peer)
		json_object_set_new(object, "times_as_fast_as", ratios_json(of, size, subject));
	if (of->command[size][subject][0])
		json_object_set_new(object, "command", json_string(of->command[size][subject]));
	return object;
}

static json_t *size_json(const struct results_of *of, size_t size)
{
	json_t *all = json_array();
	size_t subject;

	for (subject = 0; subject < of->subject_count; subject++)
		if (of->figures[size][subject].count)
			json_array_append_new(all, figures_json(of, size, subject));
	return json_pack("{s:I, s:o}", "size", (json_int_t)of->sizes[size], "results", all);
}

static json_t *left_out_json(const struct results_of *of)
{
	json_t *all = json_array();
	size_t subject;

	for (subject = 0; subject < of->subject_count; subject++)
		if (of->without[subject][0])
			json_array_append_new(
				all, json_pack("{s:s, s:s, s:b}", "by",
					       of->measurement->subjects[subject]->name, "reason",
					       of->without[subject], "has_failed",
					       (int)of->has_failed[subject]));
	return all;
}

static json_t *measurement_json(const struct results_of *of)
{
	json_t *sizes = json_array();
	size_t size;

	for (size = 0; !of->skipped[0] && size < of->size_count; size++)
		json_array_append_new(sizes, size_json(of, size));
	return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:o}", "name", of->measurement->name, "title",
			 of->measurement->title, "sizes_are",
			 of->measurement->kind == SIZE_BYTES ? "bytes" : "numbers", "skipped",
			 of->skipped[0] ? of->skipped : NULL, "sizes", sizes, "left_out",
			 left_out_json(of));
}

static json_t *target_json(const struct target *target, const struct results *results)
{
	struct judgement judgement = target_judge(target, results);
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	json_t *object;

	if (!stream)
		abort();
	target_describe(stream, target);
	fclose(stream);
	object = json_pack("{s:s, s:f}", "target", text, "bound", target->bound);
	free(text);
	json_object_set_new(object, "is_met",
			    judgement.is_measured ? json_boolean(judgement.is_met) : json_null());
	if (judgement.is_measured) {
		json_object_set_new(object, "worst", json_real(judgement.worst));
		json_object_set_new(object, "by", json_string(judgement.ours));
		json_object_set_new(object, "size", json_integer((json_int_t)judgement.size));
	}
	return object;
}

int json_save(const char *path, const struct results *results)
{
	json_t *measured = json_array(), *judged = json_array(), *root;
	const struct target *target;
	size_t i;
	int error;

	for (i = 0; i < results->count; i++)
		json_array_append_new(measured, measurement_json(&results->of[i]));
	for (target = targets; target->measurement; target++)
		json_array_append_new(judged, target_json(target, results));
	root = json_pack("{s:s, s:o, s:i, s:b, s:o, s:o}", "format", "scif-bench/1", "machine",
			 machine_json(results), "repetitions", (int)results->repetitions,
			 "is_quick", (int)results->is_quick, "measurements", measured, "targets",
			 judged);
	errno = ENOMEM;
	error = json_dump_file(root, path, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	json_decref(root);
	return error;
}
