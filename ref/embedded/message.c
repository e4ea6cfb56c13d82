/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serialisation of the calls of one direction.
 */
#include "message.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "connection.h"
#include "ring.h"
#include "wait.h"

/* How long a non-blocking call waits before it looks again whether the holder went to sleep. */
#define LOOK_NS	 1000000ull

static int result_of(pthread_mutex_t *lock, int error)
{
	if (error != EOWNERDEAD)
		return MESSAGE_LOCKED;
	pthread_mutex_consistent(lock);
	return MESSAGE_OWNER_DIED;
}

static int lock_for_a_while(pthread_mutex_t *lock)
{
	struct timespec limit = wait_timespec(wait_now() + LOOK_NS);

	return pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &limit);
}

int message_try_lock(pthread_mutex_t *lock)
{
	int error = pthread_mutex_trylock(lock);

	return error == EBUSY ? MESSAGE_BUSY : result_of(lock, error);
}

int message_lock(pthread_mutex_t *lock, const _Atomic uint32_t *asleep, bool block)
{
	int error;

	if (block)
		return result_of(lock, pthread_mutex_lock(lock));
	error = pthread_mutex_trylock(lock);
	while (error == EBUSY || error == ETIMEDOUT) {
		if (atomic_load(asleep))
			return MESSAGE_BUSY;
		error = lock_for_a_while(lock);
	}
	return result_of(lock, error);
}

void message_unlock(pthread_mutex_t *lock)
{
	pthread_mutex_unlock(lock);
}

short message_bits(const struct conn *c, short events, bool gone)
{
	uint32_t in = ring_used(&c->block->ring[1 - c->side]);
	uint32_t out = ring_used(&c->block->ring[c->side]);
	short bits = gone ? POLLHUP : 0;

	if (in > 0 && in <= RING_CAPACITY)
		bits |= events & POLLIN;
	if (!gone && out < RING_CAPACITY)
		bits |= events & POLLOUT;
	return bits;
}
