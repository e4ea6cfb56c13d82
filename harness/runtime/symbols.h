/* SPDX-License-Identifier: BSD-2-Clause */
/* Proof that the functions in use come from the implementation under test and from nowhere else. */
#ifndef CTS_SYMBOLS_H
#define CTS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

enum symbol_origin { SYMBOL_PROVEN, SYMBOL_ABSENT, SYMBOL_FOREIGN };

/* Where one function comes from; `where` gets the path of the object that has it, or "". */
enum symbol_origin symbol_origin(const char *function, const char *impl, char *where, size_t size);
/* True when every one of the functions (NULL-terminated) that `impl` offers is the one in use; else
 * `why` says which is not. */
bool symbols_proven(const char *const *functions, const char *impl, char *why, size_t size);
/* The object that a function comes from, or "". */
void symbols_library(const char *function, char *where, size_t size);

#endif
