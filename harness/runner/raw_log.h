/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of a run's raw log: lines, compressed as gzip does (docs/certificate.md). */
#ifndef CTS_RUNNER_RAW_LOG_H
#define CTS_RUNNER_RAW_LOG_H

#include <stddef.h>

#define RAW_LOG_NAME "observations.jsonl.gz"

struct raw_log {
	char *text; /* all that could be decompressed */
	size_t length;
	char *damage; /* what is wrong with the file; NULL: nothing */
};

/* Returns 0, also of a damaged file, or a negative errno; free text and damage. */
int raw_log_read(struct raw_log *log, const char *path);

/* A log that is written; NULL with errno. The same lines give the same bytes. */
struct raw_log_writer;
struct raw_log_writer *raw_log_create(const char *path);
void raw_log_line(struct raw_log_writer *writer, const char *line);
/* Flushes and closes; returns 0 or a negative errno. */
int raw_log_close(struct raw_log_writer *writer);

#endif
