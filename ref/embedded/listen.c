/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_listen: makes a bound endpoint take connection requests.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "connect.h"
#include "embedded.h"
#include "endpoint.h"

/*
 * The kernel queues one more than it is told. A backlog below one admits
 * nobody, which is what a socket does that is bound but not listening.
 */
static int start(struct ep *ep, int backlog)
{
	/* accept(2) after poll(2) must not sleep when another process was faster. */
	const struct timeval shortest = {.tv_usec = 1};
	int error = connect_renew(ep);

	if (error != 0)
		return error;
	if (backlog <= 0)
		return 0;
	if (setsockopt(ep->fd, SOL_SOCKET, SO_RCVTIMEO, &shortest, sizeof(shortest)) != 0 ||
	    listen(ep->fd, backlog - 1) != 0)
		return -errno;
	return 0;
}

static int listen_locked(struct ep *ep, enum ep_state state, int backlog)
{
	int error;

	if (state == EP_UNBOUND || state == EP_DISCONNECTED)
		return -EINVAL;
	if (atomic_load(&ep->state) != EP_BOUND)
		return -EISCONN;
	/* Only for want of something. */
	error = start(ep, backlog);
	if (error != 0)
		return -ENOMEM;
	ep->backlog = backlog;
	ep->uncollected = false;
	atomic_store(&ep->state, EP_LISTENING);
	return 0;
}

int embedded_listen(scif_epd_t epd, int backlog)
{
	enum ep_state state;
	struct ep *ep;
	int result = ep_get_sure(epd, &ep);

	if (result != 0)
		return result;
	state = ep_state_now(ep);
	pthread_mutex_lock(&ep->lock);
	result = listen_locked(ep, state, backlog);
	pthread_mutex_unlock(&ep->lock);
	if (result == 0)
		ep_publish(ep);
	ep_put(ep);
	return result;
}
