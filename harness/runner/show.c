/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-cts show: everything that is known about one clause, errata entry or report of a fault. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "plan.h"

static void print_line(const char *name, const char *text)
{
	if (text)
		printf("%-10s %s\n", name, text);
}

static void print_outcome(const struct plan_clause *clause)
{
	const struct plan_outcome *outcome = plan_outcome(clause->function, clause->outcome);

	printf("%-10s %s", "outcome", clause->outcome);
	if (outcome && outcome->text)
		printf(": %s", outcome->text);
	putchar('\n');
}

static void print_needs(const struct plan_clause *clause)
{
	size_t i;

	if (!clause->needs_count)
		return;
	printf("%-10s", "needs");
	for (i = 0; i < clause->needs_count; i++)
		printf(" %s", clause->needs[i]);
	putchar('\n');
}

static void print_errata(const struct plan *plan, const char *id)
{
	const struct plan_errata *errata = plan_errata(plan, id);

	if (!errata)
		return;
	printf("\n%s (%s)\n", id, errata->kind ? errata->kind : "ruling");
	if (errata->clash)
		printf("  clash: %s\n", errata->clash);
	if (errata->ruling)
		printf("  ruling: %s\n", errata->ruling);
	if (errata->why)
		printf("  why: %s\n", errata->why);
}

static void print_deviation(const struct plan_clause *clause)
{
	if (!clause->deviation_tag)
		return;
	printf("%-10s accepts what the driver does (%s%s%s)\n", "knc", clause->deviation_tag,
	       clause->deviation_where ? ": " : "",
	       clause->deviation_where ? clause->deviation_where : "");
}

static void print_clauses_of(const struct plan *plan, const char *errata)
{
	bool any = false;
	size_t f, c;

	puts("\nclauses");
	for (f = 0; f < plan->function_count; f++) {
		for (c = 0; c < plan->functions[f].clause_count; c++) {
			const struct plan_clause *clause = &plan->functions[f].clauses[c];

			if (!plan_depends_on(clause, errata))
				continue;
			printf("  %s\n", clause->id);
			any = true;
		}
	}
	if (!any)
		puts("  (none)");
}

static int show_report(const struct plan *plan, const struct plan_report *report)
{
	size_t f, c;

	printf("%s\n\n  %s\n\nclauses\n", report->id, report->text);
	for (f = 0; f < plan->function_count; f++) {
		for (c = 0; c < plan->functions[f].clause_count; c++) {
			if (plan_shows(&plan->functions[f].clauses[c], report->id))
				printf("  %s\n", plan->functions[f].clauses[c].id);
		}
	}
	return EXIT_PASSED;
}

static void print_reports(const struct plan *plan, const struct plan_clause *clause)
{
	size_t i;

	for (i = 0; i < clause->report_count; i++) {
		const struct plan_report *report = plan_report(plan, clause->reports[i]);

		printf("%-10s %s%s%s\n", i ? "" : "would show", clause->reports[i],
		       report ? ": " : "", report ? report->text : "");
	}
}

static int show_errata(const struct plan *plan, const struct plan_errata *errata)
{
	printf("%s (%s)\n\n", errata->id, errata->kind ? errata->kind : "ruling");
	print_line("clash", errata->clash ? errata->clash : "(none)");
	print_line("ruling", errata->ruling ? errata->ruling : "(none)");
	print_line("why", errata->why ? errata->why : "(none)");
	print_clauses_of(plan, errata->id);
	return EXIT_PASSED;
}

int command_show(const struct settings *settings, const struct plan *plan)
{
	const struct plan_errata *errata = plan_errata(plan, settings->operands[0]);
	const struct plan_report *report = plan_report(plan, settings->operands[0]);
	const struct plan_clause *clause;
	size_t i;

	if (errata)
		return show_errata(plan, errata);
	if (report)
		return show_report(plan, report);
	clause = commands_clause(settings, plan);
	if (!clause)
		return EXIT_USAGE;
	printf("%s\n\n  %s\n\n", clause->id, clause->text);
	print_line("function", clause->function->prototype ? clause->function->prototype
							   : clause->function->name);
	print_outcome(clause);
	print_line("source", clause->source);
	if (clause->file)
		printf("%-10s %s:%d\n", "stated in", clause->file, clause->line);
	print_line("call", clause->call);
	print_line("scenario", clause->scenario);
	print_line("provoker", clause->provoker);
	print_needs(clause);
	print_line("length", clause->is_long ? "long: only with --all" : NULL);
	print_line("untestable", clause->untestable);
	print_line("ruled out", clause->ruled_out);
	print_deviation(clause);
	print_reports(plan, clause);
	printf("%-10s scif-cts replay %s [--impl PATH] [--exec 'gdb --args']\n", "replay",
	       clause->id);
	for (i = 0; i < clause->errata_count; i++)
		print_errata(plan, clause->errata[i]);
	if (clause->ruled_out)
		print_errata(plan, clause->ruled_out);
	return EXIT_PASSED;
}
