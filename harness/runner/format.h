/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings and arrays that never fail: a runner that is out of memory has nothing better to do
 * than to say so and stop, so no caller has to check.
 */
#ifndef CTS_RUNNER_FORMAT_H
#define CTS_RUNNER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *copy_text(const char *text);
void *zeroed_array(size_t count, size_t size);
/* A stream that grows *text; close it to have *text complete. */
FILE *text_stream(char **text, size_t *length);

/* ARRAY with room for COUNT elements of SIZE bytes. */
void *grown_array(void *array, size_t count, size_t size);

/* All of a file; NULL where it cannot be read. To be freed. */
char *file_text(const char *path, size_t *length);

/* Whether two texts are the same; two that are NULL are. */
bool same_text(const char *a, const char *b);

/* Appends TEXT to STREAM as one word of the shell, quoted only where it must be. */
void print_shell_word(FILE *stream, const char *text);

/* A copy of LENGTH bytes as valid UTF-8 without control characters that XML forbids. */
char *printable_text(const char *bytes, size_t length);

/* Whether WORD stands in TEXT, bounded by anything but letters, digits and underscores. */
bool has_word(const char *text, const char *word);

#endif
