/* SPDX-License-Identifier: BSD-2-Clause */
/* Choices, deviations of the profile, waivers, and the rulings that clauses depend on. */
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "html_verdict.h"
#include "json_text.h"
#include "report.h"
#include "report_html.h"

static void write_code_cell(struct html_page *page, const char *text)
{
	html_start(page, "td", NULL);
	html_element(page, "code", NULL, text);
	html_end(page);
}

static void write_link_cell(struct html_page *page, const char *id)
{
	html_start(page, "td", NULL);
	html_link(page, "", id, id);
	html_end(page);
}

static bool is_choice(const struct case_run *run)
{
	return run->record.choice && run->record.verdict == VERDICT_PASS;
}

static void write_choice(struct html_page *page, const struct case_run *run)
{
	html_line(page);
	html_start(page, "tr", NULL);
	html_element(page, "td", NULL, run->record.choice);
	write_code_cell(page, run->record.observed ? run->record.observed : "(none)");
	write_link_cell(page, run->clause->id);
	html_end(page);
}

void html_choices(struct html_page *page, const struct session *session)
{
	static const char *const heads[] = {"choice", "observed", "clause", NULL};
	size_t count = 0, i;

	for (i = 0; i < session->case_count; i++)
		count += is_choice(&session->cases[i]);
	html_section(page, "choices", "Choices made where the text leaves one");
	if (!count) {
		html_element(page, "p", NULL, "None.");
		html_end(page);
		return;
	}
	html_start(page, "details", "open", "open", NULL);
	html_start(page, "summary", NULL);
	html_format(page, "%zu choices", count);
	html_end(page);
	html_line(page);
	html_start_table(page, heads);
	for (i = 0; i < session->case_count; i++) {
		if (is_choice(&session->cases[i]))
			write_choice(page, &session->cases[i]);
	}
	html_end_table(page);
	html_end(page);
	html_end(page);
}

static const char *known(const json_t *object, const char *key)
{
	const char *text = json_text(object, key);

	return text ? text : "";
}

static const char *documented_text(const json_t *entry)
{
	const json_t *documented = json_object_get(entry, "as_documented");

	if (json_is_true(documented))
		return "the text's";
	return json_is_false(documented) ? "not the text's" : "does not show";
}

static void write_deviation(struct html_page *page, const json_t *entry)
{
	html_line(page);
	html_start(page, "tr", NULL);
	write_link_cell(page, known(entry, "id"));
	html_element(page, "td", NULL, known(entry, "tag"));
	html_element(page, "td", NULL, known(entry, "text"));
	write_code_cell(page, known(entry, "outcome"));
	html_start(page, "td", NULL);
	html_verdict(page, verdict_by_name(known(entry, "verdict")));
	html_format(page, " %s", known(entry, "observed"));
	html_end(page);
	html_element(page, "td", NULL, documented_text(entry));
	html_element(page, "td", NULL, known(entry, "where"));
	html_end(page);
}

void html_deviations(struct html_page *page, const struct session *session)
{
	static const char *const heads[] = {"clause",	"known by", "the text", "by the text",
					    "answered", "which is", "source",	NULL};
	json_t *entries = report_deviations_json(session), *entry;
	size_t i;

	if (json_array_size(entries)) {
		html_section(page, "deviations", "Deviations that the profile accepts");
		html_start(page, "p", NULL);
		html_format(page,
			    "The profile %s accepts them beside the text: \"observed\" were "
			    "measured, \"read\" are confirmed by nobody.",
			    session->settings->profile);
		html_end(page);
		html_line(page);
		html_start_table(page, heads);
		json_array_foreach(entries, i, entry) write_deviation(page, entry);
		html_end_table(page);
		html_end(page);
	}
	json_decref(entries);
}

static void write_waived(struct html_page *page, const struct session *session,
			 const struct waiver *waiver)
{
	size_t i;

	html_start(page, "ul", "class", "ids", NULL);
	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (run->record.verdict != VERDICT_WAIVED ||
		    waivers_find(&session->waivers, run->clause->id) != waiver)
			continue;
		html_start(page, "li", NULL);
		html_link(page, "", run->clause->id, run->clause->id);
		html_end(page);
	}
	html_end(page);
}

static void write_waiver(struct html_page *page, const struct session *session,
			 const struct waiver *waiver)
{
	bool is_bad = waiver_is_out_of_date(waiver);
	char *complaint = is_bad ? waiver_complaint(&session->waivers, waiver) : NULL;
	char *line = format_text("%d", waiver->line);

	html_line(page);
	html_start(page, "article", "class", "finding", "data-verdict", is_bad ? "FAIL" : "WAIVED",
		   NULL);
	html_start(page, "h3", NULL);
	html_format(page, "%s: %s until %s", waiver->clause, waiver_state_name(waiver->state),
		    waiver->expires);
	html_end(page);
	html_start(page, "dl", NULL);
	html_pair(page, "reason", waiver->reason);
	html_pair(page, "link", waiver->link);
	html_pair(page, "line", line);
	html_code_pair(page, "soname", waiver->soname);
	html_code_pair(page, "SHA-256", waiver->sha256);
	html_code_pair(page, "label", waiver->label);
	html_pair(page, "out of date", complaint);
	html_end(page);
	write_waived(page, session, waiver);
	html_end(page);
	free(complaint);
	free(line);
}

void html_waivers(struct html_page *page, const struct session *session)
{
	const struct waivers *waivers = &session->waivers;
	size_t i;

	if (!waivers->file)
		return;
	html_section(page, "waivers", "Waivers");
	html_start(page, "p", NULL);
	html_text(page, "From ");
	html_element(page, "code", NULL, waivers->file);
	html_text(page, ", SHA-256 ");
	html_element(page, "code", NULL, waivers->sha256);
	html_end(page);
	for (i = 0; i < waivers->count; i++)
		write_waiver(page, session, &waivers->entries[i]);
	html_end(page);
}

static bool is_needed(const struct session *session, const char *id)
{
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		if (plan_depends_on(session->cases[i].clause, id))
			return true;
	}
	return false;
}

static void write_ruling(struct html_page *page, const struct plan_errata *errata)
{
	html_line(page);
	html_start(page, "article", "class", "ruling", "id", errata->id, NULL);
	html_start(page, "h3", NULL);
	html_format(page, "%s (%s)", errata->id, errata->kind ? errata->kind : "ruling");
	html_end(page);
	html_start(page, "dl", NULL);
	html_pair(page, "clash", errata->clash);
	html_pair(page, "ruling", errata->ruling);
	html_pair(page, "why", errata->why);
	html_end(page);
	html_end(page);
}

void html_rulings(struct html_page *page, const struct session *session)
{
	const struct plan *plan = session->plan;
	size_t i;

	html_section(page, "rulings", "Rulings");
	html_element(
		page, "p", NULL,
		"How the suite reads the text where it contradicts itself or is silent, as far "
		"as clauses above depend on it.");
	html_start(page, "details", "open", "open", NULL);
	html_element(page, "summary", NULL, "All rulings");
	for (i = 0; i < plan->errata_count; i++) {
		if (is_needed(session, plan->errata[i].id))
			write_ruling(page, &plan->errata[i]);
	}
	html_end(page);
	html_end(page);
}
