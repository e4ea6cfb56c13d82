/* SPDX-License-Identifier: BSD-2-Clause */
/* How verdicts look on a page. */
#include "html_verdict.h"

#include <stdlib.h>

#include "format.h"

static const struct {
	const char *sign, *meaning;
} looks[VERDICT_COUNT] = {
	[VERDICT_PASS] = {"\u2713", "as documented"},
	[VERDICT_FAIL] = {"\u2717", "departs from the text"},
	[VERDICT_WAIVED] = {"\u2691", "departs from the text, excused by a waiver"},
	[VERDICT_UNSUPPORTED] = {"\u2205", "optional, not offered"},
	[VERDICT_UNTESTED] = {"\u25cb", "not tested"},
	[VERDICT_UNRESOLVED] = {"?", "could not be judged"},
	[VERDICT_NOTRUN] = {"\u2013", "was not run"},
};

const char *verdict_sign(enum verdict verdict)
{
	return looks[verdict].sign;
}

const char *verdict_meaning(enum verdict verdict)
{
	return looks[verdict].meaning;
}

void html_verdict(struct html_page *page, enum verdict verdict)
{
	html_start(page, "b", "class", "verdict", "data-verdict", verdict_name(verdict), NULL);
	html_format(page, "%s %s", verdict_sign(verdict), verdict_name(verdict));
	html_end(page);
}

static void write_share(struct html_page *page, enum verdict verdict, size_t count)
{
	char *style = format_text("flex-grow:%zu", count);

	html_start(page, "span", "data-verdict", verdict_name(verdict), "style", style, NULL);
	html_end(page);
	free(style);
}

void html_verdict_bar(struct html_page *page, const size_t verdicts[VERDICT_COUNT])
{
	int verdict;

	html_line(page);
	html_start(page, "div", "class", "bar", "aria-hidden", "true", NULL);
	for (verdict = 0; verdict < VERDICT_COUNT; verdict++) {
		if (verdicts[verdict])
			write_share(page, verdict, verdicts[verdict]);
	}
	html_end(page);
	html_line(page);
	html_start(page, "ul", "class", "figures", NULL);
	for (verdict = 0; verdict < VERDICT_COUNT; verdict++) {
		if (!verdicts[verdict] && verdict != VERDICT_PASS && verdict != VERDICT_FAIL)
			continue;
		html_start(page, "li", "class", verdicts[verdict] ? NULL : "zero", NULL);
		html_format(page, "%zu ", verdicts[verdict]);
		html_verdict(page, verdict);
		html_element(page, "small", NULL, verdict_meaning(verdict));
		html_end(page);
	}
	html_end(page);
}

void html_verdict_counts(struct html_page *page, const size_t verdicts[VERDICT_COUNT])
{
	int verdict;

	html_start(page, "span", "class", "counts", NULL);
	for (verdict = 0; verdict < VERDICT_COUNT; verdict++) {
		if (!verdicts[verdict])
			continue;
		html_start(page, "b", "class", "verdict", "data-verdict", verdict_name(verdict),
			   "title", verdict_name(verdict), NULL);
		html_format(page, "%s %zu", verdict_sign(verdict), verdicts[verdict]);
		html_end(page);
		html_text(page, " ");
	}
	html_end(page);
}
