/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver counts registered memory against the limit of locked memory only with its module
 * option `ulimit`, which is off by default.
 */
#define quota_take   fabric_quota_take
#define quota_return fabric_quota_return
#include "../embedded/quota.c"
#undef quota_return
#undef quota_take

#include "standin.h"

int quota_take(uint64_t pages);
void quota_return(uint64_t pages);

int quota_take(uint64_t pages)
{
	return device_counts_locked() ? fabric_quota_take(pages) : 0;
}

void quota_return(uint64_t pages)
{
	if (device_counts_locked())
		fabric_quota_return(pages);
}
