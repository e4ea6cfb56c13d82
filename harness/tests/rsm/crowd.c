/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What it costs to leave does not grow with the number of imports of the process that stay: the
 * first of many to be disconnected makes no more system calls than the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count_calls.h"
#include "pair.h"

enum { IMPORTS = 224, SAMPLE = 16, SIZE = 8192, SKIPPED = 77 };

static unsigned long disconnect(rsm_memseg_import_handle_t *imports, int count)
{
	unsigned long before = calls_made_in_all;

	for (int i = 0; i < count; i++)
		pair_must(rsm_memseg_import_disconnect(imports[i]), "disconnect");
	return calls_made_in_all - before;
}

int main(void)
{
	rsm_memseg_import_handle_t imports[IMPORTS];
	unsigned long first, last;
	struct pair pair;
	int error;

	pair_begin(&pair, SIZE);
	pair_connect(&pair);
	for (int i = 0; i < IMPORTS; i++)
		pair_must(rsm_memseg_import_connect(pair.controller, 1, pair.id, RSM_PERM_RDWR,
						    &imports[i]),
			  "connect");
	error = count_calls_from_now_on();
	if (error != 0) {
		printf("system calls cannot be counted here: %s\n", strerror(-error));
		pair_end(&pair);
		return SKIPPED;
	}
	first = disconnect(imports, SAMPLE);
	disconnect(imports + SAMPLE, IMPORTS - 2 * SAMPLE);
	last = disconnect(imports + IMPORTS - SAMPLE, SAMPLE);
	pair_end(&pair);
	printf("%d of %d imports left with %lu system calls, the last %d with %lu\n", SAMPLE,
	       IMPORTS, first, SAMPLE, last);
	/* Threads that meet may make one wait for the other. */
	return first > last + last / 2 ? EXIT_FAILURE : EXIT_SUCCESS;
}
