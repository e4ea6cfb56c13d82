/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which mutant a library is, as CTS_MUTANT says: the name of one that was written by hand;
 * FUNCTION:ERROR:OTHER for a call in which ERROR comes back as OTHER; FUNCTION:ERROR,... for one
 * that goes through where one of these errors is due; `none` for a library that only passes calls
 * on.  With @N at the end the first N such errors of a process are still right, for cases whose
 * set-up needs one.
 */
#ifndef CTS_MUTANTS_MUTANT_H
#define CTS_MUTANTS_MUTANT_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* The most errors that a clause allows. */
#define MUTANT_ERRORS 8

struct mutant {
	const char *name; /* of a mutant by hand, or `none`; NULL for one that was generated */
	char function[64];
	int errors[MUTANT_ERRORS];
	int replacement; /* 0: the call goes through */
	int spared;
};

extern struct mutant mutant;

/* A mutant by hand, and what makes the library that mutant. */
struct mutation {
	const char *name;
	void (*install)(void);
};

/* An entry of a list of mutations, for a macro of their names, calls and functions. */
#define MUTATION_ENTRY(name, call, function) {name, install_##function},

/* Reads CTS_MUTANT. */
void mutant_read(void);
/* Installs the one that CTS_MUTANT names; false where it is none of these. */
bool mutant_install(const struct mutation *mutations, size_t count);
/* Whether it is a mutant of this error. */
bool mutant_is_of(int error);
/* Whether a call that failed with this error is to go wrong, this time. */
bool mutant_strikes(int error);
/* Ends the process: a library that is right would pass for a mutant that nothing kills. */
_Noreturn void mutant_unknown(const char *name);

#pragma GCC visibility pop

#endif
