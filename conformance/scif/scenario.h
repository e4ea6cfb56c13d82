/* SPDX-License-Identifier: BSD-2-Clause */
/* What the hand-written scenarios share: their declaration, and names that every one of them would
 * repeat. */
#ifndef CTS_SCENARIO_H
#define CTS_SCENARIO_H

#include "cts_scif.h"

/* Declares and begins the scenario that clauses name NAME. */
#define SCENARIO(name)                                                                             \
	void cts_scenario_##name(void);                                                            \
	void cts_scenario_##name(void)

#define READ_WRITE (SCIF_PROT_READ | SCIF_PROT_WRITE)
#define SELF_BOTH  (SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_LOCAL | SCIF_SIGNAL_REMOTE)

#endif
