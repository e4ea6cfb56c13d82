/* SPDX-License-Identifier: BSD-2-Clause */
/* A librsm that is right but for the one mutant that CTS_MUTANT names. */
#include "mutant.h"
#include "rsm_by_hand.h"
#include "rsm_generated.h"

void wrapped_found(void)
{
	mutant_read();
	if (!mutant.name) {
		rsm_generated_install();
		return;
	}
	rsm_by_hand_prepare();
	if (!mutant_install(rsm_by_hand, rsm_by_hand_count))
		mutant_unknown(mutant.name);
}
