/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_event_register for the embedded fabric.  The library's only thread starts at the first
 * registration; it waits on the process's socket for changes of the node table and calls the
 * handlers.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "embedded.h"
#include "node.h"
#include "process.h"

/* Each handler hears of the events that follow its registration. */
struct handler {
	struct handler *next;
	scif_event_handler_t call;
	uint32_t first_event;
};

static struct {
	pthread_mutex_t lock; /* registration */
	_Atomic(struct handler *) first;
	struct handler *last;
	struct handler *orphans; /* the parent's, in a child: its thread copy may stand in one */
	bool watching_fork;
	bool running;
	uint32_t thread_event; /* the first one that the thread looks at */
	atomic_int wake;
	struct fd_identity identity; /* of wake */
	atomic_uint epoch;	     /* forks between the first process and this one */
} events = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1};

static void tell(const struct handler *handler, uint32_t event)
{
	uint16_t node = (uint16_t)event;

	if (event >> 16 == SCIF_NODE_ADDED)
		handler->call(SCIF_NODE_ADDED, (union scif_event_data){.scif_node_added = node});
	if (event >> 16 == SCIF_NODE_REMOVED)
		handler->call(SCIF_NODE_REMOVED,
			      (union scif_event_data){.scif_node_removed = node});
}

static struct handler *next_of(struct handler *handler)
{
	/* Appending publishes a finished handler; acquire makes its contents visible here. */
	return __atomic_load_n(&handler->next, __ATOMIC_ACQUIRE);
}

/* False in a child that a handler made by fork(): its copy of this thread has nobody to tell. */
static bool tell_all(uint32_t number, unsigned epoch)
{
	struct handler *handler = atomic_load(&events.first);

	for (; handler != NULL; handler = next_of(handler)) {
		/* The difference is taken so that the numbers may wrap. */
		if ((int32_t)(number - handler->first_event) >= 0)
			tell(handler, node_event(number));
		if (atomic_load(&events.epoch) != epoch)
			return false;
	}
	return true;
}

static void drain(int fd)
{
	uint64_t count;

	if (!fd_is(fd, &events.identity))
		atomic_store(&events.wake,
			     -1); /* closed by the program: poll skips it from now on */
	else if (read(fd, &count, sizeof(count)) < 0)
		return; /* taken already: it is only a hint to look again */
}

static void *run(void *arg)
{
	const unsigned epoch = (unsigned)(uintptr_t)arg;
	uint32_t number = events.thread_event;

	for (;;) {
		int wake = atomic_load(&events.wake);
		struct pollfd fds[] = {
			{.fd = wake, .events = POLLIN},
			{.fd = process_wake_fd(), .events = POLLIN},
		};

		while (number != node_event_count())
			if (!tell_all(number++, epoch))
				return NULL;
		poll(fds, 2, -1);
		if (fds[0].revents != 0)
			drain(wake);
		if (fds[1].revents != 0)
			process_refresh();
	}
}

/* Some other thread emptied the socket. */
static void changed(void)
{
	int wake = atomic_load(&events.wake);

	if (fd_is(wake, &events.identity))
		eventfd_write(wake, 1);
}

static void forked(void)
{
	int wake = atomic_exchange(&events.wake, -1);
	struct handler *inherited = atomic_exchange(&events.first, NULL);

	pthread_mutex_init(&events.lock, NULL);
	process_on_change(NULL);
	if (fd_is(wake, &events.identity))
		close(wake);
	if (inherited != NULL) {
		events.last->next = events.orphans;
		events.orphans = inherited;
	}
	events.last = NULL;
	events.running = false;
	atomic_fetch_add(&events.epoch, 1);
}

static int start_thread(void)
{
	pthread_t thread;
	sigset_t all, before;
	int error;

	/* Signals belong to the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, run, (void *)(uintptr_t)atomic_load(&events.epoch));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0)
		return -ENOMEM;
	pthread_detach(thread);
	return 0;
}

static int start(void)
{
	int wake;

	if (events.running)
		return 0;
	if (!events.watching_fork && pthread_atfork(NULL, NULL, forked) != 0)
		return -ENOMEM;
	events.watching_fork = true;
	wake = fd_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (wake < 0)
		return -ENOMEM;
	fd_identify(wake, &events.identity);
	atomic_store(&events.wake, wake);
	events.thread_event = node_event_count();
	process_on_change(changed);
	if (start_thread() < 0) {
		process_on_change(NULL);
		atomic_store(&events.wake, -1);
		close(wake);
		return -ENOMEM;
	}
	events.running = true;
	return 0;
}

static void append(struct handler *handler)
{
	handler->first_event = node_event_count();
	if (events.last == NULL)
		atomic_store(&events.first, handler);
	else
		__atomic_store_n(&events.last->next, handler, __ATOMIC_RELEASE);
	events.last = handler;
}

int embedded_event_register(scif_event_handler_t call)
{
	struct handler *handler;
	int error;

	if (call == NULL)
		return -EINVAL;
	error = process_init();
	if (error < 0)
		return error == -ENXIO ? -ENXIO : -ENOMEM;
	handler = calloc(1, sizeof(*handler));
	if (handler == NULL)
		return -ENOMEM;
	handler->call = call;
	process_refresh();
	pthread_mutex_lock(&events.lock);
	error = start();
	if (error == 0)
		append(handler);
	pthread_mutex_unlock(&events.lock);
	if (error < 0)
		free(handler);
	return error;
}
