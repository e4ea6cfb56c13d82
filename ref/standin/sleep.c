/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sleeping as a driver does: a signal whose handler was installed with SA_RESTART does not end the
 * call.  The kernel does not tell a program which handler broke its sleep, so signals are blocked
 * meanwhile, and one that is pending ends the sleep before it is delivered: then its handler can be
 * looked at first.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "libc.h"
#include "standin.h"
#include "wait.h"

static const uint64_t WORD_SLICE_NS = 5000000;

struct blocked {
	sigset_t before, during, watched;
};

/* What a program does wrong is not put off. */
static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

/* mask: what is blocked while the call sleeps, NULL: what is blocked now. */
static void block(struct blocked *b, const sigset_t *mask)
{
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(synchronous) / sizeof(*synchronous); i++)
		sigdelset(&all, synchronous[i]);
	pthread_sigmask(SIG_BLOCK, &all, &b->before);
	b->during = mask != NULL ? *mask : b->before;
	sigemptyset(&b->watched);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(&all, sig) == 1 && sigismember(&b->during, sig) == 0)
			sigaddset(&b->watched, sig);
}

static bool is_pending(const struct blocked *b)
{
	sigset_t pending;

	sigpending(&pending);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(&pending, sig) == 1 && sigismember(&b->watched, sig) == 1)
			return true;
	return false;
}

/* Whether a handler is going to run that ends the call. */
static bool ends_call(const struct blocked *b, bool restarts)
{
	sigset_t pending;
	struct sigaction action;

	sigpending(&pending);
	for (int sig = 1; sig < NSIG; sig++) {
		if (sigismember(&pending, sig) != 1 || sigismember(&b->watched, sig) != 1)
			continue;
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
		    action.sa_handler != SIG_DFL && !(restarts && action.sa_flags & SA_RESTART))
			return true;
	}
	return false;
}

/* Delivers what is pending: -EINTR or 0. */
static int unblock(const struct blocked *b, bool restarts)
{
	int error = ends_call(b, restarts) ? -EINTR : 0;

	pthread_sigmask(SIG_SETMASK, &b->during, NULL);
	pthread_sigmask(SIG_SETMASK, &b->before, NULL);
	return error;
}

static int sleep_with(struct pollfd *fds, nfds_t count, uint64_t deadline, const sigset_t *mask,
		      bool restarts)
{
	struct blocked b;
	struct wait w;
	int result, signals, error;

	block(&b, mask);
	signals = signalfd(-1, &b.watched, SFD_CLOEXEC | SFD_NONBLOCK);
	fds[count] = (struct pollfd){.fd = signals, .events = POLLIN};
	/* Without a descriptor for it every signal ends the sleep. */
	if (signals < 0)
		pthread_sigmask(SIG_SETMASK, &b.before, NULL);
	wait_enter(&w);
	result = wait_sleep(NULL, fds, count + 1, deadline);
	wait_leave(&w);
	if (signals < 0)
		return result;
	close(signals);
	error = unblock(&b, restarts);
	if (fds[count].revents != 0 && result > 0)
		result--;
	return error != 0 ? error : result;
}

int sleep_on(struct pollfd *fds, nfds_t count, uint64_t deadline)
{
	return sleep_with(fds, count, deadline, NULL, true);
}

int sleep_masked(struct pollfd *fds, nfds_t count, uint64_t deadline, const sigset_t *mask)
{
	return sleep_with(fds, count, deadline, mask, false);
}

int sleep_on_fd(int fd, short events, uint64_t deadline, short *revents)
{
	struct pollfd fds[1 + SLEEP_EXTRA] = {{.fd = fd, .events = events}};
	int result = sleep_on(fds, 1, deadline);

	*revents = result > 0 ? fds[0].revents : 0;
	return result < 0 ? result : 0;
}

int sleep_on_word(struct conn *c, _Atomic uint32_t *word, uint32_t seen)
{
	struct blocked b;

	block(&b, NULL);
	while (atomic_load(word) == seen && !is_pending(&b) && conn_alive(c) == 0)
		futex_wait(word, seen, WORD_SLICE_NS, true);
	return unblock(&b, true);
}
