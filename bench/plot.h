/* SPDX-License-Identifier: BSD-2-Clause */
/* One plot of a page: lines over sizes, both axes logarithmic, each line with its name at its end.
 */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include "html.h"
#include "results.h"

enum plot_of { PLOT_TIME, PLOT_BANDWIDTH };

void plot_write(struct html_page *page, const struct results_of *of, enum plot_of what);

/* "64 KiB", "250 ns", "3.1 GB/s"; the text is to be freed. */
char *plot_size(enum size_kind kind, double size);
char *plot_value(enum plot_of what, double value);

#endif
