/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On a terminal one line that is rewritten; elsewhere a line per case that did not pass and a line
 * per finished function.  With --tap the standard output is a TAP stream in the order of the plan.
 */
#include "progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "format.h"
#include "report.h"

struct progress {
	const struct session *session;
	size_t finished, tap_next;
	size_t *left; /* unfinished cases of each function, in the order of the plan */
	bool terminal, color, tap;
};

static const char *color_of(enum verdict verdict)
{
	if (verdict == VERDICT_PASS)
		return "32";
	return verdict_counts_as_failed(verdict) ? "31" : "33";
}

bool progress_is_drawn(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

struct progress *progress_start(const struct session *session)
{
	struct progress *progress = zeroed_array(1, sizeof(*progress));
	size_t i;

	progress->session = session;
	progress->tap = session->settings->tap;
	progress->terminal = progress_is_drawn();
	progress->color = session->settings->color == COLOR_ALWAYS ||
			  (session->settings->color == COLOR_AUTO && progress->terminal &&
			   isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
	progress->left = zeroed_array(session->plan->function_count, sizeof(*progress->left));
	for (i = 0; i < session->case_count; i++)
		progress->left[session->cases[i].clause->function - session->plan->functions]++;
	if (progress->tap)
		printf("1..%zu\n", session->case_count + session->waivers.count);
	return progress;
}

static void clear_line(const struct progress *progress)
{
	if (progress->terminal)
		fputs("\r\033[K", stderr);
}

static void draw_line(const struct progress *progress, const struct plan_clause *latest)
{
	const struct session *session = progress->session;
	struct winsize size = {0};
	char *line;
	int width = 79;

	if (!progress->terminal)
		return;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
		width = size.ws_col - 1;
	line = format_text("%zu/%zu  %zu failed  %s", progress->finished, session->case_count,
			   session_failed(session), latest->id);
	fprintf(stderr, "\r\033[K%.*s", width, line);
	free(line);
}

static void print_case(const struct progress *progress, const struct case_run *run)
{
	const struct record *record = &run->record;
	const char *name = verdict_name(record->verdict);

	if (progress->color)
		printf("\033[%sm%s\033[0m", color_of(record->verdict), name);
	else
		fputs(name, stdout);
	printf(" %s", run->clause->id);
	report_print_findings(stdout, record, "; ");
	putchar('\n');
}

static void print_function(const struct progress *progress, const struct plan_function *function)
{
	const struct session *session = progress->session;
	size_t counts[VERDICT_COUNT] = {0};
	size_t i;
	int verdict;

	for (i = 0; i < session->case_count; i++) {
		if (session->cases[i].clause->function == function)
			counts[session->cases[i].record.verdict]++;
	}
	printf("%s:", function->name);
	for (verdict = 0; verdict < VERDICT_COUNT; verdict++) {
		if (counts[verdict])
			printf(" %zu %s", counts[verdict], verdict_name(verdict));
	}
	putchar('\n');
}

/* TAP numbers are in the order of the plan: what is finished out of turn waits. */
static void print_tap(struct progress *progress)
{
	const struct session *session = progress->session;

	while (progress->tap_next < session->case_count &&
	       session->cases[progress->tap_next].finished) {
		report_print_tap_line(stdout, session, &session->cases[progress->tap_next],
				      progress->tap_next + 1);
		progress->tap_next++;
	}
}

void progress_case(struct progress *progress, const struct case_run *run)
{
	const struct plan_function *function = run->clause->function;

	progress->finished++;
	clear_line(progress);
	if (progress->tap)
		print_tap(progress);
	else if ((verdict_counts_as_failed(run->record.verdict) ||
		  run->record.verdict == VERDICT_WAIVED) &&
		 !progress->session->interrupted)
		print_case(progress, run);
	if (!--progress->left[function - progress->session->plan->functions] && !progress->tap &&
	    !progress->terminal && !progress->session->interrupted)
		print_function(progress, function);
	fflush(stdout);
	draw_line(progress, run->clause);
}

void progress_finish(struct progress *progress)
{
	clear_line(progress);
	if (progress->tap)
		report_print_tap_waivers(stdout, progress->session);
	free(progress->left);
	free(progress);
}
