/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to what a caller's pointers point to, without trusting them: a wrong address is an error
 * of the call and not a crash.
 */
#ifndef CALLER_MEMORY_H
#define CALLER_MEMORY_H

#include <stddef.h>

/* Both return 0 or -EFAULT; after -EFAULT part of the bytes may have been copied. */
int caller_fetch(void *dst, const void *user, size_t length);
int caller_store(void *user, const void *src, size_t length);

/*
 * Copies a string with its end into @size bytes.  Returns its length, -EFAULT if it cannot be read,
 * or -ENAMETOOLONG if it does not fit.
 */
int caller_fetch_string(char *dst, size_t size, const char *user);

#endif
