/* SPDX-License-Identifier: BSD-2-Clause */
/* The conditions of spec/vocabulary.yaml: what this machine, user and command line can provoke. */
#include "engine.h"

#include "held.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *root_missing(void)
{
	return geteuid() == 0 ? NULL : "needs root";
}

static const char *userfaultfd_missing(void)
{
	static char why[80];
	struct held_page page;
	int err = held_open(&page, cts_page_size());

	if (err) {
		snprintf(why, sizeof why, "userfaultfd: %s", strerror(-err));
		return why;
	}
	held_close(&page);
	munmap(page.addr, page.len);
	return NULL;
}

static const char *node_adapter_missing(void)
{
	return settings.node_adapter ? NULL : "no node adapter was given (--node-adapter)";
}

static const char *port_adapter_missing(void)
{
	return settings.port_adapter ? NULL : "no port adapter was given (--port-adapter)";
}

static const char *version_adapter_missing(void)
{
	return settings.version_adapter ? NULL : "no version adapter was given (--version-adapter)";
}

static const char *two_cpus_missing(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof cpus, &cpus) == -1 || CPU_COUNT(&cpus) >= 2)
		return NULL;
	return "needs two processors";
}

const char *memory_sanitizer(void)
{
	if (dlsym(RTLD_DEFAULT, "__asan_init"))
		return "AddressSanitizer";
	return dlsym(RTLD_DEFAULT, "__tsan_init") ? "ThreadSanitizer" : NULL;
}

static const char *inject_missing(void)
{
	static char why[80];

	if (memory_sanitizer()) {
		snprintf(why, sizeof why, "%s is where faults would be made", memory_sanitizer());
		return why;
	}
	return inject_present() ? NULL : "the fault preload is not loaded (CTS_INJECT)";
}

/* Asked for by scenarios that compare what the process holds. */
static const char *own_memory_missing(void)
{
	static char why[80];

	if (!memory_sanitizer())
		return NULL;
	snprintf(why, sizeof why, "%s maps memory as it likes", memory_sanitizer());
	return why;
}

/* Asked for by scenarios that load the library, and with it the C library, a second time. */
static const char *second_copy_missing(void)
{
	if (under_valgrind())
		return "valgrind, which this runs under, does not know a second C library";
	return own_memory_missing();
}

static const char *peer_node_missing(void)
{
	return cts_node_count() >= 2 ? NULL : "no second node is online";
}

/* In a process of its own: a library may remember as whom it began. */
static const char *other_user_missing(void)
{
	static char why[80];
	int status = 0;
	pid_t pid = geteuid() == 0 ? fork() : -1;

	if (pid == 0) {
		cts_drop_privilege();
		_exit(cts_api->use());
	}
	while (pid > 0 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == 0)
		return NULL;
	snprintf(why, sizeof why, "another user cannot use it: %s", strerror(WEXITSTATUS(status)));
	return why;
}

const char *need_missing(const char *name)
{
	static const struct {
		const char *name;
		const char *(*missing)(void);
	} needs[] = {
		{"root", root_missing},
		{"userfaultfd", userfaultfd_missing},
		{"node_adapter", node_adapter_missing},
		{"port_adapter", port_adapter_missing},
		{"version_adapter", version_adapter_missing},
		{"two_cpus", two_cpus_missing},
		{"inject", inject_missing},
		{"peer_node", peer_node_missing},
		{"own_memory", own_memory_missing},
		{"second_copy", second_copy_missing},
		{"other_user", other_user_missing},
	};

	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
		if (!strcmp(needs[i].name, name))
			return needs[i].missing();
	cts_unresolved("no condition is named %s", name);
}
