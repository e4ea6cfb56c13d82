/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends and receives that have to wait: for room, for bytes, for a node, for a process that was
 * stopped. */
#include "ends.h"

#include <sched.h>

#define QUEUE 4095

SCENARIO(room_wakes_poll)
{
	scif_epd_t epd = cts_fx_full_queue();
	struct cts_thread *by_scif = cts_fx_polling(epd, POLLOUT),
			  *by_system = cts_fx_polling2(epd, POLLOUT);

	CTS_REQUIRE(cts_far_recv(epd, QUEUE, SCIF_RECV_BLOCK).ret == QUEUE);
	CTS_ASSERT(cts_join(by_scif).ret == POLLOUT);
	CTS_ASSERT(cts_join(by_system).ret == POLLOUT);
	CTS_ASSERT(CTS_OBSERVE(scif_send(epd, cts_fx_pattern(10, 1), 10, 0)).ret == 10);
}

SCENARIO(send_to_stopped_peer)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer *peer = cts_peer_of(epd);
	unsigned char *bytes = cts_fx_pattern(QUEUE, 1);

	cts_peer_stall_process(peer, true);
	CTS_ASSERT(CTS_OBSERVE(scif_send(epd, bytes, QUEUE, SCIF_SEND_BLOCK)).ret == QUEUE);
	CTS_ASSERT(scif_send(epd, bytes, 1, 0) == 0);
	struct cts_thread *sending = cts_begin_send(epd, 100, SCIF_SEND_BLOCK);
	cts_wait_asleep(sending);
	CTS_ASSERT(!cts_thread_done(sending));
	cts_peer_stall_process(peer, false);
	CTS_ASSERT(cts_far_recv_is(epd, QUEUE, 1, 0));
	CTS_ASSERT(cts_join(sending).ret == 100);
	CTS_CHECK(cts_far_recv_is(epd, 100, 1, 0), "the waiting message arrived");
}

SCENARIO(send_while_receiving)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *receiving = cts_fx_receiving(epd, 50);

	CTS_ASSERT(scif_send(epd, cts_fx_pattern(200, 1), 200, SCIF_SEND_BLOCK) == 200);
	CTS_CHECK(cts_far_recv_is(epd, 200, 1, 0), "the message went past the waiting receive");
	CTS_ASSERT(!cts_thread_done(receiving));
	struct cts_thread *sending = cts_fx_sending(epd, 10);
	CTS_ASSERT(cts_far_send(epd, 50).ret == 50);
	CTS_ASSERT(CTS_OBSERVE(cts_join(receiving).ret).ret == 50);
	CTS_CHECK(cts_is_pattern(cts_thread_bytes(receiving), 50, 1),
		  "the receive ended past the waiting send");
	CTS_ASSERT(!cts_thread_done(sending));
	CTS_ASSERT(cts_far_recv(epd, QUEUE, SCIF_RECV_BLOCK).ret == QUEUE);
	CTS_ASSERT(cts_join(sending).ret == 10);
}

SCENARIO(recv_interrupted_loses_nothing)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *receiving = cts_fx_receiving(epd, 40);
	unsigned char *got = cts_fx_buffer(40);

	cts_thread_signal(receiving, SIGUSR1);
	CTS_CHECK(cts_failed_with(cts_join(receiving), EINTR),
		  "the interrupted receive was no success");
	CTS_ASSERT(cts_far_send(epd, 40).ret == 40);
	CTS_ASSERT(CTS_OBSERVE(scif_recv(epd, got, 40, SCIF_RECV_BLOCK)).ret == 40);
	CTS_CHECK(cts_is_pattern(got, 40, 1), "the bytes that came later are all there");
}

SCENARIO(recv_waits_for_sleeping_node)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *receiving = cts_fx_receiving(epd, 30);

	cts_far_node(epd, "sleep");
	cts_wait_asleep(receiving);
	CTS_ASSERT(!cts_thread_done(receiving));
	cts_far_node(epd, "up");
	CTS_ASSERT(cts_far_send(epd, 30).ret == 30);
	CTS_ASSERT(CTS_OBSERVE(cts_join(receiving).ret).ret == 30);
	CTS_CHECK(cts_is_pattern(cts_thread_bytes(receiving), 30, 1),
		  "the bytes are those that were sent");
}

SCENARIO(pollin_means_recv_does_not_block)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *polling = cts_fx_polling(epd, POLLIN);
	unsigned char byte = 0;

	CTS_ASSERT(cts_far_send(epd, 1).ret == 1);
	CTS_ASSERT(CTS_OBSERVE(cts_join(polling).ret).ret == POLLIN);
	CTS_ASSERT(scif_recv(epd, &byte, 1, 0) == 1);
	CTS_CHECK(cts_is_pattern(&byte, 1, 1), "the byte is the one that was sent");
	CTS_CHECK(cts_poll(epd, POLLIN) == 0, "nothing more is announced");
}

#define BEGINNING 40
#define MOST_WAIT 2000 /* ms */

struct beginning_taker {
	scif_epd_t epd;
	int rounds;
};

static bool take_beginning(scif_epd_t epd)
{
	struct pollfd rest = {.fd = scif_get_fd(epd), .events = POLLIN};
	char bytes[2 * BEGINNING];

	return scif_recv(epd, bytes, BEGINNING, SCIF_RECV_BLOCK) == BEGINNING &&
	       poll(&rest, 1, MOST_WAIT) == 1 && cts_poll(epd, POLLIN) == POLLIN &&
	       scif_recv(epd, bytes, BEGINNING, SCIF_RECV_BLOCK) == BEGINNING;
}

/* Each time a word back, so that the next message comes while this thread waits for it. */
static struct cts_result take_beginnings(void *arg)
{
	struct beginning_taker *t = arg;
	char word = 1;
	int i = 0;

	while (i < t->rounds && take_beginning(t->epd) &&
	       scif_send(t->epd, &word, 1, SCIF_SEND_BLOCK) == 1)
		i++;
	scif_close(t->epd);
	return (struct cts_result){.ret = i};
}

SCENARIO(rest_shows_after_wait)
{
	unsigned char *message = cts_fx_pattern(2 * BEGINNING, 1), word = 0;
	struct beginning_taker taker = {.rounds = (int)cts_param("rounds")};
	scif_epd_t pair[2];

	cts_pair(pair);
	taker.epd = pair[1];
	struct cts_thread *taking = cts_thread_start(take_beginnings, &taker);

	while (scif_send(pair[0], message, 2 * BEGINNING, SCIF_SEND_BLOCK) == 2 * BEGINNING &&
	       scif_recv(pair[0], &word, 1, SCIF_RECV_BLOCK) == 1)
		;
	CTS_OBSERVE(cts_join(taking).ret);
	CTS_CHECK(cts_join(taking).ret == taker.rounds, "the rest of every message showed");
}

enum waiting { IN_ACCEPT, IN_CONNECT, IN_SEND, IN_RECV, IN_POLL };

static struct cts_thread *wait_in(enum waiting call)
{
	switch (call) {
	case IN_ACCEPT:
		return cts_fx_accepting(cts_fx_listening());
	case IN_CONNECT:
		return cts_fx_connecting_to(cts_fx_unbound(), cts_fx_peer_port());
	case IN_SEND:
		return cts_fx_sending(cts_fx_connected(), 10);
	case IN_RECV:
		return cts_fx_receiving(cts_fx_connected(), 10);
	case IN_POLL:
		return cts_fx_polling(cts_fx_connected(), SCIF_POLLIN);
	}
	return NULL;
}

/* On one processor the close has happened before the sleeper can look at its signal. */
static void stay_on_this_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CTS_REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
}

SCENARIO(signal_beside_a_close)
{
	stay_on_this_processor();
	for (int round = 0; round < 5; round++) {
		scif_epd_t other = cts_fx_unbound();
		struct cts_thread *waiting = wait_in((enum waiting)cts_param("call"));

		cts_thread_signal(waiting, SIGUSR1);
		CTS_ASSERT(scif_close(other) == 0);
		ends_observe_error(cts_join(waiting), EINTR, "the signal ends the call");
	}
}
