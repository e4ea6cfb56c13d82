/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What sending and receiving have in common: one caller per direction and side
 * at a time, for the length of a whole message.
 */
#ifndef SCIF_EMBEDDED_MESSAGE_H
#define SCIF_EMBEDDED_MESSAGE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum message_lock_result {
	MESSAGE_LOCKED,
	MESSAGE_OWNER_DIED, /* locked; the owner before us was killed inside */
	/* not locked: a blocking call sleeps in the middle of its message */
	MESSAGE_BUSY,
};

/* *asleep tells that the holder waits for the peer. With block never MESSAGE_BUSY. */
int message_lock(pthread_mutex_t *lock, const _Atomic uint32_t *asleep, bool block);
/* MESSAGE_BUSY as well when the holder does not sleep. */
int message_try_lock(pthread_mutex_t *lock);
void message_unlock(pthread_mutex_t *lock);

struct conn;

/* What poll shows of a connection whose peer is gone or not: its rings decide the rest. */
short message_bits(const struct conn *c, short events, bool gone);

/* The descriptor shows something that the ring does not: do what is overdue. */
void message_quiet_receiver(struct conn *c);
void message_quiet_sender(struct conn *c);

/*
 * Nobody of our side can send until the release, so the socket does not become full. Never waits:
 * false when somebody is at it, perhaps the call that a signal handler interrupted.
 */
bool message_hold_senders(struct conn *c);
void message_release_senders(struct conn *c);

#endif
