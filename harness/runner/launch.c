/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts together environment and arguments of a case program.  The variables that decide what is
 * under test are always set here, never taken over from the caller.
 */
#include "launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "locate.h"

extern char **environ;

/* Variables of the caller that would change what a case sees. */
static const char *const replaced[] = {
	"LD_PRELOAD=", "LD_LIBRARY_PATH=",    "CTS_RECORDS=",	   "CTS_IMPL=",
	"CTS_PEER=",   "CTS_INJECT=",	      "CTS_NODE_ADAPTER=", "CTS_PORT_ADAPTER=",
	"CTS_SEED=",   "SCIF_NODE=",	      "SCIF_FABRIC=",	   "CTS_VERSION_ADAPTER=",
	"CTS_SCIF=",   "RSM_SEGMENTID_FILE=", "RSM_BYTE_ORDER=",   "CTS_OBSERVATIONS=",
};

struct string_list {
	char **strings;
	size_t count;
};

static void add(struct string_list *list, char *string)
{
	char **grown = reallocarray(list->strings, list->count + 2, sizeof(*grown));

	if (!grown)
		abort();
	grown[list->count++] = string;
	grown[list->count] = NULL;
	list->strings = grown;
}

static void add_variable(struct string_list *list, const char *name, const char *value)
{
	if (value)
		add(list, format_text("%s=%s", name, value));
}

static bool is_replaced(const char *variable)
{
	size_t i;

	for (i = 0; i < sizeof(replaced) / sizeof(*replaced); i++) {
		if (strncmp(variable, replaced[i], strlen(replaced[i])) == 0)
			return true;
	}
	return false;
}

static int make_link_folder(struct launch *launch)
{
	const char *folder = getenv("TMPDIR");

	launch->link_folder = format_text("%s/scif-cts-impl.XXXXXX", folder ? folder : "/tmp");
	if (mkdtemp(launch->link_folder))
		return 0;
	fprintf(stderr, "scif-cts: %s: %s\n", launch->link_folder, strerror(errno));
	free(launch->link_folder);
	launch->link_folder = NULL;
	return EXIT_USAGE;
}

/* LD_PRELOAD separates its entries by spaces and colons, so a path with one needs another name. */
static int make_preloadable(struct launch *launch, const struct library *library, const char *name,
			    char **path)
{
	if (!library->path)
		return 0;
	if (!strpbrk(library->real_path, ": ")) {
		*path = copy_text(library->real_path);
		return 0;
	}
	if (!launch->link_folder && make_link_folder(launch) != 0)
		return EXIT_USAGE;
	*path = format_text("%s/%s", launch->link_folder, name);
	if (symlink(library->real_path, *path) == 0)
		return 0;
	fprintf(stderr, "scif-cts: %s: %s\n", *path, strerror(errno));
	return EXIT_USAGE;
}

int launch_prepare(struct launch *launch, const struct settings *settings, const char *api,
		   const struct library *library, const struct library *carrier)
{
	bool linked = library_needs_linking(library) || library_needs_linking(carrier);
	int status;

	*launch = (struct launch){
		.settings = settings,
		.peer = locate_peer(api),
		.fault_preload = linked ? NULL : locate_fault_preload(),
		.library_folder = locate_built_library_folder(),
		.linked = linked,
	};
	status = make_preloadable(launch, library, "impl.so", &launch->implementation);
	if (!status)
		status = make_preloadable(launch, carrier, "carrier.so", &launch->carrier);
	return status;
}

static void remove_link(const struct launch *launch, const char *path)
{
	size_t length = strlen(launch->link_folder);

	if (path && strncmp(path, launch->link_folder, length) == 0 && path[length] == '/')
		unlink(path);
}

void launch_release(struct launch *launch)
{
	if (launch->link_folder) {
		remove_link(launch, launch->implementation);
		remove_link(launch, launch->carrier);
		rmdir(launch->link_folder);
	}
	free(launch->link_folder);
	free(launch->implementation);
	free(launch->carrier);
	free(launch->peer);
	free(launch->fault_preload);
	free(launch->library_folder);
}

/* In this order a call of the implementation finds its carrier, and a call of either the faults. */
static char *preload(const struct launch *launch)
{
	const char *const libraries[] = {launch->implementation, launch->carrier,
					 launch->fault_preload};
	size_t length, i;
	char *text;
	FILE *stream = text_stream(&text, &length);

	for (i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		if (libraries[i])
			fprintf(stream, "%s%s", i ? ":" : "", libraries[i]);
	}
	fclose(stream);
	return text;
}

static char *library_path(const struct launch *launch)
{
	const char *inherited = getenv("LD_LIBRARY_PATH");

	if (!launch->library_folder)
		return inherited ? copy_text(inherited) : NULL;
	if (!inherited || !*inherited)
		return copy_text(launch->library_folder);
	return format_text("%s:%s", launch->library_folder, inherited);
}

char **launch_environment(const struct launch *launch, const char *records,
			  const char *observations)
{
	struct string_list list = {0};
	char *path = library_path(launch);
	char *seed = format_text("%lu", launch->settings->seed);
	char *preloaded = preload(launch);
	char **variable;

	for (variable = environ; *variable; variable++) {
		if (!is_replaced(*variable))
			add(&list, copy_text(*variable));
	}
	add_variable(&list, "LD_PRELOAD", launch->linked ? NULL : preloaded);
	add_variable(&list, "LD_LIBRARY_PATH", path);
	add_variable(&list, "CTS_RECORDS", records);
	add_variable(&list, "CTS_OBSERVATIONS", observations);
	add_variable(&list, "CTS_IMPL", launch->implementation);
	add_variable(&list, "CTS_SCIF", launch->carrier);
	add_variable(&list, "CTS_PEER", launch->peer);
	add_variable(&list, "CTS_INJECT", launch->fault_preload);
	add_variable(&list, "CTS_NODE_ADAPTER", launch->settings->node_adapter);
	add_variable(&list, "CTS_PORT_ADAPTER", launch->settings->port_adapter);
	add_variable(&list, "CTS_VERSION_ADAPTER", launch->settings->version_adapter);
	add_variable(&list, "CTS_SEED", seed);
	free(preloaded);
	free(path);
	free(seed);
	return list.strings;
}

/* --exec is one line of shell words that stands before the program. */
static void add_wrapper(struct string_list *list, const char *wrapper)
{
	add(list, copy_text("/bin/sh"));
	add(list, copy_text("-c"));
	add(list, format_text("exec %s \"$@\"", wrapper));
	add(list, copy_text("scif-cts"));
}

char **launch_arguments(const struct launch *launch, const char *program,
			const struct plan_clause *const *clauses, size_t count, bool unforked)
{
	const struct settings *settings = launch->settings;
	struct string_list list = {0};
	size_t i;

	if (settings->wrapper)
		add_wrapper(&list, settings->wrapper);
	add(&list, copy_text(program));
	for (i = 0; i < count; i++) {
		add(&list, copy_text("--case"));
		add(&list, copy_text(clauses[i]->id));
	}
	add(&list, copy_text("--profile"));
	add(&list, copy_text(settings->profile));
	add(&list, copy_text("--timeout-scale"));
	add(&list, format_text("%g", settings->timeout_scale));
	if (settings->all)
		add(&list, copy_text("--all"));
	if (unforked)
		add(&list, copy_text("--no-fork"));
	return list.strings;
}

void launch_free_strings(char **strings)
{
	size_t i;

	for (i = 0; strings && strings[i]; i++)
		free(strings[i]);
	free(strings);
}
