/* SPDX-License-Identifier: BSD-2-Clause */
/* Failures that are known and excused: the file that --waivers names (docs/certificate.md). */
#ifndef CTS_RUNNER_WAIVERS_H
#define CTS_RUNNER_WAIVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "hash.h"
#include "library.h"
#include "plan.h"

struct session;

enum waiver_state {
	WAIVER_ACTIVE,	  /* it excuses a failure */
	WAIVER_EXPIRED,	  /* its last day is over */
	WAIVER_UNMATCHED, /* there is no such clause, or the implementation is another one */
	WAIVER_HEALED,	  /* what it covers passes */
	WAIVER_IDLE	  /* what it covers was not judged in this run */
};

struct waiver {
	char *clause;		       /* a pattern */
	char *soname, *sha256, *label; /* patterns of the implementation; NULL: any */
	char *reason, *link, *expires; /* expires: YYYY-MM-DD */
	int line;		       /* where it begins in the file */
	enum waiver_state state;
	const char *why; /* it is unmatched */
};

struct waivers {
	char *file; /* as the user named it; NULL: there are none */
	char *text; /* its content */
	size_t length;
	char sha256[HASH_TEXT];
	struct waiver *entries;
	size_t count;
};

/* Returns 0, or EXIT_USAGE after lines on stderr that say file, line and what is wrong. */
int waivers_load(struct waivers *waivers, const char *path);
void waivers_free(struct waivers *waivers);

/* Finds out which of them apply at all: to the implementation LIBRARY under LABEL, on the day of
 * NOW. */
void waivers_prepare(struct waivers *waivers, const struct plan *plan,
		     const struct library *library, const char *label, time_t now);
/* The waiver that excuses a failure of the clause; NULL where none does. */
const struct waiver *waivers_find(const struct waivers *waivers, const char *id);
/* After the run: which of those that applied are healed or idle. */
void waivers_judge(struct waivers *waivers, const struct session *session);

bool waiver_covers(const struct waiver *waiver, const char *id);
const char *waiver_state_name(enum waiver_state state);
/* Whether it fails the run. */
bool waiver_is_out_of_date(const struct waiver *waiver);
size_t waivers_out_of_date(const struct waivers *waivers);
/* "FILE:LINE: why; what to do" about a waiver that is out of date; to be freed. */
char *waiver_complaint(const struct waivers *waivers, const struct waiver *waiver);

#endif
