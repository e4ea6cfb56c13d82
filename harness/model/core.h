/* SPDX-License-Identifier: BSD-2-Clause */
/* What the model's files share: calls under way, and how a complaint is put together. */
#ifndef CTS_MODEL_CORE_H
#define CTS_MODEL_CORE_H

#include <stdarg.h>

#include "model.h"
#include "tables.h"

/* A call that was begun and has not been judged. */
struct flight {
	const struct step *step;
	const struct plan_function *function;
	bool disturbed;		/* another call may have changed what this one goes by */
	bool around;		/* or others that it may meet */
	bool crowded;		/* anything else was under way meanwhile */
	bool windows_disturbed; /* or the windows it uses */
	void *of_api;		/* what the API noted when it began */
};

/* What differs from one API to the other. */
struct model_api {
	const char *name;
	void *(*create)(struct model *model);
	void (*destroy)(void *state);
	void (*start)(void *state);
	/* A process begins, forks, ends. */
	void (*sign)(void *state, const struct step *step);
	void (*begin)(void *state, struct flight *flight);
	/* Judges and learns. */
	struct complaint *(*end)(void *state, struct flight *flight);
	/* Judges one that had not come back when the time of the case was up; NULL: it may wait. */
	struct complaint *(*hangs)(void *state, struct flight *flight);
	/* ONE begins or ends while OTHER is under way. */
	void (*disturb)(void *state, const struct step *one, struct flight *other);
	const char *(*state_of)(const void *state, int process, intptr_t object);
};
extern const struct model_api model_of_scif, model_of_rsm;

const struct tables *model_tables(const struct model *model);
const struct surroundings *model_surroundings(const struct model *model);
/* The calls under way; NULL behind the last. */
struct flight *model_flight(struct model *model, size_t index);
/* Of this history: a call is missing in it. */
bool model_is_whole(const struct model *model);
/* Every process is in the log that the others can have to do with; a trace is of some. */
bool model_sees_all(const struct model *model);

/*
 * A complaint about the step of FLIGHT. OUTCOME is one whose clauses are named, or ids of clauses; WHY is in the words
 * of vprintf. NULL where the profile knows of a departure there.
 */
struct complaint *complain(const struct model *model, const struct flight *flight,
			   const struct plan_function *function, const char *state,
			   const char *allowed, const char *outcome, const char *why,
			   va_list details) __attribute__((format(printf, 7, 0)));

/* A number that an argument is; false where it is not known. */
bool argument_number(const struct step *step, size_t argument, intptr_t *number);

#endif
