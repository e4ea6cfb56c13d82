/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process has of the machine. */
#ifndef SOAK_HOLDING_H
#define SOAK_HOLDING_H

#include "board.h"

void holding_measure(struct holding *h);

/* What has become more than it may by chance; NULL: nothing. */
const char *holding_grown(const struct holding *from, const struct holding *to);

#endif
