/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's connect, on the steps of the fabric's.  Without blocking the driver only notes the
 * wish and lets a worker try: every outcome, a refusal too, is there to be collected by another
 * call.  A request that nobody accepts is withdrawn when the watchdog's time is up.
 * Until the worker comes to it, a connect has no connection yet.
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

bool driver_connect_queued(struct ep *ep)
{
	return atomic_load(&ep->state) == EP_CONNECTING && atomic_load(&ep->conn) == NULL;
}

/* With ep->lock held, as what follows. */
static void come_to_nothing(struct ep *ep, int error)
{
	ep->failure = error;
	atomic_store(&ep->state, EP_BOUND);
}

static void give_up_late(struct ep *ep)
{
	if (atomic_load(&ep->state) != EP_CONNECTING || wait_now() < deadline_of(ep))
		return;
	if (driver_connect_queued(ep))
		come_to_nothing(ep, -ENODEV);
	else
		withdraw(ep, -ENODEV);
}

static void settle_or_give_up(struct ep *ep)
{
	if (!driver_connect_queued(ep))
		settle(ep);
	give_up_late(ep);
	if (atomic_load(&ep->state) != EP_CONNECTING)
		worker_over(ep);
}

void connect_settle(struct ep *ep)
{
	room_enter();
	pthread_mutex_lock(&ep->lock);
	settle_or_give_up(ep);
	pthread_mutex_unlock(&ep->lock);
	if (atomic_load(&ep->state) == EP_CONNECTED)
		ep_publish(ep);
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

static void serve(struct ep *ep, const struct scif_portID *dst)
{
	int error = try(ep, dst);

	atomic_store(&open_file_of(ep)->deadline, wait_now() + device_watchdog());
	if (error == 0)
		return;
	come_to_nothing(ep, error);
	worker_over(ep);
}

/* Without blocking; the port is taken at once, all else is the worker's. */
static int leave_to_worker(struct ep *ep, const struct scif_portID *dst)
{
	int error = bind_if_needed(ep);
	struct wish *wish;

	if (error != 0)
		return error == -ENOBUFS ? -ENOMEM : error;
	wish = worker_wish(ep, dst);
	if (wish == NULL)
		return -ENOMEM;
	atomic_store(&open_file_of(ep)->deadline, WAIT_FOREVER);
	atomic_store(&ep->state, EP_CONNECTING);
	ep->uncollected = true;
	if (worker_has_turn(wish))
		serve(ep, dst);
	if (atomic_load(&ep->state) == EP_CONNECTING)
		worker_entrust(wish);
	return -EINPROGRESS;
}

/* With nothing held; the endpoint may be another's since the wish was made. */
static bool is_of(struct ep *ep, const struct wish *wish)
{
	return atomic_load(&open_file_of(ep)->wish) == wish;
}

void driver_connect_serve(struct ep *ep, const struct wish *wish, const struct scif_portID *dst)
{
	pthread_mutex_lock(&ep->lock);
	if (is_of(ep, wish) && driver_connect_queued(ep))
		serve(ep, dst);
	pthread_mutex_unlock(&ep->lock);
}

void driver_connect_settle(struct ep *ep, const struct wish *wish)
{
	if (is_of(ep, wish))
		connect_settle(ep);
}

/* The local port, an error, or 0: wait.  With ep->lock held. */
static int start(struct ep *ep, const struct scif_portID *dst)
{
	bool blocking = !(fcntl(ep->fd, F_GETFL) & O_NONBLOCK);
	int error;

	settle_or_give_up(ep);
	if (ep->uncollected && atomic_load(&ep->state) != EP_CONNECTING)
		return collect(ep);
	error = refuse_by_state(ep);
	if (error != 0)
		return error;
	if (!blocking)
		return leave_to_worker(ep, dst);
	error = try(ep, dst);
	atomic_store(&open_file_of(ep)->deadline, wait_now() + device_watchdog());
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
		struct pollfd fds[1 + WAIT_EXTRA] = {
			{.fd = driver_connect_queued(ep) ? -1 : ep->fd, .events = POLLOUT}};
		struct wait w;

		wait_enter(&w);
		wait_sleep(NULL, fds, 1, readiness_deadline(ep, WAIT_FOREVER));
		wait_leave(&w);
	}
}
