/* SPDX-License-Identifier: BSD-2-Clause */
/* Scattered transfers of RSMAPI: which of their entries fit the segment, and how many are left. */
#include "rsm.h"

#include <string.h>

/* The numbers are those of the public headers. */
enum { VA_TYPE = 2 };

/* Behind the handle: how many entries, how many are left, the flags, and four numbers per entry. */
enum { COUNT = 1, LEFT, FLAGS, ENTRIES };

static const struct value *list_of(const struct rsm_call *call)
{
	const struct value *list = &call->step->arguments[0];

	return list->at_count > FLAGS ? list : NULL;
}

bool rsm_is_vector(const struct rsm_call *call)
{
	return rsm_is(call, "rsm_memseg_import_putv") || rsm_is(call, "rsm_memseg_import_getv");
}

static bool fits(const struct value *list, size_t entry, intptr_t room)
{
	const intptr_t *at = list->at + ENTRIES + 4 * entry;

	return !at[3] || (at[2] >= 0 && at[2] <= room && at[3] > 0 && at[3] <= room - at[2]);
}

/* The first entry that goes beyond the segment; as many as there are: none does; -1: not known. */
static intptr_t first_beyond(const struct rsm_call *call, const struct value *list)
{
	intptr_t room = rsm_length(call->segment), count = list->at[COUNT];
	intptr_t i;

	if (call->state == STATE_UNKNOWN || room < 0 || call->flight->crowded || count < 0 ||
	    (size_t)count > (list->at_count - ENTRIES) / 4)
		return -1;
	for (i = 0; i < count; i++) {
		if (list->at[ENTRIES + 4 * i] != VA_TYPE)
			return -1;
	}
	for (i = 0; i < count && fits(list, (size_t)i, room); i++)
		;
	return i;
}

struct complaint *rsm_judge_vector(const struct rsm_call *call)
{
	const struct value *list = list_of(call);
	intptr_t permission = rsm_is(call, "rsm_memseg_import_putv") ? PERM_WRITE : PERM_READ;
	intptr_t beyond;

	if (!list)
		return NULL;
	if (list->at[LEFT])
		return rsm_complain(call, "a residual count of 0", "done",
				    "%jd requests are told to be left", (intmax_t)list->at[LEFT]);
	if (call->state != STATE_UNKNOWN && call->segment->permission >= 0 &&
	    !(call->segment->permission & permission))
		return rsm_complain(call, "RSMERR_PERM_DENIED", "RSMERR_PERM_DENIED",
				    "the connection has the permission 0%jo",
				    (uintmax_t)call->segment->permission);
	beyond = first_beyond(call, list);
	if (beyond < 0 || beyond == list->at[COUNT])
		return NULL;
	return rsm_complain(call, "RSMERR_BAD_OFFSET, RSMERR_BAD_LENGTH", "RSMERR_BAD_LENGTH",
			    "entry %jd goes beyond the %jd bytes of the segment", (intmax_t)beyond,
			    (intmax_t)rsm_length(call->segment));
}

static bool is_range_error(const char *error)
{
	return !strcmp(error, "RSMERR_BAD_OFFSET") || !strcmp(error, "RSMERR_BAD_LENGTH");
}

/* What failed at an entry leaves it, and all behind it. */
struct complaint *rsm_judge_failed_vector(const struct rsm_call *call)
{
	const struct value *list = list_of(call);
	intptr_t beyond;

	if (!list || !is_range_error(call->step->error))
		return NULL;
	if (list->at[LEFT] < 1 || list->at[LEFT] > list->at[COUNT])
		return rsm_complain(call, "a residual count of 1 or more", call->step->error,
				    "of %jd requests %jd are told to be left",
				    (intmax_t)list->at[COUNT], (intmax_t)list->at[LEFT]);
	beyond = first_beyond(call, list);
	if (beyond < 0 || beyond == list->at[COUNT] || list->at[LEFT] == list->at[COUNT] - beyond)
		return NULL;
	return rsm_complain(
		call, "the residual count of the entries that were not done", call->step->error,
		"entry %jd of %jd is the first beyond the segment, %jd are told to be left",
		(intmax_t)beyond, (intmax_t)list->at[COUNT], (intmax_t)list->at[LEFT]);
}

bool rsm_vector_excludes(const struct rsm_call *call, const char *error)
{
	const struct value *list = list_of(call);

	return list && is_range_error(error) && first_beyond(call, list) == list->at[COUNT];
}

void rsm_learn_vector(const struct rsm_call *call)
{
	const struct value *list = list_of(call);

	if (list)
		rsm_learn_implicit_post(call, list->at[FLAGS]);
}
