/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One request to the driver: its structure placed so that it ends at a page nobody may touch, the
 * answer's bytes compared with expected ones, and what went to standard error meanwhile counted.
 */
#ifndef STANDIN_DRIVER_CALL_H
#define STANDIN_DRIVER_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "encoding.h"

/* The encoding that all requests are made in, and whether refusals explain themselves (the real
 * driver's do not). */
extern const struct encoding *driver;
extern bool refusals_are_logged;

void driver_call_begin(void);

/* Memory whose last byte is the last before a page that must not be touched. */
unsigned char *memory_before_guard(size_t size);

/* The outcome is 0 and the bytes afterwards are exactly those. */
bool call_gives(const char *what, int fd, enum request request, const struct image *in,
		const struct image *after);

/* The outcome is 0; the bytes afterwards go to `after`, for fields that are not known beforehand. */
bool call_done(const char *what, int fd, enum request request, const struct image *in,
	       struct image *after);

/* The outcome is -1 with that errno. */
bool call_fails(const char *what, int fd, enum request request, const struct image *in, int error);

/* The argument is the value itself. */
bool value_gives(const char *what, int fd, enum request request, unsigned long value, int result);
bool value_fails(const char *what, int fd, enum request request, unsigned long value, int error);

/* The number itself, whatever it means: refused with EINVAL and one line that names it. */
bool code_is_refused(const char *what, int fd, uint32_t code, void *argument);

/* Without a result of its own: for setting up. Bails out if it fails. */
void call_must(int fd, enum request request, struct image *image);
void value_must(int fd, enum request request, unsigned long value);

/* Whether nothing but the refusals has been written to standard error. */
bool nothing_else_was_said(void);

#endif
