/* SPDX-License-Identifier: BSD-2-Clause */
/* What the test runtime would have of the mini API. */
#ifndef CTS_MINI_H
#define CTS_MINI_H

#include "cts.h"
#include "mini.h"

extern const struct cts_api cts_api_mini;

mini_epd_t cts_fx_closed(void);
mini_epd_t cts_fx_unbound(void);
mini_epd_t cts_fx_bound_to(int port);
struct mini_id cts_fx_offered(void);

#endif
