/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads that do errands: one, and more only while it is held up, so that what the process
 * needs of threads, stacks and heaps does not depend on chance. One that has nothing to do waits
 * for the next errand; there is one such at most, and none after the end of the service.
 */
#include "errand.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "service.h"

/*
 * When so many are held up at once the rest waits for its turn. Peers that never let go have fewer,
 * so that there is always somebody for those who come.
 */
enum { MOST_RUNNERS = 64, MOST_HELD = 24 };

/* Whoever takes longer over one errand is held up. */
#define HELD_UP_NS 500000000u

struct runner {
	pthread_t thread;
	struct runner *next;
	uint64_t since; /* when it began its errand; 0: it has none */
	bool ended;
	bool left; /* nobody joins it: it frees this */
};

/* Library lock. */
static struct {
	struct errand *first, **end;
	unsigned waiting;      /* errands that nobody has taken */
	unsigned waiting_held; /* of these, those that a peer may hold */
	unsigned held;	       /* runners on such an errand */
	struct runner *runners;
	unsigned count; /* of runners that have not ended */
	unsigned free;	/* of these, those that will look for an errand next */
	uint64_t retry; /* there was no thread to be had: not before this again */
	bool closed;
	struct errand *allocated; /* those that errand_free() ends, waiting or begun */
} errands = {.end = &errands.first, .closed = true};

/* Changes with every errand that is sent. */
static _Atomic uint32_t sent;

static unsigned takeable(void)
{
	unsigned places = MOST_HELD - errands.held;

	return errands.waiting - errands.waiting_held +
	       (errands.waiting_held < places ? errands.waiting_held : places);
}

static void unlink_errand(struct errand *e)
{
	struct errand **link = &errands.first;

	while (*link != e)
		link = &(*link)->next;
	*link = e->next;
	if (errands.end == &e->next)
		errands.end = link;
	errands.waiting--;
	errands.waiting_held -= e->peer_may_hold;
}

/* The oldest that may be begun now. */
static struct errand *take(void)
{
	struct errand *e = errands.first;

	while (e != NULL && e->peer_may_hold && errands.held == MOST_HELD)
		e = e->next;
	if (e != NULL)
		unlink_errand(e);
	return e;
}

static void forget(struct runner *r)
{
	struct runner **link = &errands.runners;

	while (*link != r)
		link = &(*link)->next;
	*link = r->next;
	free(r);
}

static void await_errand(void)
{
	uint32_t seen = atomic_load(&sent);

	service_unlock();
	service_sleep(&sent, seen, UINT64_MAX);
	service_lock();
}

/* Lock held, dropped meanwhile. The errand is gone after its run. */
static void do_errand(struct runner *r, struct errand *e)
{
	bool peer_may_hold = e->peer_may_hold;

	errands.free--;
	errands.held += peer_may_hold;
	r->since = service_now();
	service_unlock();
	e->run(e);
	service_lock();
	r->since = 0;
	errands.held -= peer_may_hold;
	errands.free++;
}

/* Lock held on entry, being one of the free; on return as well. */
static void do_errands(struct runner *r)
{
	struct errand *e;

	for (;;) {
		while ((e = take()) != NULL)
			do_errand(r, e);
		if (errands.closed || errands.free > 1)
			return;
		await_errand();
	}
}

static void *runner_main(void *arg)
{
	struct runner *r = arg;

	service_lock();
	do_errands(r);
	errands.free--;
	errands.count--;
	r->ended = true;
	if (r->left)
		forget(r);
	service_changed();
	service_unlock();
	return NULL;
}

/* Of those that have ended; none is waited for. */
static void join_ended(void)
{
	struct runner *next;

	for (struct runner *r = errands.runners; r != NULL; r = next) {
		next = r->next;
		if (r->ended && pthread_tryjoin_np(r->thread, NULL) == 0)
			forget(r);
	}
}

static int begin_runner(void)
{
	struct runner *r = calloc(1, sizeof(*r));

	if (r == NULL || service_spawn(&r->thread, runner_main, r) != 0) {
		free(r);
		return -EAGAIN;
	}
	r->next = errands.runners;
	errands.runners = r;
	errands.count++;
	errands.free++;
	return 0;
}

/* One for each errand that waits, if all are held up: who holds up one may hold up the next. */
static int begin_runners(void)
{
	unsigned wanted = takeable();
	int error = begin_runner();

	while (error == 0 && errands.free < wanted && errands.count < MOST_RUNNERS &&
	       begin_runner() == 0)
		;
	return error;
}

/* When the last of those that are busy counts as held up; 0 if there is none at all. */
static uint64_t all_held_up_at(void)
{
	uint64_t latest = 0;

	for (const struct runner *r = errands.runners; r != NULL; r = r->next)
		if (!r->ended && r->since > latest)
			latest = r->since;
	return latest == 0 ? 0 : latest + HELD_UP_NS;
}

static bool runner_needed(void)
{
	return takeable() > 0 && errands.free == 0 && errands.count < MOST_RUNNERS;
}

int errand_send(struct errand *e)
{
	e->next = NULL;
	*errands.end = e;
	errands.end = &e->next;
	errands.waiting++;
	errands.waiting_held += e->peer_may_hold;
	join_ended();
	if (runner_needed() && all_held_up_at() <= service_now() && begin_runners() != 0) {
		unlink_errand(e);
		return -EAGAIN;
	}
	service_wake(&sent);
	if (errands.free == 0)
		service_wake_thread();
	return 0;
}

int errand_send_allocated(struct errand *e)
{
	int error = errand_send(e);

	if (error == 0) {
		e->next_allocated = errands.allocated;
		errands.allocated = e;
	}
	return error;
}

void errand_free(struct errand *e)
{
	struct errand **link = &errands.allocated;

	while (*link != e)
		link = &(*link)->next_allocated;
	*link = e->next_allocated;
	free(e);
}

uint64_t errands_deadline(void)
{
	uint64_t at = all_held_up_at();

	if (!runner_needed())
		return UINT64_MAX;
	return at > errands.retry ? at : errands.retry;
}

void errands_look(void)
{
	uint64_t now = service_now();

	if (errands_deadline() <= now && begin_runners() != 0)
		errands.retry = now + HELD_UP_NS;
}

void errands_open(void)
{
	errands.closed = false;
}

static void leave_behind(void)
{
	struct runner *next;

	for (struct runner *r = errands.runners; r != NULL; r = next) {
		next = r->next;
		if (r->ended) {
			pthread_join(r->thread, NULL);
			forget(r);
		} else if (!r->left) {
			r->left = true;
			pthread_detach(r->thread);
		}
	}
}

static bool any_joinable(void)
{
	struct runner *r = errands.runners;

	while (r != NULL && (r->ended || r->left))
		r = r->next;
	return r != NULL;
}

void errands_close(void)
{
	uint64_t deadline = service_now() + HELD_UP_NS;

	errands.closed = true;
	service_wake(&sent);
	while (any_joinable() && service_wait(deadline, false) == 0)
		;
	leave_behind();
}

void errands_atfork_child(void)
{
	while (errands.runners != NULL)
		forget(errands.runners);
	while (errands.allocated != NULL)
		errand_free(errands.allocated);
	errands.first = NULL;
	errands.end = &errands.first;
	errands.waiting = errands.waiting_held = errands.held = 0;
	errands.count = errands.free = 0;
	errands.closed = true;
}
