/* SPDX-License-Identifier: BSD-2-Clause */
/* The ratios of this run beside those of an earlier one. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include <jansson.h>

#include "results.h"

/* A document of json_save(); NULL after saying why not. */
json_t *check_load(const char *path);

/*
 * Whether no ratio is more than 15 % below that of the REFERENCE; says which are. What seems so is
 * measured again and has to be so three times.
 */
bool check_ratios(FILE *to, const json_t *reference, const struct results *results);

#endif
