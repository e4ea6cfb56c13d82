/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instants at which a process that dies leaves shared state half changed: inside every lock that processes share, and
 * between the steps of every change that others can see. Nothing in the library; in the program of harness/tests/soak
 * that has FAULT_POINTS defined, where one may be killed.
 */
#ifndef SCIF_EMBEDDED_FAULT_POINT_H
#define SCIF_EMBEDDED_FAULT_POINT_H

#ifdef FAULT_POINTS
void fault_point(const char *name);
#define FAULT_POINT(name) fault_point(name)
#else
#define FAULT_POINT(name) ((void)0)
#endif

#endif
