/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_recv: takes bytes out of the ring from the peer.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "bell.h"
#include "embedded.h"
#include "endpoint.h"
#include "fault_point.h"
#include "message.h"
#include "node.h"
#include "process.h"
#include "ring.h"
#include "safe_copy.h"
#include "wait.h"
#include "window.h"

/* The longest wait awake, the longest first sleep, the longest wait for a second message. */
enum { AWAKE_NS = 100000, DOZE_NS = 1000000, LAG_NS = 2000, LAG_BYTES = RING_BYTES / 8 };

/* Bytes moved, 0 when there are none, or an error. */
static int take(struct conn *c, unsigned char *msg, uint32_t len)
{
	struct ring_step step;
	int error = ring_take(&c->block->ring[1 - c->side], &c->own->recv_seen, msg, len, &step);

	if (error == -EPROTO) {
		c->own->broken = true;
		return 0;
	}
	if (error != 0)
		return error;
	bell_taken(c, &step);
	return (int)step.moved;
}

/*
 * Emptying the ring costs both sides system calls, which a moment's wait for the next message
 * saves when messages come one after the other.
 */
static void lag(struct conn *c, uint32_t wanted)
{
	struct ring *r = &c->block->ring[1 - c->side];
	uint32_t used = ring_to_empty(r, c->own->recv_seen, wanted);

	if (used == 0 || used > LAG_BYTES)
		return;
	patience_wait(&c->own->recv_lag, ring_written(r), atomic_load(ring_taken(r)) + used,
		      4 * used, LAG_NS, &c->closed);
}

/*
 * The ring was empty: 0 when it makes sense to wait, or why no more will come.
 * What the peer wrote before it went away may have become visible since.
 */
static int nothing_there(struct conn *c, bool *look_again)
{
	int error = conn_alive(c);

	*look_again = error != 0 && !c->own->broken && ring_used(&c->block->ring[1 - c->side]) > 0;
	if (c->own->bell_removals > 0)
		bell_settle(c);
	return error;
}

/* Bytes on the socket without bytes in the ring that we did not leave there are none of the
 * protocol. */
static void drop_noise(struct conn *c)
{
	int queued = 0;

	if (c->own->bell_removals > 0 || ioctl(c->sock, SIOCINQ, &queued) != 0 || queued <= 0)
		return;
	/* A doorbell follows its data, so after looking at the socket the ring must show it. */
	if (ring_used(&c->block->ring[1 - c->side]) == 0) {
		c->own->bell_removals = (uint32_t)queued;
		bell_settle(c);
	}
}

/*
 * The first of a sleep: on the ring's own word, which its writer wakes with one system call. What
 * only a descriptor tells is noticed after it, and signals wait as long.
 */
static void doze(struct conn *c, struct wait_signals *signals, struct ring *r)
{
	uint32_t seen = atomic_load(ring_written(r));

	wait_signals_hold(signals);
	if (ring_doze(r) && !atomic_load(&c->closed) && conn_gone(c) == 0)
		futex_wait(ring_written(r), seen, DOZE_NS, true);
}

/* Whether bytes came that need no doorbell, because the peer knew that they are waited for. */
static bool bytes_come_soon(struct conn *c, struct wait_signals *signals, uint32_t wanted)
{
	struct ring *r = &c->block->ring[1 - c->side];
	uint32_t seen = atomic_load(ring_written(r));

	/* A killed process would leave its word behind to those that share the endpoint. */
	if (c->own->forked || !ring_want(r, wanted))
		return ring_used(r) > 0;
	if (patience_wait(&c->own->recv_patience, ring_written(r), seen, 1, AWAKE_NS, &c->closed))
		return true;
	doze(c, signals, r);
	if (ring_used(r) == 0)
		ring_unwant(r);
	return ring_used(r) > 0;
}

static int sleep_for_data(struct conn *c, struct wait_signals *signals)
{
	short revents;
	int error = wait_fd(&c->closed, signals, c->sock, POLLIN, WAIT_FOREVER, &revents);

	if (error == 0 && (revents & (POLLHUP | POLLERR | POLLNVAL | POLLRDHUP)))
		conn_ask(c);
	else if (error == 0 && (revents & POLLIN) && ring_used(&c->block->ring[1 - c->side]) == 0)
		drop_noise(c);
	return error;
}

static int wait_for_data(struct conn *c, struct wait_signals *signals, int wanted)
{
	uint32_t most = wanted < (int)RING_CAPACITY ? (uint32_t)wanted : RING_CAPACITY;
	int error = 0;

	atomic_store(&c->own->recv_asleep, 1);
	if (!bytes_come_soon(c, signals, most))
		error = sleep_for_data(c, signals);
	atomic_store(&c->own->recv_asleep, 0);
	return error;
}

/* Whether the lock was got; what one that was killed inside left undone is done first. */
static bool held(struct conn *c, int result)
{
	if (result == MESSAGE_OWNER_DIED) {
		atomic_store(&c->own->recv_asleep, 0);
		bell_repair_receiver(c);
	}
	return result != MESSAGE_BUSY;
}

void message_quiet_receiver(struct conn *c)
{
	if (!held(c, message_lock(&c->own->recv, &c->own->recv_asleep, false)))
		return;
	if (c->own->bell_removals > 0)
		bell_settle(c);
	else if (ring_used(&c->block->ring[1 - c->side]) == 0)
		drop_noise(c);
	message_unlock(&c->own->recv);
}

static int empty_nonblocking(struct conn *c)
{
	process_refresh();
	return node_state(c->peer_node) == NODE_ASLEEP ? -EAGAIN : 0;
}

static int recv_locked(struct conn *c, struct wait_signals *signals, unsigned char *msg, int len,
		       int flags)
{
	int got = 0;
	bool again, looked = false;

	for (;;) {
		int moved;

		if (flags & SCIF_RECV_BLOCK)
			lag(c, (uint32_t)(len - got));
		moved = atomic_load(&c->closed) ? -EINTR
						: take(c, msg + got, (uint32_t)(len - got));

		if (moved > 0) {
			got += moved;
			looked = false;
		}
		if (got == len || (got > 0 && (moved < 0 || !(flags & SCIF_RECV_BLOCK))))
			return got;
		if (moved < 0)
			return moved;
		if (moved > 0)
			continue;
		moved = nothing_there(c, &again);
		/* Once: bytes that a writer was taking back when it was killed stay where they are.
		 */
		if (again && !looked) {
			looked = true;
			continue;
		}
		if (moved == 0 && !(flags & SCIF_RECV_BLOCK))
			return empty_nonblocking(c);
		if (moved == 0)
			moved = wait_for_data(c, signals, len - got);
		if (moved != 0)
			return got > 0 ? got : moved;
	}
}

static int recv_on(struct conn *c, void *msg, int len, int flags)
{
	struct wait_signals signals = {.held = false};
	int result = message_lock(&c->own->recv, &c->own->recv_asleep, flags & SCIF_RECV_BLOCK);

	if (!held(c, result))
		return conn_alive(c);
	FAULT_POINT("recv-locked");
	result = recv_locked(c, &signals, msg, len, flags);
	FAULT_POINT("recv-done");
	if (result < len)
		ring_unwant(&c->block->ring[1 - c->side]);
	message_unlock(&c->own->recv);
	wait_signals_release(&signals);
	return result;
}

/*
 * The ends of the buffer; should a page between them be bad, the data stays
 * where it is. A connection that has ended and has nothing left says so first.
 */
static int probe(struct conn *c, unsigned char *msg, int len)
{
	int error;

	if (safe_probe_write(msg, 1) == 0 && safe_probe_write(msg + len - 1, 1) == 0)
		return 0;
	error = conn_alive(c);
	return error != 0 && ring_used(&c->block->ring[1 - c->side]) == 0 ? error : -EFAULT;
}

static int recv_checked(struct ep *ep, unsigned char *msg, int len, int flags)
{
	struct conn *c;
	int error;

	if (len == 0)
		return 0;
	if (len < 0 || (flags & ~SCIF_RECV_BLOCK))
		return -EINVAL;
	error = ep_connection(ep, &c);
	if (error == 0)
		error = probe(c, msg, len);
	if (error != 0)
		return error;
	mem_attend(c);
	return recv_on(c, msg, len, flags);
}

int embedded_recv(scif_epd_t epd, void *msg, int len, int flags)
{
	struct ep *ep;
	int result = ep_get(epd, &ep);

	if (result != 0)
		return result;
	result = recv_checked(ep, msg, len, flags);
	ep_put(ep);
	return result;
}
