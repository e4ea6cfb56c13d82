/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's send and recv on the fabric's rings.  Both move what they can; who then has to wait
 * waits until all of the rest, or a queue full of it, can be moved.
 */
#include <errno.h>
#include <poll.h>

#include "bell.h"
#include "message.h"
#include "ring.h"
#include "safe_copy.h"
#include "standin.h"
#include "wait.h"
#include "window.h"

/* The driver takes a message in through a buffer of this size. */
enum { CHUNK_BYTES = 4 << 20 };

/* Whoever comes waits for the call that is under way, even one that sleeps. */
static void lock(pthread_mutex_t *mutex, struct conn *c, void (*repair)(struct conn *c))
{
	static const _Atomic uint32_t awake;

	if (message_lock(mutex, &awake, true) == MESSAGE_OWNER_DIED)
		repair(c);
}

static struct ring *outgoing(struct conn *c)
{
	return &c->block->ring[c->side];
}

static struct ring *incoming(struct conn *c)
{
	return &c->block->ring[1 - c->side];
}

static uint32_t room(struct conn *c)
{
	uint32_t used = ring_used(outgoing(c));

	return used > RING_CAPACITY ? 0 : RING_CAPACITY - used;
}

static uint32_t available(struct conn *c)
{
	uint32_t used = ring_used(incoming(c));

	return used > RING_CAPACITY ? 0 : used;
}

static uint32_t wanted(int left)
{
	return left < (int)RING_CAPACITY ? (uint32_t)left : RING_CAPACITY;
}

static bool is_gone(struct conn *c)
{
	return conn_alive(c) != 0;
}

/* --- send --- */

static int put(struct conn *c, const unsigned char *bytes, uint32_t len)
{
	struct ring_step step;
	int error;

	if (c->own->bell_tokens != 0)
		bell_flush(c);
	error = ring_put(outgoing(c), &c->own->send_seen, bytes, len, RING_CAPACITY, &step);
	if (error == 0)
		error = bell_put(c, &step);
	/* A receiver that waits for more than one byte sleeps on the ring itself. */
	if (error == 0 && step.moved > 0)
		conn_wake_word(ring_written(outgoing(c)));
	if (error == -EPROTO)
		c->own->broken = true;
	return error == 0 ? (int)step.moved : error == -EPROTO ? -ECONNRESET : error;
}

/* A signal ends this whatever its handler says: the driver does not restart a send. */
static int wait_for_room(struct conn *c, struct wait_signals *signals, uint32_t bytes)
{
	int error = 0;

	while (error == 0 && room(c) < bytes && !is_gone(c)) {
		_Atomic uint32_t *taken = ring_taken(outgoing(c));
		uint32_t seen = atomic_load(taken);
		short revents;

		if (room(c) >= bytes)
			break;
		if (room(c) > 0) {
			error = sleep_on_word(signals, false, c, taken, seen);
			continue;
		}
		error = sleep_on_fd(signals, false, c->sock, POLLOUT, WAIT_FOREVER, &revents);
		if (error == 0 && revents & (POLLHUP | POLLERR))
			conn_ask(c);
	}
	return error;
}

static int send_all(struct conn *c, struct wait_signals *signals, const unsigned char *bytes,
		    int len, bool block)
{
	int sent = 0, moved;

	while (sent < len) {
		if (is_gone(c))
			return sent > 0 ? sent : -ECONNRESET;
		moved = put(c, bytes + sent, (uint32_t)(len - sent));
		if (moved < 0)
			return sent > 0 ? sent : moved;
		sent += moved;
		if (moved > 0)
			continue;
		if (!block)
			break;
		moved = wait_for_room(c, signals, wanted(len - sent));
		if (moved < 0)
			return sent > 0 ? sent : moved;
	}
	return sent;
}

static bool valid(int len, int flags)
{
	/* One valid bit is enough. */
	return len >= 0 && (flags == 0 || flags & SCIF_SEND_BLOCK);
}

static int connection(struct ep *ep, struct conn **c)
{
	int error = ep_connection(ep, c);

	if (error == 0)
		mem_attend(*c);
	return error;
}

int driver_send(struct ep *ep, const void *bytes, int len, int flags)
{
	struct wait_signals signals = {.held = false};
	struct conn *c;
	int result;

	if (len == 0)
		return 0;
	if (!valid(len, flags))
		return -EINVAL;
	if (safe_probe_read(bytes, (size_t)(len < CHUNK_BYTES ? len : CHUNK_BYTES)) != 0)
		return -EFAULT;
	result = connection(ep, &c);
	if (result != 0)
		return result;
	lock(&c->own->send, c, bell_repair_sender);
	result = send_all(c, &signals, bytes, len, flags & SCIF_SEND_BLOCK);
	message_unlock(&c->own->send);
	wait_signals_release(&signals);
	return result;
}

/* --- recv --- */

/* What was taken is gone, wherever it should have gone to. */
static int take(struct conn *c, unsigned char *bytes, uint32_t len)
{
	unsigned char taken[RING_BYTES];
	struct ring_step step;
	int error = ring_take(incoming(c), &c->own->recv_seen, taken, len, &step);

	if (error != 0) {
		c->own->broken = true;
		return -ECONNRESET;
	}
	bell_taken(c, &step);
	if (step.moved == 0)
		return 0;
	conn_wake_word(ring_taken(incoming(c)));
	error = safe_copy(bytes, taken, step.moved);
	return error != 0 ? error : (int)step.moved;
}

static int wait_for_first(struct conn *c, struct wait_signals *signals)
{
	short revents;
	int error = sleep_on_fd(signals, true, c->sock, POLLIN, WAIT_FOREVER, &revents);

	if (error == 0 && (revents & (POLLHUP | POLLERR | POLLRDHUP)))
		conn_ask(c);
	else if (error == 0 && available(c) == 0 && c->own->bell_removals > 0)
		bell_settle(c);
	return error;
}

/* Once it sleeps, less than was asked for does not wake it. */
static int wait_for_bytes(struct conn *c, struct wait_signals *signals, uint32_t bytes)
{
	int error = 0;

	while (error == 0 && available(c) < bytes && !is_gone(c)) {
		_Atomic uint32_t *written = ring_written(incoming(c));
		uint32_t seen = atomic_load(written);

		if (available(c) >= bytes)
			break;
		error = available(c) == 0 ? wait_for_first(c, signals)
					  : sleep_on_word(signals, true, c, written, seen);
	}
	return error;
}

static int recv_all(struct conn *c, struct wait_signals *signals, unsigned char *bytes, int len,
		    bool block)
{
	int got = 0, moved;

	while (got < len) {
		moved = take(c, bytes + got, wanted(len - got));
		if (moved == -EFAULT)
			return moved;
		if (moved < 0)
			return got > 0 ? got : moved;
		got += moved;
		if (moved > 0)
			continue;
		/* Bytes that came with the peer's end are taken before it is told. */
		if (is_gone(c) && available(c) == 0)
			return got > 0 ? got : -ECONNRESET;
		if (!block)
			break;
		moved = wait_for_bytes(c, signals, wanted(len - got));
		if (moved < 0)
			return got > 0 ? got : moved;
	}
	return got;
}

int driver_recv(struct ep *ep, void *bytes, int len, int flags)
{
	struct wait_signals signals = {.held = false};
	struct conn *c;
	int result;

	if (len == 0)
		return 0;
	if (!valid(len, flags))
		return -EINVAL;
	result = connection(ep, &c);
	if (result != 0)
		return result;
	lock(&c->own->recv, c, bell_repair_receiver);
	result = recv_all(c, &signals, bytes, len, flags & SCIF_RECV_BLOCK);
	message_unlock(&c->own->recv);
	wait_signals_release(&signals);
	return result;
}
