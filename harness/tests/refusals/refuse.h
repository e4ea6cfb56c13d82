/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of a library when the kernel refuses it something: a life of the library runs in a process of its
 * own again and again, and each time another one of its system calls fails. The kernel asks the test process
 * about each call (seccomp's notification), so nothing stands between the library and the C library.
 *
 * A life has two rounds. In the first one a call of the library may fail, with an error that is documented for it;
 * in the second one nothing is refused and everything has to work.
 */
#ifndef REFUSE_H
#define REFUSE_H

#include <stdbool.h>

struct refuse_life {
	const char *name;
	int most; /* so many calls are refused one by one */
	/* In the test process of the life, before anything is refused: starts the other party. */
	void (*prepare)(void);
	/* False where something failed, which it tells with refuse_say() if it must not. */
	bool (*round)(bool may_fail);
	/* In the test process, after its end however it came. */
	void (*clean_up)(void);
};

/* Runs all and prints TAP; the exit status of the program. */
int refuse_all(const struct refuse_life *lives, int count);

/*
 * For prepare and clean_up: another party on node 1 of a fabric of its own, where this process is
 * node 0, which does ROUND over and over until it is ended.
 */
void refuse_start_party(void (*round)(void));
void refuse_end_party(void);

/* What must not have been, from inside a life. */
void refuse_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
