/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbol proof by dladdr. Names are looked up as the dynamic linker would for this program; the
 * object that owns the found address must be the implementation's file. A function that the
 * implementation does not offer is absent, wherever else the name may be found.
 */
#include "symbols.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file behind a name; the last answer is kept, since the same name comes for every function in
 * turn. */
static const char *real_file(const char *name)
{
	static char asked[PATH_MAX], answer[PATH_MAX];

	if (*asked && !strcmp(asked, name))
		return answer;
	snprintf(asked, sizeof asked, "%s", name);
	if (!realpath(name, answer))
		snprintf(answer, sizeof answer, "%s", name);
	return answer;
}

static bool owner(const void *address, char *where, size_t size)
{
	Dl_info info;

	if (!address || !dladdr(address, &info) || !info.dli_fname)
		return false;
	snprintf(where, size, "%s", real_file(info.dli_fname));
	return true;
}

static bool offers(const char *impl, const char *function)
{
	char path[PATH_MAX];
	void *handle = dlopen(impl, RTLD_LAZY | RTLD_NOLOAD);

	if (!handle)
		return false;
	/* The handle also finds what the implementation depends on, so the owner is compared. */
	bool found = owner(dlsym(handle, function), path, sizeof path);
	dlclose(handle);
	return found && !strcmp(path, real_file(impl));
}

enum symbol_origin symbol_origin(const char *function, const char *impl, char *where, size_t size)
{
	where[0] = '\0';
	owner(dlsym(RTLD_DEFAULT, function), where, size);
	if (!strcmp(function, "scif_get_fd"))
		return SYMBOL_PROVEN;
	if (!strcmp(where, real_file(impl)))
		return SYMBOL_PROVEN;
	return offers(impl, function) ? SYMBOL_FOREIGN : SYMBOL_ABSENT;
}

bool symbols_proven(const char *const *functions, const char *impl, char *why, size_t size)
{
	char where[PATH_MAX];
	bool any = false;

	for (const char *const *function = functions; *function; function++) {
		enum symbol_origin origin = symbol_origin(*function, impl, where, sizeof where);

		if (origin == SYMBOL_FOREIGN) {
			snprintf(why, size, "%s comes from %s, not from %s", *function, where,
				 impl);
			return false;
		}
		any |= origin == SYMBOL_PROVEN;
	}
	if (!any)
		snprintf(why, size, "no function comes from %s: it is not loaded", impl);
	return any;
}

void symbols_library(const char *function, char *where, size_t size)
{
	where[0] = '\0';
	owner(dlsym(RTLD_DEFAULT, function), where, size);
}
