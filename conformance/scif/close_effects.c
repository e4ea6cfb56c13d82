/* SPDX-License-Identifier: BSD-2-Clause */
/* What scif_close does to requests, peers, queues, windows, mappings and transfers. */
#include "ends.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PAIRS 16

SCENARIO(close_rejects_pending)
{
	int count = (int)cts_param("requests");
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(count);
	struct request waiting[ENDS_MOST_REQUESTS];

	ends_requests(peer, l.at, waiting, count);
	CTS_ASSERT(CTS_OBSERVE(scif_close(l.epd)).ret == 0);
	for (int i = 0; i < count; i++)
		CTS_ASSERT(cts_failed_with(ends_request_end(&waiting[i]), ECONNREFUSED));
	CTS_ASSERT(cts_failed_with(ends_connect_of(peer, waiting[0].far, l.at), ECONNREFUSED));
}

SCENARIO(close_closes_the_peer)
{
	scif_epd_t epd = cts_fx_connected();

	CTS_ASSERT(CTS_OBSERVE(scif_close(epd)).ret == 0);
	CTS_CHECK(cts_far_poll_wait(epd, POLLIN | POLLOUT) == POLLHUP,
		  "the peer shows the hang-up");
	CTS_CHECK(cts_failed_with(cts_far_send(epd, 1), ECONNRESET), "the peer cannot send");
	CTS_CHECK(cts_failed_with(cts_far_recv(epd, 1, SCIF_RECV_BLOCK), ECONNRESET),
		  "the peer has nothing to receive");
}

SCENARIO(close_leaves_queue_to_peer)
{
	int bytes = (int)cts_param("bytes");
	scif_epd_t epd = cts_fx_connected();

	CTS_REQUIRE(scif_send(epd, cts_fx_pattern((size_t)bytes, 1), bytes, 0) == bytes);
	CTS_ASSERT(CTS_OBSERVE(scif_close(epd)).ret == 0);
	CTS_CHECK(cts_far_poll_wait(epd, POLLIN) & POLLIN, "the peer shows bytes to receive");
	CTS_CHECK(cts_far_recv_is(epd, bytes / 3, 1, 0), "the peer receives the first part");
	CTS_CHECK(cts_far_recv_is(epd, bytes - bytes / 3, 1, (size_t)bytes / 3),
		  "the peer receives the rest");
	CTS_CHECK(cts_failed_with(cts_far_recv(epd, 1, SCIF_RECV_BLOCK), ECONNRESET),
		  "then the connection is reset");
}

static bool is_invalid(struct cts_result r)
{
	return cts_failed_with(r, EBADF);
}

static void check_messages_refused(scif_epd_t epd)
{
	char byte = 0;

	CTS_CHECK(is_invalid(CTS_RESULT(scif_send(epd, &byte, 1, 0))), "scif_send");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_send(epd, &byte, 1, SCIF_SEND_BLOCK))),
		  "scif_send, blocking");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_recv(epd, &byte, 1, 0))), "scif_recv");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_recv(epd, &byte, 1, SCIF_RECV_BLOCK))),
		  "scif_recv, blocking");
	CTS_CHECK(cts_poll(epd, POLLIN | POLLOUT) == POLLNVAL, "scif_poll");
}

static void check_connection_calls_refused(scif_epd_t epd)
{
	struct scif_portID at = {.node = cts_self_node(), .port = 2000};
	scif_epd_t newepd = -1;

	CTS_CHECK(is_invalid(CTS_RESULT(scif_bind(epd, 0))), "scif_bind");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_listen(epd, 1))), "scif_listen");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_connect(epd, &at))), "scif_connect");
	struct cts_result r = CTS_RESULT(scif_accept(epd, &at, &newepd, 0));
	/* The driver's library has opened the new descriptor by then, under this very number. */
	CTS_CHECK(ends_driver() ? cts_failed_with(r, EINVAL) : is_invalid(r), "scif_accept");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_close(epd))), "scif_close");
}

static void check_memory_calls_refused(scif_epd_t epd, struct cts_window w)
{
	size_t len = w.len;
	int mark = 0;

	CTS_CHECK(is_invalid(CTS_RESULT(scif_register(epd, w.addr, len, 0, w.prot, 0))),
		  "scif_register");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_unregister(epd, w.offset, len))), "scif_unregister");
	CTS_CHECK(is_invalid(CTS_RESULT((intptr_t)scif_mmap(NULL, len, w.prot, 0, epd, 0))),
		  "scif_mmap");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_readfrom(epd, w.offset, len, 0, 0))), "scif_readfrom");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_writeto(epd, w.offset, len, 0, 0))), "scif_writeto");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_vreadfrom(epd, w.addr, len, 0, 0))), "scif_vreadfrom");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_vwriteto(epd, w.addr, len, 0, 0))), "scif_vwriteto");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_fence_mark(epd, SCIF_FENCE_INIT_SELF, &mark))),
		  "scif_fence_mark");
	CTS_CHECK(is_invalid(CTS_RESULT(scif_fence_wait(epd, mark))), "scif_fence_wait");
}

SCENARIO(calls_after_close)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_window w = cts_fx_window_on(epd, 1, SCIF_PROT_READ | SCIF_PROT_WRITE);

	CTS_ASSERT(CTS_OBSERVE(scif_close(epd)).ret == 0);
	check_connection_calls_refused(epd);
	check_messages_refused(epd);
	check_memory_calls_refused(epd, w);
}

static int use_after_close(void *arg)
{
	size_t page = cts_page_size();
	scif_epd_t *pair = arg;
	void *memory = aligned_alloc(page, page);
	int mark = 0;

	if (!memory)
		return 90;
	memset(memory, 0, page);
	off_t offset = scif_register(pair[0], memory, page, 0, SCIF_PROT_READ, 0);
	if (offset == SCIF_REGISTER_FAILED || scif_close(pair[0]) != 0)
		return 91;
	if (!is_invalid(CTS_RESULT(scif_unregister(pair[0], offset, page))) ||
	    !is_invalid(CTS_RESULT(scif_fence_mark(pair[0], SCIF_FENCE_INIT_SELF, &mark))) ||
	    !is_invalid(CTS_RESULT(scif_send(pair[0], "x", 1, 0))))
		return 92;
	free(memory);
	return 7;
}

SCENARIO(exit_after_use_of_closed)
{
	scif_epd_t pair[2];

	cts_pair(pair);
	CTS_ASSERT(CTS_OBSERVE(cts_wait_child(cts_fork(use_after_close, pair))).ret == 7);
	CTS_CHECK(ends_talk(pair[0], pair[1]), "the connection of the parent is as before");
}

SCENARIO(mapping_outlives_peer)
{
	int prot = SCIF_PROT_READ | SCIF_PROT_WRITE;
	scif_epd_t epd = cts_fx_connected();
	struct cts_mapping m = cts_fx_mapping(cts_fx_peer_window_on(epd, 2, prot), prot);
	struct cts_peer *peer = cts_peer_of(epd);

	cts_far_close(epd);
	CTS_CHECK(cts_is_pattern(m.addr, m.len, 3),
		  "the mapping shows the pages after the peer closed");
	cts_peer_stop(peer);
	CTS_CHECK(cts_is_pattern(m.addr, m.len, 3),
		  "the mapping shows the pages after the peer process ended");
	cts_fill(m.addr, m.len, 5);
	CTS_CHECK(cts_is_pattern(m.addr, m.len, 5), "the pages can still be written");
	CTS_ASSERT(CTS_OBSERVE(scif_close(epd)).ret == 0);
	CTS_CHECK(cts_is_pattern(m.addr, m.len, 5),
		  "the mapping shows the pages after the own endpoint was closed");
	CTS_ASSERT(scif_munmap(m.addr, m.len) == 0);
	CTS_CHECK(!cts_is_mapped(m.addr, m.len), "scif_munmap removes it");
}

SCENARIO(close_releases_own_windows)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_window w = cts_fx_window_on(epd, 1, SCIF_PROT_READ);

	CTS_REQUIRE(cts_window_is_open(w));
	CTS_ASSERT(CTS_OBSERVE(scif_close(epd)).ret == 0);
	CTS_ASSERT(cts_far_poll_wait(epd, POLLIN) == POLLHUP);
	struct cts_result r = cts_peer_readfrom_us(w, 0, w.len, SCIF_RMA_SYNC);
	CTS_CHECK(cts_failed_with(r, ECONNRESET) || cts_failed_with(r, ENXIO),
		  "the peer cannot read the window");
	CTS_CHECK(cts_is_pattern(w.addr, w.len, 2), "the memory is as it was");
}

SCENARIO(close_releases_peer_windows)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window w = cts_fx_peer_window_on(epd, 1, SCIF_PROT_READ | SCIF_PROT_WRITE);

	CTS_ASSERT(CTS_OBSERVE(scif_close(epd)).ret == 0);
	CTS_ASSERT(cts_far_poll_wait(epd, POLLIN) == POLLHUP);
	struct cts_result r = cts_peer_unregister(w);
	CTS_CHECK(cts_failed_with(r, ECONNRESET) || cts_failed_with(r, ENXIO),
		  "the peer has no window any more");
	CTS_CHECK(cts_peer_is(w, 0, w.len, 3, 0), "the memory of the peer is as it was");
}

/* Closes epd under a held transfer and lets it go. False: the driver's order, there is nothing more
 * to see. */
static bool closes_after(scif_epd_t epd, struct cts_stall *transfer)
{
	struct cts_thread *closing = cts_begin_close(epd);
	bool in_progress =
		!ends_driver(); /* the driver waits for the page before the transfer begins */

	cts_wait_asleep(closing);
	if (in_progress)
		CTS_CHECK(!cts_thread_done(closing),
			  "scif_close does not return while the transfer is in progress");
	cts_stall_release(transfer);
	CTS_ASSERT(CTS_OBSERVE(cts_join(closing).ret).ret == 0);
	return in_progress;
}

SCENARIO(close_waits_for_own_transfer)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window w = cts_fx_peer_window_on(epd, 1, SCIF_PROT_READ | SCIF_PROT_WRITE);
	struct cts_stall *transfer = cts_fx_stalled_write(w);

	if (!closes_after(epd, transfer))
		return;
	CTS_CHECK(cts_peer_is(w, 0, cts_page_size(), 7, 0),
		  "when scif_close has returned all bytes are there");
	CTS_CHECK(cts_stall_join(transfer).ret == 0, "the transfer succeeded");
}

SCENARIO(close_waits_for_peer_transfer)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_window w = cts_fx_window_on(epd, 1, SCIF_PROT_READ | SCIF_PROT_WRITE);
	struct cts_stall *transfer = cts_fx_peer_stalled_write(w);

	if (!closes_after(epd, transfer))
		return;
	CTS_CHECK(cts_is_pattern(w.addr, cts_page_size(), 7),
		  "when scif_close has returned all bytes are there");
	CTS_CHECK(cts_stall_join(transfer).ret == 0, "the transfer succeeded");
}

SCENARIO(close_leaves_others)
{
	int count = (int)cts_param("pairs");
	scif_epd_t pairs[MOST_PAIRS][2];

	CTS_REQUIRE(count <= MOST_PAIRS);
	for (int i = 0; i < count; i++)
		cts_pair(pairs[i]);
	for (int i = 0; i < count; i += 2) {
		CTS_ASSERT(scif_close(pairs[i][i / 2 % 2]) == 0);
		for (int j = 1; j < count; j += 2)
			CTS_ASSERT(ends_talk(pairs[j][0], pairs[j][1]));
	}
	for (int i = 0; i < count; i += 2)
		CTS_ASSERT(scif_close(pairs[i][1 - i / 2 % 2]) == 0);
	for (int j = 1; j < count; j += 2)
		CTS_ASSERT(ends_talk(pairs[j][0], pairs[j][1]));
}
