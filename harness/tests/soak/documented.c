/* SPDX-License-Identifier: BSD-2-Clause */
/* Looked into only when a call has failed, so it is a plain list. */
#include "documented.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "errname.h"
#include "rsm_errname.h"

enum { MOST_CALLS = 80, MOST_ERRORS = 192 };

static struct call {
	char name[48];
	bool error[MOST_ERRORS];
} calls[MOST_CALLS];
static int count;

/* Those of calls that were wrong from the start, which these here are not. */
static const char *const callers_own[] = {
	"EBADF",	       "EFAULT",	       "EINVAL",
	"ENOTTY",	       "EISCONN",	       "EACCES",
	"EOPNOTSUPP",	       "RSMERR_BAD_SEG_HNDL",  "RSMERR_BAD_CTLR_HNDL",
	"RSMERR_BAD_ADDR",     "RSMERR_BAD_LENGTH",    "RSMERR_BAD_OFFSET",
	"RSMERR_PERM_DENIED",  "RSMERR_BAD_ACL",       "RSMERR_BAD_MEM_ALIGNMENT",
	"RSMERR_NOT_CREATOR",  "RSMERR_RESERVED_SEGID", "RSMERR_BAD_BARRIER_PTR",
	"RSMERR_BAD_SGIO",
};

static bool is_callers_own(const char *name)
{
	for (size_t i = 0; i < sizeof(callers_own) / sizeof(callers_own[0]); i++)
		if (strcmp(callers_own[i], name) == 0)
			return true;
	return false;
}

static bool is_rsm(const char *function)
{
	return strncmp(function, "rsm_", 4) == 0;
}

const char *documented_name(const char *function, int error)
{
	return is_rsm(function) ? rsm_errname(error) : cts_errname(error);
}

static void add_error(struct call *call, const char *name)
{
	if (is_callers_own(name))
		return;
	for (int error = 1; error < MOST_ERRORS; error++)
		if (strcmp(documented_name(call->name, error), name) == 0)
			call->error[error] = true;
}

static const char *text(json_t *object, const char *member)
{
	return json_string_value(json_object_get(object, member));
}

/* Rulings add errors to those that the documents list. */
static void add_call(json_t *function)
{
	struct call *call = &calls[count++];
	size_t i, k;
	json_t *outcome, *clause, *error;

	snprintf(call->name, sizeof(call->name), "%s", text(function, "name"));
	json_array_foreach(json_object_get(function, "outcomes"), i, outcome)
		if (strcmp(text(outcome, "kind"), "error") == 0)
			add_error(call, text(outcome, "name"));
	json_array_foreach(json_object_get(function, "clauses"), i, clause)
		json_array_foreach(json_object_get(clause, "errors"), k, error)
			add_error(call, json_string_value(error));
}

static bool load(const char *directory, const char *api)
{
	char path[4096];
	size_t i;
	json_t *function, *plan;

	snprintf(path, sizeof(path), "%s/%s/plan.json", directory, api);
	plan = json_load_file(path, 0, NULL);
	json_array_foreach(json_object_get(plan, "functions"), i, function)
		if (count < MOST_CALLS)
			add_call(function);
	json_decref(plan);
	return count > 0 && count < MOST_CALLS;
}

bool documented_load(const char *directory)
{
	return load(directory, "scif") && load(directory, "rsm");
}

bool documented(const char *function, int error)
{
	for (int i = 0; i < count; i++)
		if (strcmp(calls[i].name, function) == 0)
			return error > 0 && error < MOST_ERRORS && calls[i].error[error];
	return false;
}
