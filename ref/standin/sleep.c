/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sleeping as a driver does: a signal whose handler was installed with SA_RESTART does not end the
 * call.  The kernel does not tell a program which handler broke its sleep, so signals are blocked
 * meanwhile and looked for among the pending ones: before a handler runs it is known what it is.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "libc.h"
#include "standin.h"
#include "wait.h"

/* How long a signal may have to wait for its handler. */
static const uint64_t SLICE_NS = 10000000;
static const uint64_t WORD_SLICE_NS = 5000000;

/* What a program does wrong is not put off. */
static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

static void block(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(synchronous) / sizeof(*synchronous); i++)
		sigdelset(&all, synchronous[i]);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

/* A signal that is going to be delivered: none, one that ends the call, one that does not. */
enum waiting { NO_SIGNAL, ENDS_CALL, DOES_NOT_END_CALL };

static enum waiting signal_waiting(const sigset_t *before)
{
	enum waiting found = NO_SIGNAL;
	sigset_t pending;
	struct sigaction action;

	sigpending(&pending);
	for (int sig = 1; sig < NSIG; sig++) {
		if (sigismember(&pending, sig) != 1 || sigismember(before, sig) != 0)
			continue;
		found = DOES_NOT_END_CALL;
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
		    action.sa_handler != SIG_DFL && !(action.sa_flags & SA_RESTART))
			return ENDS_CALL;
	}
	return found;
}

static uint64_t slice_end(uint64_t deadline)
{
	uint64_t end = wait_now() + SLICE_NS;

	return end < deadline ? end : deadline;
}

int sleep_on_fd(int fd, short events, uint64_t deadline, short *revents)
{
	struct pollfd fds[1 + WAIT_EXTRA] = {{.fd = fd, .events = events}};
	enum waiting waiting;
	sigset_t before;
	struct wait w;
	int result;

	block(&before);
	wait_enter(&w);
	do {
		result = wait_sleep(NULL, fds, 1, slice_end(deadline));
		waiting = signal_waiting(&before);
	} while (result == 0 && waiting == NO_SIGNAL && fds[1].revents == 0 &&
		 fds[2].revents == 0 && wait_now() < deadline);
	wait_leave(&w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	*revents = result > 0 ? fds[0].revents : 0;
	if (waiting == ENDS_CALL)
		return -EINTR;
	return result < 0 ? result : 0;
}

int sleep_on_word(struct conn *c, _Atomic uint32_t *word, uint32_t seen)
{
	enum waiting waiting = NO_SIGNAL;
	sigset_t before;

	block(&before);
	while (atomic_load(word) == seen && waiting == NO_SIGNAL && conn_alive(c) == 0) {
		futex_wait(word, seen, WORD_SLICE_NS, true);
		waiting = signal_waiting(&before);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return waiting == ENDS_CALL ? -EINTR : 0;
}

int sleep_masked(struct pollfd *fds, nfds_t count, uint64_t deadline, const sigset_t *mask)
{
	struct wait_signals signals = {.held = mask != NULL};
	struct wait w;
	int result;

	/* The kernel puts the mask in force for the sleep alone. */
	if (mask != NULL)
		signals.let_in = *mask;
	wait_enter(&w);
	result = wait_sleep(mask != NULL ? &signals : NULL, fds, count, deadline);
	wait_leave(&w);
	return result;
}
