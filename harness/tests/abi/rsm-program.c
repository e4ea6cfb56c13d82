/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that uses every function of the real librsm.  It ends with 0 on a library that has the
 * controller of the own node and with 3 on the stand-in of abi-start.sh that it was linked against.
 */
#include <stdio.h>

#include "rsmapi.h"

typedef void any_function(void);

#define FUNCTION(name, result, parameters) (any_function *)name,
static any_function *const functions[] = {
#include "rsm-functions.def"
};

int main(void)
{
	const unsigned count = sizeof(functions) / sizeof(functions[0]);
	rsmapi_controller_handle_t controller;
	char name[] = "loopback";
	int error = rsm_get_controller(name, &controller);
	unsigned i;

	for (i = 0; i < count; i++)
		if (functions[i] == NULL)
			return 1;
	if (error == -77)
		return 3;
	printf("%u functions, rsm_get_controller: %d\n", count, error);
	return error == RSM_SUCCESS && rsm_release_controller(controller) == RSM_SUCCESS ? 0 : 2;
}
