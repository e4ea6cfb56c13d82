/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sequences of calls that nobody thought of: made up for two processes on two nodes, carried out by
 * the peers of the suite (docs/peer-protocol.md), judged by the model, made small where one step is
 * not allowed, and told as a program.
 */
#ifndef CTS_EXPLORE_H
#define CTS_EXPLORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../model/model.h"
#include "../model/tables.h"
#include "../runner/launch.h"

#define EXPLORE_PEERS 2
#define EXPLORE_WORDS 8

/* A request of the peers that sequences are made of. */
struct explore_verb {
	const char *name, *api;
	unsigned int weight; /* how often, beside the others; 0: only along with others */
	/*
	 * Its words, each a kind: c e p o ... an object that an earlier step has made, of this
	 * process or, after a caret, of the other; a number of a set; 'text'. Behind a colon, parts
	 * of the names of the states that the object is in as a rule.
	 */
	const char *words;
	/* The objects that the words of its reply are; a dot is a number that means something. */
	const char *makes;
	/* The same in C: $N is a word, r the result and o[N] what else comes back, e an error code.
	 */
	const char *text;
};
extern const struct explore_verb explore_verbs[];
extern const size_t explore_verb_count;
const struct explore_verb *explore_verb(const char *name);

/* A word of a request: text, a number, or what an earlier step was told. */
struct explore_word {
	const char *text; /* NULL: no text */
	intmax_t number;
	unsigned int step;  /* 0: it refers to none */
	unsigned int reply; /* which word of its reply, from 1 */
};

struct explore_step {
	unsigned int id;	/* from 1; stays what it is when others are taken out */
	unsigned int goes_with; /* the step that it cannot be without; 0: none */
	int peer;		/* 1 or 2, on node 0 or 1 */
	const struct explore_verb *verb;
	struct explore_word words[EXPLORE_WORDS];
	unsigned int count;
};

struct explore_sequence {
	struct explore_step *steps;
	size_t count;
};
void explore_add(struct explore_sequence *sequence, const struct explore_step *step);
void explore_copy(struct explore_sequence *to, const struct explore_sequence *from);
/* The step of that id; NULL where it was taken out. */
const struct explore_step *explore_find(const struct explore_sequence *sequence, unsigned int id);

/* A step that is not allowed. */
struct explore_fault {
	size_t at;	 /* of the step in its sequence */
	char *key;	 /* two faults that have the same are the same */
	char *text;	 /* the model's words, several lines; or what became of the process */
	char *reply;	 /* NULL: none came */
	bool is_silence; /* the call did not return in time */
};
void explore_fault_free(struct explore_fault *fault);

/* What does not change from sequence to sequence. */
struct explorer {
	const struct settings *settings;
	const char *api;
	const struct launch *launch;
	struct model *model;
	struct tables tables;
	unsigned long runs, calls;
	bool is_broken; /* a peer could not be started */
};

/* A sequence under way in two fresh processes. */
struct explore_run {
	struct explorer *explorer;
	struct explore_process {
		int pid, requests, replies;
		int number;	    /* that the model knows it by; 0: not yet */
	} peers[EXPLORE_PEERS + 1]; /* by number, from 1 */
	json_t *events;
	char **told; /* the reply to each step, by id; NULL: none */
	unsigned int told_count;
};

/* Returns 0, or -1 after a line on stderr. */
int explore_run_start(struct explore_run *run, struct explorer *explorer);
void explore_run_end(struct explore_run *run);
/*
 * Carries out a step, and has it judged; false with *fault where it is not allowed. A step that
 * refers to what has failed is passed over.
 */
bool explore_run_step(struct explore_run *run, const struct explore_step *step,
		      struct explore_fault *fault);
/* Word WORD of the reply to step ID, from 1; false where there is none. */
bool explore_told(const struct explore_run *run, unsigned int id, unsigned int word,
		  intmax_t *number);

/* A whole sequence; true with *fault where one step is not allowed. */
bool explore_replay(struct explorer *explorer, const struct explore_sequence *sequence,
		    struct explore_fault *fault);

/* Makes up steps while it carries them out; true with *fault, and the sequence up to it. */
bool explore_generate(struct explorer *explorer, uint64_t seed, struct explore_sequence *sequence,
		      struct explore_fault *fault);

/* Takes out of a sequence what its fault does not need. */
void explore_shrink(struct explorer *explorer, struct explore_sequence *sequence,
		    struct explore_fault *fault);

/* A program that shows the fault, with exit status 1. */
void explore_print(FILE *out, const struct explorer *explorer,
		   const struct explore_sequence *sequence, const struct explore_fault *fault,
		   uint64_t seed);

#endif
