/* SPDX-License-Identifier: BSD-2-Clause */
/* The targets first, then each measurement: its plots, its figures in a table that can be opened.
 */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "html.h"
#include "plot.h"
#include "targets.h"

static void write_owned(struct html_page *page, const char *element, char *text)
{
	html_element(page, element, NULL, text);
	free(text);
}

static char *described(const struct target *target)
{
	char *text = NULL;
	size_t length;
	FILE *stream = text_stream(&text, &length);

	target_describe(stream, target);
	fclose(stream);
	return text;
}

static void write_targets(struct html_page *page, const struct results *results)
{
	static const char *const heads[] = {"target", "", "worst", "with", "at size", NULL};
	const struct target *target;

	html_section(page, "targets", "Targets");
	html_start_table(page, heads);
	for (target = targets; target->measurement; target++) {
		struct judgement judgement = target_judge(target, results);
		char text[24];

		if (!judgement.is_measured)
			continue;
		html_line(page);
		html_start(page, "tr", NULL);
		write_owned(page, "td", described(target));
		html_start(page, "td", NULL);
		html_start(page, "b", "class", "verdict", "data-verdict",
			   judgement.is_met ? "PASS" : "FAIL", NULL);
		html_text(page, judgement.is_met ? "\u2713 met" : "\u2717 not met");
		html_end(page);
		html_end(page);
		write_owned(page, "td", format_text("%.2f", judgement.worst));
		html_element(page, "td", NULL, judgement.ours);
		write_owned(page, "td", strdup(target_size_text(text, target, judgement.size)));
		html_end(page);
	}
	html_end_table(page);
	html_end(page);
}

static char *ratios_text(const struct results_of *of, size_t size, size_t subject)
{
	const struct subject *const *subjects = of->measurement->subjects;
	char *text = NULL;
	size_t length, peer;
	FILE *stream = text_stream(&text, &length);
	const char *between = "";

	for (peer = 0; !subjects[subject]->is_peer && peer < of->subject_count; peer++) {
		double ratio = results_ratio(of, size, subject, peer);

		if (!subjects[peer]->is_peer || ratio <= 0)
			continue;
		fprintf(stream, "%s%.2f %s", between, ratio, subjects[peer]->name);
		between = ", ";
	}
	fclose(stream);
	return text;
}

static void write_row(struct html_page *page, const struct results_of *of, size_t size,
		      size_t subject)
{
	const struct figures *figures = &of->figures[size][subject];

	if (figures->count == 0)
		return;
	html_line(page);
	html_start(page, "tr", NULL);
	write_owned(page, "td", plot_size(of->measurement->kind, (double)of->sizes[size]));
	html_element(page, "td", NULL, of->measurement->subjects[subject]->name);
	write_owned(page, "td", plot_value(PLOT_TIME, figures->least));
	write_owned(page, "td", plot_value(PLOT_TIME, figures->median));
	write_owned(page, "td", plot_value(PLOT_TIME, figures->p99));
	write_owned(page, "td", ratios_text(of, size, subject));
	html_end(page);
}

static void write_figures(struct html_page *page, const struct results_of *of)
{
	static const char *const heads[] = {
		"size", "by", "minimum", "median", "p99", "times as fast as", NULL};
	size_t size, subject;

	html_start(page, "details", "open", of->size_count > 1 ? NULL : "open", NULL);
	html_element(page, "summary", NULL, "All figures");
	html_start_table(page, heads);
	for (size = 0; size < of->size_count; size++)
		for (subject = 0; subject < of->subject_count; subject++)
			write_row(page, of, size, subject);
	html_end_table(page);
	html_end(page);
}

/* Of programs: what was run, once for each of them. */
static void write_notes(struct html_page *page, const struct results_of *of)
{
	size_t subject;

	for (subject = 0; subject < of->subject_count; subject++) {
		const char *name = of->measurement->subjects[subject]->name;

		if (of->without[subject][0]) {
			html_start(page, "p", "class", "hint", NULL);
			html_format(page, "Without %s: %s.", name, of->without[subject]);
			html_end(page);
		} else if (of->command[0][subject][0]) {
			html_start(page, "p", "class", "hint", NULL);
			html_format(page, "%s: ", name);
			html_element(page, "code", NULL, of->command[0][subject]);
			html_end(page);
		}
	}
}

static void write_measurement(struct html_page *page, const struct results_of *of)
{
	html_section(page, of->measurement->name, of->measurement->title);
	if (of->skipped[0]) {
		html_element(page, "p", NULL, of->skipped);
	} else {
		if (of->size_count > 1) {
			html_start(page, "div", "class", "lists", NULL);
			plot_write(page, of, PLOT_TIME);
			if (of->measurement->kind == SIZE_BYTES)
				plot_write(page, of, PLOT_BANDWIDTH);
			html_end(page);
		}
		write_figures(page, of);
		write_notes(page, of);
	}
	html_end(page);
}

static void write_header(struct html_page *page, const struct results *results)
{
	char *head = NULL;
	size_t length;
	FILE *stream = text_stream(&head, &length);

	results_print_head(stream, results);
	fclose(stream);
	html_start(page, "header", NULL);
	html_element(page, "h1", NULL, "SCIF and RSMAPI beside their peers");
	html_element(page, "p", "lead",
		     "Medians of one run in which all took turns; ratios count, times are "
		     "information.");
	html_element(page, "p", "hint", head);
	html_end(page);
	free(head);
}

int page_save(const char *path, const struct results *results)
{
	struct html_page page;
	size_t i;
	int error;

	html_open(&page, "scif-bench/1", "scif-bench");
	page.is_plain = true;
	write_header(&page, results);
	write_targets(&page, results);
	for (i = 0; i < results->count; i++)
		write_measurement(&page, &results->of[i]);
	error = html_close(&page);
	if (error == 0)
		error = html_save(&page, path);
	html_free(&page);
	return error;
}
