/* SPDX-License-Identifier: BSD-2-Clause */
/* Which library, carried by what, tested with what, where and when. */
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "json_text.h"
#include "locate.h"
#include "machine.h"
#include "report.h"
#include "report_html.h"

static void start_list(struct html_page *page, const char *title)
{
	html_line(page);
	html_start(page, "div", NULL);
	html_element(page, "h3", NULL, title);
	html_start(page, "dl", NULL);
}

static void end_list(struct html_page *page)
{
	html_end(page);
	html_end(page);
}

void html_library(struct html_page *page, const struct library *library)
{
	html_code_pair(page, "path", library->path);
	html_code_pair(page, "SHA-256", library->sha256);
	html_code_pair(page, "build id", library->build_id ? library->build_id : "(none)");
	html_code_pair(page, "soname", library->soname ? library->soname : "(none)");
	html_code_pair(page, "sanitizer", library->sanitizer);
}

static void write_carrier(struct html_page *page, const struct session *session)
{
	const char *below = locate_carrier(session->api);
	char *title;

	if (!below)
		return;
	title = format_text("Carried by lib%s", below);
	start_list(page, title);
	if (session->carrier.path)
		html_library(page, &session->carrier);
	else
		html_pair(page, "path", "not named: whatever the loader found");
	end_list(page);
	free(title);
}

static void write_suite(struct html_page *page, const struct session *session)
{
	const struct settings *settings = session->settings;
	char *suite = format_text("scif-cts %s", session->document->suite_version);
	char *seed = format_text("%lu", settings->seed);
	char *shard = settings->shards ? format_text("%d of %d", settings->shard, settings->shards)
				       : copy_text(session->parts ? "all, merged from those below"
								  : "all in one run");

	start_list(page, "Suite");
	html_pair(page, "suite", suite);
	html_pair(page, "API", session->api);
	html_pair(page, "profile", settings->profile);
	html_code_pair(page, "spec hash", session->document->spec_hash);
	html_pair(page, "selection", settings->filter ? settings->filter : "every clause");
	html_pair(page, "long cases", settings->all ? "run" : "not run");
	html_pair(page, "shard", shard);
	html_pair(page, "seed", seed);
	end_list(page);
	free(suite);
	free(seed);
	free(shard);
}

static void write_place(struct html_page *page, const struct session *session)
{
	const struct platform *platform = &session->platform;
	char *system =
		format_text("%s %s %s", platform->system, platform->release, platform->machine);
	char *processors = format_text("%d", platform->processors);
	char *class = environment_class_text(&session->environment), started[REPORT_TIME];
	char *duration =
		format_text("%.1f s", (double)(long long)(session->duration_ms + 0.5) / 1000);

	report_time(session->started, started);
	start_list(page, "When and where");
	html_pair(page, "started", started);
	html_pair(page, "duration", duration);
	html_pair(page, "platform", system);
	html_pair(page, "distribution", platform->distribution);
	html_pair(page, "C library", platform->c_library);
	html_pair(page, "processors", processors);
	html_pair(page, "environment", class);
	if (!session->machine)
		html_pair(page, "cards and driver", "none was used");
	end_list(page);
	free(system);
	free(processors);
	free(class);
	free(duration);
}

static void write_machine(struct html_page *page, const struct session *session)
{
	size_t length;
	char *text;
	FILE *stream;

	if (!session->machine)
		return;
	stream = text_stream(&text, &length);
	machine_print(stream, session->machine);
	fclose(stream);
	html_line(page);
	html_element(page, "pre", NULL, text + strspn(text, "\n"));
	free(text);
}

static void write_cell(struct html_page *page, const char *text)
{
	html_element(page, "td", NULL, text ? text : "");
}

static void write_part(struct html_page *page, const json_t *part)
{
	const json_t *shard = json_object_get(part, "shard");
	const json_t *platform = json_object_get(part, "platform");
	char *system =
		format_text("%s %s, %s", json_text(platform, "system"),
			    json_text(platform, "release"), json_text(platform, "distribution"));

	html_line(page);
	html_start(page, "tr", NULL);
	html_start(page, "td", NULL);
	html_format(page, "%lld of %lld",
		    (long long)json_integer_value(json_object_get(shard, "index")),
		    (long long)json_integer_value(json_object_get(shard, "count")));
	html_end(page);
	write_cell(page, json_text(part, "label"));
	write_cell(page, json_text(part, "started"));
	write_cell(page, system);
	html_start(page, "td", NULL);
	html_element(page, "code", NULL,
		     json_text(part, "certificate") ? json_text(part, "certificate") : "");
	html_end(page);
	html_end(page);
	free(system);
}

/* The shards that a merged certification was made of. */
static void write_parts(struct html_page *page, const struct session *session)
{
	static const char *const heads[] = {"shard", "label", "started", "platform",
					    "SHA-256 of its certificate"};
	json_t *part;
	size_t i;

	if (!session->parts)
		return;
	html_line(page);
	html_element(page, "h3", NULL, "Merged from");
	html_start(page, "div", "class", "wide", NULL);
	html_start(page, "table", NULL);
	html_start(page, "tr", NULL);
	for (i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		html_element(page, "th", NULL, heads[i]);
	html_end(page);
	json_array_foreach(session->parts, i, part) write_part(page, part);
	html_end(page);
	html_end(page);
}

void html_identity(struct html_page *page, const struct session *session)
{
	html_section(page, "identity", "Who, what, when");
	html_start(page, "div", "class", "lists", NULL);
	start_list(page, "Implementation");
	html_library(page, &session->library);
	end_list(page);
	write_carrier(page, session);
	write_suite(page, session);
	write_place(page, session);
	html_end(page);
	write_machine(page, session);
	write_parts(page, session);
	html_line(page);
	html_start(page, "p", "class", "hint", NULL);
	html_text(page, "This page believes itself. In its folder, ");
	html_element(page, "code", NULL, "scif-cts verify .");
	html_text(page,
		  " decides every verdict anew from the raw log, and writes this page anew to "
		  "compare it.");
	html_end(page);
	html_end(page);
}
