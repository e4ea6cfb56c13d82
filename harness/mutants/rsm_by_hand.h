/* SPDX-License-Identifier: BSD-2-Clause */
/* The mutants of librsm that were written by hand; by_hand.tsv says what each gets wrong. */
#ifndef CTS_MUTANTS_RSM_BY_HAND_H
#define CTS_MUTANTS_RSM_BY_HAND_H

#include "mutant.h"

extern const struct mutation rsm_by_hand[] __attribute__((visibility("hidden")));
extern const size_t rsm_by_hand_count __attribute__((visibility("hidden")));
/* Notes the calls of the wrapped library before one of them is replaced. */
void rsm_by_hand_prepare(void) __attribute__((visibility("hidden")));

#endif
