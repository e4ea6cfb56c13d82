/* SPDX-License-Identifier: BSD-2-Clause */
/* What the libraries share that give every call the same answer. */
#ifndef CTS_PLAIN_CALLS_H
#define CTS_PLAIN_CALLS_H

#include "scif.h"
#include "scif_event.h"

/* Of every call of plain_calls.c. */
__attribute__((visibility("hidden"))) int plain_answer(void);

#endif
