/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a page of comparison. */
#ifndef CTS_RUNNER_COMPARE_PAGE_H
#define CTS_RUNNER_COMPARE_PAGE_H

#include "html.h"
#include "plan.h"
#include "results.h"

/* The results that are compared, each a column. */
struct columns {
	const struct results *results;
	char *const *places;
	size_t count;
	const struct plan *plan; /* NULL where it is not of the same spec */
	size_t (*verdicts)[VERDICT_COUNT]; /* how many records of each column have each */
	json_t **records;	 /* of each: its records by id */
	json_t *ids;		 /* of all, in the order of the plan */
};

enum likeness { ALIKE, OTHER_RESULT, OTHER_VERDICT };

/* How a result of one column relates to those of the others. */
const json_t *compare_record(const struct columns *columns, size_t column, const char *id);
enum likeness compare_likeness(const struct columns *columns, const char *id);
size_t compare_count(const struct columns *columns, enum likeness likeness);

/* A table in a box of its own; its heads are to be written next. */
void compare_start_table(struct html_page *page, const char *class);
/* A head for the rows, then one for each column: its number and label. */
void compare_heads(struct html_page *page, const struct columns *columns, const char *first);
void compare_start_rows(struct html_page *page);

void compare_who(struct html_page *page, const struct columns *columns);
void compare_functions(struct html_page *page, const struct columns *columns);
void compare_differences(struct html_page *page, const struct columns *columns,
			 enum likeness likeness, const char *section, const char *title);
void compare_shared(struct html_page *page, const struct columns *columns);

#endif
