/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that came from one another by fork and may share endpoints.
 */
#ifndef SCIF_EMBEDDED_FAMILY_H
#define SCIF_EMBEDDED_FAMILY_H

#include <stdbool.h>
#include <sys/types.h>

/* 0 or -ENOMEM. */
int family_init(void);

/*
 * Whether another process of the family has this socket under this number; true
 * when that cannot be told. A child that called exec, closed it or died has not.
 */
bool family_holds(int number, ino_t inode);

void family_atfork_prepare(void);
void family_atfork_child(void);

#endif
