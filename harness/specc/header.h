/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The prototypes of a public header, in a spelling that can be compared: no parameter names, no
 * storage classes, one blank between words.
 */
#ifndef SPECC_HEADER_H
#define SPECC_HEADER_H

#include "pool.h"

#include <stdbool.h>

struct prototype {
	const char *name;
	const char *returns;	 /* normalised return type */
	const char *types;	 /* normalised "return (parameter, parameter)" */
	struct names parameters; /* their names, "" for one that has none */
	const char *text;	 /* as written, one line */
	const char *file;	 /* "" for a prototype of a clause file */
	int line;
};

struct prototypes {
	struct prototype *at;
	unsigned count;
	struct names words; /* every identifier of the headers: constants that exist */
};

/* Adds the functions of `file` whose name starts with `prefix`; false after a report. */
bool header_read(struct prototypes *prototypes, const char *file, const char *prefix);

/* False when `text` is no prototype. */
bool prototype_parse(const char *text, struct prototype *prototype);

const struct prototype *prototypes_find(const struct prototypes *prototypes, const char *name);

#endif
