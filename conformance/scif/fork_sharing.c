/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints that a child inherited by fork: who may use them, and when the connection ends. */
#include "ends.h"

#include <stdlib.h>

struct shared_end {
	scif_epd_t epd;
	struct turns *turns;
};

static int send_as_child(void *arg)
{
	const struct shared_end *s = arg;
	unsigned char bytes[30];

	cts_fill_at(bytes, sizeof bytes, 1, 10);
	return scif_send(s->epd, bytes, sizeof bytes, SCIF_SEND_BLOCK) == sizeof bytes ? 0 : 1;
}

SCENARIO(child_sends)
{
	scif_epd_t epd = cts_fx_connected();
	struct shared_end s = {.epd = epd};
	unsigned char *rest = cts_fx_buffer(10);

	CTS_ASSERT(scif_send(epd, cts_fx_pattern(10, 1), 10, 0) == 10);
	CTS_ASSERT(cts_wait_child(cts_fork(send_as_child, &s)) == 0);
	cts_fill_at(rest, 10, 1, 40);
	CTS_ASSERT(CTS_OBSERVE(scif_send(epd, rest, 10, 0)).ret == 10);
	CTS_CHECK(cts_far_recv_is(epd, 50, 1, 0),
		  "the bytes of both arrive in the order they were sent");
	CTS_CHECK(cts_far_alive(epd), "the end of the child leaves the connection alone");
}

static int receive_as_child(void *arg)
{
	const struct shared_end *s = arg;
	unsigned char bytes[15];

	if (scif_recv(s->epd, bytes, sizeof bytes, SCIF_RECV_BLOCK) != sizeof bytes)
		return 1;
	return cts_is_pattern_at(bytes, sizeof bytes, 1, 10) ? 0 : 2;
}

SCENARIO(child_receives)
{
	scif_epd_t epd = cts_fx_connected();
	struct shared_end s = {.epd = epd};
	unsigned char *got = cts_fx_buffer(20);

	CTS_REQUIRE(cts_far_send(epd, 40).ret == 40);
	CTS_ASSERT(scif_recv(epd, got, 10, 0) == 10);
	CTS_ASSERT(cts_wait_child(cts_fork(receive_as_child, &s)) == 0);
	CTS_ASSERT(CTS_OBSERVE(scif_recv(epd, got, 20, 0)).ret == 15);
	CTS_CHECK(cts_is_pattern_at(got, 15, 1, 25),
		  "the parent goes on behind what the child took");
	CTS_CHECK(cts_far_alive(epd), "the end of the child leaves the connection alone");
}

static int close_as_child(void *arg)
{
	const struct shared_end *s = arg;

	return scif_close(s->epd) == 0 ? 0 : 1;
}

static int leave(void *arg)
{
	(void)arg;
	return 0;
}

static void exit_in_handler(int sig)
{
	(void)sig;
	exit(0);
}

static int leave_from_handler(void *arg)
{
	(void)arg;
	signal(SIGUSR2, exit_in_handler);
	raise(SIGUSR2);
	return 1;
}

static int die(void *arg)
{
	(void)arg;
	raise(SIGKILL);
	return 1;
}

SCENARIO(close_in_child_keeps_connection)
{
	scif_epd_t epd = cts_fx_connected();
	struct shared_end s = {.epd = epd};

	CTS_ASSERT(CTS_OBSERVE(cts_wait_child(cts_fork(close_as_child, &s))).ret == 0);
	CTS_CHECK(cts_far_alive(epd), "a child closed its copy");
	CTS_ASSERT(cts_wait_child(cts_fork(leave, NULL)) == 0);
	CTS_CHECK(cts_far_alive(epd), "a child left by exit");
	CTS_ASSERT(cts_wait_child(cts_fork(leave_from_handler, NULL)) == 0);
	CTS_CHECK(cts_far_alive(epd), "a child left from a signal handler");
	CTS_ASSERT(cts_wait_child(cts_fork(die, NULL)) == 128 + SIGKILL);
	CTS_CHECK(cts_far_alive(epd), "a child was killed");
}

static int hold_until_told(void *arg)
{
	const struct shared_end *s = arg;
	unsigned char bytes[8];

	turn_to_parent(s->turns);
	if (!turn_of_child(s->turns))
		return 1;
	cts_fill(bytes, sizeof bytes, 1);
	if (scif_send(s->epd, bytes, sizeof bytes, SCIF_SEND_BLOCK) != sizeof bytes)
		return 2;
	turn_to_parent(s->turns);
	return turn_of_child(s->turns) ? 0 : 3;
}

SCENARIO(last_holder_ends_connection)
{
	struct turns turns = turns_open();
	scif_epd_t pair[2];
	unsigned char got[8];

	cts_pair(pair);
	struct shared_end s = {.epd = pair[0], .turns = &turns};
	pid_t child = cts_fork(hold_until_told, &s);
	turn_of_parent(&turns);
	CTS_ASSERT(CTS_OBSERVE(scif_close(pair[0])).ret == 0);
	CTS_CHECK(cts_poll(pair[1], POLLIN | POLLOUT) == POLLOUT,
		  "the connection is up while the child holds it");
	turn_to_child(&turns);
	turn_of_parent(&turns);
	CTS_ASSERT(scif_recv(pair[1], got, sizeof got, SCIF_RECV_BLOCK) == sizeof got);
	CTS_CHECK(cts_is_pattern(got, sizeof got, 1), "the child sent on what it holds");
	turn_to_child(&turns);
	CTS_ASSERT(cts_wait_child(child) == 0);
	cts_wait_hup(pair[1]);
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_send(pair[1], "x", 1, 0)), ECONNRESET),
		  "the connection ended with its last holder");
	turns_close(&turns);
}
