/* SPDX-License-Identifier: BSD-2-Clause */
/* The cases of a session about which the same is to be said, together. */
#ifndef CTS_RUNNER_ALIKE_H
#define CTS_RUNNER_ALIKE_H

#include "session.h"

struct alike {
	char *text; /* what is to be said of all of them */
	enum verdict verdict;
	const struct case_run **runs; /* in the order of the plan */
	size_t count;
};

struct alike_list {
	struct alike *groups; /* in the order of their first clauses */
	size_t count;
};

/*
 * The cases for which TEXT_OF returns a text (to be freed; NULL: the case is not meant), grouped by
 * it and by the verdict.
 */
struct alike_list alike_find(const struct session *session,
			     char *(*text_of)(const struct case_run *run));
void alike_free(struct alike_list *list);

#endif
