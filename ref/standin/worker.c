/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's one worker, which works off the non-blocking connects of all processes of a node one
 * after the other: each waits until the one before it has been accepted, refused or given up.
 *
 * Here each process has a thread for its own, and the turn goes round among the processes: it is a
 * listening socket under the worker's name.  Who wants it next connects to it and so waits in its
 * queue; a turn that is over is handed to the first of them, who gets the socket itself.  When its
 * holder dies the name becomes free, and those who waited ask again.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "connect.h"
#include "libc.h"
#include "node.h"
#include "process.h"
#include "standin.h"

enum { TRIES = 100, STACK_BYTES = 1 << 18 };
static const uint64_t RETRY_NS = 10000000;

/* A connect that did not block and is not over. */
struct wish {
	struct wish *next;
	struct ep *ep; /* its memory stays; the wish is its own as long as its open file says so */
	struct scif_portID dst;
	_Atomic int turn; /* the listening socket, or -1: not yet */
	int queue;	  /* to the holder before it, or -1 */
	bool entrusted;	  /* to the thread, which then frees it */
	atomic_bool over;
};

static struct {
	pthread_mutex_t busy;	    /* held by the thread but when it sleeps */
	struct wish *_Atomic fresh; /* last one first */
	struct wish *first;	    /* the thread's */
	int bell;
	_Atomic uint32_t sleeps; /* odd: from where it looks what to wait for until it has waited */
	bool running;
	struct pollfd *fds;
	size_t room;
} worker = {.busy = PTHREAD_MUTEX_INITIALIZER, .bell = -1};

/* Memory that is there from the beginning: nothing is mapped for a call that only connects. */
static unsigned char stack[STACK_BYTES] __attribute__((aligned(4096)));

/* --- the turn --- */

static socklen_t worker_name(struct sockaddr_un *name)
{
	int length;

	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	length = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
			  FABRIC_NAMES "/%s/%u/worker", node_fabric(), node_self());
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* The turn, a place in its queue, or neither: then it is tried again. */
static void ask(struct wish *wish)
{
	struct sockaddr_un name;
	socklen_t length = worker_name(&name);

	for (int i = 0; i < TRIES; i++) {
		int fd = fd_keep(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

		if (fd < 0)
			return;
		if (bind(fd, (struct sockaddr *)&name, length) == 0 && listen(fd, SOMAXCONN) == 0) {
			atomic_store(&wish->turn, fd);
			return;
		}
		if (connect(fd, (struct sockaddr *)&name, length) == 0) {
			wish->queue = fd;
			return;
		}
		/* The holder has gone meanwhile, or does not listen yet. */
		close(fd);
		sched_yield();
	}
}

union one_fd {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static bool give(int client, int turn)
{
	char byte = 0;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	union one_fd control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
					   .cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &turn, sizeof(turn));
	return sendmsg(client, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

static void hand_over(int turn)
{
	bool handed = false;
	int client;

	while (!handed && (client = accept4(turn, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		handed = give(client, turn);
		close(client);
	}
	/* Who came to the queue after this look finds it closed and asks again. */
	close(turn);
}

/* Looks whether the turn has come: false when the queue has ended. */
static bool receive(struct wish *wish)
{
	char byte;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	union one_fd control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t count = recvmsg(wish->queue, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = count == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	int turn;

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (header == NULL || header->cmsg_type != SCM_RIGHTS)
		return false;
	memcpy(&turn, CMSG_DATA(header), sizeof(turn));
	atomic_store(&wish->turn, fd_keep(turn));
	return true;
}

static void leave_queue(struct wish *wish)
{
	if (wish->queue >= 0)
		close(wish->queue);
	wish->queue = -1;
}

static void await_turn(struct wish *wish)
{
	if (wish->queue >= 0 && !receive(wish))
		leave_queue(wish);
	if (wish->queue < 0 && atomic_load(&wish->turn) < 0)
		ask(wish);
	if (atomic_load(&wish->turn) >= 0)
		leave_queue(wish);
}

static void give_up_turn(struct wish *wish)
{
	int turn = atomic_exchange(&wish->turn, -1);

	if (turn >= 0)
		hand_over(turn);
}

/* --- the thread --- */

static void ring(void)
{
	uint64_t one = 1;

	if (write(worker.bell, &one, sizeof(one)) < 0)
		return; /* it has not been heard yet */
}

static void take_in(void)
{
	struct wish *fresh = atomic_exchange(&worker.fresh, NULL), *in_order = NULL, **last;

	while (fresh != NULL) {
		struct wish *next = fresh->next;

		fresh->next = in_order;
		in_order = fresh;
		fresh = next;
	}
	for (last = &worker.first; *last != NULL; last = &(*last)->next)
		;
	*last = in_order;
}

/* False: it is done with. */
static bool attend(struct wish *wish)
{
	if (!atomic_load(&wish->over)) {
		bool had_turn = atomic_load(&wish->turn) >= 0;

		room_enter();
		if (!had_turn)
			await_turn(wish);
		if (!had_turn && atomic_load(&wish->turn) >= 0)
			driver_connect_serve(wish->ep, wish, &wish->dst);
		room_leave();
		driver_connect_settle(wish->ep, wish);
	}
	if (!atomic_load(&wish->over))
		return true;
	leave_queue(wish);
	give_up_turn(wish);
	free(wish);
	return false;
}

static bool describe_room(size_t count)
{
	struct pollfd *more;

	if (count <= worker.room)
		return true;
	more = realloc(worker.fds, 2 * count * sizeof(*more));
	if (more == NULL)
		return false;
	worker.fds = more;
	worker.room = 2 * count;
	return true;
}

/* What to wait for, after the bell; *deadline: until when at most. */
static size_t describe(uint64_t *deadline)
{
	size_t count = 0;

	for (struct wish *w = worker.first; w != NULL && describe_room(count + 2); w = w->next) {
		struct pollfd *p = &worker.fds[++count];
		bool served = atomic_load(&w->turn) >= 0 && !atomic_load(&w->over);

		*p = (struct pollfd){.fd = served ? atomic_load(&w->ep->fd) : w->queue,
				     .events = served ? POLLOUT : POLLIN};
		if (served)
			*deadline = readiness_deadline(w->ep, *deadline);
		else if (w->queue < 0)
			*deadline = wait_now() + RETRY_NS;
	}
	return count;
}

static void attend_all(void)
{
	take_in();
	for (struct wish **link = &worker.first, *wish; (wish = *link) != NULL;) {
		struct wish *next = wish->next;

		if (attend(wish))
			link = &wish->next;
		else
			*link = next;
	}
}

static int rest_of(uint64_t deadline)
{
	uint64_t now = wait_now();

	return deadline == WAIT_FOREVER ? -1
	       : deadline <= now	? 0
					: (int)((deadline - now) / 1000000 + 1);
}

static void *work(void *nothing)
{
	uint64_t deadline, rung;
	size_t count;

	for (;;) {
		pthread_mutex_lock(&worker.busy);
		attend_all();
		atomic_fetch_add(&worker.sleeps, 1);
		deadline = WAIT_FOREVER;
		count = describe(&deadline);
		worker.fds[0] = (struct pollfd){.fd = worker.bell, .events = POLLIN};
		pthread_mutex_unlock(&worker.busy);
		poll(worker.fds, count + 1, rest_of(deadline));
		atomic_fetch_add(&worker.sleeps, 1);
		if (read(worker.bell, &rung, sizeof(rung)) < 0)
			continue; /* it was not rung */
	}
	return nothing;
}

static bool start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &attr, work, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return started;
}

static bool ensure_running(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	bool running;

	pthread_mutex_lock(&lock);
	if (worker.bell < 0)
		worker.bell = fd_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (!worker.running && worker.bell >= 0 && describe_room(1))
		worker.running = start_thread();
	running = worker.running;
	pthread_mutex_unlock(&lock);
	return running;
}

/* --- for the calls --- */

struct wish *worker_wish(struct ep *ep, const struct scif_portID *dst)
{
	struct wish *wish = ensure_running() ? calloc(1, sizeof(*wish)) : NULL;

	if (wish == NULL)
		return NULL;
	*wish = (struct wish){.ep = ep, .dst = *dst, .turn = -1, .queue = -1};
	ask(wish);
	atomic_store(&open_file_of(ep)->wish, wish);
	return wish;
}

bool worker_has_turn(const struct wish *wish)
{
	return atomic_load(&wish->turn) >= 0;
}

void worker_entrust(struct wish *wish)
{
	wish->entrusted = true;
	wish->next = atomic_load(&worker.fresh);
	while (!atomic_compare_exchange_weak(&worker.fresh, &wish->next, wish))
		;
	ring();
}

/*
 * A descriptor that is polled keeps its socket, and with that the port, beyond close(2). What is over
 * is not polled again, so only a sleep that has begun has to end.
 */
static void end_sleep(void)
{
	/* Asked before the bell rings: of the sleep that begins after it nobody would tell the end. */
	uint32_t seen = atomic_load(&worker.sleeps);

	ring();
	while ((seen & 1) && atomic_load(&worker.sleeps) == seen)
		sched_yield();
}

void worker_over(struct ep *ep)
{
	struct wish *wish = atomic_exchange(&open_file_of(ep)->wish, NULL);

	if (wish == NULL)
		return;
	give_up_turn(wish);
	if (!wish->entrusted) {
		leave_queue(wish);
		free(wish);
		return;
	}
	atomic_store(&wish->over, true);
	end_sleep();
}

/* --- fork --- */

void worker_atfork_prepare(void)
{
	pthread_mutex_lock(&worker.busy);
}

void worker_atfork_parent(void)
{
	pthread_mutex_unlock(&worker.busy);
}

static void forget(struct wish *wish)
{
	int turn = atomic_exchange(&wish->turn, -1);

	leave_queue(wish);
	if (turn >= 0)
		close(turn);
	atomic_store(&open_file_of(wish->ep)->wish, NULL);
	/* The parent will make the request; here it comes to nothing. */
	if (driver_connect_queued(wish->ep))
		atomic_store(&open_file_of(wish->ep)->deadline, 0);
}

void worker_atfork_child(void)
{
	take_in();
	for (; worker.first != NULL; worker.first = worker.first->next)
		forget(worker.first);
	if (worker.bell >= 0)
		close(worker.bell);
	worker.bell = -1;
	worker.running = false;
	atomic_store(&worker.sleeps, 0);
	pthread_mutex_init(&worker.busy, NULL);
}
