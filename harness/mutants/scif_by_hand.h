/* SPDX-License-Identifier: BSD-2-Clause */
/* The mutants of libscif that were written by hand; by_hand.tsv says what each gets wrong. */
#ifndef CTS_MUTANTS_SCIF_BY_HAND_H
#define CTS_MUTANTS_SCIF_BY_HAND_H

#include "mutant.h"

/* For the same: puts a function in the place of a call, which it reaches through `real`. */
#define SCIF_INSTALLER(name, member, function)                                                     \
	static void install_##function(void)                                                       \
	{                                                                                          \
		real = wrapped;                                                                    \
		wrapped.member = function;                                                         \
	}

extern const struct mutation scif_by_hand[] __attribute__((visibility("hidden")));
extern const size_t scif_by_hand_count __attribute__((visibility("hidden")));
extern const struct mutation scif_memory_by_hand[] __attribute__((visibility("hidden")));
extern const size_t scif_memory_by_hand_count __attribute__((visibility("hidden")));

#endif
