/* SPDX-License-Identifier: BSD-2-Clause */
/* Implementations side by side on one page. */
#ifndef CTS_RUNNER_COMPARE_H
#define CTS_RUNNER_COMPARE_H

#include "plan.h"
#include "results.h"

/*
 * Writes the page that compares COUNT results, which came from PLACES and are of one API and spec
 * hash, into FILE.  Returns 0 or a negative errno.
 */
int compare_write_html(const struct results *results, char *const *places, size_t count,
		       const struct plan *plan, const char *file);

#endif
