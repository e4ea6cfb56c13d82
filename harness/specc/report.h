/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every complaint of a run as `file:line: what is wrong; what would be right`.  They are collected
 * and printed in file and line order, so an author sees all of them at once.
 */
#ifndef SPECC_REPORT_H
#define SPECC_REPORT_H

#include <stdio.h>

void report(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
unsigned report_count(void);

/* Keeps only complaints about `file` when it is not NULL. */
void report_print(FILE *stream, const char *file);
unsigned report_count_of(const char *file);

#endif
