/* SPDX-License-Identifier: BSD-2-Clause */
/* Error numbers by name, so that two machines with different numbers understand each other. */
#ifndef CTS_ERRNAME_H
#define CTS_ERRNAME_H

const char *cts_errname(int err);    /* "EBADF"; "0" for 0; "E?" when it has no name */
int cts_errnumber(const char *name); /* 0 when there is no such name */

#endif
