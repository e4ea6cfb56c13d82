/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which clock ages are read from, and how fast it runs.
 */
#include "age.h"

#include "wait.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* A counter of 1 GHz, or the kernel's clock. */
#define SLOW_RATE (1u << AGE_SHIFT)
/* Over this long the reading of two clocks one after the other is no error of any weight. */
#define MEASURED_NS 10000000ull
/* A counter that moved less or more in that time was set by somebody. */
#define FASTEST_RATE (16ull << AGE_SHIFT)

_Atomic int age_clock = AGE_UNKNOWN;
_Atomic uint64_t age_rate = SLOW_RATE;

static bool counter_is_steady(void)
{
#if defined(__x86_64__)
	const unsigned POWER = 0x80000007, INVARIANT = 1u << 8;
	unsigned a, b, c, d;

	return __get_cpuid(POWER, &a, &b, &c, &d) && (d & INVARIANT);
#else
	return false;
#endif
}

uint64_t age_now_by_kernel(void)
{
	if (atomic_load_explicit(&age_clock, memory_order_relaxed) == AGE_UNKNOWN) {
		atomic_store(&age_clock, counter_is_steady() ? AGE_COUNTER : AGE_KERNEL);
		return age_now();
	}
	return wait_now();
}

void age_measure(void)
{
	static _Atomic uint64_t first_ns, first_tick;
	static _Atomic bool measured;
	uint64_t none = 0, tick, ns, rate;

	if (atomic_load_explicit(&measured, memory_order_relaxed) ||
	    atomic_load_explicit(&age_clock, memory_order_relaxed) != AGE_COUNTER)
		return;
	ns = wait_now();
	tick = age_now();
	if (!atomic_load(&first_tick)) {
		if (atomic_compare_exchange_strong(&first_ns, &none, ns))
			atomic_store(&first_tick, tick);
		return;
	}
	ns -= atomic_load(&first_ns);
	if (ns < MEASURED_NS)
		return;
	rate = (tick - atomic_load(&first_tick)) / (ns >> AGE_SHIFT);
	if (rate > SLOW_RATE && rate < FASTEST_RATE)
		atomic_store(&age_rate, rate);
	atomic_store(&measured, true);
}
