/* SPDX-License-Identifier: BSD-2-Clause */
/* The identity of a shared library: what its ELF file says, and the hash of that file. */
#ifndef CTS_RUNNER_LIBRARY_H
#define CTS_RUNNER_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "hash.h"

struct library {
	char *path;	 /* as the user named it */
	char *real_path; /* absolute, links followed */
	char *soname;	 /* NULL where it has none */
	char *build_id;	 /* hexadecimal; NULL where it has none */
	char *sanitizer; /* run-time library of a sanitizer that it needs; NULL for a plain build */
	char sha256[HASH_TEXT];
	char **exports; /* names of the functions it defines for others, sorted */
	size_t export_count;
};

/*
 * Reads the library at PATH.  Returns NULL on success, else one line saying why this machine cannot
 * load it (to be freed).
 */
char *library_read(struct library *library, const char *path);
/*
 * Whether it cannot be preloaded: its sanitizer wants to be there first and replaces what the fault
 * preload replaces, so the programs have to be linked with both.
 */
bool library_needs_linking(const struct library *library);
bool library_exports(const struct library *library, const char *function);
/* After exports were put there by hand. */
void library_sort_exports(struct library *library);
void library_free(struct library *library);

#endif
