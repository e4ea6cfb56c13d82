/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the process one of the fabric.
 */
#include "embedded.h"
#include "family.h"
#include "fork.h"
#include "node.h"
#include "process.h"
#include "safe_copy.h"
#include "wait.h"

int embedded_prepare(void)
{
	int error = node_init();

	if (error == 0)
		error = family_init();
	if (error == 0)
		error = mem_fork_init();
	if (error == 0)
		error = process_init();
	if (error == 0)
		error = wait_init();
	safe_copy_install();
	return error;
}
