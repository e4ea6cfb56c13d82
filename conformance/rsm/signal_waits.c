/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is woken by a signal: several threads, several segments, poll(2), a forked process, and a
 * waiter whose segment goes away. */
#include "parties.h"

#include <sched.h>
#include <sys/wait.h>

struct waiter {
	void *segment;
	int timeout;
};

static int wait_once(void *arg)
{
	const struct waiter *w = arg;

	return rsm_intr_signal_wait(w->segment, w->timeout);
}

static int done_of(struct cts_thread **threads, int count)
{
	int done = 0;

	for (int i = 0; i < count; i++)
		done += cts_thread_done(threads[i]);
	return done;
}

SCENARIO(several_waiters)
{
	enum { MOST = 16 };
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	struct waiter waiter = {im, -1};
	struct cts_thread *threads[MOST];
	int count = (int)cts_param("waiters");

	CTS_REQUIRE(count <= MOST);
	for (int i = 0; i < count; i++) {
		threads[i] = begin(wait_once, &waiter);
		cts_wait_asleep(threads[i]);
	}
	for (int posted = 1; posted <= count; posted++) {
		CTS_REQUIRE(cts_segment_post(im, 0) == RSM_SUCCESS);
		while (done_of(threads, count) < posted)
			sched_yield();
		for (int i = 0; i < count; i++)
			cts_wait_asleep(threads[i]);
		CTS_ASSERT(done_of(threads, count) == posted);
	}
	for (int i = 0; i < count; i++)
		CTS_ASSERT(end_of(threads[i]) == RSM_SUCCESS);
	CTS_ASSERT(rsm_intr_signal_wait(im, 0) == RSMERR_TIMEOUT);
}

SCENARIO(wait_in_child)
{
	struct waiter waiter = {cts_fx_imported(1, RSM_PERM_RDWR), 20000};
	pid_t child = cts_fork(wait_once, &waiter);
	int status;

	/* When the child's own connection is there cannot be seen from here: it gets signals until
	 * it has taken one. */
	while (waitpid(child, &status, WNOHANG) == 0)
		CTS_REQUIRE(cts_segment_post(waiter.segment, 0) == RSM_SUCCESS);
	CTS_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == RSM_SUCCESS);
	CTS_ASSERT(rsm_intr_signal_wait(waiter.segment, 5000) == RSM_SUCCESS);
}

SCENARIO(wait_while_disconnect)
{
	rsm_memseg_export_handle_t ex = NULL;
	rsm_memseg_import_handle_t im = NULL;
	struct waiter waiter = {.timeout = -1};

	if (cts_param("export"))
		waiter.segment = ex = cts_fx_published(1);
	else
		waiter.segment = im = cts_fx_imported(1, RSM_PERM_RDWR);
	struct cts_thread *thread = begin(wait_once, &waiter);
	cts_wait_asleep(thread);
	CTS_ASSERT(!cts_thread_done(thread));
	CTS_ASSERT((ex ? rsm_memseg_export_destroy(ex) : rsm_memseg_import_disconnect(im)) ==
		   RSM_SUCCESS);
	EXPECT(end_of(thread), RSMERR_BAD_SEG_HNDL);
}

/* ---- pollfds ---- */

SCENARIO(wait_pollfd_many)
{
	enum { MOST = 32 };
	int count = (int)cts_param("segments"), ready = 77;
	rsm_memseg_import_handle_t imports[MOST] = {NULL};
	struct pollfd fds[MOST];

	CTS_REQUIRE(count <= MOST);
	for (int i = 0; i < count; i++) {
		imports[i] = i ? cts_fx_imported_again(imports[0], RSM_PERM_RDWR)
			       : cts_fx_imported(1, RSM_PERM_RDWR);
		fds[i] = cts_fx_pollfd_of(imports[i]);
	}
	CTS_REQUIRE(cts_segment_post(imports[0], 0) == RSM_SUCCESS);
	for (int i = 0; i < count; i++)
		cts_await_signal(imports[i]);
	CTS_ASSERT(rsm_intr_signal_wait_pollfd(fds, (nfds_t)count, 0, &ready) == RSM_SUCCESS);
	CTS_ASSERT(ready == count);
	for (int i = 0; i < count; i++) {
		CTS_ASSERT(fds[i].revents == POLLRDNORM);
		CTS_ASSERT(rsm_intr_signal_wait(imports[i], 0) == RSMERR_TIMEOUT);
	}
}

static int take_by_pollfd(void *arg)
{
	struct pollfd *fd = arg;
	int ready = 77;
	int value = rsm_intr_signal_wait_pollfd(fd, 1, 0, &ready);

	if (ready != (value == RSM_SUCCESS))
		return -1;
	return value;
}

SCENARIO(wait_pollfd_race)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	struct pollfd fd = cts_fx_pollfd_of(im);
	long rounds = cts_param("rounds");

	for (long i = 0; i < rounds; i++) {
		CTS_REQUIRE(cts_segment_post(im, 0) == RSM_SUCCESS);
		cts_await_signal(im);
		struct cts_thread *thread = begin(take_by_pollfd, &fd);
		int mine = rsm_intr_signal_wait(im, 0), other = end_of(thread);

		CTS_ASSERT(mine == RSM_SUCCESS || mine == RSMERR_TIMEOUT);
		CTS_ASSERT(other == RSM_SUCCESS || other == RSMERR_TIMEOUT);
		CTS_ASSERT((mine == RSM_SUCCESS) + (other == RSM_SUCCESS) == 1);
	}
}

struct poller {
	struct pollfd fds[2];
	nfds_t count;
};

static int poll_without_limit(void *arg)
{
	struct poller *p = arg;

	return poll(p->fds, p->count, -1);
}

SCENARIO(pollfd_wakes)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	struct poller p = {.fds = {cts_fx_pollfd_of(im)}, .count = 1};
	long rounds = cts_param("rounds");

	for (long i = 0; i < rounds; i++) {
		struct cts_thread *thread = begin(poll_without_limit, &p);

		cts_wait_asleep(thread);
		CTS_ASSERT(!cts_thread_done(thread));
		CTS_REQUIRE(cts_segment_post(im, 0) == RSM_SUCCESS);
		CTS_ASSERT(end_of(thread) == 1);
		CTS_ASSERT(p.fds[0].revents == POLLRDNORM);
		CTS_ASSERT(rsm_intr_signal_wait(im, 0) == RSM_SUCCESS);
	}
}

SCENARIO(pollfd_beside_others)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	int ends[2];

	CTS_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
	struct poller p = {.fds = {cts_fx_pollfd_of(im), {.fd = ends[0], .events = POLLIN}},
			   .count = 2};
	struct cts_thread *thread = begin(poll_without_limit, &p);
	cts_wait_asleep(thread);
	CTS_REQUIRE(write(ends[1], "!", 1) == 1);
	CTS_ASSERT(end_of(thread) == 1);
	CTS_ASSERT(p.fds[0].revents == 0 && p.fds[1].revents == POLLIN);
	char byte;
	CTS_REQUIRE(read(ends[0], &byte, 1) == 1);
	thread = begin(poll_without_limit, &p);
	cts_wait_asleep(thread);
	CTS_REQUIRE(cts_segment_post(im, 0) == RSM_SUCCESS);
	CTS_ASSERT(end_of(thread) == 1);
	CTS_ASSERT(p.fds[0].revents == POLLRDNORM && p.fds[1].revents == 0);
	CTS_REQUIRE(write(ends[1], "!", 1) == 1);
	CTS_ASSERT(poll(p.fds, 2, 0) == 2);
	close(ends[0]);
	close(ends[1]);
}

#define SEGMENTS 2

/* A pipe and two segments, the pipe first or last. */
struct mixed {
	struct pollfd fds[SEGMENTS + 1];
	rsm_memseg_import_handle_t imports[SEGMENTS];
	int pipe, first; /* where they are among fds */
	int ends[2];
};

static struct mixed mixed_open(bool pipe_first)
{
	struct mixed m = {.pipe = pipe_first ? 0 : SEGMENTS, .first = pipe_first};

	CTS_REQUIRE(pipe2(m.ends, O_CLOEXEC) == 0);
	m.fds[m.pipe] = (struct pollfd){.fd = m.ends[0], .events = POLLIN};
	for (int i = 0; i < SEGMENTS; i++) {
		m.imports[i] = cts_fx_imported(1, RSM_PERM_RDWR);
		m.fds[m.first + i] = cts_fx_pollfd_of(m.imports[i]);
	}
	return m;
}

/* Only that entry shows something, and what belongs there. */
static void only_ready(const struct mixed *m, int entry)
{
	for (int i = 0; i <= SEGMENTS; i++) {
		int ready = i == m->pipe ? POLLIN : POLLRDNORM;

		CTS_ASSERT(m->fds[i].revents == (i == entry ? ready : 0));
	}
}

static int wait_mixed(void *arg)
{
	struct mixed *m = arg;
	int ready = 77, value = rsm_intr_signal_wait_pollfd(m->fds, SEGMENTS + 1, -1, &ready);

	return value == RSM_SUCCESS && ready != 1 ? -1 : value;
}

SCENARIO(r02_signal_after_other_ready)
{
	struct mixed m = mixed_open(cts_param("pipe_first"));
	char byte;

	for (long i = 0; i < cts_param("rounds"); i++) {
		int segment = (int)(i % SEGMENTS);

		CTS_REQUIRE(write(m.ends[1], "!", 1) == 1);
		EXPECT(wait_mixed(&m), RSM_SUCCESS);
		only_ready(&m, m.pipe);
		CTS_REQUIRE(read(m.ends[0], &byte, 1) == 1);
		struct cts_thread *thread = begin(wait_mixed, &m);
		cts_wait_asleep(thread);
		CTS_ASSERT(!cts_thread_done(thread));
		CTS_REQUIRE(cts_segment_post(m.imports[segment], 0) == RSM_SUCCESS);
		EXPECT(end_of(thread), RSM_SUCCESS);
		only_ready(&m, m.first + segment);
	}
	close(m.ends[0]);
	close(m.ends[1]);
}

static void get_and_release(rsm_memseg_import_handle_t im, long rounds)
{
	struct pollfd fd = {0};

	for (long i = 0; i < rounds; i++) {
		CTS_ASSERT(rsm_memseg_get_pollfd(im, &fd) == RSM_SUCCESS);
		CTS_ASSERT(rsm_memseg_release_pollfd(im) == RSM_SUCCESS);
	}
}

SCENARIO(pollfd_cycle)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);

	get_and_release(im, 10);
	struct cts_holdings before = cts_holdings();
	get_and_release(im, cts_param("rounds"));
	nothing_left(&before);
	CTS_ASSERT(rsm_memseg_import_disconnect(im) == RSM_SUCCESS);
}
