/* SPDX-License-Identifier: BSD-2-Clause */
/* Registered memory of this process counted against RLIMIT_MEMLOCK, as pinned pages are. */
#ifndef SCIF_EMBEDDED_QUOTA_H
#define SCIF_EMBEDDED_QUOTA_H

#include <stdint.h>

/* -EAGAIN when the limit does not allow so many pages more. */
int quota_take(uint64_t pages);
void quota_return(uint64_t pages);
void quota_atfork_child(void);

#endif
