/* SPDX-License-Identifier: BSD-2-Clause */
/* Each repetition goes through all subjects before the next one starts: A B C A B C. */
#include "run.h"

#include <string.h>

#include "pair.h"

/* Far more than any repetition takes, so that what hangs is ended and said. */
enum { WATCHDOG_SECONDS = 60 };

static void note_without(struct results_of *of, size_t subject, const char *why, bool has_failed)
{
	snprintf(of->without[subject], sizeof(of->without[subject]), "%s", why);
	of->has_failed[subject] = has_failed;
}

static void choose_sizes(struct results_of *of, bool is_quick)
{
	const size_t *sizes = of->measurement->sizes;
	size_t count = 0, i;

	while (sizes[count])
		count++;
	for (i = 0; i < count; i++)
		if (!is_quick || count <= 3 || i % 3 == 0)
			of->sizes[of->size_count++] = sizes[i];
}

static void begin(const struct results *results, struct results_of *of, struct turns *turns)
{
	const struct subject *const *subjects = of->measurement->subjects;
	size_t i;

	for (i = 0; i < of->subject_count; i++) {
		const char *absent = subjects[i]->absent ? subjects[i]->absent() : NULL;

		if (absent)
			note_without(of, i, absent, false);
		else if (turns_begin(&turns[i], subjects[i], of->measurement,
				     of->sizes[of->size_count - 1], results->cpu,
				     WATCHDOG_SECONDS) != 0)
			note_without(of, i, turns[i].board->failure, true);
	}
}

static void take_turn(struct results_of *of, struct turns *turns, size_t size, size_t subject)
{
	struct turns *own = &turns[subject];

	if (of->without[subject][0] ||
	    (own->subject->largest && of->sizes[size] > own->subject->largest))
		return;
	if (turns_take(own, of->sizes[size], of->measurement->effort(of->sizes[size]),
		       WATCHDOG_SECONDS) != 0) {
		note_without(of, subject, own->board->failure, true);
		return;
	}
	figures_add(&of->figures[size][subject], own->board->times, own->board->taken);
	memcpy(of->command[size][subject], own->board->command, TEXT_LENGTH);
}

static bool end(struct results_of *of, struct turns *turns)
{
	bool is_right = true;
	size_t size, i;

	for (i = 0; i < of->subject_count; i++) {
		if (turns[i].board)
			turns_end(&turns[i]);
		for (size = 0; size < of->size_count; size++)
			figures_complete(&of->figures[size][i]);
		is_right = is_right && !of->has_failed[i];
	}
	return is_right;
}

bool run_measurement(const struct results *results, struct results_of *of,
		     const struct measurement *measurement)
{
	struct turns turns[MOST_SUBJECTS] = {0};
	unsigned repetition;
	size_t size, subject;

	of->measurement = measurement;
	choose_sizes(of, results->is_quick);
	while (measurement->subjects[of->subject_count])
		of->subject_count++;
	if (measurement->needs_two_cpus && results->cpu[0] == results->cpu[1]) {
		snprintf(of->skipped, sizeof(of->skipped), "it needs two CPUs");
		return true;
	}
	begin(results, of, turns);
	for (size = 0; size < of->size_count; size++)
		for (repetition = 0; repetition < results->repetitions; repetition++)
			for (subject = 0; subject < of->subject_count; subject++)
				take_turn(of, turns, size, subject);
	return end(of, turns);
}
