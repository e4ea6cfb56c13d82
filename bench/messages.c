/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages: to and fro between two sides that both run, to a receiver that is asleep, and in a
 * stream; and the channels of SCIF.
 */

#include <scif.h>

#include "channel.h"
#include "subjects.h"
#include "scif_ends.h"
#include "timing.h"

enum { BURST = 2048 };

char channel_message[MESSAGE_LENGTH];

static const struct channel *channel_of(const struct pair *pair)
{
	return pair->subject->way;
}

static void open_channel(struct pair *pair)
{
	channel_of(pair)->open(pair, pair->connections);
}

/* --- to and fro --- */

static void ping(struct pair *pair)
{
	const struct channel *channel = channel_of(pair);

	channel->send(pair, 0, pair->size);
	channel->receive(pair, 0, pair->size);
}

static void drive_ping_pong(struct pair *pair)
{
	timing_loop(pair, ping, 2);
}

static void answer_pings(struct pair *pair)
{
	const struct channel *channel = channel_of(pair);
	bool was_last;

	do {
		channel->receive(pair, 0, pair->size);
		was_last = timing_was_last(pair);
		channel->send(pair, 0, pair->size);
	} while (!was_last);
}

/* --- to a receiver asleep --- */

static uint64_t take_stamp(struct pair *pair)
{
	uint64_t stamp;

	while ((stamp = atomic_exchange(&pair->board->stamp, 0)) == 0)
		await_other(pair);
	return stamp;
}

/* The clock is that of the machine, so the receiver's reading can be compared with the sender's. */
static void drive_wakes(struct pair *pair)
{
	const struct channel *channel = channel_of(pair);
	struct progress progress = timing_begin(pair);
	bool is_last;

	take_stamp(pair); /* it has its order */
	do {
		uint64_t start, got;

		is_last = timing_is_last(pair, &progress);
		atomic_store(&pair->board->is_last, is_last);
		pair_await_sleep(pair);
		start = now();
		channel->send(pair, 0, pair->size);
		got = take_stamp(pair);
		if (progress.made++ >= progress.warm)
			timing_note(pair, (double)(got - start));
	} while (!is_last);
}

static void be_woken(struct pair *pair)
{
	const struct channel *channel = channel_of(pair);
	bool was_last;

	atomic_store(&pair->board->stamp, now());
	do {
		uint64_t got;

		channel->receive(pair, 0, pair->size);
		got = now();
		was_last = timing_was_last(pair);
		atomic_store(&pair->board->stamp, got);
	} while (!was_last);
}

/* --- in a stream --- */

static void stream(struct pair *pair)
{
	const struct channel *channel = channel_of(pair);
	unsigned i;

	for (i = 0; i < BURST; i++)
		channel->send(pair, i % pair->connections, pair->size);
	channel->receive(pair, 0, 1);
}

static void drive_stream(struct pair *pair)
{
	timing_loop(pair, stream, BURST);
}

static void take_stream(struct pair *pair)
{
	const struct channel *channel = channel_of(pair);
	bool was_last;

	do {
		unsigned i;

		for (i = 0; i < BURST; i++)
			channel->receive(pair, i % pair->connections, pair->size);
		was_last = timing_was_last(pair);
		channel->send(pair, 0, 1);
	} while (!was_last);
}

/* --- SCIF's channels --- */

static scif_epd_t epds[MOST_CONNECTIONS];

static void open_scif(struct pair *pair, unsigned connections)
{
	scif_ends_open(pair, epds, connections);
}

static void send_scif(const struct pair *pair, unsigned connection, size_t length)
{
	bench_must(pair,
		   scif_send(epds[connection], channel_message, (int)length, SCIF_SEND_BLOCK) ==
			   (int)length,
		   "scif_send");
}

static void receive_scif(const struct pair *pair, unsigned connection, size_t length)
{
	bench_must(pair,
		   scif_recv(epds[connection], channel_message, (int)length, SCIF_RECV_BLOCK) ==
			   (int)length,
		   "scif_recv");
}

static void poll_scif(const struct pair *pair, unsigned connection, size_t length)
{
	size_t done = 0;

	while (done < length) {
		int got = scif_recv(epds[connection], channel_message + done, (int)(length - done),
				    0);

		bench_must(pair, got >= 0, "scif_recv");
		done += (size_t)got;
		if (got == 0)
			await_other(pair);
	}
}

const struct channel channel_scif = {open_scif, send_scif, receive_scif};
const struct channel channel_scif_polling = {open_scif, send_scif, poll_scif};

/* --- the measurements --- */

static struct effort ping_pong_effort(size_t size)
{
	(void)size;
	return (struct effort){.samples = 200, .batch = 16};
}

static struct effort wake_effort(size_t size)
{
	(void)size;
	return (struct effort){.samples = 300, .batch = 1};
}

static struct effort stream_effort(size_t size)
{
	(void)size;
	return (struct effort){.samples = 10, .batch = 1};
}

#define PING_PONG                                                                                  \
	.driver = {.begin = open_channel, .repeat = drive_ping_pong},                              \
	.partner = {.begin = open_channel, .repeat = answer_pings}
#define WAKE                                                                                       \
	.driver = {.begin = open_channel, .repeat = drive_wakes},                                  \
	.partner = {.begin = open_channel, .repeat = be_woken}
#define STREAM                                                                                     \
	.driver = {.begin = open_channel, .repeat = drive_stream},                                 \
	.partner = {.begin = open_channel, .repeat = take_stream}

const struct measurement measurement_ping_pong = {
	.name = "ping-pong",
	.title = "Message to and fro, both sides running: time of one way",
	.sizes = {8, 64, 512, 4096},
	.effort = ping_pong_effort,
	.connections = 1,
	.needs_two_cpus = true,
	.subjects =
		(const struct subject *const[]){
			&(const struct subject){"scif_recv", PING_PONG, .way = &channel_scif},
			&(const struct subject){"scif_recv polling", PING_PONG,
						.way = &channel_scif_polling},
			&(const struct subject){"AF_UNIX", true, PING_PONG, .way = &channel_unix},
			&(const struct subject){"AF_UNIX polling", true, PING_PONG,
						.way = &channel_unix_polling},
			&(const struct subject){"pipe", true, PING_PONG, .way = &channel_pipe},
			&(const struct subject){"eventfd", true, PING_PONG, .way = &channel_eventfd,
						.largest = 8},
			&(const struct subject){"futex pair", true, PING_PONG,
						.way = &channel_futex, .largest = 8},
			&(const struct subject){"spinning pair", true, PING_PONG,
						.way = &channel_word, .largest = 8},
			&subject_ucx_tag, &subject_fi_pingpong, NULL},
};

const struct measurement measurement_wake = {
	.name = "wake",
	.title = "Message to a receiver that is asleep: until it has it",
	.sizes = {8},
	.effort = wake_effort,
	.connections = 1,
	.subjects =
		(const struct subject *const[]){
			&(const struct subject){"scif_recv", WAKE, .way = &channel_scif},
			&(const struct subject){"rsm_intr_signal_wait", WAKE,
						.way = &channel_rsm_signal},
			&(const struct subject){"futex pair", true, WAKE, .way = &channel_futex},
			&(const struct subject){"AF_UNIX", true, WAKE, .way = &channel_unix},
			&(const struct subject){"pipe", true, WAKE, .way = &channel_pipe},
			&(const struct subject){"eventfd", true, WAKE, .way = &channel_eventfd},
			NULL},
};

#define STREAMS                                                                                    \
	(const struct subject *const[])                                                            \
	{                                                                                          \
		&(const struct subject){"scif_send", STREAM, .way = &channel_scif},                \
			&(const struct subject){"AF_UNIX", true, STREAM, .way = &channel_unix},    \
			&(const struct subject){"pipe", true, STREAM, .way = &channel_pipe}, NULL  \
	}

const struct measurement measurement_stream = {
	.name = "stream",
	.title = "Messages in a stream, 1 connection: time of one",
	.sizes = {1, 8, 64, 512, 4096},
	.effort = stream_effort,
	.connections = 1,
	.subjects = STREAMS,
};

const struct measurement measurement_stream_8 = {
	.name = "stream-8",
	.title = "Messages in a stream, 8 connections in turn: time of one",
	.sizes = {1, 8, 64, 512, 4096},
	.effort = stream_effort,
	.connections = 8,
	.subjects = STREAMS,
};
