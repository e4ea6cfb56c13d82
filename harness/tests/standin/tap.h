/* SPDX-License-Identifier: BSD-2-Clause */
/* One numbered line of TAP per fact, on standard output. */
#ifndef STANDIN_TAP_H
#define STANDIN_TAP_H

#include <stdbool.h>

/* One result; the text is formatted. Returns whether it held. */
bool tap_result(bool held, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A fact that cannot be tried here, and why. */
void tap_skip(const char *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line that explains the result before it. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The set-up broke: nothing after this means anything. Does not return. */
void tap_bail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Writes the plan and returns the exit status of the program. */
int tap_end(void);

#endif
