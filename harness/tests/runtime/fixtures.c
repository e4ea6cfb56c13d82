/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every fixture of the vocabulary that needs an implementation or a peer, tried on the reference
 * library: each must reach the state that it names, or clauses built on it would test something
 * else.
 */
#include "cts_scif.h"

const struct cts_api *const cts_api = &cts_api_scif;
const char cts_function[] = "fixtures";

static int try_send(scif_epd_t epd)
{
	char byte = 1;

	return scif_send(epd, &byte, 1, 0);
}

static int try_recv(scif_epd_t epd)
{
	char byte;

	return scif_recv(epd, &byte, 1, 0);
}

static bool refuses(int ret, int err)
{
	return ret == -1 && errno == err;
}

static void no_endpoint(void)
{
	CTS_ASSERT(refuses(scif_bind(cts_fx_never_opened(), 0), EBADF));
	CTS_ASSERT(refuses(scif_bind(cts_fx_closed(), 0), EBADF));
	CTS_ASSERT(refuses(scif_bind(cts_fx_closed_connected(), 0), EBADF));
	CTS_ASSERT(refuses(scif_bind(cts_fx_other_kind(), 0), ENOTTY));
	CTS_ASSERT(refuses(scif_bind(cts_fx_pipe(), 0), ENOTTY));
	CTS_ASSERT(refuses(scif_bind(cts_fx_socket(), 0), ENOTTY));
	CTS_ASSERT(refuses(scif_bind(cts_fx_file(), 0), ENOTTY));
	CTS_ASSERT(refuses(scif_bind(cts_fx_null_device(), 0), ENOTTY));
	CTS_ASSERT(refuses(scif_bind(cts_fx_epoll_set(), 0), ENOTTY));
}

static void alone(void)
{
	scif_epd_t unbound = cts_fx_unbound();

	CTS_ASSERT(scif_bind(unbound, 0) >= SCIF_PORT_RSVD);
	CTS_ASSERT(refuses(scif_bind(cts_fx_bound(), 0), EINVAL));
	int port = cts_fx_free_port();
	CTS_ASSERT(cts_port_is_free((uint16_t)port));
	scif_epd_t bound = cts_fx_bound_to(port);
	CTS_ASSERT(!cts_port_is_free((uint16_t)port));
	CTS_ASSERT(scif_listen(bound, 1) == 0);
	CTS_ASSERT(refuses(scif_listen(cts_fx_listening(), 1), EISCONN));
	CTS_ASSERT(cts_poll(cts_fx_listening_backlog(1), POLLIN) == 0);
	CTS_ASSERT(!cts_port_is_free(cts_fx_taken_port()));
	CTS_ASSERT(cts_fx_duplicate(unbound) != unbound);
}

static int accept_one(scif_epd_t listener, scif_epd_t *epd)
{
	struct scif_portID from;

	return scif_accept(listener, &from, epd, 0);
}

static void requests(void)
{
	scif_epd_t listener = cts_fx_listening_pending(3), epd;

	for (int i = 0; i < 3; i++) {
		CTS_ASSERT(accept_one(listener, &epd) == 0);
		cts_adopt(epd, listener);
		CTS_ASSERT(cts_far_alive(epd));
	}
	CTS_ASSERT(refuses(accept_one(listener, &epd), EAGAIN));
}

static void dead_requests(void)
{
	scif_epd_t dead[] = {cts_fx_listening_dead_closed(), cts_fx_listening_dead_killed(),
			     cts_fx_listening_dead_interrupted()},
		   epd;

	for (size_t i = 0; i < 3; i++)
		CTS_ASSERT(refuses(accept_one(dead[i], &epd), EAGAIN));
}

static int collect(scif_epd_t epd)
{
	struct scif_portID any = {.node = cts_peer_node(cts_peer()), .port = 1};

	return scif_connect(epd, &any);
}

static void connecting(void)
{
	scif_epd_t epd = cts_fx_connecting();

	CTS_ASSERT(refuses(collect(epd), EINPROGRESS));
	CTS_ASSERT(cts_poll(epd, POLLOUT) == 0);
	CTS_ASSERT(collect(cts_fx_connecting_done()) > 0);
	CTS_ASSERT(refuses(collect(cts_fx_connecting_refused()), ECONNREFUSED));
	CTS_ASSERT(refuses(scif_bind(cts_fx_refused(), 0), EINVAL));
}

static void peer_ports(void)
{
	struct scif_portID full = cts_fx_peer_port_full(), open = cts_fx_peer_port_accepting(),
			   bound = cts_fx_peer_port_bound(), absent = cts_fx_absent_node_port();
	scif_epd_t epd = cts_fx_unbound();

	CTS_ASSERT(refuses(scif_connect(epd, &full), ECONNREFUSED));
	CTS_ASSERT(refuses(scif_connect(epd, &bound), ECONNREFUSED));
	CTS_ASSERT(refuses(scif_connect(epd, &absent), ENODEV));
	CTS_ASSERT(scif_connect(epd, &open) > 0);
	CTS_ASSERT(cts_far_alive(epd));
}

static void connections(void)
{
	CTS_ASSERT(cts_far_alive(cts_fx_connected()));
	CTS_ASSERT(cts_far_alive(cts_fx_connected_bound()));
	CTS_ASSERT(cts_far_alive(cts_fx_connected_own_node()));
	CTS_ASSERT(cts_far_alive(cts_fx_accepted()));
	scif_epd_t epd = cts_fx_queued(100);
	unsigned char bytes[101];
	CTS_ASSERT(scif_recv(epd, bytes, 101, 0) == 100 && cts_is_pattern(bytes, 100, 1));
	scif_epd_t full = cts_fx_full_queue();
	CTS_ASSERT(try_send(full) == 0 && cts_poll(full, POLLOUT) == 0);
	CTS_ASSERT(cts_far_recv(full, 10, SCIF_RECV_BLOCK).ret == 10);
	CTS_ASSERT(cts_poll_wait(full, POLLOUT) == POLLOUT);
	CTS_ASSERT(cts_peer_node(cts_peer()) == 1);
}

static void other_user(void)
{
	cts_need("root");
	scif_epd_t epd = cts_fx_connected_other_user();
	struct cts_peer_window w = cts_fx_peer_window(1, SCIF_PROT_READ);
	unsigned char *buffer = cts_fx_buffer(100);

	CTS_ASSERT(cts_far_alive(epd));
	CTS_ASSERT(scif_vreadfrom(epd, buffer, 100, w.offset, SCIF_RMA_SYNC) == 0);
	CTS_ASSERT(cts_is_pattern(buffer, 100, 3));
}

static void ended(void)
{
	CTS_ASSERT(refuses(try_recv(cts_fx_peer_closed()), ECONNRESET));
	CTS_ASSERT(refuses(try_recv(cts_fx_peer_exited()), ECONNRESET));
	CTS_ASSERT(refuses(try_recv(cts_fx_peer_killed()), ECONNRESET));
	scif_epd_t data = cts_fx_peer_closed_data(1), killed = cts_fx_peer_killed_data(1);
	CTS_ASSERT(try_recv(data) == 1);
	CTS_ASSERT(refuses(try_recv(data), ECONNRESET));
	CTS_ASSERT(try_recv(killed) == 1);
	CTS_ASSERT(refuses(try_send(killed), ECONNRESET));
}

static void node_lost(void)
{
	cts_need("node_adapter");
	scif_epd_t epd = cts_fx_node_lost_data(1);

	CTS_ASSERT(try_recv(epd) == 1);
	CTS_ASSERT(refuses(try_recv(epd), ENODEV));
	CTS_ASSERT(cts_far_alive(cts_fx_connected()));
}

static void node_back(void)
{
	cts_need("node_adapter");
	CTS_ASSERT(refuses(try_recv(cts_fx_node_back()), ENODEV));
}

static void node_asleep(void)
{
	cts_need("node_adapter");
	scif_epd_t epd = cts_fx_node_asleep_data(1);

	CTS_ASSERT(try_recv(epd) == 1);
	CTS_ASSERT(refuses(try_recv(epd), EAGAIN));
}

static void node_down_port(void)
{
	cts_need("node_adapter");
	struct scif_portID down = cts_fx_down_node_port();

	CTS_ASSERT(refuses(scif_connect(cts_fx_unbound(), &down), ENODEV));
}

static void dead_node_request(void)
{
	cts_need("node_adapter");
	scif_epd_t epd;
	scif_epd_t listener = cts_fx_listening_dead_node();
	int ret = accept_one(listener, &epd);

	CTS_ASSERT(ret == -1 && (errno == ENODEV || errno == EAGAIN));
}

static void exhausted(void)
{
	cts_need("port_adapter");
	CTS_ASSERT(cts_fx_ports_exhausted() == 8);
	CTS_ASSERT(refuses(scif_bind(cts_fx_unbound(), 0), ENOSPC));
}

#define RW (SCIF_PROT_READ | SCIF_PROT_WRITE)

static void windows(void)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_window w = cts_fx_window(2, RW),
			  at = cts_fx_window_at(1, SCIF_PROT_WRITE, 0x8000);
	struct cts_window pair = cts_fx_window_pair(1, RW), gap = cts_fx_window_gap(1, RW);

	CTS_ASSERT(cts_window_is_open(w) && cts_window_is_open(at) && at.offset == 0x8000);
	CTS_ASSERT(cts_peer_writeto_us(w, 10, 5000, 6, SCIF_RMA_SYNC).ret == 0);
	CTS_ASSERT(cts_is_pattern((unsigned char *)w.addr + 10, 5000, 6));
	CTS_ASSERT(cts_peer_readfrom_us(pair, 0, pair.len, SCIF_RMA_SYNC).ret == 0);
	CTS_ASSERT(cts_peer_scratch_is(epd, pair.len, 2, 0));
	CTS_ASSERT(cts_failed_with(cts_peer_readfrom_us(gap, 0, gap.len, SCIF_RMA_SYNC), ENXIO));
	struct cts_peer_mapping m = cts_fx_peer_mapping(w, RW);
	cts_peer_mapping_poke64(m, 8, 0x1122334455667788);
	CTS_ASSERT(cts_wait64((unsigned char *)w.addr + 8, 0x1122334455667788));
	CTS_ASSERT(cts_peer_mapping_unmap(m).ret == 0);
	CTS_ASSERT(cts_offset_is_free(epd, cts_fx_free_offset(epd), 4096));
	CTS_ASSERT(scif_unregister(epd, w.offset, w.len) == 0);
	CTS_ASSERT(!cts_window_is_open(w));
}

static void peer_windows(void)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window w = cts_fx_peer_window(2, RW), pair = cts_fx_peer_window_pair(1, RW),
			       gap = cts_fx_peer_window_gap(1, RW),
			       closed = cts_fx_peer_window_closed(1, RW),
			       mixed = cts_fx_peer_window_pair_prot(1, RW, SCIF_PROT_READ);
	unsigned char *b = cts_fx_pattern(3 * 4096, 9);

	CTS_ASSERT(scif_vwriteto(epd, b, 100, w.offset + 5, SCIF_RMA_SYNC) == 0);
	CTS_ASSERT(cts_peer_is(w, 5, 100, 9, 0) && cts_peer_is(w, 0, 5, 3, 0) &&
		   !cts_peer_is(w, 0, 6, 3, 0));
	CTS_ASSERT(scif_vwriteto(epd, b, 8192, pair.offset, SCIF_RMA_SYNC) == 0);
	CTS_ASSERT(cts_peer_is(pair, 0, pair.len, 9, 0));
	CTS_ASSERT(refuses(scif_vwriteto(epd, b, 3 * 4096, gap.offset, SCIF_RMA_SYNC), ENXIO));
	CTS_ASSERT(refuses(scif_vwriteto(epd, b, 4096, closed.offset, SCIF_RMA_SYNC), ENXIO));
	CTS_ASSERT(refuses(scif_vwriteto(epd, b, 8192, mixed.offset, SCIF_RMA_SYNC), EACCES));
	struct cts_mapping m = cts_fx_mapping(w, RW);
	cts_peer_poke64(w, 4096, 42);
	CTS_ASSERT(cts_wait64(m.addr + 4096, 42) && cts_peer_peek64(w, 4096) == 42);
	*(volatile uint64_t *)m.addr = 43;
	CTS_ASSERT(cts_peer_wait64(w, 0, 43));
}

static void stalls(void)
{
	cts_need("userfaultfd");
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window pw = cts_fx_peer_window(1, RW);
	struct cts_window w = cts_fx_window(1, RW);
	struct cts_stall *s = cts_fx_stalled_write(pw), *p = cts_fx_peer_stalled_write(w);
	int mark = cts_fx_mark(epd, SCIF_FENCE_INIT_SELF),
	    theirs = cts_fx_mark(epd, SCIF_FENCE_INIT_PEER);
	struct cts_thread *self = cts_begin_fence_wait(epd, mark),
			  *peer = cts_begin_fence_wait(epd, theirs);

	cts_wait_asleep(self);
	cts_wait_asleep(peer);
	CTS_ASSERT(!cts_thread_done(self) && cts_stall_pending(s) && cts_stall_pending(p));
	cts_stall_release(s);
	CTS_ASSERT(cts_stall_join(s).ret == 0 && cts_join(self).ret == 0);
	CTS_ASSERT(cts_peer_is(pw, 0, 4096, 7, 0));
	CTS_ASSERT(!cts_thread_done(peer));
	cts_stall_release(p);
	CTS_ASSERT(cts_stall_join(p).ret == 0 && cts_join(peer).ret == 0);
	CTS_ASSERT(cts_is_pattern(w.addr, 4096, 7));
	struct cts_stall *r = cts_fx_stalled_read(pw);
	cts_stall_release(r);
	CTS_ASSERT(cts_stall_join(r).ret == 0);
}

static void threads(void)
{
	scif_epd_t a = cts_fx_connected(), b = cts_fx_connected(), c = cts_fx_connected(),
		   l = cts_fx_listening();
	struct cts_thread *recv = cts_fx_receiving(a, 10), *send = cts_fx_sending(b, 10);
	struct cts_thread *poll = cts_fx_polling(c, POLLIN), *poll2 = cts_fx_polling2(c, POLLIN);
	struct cts_thread *accept = cts_fx_accepting(l);
	struct cts_thread *connect = cts_fx_connecting_to(cts_fx_unbound(), cts_fx_peer_port());

	CTS_ASSERT(cts_far_send(a, 10).ret == 10 && cts_far_send(c, 1).ret == 1);
	CTS_ASSERT(cts_join(recv).ret == 10 && cts_is_pattern(cts_thread_bytes(recv), 10, 1));
	CTS_ASSERT(cts_join(poll).ret == POLLIN && cts_join(poll2).ret == POLLIN);
	CTS_ASSERT(cts_far_recv(b, 4095, SCIF_RECV_BLOCK).ret == 4095);
	CTS_ASSERT(cts_join(send).ret == 10);
	cts_thread_signal(accept, SIGUSR1);
	cts_thread_signal(connect, SIGUSR1);
	CTS_ASSERT(cts_failed_with(cts_join(accept), EINTR) &&
		   cts_failed_with(cts_join(connect), EINTR));
}

static int child_exit(void *arg)
{
	return *(int *)arg;
}

static void processes(void)
{
	scif_epd_t pair[2];
	int status = 7;

	cts_pair(pair);
	CTS_ASSERT(try_send(pair[0]) == 1 && try_recv(pair[1]) == 1);
	CTS_ASSERT(cts_wait_child(cts_fork(child_exit, &status)) == 7);
	cts_peer_stop(cts_peer_start(1));
	cts_peer_die(cts_peer_start(1));
	CTS_ASSERT(cts_far_alive(cts_fx_connected()));
}

static void readiness(void)
{
	scif_epd_t epd = cts_fx_queued(1);
	int set = cts_epoll_edge_open(epd, POLLIN);

	CTS_ASSERT(cts_poll(epd, POLLIN | POLLOUT) == (POLLIN | POLLOUT));
	CTS_ASSERT(cts_poll2(epd, POLLIN) == POLLIN && cts_select(epd, POLLIN) == POLLIN);
	CTS_ASSERT(cts_epoll(epd, POLLIN) == POLLIN);
	CTS_ASSERT(cts_epoll_edge(set) == POLLIN && cts_epoll_edge(set) == 0);
	CTS_ASSERT(try_recv(epd) == 1 && cts_poll(epd, POLLIN) == 0);
}

static void events(void)
{
	cts_need("node_adapter");
	CTS_ASSERT(scif_event_register(cts_event_handler) == 0);
	cts_node(1, "down");
	CTS_ASSERT(cts_event_wait(SCIF_NODE_REMOVED, 1));
	cts_node(1, "up");
	CTS_ASSERT(cts_event_wait(SCIF_NODE_ADDED, 1));
	CTS_ASSERT(cts_event_at(0).event == SCIF_NODE_REMOVED && cts_event_count() == 2);
}

#define FIXTURES(name)                                                                             \
	{                                                                                          \
		.id = #name, .function = "scif_open", .outcome = "reached", .scenario = name       \
	}

const struct cts_case cts_cases[] = {
	FIXTURES(no_endpoint),	  FIXTURES(alone),
	FIXTURES(requests),	  FIXTURES(dead_requests),
	FIXTURES(connecting),	  FIXTURES(peer_ports),
	FIXTURES(connections),	  FIXTURES(other_user),
	FIXTURES(ended),	  FIXTURES(node_lost),
	FIXTURES(node_back),	  FIXTURES(node_asleep),
	FIXTURES(node_down_port), FIXTURES(dead_node_request),
	FIXTURES(exhausted),	  FIXTURES(windows),
	FIXTURES(peer_windows),	  FIXTURES(stalls),
	FIXTURES(threads),	  FIXTURES(processes),
	FIXTURES(readiness),	  FIXTURES(events),
};
const int cts_case_count = sizeof cts_cases / sizeof *cts_cases;
