/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fork does to registered memory: the child gets private copies of it, neither sees the
 * other's later stores, and the child has no mapping of remote windows.
 */
#ifndef SCIF_EMBEDDED_FORK_H
#define SCIF_EMBEDDED_FORK_H

/*
 * Installs the handlers once per process image. They call, around the memory part:
 * ep_atfork_prepare(), ep_atfork_parent(), ep_atfork_child() of endpoint.h.
 */
int mem_fork_init(void);

#endif
