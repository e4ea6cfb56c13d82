/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sleeping as a driver does.  A signal ends the call, or not if its handler was installed with
 * SA_RESTART and the driver restarts such calls.  The kernel does not tell a program which handler
 * broke its sleep, so signals are held back from the first sleep of a call to its end and looked
 * for among the pending ones: before a handler runs it is known what it is, and none runs unnoticed
 * between two sleeps.
 */
#include <errno.h>
#include <pthread.h>

#include "libc.h"
#include "standin.h"

/* How long a signal may have to wait for its handler. */
static const uint64_t SLICE_NS = 10000000;
static const uint64_t WORD_SLICE_NS = 5000000;

static bool ends_call(int sig, bool restarts)
{
	struct sigaction action;

	return sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
	       action.sa_handler != SIG_DFL && !(restarts && action.sa_flags & SA_RESTART);
}

/* Whether a signal waits that ends the call; others are delivered. */
static bool interrupted(struct wait_signals *signals, bool restarts)
{
	bool any = false;
	sigset_t pending;

	sigpending(&pending);
	for (int sig = 1; sig < NSIG; sig++) {
		if (sigismember(&pending, sig) != 1 || sigismember(&signals->let_in, sig) != 0)
			continue;
		if (ends_call(sig, restarts))
			return true;
		any = true;
	}
	if (any) {
		wait_signals_release(signals);
		wait_signals_hold(signals);
	}
	return false;
}

static uint64_t slice_end(uint64_t deadline)
{
	uint64_t end = wait_now() + SLICE_NS;

	return end < deadline ? end : deadline;
}

int sleep_on_fd(struct wait_signals *signals, bool restarts, int fd, short events,
		uint64_t deadline, short *revents)
{
	struct pollfd fds[1 + WAIT_EXTRA] = {{.fd = fd, .events = events}};
	bool ended;
	struct wait w;
	int result;

	wait_signals_hold(signals);
	wait_enter(&w);
	do {
		result = wait_sleep(NULL, fds, 1, slice_end(deadline));
		ended = interrupted(signals, restarts);
	} while (result == 0 && !ended && fds[1].revents == 0 && fds[2].revents == 0 &&
		 wait_now() < deadline);
	wait_leave(&w);
	*revents = result > 0 ? fds[0].revents : 0;
	return ended ? -EINTR : result < 0 ? result : 0;
}

int sleep_on_word(struct wait_signals *signals, bool restarts, struct conn *c,
		  _Atomic uint32_t *word, uint32_t seen)
{
	wait_signals_hold(signals);
	while (atomic_load(word) == seen && conn_alive(c) == 0) {
		futex_wait(word, seen, WORD_SLICE_NS, true);
		if (interrupted(signals, restarts))
			return -EINTR;
	}
	return 0;
}

void sleep_mask_begin(struct sleep_mask *m, const sigset_t *mask)
{
	*m = (struct sleep_mask){.callers = {.held = false}};
	if (mask == NULL)
		return;
	wait_signals_hold(&m->callers);
	m->signals = (struct wait_signals){.held = true, .let_in = *mask};
}

void sleep_mask_end(struct sleep_mask *m)
{
	wait_signals_release(m->callers.held ? &m->callers : &m->signals);
}

int sleep_on_all(struct sleep_mask *m, struct pollfd *fds, nfds_t count, uint64_t deadline)
{
	struct wait w;
	int result;

	wait_enter(&w);
	result = wait_sleep(&m->signals, fds, count, deadline);
	wait_leave(&w);
	return result;
}
