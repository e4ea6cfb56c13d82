/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that a library of each API offers, NULL-terminated. */
#ifndef CTS_FUNCTIONS_H
#define CTS_FUNCTIONS_H

extern const char *const scif_functions[];
extern const char *const rsm_functions[];

#endif
