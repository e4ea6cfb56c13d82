/* SPDX-License-Identifier: BSD-2-Clause */
/* SCIF calls of the test process that run in threads of their own. */
#include "scif_endpoints.h"

#include "pattern.h"

#include <stdlib.h>

struct scif_call {
	scif_epd_t epd;
	void *p;
	size_t len;
	off_t loff, roff;
	int flags;
	long timeout;
	struct scif_portID port;
	scif_epd_t accepted;
};

const unsigned char *cts_thread_bytes(struct cts_thread *t)
{
	return ((struct scif_call *)thread_argument(t))->p;
}

scif_epd_t cts_thread_epd(struct cts_thread *t)
{
	return ((struct scif_call *)thread_argument(t))->accepted;
}

static struct cts_result do_send(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_send(t->epd, t->p, (int)t->len, t->flags));
}

static struct cts_result do_recv(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_recv(t->epd, t->p, (int)t->len, t->flags));
}

static struct cts_result do_accept(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_accept(t->epd, &t->port, &t->accepted, t->flags));
}

static struct cts_result do_connect(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_connect(t->epd, &t->port));
}

static struct cts_result do_poll(void *arg)
{
	struct scif_call *t = arg;
	struct scif_pollepd entry = {.epd = t->epd, .events = (short)t->flags};
	struct cts_result r = CTS_RESULT(scif_poll(&entry, 1, t->timeout));

	if (r.ret > 0)
		r.ret = (unsigned short)entry.revents;
	return r;
}

static struct cts_result do_poll2(void *arg)
{
	struct scif_call *t = arg;
	struct pollfd entry = {.fd = t->epd, .events = (short)t->flags};
	struct cts_result r = CTS_RESULT(poll(&entry, 1, (int)t->timeout));

	if (r.ret > 0)
		r.ret = (unsigned short)entry.revents;
	return r;
}

static struct cts_result do_close(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_close(t->epd));
}

static struct cts_result do_fence_wait(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_fence_wait(t->epd, t->flags));
}

static struct cts_result do_vwriteto(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_vwriteto(t->epd, t->p, t->len, t->roff, t->flags));
}

static struct cts_result do_vreadfrom(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_vreadfrom(t->epd, t->p, t->len, t->roff, t->flags));
}

static struct cts_result do_writeto(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_writeto(t->epd, t->loff, t->len, t->roff, t->flags));
}

static struct cts_result do_readfrom(void *arg)
{
	struct scif_call *t = arg;

	return CTS_RESULT(scif_readfrom(t->epd, t->loff, t->len, t->roff, t->flags));
}

static struct cts_thread *begin(struct scif_call call, struct cts_result (*fn)(void *arg))
{
	struct scif_call *kept = malloc(sizeof *kept);

	if (!kept)
		cts_unresolved("no memory");
	*kept = call;
	kept->accepted = -1;
	return cts_thread_start(fn, kept);
}

struct cts_thread *cts_begin_send(scif_epd_t epd, int len, int flags)
{
	return begin((struct scif_call){.epd = epd,
					.p = cts_fx_pattern((size_t)len, 1),
					.len = (size_t)len,
					.flags = flags},
		     do_send);
}

struct cts_thread *cts_begin_recv(scif_epd_t epd, int len, int flags)
{
	return begin((struct scif_call){.epd = epd,
					.p = cts_fx_buffer((size_t)len),
					.len = (size_t)len,
					.flags = flags},
		     do_recv);
}

struct cts_thread *cts_begin_accept(scif_epd_t epd, int flags)
{
	return begin((struct scif_call){.epd = epd, .flags = flags}, do_accept);
}

struct cts_thread *cts_begin_connect(scif_epd_t epd, struct scif_portID dst)
{
	return begin((struct scif_call){.epd = epd, .port = dst}, do_connect);
}

struct cts_thread *cts_begin_poll(scif_epd_t epd, int events, long timeout)
{
	return begin((struct scif_call){.epd = epd, .flags = events, .timeout = timeout}, do_poll);
}

struct cts_thread *cts_begin_poll2(scif_epd_t epd, int events, int timeout)
{
	return begin((struct scif_call){.epd = epd, .flags = events, .timeout = timeout}, do_poll2);
}

struct cts_thread *cts_begin_close(scif_epd_t epd)
{
	return begin((struct scif_call){.epd = epd}, do_close);
}

struct cts_thread *cts_begin_fence_wait(scif_epd_t epd, int mark)
{
	return begin((struct scif_call){.epd = epd, .flags = mark}, do_fence_wait);
}

struct cts_thread *cts_begin_vwriteto(scif_epd_t epd, void *p, size_t len, off_t roff, int flags)
{
	return begin(
		(struct scif_call){.epd = epd, .p = p, .len = len, .roff = roff, .flags = flags},
		do_vwriteto);
}

struct cts_thread *cts_begin_vreadfrom(scif_epd_t epd, void *p, size_t len, off_t roff, int flags)
{
	return begin(
		(struct scif_call){.epd = epd, .p = p, .len = len, .roff = roff, .flags = flags},
		do_vreadfrom);
}

struct cts_thread *cts_begin_writeto(scif_epd_t epd, off_t loff, size_t len, off_t roff, int flags)
{
	return begin(
		(struct scif_call){
			.epd = epd, .loff = loff, .len = len, .roff = roff, .flags = flags},
		do_writeto);
}

struct cts_thread *cts_begin_readfrom(scif_epd_t epd, off_t loff, size_t len, off_t roff, int flags)
{
	return begin(
		(struct scif_call){
			.epd = epd, .loff = loff, .len = len, .roff = roff, .flags = flags},
		do_readfrom);
}

struct cts_thread *cts_fx_receiving(scif_epd_t epd, int bytes)
{
	return thread_asleep(cts_begin_recv(epd, bytes, SCIF_RECV_BLOCK), "scif_recv");
}

struct cts_thread *cts_fx_accepting(scif_epd_t epd)
{
	return thread_asleep(cts_begin_accept(epd, SCIF_ACCEPT_SYNC), "scif_accept");
}

struct cts_thread *cts_fx_connecting_to(scif_epd_t epd, struct scif_portID dst)
{
	return thread_asleep(cts_begin_connect(epd, dst), "scif_connect");
}

struct cts_thread *cts_fx_polling(scif_epd_t epd, int events)
{
	return thread_asleep(cts_begin_poll(epd, events, -1), "scif_poll");
}

struct cts_thread *cts_fx_polling2(scif_epd_t epd, int events)
{
	return thread_asleep(cts_begin_poll2(epd, events, -1), "poll");
}

struct cts_thread *cts_fx_sending(scif_epd_t epd, int bytes)
{
	fill_send_queue(epd);
	return thread_asleep(cts_begin_send(epd, bytes, SCIF_SEND_BLOCK), "scif_send");
}
