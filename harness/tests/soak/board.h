/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the director of a soak and its workers tell each other, in memory that they share. A worker has a slot, which
 * stands for its node, port and segment ids; who takes a dead one's place gets the slot, with the number of a life
 * that nobody had before.
 */
#ifndef SOAK_BOARD_H
#define SOAK_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { NODES = 2, SLOTS_OF_NODE = 3, SLOTS = NODES * SLOTS_OF_NODE };
enum { LIVES = 1024, AREAS = 2 };
/* Where a life's words are in each page of a segment: none that lives has the place of another. */
enum { PLACE = 32, PLACES_OF_SLOT = 21 };
enum { FIRST_PORT = 2000, FIRST_SEGMENT = 0x400100, FIRST_CHURN = 0x400200 };

enum part { CLIENT, SERVER, PARTS };

/* What has been acknowledged to a worker by the calls that it made on the server of one slot. */
struct account {
	_Atomic uint64_t streamed;	/* bytes whose scif_send has returned */
	_Atomic uint32_t window[AREAS]; /* the pattern that a fence has followed; 0: none, or being written */
	_Atomic uint32_t segment[AREAS];
	_Atomic uint32_t exporter; /* the server's life that has the segment */
};

/* What a process has when it is connected to nobody. */
struct holding {
	long descriptors, mappings, heap, resident;
};

struct slot {
	_Atomic pid_t pid;
	_Atomic uint32_t life; /* 0: nobody lives here */
	uint32_t lives;	       /* that it has had */
	_Atomic uint32_t doomed; /* the life that is about to be ended or stopped */
	_Atomic uint32_t ready;	 /* the life whose port and segments are there */
	_Atomic uint64_t steps[PARTS];
	const char *_Atomic doing[PARTS];
	_Atomic uint32_t rested; /* the last pause that it has come to rest for; 0: it shall measure again */
	struct holding holding;	 /* then */
};

struct board {
	struct slot slot[SLOTS];
	struct account account[LIVES][SLOTS];
	uint32_t place[LIVES];
	_Atomic uint32_t pause; /* its number; 0: work goes on */
	_Atomic int prey; /* the slot that something is about to happen to */
	_Atomic bool over;
	_Atomic bool complained;
	char complaint[500];
	uint64_t seed;
};

extern struct board *board;

static inline int slot_node(int slot)
{
	return slot / SLOTS_OF_NODE;
}

static inline struct account *account_of(uint32_t life, int server)
{
	return &board->account[life % LIVES][server];
}

static inline size_t place_of(uint32_t life)
{
	return board->place[life % LIVES];
}

/* Whether that life of a slot may be over, or is about to end: then a call may fail on its account. */
static inline bool may_be_gone(int slot, uint32_t life)
{
	const struct slot *s = &board->slot[slot];

	return atomic_load(&s->life) != life || atomic_load(&s->doomed) == life;
}

/* The first one counts. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Numbers that follow from the seed, and from who asks. */
struct dice {
	uint64_t state;
};
struct dice dice_for(uint64_t seed, uint32_t life, int part);
uint32_t dice_throw(struct dice *dice, uint32_t sides); /* 0 to sides - 1 */

/* In a new process: lives as the life of the slot until the soak is over. */
_Noreturn void worker_live(int slot, uint32_t life);

#endif
