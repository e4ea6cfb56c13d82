/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readiness as the driver shows it, which depends on what is asked for, and the calls that wait for
 * it: poll, ppoll, select, pselect.  The kernel is asked about the socket behind an endpoint only
 * to learn when to look.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "connect.h"
#include "libc.h"
#include "message.h"
#include "request.h"
#include "safe_copy.h"
#include "standin.h"
#include "wait.h"

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull
/* Another process that holds a listener may end it, which wakes nobody here. */
static const uint64_t SLICE_NS = 100000000;
/* What the worker does with a connect shows on a socket only once it has come to it. */
static const uint64_t QUEUE_SLICE_NS = 10000000;

/* --- one endpoint --- */

static short kernel_shows(struct ep *ep, short events)
{
	struct pollfd p = {.fd = atomic_load(&ep->fd), .events = events};

	return libc_poll(&p, 1, 0) == 1 ? p.revents : 0;
}

/* The outcome of a connect that did not block is writable; nothing else is told before it is
 * fetched. */
static short uncollected_bits(struct ep *ep)
{
	switch (ep_state_now(ep)) {
	case EP_CONNECTING:
		return 0;
	case EP_DISCONNECTED:
		return POLLOUT | POLLHUP;
	default:
		return POLLOUT;
	}
}

static short listening_bits(struct ep *ep, short events)
{
	if (listening_ended(ep))
		return events & (POLLIN | POLLOUT) ? POLLERR : 0;
	if (!(events & POLLIN))
		return POLLERR;
	return request_pending(ep, ep->backlog > 0 && kernel_shows(ep, POLLIN) & POLLIN) ? POLLIN
											 : 0;
}

short readiness(struct ep *ep, short events)
{
	struct conn *c;

	port_see_listening(ep);
	if (atomic_load(&ep->state) == EP_CONNECTING)
		connect_settle(ep);
	if (ep->uncollected && events & POLLOUT)
		return uncollected_bits(ep);
	switch (atomic_load(&ep->state)) {
	case EP_LISTENING:
		return listening_bits(ep, events);
	case EP_CONNECTED:
		c = atomic_load(&ep->conn);
		return message_bits(c, events, conn_ask(c) != 0);
	default:
		return events & (POLLIN | POLLOUT) ? POLLERR : 0;
	}
}

short readiness_interest(struct ep *ep, short events)
{
	switch (atomic_load(&ep->state)) {
	case EP_CONNECTING:
		return driver_connect_queued(ep) ? 0 : POLLOUT;
	case EP_LISTENING:
		return events & POLLIN;
	default:
		return events & (POLLIN | POLLOUT);
	}
}

void readiness_calm(struct ep *ep, short shown)
{
	struct conn *c = atomic_load(&ep->conn);

	if (atomic_load(&ep->state) == EP_CONNECTED) {
		if (shown & POLLIN)
			message_quiet_receiver(c);
		if (shown & POLLOUT)
			message_quiet_sender(c);
	}
	sched_yield();
}

uint64_t readiness_deadline(struct ep *ep, uint64_t deadline)
{
	struct open_file *file = open_file_of(ep);
	struct listening *listening = atomic_load(&file->listening);
	uint64_t next = deadline;

	if (driver_connect_queued(ep))
		next = wait_now() + QUEUE_SLICE_NS;
	else if (atomic_load(&ep->state) == EP_CONNECTING)
		next = atomic_load(&file->deadline);
	else if (listening != NULL && atomic_load(&listening->accepter) != 0 &&
		 atomic_load(&listening->accepter) != getpid())
		next = wait_now() + SLICE_NS;
	return next < deadline ? next : deadline;
}

/* --- many descriptors --- */

struct asked {
	struct ep *ep; /* referenced; NULL: not the driver's */
	short shown;   /* by the kernel, of the socket */
};

struct poll_set {
	struct pollfd *user;
	struct pollfd *fds; /* as the kernel is asked; room for WAIT_EXTRA more */
	struct asked *asked;
	nfds_t count;
};

static bool find_endpoints(struct poll_set *set)
{
	bool any = false;

	for (nfds_t i = 0; i < set->count; i++) {
		set->asked[i] = (struct asked){0};
		if (set->user[i].fd < 0 || number_get(set->user[i].fd, &set->asked[i].ep) != 0)
			set->asked[i].ep = NULL;
		any |= set->asked[i].ep != NULL;
	}
	return any;
}

static void let_go(struct poll_set *set)
{
	for (nfds_t i = 0; i < set->count; i++)
		if (set->asked[i].ep != NULL)
			ep_put(set->asked[i].ep);
	number_release_idle();
}

static bool any_ready(struct poll_set *set)
{
	bool ready = false;

	for (nfds_t i = 0; i < set->count; i++) {
		struct ep *ep = set->asked[i].ep;

		set->user[i].revents = ep == NULL ? 0 : readiness(ep, set->user[i].events);
		ready |= set->user[i].revents != 0;
	}
	return ready;
}

static uint64_t ask_kernel_for(struct poll_set *set, uint64_t deadline)
{
	for (nfds_t i = 0; i < set->count; i++) {
		struct ep *ep = set->asked[i].ep;
		short events = set->user[i].events;

		set->fds[i] = set->user[i];
		if (ep == NULL)
			continue;
		set->fds[i].events = readiness_interest(ep, events);
		/* With nothing to ask for the kernel would still tell of the socket's own state. */
		set->fds[i].fd = set->fds[i].events == 0 ? -1 : atomic_load(&ep->fd);
		if (set->fds[i].fd >= 0 || driver_connect_queued(ep))
			deadline = readiness_deadline(ep, deadline);
	}
	return deadline;
}

static int judge(struct poll_set *set)
{
	int ready = 0;

	for (nfds_t i = 0; i < set->count; i++) {
		struct ep *ep = set->asked[i].ep;
		short shown = set->fds[i].revents;

		set->user[i].revents = ep == NULL ? shown : readiness(ep, set->user[i].events);
		if (ep != NULL && shown != 0 && set->user[i].revents == 0)
			readiness_calm(ep, shown);
		ready += set->user[i].revents != 0;
	}
	return ready;
}

static int poll_set(struct poll_set *set, uint64_t deadline, const sigset_t *mask)
{
	struct sleep_mask m;
	int result;

	sleep_mask_begin(&m, mask);
	do {
		bool ready = any_ready(set);
		uint64_t until = ask_kernel_for(set, deadline);

		result = sleep_on_all(&m, set->fds, set->count, ready ? 0 : until);
		if (result >= 0)
			result = judge(set);
	} while (result == 0 && (deadline == WAIT_FOREVER || wait_now() < deadline));
	sleep_mask_end(&m);
	return result;
}

static bool too_many(nfds_t count)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && count > limit.rlim_cur;
}

/* What the kernel would refuse, and what concerns no endpoint, is the kernel's to answer. */
static bool is_ours(struct pollfd *fds, nfds_t count)
{
	if (count == 0 || too_many(count))
		return false;
	for (nfds_t i = 0; i < count; i++) {
		struct pollfd p;

		if (safe_copy(&p, &fds[i], sizeof(p)) != 0)
			return false;
		if (number_is_ours(p.fd))
			return true;
	}
	return false;
}

static uint64_t deadline_in(uint64_t ns)
{
	uint64_t now = wait_now();

	return ns > WAIT_FOREVER - 1 - now ? WAIT_FOREVER : now + ns;
}

static int serve_poll(struct pollfd *fds, nfds_t count, uint64_t deadline, const sigset_t *mask)
{
	struct poll_set set = {.user = fds, .count = count};
	int result = -ENOMEM;

	set.fds = calloc(count + WAIT_EXTRA, sizeof(*set.fds));
	set.asked = calloc(count, sizeof(*set.asked));
	if (set.fds != NULL && set.asked != NULL) {
		find_endpoints(&set);
		result = poll_set(&set, deadline, mask);
		let_go(&set);
	}
	free(set.fds);
	free(set.asked);
	return result;
}

static int answer(int result, int saved)
{
	errno = result < 0 ? -result : saved;
	return result < 0 ? -1 : result;
}

STANDIN_EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int saved = errno;

	if (!is_ours(fds, count))
		return libc_poll(fds, count, timeout);
	return answer(
		serve_poll(fds, count,
			   timeout < 0 ? WAIT_FOREVER : deadline_in((uint64_t)timeout * NS_PER_MS),
			   NULL),
		saved);
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
STANDIN_EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room)
{
	return is_ours(fds, count) ? poll(fds, count, timeout)
				   : LIBC(__poll_chk)(fds, count, timeout, room);
}

static uint64_t deadline_of(const struct timespec *timeout)
{
	if (timeout == NULL || timeout->tv_sec > (time_t)(WAIT_FOREVER / NS_PER_S / 2))
		return WAIT_FOREVER;
	return deadline_in((uint64_t)timeout->tv_sec * NS_PER_S + (uint64_t)timeout->tv_nsec);
}

static bool is_time(const struct timespec *timeout)
{
	return timeout == NULL ||
	       (timeout->tv_sec >= 0 && timeout->tv_nsec >= 0 && timeout->tv_nsec < (long)NS_PER_S);
}

STANDIN_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			 const sigset_t *mask)
{
	int saved = errno;

	if (!is_time(timeout) || !is_ours(fds, count))
		return LIBC(ppoll)(fds, count, timeout, mask);
	return answer(serve_poll(fds, count, deadline_of(timeout), mask), saved);
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t room);
STANDIN_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			       const sigset_t *mask, size_t room)
{
	return is_ours(fds, count) ? ppoll(fds, count, timeout, mask)
				   : LIBC(__ppoll_chk)(fds, count, timeout, mask, room);
}

/* --- select --- */

static bool in_set(int fd, const fd_set *set)
{
	return set != NULL && FD_ISSET(fd, set);
}

static short wanted(int fd, const fd_set *in, const fd_set *out, const fd_set *except)
{
	return (short)((in_set(fd, in) ? POLLIN : 0) | (in_set(fd, out) ? POLLOUT : 0) |
		       (in_set(fd, except) ? POLLPRI : 0));
}

static bool select_is_ours(int count, const fd_set *in, const fd_set *out, const fd_set *except)
{
	for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++)
		if (wanted(fd, in, out, except) != 0 && number_is_ours(fd))
			return true;
	return false;
}

static int keep(int fd, fd_set *set, bool ready)
{
	if (!in_set(fd, set))
		return 0;
	if (!ready)
		FD_CLR(fd, set);
	return ready;
}

/* The driver is asked for all three kinds at once, whichever of them the caller wants. */
static int select_by_poll(int count, fd_set *in, fd_set *out, fd_set *except, uint64_t deadline,
			  const sigset_t *mask)
{
	struct pollfd fds[FD_SETSIZE];
	nfds_t used = 0;
	int ready = 0;

	for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
		short events = wanted(fd, in, out, except);

		if (events != 0)
			fds[used++] = (struct pollfd){.fd = fd, .events = events};
	}
	ready = serve_poll(fds, used, deadline, mask);
	if (ready < 0)
		return ready;
	ready = 0;
	for (nfds_t i = 0; i < used; i++)
		if (fds[i].revents & POLLNVAL)
			return -EBADF;
	for (nfds_t i = 0; i < used; i++) {
		short shown = fds[i].revents;

		ready += keep(fds[i].fd, in, shown & (POLLIN | POLLHUP | POLLERR));
		ready += keep(fds[i].fd, out, shown & (POLLOUT | POLLERR));
		ready += keep(fds[i].fd, except, shown & POLLPRI);
	}
	return ready;
}

STANDIN_EXPORT int select(int count, fd_set *in, fd_set *out, fd_set *except,
			  struct timeval *timeout)
{
	struct timespec limit;
	uint64_t deadline, now;
	int saved = errno, result;

	if (!select_is_ours(count, in, out, except) ||
	    (timeout != NULL && (timeout->tv_sec < 0 || timeout->tv_usec < 0)))
		return LIBC(select)(count, in, out, except, timeout);
	if (timeout != NULL)
		limit = (struct timespec){.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000,
					  .tv_nsec = timeout->tv_usec % 1000000 * 1000};
	deadline = deadline_of(timeout == NULL ? NULL : &limit);
	result = select_by_poll(count, in, out, except, deadline, NULL);
	now = wait_now();
	/* Linux leaves the rest of the time there. */
	if (timeout != NULL && deadline != WAIT_FOREVER) {
		uint64_t left = now < deadline ? deadline - now : 0;

		timeout->tv_sec = (time_t)(left / NS_PER_S);
		timeout->tv_usec = (suseconds_t)(left % NS_PER_S / 1000);
	}
	return answer(result, saved);
}

STANDIN_EXPORT int pselect(int count, fd_set *in, fd_set *out, fd_set *except,
			   const struct timespec *timeout, const sigset_t *mask)
{
	int saved = errno;

	if (!is_time(timeout) || !select_is_ours(count, in, out, except))
		return LIBC(pselect)(count, in, out, except, timeout, mask);
	return answer(select_by_poll(count, in, out, except, deadline_of(timeout), mask), saved);
}
