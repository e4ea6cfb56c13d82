/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_send: puts bytes into the ring towards the peer.
 */
#include <errno.h>
#include <poll.h>

#include "bell.h"
#include "embedded.h"
#include "endpoint.h"
#include "fault_point.h"
#include "message.h"
#include "ring.h"
#include "safe_copy.h"
#include "wait.h"
#include "window.h"

/* The longest wait for room before going to sleep. */
enum { AWAKE_NS = 50000 };

/* How much of a long message is checked before any of it is sent. */
enum { PROBE_BYTES = 4 << 20, PROBE_BYTES_NONBLOCKING = 64 << 10 };

static int probe(const unsigned char *msg, size_t len, int flags)
{
	size_t limit = flags & SCIF_SEND_BLOCK ? PROBE_BYTES : PROBE_BYTES_NONBLOCKING;
	int error = safe_probe_read(msg, len < limit ? len : limit);

	return error != 0 || len <= limit ? error : safe_probe_read(msg + len - 1, 1);
}

/* Bytes moved, or an error when there were none. The ring holds `most` then at most. */
static int put(struct conn *c, const unsigned char *msg, uint32_t len, uint32_t most)
{
	struct ring_step step;
	int error = conn_alive(c);

	if (error != 0)
		return error;
	if (c->own->bell_tokens != 0)
		bell_flush(c);
	error = ring_put(&c->block->ring[c->side], &c->own->send_seen, msg, len, most, &step);
	if (error == 0)
		error = bell_put(c, &step);
	if (error == 0 && step.sleeper)
		conn_wake_word(ring_written(&c->block->ring[c->side]));
	if (error == -EPROTO)
		c->own->broken = true;
	return error == 0 ? (int)step.moved : error == -EPROTO ? -ECONNRESET : error;
}

/*
 * Awake it waits for more than a little room: what both sides do for little of it at a time costs
 * more than the bytes.
 */
static bool room_comes_soon(struct conn *c)
{
	struct ring *r = &c->block->ring[c->side];
	uint32_t taken = atomic_load(ring_taken(r));

	return patience_wait(&c->own->send_patience, ring_taken(r), taken, RING_CAPACITY / 2,
			     AWAKE_NS, &c->closed);
}

static int sleep_until_room(struct conn *c, struct wait_signals *signals)
{
	short revents = 0;
	int error = wait_fd(&c->closed, signals, c->sock, POLLOUT, WAIT_FOREVER, &revents);

	return error == 0 && (revents & (POLLHUP | POLLERR | POLLNVAL)) ? conn_ask(c) : error;
}

/*
 * As long as the receiver keeps up, the ring does not become full: that costs both sides system
 * calls. So the last byte of room is only used up before going to sleep.
 */
static int wait_for_room(struct conn *c, struct wait_signals *signals, uint32_t *most)
{
	int error = 0;

	atomic_store(&c->own->send_asleep, 1);
	if (*most == RING_CAPACITY)
		error = sleep_until_room(c, signals);
	*most = *most < RING_CAPACITY && !room_comes_soon(c) ? RING_CAPACITY : RING_CAPACITY - 1;
	atomic_store(&c->own->send_asleep, 0);
	return error;
}

/* Whether the lock was got; what one that was killed inside left undone is done first. */
static bool held(struct conn *c, int result)
{
	if (result == MESSAGE_OWNER_DIED) {
		atomic_store(&c->own->send_asleep, 0);
		bell_repair_sender(c);
	}
	return result != MESSAGE_BUSY;
}

void message_quiet_sender(struct conn *c)
{
	if (!held(c, message_lock(&c->own->send, &c->own->send_asleep, false)))
		return;
	if (c->own->bell_tokens != 0)
		bell_flush(c);
	message_unlock(&c->own->send);
}

bool message_hold_senders(struct conn *c)
{
	return held(c, message_try_lock(&c->own->send));
}

void message_release_senders(struct conn *c)
{
	message_unlock(&c->own->send);
}

static int send_locked(struct conn *c, struct wait_signals *signals, const unsigned char *msg,
		       int len, int flags)
{
	uint32_t most = flags & SCIF_SEND_BLOCK ? RING_CAPACITY - 1 : RING_CAPACITY;
	int sent = 0;

	for (;;) {
		int moved = atomic_load(&c->closed)
				    ? -EINTR
				    : put(c, msg + sent, (uint32_t)(len - sent), most);

		if (moved > 0)
			sent += moved;
		if (moved < 0)
			return sent > 0 ? sent : moved;
		if (sent == len || !(flags & SCIF_SEND_BLOCK))
			return sent;
		moved = wait_for_room(c, signals, &most);
		if (moved != 0)
			return sent > 0 ? sent : moved;
	}
}

static int send_on(struct conn *c, const void *msg, int len, int flags)
{
	struct wait_signals signals = {.held = false};
	int result = message_lock(&c->own->send, &c->own->send_asleep, flags & SCIF_SEND_BLOCK);

	if (!held(c, result))
		return conn_alive(c);
	FAULT_POINT("send-locked");
	result = send_locked(c, &signals, msg, len, flags);
	FAULT_POINT("send-done");
	message_unlock(&c->own->send);
	wait_signals_release(&signals);
	return result;
}

static int send_checked(struct ep *ep, const void *msg, int len, int flags)
{
	struct conn *c;
	int error;

	if (len == 0)
		return 0;
	if (len < 0 || (flags & ~SCIF_SEND_BLOCK))
		return -EINVAL;
	error = probe(msg, (size_t)len, flags);
	if (error == 0)
		error = ep_connection(ep, &c);
	if (error != 0)
		return error;
	mem_attend(c);
	return send_on(c, msg, len, flags);
}

int embedded_send(scif_epd_t epd, const void *msg, int len, int flags)
{
	struct ep *ep;
	int result = ep_get(epd, &ep);

	if (result != 0)
		return result;
	result = send_checked(ep, msg, len, flags);
	ep_put(ep);
	return result;
}
