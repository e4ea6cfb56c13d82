/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_bind: gives an endpoint its port.
 */
#include <errno.h>

#include "embedded.h"
#include "endpoint.h"
#include "port.h"

static int bind_locked(struct ep *ep, uint16_t pn)
{
	int port;

	switch (atomic_load(&ep->state)) {
	case EP_UNBOUND:
		break;
	case EP_BOUND:
		return -EINVAL;
	default:
		return -EISCONN;
	}
	port = pn == 0 ? port_bind_any(ep->fd) : port_bind(ep->fd, pn);
	/* The text has one word for everything that is used up. */
	if (port < 0)
		return port == -EINVAL ? -EINVAL : -ENOSPC;
	ep->port = pn == 0 ? (uint16_t)port : pn;
	atomic_store(&ep->state, EP_BOUND);
	return ep->port;
}

int embedded_bind(scif_epd_t epd, uint16_t pn)
{
	struct ep *ep;
	int result = ep_get_sure(epd, &ep);

	if (result != 0)
		return result;
	if (pn > 0 && pn < PORT_PRIVILEGED_END && !port_privileged_caller()) {
		ep_put(ep);
		return -EACCES;
	}
	ep_state_now(ep);
	pthread_mutex_lock(&ep->lock);
	result = bind_locked(ep, pn);
	pthread_mutex_unlock(&ep->lock);
	if (result > 0)
		ep_publish(ep);
	ep_put(ep);
	return result;
}
