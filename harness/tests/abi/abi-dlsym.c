/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Old and new ways to find the functions at run time: dlsym without a version and dlvsym with the
 * real library's version give the same address for all 21.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "scif.h"

#define FUNCTION(name, result, parameters) #name,
static const char *const functions[] = {
#include "functions.def"
};

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

int main(void)
{
	const size_t count = sizeof(functions) / sizeof(functions[0]);
	void *library = dlopen("libscif.so.0", RTLD_NOW | RTLD_LOCAL);
	int wrong = 0;

	if (library == NULL) {
		printf("%s\n", dlerror());
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < count; i++)
		wrong += look_up(library, functions[i], "SCIF_0.0");
	wrong += look_up(library, "scif_event_register", "SCIF_EVENT_1.0");
	if (dlsym(library, "scif_get_fd") != NULL) {
		printf("scif_get_fd is exported, the real library has it inline only\n");
		wrong++;
	}
	printf("%zu functions, %d wrong\n", count, wrong);
	dlclose(library);
	return wrong != 0;
}
