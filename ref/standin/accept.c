/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's accept, in its two halves: the first takes a request and makes the connection, the
 * second gives it a descriptor that the caller has opened.  In between a handle stands for it.
 */
#define embedded_accept fabric_accept
#include "../embedded/accept.c"
#undef embedded_accept

#include "libc.h"
#include "standin.h"

/* A listener may be ended by another process that holds it, which wakes nobody here. */
static const uint64_t SLICE_NS = 100000000;

struct halfway {
	struct halfway *next;
	uint64_t handle;
	struct ep *listener;
	int number;
};

static struct {
	pthread_mutex_t lock;
	struct halfway *first;
	uint64_t made;
} halfways = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Looks like the address of something in a kernel, as the driver's handles do. */
static const uint64_t FIRST_HANDLE = UINT64_C(0xffff888000000000);
enum { HANDLE_STEP = 256 };

static int remember(struct ep *listener, int number, uint64_t *handle)
{
	struct halfway *halfway = malloc(sizeof(*halfway));
	struct ep *ep;
	int error = halfway == NULL ? -ENOMEM : ep_get_sure(number, &ep);

	if (error == 0) {
		error = open_file_reset(ep);
		ep_put(ep);
	}
	if (error != 0) {
		free(halfway);
		return error;
	}
	halfway->listener = listener;
	halfway->number = number;
	pthread_mutex_lock(&halfways.lock);
	*handle = halfway->handle = FIRST_HANDLE + HANDLE_STEP * ++halfways.made;
	halfway->next = halfways.first;
	halfways.first = halfway;
	pthread_mutex_unlock(&halfways.lock);
	return 0;
}

/* Takes out one by its handle or, with handle 0, one of the listener: its number, or -1. */
static int take(uint64_t handle, const struct ep *listener)
{
	struct halfway **link = &halfways.first, *found;
	int number = -1;

	pthread_mutex_lock(&halfways.lock);
	while ((found = *link) != NULL &&
	       (handle != 0 ? found->handle != handle : found->listener != listener))
		link = &found->next;
	if (found != NULL) {
		number = found->number;
		*link = found->next;
	}
	pthread_mutex_unlock(&halfways.lock);
	free(found);
	return number;
}

void driver_accept_forget(struct ep *listener)
{
	int number;

	while ((number = take(0, listener)) >= 0)
		embedded_close(number);
}

/* They are the parent's. */
void driver_accept_forked(void)
{
	pthread_mutex_init(&halfways.lock, NULL);
	while (halfways.first != NULL) {
		struct halfway *halfway = halfways.first;

		halfways.first = halfway->next;
		embedded_close(halfway->number);
		free(halfway);
	}
}

static void look_for_requests(struct ep *ep)
{
	struct listening *listening = atomic_load(&open_file_of(ep)->listening);

	/* The driver remembers who came this far. */
	if (listening != NULL)
		atomic_store(&listening->accepter, getpid());
}

static int take_request(struct ep *ep, struct scif_portID *peer, int *number)
{
	int error;

	room_enter();
	error = accept_once(ep, NULL, peer, number);
	room_leave();
	return error;
}

static int accept_waiting(struct ep *ep, struct wait_signals *signals, struct scif_portID *peer,
			  int *number)
{
	short revents;
	int error;

	while ((error = take_request(ep, peer, number)) == -EAGAIN) {
		if (listening_ended(ep))
			return -EINTR;
		if (anything_there(ep))
			continue;
		error = sleep_on_fd(signals, true, ep->backlog > 0 ? ep->fd : -1, POLLIN,
				    wait_now() + SLICE_NS, &revents);
		if (error != 0)
			return error;
	}
	return error;
}

int driver_accept(struct ep *ep, int flags, struct scif_portID *peer, uint64_t *handle)
{
	struct wait_signals signals = {.held = false};
	int number, error;

	if (flags & ~SCIF_ACCEPT_SYNC)
		return -EINVAL;
	if (atomic_load(&ep->state) != EP_LISTENING || listening_ended(ep))
		return -EINVAL;
	if (!(flags & SCIF_ACCEPT_SYNC) && !request_pending(ep, anything_there(ep)))
		return -EAGAIN;
	look_for_requests(ep);
	error = flags & SCIF_ACCEPT_SYNC ? accept_waiting(ep, &signals, peer, &number)
					 : take_request(ep, peer, &number);
	wait_signals_release(&signals);
	if (error == -ENOBUFS)
		error = -ENOMEM;
	if (error != 0)
		return error;
	error = remember(ep, number, handle);
	if (error != 0)
		embedded_close(number);
	return error;
}

int driver_accept_complete(int number, uint64_t handle)
{
	int from = take(handle, NULL);

	return from < 0 ? -ENOENT : number_take_over(number, from);
}
