/* SPDX-License-Identifier: BSD-2-Clause */
/* A libscif that is right but for the one mutant that CTS_MUTANT names. */
#include "mutant.h"
#include "scif_by_hand.h"
#include "scif_generated.h"

void wrapped_found(void)
{
	mutant_read();
	if (!mutant.name)
		scif_generated_install();
	else if (!mutant_install(scif_by_hand, scif_by_hand_count) &&
		 !mutant_install(scif_memory_by_hand, scif_memory_by_hand_count))
		mutant_unknown(mutant.name);
}
