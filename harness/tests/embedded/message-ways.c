/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two processes send each other streams of bytes in both directions at once, each call in a way drawn by lot: blocking,
 * or not and after poll(2) or scif_poll() said that it is worth while. Every byte arrives in its place, nobody waits for
 * what is there, and what the descriptor promises holds. message-ways [SEED...]
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <scif.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 2 << 20, LONGEST = 6000, SECONDS = 120, BACKLOG = 1, PART = 40, RESTS = 500 };
enum way { BLOCKING, POLL, SCIF_POLL, WAYS };

struct stream {
	scif_epd_t epd;
	uint64_t lot;
	bool out;
};

static uint64_t draw(uint64_t *lot)
{
	*lot ^= *lot << 13;
	*lot ^= *lot >> 7;
	*lot ^= *lot << 17;
	return *lot;
}

static void give_up(const char *what, long value)
{
	fprintf(stderr, "message-ways: %s: %ld (%s)\n", what, value, strerror(errno));
	_exit(1);
}

static void must(bool holds, const char *what, long value)
{
	if (!holds)
		give_up(what, value);
}

/* Small ones mostly, and often some that fill what there is. */
static int length(uint64_t *lot, size_t left)
{
	static const int most[] = {8, 8, 64, 64, 500, LONGEST};
	int n = 1 + (int)(draw(lot) % (uint64_t)most[draw(lot) % 6]);

	return (size_t)n < left ? n : (int)left;
}

static unsigned char byte_at(size_t place)
{
	return (unsigned char)(place * 2654435761u >> 13);
}

static void until_ready(struct stream *s, enum way way)
{
	short events = s->out ? POLLOUT : POLLIN;
	struct pollfd fd = {.fd = s->epd, .events = events};
	struct scif_pollepd epd = {.epd = s->epd, .events = events};
	int ready = way == POLL ? poll(&fd, 1, -1) : scif_poll(&epd, 1, -1);

	must(ready == 1, "poll", ready);
	must((way == POLL ? fd.revents : epd.revents) & events, "poll shows", fd.revents | epd.revents);
}

static int move(struct stream *s, void *bytes, int n, int flags)
{
	return s->out ? scif_send(s->epd, bytes, n, flags) : scif_recv(s->epd, bytes, n, flags);
}

static int step(struct stream *s, unsigned char *bytes, int n)
{
	enum way way = draw(&s->lot) % WAYS;
	int flag = s->out ? SCIF_SEND_BLOCK : SCIF_RECV_BLOCK;
	int moved;

	if (way != BLOCKING)
		until_ready(s, way);
	moved = move(s, bytes, n, way == BLOCKING ? flag : 0);
	must(moved > 0 && moved <= n, s->out ? "sent" : "received", moved);
	must(way != BLOCKING || moved == n, "of a blocking call", moved);
	return moved;
}

static void *run(void *argument)
{
	struct stream *s = argument;
	unsigned char bytes[LONGEST];
	size_t done = 0;

	while (done < BYTES) {
		int n = length(&s->lot, BYTES - done), moved;

		for (int i = 0; s->out && i < n; i++)
			bytes[i] = byte_at(done + (size_t)i);
		moved = step(s, bytes, n);
		for (int i = 0; !s->out && i < moved; i++)
			must(bytes[i] == byte_at(done + (size_t)i), "another byte at", (long)done + i);
		done += (size_t)moved;
		if (draw(&s->lot) % 64 == 0)
			sched_yield();
	}
	return NULL;
}

/* What is left of a message by a receiver that waited for its beginning only shows on the descriptor. */
static void leave_a_rest(scif_epd_t epd, bool sends)
{
	struct stream in = {.epd = epd};
	char bytes[2 * PART];

	for (int i = 0; i < RESTS; i++) {
		if (sends) {
			must(scif_send(epd, bytes, 2 * PART, SCIF_SEND_BLOCK) == 2 * PART, "both parts", i);
			must(scif_recv(epd, bytes, 1, SCIF_RECV_BLOCK) == 1, "word that they came", i);
			continue;
		}
		must(scif_recv(epd, bytes, PART, SCIF_RECV_BLOCK) == PART, "first part", i);
		until_ready(&in, POLL);
		must(scif_recv(epd, bytes, 2 * PART, 0) == PART, "second part", i);
		must(scif_send(epd, bytes, 1, SCIF_SEND_BLOCK) == 1, "word that they came", i);
	}
}

static void run_both(scif_epd_t epd, uint64_t seed, bool connects)
{
	struct stream out = {.epd = epd, .lot = seed, .out = true}, in = {.epd = epd, .lot = seed * 3};
	pthread_t sender;
	char last = 0;

	leave_a_rest(epd, connects);
	leave_a_rest(epd, !connects);
	must(pthread_create(&sender, NULL, run, &out) == 0, "thread", 0);
	run(&in);
	pthread_join(sender, NULL);
	/* Nothing is left over. */
	must(scif_send(epd, &last, 1, SCIF_SEND_BLOCK) == 1, "last byte", 0);
	must(scif_recv(epd, &last, 1, SCIF_RECV_BLOCK) == 1, "last byte back", 0);
	must(poll(&(struct pollfd){.fd = epd, .events = POLLIN}, 1, 0) == 0 || scif_recv(epd, &last, 1, 0) == -1,
	     "readable at the end", 0);
}

static void accept_one(int port_out, uint64_t seed)
{
	scif_epd_t listener = scif_open(), epd;
	struct scif_portID peer;
	uint16_t port = (uint16_t)scif_bind(listener, 0);

	must(scif_listen(listener, BACKLOG) == 0 && write(port_out, &port, sizeof(port)) == sizeof(port), "listen", port);
	must(scif_accept(listener, &peer, &epd, SCIF_ACCEPT_SYNC) == 0, "accept", 0);
	run_both(epd, seed, false);
	_exit(0);
}

static void exchange(uint64_t seed)
{
	struct scif_portID to = {.node = 0};
	int ports[2], status;
	scif_epd_t epd;
	pid_t child;

	must(pipe(ports) == 0, "pipe", 0);
	child = fork();
	alarm(SECONDS);
	if (child == 0)
		accept_one(ports[1], seed);
	must(read(ports[0], &to.port, sizeof(to.port)) == sizeof(to.port), "port", 0);
	epd = scif_open();
	must(scif_connect(epd, &to) > 0, "connect", 0);
	run_both(epd, seed + 1, true);
	must(waitpid(child, &status, 0) == child && status == 0, "the other process", status);
	scif_close(epd);
	close(ports[0]);
	close(ports[1]);
	printf("ok: both streams of seed %llu\n", (unsigned long long)seed);
}

/* Each in a process that never used the library: what a process shares by fork is told of in another way. */
static void in_a_process(uint64_t seed)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		exchange(seed);
		exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && status == 0, "exchange of seed", (long)seed);
}

int main(int argc, char **argv)
{
	static const uint64_t seeds[] = {1, 20, 300, 4000};

	for (int i = 1; i < argc; i++)
		in_a_process(strtoull(argv[i], NULL, 0));
	for (size_t i = 0; argc == 1 && i < sizeof(seeds) / sizeof(seeds[0]); i++)
		in_a_process(seeds[i]);
	return 0;
}
