/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sleeping and waking. A waker cannot know which thread of the process has to
 * look again, so it wakes all: it makes the wake descriptor readable, waits
 * until everybody who slept before has left, and empties it again.
 */
#include "wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

#define NS_PER_S 1000000000ull
/* Without a wake descriptor sleepers look by themselves this often. */
#define SLICE_NS 20000000ull
/* How long a waker waits for a sleeper that never leaves (longjmp out of a handler). */
#define STUCK_NS 1000000000ull
/* Bytes of the kernel's signal set, which is smaller than the C library's. */
#define KERNEL_SIGSET (_NSIG / 8)

static struct {
	pthread_mutex_t lock;
	_Atomic int fd;
	ino_t inode;
	_Atomic uint32_t generation;
	_Atomic bool draining;	      /* a waker waits for sleepers to leave */
	_Atomic uint32_t sleepers[2]; /* by parity of the generation they entered in */
} wake = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

uint64_t wait_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

struct timespec wait_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

int futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns, bool shared)
{
	struct timespec limit = wait_timespec(ns);
	int op = FUTEX_WAIT | (shared ? 0 : FUTEX_PRIVATE_FLAG);

	return syscall(SYS_futex, word, op, seen, &limit, NULL, 0) == 0 ? 0 : -errno;
}

void futex_wake(_Atomic uint32_t *word, bool shared)
{
	syscall(SYS_futex, word, FUTEX_WAKE | (shared ? 0 : FUTEX_PRIVATE_FLAG), INT32_MAX, NULL,
		NULL, 0);
}

/* The application may have closed the number behind our back and got it for something else. */
static bool wake_fd_is_ours(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == wake.inode;
}

int wait_init(void)
{
	struct stat st;
	int fd, error = 0;

	if (atomic_load(&wake.fd) >= 0)
		return 0;
	pthread_mutex_lock(&wake.lock);
	if (atomic_load(&wake.fd) < 0) {
		fd = fd_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
		if (fd < 0 || fstat(fd, &st) != 0) {
			error = -errno;
		} else {
			wake.inode = st.st_ino;
			atomic_store(&wake.fd, fd);
		}
	}
	pthread_mutex_unlock(&wake.lock);
	return error;
}

void wait_enter(struct wait *w)
{
	for (;;) {
		uint32_t generation = atomic_load(&wake.generation);

		w->slot = generation & 1;
		atomic_fetch_add(&wake.sleepers[w->slot], 1);
		/* A waker that moved on meanwhile would not count us. */
		if (atomic_load(&wake.generation) == generation)
			return;
		wait_leave(w);
	}
}

void wait_leave(struct wait *w)
{
	/* The usual case costs no system call: nobody waits for us to leave. */
	if (atomic_fetch_sub(&wake.sleepers[w->slot], 1) == 1 && atomic_load(&wake.draining))
		futex_wake(&wake.sleepers[w->slot], false);
}

static void drain_sleepers(_Atomic uint32_t *sleepers)
{
	uint64_t limit = wait_now() + STUCK_NS;
	uint32_t count;

	while ((count = atomic_load(sleepers)) != 0 && wait_now() < limit)
		futex_wait(sleepers, count, STUCK_NS / 10, false);
}

void wake_sleepers(void)
{
	uint32_t old;
	uint64_t one = 1;
	int fd;

	if (atomic_load(&wake.sleepers[0]) == 0 && atomic_load(&wake.sleepers[1]) == 0)
		return;
	pthread_mutex_lock(&wake.lock);
	atomic_store(&wake.draining, true);
	old = atomic_fetch_add(&wake.generation, 1) & 1;
	fd = atomic_load(&wake.fd);
	if (wake_fd_is_ours(fd) && write(fd, &one, sizeof(one)) == sizeof(one)) {
		drain_sleepers(&wake.sleepers[old]);
		if (read(fd, &one, sizeof(one)) < 0)
			one = 0; /* emptied already: nothing is left to do */
	}
	atomic_store(&wake.draining, false);
	pthread_mutex_unlock(&wake.lock);
}

static bool time_left(uint64_t deadline, uint64_t limit, struct timespec *left)
{
	uint64_t now, ns;

	if (deadline == WAIT_FOREVER && limit == WAIT_FOREVER)
		return false;
	now = wait_now();
	ns = deadline == WAIT_FOREVER ? limit : deadline > now ? deadline - now : 0;
	if (ns > limit)
		ns = limit;
	*left = wait_timespec(ns);
	return true;
}

/* Those that a fault of the running code raises cannot wait; safe_copy lives by them. */
void wait_signals_hold(struct wait_signals *signals)
{
	static const int of_faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t others;

	if (signals->held)
		return;
	sigfillset(&others);
	for (size_t i = 0; i < sizeof(of_faults) / sizeof(of_faults[0]); i++)
		sigdelset(&others, of_faults[i]);
	signals->held = pthread_sigmask(SIG_BLOCK, &others, &signals->let_in) == 0;
}

void wait_signals_release(struct wait_signals *signals)
{
	if (signals->held)
		pthread_sigmask(SIG_SETMASK, &signals->let_in, NULL);
	signals->held = false;
}

int wait_sleep(struct wait_signals *signals, struct pollfd *fds, nfds_t count, uint64_t deadline)
{
	struct timespec left;
	int wake_fd = atomic_load(&wake.fd);
	bool limited = time_left(deadline, wake_fd < 0 ? SLICE_NS : WAIT_FOREVER, &left);
	long ready;

	if (signals != NULL && deadline != 0)
		wait_signals_hold(signals);
	fds[count] = (struct pollfd){.fd = process_wake_fd(), .events = POLLIN};
	fds[count + 1] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
	/* Not a cancellation point: a cancelled thread would leave itself counted as a sleeper. */
	ready = syscall(SYS_ppoll, fds, count + WAIT_EXTRA, limited ? &left : NULL,
			signals != NULL && signals->held ? &signals->let_in : NULL, KERNEL_SIGSET);
	if (ready < 0)
		return -errno;
	if (fds[count].revents & POLLIN)
		process_refresh();
	if (fds[count].revents != 0)
		ready--;
	if (fds[count + 1].revents & POLLNVAL)
		atomic_compare_exchange_strong(&wake.fd, &wake_fd, -1);
	if (fds[count + 1].revents != 0)
		ready--;
	return (int)ready;
}

int wait_fd(const _Atomic bool *closed, struct wait_signals *signals, int fd, short events,
	    uint64_t deadline, short *revents)
{
	struct pollfd fds[1 + WAIT_EXTRA] = {{.fd = fd, .events = events}};
	struct wait w;
	int result;

	*revents = 0;
	wait_enter(&w);
	result = atomic_load(closed) ? -EINTR : wait_sleep(signals, fds, 1, deadline);
	wait_leave(&w);
	if (result < 0)
		return result;
	*revents = fds[0].revents;
	return atomic_load(closed) ? -EINTR : 0;
}

void wait_atfork_prepare(void)
{
	pthread_mutex_lock(&wake.lock);
}

void wait_atfork_parent(void)
{
	pthread_mutex_unlock(&wake.lock);
}

/* A wake descriptor shared with the parent would wake its threads as well. */
void wait_atfork_child(void)
{
	int fd = atomic_load(&wake.fd);

	pthread_mutex_unlock(&wake.lock);
	atomic_store(&wake.fd, -1);
	atomic_store(&wake.sleepers[0], 0);
	atomic_store(&wake.sleepers[1], 0);
	if (wake_fd_is_ours(fd))
		close(fd);
}
