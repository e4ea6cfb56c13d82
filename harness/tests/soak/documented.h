/* SPDX-License-Identifier: BSD-2-Clause */
/* The errors that the clauses know for each call, out of the plans that the spec compiler has made. */
#ifndef SOAK_DOCUMENTED_H
#define SOAK_DOCUMENTED_H

#include <stdbool.h>

bool documented_load(const char *directory); /* that of scif/plan.json and rsm/plan.json */

/* Whether a call whose arguments are right may fail so. */
bool documented(const char *function, int error);
const char *documented_name(const char *function, int error);

#endif
