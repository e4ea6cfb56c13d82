/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit binds whoever lacks CAP_IPC_LOCK, which is asked only when the limit would be passed.
 */
#include "quota.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store.h"

static _Atomic uint64_t registered; /* pages */

static bool may_lock_all(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK));
}

int quota_take(uint64_t pages)
{
	struct rlimit limit;
	uint64_t now = atomic_fetch_add(&registered, pages) + pages;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    now > limit.rlim_cur >> PAGE_BITS && !may_lock_all()) {
		quota_return(pages);
		return -EAGAIN;
	}
	return 0;
}

void quota_return(uint64_t pages)
{
	atomic_fetch_sub(&registered, pages);
}

void quota_atfork_child(void)
{
	atomic_store(&registered, 0);
}
