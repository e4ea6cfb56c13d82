/* SPDX-License-Identifier: BSD-2-Clause */
/* The mutants of libscif that are made of a function and an error. */
#ifndef CTS_MUTANTS_SCIF_GENERATED_H
#define CTS_MUTANTS_SCIF_GENERATED_H

#include "wrapped.h"

/* Replaces the call of the mutant in the table of calls. */
void scif_generated_install(void) __attribute__((visibility("hidden")));

#endif
