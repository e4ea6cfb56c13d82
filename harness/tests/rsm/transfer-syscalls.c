/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A transfer of 8 bytes on a mapped segment makes no system call but those of the question whether
 * the exporter is still there, and asks it at most every 50 microseconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "count_calls.h"
#include "pair.h"

enum { ROUNDS = 100000, SKIPPED = 77, SIZE = 65536 };

/* librsm asks through scif_poll(), and the libscif below asks for itself. */
enum { SILENCE_NS = 50000, WHO_ASK = 2 };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- what a question is made of, learned from transfers after a rest --- */

enum { LESSONS = 16 };

static unsigned long per_question[CALL_NUMBERS];

static void note_most(const unsigned long *before)
{
	for (int i = 0; i < CALL_NUMBERS; i++)
		if (calls_made[i] - before[i] > per_question[i])
			per_question[i] = calls_made[i] - before[i];
}

static void copy_counts(unsigned long *to)
{
	for (int i = 0; i < CALL_NUMBERS; i++)
		to[i] = calls_made[i];
}

/* The answer to the question before is too old by then. */
static void rest(void)
{
	uint64_t end = now() + 2 * SILENCE_NS;

	while (now() < end)
		;
}

static void learn(struct pair *pair)
{
	unsigned long before[CALL_NUMBERS];
	uint64_t value = 0;

	for (int i = 0; i < LESSONS; i++) {
		rest();
		copy_counts(before);
		pair_must(i % 2 ? rsm_memseg_import_put64(pair->segment, 8, &value, 1)
				: rsm_memseg_import_get64(pair->segment, 8, &value, 1),
			  "transfer");
		note_most(before);
	}
}

/* What a transfer may ask of the kernel does not grow with what it moves, nor with their number. */
static int judge(const unsigned long *counts, uint64_t elapsed)
{
	unsigned long questions = WHO_ASK * (elapsed / SILENCE_NS + 1);
	unsigned long total = 0;
	int wrong = 0;

	for (long number = 0; number < CALL_NUMBERS; number++) {
		total += counts[number];
		if (counts[number] <= per_question[number] * questions)
			continue;
		printf("system call %ld was made %lu times, at most %lu are right\n", number,
		       counts[number], per_question[number] * questions);
		wrong++;
	}
	printf("%d put64 and %d get64 in %lu us made %lu system calls, for at most %lu questions\n",
	       ROUNDS, ROUNDS, (unsigned long)(elapsed / 1000), total, questions);
	return wrong;
}

/* How many of the transfers made no system call at all. */
static unsigned put_and_get(struct pair *pair, int rounds)
{
	uint64_t value = 0, back = 0;
	unsigned silent = 0;

	for (int i = 0; i < rounds; i++) {
		unsigned long before = calls_made_in_all;

		value++;
		pair_must(rsm_memseg_import_put64(pair->segment, 8, &value, 1), "put64");
		silent += calls_made_in_all == before;
	}
	for (int i = 0; i < rounds; i++) {
		unsigned long before = calls_made_in_all;

		pair_must(rsm_memseg_import_get64(pair->segment, 8, &back, 1), "get64");
		silent += calls_made_in_all == before;
	}
	pair_must(back != value, "what put64 wrote is not what get64 read");
	return silent;
}

int main(void)
{
	unsigned long before[CALL_NUMBERS], counts[CALL_NUMBERS];
	struct pair pair;
	void *address = NULL;
	uint64_t began, elapsed;
	unsigned silent;
	int error, wrong;

	pair_begin(&pair, SIZE);
	pair_connect(&pair);
	pair_must(
		rsm_memseg_import_map(pair.segment, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0, SIZE),
		"map");
	put_and_get(&pair, 1); /* the first ones may have something to set up */
	error = count_calls_from_now_on();
	if (error != 0) {
		printf("system calls cannot be counted here: %s\n", strerror(-error));
		pair_end(&pair);
		return SKIPPED;
	}
	learn(&pair);
	copy_counts(before);
	began = now();
	silent = put_and_get(&pair, ROUNDS);
	elapsed = now() - began;
	for (int i = 0; i < CALL_NUMBERS; i++)
		counts[i] = calls_made[i] - before[i];
	pair_end(&pair);
	wrong = judge(counts, elapsed);
	printf("%u transfers of %d made none\n", silent, 2 * ROUNDS);
	fflush(stdout);
	/* On a busy machine the time allows many questions; then this tells. */
	return wrong != 0 || silent < ROUNDS;
}
