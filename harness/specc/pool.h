/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of one compiler run: everything allocated here lives until pool_free(), so the passes can
 * share strings without owning them.
 */
#ifndef SPECC_POOL_H
#define SPECC_POOL_H

#include <stddef.h>

void *pool_alloc(size_t size); /* zeroed */
char *pool_text(const char *text, size_t length);
char *pool_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void pool_free(void);

/* A list of strings that grows; the strings themselves are the pool's. */
struct names {
	const char **at;
	unsigned count;
	unsigned room;
};

void names_add(struct names *names, const char *name);
int names_find(const struct names *names, const char *name); /* index or -1 */
char *names_join(const struct names *names, const char *separator);

#endif
