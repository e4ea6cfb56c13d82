/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages over a connection, without ever waiting: input is gathered until a message is whole,
 * output is kept until there is room.
 */
#include "channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "endpoint.h"

/* An answer of the kernel is good for this long. */
#define ANSWER_NS 50000u

/* Nothing more is read from a peer that lets its answers pile up. */
enum { OUT_LIMIT = 4 * WIRE_PAYLOAD_MAX };

static bool output_waits(const struct channel *c)
{
	return c->out_used > 0 || c->signals > 0 || c->one_more_signal;
}

bool channel_unsent(const struct channel *c)
{
	return output_waits(c) && !c->gone && c->epd >= 0 && atomic_load(&c->state) == CHANNEL_UP;
}

static uint32_t interest(const struct channel *c)
{
	uint32_t bits = 0;

	if (c->out_used < OUT_LIMIT)
		bits |= EPOLLIN;
	if (output_waits(c))
		bits |= EPOLLOUT;
	return bits;
}

static void update_interest(struct channel *c)
{
	watch_change(&c->watch, interest(c));
}

/* Channels with output that has found no room yet; library lock. */
static unsigned clogged;

static void note_output(struct channel *c)
{
	bool now = !c->gone && (interest(c) & EPOLLOUT);

	if (now == c->clogged)
		return;
	c->clogged = now;
	clogged += now ? 1 : -1u;
	if (!now)
		service_changed();
}

bool channel_end(struct channel *c, enum channel_state state)
{
	unsigned up = CHANNEL_UP;

	return atomic_compare_exchange_strong(&c->state, &up, state);
}

/* The connection is of no use any more; its owner hears of it once. */
static void lose(struct channel *c, int error)
{
	if (c->gone)
		return;
	c->gone = true;
	note_output(c);
	channel_end(c, error == -ENODEV ? CHANNEL_NODE_LOST : CHANNEL_LOST);
	watch_remove(&c->watch);
	service_changed();
	c->lost(c);
}

/* --- output --- */

static int reserve(struct channel *c, size_t n)
{
	size_t size = c->out_size;
	unsigned char *room;

	if (n <= c->out_size - c->out_used)
		return 0;
	while (size - c->out_used < n)
		size *= 2;
	room = malloc(size);
	if (room == NULL)
		return -ENOMEM;
	memcpy(room, c->out, c->out_used);
	if (c->out != c->out_room)
		free(c->out);
	c->out = room;
	c->out_size = size;
	return 0;
}

static void forget_sent(struct channel *c, size_t n)
{
	c->out_used -= n;
	memmove(c->out, c->out + n, c->out_used);
	if (c->out_used > 0 || c->out == c->out_room)
		return;
	free(c->out);
	c->out = c->out_room;
	c->out_size = sizeof(c->out_room);
}

/* 0, or why the connection is gone. */
static int flush_bytes(struct channel *c)
{
	size_t sent = 0;
	int n = 1;

	while (sent < c->out_used && n > 0) {
		n = scif_send(c->epd, c->out + sent, (int)(c->out_used - sent), 0);
		if (n > 0)
			sent += (size_t)n;
	}
	forget_sent(c, sent);
	return n < 0 && errno != EINTR && errno != ENOMEM ? -errno : 0;
}

static void append(struct channel *c, const struct wire_message *m, const void *payload, size_t n)
{
	struct wire_message filled = *m;

	filled.length = (uint32_t)n;
	wire_encode(c->out + c->out_used, &filled);
	if (n > 0)
		memcpy(c->out + c->out_used + WIRE_SIZE, payload, n);
	c->out_used += WIRE_SIZE + n;
}

/* Signals go when everything else has gone, so one message of them needs no memory. */
static void append_signals(struct channel *c)
{
	struct wire_message m = {.type = WIRE_SIGNAL, .size = c->signals};

	if (c->out_used > 0 || (c->signals == 0 && !c->one_more_signal))
		return;
	/* One that must not be added to others is told by those. */
	if (c->signals == 0) {
		m.size = 1;
		m.flags = WIRE_NO_ACCUMULATE;
	}
	c->signals = 0;
	c->one_more_signal = false;
	append(c, &m, NULL, 0);
}

static int flush(struct channel *c)
{
	int error = flush_bytes(c);

	if (error == 0) {
		append_signals(c);
		error = flush_bytes(c);
	}
	return error;
}

static int sendable(const struct channel *c)
{
	switch (atomic_load(&c->state)) {
	case CHANNEL_NODE_LOST:
		return -ENODEV;
	case CHANNEL_UP:
	case CHANNEL_ABORTED:
		return c->gone || c->epd < 0 ? -ECONNRESET : 0;
	default:
		return -ECONNRESET;
	}
}

/*
 * A connection that turns out to be gone is left to the thread, because what came last is still to
 * be read; but nothing can be sent any more.
 */
static void flush_now(struct channel *c)
{
	if (flush(c) != 0) {
		c->out_used = c->signals = 0;
		c->one_more_signal = false;
	}
	update_interest(c);
	note_output(c);
}

int channel_send(struct channel *c, const struct wire_message *m, const void *payload, size_t n)
{
	int error = sendable(c);

	if (error == 0)
		error = reserve(c, WIRE_SIZE + n);
	if (error != 0)
		return error;
	append(c, m, payload, n);
	flush_now(c);
	return 0;
}

int channel_signal(struct channel *c, bool accumulate)
{
	int error = sendable(c);

	if (error != 0)
		return error;
	if (accumulate)
		c->signals++;
	else
		c->one_more_signal = true;
	flush_now(c);
	return 0;
}

/* --- input --- */

static void expect_header(struct channel *c)
{
	c->in_need = WIRE_SIZE;
	c->in_used = 0;
}

static bool takes_payload(const struct channel *c)
{
	return c->in != NULL && c->in != c->in_room;
}

int channel_relay(struct channel *c)
{
	unsigned char *room;

	if (takes_payload(c))
		return 0;
	room = malloc(WIRE_SIZE + WIRE_PAYLOAD_MAX);
	if (room == NULL)
		return -ENOMEM;
	c->in = room;
	return 0;
}

/* What has come is a header, or a header with its payload. */
static int digest(struct channel *c)
{
	struct wire_message m;

	if (!wire_decode(&m, c->in) || (m.length > 0 && !takes_payload(c)))
		return -EPROTO;
	if (c->in_used < WIRE_SIZE + m.length) {
		c->in_need = WIRE_SIZE + m.length;
		return 0;
	}
	expect_header(c);
	c->message(c, &m, c->in + WIRE_SIZE);
	return atomic_load(&c->state) == CHANNEL_LOST ? -ECONNRESET : 0;
}

/* More turns than a full ring of libscif holds messages, so that what was there is read. */
enum { TURNS = 128 };

/*
 * Reads what is there, but so that one peer cannot keep the thread. 0, or why nothing more will
 * come.
 */
static int read_some(struct channel *c)
{
	int n, error = 0;

	for (int turns = 0; turns < TURNS && error == 0 && c->out_used < OUT_LIMIT; turns++) {
		n = scif_recv(c->epd, c->in + c->in_used, (int)(c->in_need - c->in_used), 0);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR || errno == ENOMEM ? 0 : -errno;
		if (n == 0)
			return 0;
		c->in_used += (size_t)n;
		if (c->in_used == c->in_need)
			error = digest(c);
	}
	return error;
}

/* The last thing that touches the channel: `lost` may free it. */
void channel_take_input(struct channel *c)
{
	int error;

	if (c->gone || c->epd < 0)
		return;
	error = read_some(c);
	if (error == 0 && c->idle != NULL) {
		c->idle(c);
		error = atomic_load(&c->state) == CHANNEL_LOST ? -ECONNRESET : 0;
	}
	if (error != 0)
		lose(c, error);
}

static void ready(struct watch *w, uint32_t bits)
{
	struct channel *c = (struct channel *)((char *)w - offsetof(struct channel, watch));

	if (bits & EPOLLOUT)
		flush_now(c);
	if (bits & ~(uint32_t)EPOLLOUT)
		channel_take_input(c);
}

/* --- what one can know of the other side --- */

static void note_asked(struct channel *c)
{
	atomic_store_explicit(&c->asked, service_now(), memory_order_relaxed);
}

/* One system call. Transfers ask in this way, and libscif asks in its own inside each of them. */
static bool hung_up(struct channel *c)
{
	struct pollfd p = {.fd = scif_get_fd(c->epd)};

	note_asked(c);
	return poll(&p, 1, 0) > 0;
}

unsigned channel_last_state(const struct channel *c)
{
	return atomic_load_explicit(&c->state, memory_order_acquire);
}

unsigned channel_state(struct channel *c)
{
	unsigned state = channel_last_state(c);

	if (state != CHANNEL_UP ||
	    service_now() - atomic_load_explicit(&c->asked, memory_order_relaxed) <= ANSWER_NS)
		return state;
	return hung_up(c) ? channel_state_now(c) : atomic_load(&c->state);
}

unsigned channel_state_now(struct channel *c)
{
	struct scif_pollepd p = {.epd = c->epd};

	if (atomic_load(&c->state) == CHANNEL_UP) {
		/* scif_recv() alone may live on an answer of 50 us ago; this makes it ask. */
		note_asked(c);
		scif_poll(&p, 1, 0);
		service_lock();
		channel_take_input(c);
		service_unlock();
	}
	return atomic_load(&c->state);
}

/* --- beginning and end --- */

int channel_open(struct channel *c, scif_epd_t epd, uint16_t node)
{
	int error;

	if (!takes_payload(c))
		c->in = c->in_room;
	c->out = c->out_room;
	c->out_size = sizeof(c->out_room);
	c->out_used = 0;
	expect_header(c);
	c->signals = 0;
	c->one_more_signal = c->gone = c->clogged = false;
	c->node = node;
	c->watch.fd = scif_get_fd(epd);
	c->watch.ready = ready;
	c->watch.due = NULL;
	error = watch_add(&c->watch, EPOLLIN);
	if (error != 0)
		return error;
	c->epd = epd;
	atomic_store(&c->asked, service_now());
	/* Release: who finds it UP finds the endpoint. */
	atomic_store_explicit(&c->state, CHANNEL_UP, memory_order_release);
	return 0;
}

static void free_buffers(struct channel *c)
{
	if (takes_payload(c))
		free(c->in);
	c->in = c->in_room;
	if (c->out != c->out_room)
		free(c->out);
	c->out = c->out_room;
	c->out_size = sizeof(c->out_room);
	c->out_used = 0;
}

scif_epd_t channel_abandon(struct channel *c)
{
	scif_epd_t epd = c->epd;

	free_buffers(c);
	if (epd < 0)
		return -1;
	c->gone = true;
	note_output(c);
	channel_end(c, CHANNEL_LOST);
	watch_remove(&c->watch);
	c->epd = -1;
	service_changed();
	return epd;
}

void channel_close(struct channel *c)
{
	scif_epd_t epd = channel_abandon(c);

	if (epd >= 0)
		endpoint_close(epd);
}

/* The epoll set is the parent's as well: nothing may be taken out of it here. */
void channel_atfork_child(struct channel *c)
{
	if (c->epd < 0)
		return;
	c->watch.armed = false;
	c->epd = -1;
	channel_end(c, CHANNEL_FORKED);
	free_buffers(c);
}

void channel_atfork_child_all(void)
{
	clogged = 0;
}

/*
 * A program that ends has posted what it has posted: signals and answers that wait for room go out
 * first. Peers that do not read are not waited for longer than at any other time.
 */
__attribute__((destructor)) static void send_the_rest(void)
{
	uint64_t deadline = service_now() + SERVICE_PATIENCE_NS;

	if (!service_lock_until(deadline))
		return;
	while (clogged > 0 && service_wait(deadline, false) == 0)
		;
	service_unlock();
}
