/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_close: gives up a descriptor and, with the last one, the endpoint.
 */
#include <errno.h>
#include <sys/socket.h>

#include "embedded.h"
#include "endpoint.h"
#include "family.h"
#include "port.h"
#include "registry.h"
#include "wait.h"

/* Looked at again after this long, should a wake be lost. */
#define USERS_SLICE_NS 100000000ull

/*
 * Nobody may use the number once it can mean something else. All who sleep were
 * woken; a transfer in progress comes to its end first, as the text says. A
 * signal handler would wait for the call it interrupted, so it does not.
 */
static void wait_for_users(struct ep *ep)
{
	uint32_t users;

	if (ep_nested())
		return;
	while ((users = atomic_load(&ep->refs)) > 1)
		futex_wait(&ep->refs, users, USERS_SLICE_NS, false);
}

static void end_endpoint(struct ep *ep, int number)
{
	struct conn *c;

	ep_shut(ep);
	wait_for_users(ep);
	c = atomic_load(&ep->conn);
	/*
	 * Wakes threads that sleep in poll(2) itself, whose reference would keep
	 * the socket open. Others that hold it by fork must not notice anything.
	 */
	if (c != NULL ? c->last_holder : !family_holds(number, ep->inode))
		shutdown(number, SHUT_RDWR);
	ep_close_end(number);
	if (c != NULL)
		atomic_store(&c->sock, -1);
	port_freed(ep->port);
}

int embedded_close(scif_epd_t epd)
{
	struct ep *ep;
	int error = ep_get_sure(epd, &ep);

	if (error != 0)
		return error == -ENOTTY ? -EINVAL : error;
	if (!ep_close_begin(ep, epd)) {
		ep_put(ep);
		return -EBADF;
	}
	registry_remove(epd);
	if (ep_move(ep, epd)) {
		ep_close_end(epd);
		ep_publish(ep);
	} else {
		end_endpoint(ep, epd);
	}
	ep_put(ep);
	return 0;
}
