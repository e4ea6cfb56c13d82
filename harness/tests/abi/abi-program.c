/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that uses every function of the real library.  It ends with 0 on a library that knows
 * its nodes and with 3 on the stand-in of abi-start.sh that it was linked against.
 */
#include <stdio.h>

#include "scif.h"

typedef void any_function(void);

#define FUNCTION(name, result, parameters) (any_function *)name,
static any_function *const functions[] = {
#include "functions.def"
};

int main(void)
{
	const unsigned count = sizeof(functions) / sizeof(functions[0]);
	uint16_t self = 0;
	int online = scif_get_nodeIDs(NULL, 0, &self);
	unsigned i;

	for (i = 0; i < count; i++)
		if (functions[i] == NULL)
			return 1;
	if (online == -77)
		return 3;
	printf("%u functions, %d nodes, self %u\n", count, online, self);
	return online < 1 ? 2 : 0;
}
