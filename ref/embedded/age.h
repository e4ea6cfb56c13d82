/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long ago something was, by the cheapest clock there is: every transfer asks that. On x86 the
 * processor's counter is read, where it counts at one rate in every state of the processor. Its
 * rate is measured against the kernel's clock while answers of the kernel come in; until then the
 * counter is taken for a slow one, so things look older than they are.
 */
#ifndef EMBEDDED_AGE_H
#define EMBEDDED_AGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Shift of the rate: ticks in 1,024 ns. */
enum { AGE_SHIFT = 10 };

enum age_clock { AGE_UNKNOWN, AGE_COUNTER, AGE_KERNEL };

extern _Atomic int age_clock __attribute__((visibility("hidden")));
extern _Atomic uint64_t age_rate __attribute__((visibility("hidden")));

uint64_t age_now_by_kernel(void);

/* The present in ticks, which mean something to age_exceeds alone. */
static inline uint64_t age_now(void)
{
#if defined(__x86_64__)
	if (atomic_load_explicit(&age_clock, memory_order_relaxed) == AGE_COUNTER)
		return __rdtsc();
#endif
	return age_now_by_kernel();
}

/* What lies in the future, by another processor's counter or a new one, is old. */
static inline bool age_exceeds(uint64_t since, uint64_t ns)
{
	uint64_t rate = atomic_load_explicit(&age_rate, memory_order_relaxed);

	return age_now() - since > (ns * rate) >> AGE_SHIFT;
}

/* To be called now and then by whoever has asked the kernel anyway. */
void age_measure(void);

#endif
