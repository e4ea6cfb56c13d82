/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's bind and listen, and the list of nodes.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "../embedded/port.h"
#include "embedded.h"
#include "libc.h"
#include "node.h"
#include "process.h"
#include "safe_copy.h"
#include "standin.h"

int driver_bind(int number, uint16_t port)
{
	return embedded_bind(number, port);
}

static int share_listening(struct ep *ep)
{
	struct listening *listening = mmap(NULL, sizeof(*listening), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (listening == MAP_FAILED)
		return -ENOMEM;
	atomic_store(&open_file_of(ep)->listening, listening);
	return 0;
}

int driver_listen(struct ep *ep, int number, int backlog)
{
	int error;

	if (listening_ended(ep))
		return -EINVAL;
	error = embedded_listen(number, backlog);
	return error != 0 ? error : share_listening(ep);
}

bool port_listens(int number)
{
	int listens = 0;
	socklen_t length = sizeof(listens);

	return getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens;
}

/* How many may wait is the business of the process that began to listen. */
void port_see_listening(struct ep *ep)
{
	if (atomic_load(&ep->state) != EP_BOUND || !port_listens(atomic_load(&ep->fd)))
		return;
	pthread_mutex_lock(&ep->lock);
	if (atomic_load(&ep->state) == EP_BOUND) {
		ep->backlog = 1;
		atomic_store(&ep->state, EP_LISTENING);
	}
	pthread_mutex_unlock(&ep->lock);
}

enum { NODES_MAX = 256 };

static int list_nodes(uint16_t *list)
{
	int count = 0;

	for (unsigned node = 0; node <= NODE_MAX; node++) {
		if (!device_has_node((uint16_t)node) || !node_online((uint16_t)node))
			continue;
		if (count < NODES_MAX)
			list[count] = (uint16_t)node;
		count++;
	}
	return count;
}

/* The driver copies out as many entries as were asked for, those past the count as well. */
int driver_get_nodes(uint16_t *nodes, int len, uint16_t *self)
{
	uint16_t list[NODES_MAX] = {0}, own = node_self();
	int entries = len < NODES_MAX ? len : NODES_MAX, online;

	if (len < 0)
		return -ENOMEM;
	process_refresh();
	online = list_nodes(list);
	if (entries > 0 && safe_copy(nodes, list, (size_t)entries * sizeof(*list)) != 0)
		return -EFAULT;
	if (safe_copy(self, &own, sizeof(own)) != 0)
		return -EFAULT;
	return online;
}
