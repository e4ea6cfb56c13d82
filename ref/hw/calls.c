/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints, connections, messages, nodes: one request of the driver per call.  Nothing is checked
 * that the real user library does not check, so that the driver is seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "driver.h"
#include "hw.h"

static int set_cloexec(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

/* Close-on-exec is set by a call of its own, as the real library does. */
int hw_open(void)
{
	int fd, error;

	if (hw_driver()->mismatched)
		return -ENXIO;
	fd = hw_open_device();
	if (fd < 0)
		return fd;
	error = set_cloexec(fd);
	if (error == 0)
		return fd;
	close(fd);
	return error;
}

int hw_close(scif_epd_t epd)
{
	return close(epd) < 0 ? -errno : 0;
}

int hw_bind(scif_epd_t epd, uint16_t pn)
{
	int32_t port = pn;
	int error = hw_request(epd, HW_BIND, &port);

	return error < 0 ? error : port;
}

int hw_listen(scif_epd_t epd, int backlog)
{
	int error = hw_request(epd, HW_LISTEN, (void *)(intptr_t)backlog);

	return error < 0 ? error : 0;
}

int hw_connect(scif_epd_t epd, struct scif_portID *dst)
{
	struct hw_connect request = {.self = {0}};
	int error;

	if (dst == NULL)
		return -EINVAL;
	request.peer = (struct hw_port){.node = dst->node, .port = dst->port};
	error = hw_request(epd, HW_CONNECT, &request);
	return error < 0 ? error : request.self.port;
}

static int take_request(scif_epd_t epd, int fd, struct hw_accept *request)
{
	int error = hw_request(epd, hw_driver()->encoding->acceptreq, request);

	return error < 0 ? error : hw_request(fd, HW_ACCEPTREG, &request->endpoint);
}

/* The new descriptor comes before everything else, and stays open across exec. */
int hw_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	struct hw_accept request = {.flags = flags};
	int fd, error;

	if (peer == NULL || newepd == NULL)
		return -EINVAL;
	fd = hw_open_device();
	if (fd < 0)
		return fd;
	error = take_request(epd, fd, &request);
	if (error < 0) {
		close(fd);
		return error;
	}
	*peer = (struct scif_portID){.node = request.peer.node, .port = request.peer.port};
	*newepd = fd;
	return 0;
}

static int message(scif_epd_t epd, unsigned number, const void *bytes, int len, int flags)
{
	struct hw_message request = {.bytes = (uintptr_t)bytes, .len = len, .flags = flags};
	int error = hw_request(epd, number, &request);

	return error < 0 ? error : request.out_len;
}

int hw_send(scif_epd_t epd, const void *msg, int len, int flags)
{
	return message(epd, hw_driver()->encoding->send, msg, len, flags);
}

int hw_recv(scif_epd_t epd, void *msg, int len, int flags)
{
	return message(epd, hw_driver()->encoding->recv, msg, len, flags);
}

/* Any descriptor will do: the two structures are one. */
int hw_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	int ready = poll((struct pollfd *)epds, nepds, (int)timeout);

	return ready < 0 ? -errno : ready;
}

int hw_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self)
{
	int fd = hw_open_device(), count;

	if (fd < 0)
		return fd;
	count = hw_driver()->encoding->get_nodes(fd, nodes, len, self);
	close(fd);
	return count;
}

/* The drivers tell of nodes inside the kernel only. */
int hw_event_register(scif_event_handler_t handler)
{
	(void)handler;
	return -ENOSYS;
}
