/* SPDX-License-Identifier: BSD-2-Clause */
#include "patience.h"

#include <unistd.h>

#include "wait.h"

/* After so many waits in vain, each half as long as the last, this many are skipped. */
enum { SPENT_MAX = 6, SKIPPED = 100 };
/* Looks between two looks at the clock. */
enum { LOOKS = 16 };

static bool alone(void)
{
	static _Atomic long processors;
	long n = atomic_load_explicit(&processors, memory_order_relaxed);

	if (n == 0) {
		n = sysconf(_SC_NPROCESSORS_ONLN);
		atomic_store_explicit(&processors, n, memory_order_relaxed);
	}
	return n == 1;
}

static void breathe(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static bool moved(const _Atomic uint32_t *count, uint32_t seen, uint32_t least)
{
	return atomic_load_explicit(count, memory_order_acquire) - seen >= least;
}

static bool moves(const _Atomic uint32_t *count, uint32_t seen, uint32_t least, uint64_t ns,
		  const _Atomic bool *stop)
{
	uint64_t limit = wait_now() + ns;

	do {
		for (int i = 0; i < LOOKS; i++) {
			if (moved(count, seen, least))
				return true;
			breathe();
		}
	} while (!atomic_load(stop) && wait_now() < limit);
	return moved(count, seen, 1);
}

bool patience_wait(struct patience *p, const _Atomic uint32_t *count, uint32_t seen, uint32_t least,
		   uint32_t longest, const _Atomic bool *stop)
{
	if (p->skipping > 0) {
		p->skipping--;
		return false;
	}
	if (!alone() && moves(count, seen, least, longest >> p->spent, stop)) {
		p->spent -= p->spent > 0;
		return true;
	}
	if (++p->spent > SPENT_MAX)
		/* The next try is a long one: the other side may need as long to wake up. */
		*p = (struct patience){.skipping = SKIPPED};
	return false;
}
