/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The acceptor's queue: the kernel's, and in front of it the few requests that
 * were taken from there and could not be served or judged at once.
 */
#include "request.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "endpoint.h"
#include "node.h"
#include "process.h"
#include "queue.h"

enum request_state request_state(int sock, uint16_t *node, uint16_t *port)
{
	struct pollfd p = {.fd = sock, .events = POLLRDHUP};
	struct sockaddr_un name;
	socklen_t length = sizeof(name);

	*node = *port = 0;
	/* A nameless connector is none of ours. */
	if (getpeername(sock, (struct sockaddr *)&name, &length) != 0 ||
	    !node_parse_port_name(&name, length, node, port))
		return REQUEST_DEAD;
	if (poll(&p, 1, 0) == 1)
		process_refresh();
	if (!node_online(*node))
		return REQUEST_LOST;
	return p.revents & (POLLHUP | POLLRDHUP) ? REQUEST_DEAD : REQUEST_LIVE;
}

static struct request *take_kept(struct ep *ep)
{
	struct request *request;

	pthread_mutex_lock(&ep->lock);
	request = ep->kept;
	if (request != NULL)
		ep->kept = request->next;
	pthread_mutex_unlock(&ep->lock);
	return request;
}

static int take_queued(struct ep *ep, struct request *request)
{
	struct pollfd p = {.fd = atomic_load(&ep->fd), .events = POLLIN};

	if (ep->backlog <= 0 || poll(&p, 1, 0) != 1 || !(p.revents & POLLIN))
		return -EAGAIN;
	/* If another process is faster, the receive timeout set by scif_listen ends this. */
	request->sock = accept4(p.fd, NULL, NULL, SOCK_CLOEXEC);
	if (request->sock >= 0)
		return 0;
	switch (errno) {
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOBUFS:
		return -ENOBUFS;
	default:
		return -EAGAIN;
	}
}

int request_take(struct ep *ep, struct request **out)
{
	struct request *request = take_kept(ep);
	int error = 0;

	if (request == NULL) {
		request = malloc(sizeof(*request));
		error = request == NULL ? -ENOMEM : take_queued(ep, request);
	}
	if (error == 0)
		*out = request;
	else
		free(request);
	return error;
}

void request_keep(struct ep *ep, struct request *request)
{
	pthread_mutex_lock(&ep->lock);
	request->next = ep->kept;
	ep->kept = request;
	pthread_mutex_unlock(&ep->lock);
}

void request_drop(struct request *request)
{
	close(request->sock);
	free(request);
}

static bool kept_pending(struct ep *ep)
{
	struct request *request;
	uint16_t node, port;

	while ((request = take_kept(ep)) != NULL) {
		if (request_state(request->sock, &node, &port) != REQUEST_DEAD) {
			request_keep(ep, request);
			return true;
		}
		request_drop(request);
	}
	return false;
}

/*
 * A live request cannot be put back into the kernel's queue, where poll(2) sees
 * it, so none is taken from there unless the kernel says that it is dead.
 */
static bool drop_dead_head(struct ep *ep)
{
	struct request *request;

	if (!queue_head_dead(ep->inode) || request_take(ep, &request) != 0)
		return false;
	/* Another process may have taken the dead one first. */
	request_keep(ep, request);
	return !kept_pending(ep);
}

static bool queued(struct ep *ep)
{
	struct pollfd p = {.fd = atomic_load(&ep->fd), .events = POLLIN};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

bool request_pending(struct ep *ep, bool kernel_has_one)
{
	if (kept_pending(ep))
		return true;
	while (kernel_has_one && drop_dead_head(ep))
		kernel_has_one = queued(ep);
	return kernel_has_one;
}

void requests_drop(struct ep *ep)
{
	struct request *request;

	while ((request = take_kept(ep)) != NULL)
		request_drop(request);
}
