/* SPDX-License-Identifier: BSD-2-Clause */
/* Time that only goes forward. */
#ifndef CTS_RUNNER_CLOCK_H
#define CTS_RUNNER_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds. */
static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline double clock_ms(void)
{
	return (double)clock_ns() / 1e6;
}

#endif
