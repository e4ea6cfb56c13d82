/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads which mutant a library is. */
#include "mutant.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mutant mutant;

_Noreturn void mutant_unknown(const char *name)
{
	fprintf(stderr, "CTS_MUTANT: there is no mutant %s\n", name);
	_exit(99);
}

/* FUNCTION:ERROR,...[:OTHER][@N] */
static void read_generated(const char *setting)
{
	const char *colon = strchr(setting, ':');
	size_t count = 0;
	char *at;

	if (colon - setting >= (ptrdiff_t)sizeof(mutant.function))
		mutant_unknown(setting);
	memcpy(mutant.function, setting, colon - setting);
	for (at = (char *)colon; count < MUTANT_ERRORS && (at == colon || *at == ','); count++)
		mutant.errors[count] = (int)strtol(at + 1, &at, 10);
	if (*at == ':')
		mutant.replacement = (int)strtol(at + 1, &at, 10);
	if (*at == '@')
		mutant.spared = (int)strtol(at + 1, &at, 10);
	if (*at || !mutant.errors[0])
		mutant_unknown(setting);
}

bool mutant_is_of(int error)
{
	size_t i;

	for (i = 0; i < MUTANT_ERRORS && mutant.errors[i]; i++) {
		if (mutant.errors[i] == error)
			return true;
	}
	return false;
}

bool mutant_strikes(int error)
{
	static atomic_int times;

	return mutant_is_of(error) && atomic_fetch_add(&times, 1) >= mutant.spared;
}

void mutant_read(void)
{
	const char *setting = getenv("CTS_MUTANT");

	if (!setting)
		setting = "none";
	if (!strchr(setting, ':')) {
		mutant.name = setting;
		return;
	}
	read_generated(setting);
}

bool mutant_install(const struct mutation *mutations, size_t count)
{
	size_t i;

	if (strcmp(mutant.name, "none") == 0)
		return true;
	for (i = 0; i < count; i++) {
		if (strcmp(mutations[i].name, mutant.name) == 0) {
			mutations[i].install();
			return true;
		}
	}
	return false;
}
