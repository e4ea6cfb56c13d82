/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the test process that run in threads of their own, and child processes for fork tests.
 */
#include "engine.h"

#include "asleep.h"
#include "pattern.h"

#include <pthread.h>
#include <scif.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define SLICE_MS 50 /* between two looks at the time that is left */

struct cts_thread {
	pthread_t thread;
	struct cts_result (*fn)(void *arg);
	void *arg;
	int stat;
	atomic_bool running, done;
	bool joined;
	struct cts_result result;
	/* of the one call that a cts_begin_* thread makes */
	scif_epd_t epd;
	void *p;
	size_t len;
	off_t loff, roff;
	int flags;
	long timeout;
	struct scif_portID port;
	scif_epd_t accepted;
};

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

static struct cts_thread *thread_start(struct cts_thread *t)
{
	if (pthread_create(&t->thread, NULL, thread_main, t))
		cts_unresolved("no thread");
	while (!atomic_load(&t->running))
		asleep_pace();
	if (t->stat == -1)
		cts_unresolved("the state of a thread cannot be read");
	return t;
}

static struct cts_thread *thread_new(void)
{
	struct cts_thread *t = calloc(1, sizeof *t);

	if (!t)
		cts_unresolved("no memory");
	t->accepted = -1;
	return t;
}

struct cts_thread *cts_thread_start(struct cts_result (*fn)(void *arg), void *arg)
{
	struct cts_thread *t = thread_new();

	t->fn = fn;
	t->arg = arg;
	return thread_start(t);
}

void thread_wait_asleep_fd(int stat, const atomic_bool *done)
{
	while (!asleep_now(stat)) {
		if (atomic_load(done))
			return;
		if (!time_left())
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
		if (!time_left())
			waited_in_vain("a call in another thread does not return");
	}
	close(t->stat);
	t->joined = true;
	return t->result;
}

const unsigned char *cts_thread_bytes(struct cts_thread *t)
{
	return t->p;
}

scif_epd_t cts_thread_epd(struct cts_thread *t)
{
	return t->accepted;
}

static struct cts_result do_send(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_send(t->epd, t->p, (int)t->len, t->flags));
}

static struct cts_result do_recv(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_recv(t->epd, t->p, (int)t->len, t->flags));
}

static struct cts_result do_accept(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_accept(t->epd, &t->port, &t->accepted, t->flags));
}

static struct cts_result do_connect(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_connect(t->epd, &t->port));
}

static struct cts_result do_poll(void *arg)
{
	struct cts_thread *t = arg;
	struct scif_pollepd entry = {.epd = t->epd, .events = (short)t->flags};
	struct cts_result r = CTS_RESULT(scif_poll(&entry, 1, t->timeout));

	if (r.ret > 0)
		r.ret = (unsigned short)entry.revents;
	return r;
}

static struct cts_result do_poll2(void *arg)
{
	struct cts_thread *t = arg;
	struct pollfd entry = {.fd = t->epd, .events = (short)t->flags};
	struct cts_result r = CTS_RESULT(poll(&entry, 1, (int)t->timeout));

	if (r.ret > 0)
		r.ret = (unsigned short)entry.revents;
	return r;
}

static struct cts_result do_close(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_close(t->epd));
}

static struct cts_result do_fence_wait(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_fence_wait(t->epd, t->flags));
}

static struct cts_result do_vwriteto(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_vwriteto(t->epd, t->p, t->len, t->roff, t->flags));
}

static struct cts_result do_vreadfrom(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_vreadfrom(t->epd, t->p, t->len, t->roff, t->flags));
}

static struct cts_result do_writeto(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_writeto(t->epd, t->loff, t->len, t->roff, t->flags));
}

static struct cts_result do_readfrom(void *arg)
{
	struct cts_thread *t = arg;

	return CTS_RESULT(scif_readfrom(t->epd, t->loff, t->len, t->roff, t->flags));
}

static struct cts_thread *begin(struct cts_thread call, struct cts_result (*fn)(void *arg))
{
	struct cts_thread *t = thread_new();

	*t = call;
	t->fn = fn;
	t->arg = t;
	t->accepted = -1;
	return thread_start(t);
}

struct cts_thread *cts_begin_send(scif_epd_t epd, int len, int flags)
{
	return begin((struct cts_thread){.epd = epd,
					 .p = cts_fx_pattern((size_t)len, 1),
					 .len = (size_t)len,
					 .flags = flags},
		     do_send);
}

struct cts_thread *cts_begin_recv(scif_epd_t epd, int len, int flags)
{
	return begin((struct cts_thread){.epd = epd,
					 .p = cts_fx_buffer((size_t)len),
					 .len = (size_t)len,
					 .flags = flags},
		     do_recv);
}

struct cts_thread *cts_begin_accept(scif_epd_t epd, int flags)
{
	return begin((struct cts_thread){.epd = epd, .flags = flags}, do_accept);
}

struct cts_thread *cts_begin_connect(scif_epd_t epd, struct scif_portID dst)
{
	return begin((struct cts_thread){.epd = epd, .port = dst}, do_connect);
}

struct cts_thread *cts_begin_poll(scif_epd_t epd, int events, long timeout)
{
	return begin((struct cts_thread){.epd = epd, .flags = events, .timeout = timeout}, do_poll);
}

struct cts_thread *cts_begin_poll2(scif_epd_t epd, int events, int timeout)
{
	return begin((struct cts_thread){.epd = epd, .flags = events, .timeout = timeout},
		     do_poll2);
}

struct cts_thread *cts_begin_close(scif_epd_t epd)
{
	return begin((struct cts_thread){.epd = epd}, do_close);
}

struct cts_thread *cts_begin_fence_wait(scif_epd_t epd, int mark)
{
	return begin((struct cts_thread){.epd = epd, .flags = mark}, do_fence_wait);
}

struct cts_thread *cts_begin_vwriteto(scif_epd_t epd, void *p, size_t len, off_t roff, int flags)
{
	return begin(
		(struct cts_thread){.epd = epd, .p = p, .len = len, .roff = roff, .flags = flags},
		do_vwriteto);
}

struct cts_thread *cts_begin_vreadfrom(scif_epd_t epd, void *p, size_t len, off_t roff, int flags)
{
	return begin(
		(struct cts_thread){.epd = epd, .p = p, .len = len, .roff = roff, .flags = flags},
		do_vreadfrom);
}

struct cts_thread *cts_begin_writeto(scif_epd_t epd, off_t loff, size_t len, off_t roff, int flags)
{
	return begin(
		(struct cts_thread){
			.epd = epd, .loff = loff, .len = len, .roff = roff, .flags = flags},
		do_writeto);
}

struct cts_thread *cts_begin_readfrom(scif_epd_t epd, off_t loff, size_t len, off_t roff, int flags)
{
	return begin(
		(struct cts_thread){
			.epd = epd, .loff = loff, .len = len, .roff = roff, .flags = flags},
		do_readfrom);
}

static struct cts_thread *asleep(struct cts_thread *t, const char *what)
{
	cts_wait_asleep(t);
	if (cts_thread_done(t))
		cts_unresolved("%s returned %ld instead of waiting", what, (long)t->result.ret);
	return t;
}

struct cts_thread *cts_fx_receiving(scif_epd_t epd, int bytes)
{
	return asleep(cts_begin_recv(epd, bytes, SCIF_RECV_BLOCK), "scif_recv");
}

struct cts_thread *cts_fx_accepting(scif_epd_t epd)
{
	return asleep(cts_begin_accept(epd, SCIF_ACCEPT_SYNC), "scif_accept");
}

struct cts_thread *cts_fx_connecting_to(scif_epd_t epd, struct scif_portID dst)
{
	return asleep(cts_begin_connect(epd, dst), "scif_connect");
}

struct cts_thread *cts_fx_polling(scif_epd_t epd, int events)
{
	return asleep(cts_begin_poll(epd, events, -1), "scif_poll");
}

struct cts_thread *cts_fx_polling2(scif_epd_t epd, int events)
{
	return asleep(cts_begin_poll2(epd, events, -1), "poll");
}

/* fill_send_queue is in endpoints.c: the same thing that the full_queue fixture does. */
struct cts_thread *cts_fx_sending(scif_epd_t epd, int bytes)
{
	fill_send_queue(epd);
	return asleep(cts_begin_send(epd, bytes, SCIF_SEND_BLOCK), "scif_send");
}

pid_t cts_fork(int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();

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
		if (!time_left())
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
