/* SPDX-License-Identifier: BSD-2-Clause */
/* The driver counts locked memory only with its module option `ulimit`, which is off by default. */
#include "quota.h"

int quota_take(uint64_t pages)
{
	(void)pages;
	return 0;
}

void quota_return(uint64_t pages)
{
	(void)pages;
}

void quota_atfork_child(void)
{
}
