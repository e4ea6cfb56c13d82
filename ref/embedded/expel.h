/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ending the processes of a node, as the reset of a card does.
 */
#ifndef EMBEDDED_EXPEL_H
#define EMBEDDED_EXPEL_H

#include <stdint.h>
#include <sys/types.h>

struct expelled {
	unsigned count; /* processes that were ended */
	pid_t stuck;	/* on failure: the process that could not be, 0 when it is not visible */
};

/* 0 when the caller may end every process of the node as it is now, -EPERM or another negative
 * errno when not. */
int expel_permitted(const char *fabric, uint16_t node);

/*
 * Kills every process that holds a process name of the node and waits until they are gone; 0,
 * -EPERM, -ETIMEDOUT or another negative errno.
 */
int expel(const char *fabric, uint16_t node, struct expelled *result);

#endif
