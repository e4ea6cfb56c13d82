/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues of signals. Waiters sleep on a futex and not in poll(2), so it does not matter to them
 * what the program does with the descriptor it was given.
 */
#include "event.h"

#include <errno.h>
#include <fcntl.h>
#include <rsmapi.h>
#include <unistd.h>

#include "descriptor.h"
#include "service.h"

/* -ENOMEM stays, every other shortage is one of descriptors. */
static int open_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return errno == ENOMEM ? -ENOMEM : -EMFILE;
	ends[0] = descriptor_settle(ends[0]);
	ends[1] = descriptor_settle(ends[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return -EMFILE;
}

int event_queue_init(struct event_queue *q)
{
	int ends[2];
	int error = open_pipe(ends);

	if (error != 0)
		return error;
	pthread_mutex_init(&q->lock, NULL);
	q->pending = 0;
	q->closed = false;
	atomic_init(&q->news, 0);
	q->read_end = ends[0];
	q->write_end = ends[1];
	return 0;
}

void event_queue_free(struct event_queue *q)
{
	if (q->read_end >= 0)
		close(q->read_end);
	if (q->write_end >= 0)
		close(q->write_end);
	pthread_mutex_destroy(&q->lock);
}

/* The pipe never holds more than this byte, so neither end can block. */
static void ring_bell(struct event_queue *q)
{
	while (write(q->write_end, "", 1) < 0 && errno == EINTR)
		;
}

static void silence_bell(struct event_queue *q)
{
	char byte;

	while (read(q->read_end, &byte, 1) < 0 && errno == EINTR)
		;
}

void event_post(struct event_queue *q, uint64_t count, bool accumulate)
{
	bool posted;

	pthread_mutex_lock(&q->lock);
	posted = count > 0 && (accumulate || q->pending == 0);
	if (posted && q->pending == 0)
		ring_bell(q);
	/* More than fit are as good as without end. */
	if (posted)
		q->pending = count > UINT64_MAX - q->pending ? UINT64_MAX : q->pending + count;
	pthread_mutex_unlock(&q->lock);
	if (posted)
		service_wake(&q->news);
}

bool event_take(struct event_queue *q)
{
	bool taken;

	pthread_mutex_lock(&q->lock);
	taken = q->pending > 0;
	if (taken && --q->pending == 0)
		silence_bell(q);
	pthread_mutex_unlock(&q->lock);
	return taken;
}

static bool is_closed(struct event_queue *q)
{
	bool closed;

	pthread_mutex_lock(&q->lock);
	closed = q->closed;
	pthread_mutex_unlock(&q->lock);
	return closed;
}

/* 0 to look again, or RSMERR_TIMEOUT, RSMERR_INTERRUPTED. */
static int sleep_until(struct event_queue *q, uint32_t seen, uint64_t deadline)
{
	if (service_now() >= deadline)
		return RSMERR_TIMEOUT;
	return service_sleep(&q->news, seen, deadline) == -EINTR ? RSMERR_INTERRUPTED : 0;
}

int event_wait(struct event_queue *q, int timeout_ms)
{
	uint64_t deadline = timeout_ms == 0 ? 0 : service_deadline(timeout_ms);
	int saved = errno, result = 0;

	while (result == 0) {
		/* Before looking: what comes after the look changes it, and the sleep ends at once.
		 */
		uint32_t seen = atomic_load(&q->news);

		if (is_closed(q))
			result = RSMERR_BAD_SEG_HNDL;
		else if (event_take(q))
			break;
		else
			result = sleep_until(q, seen, deadline);
	}
	errno = saved;
	return result;
}

void event_queue_close(struct event_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_mutex_unlock(&q->lock);
	service_wake(&q->news);
}

static void replace(int *number, int fd)
{
	if (*number >= 0 && fd >= 0 && dup3(fd, *number, O_CLOEXEC) == *number)
		return;
	/* The parent's pipe must not be written to or emptied from here. */
	if (*number >= 0)
		close(*number);
	*number = -1;
}

void event_queue_atfork_child(struct event_queue *q)
{
	int ends[2];

	/* A thread that does not exist any more may have held the lock. */
	pthread_mutex_init(&q->lock, NULL);
	q->pending = 0;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		ends[0] = ends[1] = -1;
	replace(&q->read_end, ends[0]);
	replace(&q->write_end, ends[1]);
	if (ends[0] >= 0) {
		close(ends[0]);
		close(ends[1]);
	}
}
