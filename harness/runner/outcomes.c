/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides which documented outcomes a run has observed. */
#include "outcomes.h"

#include <string.h>

#include "format.h"

/* Whether the text ends in what looks like a name of errno.h, as "-1 EPERM" does, or of RSMAPI. */
static bool ends_in_error_name(const char *text)
{
	const char *word = strrchr(text, ' ');

	word = word ? word + 1 : text;
	if (strncmp(word, "RSMERR_", 7) == 0)
		return true;
	return word[0] == 'E' && word[1] &&
	       !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")];
}

static bool names_an_error(const struct plan_function *function, const char *observed)
{
	size_t i;

	for (i = 0; i < function->outcome_count; i++) {
		if (function->outcomes[i].is_error &&
		    has_word(observed, function->outcomes[i].name))
			return true;
	}
	return observed && ends_in_error_name(observed);
}

static bool shows_error(const struct case_run *run, const struct plan_outcome *outcome)
{
	bool expected = strcmp(run->clause->outcome, outcome->name) == 0 ||
			has_word(run->record.expected, outcome->name);

	return expected && has_word(run->record.observed, outcome->name);
}

/* A success clause can pass with an error only where the profile accepts what the driver does. */
static bool shows_value(const struct case_run *run, const struct plan_outcome *outcome)
{
	if (strcmp(run->clause->outcome, outcome->name) != 0)
		return false;
	return run->clause->scenario ||
	       !names_an_error(run->clause->function, run->record.observed);
}

bool outcome_is_ruled_out(const struct plan_function *function, const struct plan_outcome *outcome)
{
	bool ruled_out = false;
	size_t c;

	for (c = 0; c < function->clause_count; c++) {
		if (strcmp(function->clauses[c].outcome, outcome->name) != 0)
			continue;
		if (!function->clauses[c].ruled_out)
			return false;
		ruled_out = true;
	}
	return ruled_out;
}

enum outcome_state outcome_state(const struct session *session,
				 const struct plan_function *function,
				 const struct plan_outcome *outcome)
{
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (run->clause->function != function || run->record.verdict != VERDICT_PASS)
			continue;
		if (outcome->is_error ? shows_error(run, outcome) : shows_value(run, outcome))
			return OUTCOME_OBSERVED;
	}
	return outcome_is_ruled_out(function, outcome) ? OUTCOME_RULED_OUT : OUTCOME_MISSING;
}

void outcome_count(const struct session *session, const struct plan_function *function, bool errors,
		   struct outcome_tally *tally)
{
	size_t i;

	for (i = 0; i < function->outcome_count; i++) {
		enum outcome_state state;

		if (function->outcomes[i].is_error != errors)
			continue;
		state = outcome_state(session, function, &function->outcomes[i]);
		tally->documented++;
		tally->observed += state == OUTCOME_OBSERVED;
		tally->ruled_out += state == OUTCOME_RULED_OUT;
	}
}

char *outcome_tally_text(const struct outcome_tally *tally, bool is_total)
{
	if (!tally->ruled_out && !is_total)
		return format_text("%zu of %zu", tally->observed, tally->documented);
	return format_text("%zu of %zu, %zu ruled out", tally->observed, tally->documented,
			   tally->ruled_out);
}
