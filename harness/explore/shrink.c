/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a sequence small: takes out ever smaller parts of it, and makes numbers simple, as long as
 * the same fault comes of what is left. Every attempt is carried out by fresh processes.
 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

/* Attempts; each costs two processes. */
#define MOST_ATTEMPTS 400

struct shrinking {
	struct explorer *explorer;
	struct explore_sequence *sequence;
	struct explore_fault *fault;
	unsigned int attempts;
};

/* What a step needs is there: the step that it goes with, and those that its words refer to. */
static bool is_complete(const struct explore_sequence *sequence, const struct explore_step *step)
{
	unsigned int i;

	if (step->goes_with && !explore_find(sequence, step->goes_with))
		return false;
	for (i = 0; i < step->count; i++) {
		if (step->words[i].step && !explore_find(sequence, step->words[i].step))
			return false;
	}
	return true;
}

/* The sequence without COUNT steps from FROM on, and without what needs them. */
static void take_out(struct explore_sequence *rest, const struct explore_sequence *sequence,
		     size_t from, size_t count)
{
	size_t i;

	*rest = (struct explore_sequence){0};
	for (i = 0; i < sequence->count; i++) {
		const struct explore_step *step = &sequence->steps[i];
		bool is_out = i >= from && i < from + count && !step->goes_with;

		if (!is_out && is_complete(rest, step))
			explore_add(rest, step);
	}
}

/* Takes ATTEMPT over where the same fault comes of it. */
static bool try(struct shrinking *s, struct explore_sequence *attempt)
{
	struct explore_fault fault = {0};
	bool same = s->attempts++ < MOST_ATTEMPTS && explore_replay(s->explorer, attempt, &fault) &&
		    strcmp(fault.key, s->fault->key) == 0;

	if (!same) {
		explore_fault_free(&fault);
		free(attempt->steps);
		return false;
	}
	attempt->count = fault.at + 1;
	free(s->sequence->steps);
	*s->sequence = *attempt;
	explore_fault_free(s->fault);
	*s->fault = fault;
	return true;
}

static bool try_without(struct shrinking *s, size_t from, size_t count)
{
	struct explore_sequence attempt;

	take_out(&attempt, s->sequence, from, count);
	if (attempt.count < s->sequence->count)
		return try(s, &attempt);
	free(attempt.steps);
	return false;
}

/* From behind, since what comes late is needed by nothing. */
static bool remove_parts(struct shrinking *s, size_t size)
{
	size_t at = s->sequence->count;
	bool removed = false;

	while (at > 0) {
		at = at > size ? at - size : 0;
		if (at < s->sequence->count && try_without(s, at, size))
			removed = true;
		if (at > s->sequence->count)
			at = s->sequence->count;
	}
	return removed;
}

static bool try_number(struct shrinking *s, size_t step, unsigned int word, intmax_t number)
{
	struct explore_sequence attempt;

	explore_copy(&attempt, s->sequence);
	attempt.steps[step].words[word].number = number;
	return try(s, &attempt);
}

static void simplify_numbers(struct shrinking *s)
{
	size_t i;
	unsigned int k;

	for (i = 0; i < s->sequence->count; i++) {
		for (k = 0; k < s->sequence->steps[i].count; k++) {
			const struct explore_step *step = &s->sequence->steps[i];
			const struct explore_word *word = &step->words[k];

			if (word->step || word->text || step->goes_with || word->number == 0 ||
			    word->number == 1 || try_number(s, i, k, 0))
				continue;
			try_number(s, i, k, 1);
		}
	}
}

void explore_shrink(struct explorer *explorer, struct explore_sequence *sequence,
		    struct explore_fault *fault)
{
	struct shrinking s = {explorer, sequence, fault, 0};
	size_t size;

	for (size = sequence->count / 2; size > 0; size /= 2) {
		while (remove_parts(&s, size) && size == 1)
			;
	}
	simplify_numbers(&s);
}

const struct explore_step *explore_find(const struct explore_sequence *sequence, unsigned int id)
{
	size_t i;

	for (i = 0; i < sequence->count; i++) {
		if (sequence->steps[i].id == id)
			return &sequence->steps[i];
	}
	return NULL;
}

void explore_add(struct explore_sequence *sequence, const struct explore_step *step)
{
	sequence->steps =
		grown_array(sequence->steps, sequence->count + 1, sizeof(*sequence->steps));
	sequence->steps[sequence->count++] = *step;
}

void explore_copy(struct explore_sequence *to, const struct explore_sequence *from)
{
	size_t i;

	*to = (struct explore_sequence){0};
	for (i = 0; i < from->count; i++)
		explore_add(to, &from->steps[i]);
}
