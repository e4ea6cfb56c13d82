/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests of the embedded provider begin with. A step that fails ends the process with BROKEN:
 * the set-up broke.
 */
#ifndef EMBEDDED_TESTS_ENDS_H
#define EMBEDDED_TESTS_ENDS_H

#include <scif.h>
#include <stdint.h>
#include <sys/types.h>

enum { BROKEN = 99 };

/* A negative result breaks it. */
void must(intptr_t result, const char *what);

/* Both ends of a connection, in this process; the one that connected does not block. */
void connect_ends(scif_epd_t *connected, scif_epd_t *accepted);

/* Waits for the end of a child: its status, or the number of the signal that ended it, negative. */
int ended_as(pid_t pid);

/* From here on the process gets so many more bytes of addresses. */
void leave_memory(long bytes);

#endif
