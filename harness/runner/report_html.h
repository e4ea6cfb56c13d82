/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of report.html, in the order in which they stand there. */
#ifndef CTS_RUNNER_REPORT_HTML_H
#define CTS_RUNNER_REPORT_HTML_H

#include "html.h"
#include "session.h"

void html_headline(struct html_page *page, const struct session *session);
void html_identity(struct html_page *page, const struct session *session);
void html_not_tested(struct html_page *page, const struct session *session);
void html_failures(struct html_page *page, const struct session *session);
void html_matrix(struct html_page *page, const struct session *session);
void html_functions(struct html_page *page, const struct session *session);
void html_choices(struct html_page *page, const struct session *session);
void html_deviations(struct html_page *page, const struct session *session);
void html_waivers(struct html_page *page, const struct session *session);
/* The entries of the errata that clauses of the session depend on. */
void html_rulings(struct html_page *page, const struct session *session);

/* The path of a library, its hash and what its ELF file says. */
void html_library(struct html_page *page, const struct library *library);
/* The verdicts of the session's cases of one function; returns how many cases there are. */
size_t html_count_verdicts(const struct session *session, const struct plan_function *function,
			   size_t verdicts[VERDICT_COUNT]);

#endif
