/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A step: one call of the API as anybody saw it, whoever recorded it (the suite's raw log, a trace
 * of a program, a run that was made up), and the history of a case, which is its steps with the
 * order in which they began and came back.
 */
#ifndef CTS_MODEL_STEP_H
#define CTS_MODEL_STEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define STEP_ARGUMENTS 8

enum value_kind {
	VALUE_UNKNOWN, /* an address, or what the log does not tell */
	VALUE_NULL,
	VALUE_NUMBER
};

struct value {
	enum value_kind is;
	intptr_t number;
	/* What the argument points to, as it is after the call; NULL: not told. */
	intptr_t *at;
	size_t at_count;
	const char *text; /* a name that it points to; NULL: none, or not told */
};

enum step_kind {
	STEP_CALL,
	STEP_STARTED,	/* a process that has no endpoint or segment yet */
	STEP_FORKED,	/* a process that has all that the process argument 0 has */
	STEP_ENDED,	/* a process is gone */
	STEP_LAST_SIGN, /* from here on the process may be gone */
	STEP_FORKS,	/* the process has a child that nobody records */
	STEP_NODE,	/* a node, argument 0, is changed from outside, to argument 1 */
	/* What a case does beside its calls; no call under way is disturbed by it. */
	STEP_HELD,     /* whoever of the process touches the memory at argument 0 sleeps */
	STEP_STALLED,  /* the transfer that was told it does so */
	STEP_RELEASED, /* it may go on */
	STEP_PRIVILEGE /* the process is privileged, or surely not: argument 0 */
};

enum node_change { NODE_UP, NODE_DOWN, NODE_ASLEEP, NODE_OTHERWISE };

/* Processes are numbered: those of the case from 1, its peers from PEER_PROCESS + 1. */
#define PEER_PROCESS 1000

struct step {
	enum step_kind kind;
	size_t number; /* of its event in the log of the case, from 0 */
	int process, thread;
	const char *function;
	struct value arguments[STEP_ARGUMENTS];
	size_t count;
	bool came_back, returns_nothing;
	bool interrupted;  /* a signal reached it */
	intptr_t ret;	   /* an address is 1 where the log does not tell it */
	const char *error; /* the name of the error it failed with; NULL: it did not */
	unsigned times;	   /* so often in a row */
	struct value user; /* who calls, in at: the effective user and groups; none: not told */
	unsigned waited;   /* seconds after which it had not come back; 0: not told */
};

/* A step begins, or it is over; what begins and is over in adjacent moves was alone. */
struct move {
	size_t step, time;
	bool is_end;
};

struct history {
	const char *id;	     /* of the clause, or what else the log has */
	const char *profile; /* of its clause's expectation; NULL: not told */
	struct step *steps;
	struct move *moves;
	size_t step_count, move_count;
	bool is_whole;	      /* no call is missing */
	bool ran_out;	      /* the time of the case was up before it came to its end */
	bool knows_intervals; /* of every call it is told whether others began before its return */
	json_t *line;	      /* owns the strings */
};

/*
 * Reads a line of a raw log (docs/certificate.md), which it keeps a reference to. KNOWS_INTERVALS
 * is what the first line of the log says.
 */
struct tables;
void history_read(struct history *history, json_t *line, const struct tables *tables,
		  bool knows_intervals);
void history_free(struct history *history);

/* The step as a call of C, with what came back. */
void step_print(FILE *out, const struct step *step);
/* "process 2, thread 3"; static memory. */
const char *step_who(const struct step *step);

#endif
