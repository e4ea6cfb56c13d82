/* SPDX-License-Identifier: BSD-2-Clause */
/* Soft resource limits and the effective user, lowered around a call and given back. */
#include "engine.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define OTHER_USER   65534
#define COUNTED_USER 65533

static struct rlimit saved[RLIMIT_NLIMITS];
static bool lowered[RLIMIT_NLIMITS];
static bool dropped;

static rlim_t pages_in_use(int field)
{
	unsigned long value[6] = {0};
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%lu %lu %lu %lu %lu %lu", &value[0], &value[1], &value[2],
			    &value[3], &value[4], &value[5]) != 6)
		cts_unresolved("/proc/self/statm cannot be read");
	fclose(file);
	return value[field] * cts_page_size();
}

static rlim_t in_use(int resource)
{
	switch (resource) {
	case RLIMIT_NOFILE:
		return (rlim_t)cts_lowest_free_descriptor();
	case RLIMIT_AS:
		return pages_in_use(0);
	case RLIMIT_DATA:
		return pages_in_use(5);
	case RLIMIT_MEMLOCK:
	case RLIMIT_FSIZE:
	case RLIMIT_NPROC: /* of the user that processes_short() makes of this one */
		return 0;
	default:
		cts_unresolved("what is in use of limit %d is not known", resource);
	}
}

static void lower(int resource, rlim_t to)
{
	struct rlimit limit;

	if (resource == RLIMIT_AS && under_valgrind())
		cts_untested("valgrind, which this runs under, does not survive without address space");
	if (memory_sanitizer() && (resource == RLIMIT_AS || resource == RLIMIT_DATA))
		cts_untested("%s does not live with a limit of memory", memory_sanitizer());
	if (getrlimit((__rlimit_resource_t)resource, &limit) == -1)
		cts_unresolved("limit %d: %s", resource, strerror(errno));
	if (!lowered[resource])
		saved[resource] = limit;
	limit.rlim_cur = to < limit.rlim_max ? to : limit.rlim_max;
	if (setrlimit((__rlimit_resource_t)resource, &limit) == -1)
		cts_unresolved("limit %d to %llu: %s", resource, (unsigned long long)to, strerror(errno));
	lowered[resource] = true;
}

void cts_limit(int resource, const char *to)
{
	lower(resource, strcmp(to, "current") ? strtoull(to, NULL, 0) : in_use(resource));
}

void limit_above_use(int resource, size_t more)
{
	lower(resource, in_use(resource) + more);
}

void cts_limit_restore(int resource)
{
	if (lowered[resource])
		setrlimit((__rlimit_resource_t)resource, &saved[resource]);
	lowered[resource] = false;
}

/* Leaving user 0 clears the effective capabilities; the saved user keeps the way back. */
void cts_drop_privilege(void)
{
	if (geteuid() == 0) {
		if (seteuid(OTHER_USER) == -1)
			cts_unresolved("cannot become user %d: %s", OTHER_USER, strerror(errno));
		/* An ordinary process of that user, which the change of user alone would not make it. */
		prctl(PR_SET_DUMPABLE, 1);
		dropped = true;
	}
	observe_event("sb", "privilege", false);
}

void cts_regain_privilege(void)
{
	if (!dropped)
		return;
	observe_event("sb", "privilege", true);
	if (seteuid(0) == -1)
		_exit(70); /* nothing sensible can follow; the watching process reports it */
	prctl(PR_SET_DUMPABLE, 1);
	dropped = false;
}

/* The effective ones; they are permitted all the while. */
static void set_capabilities(uint64_t without)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		cts_unresolved("the capabilities cannot be read: %s", strerror(errno));
	data[0].effective = data[0].permitted & ~(uint32_t)without;
	data[1].effective = data[1].permitted & ~(uint32_t)(without >> 32);
	if (syscall(SYS_capset, &header, data))
		cts_unresolved("capabilities cannot be given up: %s", strerror(errno));
}

void limits_bind(void)
{
	if (geteuid() == 0)
		set_capabilities(UINT64_C(1) << CAP_IPC_LOCK | UINT64_C(1) << CAP_SYS_RESOURCE |
				 UINT64_C(1) << CAP_SYS_ADMIN);
}

void limits_bind_no_more(void)
{
	if (geteuid() == 0)
		set_capabilities(0);
}

/*
 * The real user alone is counted, and never limited when it is 0; whoever looks at the process sees
 * the effective one.
 */
void real_user_counts(bool on)
{
	if (geteuid() == 0 && setresuid(on ? COUNTED_USER : 0, -1, -1) == -1)
		cts_unresolved("cannot be counted as user %d: %s", COUNTED_USER, strerror(errno));
}
