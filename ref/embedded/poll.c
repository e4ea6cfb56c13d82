/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_poll: readiness exactly as the text defines it. What there is comes from
 * the rings and the endpoint's state; the descriptors are for sleeping and for
 * noticing the end of a connection.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "connect.h"
#include "embedded.h"
#include "endpoint.h"
#include "message.h"
#include "request.h"
#include "safe_copy.h"
#include "wait.h"

#define NS_PER_MS 1000000ull

struct entry {
	struct scif_pollepd user;
	struct ep *ep; /* NULL: not an endpoint */
	bool watched;  /* has a place in the poll set, in the order of the entries */
};

struct poll_set {
	struct entry *entry;
	struct pollfd *fds;
	unsigned count, used;
};

enum { SMALL = 32 };

/* --- what is true now --- */

static short bits_now(struct ep *ep, short events, bool request_queued)
{
	struct conn *c;

	if (atomic_load(&ep->closed))
		return POLLNVAL;
	if (atomic_load(&ep->state) == EP_CONNECTING)
		connect_settle(ep);
	switch (atomic_load(&ep->state)) {
	case EP_CONNECTING:
		return 0;
	case EP_LISTENING:
		return (events & POLLIN) && request_pending(ep, request_queued) ? POLLIN : 0;
	case EP_CONNECTED:
		c = atomic_load(&ep->conn);
		return message_bits(c, events, conn_gone(c) != 0);
	default:
		/* A refused connect is there to be collected. */
		return ep->uncollected && (events & POLLOUT) ? POLLOUT : POLLERR;
	}
}

/* --- what to sleep on --- */

static void watch(struct poll_set *set, struct entry *e, int fd, short events)
{
	if (fd < 0)
		return;
	set->fds[set->used++] = (struct pollfd){.fd = fd, .events = events};
	e->watched = true;
}

static void watch_endpoint(struct poll_set *set, struct entry *e)
{
	struct ep *ep = e->ep;
	short wanted = e->user.events & (POLLIN | POLLOUT);

	switch (atomic_load(&ep->state)) {
	case EP_CONNECTING:
		watch(set, e, ep->fd, POLLOUT);
		break;
	case EP_LISTENING:
		watch(set, e, ep->backlog > 0 && (wanted & POLLIN) ? ep->fd : -1, POLLIN);
		break;
	case EP_CONNECTED:
		watch(set, e, ep->fd, wanted);
		break;
	default:
		break;
	}
}

/* True when the entry is ready as far as memory tells. */
static bool enter(struct poll_set *set, struct entry *e)
{
	int error;

	e->ep = NULL;
	e->watched = false;
	e->user.revents = 0;
	if (e->user.epd < 0)
		return false;
	error = ep_get_unasked(e->user.epd, &e->ep);
	if (error == -ENOTTY)
		watch(set, e, e->user.epd, e->user.events);
	else if (error != 0)
		e->user.revents = POLLNVAL;
	else
		e->user.revents = bits_now(e->ep, e->user.events, false);
	if (error == 0)
		watch_endpoint(set, e);
	return e->user.revents != 0;
}

static void leave_all(struct poll_set *set)
{
	for (unsigned i = 0; i < set->count; i++)
		if (set->entry[i].ep != NULL)
			ep_put(set->entry[i].ep);
}

/* The kernel showed what the rings do not: a doorbell is late, or nobody's. */
static void calm(struct entry *e, short shown)
{
	if (atomic_load(&e->ep->state) != EP_CONNECTED || shown == 0)
		return;
	if (shown & POLLIN)
		message_quiet_receiver(atomic_load(&e->ep->conn));
	if (shown & POLLOUT)
		message_quiet_sender(atomic_load(&e->ep->conn));
	sched_yield();
}

/* The end of the connection, unless the number has come to mean something else meanwhile. */
static short look_closer(struct entry *e, short shown)
{
	struct conn *c = atomic_load(&e->ep->conn);

	if (conn_question(c, e->user.epd) != -EBADF)
		return bits_now(e->ep, e->user.events, false);
	return shown & POLLNVAL ? POLLNVAL : shown;
}

static short judge(struct entry *e, short shown)
{
	short bits;

	if (e->ep == NULL)
		return e->user.revents != 0 ? e->user.revents : shown;
	if (atomic_load(&e->ep->state) == EP_CONNECTED && (shown & (POLLHUP | POLLERR | POLLNVAL)))
		return look_closer(e, shown);
	bits = bits_now(e->ep, e->user.events, shown & POLLIN);
	if (bits == 0)
		calm(e, shown);
	return bits;
}

static int judge_all(struct poll_set *set)
{
	struct pollfd *shown = set->fds;
	int ready = 0;

	for (unsigned i = 0; i < set->count; i++) {
		struct entry *e = &set->entry[i];

		e->user.revents = judge(e, e->watched ? (shown++)->revents : 0);
		ready += e->user.revents != 0;
	}
	return ready;
}

static bool any_closed(const struct poll_set *set)
{
	for (unsigned i = 0; i < set->count; i++)
		if (set->entry[i].ep != NULL && atomic_load(&set->entry[i].ep->closed))
			return true;
	return false;
}

/* Ready entries, 0, or an error of the sleep. */
static int round_of(struct poll_set *set, struct wait_signals *signals, uint64_t deadline)
{
	struct wait w;
	bool ready = false;
	int result;

	set->used = 0;
	for (unsigned i = 0; i < set->count; i++)
		ready |= enter(set, &set->entry[i]);
	wait_enter(&w);
	result = wait_sleep(signals, set->fds, set->used, ready || any_closed(set) ? 0 : deadline);
	wait_leave(&w);
	if (result >= 0)
		result = judge_all(set);
	leave_all(set);
	return result;
}

static int poll_until(struct poll_set *set, uint64_t deadline)
{
	struct wait_signals signals = {.held = false};
	int result;

	do
		result = round_of(set, &signals, deadline);
	while (result == 0 && (deadline == WAIT_FOREVER || wait_now() < deadline));
	wait_signals_release(&signals);
	return result;
}

/* --- the caller's array --- */

static int copy_in(struct poll_set *set, const struct scif_pollepd *epds)
{
	for (unsigned i = 0; i < set->count; i++)
		if (safe_copy(&set->entry[i].user, &epds[i], sizeof(*epds)) != 0)
			return -EFAULT;
	return 0;
}

static int copy_out(const struct poll_set *set, struct scif_pollepd *epds)
{
	for (unsigned i = 0; i < set->count; i++)
		if (safe_copy(&epds[i].revents, &set->entry[i].user.revents, sizeof(short)) != 0)
			return -EFAULT;
	return 0;
}

static int poll_array(struct poll_set *set, struct scif_pollepd *epds, uint64_t deadline)
{
	int error = copy_in(set, epds), ready;

	if (error != 0)
		return error;
	ready = poll_until(set, deadline);
	if (ready < 0)
		return ready;
	error = copy_out(set, epds);
	return error != 0 ? error : ready;
}

static int poll_many(struct poll_set *set, struct scif_pollepd *epds, uint64_t deadline)
{
	int result = -ENOMEM;

	set->entry = calloc(set->count, sizeof(*set->entry));
	set->fds = calloc(set->count + WAIT_EXTRA, sizeof(*set->fds));
	if (set->entry != NULL && set->fds != NULL)
		result = poll_array(set, epds, deadline);
	free(set->entry);
	free(set->fds);
	return result;
}

static uint64_t deadline_of(long timeout)
{
	uint64_t ms = (uint64_t)timeout, now = wait_now();

	if (timeout < 0 || ms > (WAIT_FOREVER - 1 - now) / NS_PER_MS)
		return WAIT_FOREVER;
	return timeout == 0 ? 0 : now + ms * NS_PER_MS;
}

int embedded_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	struct entry entry[SMALL];
	struct pollfd fds[SMALL + WAIT_EXTRA];
	struct poll_set set = {.entry = entry, .fds = fds, .count = nepds};
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && nepds > limit.rlim_cur)
		return -EINVAL;
	safe_copy_install();
	if (nepds > SMALL)
		return poll_many(&set, epds, deadline_of(timeout));
	return poll_array(&set, epds, deadline_of(timeout));
}
