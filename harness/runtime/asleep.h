/* SPDX-License-Identifier: BSD-2-Clause */
/* Knowing that a thread of this process sleeps in the kernel, which is how a test knows that it
 * blocks. */
#ifndef CTS_ASLEEP_H
#define CTS_ASLEEP_H

#include <stdbool.h>
#include <sys/types.h>

int asleep_open(pid_t tid); /* a descriptor to ask through; -1 and errno */
bool asleep_now(int fd);    /* sleeping, twice in a row */
void asleep_pace(void);	    /* between two questions: lets the others run */

#endif
