/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's connect, on the steps of the fabric's.  Without blocking the driver only notes the
 * wish and lets a worker try: every outcome, a refusal too, is there to be collected by another
 * call.  A request that nobody accepts is withdrawn when the watchdog's time is up.
 */
#define embedded_connect fabric_connect
#define connect_settle	 fabric_connect_settle
#include "../embedded/connect.c"
#undef connect_settle
#undef embedded_connect

void connect_settle(struct ep *ep);

#include "libc.h"
#include "standin.h"

static uint64_t deadline_of(struct ep *ep)
{
	return atomic_load(&open_file_of(ep)->deadline);
}

/* With ep->lock held. */
static void give_up_late(struct ep *ep)
{
	if (atomic_load(&ep->state) == EP_CONNECTING && wait_now() >= deadline_of(ep))
		withdraw(ep, -ENODEV);
}

void connect_settle(struct ep *ep)
{
	room_enter();
	fabric_connect_settle(ep);
	pthread_mutex_lock(&ep->lock);
	give_up_late(ep);
	pthread_mutex_unlock(&ep->lock);
	room_leave();
}

/* No port is invalid: on the one that nobody can have there is nobody. */
static int try(struct ep *ep, const struct scif_portID *dst)
{
	int error;

	if (dst->port != 0)
		error = request_connection(ep, dst);
	else if ((error = bind_if_needed(ep)) == 0)
		error = -ECONNREFUSED;
	return error == -ENOBUFS ? -ENOMEM : error;
}

static int note(struct ep *ep, int error)
{
	if (error != 0 && error != -ECONNREFUSED)
		return error;
	ep->failure = error;
	ep->uncollected = true;
	return -EINPROGRESS;
}

/* The local port, an error, or 0: wait.  With ep->lock held. */
static int start(struct ep *ep, const struct scif_portID *dst)
{
	bool blocking = !(fcntl(ep->fd, F_GETFL) & O_NONBLOCK);
	int error;

	settle(ep);
	give_up_late(ep);
	if (ep->uncollected && atomic_load(&ep->state) != EP_CONNECTING)
		return collect(ep);
	error = refuse_by_state(ep);
	if (error != 0)
		return error;
	error = try(ep, dst);
	atomic_store(&open_file_of(ep)->deadline, wait_now() + device_watchdog());
	if (!blocking)
		return note(ep, error);
	ep->connecting_call = error == 0;
	return error;
}

static int wait_for_end(struct ep *ep)
{
	struct wait_signals signals = {.held = false};
	uint64_t deadline = deadline_of(ep);
	short revents;
	int result, error;

	do {
		error = sleep_on_fd(&signals, true, ep->fd, POLLOUT, deadline, &revents);
		if (error == 0 && wait_now() >= deadline)
			error = -ENODEV;
		room_enter();
		result = look(ep, error);
		room_leave();
	} while (result == 0);
	wait_signals_release(&signals);
	return result;
}

int driver_connect(struct ep *ep, const struct scif_portID *peer)
{
	int result;

	process_refresh();
	if (!device_has_node(peer->node) || !node_online(peer->node))
		return -ENODEV;
	room_enter();
	pthread_mutex_lock(&ep->lock);
	result = start(ep, peer);
	pthread_mutex_unlock(&ep->lock);
	room_leave();
	if (result == 0)
		result = wait_for_end(ep);
	ep_publish(ep);
	return result;
}

void driver_connect_finish(struct ep *ep)
{
	while (ep_state_now(ep) == EP_CONNECTING && ep->uncollected) {
		struct pollfd fds[1 + WAIT_EXTRA] = {{.fd = ep->fd, .events = POLLOUT}};
		struct wait w;

		wait_enter(&w);
		wait_sleep(NULL, fds, 1, deadline_of(ep));
		wait_leave(&w);
	}
}
