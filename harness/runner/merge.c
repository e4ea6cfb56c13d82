/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-cts merge: one folder of the shards that several machines have run (docs/certificate.md). */
#include <stdlib.h>
#include <string.h>

#include "bundle.h"
#include "commands.h"
#include "format.h"
#include "json_text.h"
#include "report.h"

struct part {
	struct bundle bundle;
	struct session session;
};

struct merge {
	const struct plan *plan;
	struct part *parts;
	size_t count;
};

static int refuse(const struct part *part, const char *why)
{
	fprintf(stderr, "scif-cts: merge: %s: %s; nothing was written\n", part->bundle.folder, why);
	return EXIT_USAGE;
}

/* Reads a shard and verifies it as `verify` does. */
static int open_part(struct part *part, const char *folder, const struct plan *plan)
{
	struct mismatches mismatches = {.stream = stderr, .folder = folder};
	int status = bundle_open(&part->bundle, folder);

	if (status)
		return status;
	if (!bundle_has_plan(&part->bundle, plan, &mismatches))
		return refuse(part, "it is of another suite");
	status = bundle_session(&part->session, &part->bundle, plan);
	if (status)
		return status;
	bundle_verify(&part->bundle, &part->session, &mismatches);
	if (mismatches.count)
		return refuse(part, "it does not verify");
	if (!part->bundle.settings.shards)
		return refuse(part, "it is no shard (certify --shard I/N)");
	if (part->session.interrupted)
		return refuse(part, "its run was interrupted");
	return 0;
}

/* Whether both name the same library, or none. */
static bool same_library(const struct part *a, const struct part *b, const char *key)
{
	const char *hash_a = json_text(json_object_get(a->bundle.certificate, key), "sha256");
	const char *hash_b = json_text(json_object_get(b->bundle.certificate, key), "sha256");

	return same_text(hash_a, hash_b);
}

static int check_alike(const struct part *first, const struct part *part)
{
	static const struct {
		const char *key, *what;
	} keys[] = {
		{"api", "another API"},
		{"suite_version", "another version of the suite"},
		{"spec_hash", "another spec hash"},
		{"profile", "another profile"},
		{"seed", "another seed"},
		{"selection", "another selection of clauses"},
		{"environment", "another environment class"},
	};
	size_t i;
	char *why;
	int status = 0;

	for (i = 0; i < sizeof(keys) / sizeof(*keys) && !status; i++) {
		if (json_equal(json_object_get(first->bundle.certificate, keys[i].key),
			       json_object_get(part->bundle.certificate, keys[i].key)))
			continue;
		why = format_text("it has %s than %s", keys[i].what, first->bundle.folder);
		status = refuse(part, why);
		free(why);
	}
	if (!status && !same_library(first, part, "implementation"))
		status = refuse(part, "it is of another implementation");
	if (!status && !same_library(first, part, "carrier"))
		status = refuse(part, "the library below the implementation is another one");
	if (!status && !same_library(first, part, "waivers"))
		status = refuse(part, "it has other waivers");
	if (!status && first->bundle.settings.shards != part->bundle.settings.shards)
		status = refuse(part, "it is a shard of another number of shards");
	return status;
}

static int check_shards(const struct merge *merge)
{
	int shards = merge->parts[0].bundle.settings.shards, shard;
	size_t i, holders;

	for (shard = 1; shard <= shards; shard++) {
		holders = 0;
		for (i = 0; i < merge->count; i++) {
			if (merge->parts[i].bundle.settings.shard != shard)
				continue;
			if (holders++)
				return refuse(&merge->parts[i],
					      "it overlaps: this shard was there already");
		}
		if (!holders) {
			fprintf(stderr,
				"scif-cts: merge: shard %d of %d is missing; nothing was written\n",
				shard, shards);
			return EXIT_USAGE;
		}
	}
	return 0;
}

static int open_parts(struct merge *merge, char **folders)
{
	size_t i;
	int status = 0;

	for (i = 0; i < merge->count && !status; i++)
		status = open_part(&merge->parts[i], folders[i], merge->plan);
	for (i = 1; i < merge->count && !status; i++)
		status = check_alike(&merge->parts[0], &merge->parts[i]);
	return status ? status : check_shards(merge);
}

/* Moves a case into the merged session; its waiver is decided there anew. */
static void take_case(struct session *merged, struct case_run *run, struct part *part,
		      struct case_run *from)
{
	struct record record = from->record;

	if (record.verdict == VERDICT_WAIVED)
		record.verdict = VERDICT_FAIL;
	run->replay = from->replay;
	session_record(merged, run, record, bundle_output(&part->bundle, run->clause->id),
		       from->observations);
	from->record = (struct record){0};
	from->replay = from->observations = NULL;
}

static void take_cases(struct session *merged, struct merge *merge)
{
	size_t i, p, c;

	for (i = 0; i < merged->case_count; i++) {
		for (p = 0; p < merge->count; p++) {
			struct session *from = &merge->parts[p].session;

			for (c = 0; c < from->case_count; c++) {
				if (from->cases[c].clause == merged->cases[i].clause)
					take_case(merged, &merged->cases[i], &merge->parts[p],
						  &from->cases[c]);
			}
		}
	}
}

static json_t *part_json(const struct part *part)
{
	static const char *const keys[] = {"shard",   "label",	     "platform", "environment",
					   "started", "duration_ms", "machine"};
	json_t *json = json_object();
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		json_object_set(json, keys[i], json_object_get(part->bundle.certificate, keys[i]));
	json_object_set_new(json, "certificate", json_string(part->bundle.certificate_hash));
	return json;
}

/* The label that all shards have; else the name of the new folder. */
static const char *merged_label(const struct merge *merge, const char *name)
{
	const char *label = merge->parts[0].bundle.settings.label;
	size_t i;

	for (i = 1; i < merge->count; i++) {
		const char *other = merge->parts[i].bundle.settings.label;

		if (!label || !other || strcmp(label, other) != 0)
			return name;
	}
	return label;
}

static int publish(struct session *merged, struct merge *merge, const char *root, const char *name)
{
	struct publication *publication = report_open(root, name);
	size_t i;
	int status;

	if (!publication)
		return EXIT_USAGE;
	merged->parts = json_array();
	merged->duration_ms = 0;
	for (i = 0; i < merge->count; i++) {
		const struct session *part = &merge->parts[i].session;

		json_array_append_new(merged->parts, part_json(&merge->parts[i]));
		merged->duration_ms += part->duration_ms;
		if (part->started < merged->started)
			merged->started = part->started;
	}
	waivers_prepare(&merged->waivers, merge->plan, &merged->library, merged->settings->label,
			merged->started);
	take_cases(merged, merge);
	waivers_judge(&merged->waivers, merged);
	status = report_publish(publication, merged);
	if (status)
		return status;
	report_print_summary(stdout, merged);
	printf("The report is in %s/%s/\n", root, name);
	return session_exit_status(merged);
}

static int write_merged(struct merge *merge, const char *place)
{
	const char *slash = strrchr(place, '/'), *name = slash ? slash + 1 : place;
	struct bundle whole = merge->parts[0].bundle;
	struct session merged;
	char *root = slash ? format_text("%.*s", (int)(slash - place), place) : copy_text(".");
	int status;

	whole.settings.shard = whole.settings.shards = 0;
	whole.settings.label = merged_label(merge, name);
	status = bundle_session(&merged, &whole, merge->plan);
	if (!status)
		status = publish(&merged, merge, *root ? root : "/", name);
	session_close(&merged);
	free(root);
	return status;
}

/* "results/merged/" is results/merged. */
static char *without_slashes(const char *path)
{
	char *copy = copy_text(path);
	size_t length = strlen(copy);

	while (length > 1 && copy[length - 1] == '/')
		copy[--length] = '\0';
	return copy;
}

int command_merge(const struct settings *settings, const struct plan *plan)
{
	struct merge merge = {
		.plan = plan,
		.count = (size_t)settings->operand_count - 1,
	};
	char *place = without_slashes(settings->operands[0]);
	size_t i;
	int status;

	merge.parts = zeroed_array(merge.count, sizeof(*merge.parts));
	status = open_parts(&merge, settings->operands + 1);
	if (!status)
		status = write_merged(&merge, place);
	for (i = 0; i < merge.count; i++) {
		session_close(&merge.parts[i].session);
		bundle_close(&merge.parts[i].bundle);
	}
	free(merge.parts);
	free(place);
	return status;
}
