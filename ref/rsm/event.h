/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The signals that a segment has received and nobody has taken yet: a counter, and a pipe that
 * holds one byte as long as the counter is not zero, for those who poll(2).
 */
#ifndef RSM_EVENT_H
#define RSM_EVENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct event_queue {
	pthread_mutex_t lock; /* never held while sleeping */
	uint64_t pending;
	bool closed;
	_Atomic uint32_t news; /* grows with every post and with the close; what waiters sleep on */
	int read_end, write_end;
};

/* 0, -EMFILE (also for -ENFILE) or -ENOMEM. */
int event_queue_init(struct event_queue *q);
void event_queue_free(struct event_queue *q);

/* Any thread, never blocks. Without `accumulate` nothing happens if a signal is pending. */
void event_post(struct event_queue *q, uint64_t count, bool accumulate);

/* Takes one signal if there is one. */
bool event_take(struct event_queue *q);

/*
 * Takes one signal, waits for it if need be: 0, RSMERR_TIMEOUT, RSMERR_INTERRUPTED, or
 * RSMERR_BAD_SEG_HNDL once the queue was closed.
 */
int event_wait(struct event_queue *q, int timeout_ms);

/* Ends all waits, present and future. */
void event_queue_close(struct event_queue *q);

/*
 * In a forked child: a pipe of its own behind the same descriptor numbers, nothing pending. Should
 * no pipe be had, the numbers become free and only polling does not work.
 */
void event_queue_atfork_child(struct event_queue *q);

#endif
