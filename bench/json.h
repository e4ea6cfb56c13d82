/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as a document, docs/bench-format.md. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include "results.h"

/* 0, or -1 with errno set. */
int json_save(const char *path, const struct results *results);

#endif
