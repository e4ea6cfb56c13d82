/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a results folder without believing anything of it. */
#include "bundle.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format.h"
#include "hash.h"
#include "json_text.h"
#include "raw_log.h"

void mismatch(struct mismatches *mismatches, const char *format, ...)
{
	va_list arguments;

	if (mismatches->folder)
		fprintf(mismatches->stream, "%s: ", mismatches->folder);
	va_start(arguments, format);
	vfprintf(mismatches->stream, format, arguments);
	va_end(arguments);
	putc('\n', mismatches->stream);
	mismatches->count++;
}

static char *text_copy(const json_t *object, const char *key)
{
	const char *text = json_text(object, key);

	return text ? copy_text(text) : NULL;
}

static int read_document(json_t **document, const char *folder, const char *name,
			 const char *format)
{
	char *path = format_text("%s/%s", folder, name);
	json_error_t error;
	int status = 0;

	*document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!*document && error.line > 0)
		fprintf(stderr, "scif-cts: %s:%d: %s\n", path, error.line, error.text);
	else if (!*document)
		fprintf(stderr, "scif-cts: %s: %s\n", path, error.text);
	if (!*document) {
		status = EXIT_USAGE;
	} else if (!json_text(*document, "format") ||
		   strcmp(json_text(*document, "format"), format) != 0) {
		fprintf(stderr, "scif-cts: %s: the format is not %s\n", path, format);
		status = EXIT_USAGE;
	}
	free(path);
	return status;
}

static void add_line(struct bundle *bundle, const char *line, size_t length)
{
	size_t count = bundle->line_count + 1;

	bundle->lines = grown_array(bundle->lines, count, sizeof(*bundle->lines));
	bundle->logs = grown_array(bundle->logs, count, sizeof(*bundle->logs));
	bundle->lines[bundle->line_count] = format_text("%.*s", (int)length, line);
	bundle->logs[bundle->line_count] =
		json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	bundle->line_count = count;
}

static void read_lines(struct bundle *bundle, const struct raw_log *log)
{
	const char *line = log->text, *end = log->text + log->length, *newline;
	bool is_first = true;

	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', end - line);
		bundle->was_cut_off = !newline;
		if (!newline)
			newline = end;
		if (!is_first)
			add_line(bundle, line, (size_t)(newline - line));
		is_first = false;
	}
}

/* A folder without a log is judged like one whose log is empty. */
static int read_observations(struct bundle *bundle)
{
	char *path = format_text("%s/" RAW_LOG_NAME, bundle->folder);
	struct raw_log log;
	int status = raw_log_read(&log, path);

	if (!status)
		read_lines(bundle, &log);
	else if (status != -ENOENT)
		fprintf(stderr, "scif-cts: %s: %s\n", path, strerror(-status));
	bundle->log_damage = log.damage;
	free(log.text);
	free(path);
	return status && status != -ENOENT ? EXIT_USAGE : 0;
}

/* What comes again under an id is a duplicate, and not what the id stands for. */
static void index_by_id(struct bundle *bundle)
{
	json_t *record;
	size_t i;

	bundle->record_of = json_object();
	bundle->line_of = json_object();
	json_array_foreach(json_object_get(bundle->results, "records"), i, record)
	{
		const char *id = json_text(record, "id");

		if (id && !json_object_get(bundle->record_of, id))
			json_object_set(bundle->record_of, id, record);
	}
	for (i = 0; i < bundle->line_count; i++) {
		const char *id = json_text(bundle->logs[i], "id");

		if (id && !json_object_get(bundle->line_of, id))
			json_object_set_new(bundle->line_of, id, json_integer((json_int_t)i));
	}
}

static void read_settings(struct bundle *bundle)
{
	const json_t *certificate = bundle->certificate;
	const json_t *selection = json_object_get(certificate, "selection");
	const json_t *shard = json_object_get(certificate, "shard");
	const char *profile = json_text(certificate, "profile");

	bundle->settings = (struct settings){
		.profile = profile ? profile : "",
		.filter = json_text(selection, "filter"),
		.api = json_text(certificate, "api"),
		.label = json_text(certificate, "label"),
		.all = json_is_true(json_object_get(selection, "long")),
		.seed = (unsigned long)json_integer_value(json_object_get(certificate, "seed")),
		.shard = (int)json_integer_value(json_object_get(shard, "index")),
		.shards = (int)json_integer_value(json_object_get(shard, "count")),
		.timeout_scale = 1,
		.jobs = 1,
	};
	/* A shard that cannot be: then everything must have run. */
	if (bundle->settings.shards < 1 || bundle->settings.shard < 1 ||
	    bundle->settings.shard > bundle->settings.shards)
		bundle->settings.shard = bundle->settings.shards = 0;
}

int bundle_open(struct bundle *bundle, const char *folder)
{
	char hash[HASH_TEXT] = "", *path;
	int status;

	*bundle = (struct bundle){.folder = copy_text(folder)};
	status = read_document(&bundle->certificate, folder, "certificate.json",
			       "scif-cts-certificate/1");
	if (!status)
		status = read_document(&bundle->results, folder, "results.json",
				       "scif-cts-results/1");
	if (!status)
		status = read_observations(bundle);
	if (status)
		return status;
	path = format_text("%s/certificate.json", folder);
	hash_file(hash, path);
	free(path);
	bundle->certificate_hash = copy_text(hash);
	read_settings(bundle);
	index_by_id(bundle);
	return 0;
}

void bundle_close(struct bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->line_count; i++) {
		free(bundle->lines[i]);
		json_decref(bundle->logs[i]);
	}
	json_decref(bundle->record_of);
	json_decref(bundle->line_of);
	free(bundle->log_damage);
	free(bundle->lines);
	free(bundle->logs);
	json_decref(bundle->certificate);
	json_decref(bundle->results);
	free(bundle->certificate_hash);
	free(bundle->folder);
	*bundle = (struct bundle){0};
}

static void read_library(struct library *library, const json_t *json)
{
	const char *hash = json_text(json, "sha256");
	const json_t *exports = json_object_get(json, "exports"), *name;
	size_t i;

	*library = (struct library){
		.path = text_copy(json, "path"),
		.real_path = text_copy(json, "path"),
		.soname = text_copy(json, "soname"),
		.build_id = text_copy(json, "build_id"),
		.sanitizer = text_copy(json, "sanitizer"),
	};
	snprintf(library->sha256, sizeof(library->sha256), "%s", hash ? hash : "");
	library->exports = zeroed_array(json_array_size(exports), sizeof(*library->exports));
	json_array_foreach(exports, i, name)
	{
		if (json_is_string(name))
			library->exports[library->export_count++] =
				copy_text(json_string_value(name));
	}
	library_sort_exports(library);
}

static char *text_or_unknown(const json_t *object, const char *key)
{
	char *text = text_copy(object, key);

	return text ? text : copy_text("unknown");
}

static struct platform read_platform(const json_t *json)
{
	return (struct platform){
		.system = text_or_unknown(json, "system"),
		.release = text_or_unknown(json, "release"),
		.machine = text_or_unknown(json, "machine"),
		.distribution = text_or_unknown(json, "distribution"),
		.c_library = text_or_unknown(json, "c_library"),
		.processors = (int)json_integer_value(json_object_get(json, "processors")),
	};
}

static int read_waivers(struct session *session, const struct bundle *bundle)
{
	const json_t *waivers = json_object_get(bundle->certificate, "waivers");
	char *path = format_text("%s/waivers.yaml", bundle->folder);
	int status = 0;

	if (json_is_object(waivers)) {
		status = waivers_load(&session->waivers, path);
		if (!status && json_text(waivers, "file")) {
			free(session->waivers.file);
			session->waivers.file = text_copy(waivers, "file");
		}
	}
	free(path);
	return status;
}

static time_t read_time(const char *text)
{
	struct tm utc = {0};

	return text && strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc) ? timegm(&utc) : 0;
}

int bundle_session(struct session *session, const struct bundle *bundle, const struct plan *plan)
{
	const json_t *certificate = bundle->certificate;
	const json_t *class = json_object_get(certificate, "environment");
	const char *build = json_text(class, "build");
	const struct plan_function *function =
		bundle->settings.api ? plan_api(plan, bundle->settings.api) : NULL;

	*session = (struct session){
		.settings = &bundle->settings,
		.plan = plan,
		.document = function ? function->document : &plan->documents[0],
		.api = bundle->settings.api ? bundle->settings.api : "",
		.environment =
			{
				.root = json_is_true(json_object_get(class, "root")),
				.userfaultfd = json_is_true(json_object_get(class, "userfaultfd")),
				.sanitizer = build && strcmp(build, "plain") != 0,
			},
		.platform = read_platform(json_object_get(certificate, "platform")),
		.started = read_time(json_text(certificate, "started")),
		.duration_ms = json_number_value(json_object_get(certificate, "duration_ms")),
		.interrupted = json_is_true(json_object_get(certificate, "interrupted")),
	};
	if (json_is_object(json_object_get(certificate, "machine")))
		session->machine = json_deep_copy(json_object_get(certificate, "machine"));
	if (json_is_array(json_object_get(certificate, "parts")))
		session->parts = json_deep_copy(json_object_get(certificate, "parts"));
	read_library(&session->library, json_object_get(certificate, "implementation"));
	if (json_is_object(json_object_get(certificate, "carrier")))
		read_library(&session->carrier, json_object_get(certificate, "carrier"));
	session_choose(session);
	if (read_waivers(session, bundle) != 0)
		return EXIT_USAGE;
	waivers_prepare(&session->waivers, plan, &session->library, bundle->settings.label,
			session->started);
	return 0;
}

const json_t *bundle_record(const struct bundle *bundle, const char *id)
{
	return json_object_get(bundle->record_of, id);
}

size_t bundle_line(const struct bundle *bundle, const char *id)
{
	const json_t *line = json_object_get(bundle->line_of, id);

	return line ? (size_t)json_integer_value(line) : bundle->line_count;
}

char *bundle_output(const struct bundle *bundle, const char *id)
{
	static const char mark[] = "\noutput:\n";
	char *path = format_text("%s/failures/%s.txt", bundle->folder, id), *output = NULL;
	size_t length;
	char *text = file_text(path, &length);

	free(path);
	if (!text)
		return NULL;
	if (strstr(text, mark) && strcmp(strstr(text, mark), "\noutput:\n(none)\n") != 0)
		output = copy_text(strstr(text, mark) + strlen(mark));
	free(text);
	return output;
}
