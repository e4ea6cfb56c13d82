/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's requests: numbers, structures, and what is written back.  A request that is none of
 * this driver's is refused with a line on standard error, because it is a provider's mistake.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../hw/driver.h"
#include "libc.h"
#include "node.h"
#include "safe_copy.h"
#include "scif.h"
#include "standin.h"

/* A structure of the caller's, copied in; an operation's result is the request's. */
#define COPY_IN(structure, name)                                                                   \
	struct structure name;                                                                     \
	if (safe_copy(&name, argument, sizeof(name)) != 0)                                         \
	return -EFAULT

static int write_back(void *to, const void *from, size_t bytes)
{
	return safe_copy(to, from, bytes) != 0 ? -EFAULT : 0;
}

static void *pointer(uint64_t word)
{
	return (void *)(uintptr_t)word;
}

struct call {
	int number;
	struct ep *ep;
};

static int serve_bind(const struct call *call, void *argument)
{
	int32_t port;
	int result;

	if (safe_copy(&port, argument, sizeof(port)) != 0)
		return -EFAULT;
	result = driver_bind(call->number, (uint16_t)port);
	if (result < 0)
		return result;
	port = result;
	return write_back(argument, &port, sizeof(port));
}

static int serve_listen(const struct call *call, void *argument)
{
	return driver_listen(call->ep, call->number, (int)(intptr_t)argument);
}

static int serve_connect(const struct call *call, void *argument)
{
	COPY_IN(hw_connect, request);
	struct scif_portID peer = {.node = request.peer.node, .port = request.peer.port};
	int result = driver_connect(call->ep, &peer);

	if (result < 0)
		return result;
	request.self = (struct hw_port){.node = node_self(), .port = (uint16_t)result};
	return write_back(argument, &request, sizeof(request));
}

static int serve_acceptreq(const struct call *call, void *argument)
{
	COPY_IN(hw_accept, request);
	struct scif_portID peer;
	uint64_t handle;
	int result = driver_accept(call->ep, request.flags, &peer, &handle);

	if (result < 0)
		return result;
	request.peer = (struct hw_port){.node = peer.node, .port = peer.port};
	request.endpoint = handle;
	return write_back(argument, &request, sizeof(request));
}

static int serve_acceptreg(const struct call *call, void *argument)
{
	uint64_t handle;

	if (safe_copy(&handle, argument, sizeof(handle)) != 0)
		return -EFAULT;
	return driver_accept_complete(call->number, handle);
}

static int write_length(void *argument, int32_t length)
{
	struct hw_message *request = argument;

	return write_back(&request->out_len, &length, sizeof(length));
}

static int serve_send(const struct call *call, void *argument)
{
	COPY_IN(hw_message, request);
	int result = driver_send(call->ep, pointer(request.bytes), request.len, request.flags);

	return result < 0 ? result : write_length(argument, result);
}

static int serve_recv(const struct call *call, void *argument)
{
	COPY_IN(hw_message, request);
	int result = driver_recv(call->ep, pointer(request.bytes), request.len, request.flags);

	return result < 0 ? result : write_length(argument, result);
}

static int serve_reg(const struct call *call, void *argument)
{
	COPY_IN(hw_register, request);
	struct hw_register *out = argument;
	hw_offset offset = driver_register(call->ep, pointer(request.addr), request.len,
					   request.offset, request.prot, request.flags);

	return offset < 0 ? (int)offset : write_back(&out->out_offset, &offset, sizeof(offset));
}

static int serve_unreg(const struct call *call, void *argument)
{
	COPY_IN(hw_unregister, request);
	return driver_unregister(call->ep, request.offset, request.len);
}

static int copy(const struct call *call, void *argument, bool read)
{
	COPY_IN(hw_copy, request);
	return driver_copy(call->ep, request.loffset, pointer(request.addr), request.len,
			   request.roffset, request.flags, read);
}

static int serve_readfrom(const struct call *call, void *argument)
{
	return copy(call, argument, true);
}

static int serve_writeto(const struct call *call, void *argument)
{
	return copy(call, argument, false);
}

static int serve_get_nodes_knc(const struct call *call, void *argument)
{
	(void)call;
	COPY_IN(hw_nodes_knc, request);
	int online = driver_get_nodes(pointer(request.nodes), request.len, pointer(request.self));

	if (online < 0)
		return online;
	request.len = online;
	return write_back(argument, &request, sizeof(request));
}

static int serve_get_nodes_mpss4(const struct call *call, void *argument)
{
	(void)call;
	COPY_IN(hw_nodes_mpss4, request);
	int online = driver_get_nodes(pointer(request.nodes), request.len, pointer(request.self));

	if (online < 0)
		return online;
	request.len = online;
	return write_back(argument, &request, sizeof(request));
}

static int serve_fence_mark(const struct call *call, void *argument)
{
	COPY_IN(hw_fence_mark, request);
	return driver_fence_mark(call->ep, request.flags, pointer(request.mark));
}

static int serve_fence_wait(const struct call *call, void *argument)
{
	return driver_fence_wait(call->ep, (int)(intptr_t)argument);
}

static int serve_fence_signal(const struct call *call, void *argument)
{
	COPY_IN(hw_fence_signal, request);
	return driver_fence_signal(call->ep, request.loff, request.lval, request.roff, request.rval,
				   request.flags);
}

static int serve_get_version(const struct call *call, void *argument)
{
	enum { VERSION = 1 };

	(void)call;
	(void)argument;
	return VERSION;
}

static const struct request {
	unsigned knc, mpss4; /* 0: there is none */
	int (*serve)(const struct call *call, void *argument);
} requests[] = {
	{HW_BIND, HW_BIND, serve_bind},
	{HW_LISTEN, HW_LISTEN, serve_listen},
	{HW_CONNECT, HW_CONNECT, serve_connect},
	{HW_KNC_ACCEPTREQ, HW_MPSS4_ACCEPTREQ, serve_acceptreq},
	{HW_ACCEPTREG, HW_ACCEPTREG, serve_acceptreg},
	{HW_KNC_SEND, HW_MPSS4_SEND, serve_send},
	{HW_KNC_RECV, HW_MPSS4_RECV, serve_recv},
	{HW_KNC_REG, HW_MPSS4_REG, serve_reg},
	{HW_KNC_UNREG, HW_MPSS4_UNREG, serve_unreg},
	{HW_KNC_READFROM, HW_MPSS4_READFROM, serve_readfrom},
	{HW_KNC_WRITETO, HW_MPSS4_WRITETO, serve_writeto},
	{HW_KNC_VREADFROM, HW_MPSS4_VREADFROM, serve_readfrom},
	{HW_KNC_VWRITETO, HW_MPSS4_VWRITETO, serve_writeto},
	{HW_KNC_GET_NODEIDS, 0, serve_get_nodes_knc},
	{0, HW_MPSS4_GET_NODEIDS, serve_get_nodes_mpss4},
	{HW_KNC_FENCE_MARK, HW_MPSS4_FENCE_MARK, serve_fence_mark},
	{HW_FENCE_WAIT, HW_FENCE_WAIT, serve_fence_wait},
	{HW_KNC_FENCE_SIGNAL, HW_MPSS4_FENCE_SIGNAL, serve_fence_signal},
	{HW_KNC_GET_VERSION, 0, serve_get_version},
};

/* One write: several processes share standard error. */
static int refuse(unsigned request)
{
	char line[128];
	int length = snprintf(line, sizeof(line),
			      "scif-standin: 0x%08x is no request of the %s driver\n", request,
			      device_is_mpss4() ? "MPSS 4" : "Knights Corner");

	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return -EINVAL; /* nobody there to be told */
	return -EINVAL;
}

static const struct request *find(unsigned number)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if ((device_is_mpss4() ? requests[i].mpss4 : requests[i].knc) == number)
			return &requests[i];
	return NULL;
}

/* The kernel takes the number as 32 bits. */
int request_serve(int number, struct ep *ep, unsigned long request, void *argument)
{
	const struct request *found = (unsigned)request == 0 ? NULL : find((unsigned)request);
	const struct call call = {.number = number, .ep = ep};

	safe_copy_install();
	port_see_listening(ep);
	return found == NULL ? refuse((unsigned)request) : found->serve(&call, argument);
}
