/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the parts of the suite. */
#include "locate.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"

/* The APIs of this package, the default one first, and what carries the libraries of each. */
static const struct {
	const char *name, *carrier;
} apis[] = {
	{"scif", NULL},
	{"rsm", "scif"},
};
#define API_COUNT (sizeof(apis) / sizeof(*apis))

/* The top of the build tree that this program lies in; NULL once it is installed. */
static const char *build_top(void)
{
	static const char folder[] = "/harness/runner/scif-cts";
	static char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	size_t suffix = sizeof(folder) - 1;

	if (length < (ssize_t)suffix)
		return NULL;
	path[length] = '\0';
	if (strcmp(path + length - suffix, folder) != 0)
		return NULL;
	path[length - suffix] = '\0';
	return path;
}

/* FOLDER/NAME as an absolute path where it exists; libtool's real file before its wrapper. */
static char *existing(const char *folder, const char *name)
{
	static const char *const subfolders[] = {"/.libs", ""};
	size_t i;

	for (i = 0; i < 2; i++) {
		char *path = format_text("%s%s/%s", folder, subfolders[i], name);
		char *absolute = realpath(path, NULL);

		free(path);
		if (absolute)
			return absolute;
	}
	return NULL;
}

static char *in_build_tree(const char *folder, const char *name)
{
	const char *top = build_top();
	char *path, *found;

	if (!top)
		return NULL;
	path = format_text("%s%s", top, folder);
	found = existing(path, name);
	free(path);
	return found;
}

/* What the environment names, and nothing else where it names something. */
static char *from_environment(const char *variable, char **found)
{
	const char *value = getenv(variable);

	if (!value || !*value)
		return NULL;
	*found = realpath(value, NULL);
	return copy_text(value);
}

static char *locate(const char *variable, const char *build_folder, const char *name,
		    const char *install_folder)
{
	char *found = NULL, *named = from_environment(variable, &found);

	if (named) {
		free(named);
		return found;
	}
	found = in_build_tree(build_folder, name);
	return found ? found : existing(install_folder, name);
}

/* A file of one API: conformance/API/NAME of the build tree, else INSTALLED/API/NAME. */
static char *of_api(const char *api, const char *name, const char *installed)
{
	char *build_folder = format_text("/conformance/%s", api);
	char *install_folder = format_text("%s/%s", installed, api);
	char *found = in_build_tree(build_folder, name);

	if (!found)
		found = existing(install_folder, name);
	free(build_folder);
	free(install_folder);
	return found;
}

char **locate_plans(void)
{
	char **plans = zeroed_array(API_COUNT + 1, sizeof(*plans));
	char *found = NULL, *named = from_environment("CTS_PLAN", &found);
	size_t count = 0, i;

	if (named) {
		free(named);
		plans[0] = found;
		return plans;
	}
	for (i = 0; i < API_COUNT; i++) {
		found = of_api(apis[i].name, "plan.json", PKGDATADIR);
		if (found)
			plans[count++] = found;
	}
	return plans;
}

char *locate_program(const char *api, const char *function)
{
	const char *programs = getenv("CTS_PROGRAMS");

	if (programs && *programs)
		return existing(programs, function);
	return of_api(api, function, PKGLIBEXECDIR);
}

/* An API without a peer program of its own is served by that of the first one. */
char *locate_peer(const char *api)
{
	char *name = format_text("%s-cts-peer", api);
	char *found = locate("CTS_PEER", "", name, BINDIR);

	free(name);
	return found ? found : locate("CTS_PEER", "", "scif-cts-peer", BINDIR);
}

char *locate_fault_preload(void)
{
	return locate("CTS_INJECT", "", "libcts-inject.so", PKGLIBDIR);
}

char *locate_trace_preload(void)
{
	return locate("CTS_TRACE_PRELOAD", "", "libcts-trace.so", PKGLIBDIR);
}

char *locate_knc_info(void)
{
	return locate("CTS_KNC_INFO", "", "knc-info", BINDIR);
}

char *locate_built_library(const char *api)
{
	char *name = format_text("lib%s.so", api);
	char *found = in_build_tree("", name);

	free(name);
	return found;
}

char *locate_built_library_folder(void)
{
	const char *top = build_top();

	return top ? format_text("%s/.libs", top) : NULL;
}

const char *locate_carrier(const char *api)
{
	size_t i;

	for (i = 0; i < API_COUNT; i++) {
		if (strcmp(apis[i].name, api) == 0)
			return apis[i].carrier;
	}
	return NULL;
}
