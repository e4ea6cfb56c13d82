/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages as a stream: no byte is lost, doubled, altered or moved, whoever sends and however it is
 * cut up. */
#include "ends.h"

#include <stdlib.h>

#define LARGEST_PART 6000
#define MOST_PAIRS   8
#define SLICE	     500

/* Sizes that look random and are the same in every run. */
static size_t next_size(uint32_t *state, size_t most)
{
	*state = *state * 1664525 + 1013904223;
	return 1 + (*state >> 8) % most;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* One direction of a connection: what went in so far and what has come out. */
struct flow {
	size_t total, sent, received;
	unsigned seed;
	uint32_t sizes;
};

static bool flow_done(const struct flow *f)
{
	return f->received == f->total;
}

static void send_some(scif_epd_t epd, struct flow *f, unsigned char *part)
{
	size_t len = smaller(next_size(&f->sizes, LARGEST_PART), f->total - f->sent);

	cts_fill_at(part, len, f->seed, f->sent);
	int sent = scif_send(epd, part, (int)len, 0);
	CTS_ASSERT(sent >= 0);
	CTS_ASSERT((size_t)sent <= len);
	f->sent += (size_t)sent;
}

static void far_receive_some(scif_epd_t epd, struct flow *f)
{
	size_t len = f->sent - f->received;

	if (!len)
		return;
	len = next_size(&f->sizes, len);
	CTS_ASSERT(cts_far_recv_is(epd, (int)len, f->seed, f->received));
	f->received += len;
}

static void far_send_some(scif_epd_t epd, struct flow *f)
{
	size_t len = smaller(next_size(&f->sizes, LARGEST_PART), f->total - f->sent);
	struct cts_result r = cts_far_send_at(epd, (int)len, f->seed, f->sent, 0);

	CTS_ASSERT(r.ret >= 0);
	CTS_ASSERT((size_t)r.ret <= len);
	f->sent += (size_t)r.ret;
}

static void receive_some(scif_epd_t epd, struct flow *f, unsigned char *part)
{
	size_t len = next_size(&f->sizes, LARGEST_PART);
	int got = scif_recv(epd, part, (int)len, 0);

	CTS_ASSERT(got >= 0);
	CTS_ASSERT((size_t)got <= smaller(len, f->sent - f->received));
	CTS_ASSERT(cts_is_pattern_at(part, (size_t)got, f->seed, f->received));
	f->received += (size_t)got;
}

SCENARIO(stream_random_sizes)
{
	struct flow f = {.total = (size_t)cts_param("bytes"), .seed = 11, .sizes = 4711};
	bool towards_us = cts_param("direction");
	scif_epd_t epd = cts_fx_connected();
	unsigned char *part = cts_fx_buffer(LARGEST_PART);

	while (!flow_done(&f)) {
		if (f.sent < f.total)
			towards_us ? far_send_some(epd, &f) : send_some(epd, &f, part);
		towards_us ? receive_some(epd, &f, part) : far_receive_some(epd, &f);
	}
	CTS_OBSERVE((intptr_t)f.received);
	CTS_CHECK(cts_guards_ok(part), "no byte outside of the buffers was touched");
}

SCENARIO(stream_both_ways)
{
	struct flow out = {.total = (size_t)cts_param("bytes"), .seed = 5, .sizes = 1};
	struct flow in = {.total = out.total, .seed = 6, .sizes = 2};
	scif_epd_t epd = cts_fx_accepted();
	unsigned char *part = cts_fx_buffer(LARGEST_PART);

	while (!flow_done(&out) || !flow_done(&in)) {
		if (out.sent < out.total)
			send_some(epd, &out, part);
		if (in.sent < in.total)
			far_send_some(epd, &in);
		if (!flow_done(&in))
			receive_some(epd, &in, part);
		far_receive_some(epd, &out);
	}
	CTS_OBSERVE((intptr_t)out.received);
	CTS_CHECK(cts_guards_ok(part), "no byte outside of the buffers was touched");
}

SCENARIO(stream_blocking_both_ways)
{
	int bytes = (int)cts_param("bytes");
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer *peer = cts_peer_of(epd);
	int sending =
		cts_peer_begin(peer, "send %d %d %d 1 0", cts_far(epd), bytes, SCIF_SEND_BLOCK);
	int receiving = cts_peer_begin(peer, "recv %d %d %d", cts_far(epd), bytes, SCIF_RECV_BLOCK);
	struct cts_thread *in = cts_begin_recv(epd, bytes, SCIF_RECV_BLOCK);
	struct cts_thread *out = cts_begin_send(epd, bytes, SCIF_SEND_BLOCK);

	CTS_ASSERT(CTS_OBSERVE(cts_join(out).ret).ret == bytes);
	CTS_ASSERT(cts_join(in).ret == bytes);
	CTS_CHECK(cts_is_pattern(cts_thread_bytes(in), (size_t)bytes, 1),
		  "what came in is what the peer sent");
	CTS_ASSERT(cts_peer_end(peer, sending).ret == bytes);
	CTS_ASSERT(cts_peer_end(peer, receiving).ret == bytes);
	/* Both directions carry the same pattern, so the peer's hash must be that of our own copy
	 * sent back. */
	char *hash = strdup(cts_peer_text(peer));
	CTS_REQUIRE(hash);
	struct cts_thread *again = cts_begin_send(epd, bytes, SCIF_SEND_BLOCK);
	struct cts_result r =
		cts_peer_call(peer, "recv %d %d %d", cts_far(epd), bytes, SCIF_RECV_BLOCK);
	CTS_ASSERT(r.ret == bytes);
	CTS_ASSERT(cts_join(again).ret == bytes);
	CTS_CHECK(!strcmp(hash, cts_peer_text(peer)), "the peer received the same bytes twice");
	free(hash);
}

/* Bytes that tell which of two senders they are of, and their place in that one's own order. */
struct voice {
	scif_epd_t epd;
	size_t total;
	unsigned char mark;
};

static struct cts_result speak(void *arg)
{
	const struct voice *v = arg;
	struct cts_result r = {0, 0};
	unsigned char part[SLICE];
	uint32_t sizes = v->mark;

	for (size_t done = 0; done < v->total;) {
		size_t len = smaller(next_size(&sizes, SLICE), v->total - done);

		for (size_t i = 0; i < len; i++)
			part[i] = (unsigned char)(v->mark | (done + i) % 127);
		r = CTS_RESULT(scif_send(v->epd, part, (int)len, SCIF_SEND_BLOCK));
		if (r.ret != (intptr_t)len)
			return r;
		done += len;
	}
	return r;
}

SCENARIO(two_senders)
{
	size_t total = (size_t)cts_param("bytes"), heard[2] = {0, 0};
	scif_epd_t pair[2];
	unsigned char part[SLICE];

	cts_pair(pair);
	struct voice low = {pair[0], total, 0}, high = {pair[0], total, 0x80};
	struct cts_thread *one = cts_thread_start(speak, &low),
			  *two = cts_thread_start(speak, &high);
	while (heard[0] + heard[1] < 2 * total) {
		size_t len = smaller(SLICE, 2 * total - heard[0] - heard[1]);

		CTS_ASSERT(scif_recv(pair[1], part, (int)len, SCIF_RECV_BLOCK) == (int)len);
		for (size_t i = 0; i < len; i++)
			CTS_ASSERT((part[i] & 0x7f) == heard[part[i] >> 7]++ % 127);
	}
	CTS_ASSERT(heard[0] == total);
	CTS_OBSERVE((intptr_t)heard[1]);
	CTS_ASSERT(cts_join(one).ret > 0);
	CTS_ASSERT(cts_join(two).ret > 0);
	CTS_CHECK(cts_poll(pair[1], POLLIN) == 0, "no byte came twice");
}

struct ear {
	scif_epd_t epd;
	size_t heard, count[256];
};

/* Receives until the other side has closed and nothing is left. */
static struct cts_result listen_to_end(void *arg)
{
	struct ear *e = arg;
	unsigned char part[SLICE];
	uint32_t sizes = 99;
	struct cts_result r;

	for (;;) {
		r = CTS_RESULT(
			scif_recv(e->epd, part, (int)next_size(&sizes, SLICE), SCIF_RECV_BLOCK));
		if (r.ret == -1)
			return r;
		e->heard += (size_t)r.ret;
		for (intptr_t i = 0; i < r.ret; i++)
			e->count[part[i]]++;
	}
}

SCENARIO(two_receivers)
{
	size_t total = (size_t)cts_param("bytes"), expected[256] = {0};
	unsigned char *bytes = cts_fx_pattern(total, 1);
	struct ear ears[2] = {{.heard = 0}, {.heard = 0}};
	scif_epd_t pair[2];

	cts_pair(pair);
	for (size_t i = 0; i < total; i++)
		expected[bytes[i]]++;
	ears[0].epd = ears[1].epd = pair[1];
	struct cts_thread *one = cts_thread_start(listen_to_end, &ears[0]);
	struct cts_thread *two = cts_thread_start(listen_to_end, &ears[1]);
	CTS_ASSERT(scif_send(pair[0], bytes, (int)total, SCIF_SEND_BLOCK) == (int)total);
	CTS_ASSERT(scif_close(pair[0]) == 0);
	CTS_ASSERT(cts_failed_with(cts_join(one), ECONNRESET));
	CTS_ASSERT(cts_failed_with(cts_join(two), ECONNRESET));
	CTS_OBSERVE((intptr_t)(ears[0].heard + ears[1].heard));
	CTS_ASSERT(ears[0].heard + ears[1].heard == total);
	for (int i = 0; i < 256; i++)
		CTS_ASSERT(ears[0].count[i] + ears[1].count[i] == expected[i]);
}

SCENARIO(connections_do_not_mix)
{
	unsigned count = (unsigned)cts_param("pairs");
	struct far_listener at = ends_far_listen(cts_peer(), 5);
	scif_epd_t epds[MOST_PAIRS];

	CTS_REQUIRE(count <= MOST_PAIRS);
	for (unsigned i = 0; i < count; i++) {
		epds[i] = cts_fx_unbound();
		ends_connect(epds[i], at);
	}
	for (unsigned i = 0; i < count; i++) {
		CTS_ASSERT(scif_send(epds[i], cts_fx_pattern(100 + i, 20 + i), (int)(100 + i), 0) ==
			   (int)(100 + i));
		CTS_ASSERT(cts_far_send_at(epds[i], 50, 40 + i, 0, SCIF_SEND_BLOCK).ret == 50);
	}
	for (unsigned i = 0; i < count; i++) {
		unsigned char *got = cts_fx_buffer(100);

		CTS_ASSERT(cts_far_recv_is(epds[i], (int)(100 + i), 20 + i, 0));
		CTS_ASSERT(scif_recv(epds[i], got, 100, 0) == 50);
		CTS_ASSERT(cts_is_pattern(got, 50, 40 + i));
	}
	CTS_OBSERVE(count);
}

static struct cts_result echo(void *arg)
{
	scif_epd_t epd = *(scif_epd_t *)arg;
	struct cts_result r;
	char byte;

	while ((r = CTS_RESULT(scif_recv(epd, &byte, 1, SCIF_RECV_BLOCK))).ret == 1)
		if ((r = CTS_RESULT(scif_send(epd, &byte, 1, SCIF_SEND_BLOCK))).ret != 1)
			break;
	return r;
}

SCENARIO(ping_pong)
{
	long rounds = cts_param("rounds");
	scif_epd_t pair[2];

	cts_pair(pair);
	struct cts_thread *partner = cts_thread_start(echo, &pair[1]);
	for (long i = 0; i < rounds; i++) {
		unsigned char out = (unsigned char)i, in = (unsigned char)~i;

		CTS_ASSERT(scif_send(pair[0], &out, 1, SCIF_SEND_BLOCK) == 1);
		CTS_ASSERT(scif_recv(pair[0], &in, 1, SCIF_RECV_BLOCK) == 1);
		CTS_ASSERT(in == out);
	}
	CTS_OBSERVE(1);
	CTS_ASSERT(scif_close(pair[0]) == 0);
	CTS_ASSERT(cts_failed_with(cts_join(partner), ECONNRESET));
}
