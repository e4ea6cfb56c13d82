/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-cts compare: what got better and what got worse, clause by clause (docs/certificate.md). */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "compare.h"
#include "format.h"
#include "json_text.h"
#include "results.h"

/* From best to worst. */
static int rank(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_PASS:
		return 0;
	case VERDICT_WAIVED:
		return 1;
	case VERDICT_UNSUPPORTED:
	case VERDICT_UNTESTED:
		return 2;
	case VERDICT_UNRESOLVED:
	case VERDICT_NOTRUN:
		return 3;
	default:
		return 4;
	}
}

enum change {
	CHANGE_WORSE,
	CHANGE_BETTER,
	CHANGE_OTHER,
	CHANGE_NONE,
	CHANGE_ONLY_A,
	CHANGE_ONLY_B
};

struct comparison {
	struct results a, b;
	bool same_plan; /* both were to have the same clauses, so one that is missing was lost */
	size_t counts[CHANGE_ONLY_B + 1];
};

static enum change change_of(const struct result *a, const struct result *b)
{
	if (!b)
		return CHANGE_ONLY_A;
	if (!a)
		return CHANGE_ONLY_B;
	if (rank(b->verdict) != rank(a->verdict))
		return rank(b->verdict) > rank(a->verdict) ? CHANGE_WORSE : CHANGE_BETTER;
	return a->verdict != b->verdict || strcmp(a->kind, b->kind) != 0 ? CHANGE_OTHER
									 : CHANGE_NONE;
}

static void print_clause(const struct result *a, const struct result *b)
{
	char *text_a = a ? result_text(a) : copy_text(""),
	     *text_b = b ? result_text(b) : copy_text("");

	printf("  %s: %s%s%s\n", a ? a->id : b->id, text_a, a && b ? " -> " : "", text_b);
	free(text_a);
	free(text_b);
}

static void print_under(const char *title, bool *titled)
{
	if (!*titled)
		printf("%s\n", title);
	*titled = true;
}

/* All clauses that changed in one way, under a title. */
static void print_changes(struct comparison *comparison, enum change change, const char *title)
{
	const struct results *a = &comparison->a, *b = &comparison->b;
	bool titled = false;
	size_t i;

	for (i = 0; i < a->count; i++) {
		const struct result *now = results_find(b, a->results[i].id);

		if (change_of(&a->results[i], now) != change)
			continue;
		print_under(title, &titled);
		print_clause(&a->results[i], now);
		comparison->counts[change]++;
	}
	for (i = 0; i < b->count; i++) {
		if (change != CHANGE_ONLY_B || results_find(a, b->results[i].id))
			continue;
		print_under(title, &titled);
		print_clause(NULL, &b->results[i]);
		comparison->counts[change]++;
	}
}

/* Whether both tell the same; lists of verdicts tell nothing. */
static bool agree(const struct comparison *comparison, const char *key)
{
	const char *a = json_text(comparison->a.root, key), *b = json_text(comparison->b.root, key);

	return !a || !b || strcmp(a, b) == 0;
}

static void note_difference(const struct comparison *comparison, const char *key, const char *what)
{
	if (!agree(comparison, key))
		printf("note: %s differ (%s; %s)\n", what, json_text(comparison->a.root, key),
		       json_text(comparison->b.root, key));
}

/* Lists of verdicts do not tell what was selected. */
static bool selections_agree(const struct comparison *comparison)
{
	static const char *const keys[] = {"selection", "shard"};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const json_t *a = json_object_get(comparison->a.root, keys[i]);
		const json_t *b = json_object_get(comparison->b.root, keys[i]);

		if (a && b && !json_equal(a, b))
			return false;
	}
	return true;
}

static int print_comparison(struct comparison *comparison)
{
	size_t *counts = comparison->counts;
	size_t lost;

	if (strcmp(comparison->a.profile, comparison->b.profile) != 0)
		printf("note: the profiles differ (%s; %s)\n", comparison->a.profile,
		       comparison->b.profile);
	note_difference(comparison, "spec_hash", "the spec hashes");
	if (!selections_agree(comparison))
		puts("note: the selections differ, so clauses that are only in one say nothing "
		     "about the other");
	print_changes(comparison, CHANGE_WORSE, "worse");
	print_changes(comparison, CHANGE_BETTER, "better");
	print_changes(comparison, CHANGE_OTHER, "changed");
	print_changes(comparison, CHANGE_ONLY_A, "only in the first");
	print_changes(comparison, CHANGE_ONLY_B, "only in the second");
	lost = comparison->same_plan ? counts[CHANGE_ONLY_A] : 0;
	printf("%zu worse, %zu better, %zu changed, %zu and %zu only in one\n",
	       counts[CHANGE_WORSE] + lost, counts[CHANGE_BETTER], counts[CHANGE_OTHER],
	       counts[CHANGE_ONLY_A], counts[CHANGE_ONLY_B]);
	return counts[CHANGE_WORSE] + lost ? EXIT_FAILED : EXIT_PASSED;
}

static int compare_two(const struct settings *settings)
{
	struct comparison comparison = {0};
	int status = results_load(&comparison.a, settings->operands[0]);

	if (!status)
		status = results_load(&comparison.b, settings->operands[1]);
	if (!status && !agree(&comparison, "api")) {
		fprintf(stderr, "scif-cts: results of the APIs %s and %s cannot be compared\n",
			json_text(comparison.a.root, "api"), json_text(comparison.b.root, "api"));
		status = EXIT_USAGE;
	}
	if (!status) {
		comparison.same_plan = comparison.a.root && comparison.b.root &&
				       agree(&comparison, "spec_hash") &&
				       selections_agree(&comparison);
		status = print_comparison(&comparison);
	}
	results_free(&comparison.a);
	results_free(&comparison.b);
	return status;
}

/* What a page needs of each: records, and the API and the spec of the first. */
static int check_column(const struct results *first, const struct results *results,
			const char *place)
{
	static const char *const keys[] = {"api", "spec_hash"};
	static const char *const names[] = {"API", "spec hash"};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *mine = json_text(results->root, keys[i]);
		const char *text = json_text(first->root, keys[i]);

		if (mine && text && strcmp(mine, text) == 0)
			continue;
		if (!mine)
			fprintf(stderr,
				"scif-cts: compare: %s: a page needs a results.json with its %s\n",
				place, names[i]);
		else
			fprintf(stderr,
				"scif-cts: compare: %s: its %s is %s, that of the first is %s; "
				"they cannot be compared\n",
				place, names[i], mine, text);
		return EXIT_USAGE;
	}
	return 0;
}

static int compare_all(const struct settings *settings, const struct plan *plan)
{
	size_t count = (size_t)settings->operand_count, i;
	struct results *results = zeroed_array(count, sizeof(*results));
	int status = 0;

	for (i = 0; i < count && !status; i++) {
		status = results_load(&results[i], settings->operands[i]);
		if (!status)
			status = check_column(&results[0], &results[i], settings->operands[i]);
	}
	if (!status) {
		status = compare_write_html(results, settings->operands, count, plan,
					    settings->html);
		if (status)
			fprintf(stderr, "scif-cts: %s: %s\n", settings->html, strerror(-status));
		status = status ? EXIT_USAGE : 0;
	}
	for (i = 0; i < count; i++)
		results_free(&results[i]);
	free(results);
	return status;
}

int command_compare(const struct settings *settings, const struct plan *plan)
{
	if (settings->html)
		return compare_all(settings, plan);
	if (settings->operand_count > 2) {
		fprintf(stderr,
			"scif-cts: compare: unexpected argument '%s': more than two are "
			"compared on a page (--html FILE)\n",
			settings->operands[2]);
		return commands_usage("compare");
	}
	return compare_two(settings);
}
