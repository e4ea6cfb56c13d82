/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-cts explore: sequences of calls that nobody thought of, until one shows a fault or time is
 * up. */
#include "explore.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../runner/clock.h"
#include "../runner/commands.h"
#include "../runner/format.h"
#include "../runner/progress.h"
#include "../runner/session.h"

#define DEFAULT_TIME 60 /* seconds */

static void draw(const struct explorer *explorer, unsigned long sequences)
{
	if (progress_is_drawn())
		fprintf(stderr, "\r\033[K%lu sequences, %lu calls", sequences, explorer->calls);
}

static void clear(void)
{
	if (progress_is_drawn())
		fputs("\r\033[K", stderr);
}

static int write_program(const struct explorer *explorer, const struct explore_sequence *sequence,
			 const struct explore_fault *fault, uint64_t seed)
{
	const char *path = explorer->settings->output;
	FILE *out = path ? fopen(path, "we") : stdout;

	if (out)
		explore_print(out, explorer, sequence, fault, seed);
	if (out && !ferror(out) && (out == stdout ? fflush(out) : fclose(out)) == 0)
		return EXIT_FAILED;
	fprintf(stderr, "scif-cts: explore: %s: %s\n", path ? path : "standard output",
		strerror(errno));
	return EXIT_USAGE;
}

static bool comes_again(struct explorer *explorer, const struct explore_sequence *sequence,
			const struct explore_fault *fault)
{
	struct explore_fault again = {0};
	bool comes =
		explore_replay(explorer, sequence, &again) && strcmp(again.key, fault->key) == 0;

	explore_fault_free(&again);
	return comes;
}

/* What is left of the sequence is told as a program; what does not come again is told too. */
static int tell_fault(struct explorer *explorer, struct explore_sequence *sequence,
		      struct explore_fault *fault, uint64_t seed)
{
	size_t before = sequence->count;

	clear();
	fprintf(stderr, "scif-cts: explore: seed %" PRIu64 ", step %zu is not allowed:\n%s", seed,
		before, fault->text);
	if (comes_again(explorer, sequence, fault)) {
		explore_shrink(explorer, sequence, fault);
		fprintf(stderr, "scif-cts: explore: %zu of %zu steps are needed\n", sequence->count,
			before);
	} else {
		fputs("scif-cts: explore: the same steps do not show it again\n", stderr);
		/* It may have been the machine that had other things to do. */
		if (fault->is_silence)
			return EXIT_PASSED;
	}
	return write_program(explorer, sequence, fault, seed);
}

/* A number of sequences takes the time that it takes. */
static double time_of(const struct settings *settings)
{
	if (settings->time >= 0)
		return settings->time;
	return settings->sequences ? INFINITY : DEFAULT_TIME;
}

static int explore(struct explorer *explorer)
{
	const struct settings *settings = explorer->settings;
	double end = clock_ms() + time_of(settings) * 1e3;
	unsigned long sequences;
	int status = EXIT_PASSED;

	for (sequences = 0; (!settings->sequences || sequences < settings->sequences) &&
			    (!sequences || clock_ms() < end) && status == EXIT_PASSED;
	     sequences++) {
		struct explore_sequence sequence = {0};
		struct explore_fault fault = {0};
		uint64_t seed = settings->seed + sequences;

		draw(explorer, sequences);
		if (explore_generate(explorer, seed, &sequence, &fault))
			status = tell_fault(explorer, &sequence, &fault, seed);
		else if (explorer->is_broken)
			status = EXIT_UNRESOLVED;
		explore_fault_free(&fault);
		free(sequence.steps);
	}
	clear();
	if (status == EXIT_PASSED)
		printf("seeds %lu to %lu: %lu calls, each allowed\n", settings->seed,
		       settings->seed + sequences - 1, explorer->calls);
	return status;
}

static int explore_library(const struct settings *settings, const struct plan *plan,
			   const char *api, const struct library *library,
			   const struct library *carrier)
{
	struct launch launch;
	int status = launch_prepare(&launch, settings, api, library, carrier);
	struct explorer explorer = {
		.settings = settings,
		.api = api,
		.launch = &launch,
		.tables = {plan, api, settings->profile},
	};

	if (!status && !launch.peer) {
		fputs("scif-cts: explore: there is no peer program; CTS_PEER names it\n", stderr);
		status = EXIT_UNRESOLVED;
	}
	if (!status) {
		explorer.model = model_create(plan, api, settings->profile);
		status = explorer.model ? explore(&explorer) : EXIT_USAGE;
		model_free(explorer.model);
	}
	launch_release(&launch);
	return status;
}

int command_explore(const struct settings *settings, const struct plan *plan)
{
	const char *api = session_api(settings, plan);
	struct library library, carrier;
	int status;

	if (!api || session_open_library(settings, api, &library) != 0)
		return EXIT_USAGE;
	status = session_open_carrier(settings, plan, api, &carrier);
	if (!status)
		status = explore_library(settings, plan, api, &library, &carrier);
	library_free(&carrier);
	library_free(&library);
	return status;
}
