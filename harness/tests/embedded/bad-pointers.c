/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pointers to no memory, and to memory that cannot be written: EFAULT, also where the text has no
 * such error, and never a signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <scif.h>
#include <scif_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ends.h"

enum { PAGE = 4096, ROOM = 4095 };

static int failed;

static void gives(int error, int result, const char *call)
{
	int good = result == -1 && errno == error;

	printf("%s: %s\n", good ? "ok" : "not ok", call);
	failed += !good;
}

/* Good at both ends; the message stays where it is, and comes whole afterwards. */
static void across_a_hole(void)
{
	static char bytes[ROOM];
	char *hole =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	scif_epd_t one, other;

	must(hole == MAP_FAILED ? -1 : 0, "mmap");
	connect_ends(&one, &other);
	must(scif_send(other, bytes, ROOM, 0) == ROOM ? 0 : -1, "send");
	mprotect(hole + PAGE, PAGE, PROT_NONE);
	gives(EFAULT, scif_recv(one, hole + PAGE - 8, PAGE + 16, 0), "scif_recv across a hole");
	gives(EFAULT, scif_send(one, hole + PAGE - 8, PAGE + 16, 0), "scif_send across a hole");
	gives(EFAULT, scif_send(one, (void *)UINTPTR_MAX, 2, 0),
	      "scif_send from the end of all memory");
	mprotect(hole + PAGE, PAGE, PROT_READ | PROT_WRITE);
	if (scif_recv(one, hole, ROOM, 0) != ROOM || scif_recv(other, hole, 1, 0) != 0)
		gives(0, 0, "what was under way, after it");
}

/* A request that cannot be told of stays for the next call. */
static void nowhere_to_tell(void *none)
{
	scif_epd_t listener = scif_open(), epd = scif_open(), new;
	struct scif_portID to = {.node = 0, .port = (uint16_t)scif_bind(listener, 0)}, from;

	must(scif_listen(listener, 1), "listen");
	fcntl(epd, F_SETFL, O_NONBLOCK);
	scif_connect(epd, &to);
	gives(EFAULT, scif_accept(listener, none, &new, SCIF_ACCEPT_SYNC),
	      "scif_accept, peer in no memory");
	gives(EFAULT, scif_accept(listener, &from, none, SCIF_ACCEPT_SYNC),
	      "scif_accept, epd in no memory");
	must(scif_accept(listener, &from, &new, 0), "accept");
}

int main(void)
{
	void *none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct scif_pollepd *fixed =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *end = (void *)UINTPTR_MAX;
	char fabric[40];
	uint16_t self;

	snprintf(fabric, sizeof(fabric), "pointers-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	scif_epd_t epd = scif_open();
	if (epd < 0 || none == MAP_FAILED || fixed == MAP_FAILED)
		return BROKEN;
	fixed[0] = (struct scif_pollepd){.epd = epd, .events = SCIF_POLLIN};
	mprotect(fixed, PAGE, PROT_READ);
	gives(EFAULT, scif_connect(epd, none), "scif_connect to no memory");
	gives(EFAULT, scif_connect(epd, end), "scif_connect to the end of all memory");
	gives(EFAULT, scif_get_nodeIDs(none, 2, &self), "scif_get_nodeIDs into no memory");
	gives(EFAULT, scif_get_nodeIDs(NULL, 0, none), "scif_get_nodeIDs, self in no memory");
	gives(EFAULT, scif_poll(none, 1, 0), "scif_poll of no memory");
	gives(EFAULT, scif_poll(fixed, 1, 0), "scif_poll of memory to read");
	gives(EFAULT, scif_get_nodeIDs(NULL, 0, end),
	      "scif_get_nodeIDs, self at the end of all memory");
	across_a_hole();
	nowhere_to_tell(none);
	gives(EINVAL, scif_event_register(NULL), "scif_event_register without a handler");
	return failed != 0;
}
