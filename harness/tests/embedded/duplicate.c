/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection lives on in a duplicate that the library was not told of, whatever the socket shows
 * while the first descriptor is closed, and among descriptors that show the same; and in one that
 * calls were made with, until the last of them is closed, however that comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <scif.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ends.h"

enum { ROOM = 4095 };

static bool lives_on(int queued, const char *what)
{
	static char bytes[ROOM];
	scif_epd_t peer, epd, twin;
	bool alive;

	connect_ends(&epd, &peer);
	if (queued > 0)
		must(scif_send(epd, bytes, queued, 0) - queued, "send");
	twin = dup(epd);
	must(scif_close(epd), "close");
	alive = scif_recv(peer, bytes, queued + 1, 0) == queued &&
		scif_send(twin, "x", 1, 0) == 1 && scif_recv(peer, bytes, 1, 0) == 1 &&
		scif_close(twin) == 0 && scif_recv(peer, bytes, 1, SCIF_RECV_BLOCK) < 0 &&
		errno == ECONNRESET;
	if (!alive)
		printf("%s: the duplicate is not the endpoint\n", what);
	scif_close(peer);
	return alive;
}

enum { HIGH = 9000 };

/* One that calls were made with is known, wherever it lies; one that is closed since is no help. */
static bool known_lives_on(bool close_twin)
{
	scif_epd_t peer, epd, twin, other;
	char byte;
	bool alive;

	connect_ends(&epd, &peer);
	other = fcntl(epd, F_DUPFD, HIGH);
	must(other, "F_DUPFD");
	must(scif_send(other, "x", 1, 0), "send");
	twin = dup(epd);
	must(scif_send(twin, "x", 1, 0), "send");
	close(close_twin ? twin : other);
	must(scif_close(epd), "close");
	epd = close_twin ? other : twin;
	alive = scif_send(epd, "x", 1, 0) == 1 && scif_recv(peer, &byte, 1, 0) == 1 &&
		scif_close(epd) == 0 && scif_recv(peer, &byte, 1, SCIF_RECV_BLOCK) == 1 &&
		scif_recv(peer, &byte, 1, SCIF_RECV_BLOCK) == 1 &&
		scif_recv(peer, &byte, 1, SCIF_RECV_BLOCK) < 0 && errno == ECONNRESET;
	if (!alive)
		printf("a duplicate in use is not the endpoint\n");
	scif_close(peer);
	return alive;
}

/* With the last number of the endpoint goes the connection, though calls were made with another. */
static bool none_is_left(void)
{
	scif_epd_t peer, epd, twin;
	char byte;
	bool ended;

	connect_ends(&epd, &peer);
	twin = dup(epd);
	must(scif_send(twin, "x", 1, 0), "send");
	close(twin);
	must(scif_close(epd), "close");
	ended = scif_recv(peer, &byte, 1, SCIF_RECV_BLOCK) == 1 &&
		scif_recv(peer, &byte, 1, SCIF_RECV_BLOCK) < 0 && errno == ECONNRESET;
	if (!ended)
		printf("the connection goes on without a descriptor\n");
	scif_close(peer);
	return ended;
}

/* A call through a duplicate goes on when the first number was closed behind the library's back. */
static bool first_is_closed(void)
{
	scif_epd_t peer, epd, twin;
	char byte;
	bool alive;

	connect_ends(&epd, &peer);
	twin = dup(epd);
	must(scif_send(twin, "x", 1, 0), "send");
	close(epd);
	alive = scif_send(twin, "y", 1, 0) == 1 &&
		scif_recv(peer, &byte, 1, SCIF_RECV_BLOCK) == 1 &&
		scif_recv(peer, &byte, 1, SCIF_RECV_BLOCK) == 1 && byte == 'y';
	if (!alive)
		printf("the duplicate does not go on alone\n");
	scif_close(twin);
	scif_close(peer);
	return alive;
}

int main(void)
{
	struct rlimit most;
	int pipes[2], pair[2];
	char fabric[40];
	bool right;

	snprintf(fabric, sizeof(fabric), "duplicate-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	must(pipe(pipes), "pipe");
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	right = lives_on(0, "nothing under way");
	right &= lives_on(1, "a byte under way");
	right &= lives_on(ROOM, "no room left");
	must(getrlimit(RLIMIT_NOFILE, &most), "getrlimit");
	most.rlim_cur = most.rlim_max;
	must(setrlimit(RLIMIT_NOFILE, &most), "setrlimit");
	if (most.rlim_max > HIGH) {
		right &= known_lives_on(true);
		right &= known_lives_on(false);
	}
	right &= none_is_left();
	right &= first_is_closed();
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
