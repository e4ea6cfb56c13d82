/* SPDX-License-Identifier: BSD-2-Clause */
/* Error numbers by name: see errname.h. */
#include "errname.h"

#include <string.h>

#define LAST_ERRNO 256

const char *cts_errname(int err)
{
	const char *name = err ? strerrorname_np(err) : "0";

	return name ? name : "E?";
}

int cts_errnumber(const char *name)
{
	for (int err = 1; err <= LAST_ERRNO; err++) {
		const char *candidate = strerrorname_np(err);

		if (candidate && !strcmp(candidate, name))
			return err;
	}
	return 0;
}
