/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the parts of the suite are: named by the environment, else in the build tree that this
 * program runs from, else where `make install` puts them.
 */
#ifndef CTS_RUNNER_LOCATE_H
#define CTS_RUNNER_LOCATE_H

/* The plans of all APIs that are there, a NULL-terminated list; both to be freed. */
char **locate_plans(void);

/* Each result is an absolute path to free, or NULL where nothing was found. */
char *locate_program(const char *api, const char *function);
char *locate_peer(const char *api);
char *locate_fault_preload(void);
char *locate_trace_preload(void);
char *locate_knc_info(void);
/* The library that the build tree holds for an API; NULL once installed. */
char *locate_built_library(const char *api);
/* The folder with that library, for the run-time linker; NULL once installed. */
char *locate_built_library_folder(void);

/* The API whose library carries the library of API; NULL where that stands by itself. */
const char *locate_carrier(const char *api);

#endif
