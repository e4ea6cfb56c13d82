/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups cases by verdict and text. */
#include "alike.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"

static struct alike *group_of(struct alike_list *list, enum verdict verdict, const char *text)
{
	struct alike *group;
	size_t i;

	for (i = 0; i < list->count; i++) {
		group = &list->groups[i];
		if (group->verdict == verdict && strcmp(group->text, text) == 0)
			return group;
	}
	list->groups = grown_array(list->groups, ++list->count, sizeof(*list->groups));
	group = &list->groups[i];
	*group = (struct alike){.text = copy_text(text), .verdict = verdict};
	return group;
}

struct alike_list alike_find(const struct session *session,
			     char *(*text_of)(const struct case_run *run))
{
	struct alike_list list = {0};
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];
		char *text = text_of(run);
		struct alike *group;

		if (!text)
			continue;
		group = group_of(&list, run->record.verdict, text);
		group->runs = grown_array(group->runs, ++group->count, sizeof(*group->runs));
		group->runs[group->count - 1] = run;
		free(text);
	}
	return list;
}

void alike_free(struct alike_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		free(list->groups[i].text);
		free(list->groups[i].runs);
	}
	free(list->groups);
	*list = (struct alike_list){0};
}
