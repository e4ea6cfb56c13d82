/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_intr_signal_wait_pollfd: poll(2), and one signal taken from each segment that shows one.
 */
#include <errno.h>
#include <poll.h>
#include <rsmapi.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "caller_memory.h"
#include "handle.h"
#include "import.h"

enum { FEW = 16 };

#define NS_PER_MS 1000000u

struct poll_set {
	struct pollfd *fds;
	nfds_t count;
};

/* As for rsm_intr_signal_wait(): what was posted before the call counts. */
static void take_input(struct segment *s, void *arg)
{
	const struct poll_set *set = arg;
	nfds_t i = 0;

	while (s->pollfd_users > 0 && i < set->count && set->fds[i].fd != s->events.read_end)
		i++;
	if (s->pollfd_users > 0 && i < set->count)
		segment_take_input(s);
}

static void take_input_of_all(struct poll_set *set)
{
	service_lock();
	handle_each(SEGMENT_ANY, take_input, set);
	service_unlock();
}

/* A descriptor of a segment is known as such as long as somebody has got it and not released it. */
static void take_signals(struct segment *s, void *arg)
{
	struct poll_set *set = arg;

	for (nfds_t i = 0; s->pollfd_users > 0 && i < set->count; i++) {
		struct pollfd *p = &set->fds[i];

		if (p->fd == s->events.read_end && p->revents & (POLLIN | POLLRDNORM))
			p->revents = event_take(&s->events) ? POLLRDNORM : 0;
	}
}

/* How many are left to tell the caller of. */
static int settle(struct poll_set *set)
{
	int ready = 0;

	service_lock();
	handle_each(SEGMENT_ANY, take_signals, set);
	service_unlock();
	for (nfds_t i = 0; i < set->count; i++)
		ready += set->fds[i].revents != 0;
	return ready;
}

static int poll_failed(int error)
{
	switch (error) {
	case EINTR:
		return RSMERR_INTERRUPTED;
	case EINVAL:
		return RSMERR_BAD_ARGS_ERRORS;
	default:
		return RSMERR_INSUFFICIENT_RESOURCES;
	}
}

static int milliseconds_until(uint64_t deadline)
{
	uint64_t now = service_now();

	if (deadline == UINT64_MAX)
		return -1;
	return deadline > now ? (int)((deadline - now + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

/* Another waiter may be faster; then this one goes on waiting. */
static int wait_for_signals(struct poll_set *set, int timeout, int *ready)
{
	uint64_t deadline = service_deadline(timeout);
	int shown;

	do {
		shown = poll(set->fds, set->count, milliseconds_until(deadline));
		if (shown < 0)
			return poll_failed(errno);
		*ready = shown > 0 ? settle(set) : 0;
	} while (*ready == 0 && service_now() < deadline);
	return *ready > 0 ? RSM_SUCCESS : RSMERR_TIMEOUT;
}

/* Written with what is there, so that no signal is taken that could not be told. */
static int fetch(struct poll_set *set, struct pollfd *user)
{
	size_t bytes = set->count * sizeof(*user);

	if (caller_fetch(set->fds, user, bytes) != 0 || caller_store(user, set->fds, bytes) != 0)
		return RSMERR_BAD_ADDR;
	return RSM_SUCCESS;
}

static int wait_set(struct poll_set *set, struct pollfd *user, int timeout, int *ready)
{
	int result = fetch(set, user);

	if (result != RSM_SUCCESS)
		return result;
	take_input_of_all(set);
	result = wait_for_signals(set, timeout, ready);
	if (result == RSM_SUCCESS && caller_store(user, set->fds, set->count * sizeof(*user)) != 0)
		result = RSMERR_BAD_ADDR;
	return result;
}

static int wait_many(struct pollfd *user, nfds_t count, int timeout, int *ready)
{
	struct poll_set set = {.fds = calloc(count, sizeof(*user)), .count = count};
	int result;

	if (set.fds == NULL)
		return RSMERR_INSUFFICIENT_MEM;
	result = wait_set(&set, user, timeout, ready);
	free(set.fds);
	return result;
}

static int wait_any(struct pollfd *user, nfds_t count, int timeout, int *ready)
{
	struct pollfd few[FEW];
	struct poll_set set = {.fds = few, .count = count};
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && count > limit.rlim_cur)
		return RSMERR_BAD_ARGS_ERRORS;
	if (count > FEW)
		return wait_many(user, count, timeout, ready);
	return wait_set(&set, user, timeout, ready);
}

int rsm_intr_signal_wait_pollfd(struct pollfd fds[], nfds_t nfds, int timeout, int *numfdsp)
{
	int saved = errno, ready = 0, result;

	/* Also what the number is if the wait fails. */
	if (numfdsp != NULL && caller_store(numfdsp, &ready, sizeof(ready)) != 0)
		return RSMERR_BAD_ADDR;
	result = wait_any(fds, nfds, timeout, &ready);
	errno = saved;
	if (result == RSM_SUCCESS && numfdsp != NULL &&
	    caller_store(numfdsp, &ready, sizeof(ready)) != 0)
		result = RSMERR_BAD_ADDR;
	return result;
}
