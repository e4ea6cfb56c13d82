/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a measurement is: one operation, at several sizes, done by several subjects.  A subject is
 * a way to do it, one of the libraries under measurement or a peer, and has a process of its own
 * (the driver, which keeps the time) and most have a second one (the partner), each pinned to a
 * CPU. All subjects of a measurement are set up at once and take turns, so that what disturbs one
 * repetition disturbs its neighbours.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MOST_SAMPLES = 4096, MOST_SIZES = 16, MOST_SUBJECTS = 16, TEXT_LENGTH = 512 };

/* A page and more that coordinator, driver and partner of a subject share. */
struct board {
	/* Where the sides meet without the kernel; each on a cache line of its own. */
	_Alignas(64) _Atomic uint64_t stamp;
	_Alignas(64) _Atomic uint32_t to_partner;
	_Alignas(64) _Atomic uint32_t to_driver;
	/* Set before the last message of a repetition. */
	_Alignas(64) _Atomic bool is_last;
	_Alignas(64) unsigned taken;
	double times[MOST_SAMPLES]; /* nanoseconds for one operation */
	char command[TEXT_LENGTH];  /* what was run, for a peer that is a program */
	char failure[TEXT_LENGTH];
};

/*
 * How often the operation is done: in each of SAMPLES spans of time BATCH times.  On a busy machine
 * there are fewer samples, since a repetition has its time.
 */
struct effort {
	unsigned samples, batch;
};

/* A subject as one of its two processes sees it. */
struct pair {
	const struct subject *subject;
	struct board *board;
	int talk;	/* to the other side */
	pid_t partner;	/* 0: this is the partner */
	int cpu[2];	/* the driver's and the partner's; -1: anywhere */
	size_t largest; /* of all sizes to come */
	size_t shift;	/* of addresses that are not to be aligned; less than a page */
	unsigned connections;
	size_t size;
	struct effort effort;
};

/* One side of a subject: BEGIN once, REPEAT for each repetition, or ONCE for each operation of it.
 */
struct side {
	void (*begin)(struct pair *pair);
	void (*repeat)(struct pair *pair);
	void (*once)(struct pair *pair);
};

struct subject {
	const char *name;
	bool is_peer;
	struct side driver, partner;
	/* NULL: it is there; otherwise why it is not. */
	const char *(*absent)(void);
	size_t largest;	 /* larger sizes are left out; 0: none */
	const void *way; /* what its sides do it with, where several subjects share them */
};

enum size_kind { SIZE_BYTES, SIZE_COUNT };

struct measurement {
	const char *name, *title;
	enum size_kind kind;
	size_t sizes[MOST_SIZES]; /* ascending, up to 0 */
	struct effort (*effort)(size_t size);
	size_t shift;
	unsigned connections;
	bool needs_two_cpus;
	const struct subject *const *subjects; /* up to NULL; ours come first */
};

extern const struct measurement *const measurements[]; /* up to NULL */

/* "64 KiB", or the number. */
const char *bench_size_text(char text[24], enum size_kind kind, size_t size);

/* Ends this subject: both sides; WHAT and errno are what is told. */
void bench_fail(const struct pair *pair, const char *what) __attribute__((noreturn));
void bench_must(const struct pair *pair, bool is_right, const char *what);

/* Values between the two sides of a subject, for setting up. */
void pair_tell(const struct pair *pair, const void *value, size_t length);
void pair_hear(const struct pair *pair, void *value, size_t length);

/* Waits until the partner sleeps in the kernel. */
void pair_await_sleep(const struct pair *pair);

/* Touched memory in pages of the usual size: what is private would otherwise have larger ones. */
void *bench_pages(const struct pair *pair, size_t length);
void *bench_shared_pages(const struct pair *pair, size_t length);

#endif
