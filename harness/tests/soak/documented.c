/* SPDX-License-Identifier: BSD-2-Clause */
/* Looked into only when a call has failed. */
#include "documented.h"

#include <stdio.h>
#include <string.h>

#include "../../model/tables.h"
#include "errname.h"
#include "rsm_errname.h"

static struct plan *plan;

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

bool documented_load(const char *directory)
{
	char scif[4096], rsm[4096];

	snprintf(scif, sizeof(scif), "%s/scif/plan.json", directory);
	snprintf(rsm, sizeof(rsm), "%s/rsm/plan.json", directory);
	plan = plan_load((char *const[]){scif, rsm, NULL});
	return plan != NULL;
}

bool documented(const char *function, int error)
{
	const struct tables tables = {.plan = plan,
				      .api = is_rsm(function) ? "rsm" : "scif",
				      .profile = "documented"};
	const struct plan_function *known = tables_function(&tables, function);
	const char *name = documented_name(function, error);

	return known != NULL && !is_callers_own(name) && tables_documented(&tables, known, name);
}
