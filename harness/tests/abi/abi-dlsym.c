/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Old and new ways to find the functions at run time: dlsym without a version and dlvsym with the
 * real library's version give the same address for all of them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION(name, result, parameters) #name,
static const char *const scif_functions[] = {
#include "functions.def"
	NULL};
static const char *const rsm_functions[] = {
#include "rsm-functions.def"
	NULL};

static int look_up(void *library, const char *name, const char *version)
{
	void *plain = dlsym(library, name);
	void *versioned = dlvsym(library, name, version);

	if (plain == NULL)
		printf("%s: not found without a version\n", name);
	if (versioned == NULL)
		printf("%s: not found in version %s\n", name, version);
	if (plain != versioned)
		printf("%s: two different functions\n", name);
	return plain == NULL || plain != versioned;
}

static int look_up_all(void *library, const char *const *names, const char *version)
{
	int wrong = 0;
	unsigned count;

	for (count = 0; names[count] != NULL; count++)
		wrong += look_up(library, names[count], version);
	printf("%u functions of %s, %d wrong\n", count, version, wrong);
	return wrong;
}

static void *load(const char *name)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		printf("%s\n", dlerror());
		exit(EXIT_FAILURE);
	}
	return library;
}

int main(void)
{
	void *scif = load("libscif.so.0");
	void *rsm = load("librsm.so.2");
	int wrong = look_up_all(scif, scif_functions, "SCIF_0.0");

	wrong += look_up(scif, "scif_event_register", "SCIF_EVENT_1.0");
	if (dlsym(scif, "scif_get_fd") != NULL) {
		printf("scif_get_fd is exported, the real library has it inline only\n");
		wrong++;
	}
	wrong += look_up_all(rsm, rsm_functions, "SUNWprivate_1.1");
	dlclose(rsm);
	dlclose(scif);
	return wrong != 0;
}
