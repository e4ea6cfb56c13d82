/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library lock, waiting for changes, the service thread with its watches, and the fork
 * handlers.
 */
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "anchor.h"
#include "channel.h"
#include "closer.h"
#include "descriptor.h"
#include "endpoint.h"
#include "errand.h"
#include "handle.h"

enum { BATCH = 32 };

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	unsigned uses;
	enum { IDLE, RUNNING, ENDING } state;
	pthread_t thread;
	int epoll, wake;
	struct watch *timed; /* those with a deadline */
	/*
	 * What epoll gives back is a place in here and its generation, because the watch may be
	 * gone by the time the thread has the lock.
	 */
	struct place {
		struct watch *watch;
		uint32_t generation;
	} * places;
	uint32_t place_count;
	uint32_t first_free; /* no place before this is free */
} service = {.epoll = -1, .wake = -1};

static _Atomic uint32_t changes;
static _Atomic unsigned family;

void service_lock(void)
{
	pthread_mutex_lock(&library_lock);
}

struct timespec service_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
}

bool service_lock_until(uint64_t deadline)
{
	struct timespec limit = service_timespec(deadline);

	return pthread_mutex_clocklock(&library_lock, CLOCK_MONOTONIC, &limit) == 0;
}

void service_unlock(void)
{
	pthread_mutex_unlock(&library_lock);
}

unsigned service_family(void)
{
	return atomic_load_explicit(&family, memory_order_relaxed);
}

uint64_t service_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t service_deadline(int timeout_ms)
{
	return timeout_ms < 0 ? UINT64_MAX : service_now() + (uint64_t)timeout_ms * 1000000u;
}

/* --- waiting --- */

void service_changed(void)
{
	service_wake(&changes);
}

void service_wake(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* The kernel restarts a sleep without a time limit after a handler with SA_RESTART; this never is
 * one.
 */
#define LONGEST_NS 3600000000000ull

int service_sleep(_Atomic uint32_t *word, uint32_t seen, uint64_t deadline)
{
	uint64_t now = service_now(), left = deadline > now ? deadline - now : 0;
	struct timespec limit;

	if (left > LONGEST_NS)
		left = LONGEST_NS;
	limit = service_timespec(left);
	if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0) != 0)
		return -errno;
	return 0;
}

int service_wait(uint64_t deadline, bool interruptible)
{
	uint32_t seen = atomic_load(&changes);
	int result;

	service_unlock();
	do
		result = service_sleep(&changes, seen, deadline);
	while (atomic_load(&changes) == seen &&
	       ((result == -EINTR && !interruptible) ||
		(result == -ETIMEDOUT && service_now() < deadline)));
	service_lock();
	if (atomic_load(&changes) != seen)
		return 0;
	return result == -ETIMEDOUT || result == -EINTR ? result : 0;
}

/* --- watches --- */

void service_wake_thread(void)
{
	uint64_t one = 1;

	if (service.state == RUNNING && !pthread_equal(pthread_self(), service.thread) &&
	    write(service.wake, &one, sizeof(one)) < 0)
		return; /* the counter is full: the thread will wake */
}

static int take_place(struct watch *w)
{
	struct place *more;
	uint32_t i = service.first_free, count;

	while (i < service.place_count && service.places[i].watch != NULL)
		i++;
	if (i == service.place_count) {
		count = service.place_count == 0 ? 16 : 2 * service.place_count;
		more = realloc(service.places, count * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		for (uint32_t j = i; j < count; j++)
			more[j] = (struct place){0};
		service.places = more;
		service.place_count = count;
	}
	service.places[i].watch = w;
	service.first_free = i + 1;
	w->slot = i;
	return 0;
}

static void leave_place(struct watch *w)
{
	service.places[w->slot].watch = NULL;
	if (w->slot < service.first_free)
		service.first_free = w->slot;
}

static struct epoll_event event_of(const struct watch *w)
{
	uint64_t generation = service.places[w->slot].generation;

	return (struct epoll_event){.events = w->events, .data.u64 = generation << 32 | w->slot};
}

int watch_add(struct watch *w, uint32_t events)
{
	struct epoll_event event;
	int error;

	w->next = w->prev = NULL;
	w->deadline = 0;
	w->events = events;
	w->armed = false;
	error = take_place(w);
	if (error != 0)
		return error;
	event = event_of(w);
	if (epoll_ctl(service.epoll, EPOLL_CTL_ADD, w->fd, &event) != 0) {
		error = -errno;
		leave_place(w);
		return error == -ENOSPC ? -ENOMEM : error;
	}
	w->armed = true;
	return 0;
}

void watch_change(struct watch *w, uint32_t events)
{
	struct epoll_event event;

	if (!w->armed || w->events == events)
		return;
	w->events = events;
	event = event_of(w);
	epoll_ctl(service.epoll, EPOLL_CTL_MOD, w->fd, &event);
}

static void untime(struct watch *w)
{
	if (w->deadline == 0)
		return;
	if (w->prev != NULL)
		w->prev->next = w->next;
	else
		service.timed = w->next;
	if (w->next != NULL)
		w->next->prev = w->prev;
	w->next = w->prev = NULL;
	w->deadline = 0;
}

void watch_deadline(struct watch *w, uint64_t deadline)
{
	untime(w);
	if (deadline == 0 || !w->armed)
		return;
	w->deadline = deadline;
	w->next = service.timed;
	if (w->next != NULL)
		w->next->prev = w;
	service.timed = w;
	service_wake_thread();
}

void watch_remove(struct watch *w)
{
	if (!w->armed)
		return;
	untime(w);
	w->armed = false;
	epoll_ctl(service.epoll, EPOLL_CTL_DEL, w->fd, NULL);
	service.places[w->slot].generation++;
	leave_place(w);
}

/* --- the thread --- */

static int milliseconds_left(void)
{
	uint64_t soonest = errands_deadline(), now;

	for (struct watch *w = service.timed; w != NULL; w = w->next)
		if (w->deadline < soonest)
			soonest = w->deadline;
	if (soonest == UINT64_MAX)
		return -1;
	now = service_now();
	/* Rounded up: waking too early would only mean to wake again. */
	return soonest <= now ? 0 : (int)((soonest - now + 999999) / 1000000);
}

static void attend(const struct epoll_event *event)
{
	uint32_t slot = (uint32_t)event->data.u64;
	uint32_t generation = (uint32_t)(event->data.u64 >> 32);
	struct watch *w;

	if (slot >= service.place_count || service.places[slot].generation != generation)
		return;
	w = service.places[slot].watch;
	if (w != NULL)
		w->ready(w, event->events);
}

/* A callback may change the list, so the search starts again after each. */
static void attend_deadlines(void)
{
	uint64_t now = service_now();
	struct watch *w;

	for (;;) {
		for (w = service.timed; w != NULL && w->deadline > now; w = w->next)
			;
		if (w == NULL)
			return;
		untime(w);
		w->due(w);
	}
}

static void calm_wake(void)
{
	uint64_t count;

	if (read(service.wake, &count, sizeof(count)) < 0)
		return; /* somebody else's event came first */
}

#define WAKE_TOKEN UINT64_MAX

static void *serve(void *unused)
{
	struct epoll_event events[BATCH];
	int count, timeout;

	(void)unused;
	service_lock();
	while (service.state == RUNNING) {
		timeout = milliseconds_left();
		service_unlock();
		count = epoll_wait(service.epoll, events, BATCH, timeout);
		service_lock();
		for (int i = 0; i < count; i++) {
			if (events[i].data.u64 == WAKE_TOKEN)
				calm_wake();
			else
				attend(&events[i]);
		}
		attend_deadlines();
		errands_look();
	}
	service_unlock();
	return NULL;
}

/*
 * Nothing is for us but the faults of our own instructions, which libscif may have handlers for.
 */
static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

int service_spawn(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t before;
	int error;

	block_signals(&before);
	error = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

static void close_descriptors(void)
{
	if (service.epoll >= 0)
		close(service.epoll);
	if (service.wake >= 0)
		close(service.wake);
	service.epoll = service.wake = -1;
}

static int open_descriptors(void)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = WAKE_TOKEN};
	int error;

	service.epoll = descriptor_settle(epoll_create1(EPOLL_CLOEXEC));
	if (service.epoll < 0)
		return service.epoll;
	service.wake = descriptor_settle(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (service.wake < 0)
		return service.wake;
	if (epoll_ctl(service.epoll, EPOLL_CTL_ADD, service.wake, &event) == 0)
		return 0;
	error = -errno;
	return error == -ENOSPC ? -ENOMEM : error;
}

static int start(void)
{
	int error = open_descriptors();

	if (error == 0) {
		service.state = RUNNING;
		error = service_spawn(&service.thread, serve, NULL);
	}
	if (error != 0) {
		service.state = IDLE;
		close_descriptors();
		return error;
	}
	errands_open();
	return 0;
}

static void forget_places(void)
{
	free(service.places);
	service.places = NULL;
	service.place_count = service.first_free = 0;
	service.timed = NULL;
}

/* The lock is dropped meanwhile: the thread needs it to end. */
static void stop(void)
{
	pthread_t thread = service.thread;

	service_wake_thread();
	service.state = ENDING;
	service_unlock();
	pthread_join(thread, NULL);
	service_lock();
	errands_close();
	close_descriptors();
	forget_places();
	service.state = IDLE;
	service_changed();
}

int service_use(void)
{
	int error = 0;

	while (service.state == ENDING)
		service_wait(UINT64_MAX, false);
	if (service.state == IDLE)
		error = start();
	if (error == 0)
		service.uses++;
	return error;
}

void service_release(void)
{
	if (--service.uses == 0)
		stop();
}

/* --- fork --- */

static void prepare(void)
{
	service_lock();
	endpoint_atfork_prepare();
}

static void parent(void)
{
	endpoint_atfork_parent();
	service_unlock();
}

static void orphan(struct segment *s)
{
	event_queue_atfork_child(&s->events);
	if (s->kind == SEGMENT_EXPORT)
		export_atfork_child(s);
	else
		import_atfork_child(s);
}

static void child(void)
{
	atomic_fetch_add(&family, 1);
	endpoint_atfork_child();
	close_descriptors();
	service.uses = 0;
	service.state = IDLE;
	handle_atfork_child(orphan);
	anchor_atfork_child();
	errands_atfork_child();
	closer_atfork_child();
	channel_atfork_child_all();
	forget_places();
	service_unlock();
}

/* Not once and for all: what lacked memory at the first endpoint may have it at the next. */
int service_prepare(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static _Atomic bool installed;
	int error = 0;

	/* The lock is for the first time only: nobody is to hold it in a fork. */
	if (atomic_load(&installed))
		return 0;
	pthread_mutex_lock(&lock);
	if (!atomic_load(&installed))
		error = -pthread_atfork(prepare, parent, child);
	atomic_store(&installed, error == 0);
	pthread_mutex_unlock(&lock);
	return error;
}
