/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection lives on in a duplicate that the library was not told of, whatever the socket shows
 * while the first descriptor is closed, and among descriptors that show the same.
 */
#include <errno.h>
#include <scif.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

int main(void)
{
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
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
