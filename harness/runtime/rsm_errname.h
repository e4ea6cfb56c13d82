/* SPDX-License-Identifier: BSD-2-Clause */
/* Error codes of RSMAPI by name. */
#ifndef CTS_RSM_ERRNAME_H
#define CTS_RSM_ERRNAME_H

/* "RSMERR_BAD_LENGTH", "RSM_SUCCESS"; a code without a name as a number, valid until the next. */
const char *rsm_errname(int code);
int rsm_errnumber(const char *name); /* 0: no such name */

#endif
