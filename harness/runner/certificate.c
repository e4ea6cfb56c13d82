/* SPDX-License-Identifier: BSD-2-Clause */
/* certificate.json, format scif-cts-certificate/1 (docs/certificate.md). */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "certificate.h"
#include "format.h"
#include "report.h"

/* What stands in results.json as well. */
static const char *const shared_keys[] = {
	"label",       "api",	      "profile",     "suite_version", "spec_hash", "started",
	"duration_ms", "interrupted", "seed",	     "selection",     "shard",	   "implementation",
	"carrier",     "platform",    "environment", "waivers",	      "counts",	   "machine",
};

static bool is_hidden(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int add_file(json_t *artefacts, const char *path, const char *name)
{
	char hash[HASH_TEXT];
	int status = hash_file(hash, path);

	if (!status)
		json_object_set_new(artefacts, name, json_string(hash));
	return status;
}

/* The files below FOLDER, by their names from the top, which PREFIX begins. */
static int add_folder(json_t *artefacts, const char *folder, const char *prefix)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	int status = stream ? 0 : -errno;

	while (stream && !status && (entry = readdir(stream))) {
		char *path = format_text("%s/%s", folder, entry->d_name);
		char *name = format_text("%s%s", prefix, entry->d_name);
		char *below = format_text("%s/", name);
		struct stat file;

		if (is_hidden(entry->d_name) || strcmp(name, "certificate.json") == 0)
			status = 0;
		else if (stat(path, &file) < 0)
			status = -errno;
		else if (S_ISDIR(file.st_mode))
			status = add_folder(artefacts, path, below);
		else
			status = add_file(artefacts, path, name);
		free(path);
		free(name);
		free(below);
	}
	if (stream)
		closedir(stream);
	return status;
}

int certificate_artefacts(json_t *artefacts, const char *folder)
{
	return add_folder(artefacts, folder, "");
}

json_t *certificate_exports(const struct session *session)
{
	json_t *exports = json_array();
	size_t f;

	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		if (strcmp(function->api, session->api) == 0 &&
		    library_exports(&session->library, function->name))
			json_array_append_new(exports, json_string(function->name));
	}
	return exports;
}

static json_t *must_run(const struct session *session)
{
	json_t *ids = json_array();
	size_t i;

	for (i = 0; i < session->case_count; i++)
		json_array_append_new(ids, json_string(session->cases[i].clause->id));
	return ids;
}

static json_t *certificate(const struct session *session)
{
	json_t *results = report_results(session), *document = json_object(), *implementation;
	size_t i;

	if (!results)
		return NULL;
	json_object_set_new(document, "format", json_string("scif-cts-certificate/1"));
	json_object_set_new(document, "verdict", json_string(report_verdict(session)));
	for (i = 0; i < sizeof(shared_keys) / sizeof(*shared_keys); i++)
		json_object_set(document, shared_keys[i], json_object_get(results, shared_keys[i]));
	implementation = json_deep_copy(json_object_get(results, "implementation"));
	json_object_set_new(implementation, "exports", certificate_exports(session));
	json_object_set_new(document, "implementation", implementation);
	json_object_set_new(document, "parts",
			    session->parts ? json_incref(session->parts) : json_null());
	json_object_set_new(document, "must_run", must_run(session));
	json_decref(results);
	return document;
}

int report_write_certificate(const struct session *session, const char *folder)
{
	json_t *document = certificate(session), *artefacts = json_object();
	char *path = format_text("%s/certificate.json", folder);
	int status = document ? certificate_artefacts(artefacts, folder) : -ENOMEM;

	if (!status) {
		json_object_set(document, "artefacts", artefacts);
		status = report_dump(document, path);
	}
	json_decref(artefacts);
	json_decref(document);
	free(path);
	return status;
}

int report_write_waivers(const struct session *session, const char *path)
{
	const struct waivers *waivers = &session->waivers;
	FILE *file;

	if (!waivers->file)
		return 0;
	file = fopen(path, "we");
	if (!file)
		return -errno;
	fwrite(waivers->text, 1, waivers->length, file);
	return report_close(file);
}
