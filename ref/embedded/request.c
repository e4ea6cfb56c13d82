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

static struct request *take_first(struct ep *ep, struct request **list)
{
	struct request *request;

	pthread_mutex_lock(&ep->lock);
	request = *list;
	if (request != NULL)
		*list = request->next;
	pthread_mutex_unlock(&ep->lock);
	return request;
}

static void put_on(struct ep *ep, struct request **list, struct request *request)
{
	pthread_mutex_lock(&ep->lock);
	request->next = *list;
	*list = request;
	pthread_mutex_unlock(&ep->lock);
}

static void drop_all(struct ep *ep, struct request **list)
{
	struct request *request;

	while ((request = take_first(ep, list)) != NULL) {
		close(request->sock);
		free(request);
	}
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
	struct request *request = take_first(ep, &ep->kept);
	int error = 0;

	if (request == NULL) {
		request = malloc(sizeof(*request));
		error = request == NULL ? -ENOMEM : take_queued(ep, request);
	}
	if (error != 0) {
		free(request);
		return error;
	}
	put_on(ep, &ep->served, request);
	*out = request;
	return 0;
}

static void take_from_served(struct ep *ep, const struct request *request)
{
	struct request **link = &ep->served;

	pthread_mutex_lock(&ep->lock);
	while (*link != request)
		link = &(*link)->next;
	*link = request->next;
	pthread_mutex_unlock(&ep->lock);
}

void request_keep(struct ep *ep, struct request *request)
{
	take_from_served(ep, request);
	put_on(ep, &ep->kept, request);
}

void request_done(struct ep *ep, struct request *request)
{
	take_from_served(ep, request);
	free(request);
}

void request_drop(struct ep *ep, struct request *request)
{
	close(request->sock);
	request_done(ep, request);
}

static bool kept_pending(struct ep *ep)
{
	struct request *request;
	uint16_t node, port;

	while ((request = take_first(ep, &ep->kept)) != NULL) {
		put_on(ep, &ep->served, request);
		if (request_state(request->sock, &node, &port) != REQUEST_DEAD) {
			request_keep(ep, request);
			return true;
		}
		request_drop(ep, request);
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
	drop_all(ep, &ep->kept);
}

void requests_atfork_child(struct ep *ep)
{
	drop_all(ep, &ep->kept);
	drop_all(ep, &ep->served);
}
