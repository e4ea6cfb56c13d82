/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A mapping that the program moves or removes without scif_munmap(): the window behind it ends with
 * the last place where its pages are seen, at the next call of the process. The memory that was
 * registered shows the same pages and counts not.
 */
#include <errno.h>
#include <scif.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ends.h"

enum { PAGE = 4096, PLACE = 1 << 20 };

static scif_epd_t own, peer;
static char *memory;

static bool can_open(void)
{
	return scif_register(own, memory, PAGE, PLACE, SCIF_PROT_READ, SCIF_MAP_FIXED) == PLACE;
}

/* A window that is mapped by the peer and then unregistered: its place stays taken. */
static char *mapped_then_closed(void)
{
	must(can_open() ? 0 : -1, "register");
	char *far = scif_mmap(NULL, PAGE, SCIF_PROT_READ, 0, peer, PLACE);
	must(far == SCIF_MMAP_FAILED ? -1 : 0, "mmap");
	must(scif_unregister(own, PLACE, PAGE), "unregister");
	return far;
}

static void any_call(void)
{
	char byte;

	scif_recv(peer, &byte, 1, 0);
}

static bool removed(void)
{
	char *far = mapped_then_closed();
	bool taken = !can_open() && errno == EADDRINUSE;

	munmap(far, PAGE);
	any_call();
	bool good = can_open();
	scif_unregister(own, PLACE, PAGE);
	return taken && good;
}

static bool moved(void)
{
	char *far = mapped_then_closed();
	char *elsewhere = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(mremap(far, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere) == MAP_FAILED ? -1
											     : 0,
	     "mremap");
	any_call();
	bool taken = !can_open() && errno == EADDRINUSE && elsewhere[0] == 'm';
	munmap(elsewhere, PAGE);
	any_call();
	bool good = can_open();
	scif_unregister(own, PLACE, PAGE);
	return taken && good;
}

int main(void)
{
	char fabric[40];
	bool a, b;

	snprintf(fabric, sizeof(fabric), "moved-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	memory[0] = 'm';
	connect_ends(&own, &peer);
	a = removed();
	printf("%s: a mapping that is removed\n", a ? "ok" : "not ok");
	b = moved();
	printf("%s: a mapping that is moved\n", b ? "ok" : "not ok");
	return !(a && b);
}
