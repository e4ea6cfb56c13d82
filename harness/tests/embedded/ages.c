/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ages by the processor's counter against the kernel's clock, before and after its rate was
 * measured. However long this process is kept waiting, the clock was read on both sides of each
 * look, so what the look must say is known.
 */
#include "age.h"

#include <stdio.h>
#include <time.h>

#include "wait.h"

enum { MS = 1000000 };

uint64_t wait_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

/* Looks until `ns` have passed for sure. A look that must be right and is not: 1. */
static int look(uint64_t ns, uint64_t slowest, uint64_t fastest)
{
	uint64_t before = wait_now(), since = age_now(), after = wait_now();
	uint64_t least, most;
	bool old;

	do {
		least = wait_now() - after;
		old = age_exceeds(since, ns);
		most = wait_now() - before;
		if (old && most < ns / fastest) {
			printf("%lu ns are older than %lu ns\n", (unsigned long)most,
			       (unsigned long)ns);
			return 1;
		}
		if (!old && least > ns * slowest) {
			printf("%lu ns are not older than %lu ns\n", (unsigned long)least,
			       (unsigned long)ns);
			return 1;
		}
	} while (most < ns * slowest + ns);
	return 0;
}

int main(void)
{
	/* Before it is measured a counter is taken for one of 1 GHz; none counts 16 times as fast.
	 */
	int wrong = look(MS, 2, 16);
	uint64_t begin = wait_now();

	age_measure();
	while (wait_now() - begin < 20 * MS)
		age_measure();
	wrong += look(5 * MS, 2, 2);
	if (!age_exceeds(age_now() + MS, MS)) {
		puts("the future is not old");
		wrong++;
	}
	return wrong != 0;
}
