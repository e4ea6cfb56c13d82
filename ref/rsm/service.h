/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library lock and the service thread. The lock guards all control state; transfers and
 * barriers do not take it. The thread answers importers and exporters while the program computes;
 * it runs while something is published or imported, blocks every signal that is not a fault of its
 * own, and never waits for a peer.
 */
#ifndef RSM_SERVICE_H
#define RSM_SERVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "segment.h"

/* Not recursive. Callbacks of channels and watches run with it held. */
void service_lock(void);
bool service_lock_until(uint64_t deadline_ns); /* false: it was not to be had */

void service_unlock(void);

/*
 * Counted use of the thread, lock held: it runs from the first use to the last release. service_use
 * returns 0, -ENOMEM, -EMFILE (-ENFILE) or -EAGAIN (no thread to be had). Both may drop the lock
 * for a moment while they wait for the thread to end, so look at your state again; neither may be
 * called in a callback.
 */
int service_use(void);
void service_release(void);

/* A thread like the service thread, with the signals blocked. 0 or -EAGAIN. */
int service_spawn(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* Lock held: the thread looks at its deadlines anew. */
void service_wake_thread(void);

/* Lock held: wakes every service_wait(). Whoever changes state that is waited for calls it. */
void service_changed(void);

/*
 * Lock held on entry and on return, not between: 0 something changed (look at the condition
 * again), -ETIMEDOUT, -EINTR (only if interruptible; also for handlers with SA_RESTART). A
 * deadline of UINT64_MAX never comes. Not for callbacks.
 */
int service_wait(uint64_t deadline_ns, bool interruptible);

uint64_t service_now(void); /* CLOCK_MONOTONIC in ns */
struct timespec service_timespec(uint64_t ns);

/* When a wait of so many milliseconds ends; UINT64_MAX, never, for a negative one. */
uint64_t service_deadline(int timeout_ms);

/*
 * What service_wait() and the queues of signals are made of; no lock. service_sleep sleeps while
 * the word is as seen: 0 or -EAGAIN (look again), -ETIMEDOUT (perhaps before a far deadline),
 * -EINTR (also for handlers with SA_RESTART). service_wake changes the word and wakes all who sleep
 * on it.
 */
int service_sleep(_Atomic uint32_t *word, uint32_t seen, uint64_t deadline_ns);
void service_wake(_Atomic uint32_t *word);

/* How long a peer that does not answer is waited for. */
#define SERVICE_PATIENCE_NS 5000000000ull

/*
 * Grows by one in each forked child: what was made under another number is the parent's.
 */
unsigned service_family(void);

/* --- descriptors the thread looks after; channel.c and rendezvous.c --- */

/*
 * `ready` runs in the thread with the lock held, with the epoll bits that are there. `due` (may be
 * NULL) runs when `deadline` (0: none) has passed; it has to set a new one.
 */
struct watch {
	int fd;
	uint64_t deadline;
	void (*ready)(struct watch *w, uint32_t bits);
	void (*due)(struct watch *w);
	/* private */
	struct watch *next, *prev;
	uint32_t slot, events;
	bool armed;
};

/* All with the lock held. 0 or -errno. A watch may be removed, and freed, in its own callback. */
int watch_add(struct watch *w, uint32_t events);
void watch_change(struct watch *w, uint32_t events);
void watch_deadline(struct watch *w, uint64_t deadline);
/* Before the descriptor is closed: a forked child may keep it open. */
void watch_remove(struct watch *w);

/* --- fork --- */

/*
 * Called once a SCIF endpoint was opened, so that libscif's own fork handlers, which are installed
 * with the first one at the latest, surround ours. 0 or -ENOMEM.
 */
int service_prepare(void);

/*
 * In a forked child, lock held, no thread running, count of uses 0: every channel that was UP was
 * closed here and is CHANNEL_FORKED. import.c: note that the import has no use of the service and
 * no connection; it connects anew at its next use.
 */
void import_atfork_child(struct segment *s);
void export_atfork_child(struct segment *s);

#endif
