/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 as hexadecimal text. */
#ifndef CTS_RUNNER_HASH_H
#define CTS_RUNNER_HASH_H

#include <stddef.h>

#define HASH_TEXT 65

void hash_bytes(char text[HASH_TEXT], const void *bytes, size_t length);
/* Returns 0 or a negative errno. */
int hash_file(char text[HASH_TEXT], const char *path);

#endif
