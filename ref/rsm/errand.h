/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errands: what may take long, because much memory is registered or because a peer can hold it up,
 * is done in a thread of its own, so that the service thread never waits. When one is held up,
 * another thread goes on with those that wait behind it.
 */
#ifndef RSM_ERRAND_H
#define RSM_ERRAND_H

#include <stdbool.h>
#include <stdint.h>

struct errand {
	void (*run)(struct errand *e); /* lock NOT held */
	/* A peer can make it last as long as it likes: such errands never have all the threads. */
	bool peer_may_hold;
	struct errand *next;	       /* private */
	struct errand *next_allocated; /* private */
};

/* Lock held. 0, or -EAGAIN: there is no thread to be had, and the errand is the caller's again. */
int errand_send(struct errand *e);

/*
 * Lock held. The same for an errand at the start of a block from malloc(), which errand_free() ends
 * when it has run, lock held; a forked child, which has no thread that would, frees it by itself.
 */
int errand_send_allocated(struct errand *e);
void errand_free(struct errand *e);

/*
 * Lock held; for the service thread. When to look whether errands wait behind one that is held up
 * (UINT64_MAX: never), and to do so.
 */
uint64_t errands_deadline(void);
void errands_look(void);

/* The service begins, and ends: lock held, dropped meanwhile. An errand that is held up goes on. */
void errands_open(void);
void errands_close(void);

/* In a forked child: neither threads nor errands are left. */
void errands_atfork_child(void);

#endif
