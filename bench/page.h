/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as one page without network or script. */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include "results.h"

/* 0 or a negative errno. */
int page_save(const char *path, const struct results *results);

#endif
