/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run of the suite: the clauses chosen from the plan, how their programs are started, and the
 * record of each.
 */
#ifndef CTS_RUNNER_SESSION_H
#define CTS_RUNNER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "environment.h"
#include "library.h"
#include "plan.h"
#include "record.h"
#include "settings.h"
#include "waivers.h"

struct case_run {
	const struct plan_clause *clause;
	struct record record;
	char *output;	    /* what the program printed; NULL where it printed nothing */
	char *observations; /* its line of the raw log */
	char *replay;	    /* the command of another machine; NULL: ours */
	bool finished;
};

struct session {
	const struct settings *settings;
	const struct plan *plan;
	const struct plan_document *document; /* the part of the plan that the API is from */
	const char *api;
	struct library library;
	struct library carrier; /* beneath the library; no path: what the loader finds */
	struct environment_class environment;
	struct platform platform;
	json_t *machine; /* cards, driver, host; NULL where the run has nothing to do with any */
	struct case_run *cases; /* in the order of the plan */
	size_t case_count;
	size_t verdicts[VERDICT_COUNT];
	struct waivers waivers;
	json_t *parts; /* what a merged session was made of; NULL: it was run */
	time_t started;
	double duration_ms;
	bool interrupted;
};

/*
 * Chooses the clauses and checks the implementation.  Returns 0, or EXIT_USAGE after a line on
 * stderr that says what is wrong.
 */
int session_open(struct session *session, const struct settings *settings, const struct plan *plan);

/* Runs every case; each has its record afterwards.  Returns 0, or EXIT_USAGE after a line on
 * stderr. */
int session_run(struct session *session);

/* Stores the record of a case, what it printed and what the raw log has of it. */
void session_record(struct session *session, struct case_run *run, struct record record,
		    char *output, char *observations);

int session_exit_status(const struct session *session);
/* What continuous integration counts as failed: waivers that are out of date too. */
size_t session_failed(const struct session *session);
size_t session_skipped(const struct session *session);

/* The command line that runs one case again; to be freed. */
char *session_replay_command(const struct session *session, const struct case_run *run);

/* Puts the clauses into the session that the filter and the shard of its settings pick. */
void session_choose(struct session *session);

/* Forgets what session_open() or a reader of results has put there. */
void session_close(struct session *session);

/* The plan's only or first API unless the settings name one; NULL after a line on stderr. */
const char *session_api(const struct settings *settings, const struct plan *plan);

/* The library that --impl names, else the one just built; EXIT_USAGE after a line on stderr. */
int session_open_library(const struct settings *settings, const char *api, struct library *library);

/*
 * The library that carries it: what --scif names, beside a library just built the one just built,
 * else none.  Returns 0, or EXIT_USAGE after a line on stderr.
 */
int session_open_carrier(const struct settings *settings, const struct plan *plan, const char *api,
			 struct library *carrier);

/* Whether --filter picks a clause. */
bool session_filter_picks(const struct settings *settings, const struct plan_clause *clause);

#endif
