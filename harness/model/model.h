/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A model of the API: endpoints, connections and windows of SCIF, or controllers, segments and
 * barriers of RSMAPI. It is fed the steps of a run and says which of them no documented behaviour
 * allows. What a call may give in which state comes from the plan; the model's own is the state.
 * Where it cannot know, everything documented is allowed.
 *
 * A run is judged like this:
 *
 *	model = model_create(plan, "scif", "documented");
 *	model_start(model, &surroundings);
 *	for every step in order:
 *		complaint = model_step(model, &step);   // or model_begin() and model_end()
 *	model_free(model);
 */
#ifndef CTS_MODEL_MODEL_H
#define CTS_MODEL_MODEL_H

#include "step.h"

struct plan;
struct plan_function;
struct model;

/* What may have happened around the calls that no step tells. */
struct surroundings {
	bool signals;	   /* a call may have been interrupted */
	bool node_loss;	   /* nodes may have gone down, slept, come */
	bool shortage;	   /* memory, ports, descriptors or quotas may have run out */
	bool unprivileged; /* the user may not have been root */
	bool descriptors;  /* close(2), dup2(2), fcntl(2) may have been used on endpoints */
	bool threads;	   /* something may have run beside the recorded calls */
	bool memory;	   /* bad addresses may have been handed over on purpose */
};

/* Everything may have happened, as around a program that knows of no model. */
extern const struct surroundings surroundings_unknown;

/* A step that is not allowed, in words. */
struct complaint {
	const struct step *step;
	char *state;   /* that the model thinks its object is in */
	char *allowed; /* what may have come back */
	char *clauses; /* that say so, with blanks between the ids */
	char *why;     /* what does not fit */
};
void complaint_free(struct complaint *complaint);
/* Several lines, indented. */
void complaint_print(FILE *out, const struct complaint *complaint);

/* PROFILE: documented or knc. NULL where the plan has no such API. */
struct model *model_create(const struct plan *plan, const char *api, const char *profile);
void model_free(struct model *model);

/* Forgets everything: the first process has called nothing yet. */
void model_start(struct model *model, const struct surroundings *surroundings);

/*
 * A call is entered; it comes back, and is judged. The step must stay where it is until the next
 * model_start(); its results are looked at by model_end() only. Calls of several threads and
 * processes may overlap. Returns NULL where the step is allowed; free what it returns.
 */
void model_begin(struct model *model, const struct step *step);
struct complaint *model_end(struct model *model, const struct step *step);
/* Both, for a step that was alone. */
struct complaint *model_step(struct model *model, const struct step *step);

/* All of a history; calls TELL for each complaint, which it owns. Returns how many there were. */
size_t model_judge(struct model *model, const struct history *history,
		   const struct surroundings *surroundings,
		   void (*tell)(void *to, const struct history *history,
				const struct complaint *complaint),
		   void *to);

/* For whoever makes up calls. */

/* The object that a number names in a process: "connected", "listening", "export_new", ...; NULL:
 * the model knows of none. */
const char *model_state(const struct model *model, int process, intptr_t object);

#endif
