/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the test process that run in threads of their own, and child processes for fork tests.
 */
#include "engine.h"

#include "asleep.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define SLICE_MS 50 /* between two looks at the time that is left */

struct cts_thread {
	struct cts_thread *older;
	pthread_t thread;
	struct cts_result (*fn)(void *arg);
	void *arg;
	int stat;
	atomic_bool running, done;
	bool joined;
	struct cts_result result;
};

/* Threads may outlive the function that began them, so they are kept until the process ends. */
static _Atomic(struct cts_thread *) newest;

static void on_interrupt(int sig)
{
	(void)sig;
}

static void *thread_main(void *arg)
{
	struct cts_thread *t = arg;

	t->stat = asleep_open(gettid());
	atomic_store(&t->running, true);
	t->result = t->fn(t->arg);
	atomic_store(&t->done, true);
	return NULL;
}

struct cts_thread *cts_thread_start(struct cts_result (*fn)(void *arg), void *arg)
{
	struct cts_thread *t = calloc(1, sizeof *t);

	if (!t)
		cts_unresolved("no memory");
	t->fn = fn;
	t->arg = arg;
	t->older = atomic_exchange(&newest, t);
	if (pthread_create(&t->thread, NULL, thread_main, t))
		cts_unresolved("no thread");
	while (!atomic_load(&t->running))
		asleep_pace();
	if (t->stat == -1)
		cts_unresolved("the state of a thread cannot be read");
	return t;
}

void thread_wait_asleep_fd(int stat, const atomic_bool *done)
{
	while (!asleep_now(stat)) {
		if (atomic_load(done))
			return;
		if (!cts_time_left())
			waited_in_vain("a thread neither sleeps nor returns");
		asleep_pace();
	}
}

void cts_wait_asleep(struct cts_thread *t)
{
	thread_wait_asleep_fd(t->stat, &t->done);
}

bool cts_thread_done(struct cts_thread *t)
{
	return atomic_load(&t->done);
}

void cts_thread_signal(struct cts_thread *t, int sig)
{
	struct sigaction action = {.sa_handler = on_interrupt};

	sigaction(sig, &action, NULL);
	pthread_kill(t->thread, sig);
}

struct cts_result cts_join(struct cts_thread *t)
{
	if (t->joined)
		return t->result;
	for (;;) {
		struct timespec slice;

		clock_gettime(CLOCK_REALTIME, &slice);
		slice.tv_sec += 1;
		if (!pthread_timedjoin_np(t->thread, NULL, &slice))
			break;
		if (!cts_time_left())
			waited_in_vain("a call in another thread does not return");
	}
	close(t->stat);
	t->joined = true;
	return t->result;
}

struct cts_thread *thread_asleep(struct cts_thread *t, const char *what)
{
	cts_wait_asleep(t);
	if (cts_thread_done(t))
		cts_unresolved("%s returned %ld instead of waiting", what, (long)t->result.ret);
	return t;
}

void *thread_argument(struct cts_thread *t)
{
	return t->arg;
}

pid_t cts_fork(int (*fn)(void *arg), void *arg)
{
	pid_t pid;

	observe_event("s", "fork");
	pid = fork();
	if (pid == -1)
		cts_unresolved("fork: %s", strerror(errno));
	if (pid)
		return pid;
	peers_forget();
	exit(fn(arg));
}

/* One slice of waiting for the end of a child; valgrind has no pidfd, and there it means asking
 * again. */
static bool child_ended(pid_t pid, int pidfd)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	siginfo_t info = {.si_pid = 0};

	if (pidfd != -1)
		return poll(&end, 1, SLICE_MS) > 0;
	asleep_pace();
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == -1 || info.si_pid;
}

int cts_wait_child(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status;
	pid_t got;

	while (!child_ended(pid, pidfd))
		if (!cts_time_left())
			waited_in_vain("a child process does not end");
	if (pidfd != -1)
		close(pidfd);
	while ((got = waitpid(pid, &status, 0)) == -1 && errno == EINTR)
		;
	if (got == -1)
		cts_unresolved("no child %d to wait for", (int)pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void cts_kill_child(pid_t pid)
{
	kill(pid, SIGKILL);
	cts_wait_child(pid);
}

/*
 * The parent keeps what Check and the runner know it by; the child has its copies of everything the
 * set-up made, as any forked child of a program has.
 */
void cts_become_child(void)
{
	int status;
	pid_t pid;

	fflush(NULL);
	observe_event("s", "fork");
	pid = fork();
	if (pid == -1)
		cts_unresolved("fork: %s", strerror(errno));
	if (!pid)
		return;
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}
