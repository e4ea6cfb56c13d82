/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of segment handles. A handle is a number (slot, generation and kind) that is never
 * followed as a pointer, so NULL, garbage, a stale handle and one of the wrong kind are told apart
 * without touching the caller's memory.
 */
#ifndef RSM_HANDLE_H
#define RSM_HANDLE_H

#include <stdbool.h>

#include "segment.h"

enum { HANDLE_SLOTS = 4096 }; /* exports and imports together */

/*
 * Makes a handle for a segment that is complete; sets s->handle and returns it, NULL when no slot
 * is free. Library lock held. From the return on other threads may enter.
 */
void *handle_new(struct segment *s);

/*
 * Begins the use of a segment; NULL unless the handle is live and its kind is in the mask (1u <<
 * kind). Takes no lock. Ends with handle_leave(). A segment is not freed while it is in use.
 */
struct segment *handle_enter(const void *handle, unsigned kinds);
void handle_leave(struct segment *s);

/* True for a handle of that kind that was live once and no longer is. */
bool handle_was(const void *handle, enum segment_kind kind);

/*
 * Ends a handle in two steps, by a caller that is in (handle_enter).
 *
 * handle_retire(), library lock held, never sleeps: nobody enters any more, s->closing is set.
 * False when another thread did so first; then leave and say that there is no such segment.
 *
 * handle_drain(), lock NOT held: waits until everybody but the caller has left and gives the slot
 * back; the caller's use ends with it, so handle_leave() must not follow. Whoever may sleep inside
 * for long (rsm_intr_signal_wait) has to be woken first: event_queue_close().
 */
bool handle_retire(struct segment *s);
void handle_drain(struct segment *s);

/*
 * Calls visit for every live segment of the kinds. Library lock held; visit may retire the segment
 * it is shown.
 */
void handle_each(unsigned kinds, void (*visit)(struct segment *s, void *arg), void *arg);

/*
 * In a forked child: threads that were in do not exist any more. Visits every segment, also one
 * that a thread of the parent is about to free.
 */
void handle_atfork_child(void (*visit)(struct segment *s));

#endif
