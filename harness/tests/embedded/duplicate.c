/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection lives on in a duplicate that the library was not told of, whatever the socket shows
 * while the first descriptor is closed, and among descriptors that show the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <scif.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BROKEN = 99, ROOM = 4095 };

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(BROKEN);
}

static scif_epd_t connected(scif_epd_t *peer)
{
	scif_epd_t listener = scif_open(), epd = scif_open();
	struct scif_portID to, from;
	int port;

	must(scif_get_nodeIDs(NULL, 0, &to.node), "get_nodeIDs");
	port = scif_bind(listener, 0);
	must(port, "bind");
	to.port = (uint16_t)port;
	must(scif_listen(listener, 1), "listen");
	fcntl(epd, F_SETFL, O_NONBLOCK);
	scif_connect(epd, &to);
	must(scif_accept(listener, &from, peer, SCIF_ACCEPT_SYNC), "accept");
	must(scif_connect(epd, &to), "connect");
	scif_close(listener);
	return epd;
}

static bool lives_on(int queued, const char *what)
{
	static char bytes[ROOM];
	scif_epd_t peer, epd = connected(&peer), twin;
	bool alive;

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
