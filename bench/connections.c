/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: a whole life of one, and to ask which of many are ready. */
#include <errno.h>
#include <poll.h>
#include <scif.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "scif_ends.h"
#include "subjects.h"
#include "timing.h"

enum { MOST_POLLED = 1000 };

/* --- opened, connected, accepted, closed by the partner, closed --- */

static struct scif_listener listener;

static void open_listener(struct pair *pair)
{
	scif_listener_open(pair, &listener, 16);
}

static void live_scif(struct pair *pair)
{
	scif_epd_t epd = scif_open();
	char byte;

	bench_must(pair, epd != SCIF_OPEN_FAILED, "scif_open");
	bench_must(pair, scif_connect(epd, &listener.address) >= 0, "scif_connect");
	bench_must(pair, scif_recv(epd, &byte, 1, SCIF_RECV_BLOCK) < 0 && errno == ECONNRESET,
		   "scif_recv from an ended connection");
	bench_must(pair, scif_close(epd) == 0, "scif_close");
}

static void serve_scif(struct pair *pair)
{
	bool was_last;

	do {
		struct scif_portID peer;
		scif_epd_t epd;

		bench_must(pair, scif_accept(listener.epd, &peer, &epd, SCIF_ACCEPT_SYNC) == 0,
			   "scif_accept");
		was_last = timing_was_last(pair);
		bench_must(pair, scif_close(epd) == 0, "scif_close");
	} while (!was_last);
}

static int socket_listener;
static struct sockaddr_un address;
static socklen_t address_length;

static void open_socket_listener(struct pair *pair)
{
	sa_family_t family = AF_UNIX;

	if (pair->partner != 0) {
		pair_hear(pair, &address_length, sizeof(address_length));
		pair_hear(pair, &address, address_length);
		return;
	}
	socket_listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bench_must(pair, socket_listener >= 0, "socket");
	/* An address of the family alone: the kernel finds a name. */
	bench_must(pair,
		   bind(socket_listener, (const struct sockaddr *)&family, sizeof(family)) == 0,
		   "bind");
	bench_must(pair, listen(socket_listener, 16) == 0, "listen");
	address_length = sizeof(address);
	bench_must(pair,
		   getsockname(socket_listener, (struct sockaddr *)&address, &address_length) == 0,
		   "getsockname");
	pair_tell(pair, &address_length, sizeof(address_length));
	pair_tell(pair, &address, address_length);
}

static void live_socket(struct pair *pair)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	bench_must(pair, fd >= 0, "socket");
	bench_must(pair, connect(fd, (const struct sockaddr *)&address, address_length) == 0,
		   "connect");
	bench_must(pair, recv(fd, &byte, 1, 0) == 0, "recv");
	close(fd);
}

static void serve_socket(struct pair *pair)
{
	bool was_last;

	do {
		int fd = accept4(socket_listener, NULL, NULL, SOCK_CLOEXEC);

		bench_must(pair, fd >= 0, "accept4");
		was_last = timing_was_last(pair);
		close(fd);
	} while (!was_last);
}

static struct effort life_effort(size_t size)
{
	(void)size;
	return (struct effort){.samples = 200, .batch = 1};
}

const struct measurement measurement_connect = {
	.name = "connect",
	.title = "Connect, accept and close: time of one life of a connection",
	.kind = SIZE_COUNT,
	.sizes = {1},
	.effort = life_effort,
	.subjects =
		(const struct subject *const[]){
			&(const struct subject){
				"scif_connect",
				.driver = {.begin = open_listener, .once = live_scif},
				.partner = {.begin = open_listener, .repeat = serve_scif}},
			&(const struct subject){
				"AF_UNIX", true,
				.driver = {.begin = open_socket_listener, .once = live_socket},
				.partner = {.begin = open_socket_listener, .repeat = serve_socket}},
			NULL},
};

/* --- many of them --- */

static struct scif_pollepd epds[MOST_POLLED];
static struct pollfd descriptors[MOST_POLLED];
static int partners[MOST_POLLED];

static void allow_many_descriptors(struct pair *pair)
{
	struct rlimit limit;

	bench_must(pair, getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
	limit.rlim_cur = limit.rlim_max;
	bench_must(pair, setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

/* One has something to receive, so that there is something to be found. */
static void connect_many(struct pair *pair)
{
	static scif_epd_t opened[MOST_POLLED];
	unsigned i;

	allow_many_descriptors(pair);
	scif_ends_open(pair, opened, (unsigned)pair->largest);
	for (i = 0; i < pair->largest; i++) {
		epds[i] = (struct scif_pollepd){.epd = opened[i], .events = SCIF_POLLIN};
		descriptors[i] = (struct pollfd){.fd = opened[i], .events = POLLIN};
	}
	if (pair->partner == 0)
		bench_must(pair, scif_send(opened[0], "", 1, SCIF_SEND_BLOCK) == 1, "scif_send");
}

static void connect_many_sockets(struct pair *pair)
{
	unsigned i;

	allow_many_descriptors(pair);
	for (i = 0; i < pair->largest; i++) {
		int both[2];

		bench_must(pair, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0,
			   "socketpair");
		descriptors[i] = (struct pollfd){.fd = both[0], .events = POLLIN};
		partners[i] = both[1];
	}
	bench_must(pair, send(partners[0], "", 1, 0) == 1, "send");
}

static void ask_scif(struct pair *pair)
{
	bench_must(pair, scif_poll(epds, (unsigned)pair->size, 0) == 1, "scif_poll");
}

static void ask_kernel(struct pair *pair)
{
	bench_must(pair, poll(descriptors, pair->size, 0) == 1, "poll");
}

static struct effort poll_effort(size_t size)
{
	return (struct effort){.samples = 200, .batch = size < 100 ? 64 : 1};
}

const struct measurement measurement_poll = {
	.name = "poll",
	.title = "Asking which of many connections are ready, one is: by their number",
	.kind = SIZE_COUNT,
	.sizes = {10, 100, MOST_POLLED},
	.effort = poll_effort,
	.subjects =
		(const struct subject *const[]){
			&(const struct subject){"scif_poll",
						.driver = {.begin = connect_many, .once = ask_scif},
						.partner = {.begin = connect_many}},
			&(const struct subject){
				"poll of endpoints",
				.driver = {.begin = connect_many, .once = ask_kernel},
				.partner = {.begin = connect_many}},
			&(const struct subject){
				"poll of AF_UNIX", true,
				.driver = {.begin = connect_many_sockets, .once = ask_kernel}},
			NULL},
};
