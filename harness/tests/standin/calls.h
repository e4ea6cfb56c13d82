/* SPDX-License-Identifier: BSD-2-Clause */
/* What a line of the replay can ask for: one call each, with its arguments as numbers. */
#ifndef STANDIN_CALLS_H
#define STANDIN_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct outcome {
	int64_t result;
	const char *name; /* of the errno or of the signal, if the result is -1 */
	int bits;	  /* of poll; -1: not a poll */
	int64_t value;	  /* what a variable takes; the result unless the call hands out more */
	int64_t took_ms;
};

/* Letters of the words a command takes: e an expression, n a name, t text. */
struct command {
	const char *name;
	const char *takes;
	void (*run)(struct outcome *outcome, const int64_t *a, char **word);
};

/* NULL: there is none of that name. */
const struct command *command_find(const char *name);

/* Runs it with evaluated words; `word` are those after the command's name. */
void command_run(const struct command *command, const int64_t *values, char **word,
		 struct outcome *outcome);

/* Evaluates the words as the command takes them; false if one makes no sense. */
bool command_values(const struct command *command, char **word, int words, int64_t *values);

/* Numbers, variables, names of flags, joined by + - |; 2^N is a power. */
bool evaluate(const char *text, int64_t *value);
void variable_set(const char *name, int64_t value);

/* Removes what the calls left in the file system. */
void calls_end(void);

#endif
