/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_poll over sets, poll(2) on descriptors, and what a descriptor stays through its endpoint's
 * life. */
#include "ends.h"

#define MOST_PAIRS 16
#define QUEUE	   4095

struct poll_call {
	struct scif_pollepd *set;
	unsigned count;
};

static struct cts_result poll_set(void *arg)
{
	const struct poll_call *call = arg;

	return CTS_RESULT(scif_poll(call->set, call->count, -1));
}

SCENARIO(poll_wakes_for_one_of_many)
{
	unsigned count = (unsigned)cts_param("pairs"), chosen = count / 2;
	struct scif_pollepd set[MOST_PAIRS];
	scif_epd_t pairs[MOST_PAIRS][2];

	CTS_REQUIRE(count <= MOST_PAIRS);
	for (unsigned i = 0; i < count; i++) {
		cts_pair(pairs[i]);
		set[i] = (struct scif_pollepd){.epd = pairs[i][0], .events = POLLIN, .revents = 77};
	}
	struct cts_thread *polling = cts_thread_start(poll_set, &(struct poll_call){set, count});
	cts_wait_asleep(polling);
	CTS_ASSERT(!cts_thread_done(polling));
	CTS_ASSERT(scif_send(pairs[chosen][1], "x", 1, 0) == 1);
	CTS_ASSERT(CTS_OBSERVE(cts_join(polling).ret).ret == 1);
	for (unsigned i = 0; i < count; i++)
		CTS_ASSERT(set[i].revents == (i == chosen ? POLLIN : 0));
}

SCENARIO(two_pollers_are_woken)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *one = cts_fx_polling(epd, POLLIN), *two = cts_fx_polling(epd, POLLIN);

	CTS_ASSERT(cts_far_send(epd, 1).ret == 1);
	CTS_ASSERT(CTS_OBSERVE(cts_join(one).ret).ret == POLLIN);
	CTS_ASSERT(cts_join(two).ret == POLLIN);
}

SCENARIO(poll_mixed_set)
{
	scif_epd_t epd = cts_fx_connected();
	int ends[2];

	CTS_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
	struct scif_pollepd set[] = {{.epd = epd, .events = POLLIN},
				     {.epd = ends[0], .events = POLLIN}};
	struct poll_call call = {set, 2};
	struct cts_thread *polling = cts_thread_start(poll_set, &call);
	cts_wait_asleep(polling);
	CTS_REQUIRE(write(ends[1], "x", 1) == 1);
	CTS_ASSERT(CTS_OBSERVE(cts_join(polling).ret).ret == 1);
	CTS_CHECK(set[0].revents == 0 && set[1].revents == POLLIN, "the pipe woke the poll");

	CTS_REQUIRE(read(ends[0], &(char){0}, 1) == 1);
	polling = cts_thread_start(poll_set, &call);
	cts_wait_asleep(polling);
	CTS_ASSERT(cts_far_send(epd, 1).ret == 1);
	CTS_ASSERT(cts_join(polling).ret == 1);
	CTS_CHECK(set[0].revents == POLLIN && set[1].revents == 0, "the endpoint woke the poll");
	close(ends[0]);
	close(ends[1]);
}

SCENARIO(descriptor_is_constant)
{
	struct cts_peer *peer = cts_peer();
	scif_epd_t listener = cts_fx_unbound(), epd = cts_fx_unbound();
	int of_listener = scif_get_fd(listener), of_epd = scif_get_fd(epd);

	CTS_OBSERVE(of_epd);
	CTS_ASSERT(scif_bind(epd, 0) > 0);
	CTS_ASSERT(scif_get_fd(epd) == of_epd);
	ends_connect(epd, ends_far_listen(peer, 1));
	CTS_ASSERT(scif_get_fd(epd) == of_epd);
	cts_far_close(epd);
	CTS_ASSERT(scif_get_fd(epd) == of_epd);
	CTS_ASSERT(cts_is_open(of_epd));
	int port = scif_bind(listener, 0);
	CTS_ASSERT(scif_get_fd(listener) == of_listener);
	CTS_ASSERT(scif_listen(listener, 1) == 0);
	CTS_ASSERT(scif_get_fd(listener) == of_listener);
	struct listener l = {listener, {cts_self_node(), (uint16_t)port}};
	scif_epd_t accepted = ends_serve(l, peer);
	CTS_ASSERT(scif_get_fd(listener) == of_listener);
	CTS_ASSERT(scif_get_fd(accepted) == accepted);
	CTS_ASSERT(scif_close(accepted) == 0);
}

SCENARIO(descriptor_fcntl_nonblocking)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t epd = cts_fx_unbound();
	int fd = scif_get_fd(epd), flags = fcntl(fd, F_GETFL);

	CTS_OBSERVE(fd);
	CTS_ASSERT(flags >= 0);
	CTS_ASSERT(!(flags & O_NONBLOCK));
	CTS_ASSERT(fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
	CTS_ASSERT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_connect(epd, &at.at)), EINPROGRESS),
		  "connect does not wait");
}

SCENARIO(descriptor_poll_wakes_on_arrival)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *polling = cts_fx_polling2(epd, POLLIN);

	CTS_ASSERT(cts_far_send(epd, 5).ret == 5);
	CTS_ASSERT(CTS_OBSERVE(cts_join(polling).ret).ret == POLLIN);
	CTS_ASSERT(scif_recv(epd, cts_fx_buffer(5), 5, 0) == 5);
	CTS_ASSERT(cts_poll2(epd, POLLIN) == 0);
	polling = cts_fx_polling2(epd, POLLIN);
	CTS_ASSERT(cts_far_send(epd, 5).ret == 5);
	CTS_ASSERT(cts_join(polling).ret == POLLIN);
}

static void check_wakes(void (*end)(scif_epd_t epd))
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *polling = cts_fx_polling2(epd, POLLIN);

	end(epd);
	CTS_ASSERT(CTS_OBSERVE(cts_join(polling).ret).ret & POLLHUP);
}

SCENARIO(descriptor_poll_wakes_on_end)
{
	check_wakes(cts_far_close);
	check_wakes(cts_far_exit);
	check_wakes(cts_far_kill);
}

static void lose_node(scif_epd_t epd)
{
	cts_far_node(epd, "down");
}

SCENARIO(descriptor_poll_wakes_on_node_loss)
{
	check_wakes(lose_node);
}

SCENARIO(descriptor_poll_wakes_on_request)
{
	struct listener l = ends_listen(1);
	struct cts_thread *polling = cts_fx_polling2(l.epd, POLLIN);
	struct request r = ends_request_begin(cts_peer(), l.at);

	CTS_ASSERT(CTS_OBSERVE(cts_join(polling).ret).ret == POLLIN);
	CTS_ASSERT(scif_close(ends_accept(l.epd, &r)) == 0);
}

/* By both ways of asking, on both ends of a pair. */
static void check_bits(scif_epd_t epd, int bits)
{
	CTS_ASSERT(cts_poll(epd, POLLIN | POLLOUT) == bits);
	CTS_ASSERT(cts_poll2(epd, POLLIN | POLLOUT) == bits);
}

SCENARIO(descriptor_readiness_follows_stream)
{
	unsigned char *bytes = cts_fx_pattern(QUEUE, 1);
	scif_epd_t pair[2];

	cts_pair(pair);
	for (int round = (int)cts_param("rounds"); round > 0; round--) {
		int part = 1 + round * 97 % (QUEUE - 2);

		check_bits(pair[0], POLLOUT);
		check_bits(pair[1], POLLOUT);
		CTS_ASSERT(scif_send(pair[0], bytes, part, 0) == part);
		check_bits(pair[1], POLLIN | POLLOUT);
		check_bits(pair[0], POLLOUT);
		CTS_ASSERT(scif_send(pair[0], bytes, QUEUE, 0) == QUEUE - part);
		check_bits(pair[0], 0);
		check_bits(pair[1], POLLIN | POLLOUT);
		CTS_ASSERT(scif_recv(pair[1], bytes, 1, 0) == 1);
		check_bits(pair[0], POLLOUT);
		CTS_ASSERT(scif_send(pair[0], bytes, QUEUE, 0) == 1);
		check_bits(pair[0], 0);
		CTS_ASSERT(scif_recv(pair[1], bytes, QUEUE, 0) == QUEUE);
	}
	CTS_OBSERVE(pair[0]);
}
