/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many system calls a thread makes, by number.
 */
#ifndef RSM_TESTS_COUNT_CALLS_H
#define RSM_TESTS_COUNT_CALLS_H

enum { CALL_NUMBERS = 512 };

extern volatile unsigned long calls_made[CALL_NUMBERS], calls_made_in_all;

/* For this thread; threads that the library has already are left alone. 0 or -errno: no filter. */
int count_calls_from_now_on(void);

#endif
