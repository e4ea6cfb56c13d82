/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer's verbs that make SCIF calls. Endpoints are named by their descriptor in this process.
 */
#include "peer.h"

#include "../runtime/functions.h"
#include "../runtime/pattern.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <scif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define N(i)	   request_number(request, i)
#define CALL(name) static void name(const struct request *request, struct reply *reply)

CALL(call_open)
{
	(void)request;
	reply_result(reply, scif_open());
}

CALL(call_close)
{
	reply_result(reply, scif_close((int)N(0)));
}

CALL(call_bind)
{
	reply_result(reply, scif_bind((int)N(0), (uint16_t)N(1)));
}

CALL(call_listen)
{
	reply_result(reply, scif_listen((int)N(0), (int)N(1)));
}

/* listener PORT BACKLOG: open, bind and listen in one; the endpoint, then its port and node. */
CALL(call_listener)
{
	uint16_t self = 0;
	scif_epd_t epd = scif_open();

	if (epd == -1) {
		reply_result(reply, -1);
		return;
	}
	int port = scif_bind(epd, (uint16_t)N(0));
	if (port == -1 || scif_listen(epd, (int)N(1)) == -1 ||
	    scif_get_nodeIDs(NULL, 0, &self) == -1) {
		reply_result(reply, -1);
		scif_close(epd);
		return;
	}
	snprintf(reply->text, sizeof reply->text, "%d %u", port, self);
	reply_value(reply, epd);
}

CALL(call_connect)
{
	struct scif_portID dst = {.node = (uint16_t)N(1), .port = (uint16_t)N(2)};

	reply_result(reply, scif_connect((int)N(0), &dst));
}

CALL(call_accept)
{
	struct scif_portID from = {0};
	scif_epd_t epd = -1;

	if (scif_accept((int)N(0), &from, &epd, (int)N(1)) == -1) {
		reply_result(reply, -1);
		return;
	}
	snprintf(reply->text, sizeof reply->text, "%u %u", from.node, from.port);
	reply_value(reply, epd);
}

CALL(call_nonblock)
{
	int flags = fcntl((int)N(0), F_GETFL);

	if (flags != -1)
		flags = fcntl((int)N(0), F_SETFL, N(1) ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
	reply_result(reply, flags);
}

/* send E LEN FLAGS SEED FROM */
CALL(call_send)
{
	size_t len = (size_t)N(1);
	void *bytes = malloc(len + 1);

	if (!bytes) {
		reply_bad(reply, "out of memory");
		return;
	}
	cts_fill_at(bytes, len, (unsigned)N(3), (size_t)N(4));
	errno = 0;
	reply_result(reply, scif_send((int)N(0), bytes, (int)len, (int)N(2)));
	free(bytes);
}

/* recv E LEN FLAGS: the count, then the hash of what came */
CALL(call_recv)
{
	size_t len = (size_t)N(1);
	void *bytes = malloc(len + 1);

	if (!bytes) {
		reply_bad(reply, "out of memory");
		return;
	}
	errno = 0;
	int got = scif_recv((int)N(0), bytes, (int)len, (int)N(2));
	reply_result(reply, got);
	if (got >= 0)
		snprintf(reply->text, sizeof reply->text, "%" PRIu64, cts_hash(bytes, (size_t)got));
	free(bytes);
}

CALL(call_register)
{
	reply_result(reply, scif_register((int)N(0), request_address(request, 1), (size_t)N(2),
					  N(3), (int)N(4), (int)N(5)));
}

/* window E LEN OFFSET PROT FLAGS SEED: fresh pages with that pattern; the offset, then the address
 */
CALL(call_window)
{
	size_t len = (size_t)N(1);
	void *addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED) {
		reply_bad(reply, "out of memory");
		return;
	}
	cts_fill_at(addr, len, (unsigned)N(5), 0);
	off_t offset = scif_register((int)N(0), addr, len, N(2), (int)N(3), (int)N(4));
	reply_result(reply, offset);
	if (offset == SCIF_REGISTER_FAILED)
		munmap(addr, len);
	else
		snprintf(reply->text, sizeof reply->text, "%" PRIuPTR, (uintptr_t)addr);
}

CALL(call_unregister)
{
	reply_result(reply, scif_unregister((int)N(0), N(1), (size_t)N(2)));
}

/* mmap E ADDR LEN PROT FLAGS OFFSET */
CALL(call_mmap)
{
	void *pa = scif_mmap(request_address(request, 1), (size_t)N(2), (int)N(3), (int)N(4),
			     (int)N(0), N(5));

	reply_result(reply, (intptr_t)pa);
}

CALL(call_munmap)
{
	reply_result(reply, scif_munmap(request_address(request, 0), (size_t)N(1)));
}

/* readfrom and writeto: E LOFF LEN ROFF FLAGS; vreadfrom and vwriteto: E ADDR LEN ROFF FLAGS */
CALL(call_readfrom)
{
	reply_result(reply, scif_readfrom((int)N(0), N(1), (size_t)N(2), N(3), (int)N(4)));
}

CALL(call_writeto)
{
	reply_result(reply, scif_writeto((int)N(0), N(1), (size_t)N(2), N(3), (int)N(4)));
}

CALL(call_vreadfrom)
{
	reply_result(reply, scif_vreadfrom((int)N(0), request_address(request, 1), (size_t)N(2),
					   N(3), (int)N(4)));
}

CALL(call_vwriteto)
{
	reply_result(reply, scif_vwriteto((int)N(0), request_address(request, 1), (size_t)N(2),
					  N(3), (int)N(4)));
}

/* A mark may be any int, -1 too, so the call's own result decides. */
CALL(call_fence_mark)
{
	int mark = 0;

	reply_result(reply, scif_fence_mark((int)N(0), (int)N(1), &mark));
	if (reply->kind == REPLY_OK)
		reply->ret = mark;
}

CALL(call_fence_wait)
{
	reply_result(reply, scif_fence_wait((int)N(0), (int)N(1)));
}

/* fence_signal E LOFF LVAL ROFF RVAL FLAGS */
CALL(call_fence_signal)
{
	reply_result(reply, scif_fence_signal((int)N(0), N(1), (uint64_t)N(2), N(3), (uint64_t)N(4),
					      (int)N(5)));
}

CALL(call_poll)
{
	struct scif_pollepd entry = {.epd = (int)N(0), .events = (short)N(1)};

	if (scif_poll(&entry, 1, N(2)) == -1)
		reply_result(reply, -1);
	else
		reply_value(reply, (unsigned short)entry.revents);
}

/* nodes: the count, then the own node */
CALL(call_nodes)
{
	uint16_t self = 0;

	(void)request;
	reply_result(reply, scif_get_nodeIDs(NULL, 0, &self));
	snprintf(reply->text, sizeof reply->text, "%u", self);
}

const char *const peer_program = "scif-cts-peer";
const char *const *const peer_functions = scif_functions;
const char *const *const peer_substrate;

int peer_node(void)
{
	uint16_t self = 0;

	return scif_get_nodeIDs(NULL, 0, &self) == -1 ? -1 : self;
}

static const struct verb calls[] = {
	{"open", 0, call_open},
	{"close", 1, call_close},
	{"bind", 2, call_bind},
	{"listen", 2, call_listen},
	{"listener", 2, call_listener},
	{"connect", 3, call_connect},
	{"accept", 2, call_accept},
	{"nonblock", 2, call_nonblock},
	{"send", 5, call_send},
	{"recv", 3, call_recv},
	{"register", 6, call_register},
	{"window", 6, call_window},
	{"unregister", 3, call_unregister},
	{"mmap", 6, call_mmap},
	{"munmap", 2, call_munmap},
	{"readfrom", 5, call_readfrom},
	{"writeto", 5, call_writeto},
	{"vreadfrom", 5, call_vreadfrom},
	{"vwriteto", 5, call_vwriteto},
	{"fence_mark", 2, call_fence_mark},
	{"fence_wait", 2, call_fence_wait},
	{"fence_signal", 6, call_fence_signal},
	{"poll", 3, call_poll},
	{"nodes", 0, call_nodes},
};

bool run_call(const struct request *request, struct reply *reply)
{
	return run_verb(calls, sizeof calls / sizeof *calls, request, reply);
}
