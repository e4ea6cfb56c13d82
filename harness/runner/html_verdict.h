/* SPDX-License-Identifier: BSD-2-Clause */
/* Verdicts on a page: a sign, a word and a colour each. */
#ifndef CTS_RUNNER_HTML_VERDICT_H
#define CTS_RUNNER_HTML_VERDICT_H

#include "html.h"
#include "record.h"

/* A sign that needs no colour. */
const char *verdict_sign(enum verdict verdict);
/* What a verdict means, in a few words. */
const char *verdict_meaning(enum verdict verdict);
void html_verdict(struct html_page *page, enum verdict verdict);
/* How many there are of each, as a bar and as a list; nothing of those that there are none of. */
void html_verdict_bar(struct html_page *page, const size_t verdicts[VERDICT_COUNT]);
/* The same in a few characters: a sign and a number each. */
void html_verdict_counts(struct html_page *page, const size_t verdicts[VERDICT_COUNT]);

#endif
