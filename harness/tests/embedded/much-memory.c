/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More memory than one store has frames for: a second store is made, frames that are free again are
 * found, those that the program still uses are left alone. What is in the memory is given back at
 * once, so that it takes no gigabytes.
 */
#include <errno.h>
#include <scif.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ends.h"

enum { PIECE = 256 << 20, FILLED = 15, MORE = 4, SKIPPED = 77 };

struct piece {
	char *memory;
	off_t window;
};

static scif_epd_t own, peer;

static struct piece opened(int number)
{
	struct piece p = {
		.memory = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
	};

	must(p.memory == MAP_FAILED ? -1 : 0, "mmap");
	/* Fewer faults, where the kernel does that. */
	madvise(p.memory, PIECE, MADV_HUGEPAGE);
	p.memory[PIECE - 1] = (char)number;
	p.window = scif_register(own, p.memory, PIECE, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	must(p.window, "register");
	must(madvise(p.memory, PIECE - 4096, MADV_REMOVE), "madvise");
	return p;
}

/* The peer and the program see the same, which nobody else has. */
static bool holds(const struct piece *p, int number)
{
	char byte = 0;

	return scif_vreadfrom(peer, &byte, 1, p->window + PIECE - 1, 0) == 0 &&
	       byte == (char)number && p->memory[PIECE - 1] == (char)number;
}

int main(void)
{
	struct piece piece[FILLED + MORE], again;
	struct rlimit lock;
	char fabric[40];
	bool good = true;

	if (geteuid() != 0 && (getrlimit(RLIMIT_MEMLOCK, &lock) != 0 || lock.rlim_cur >> 33 == 0)) {
		printf("so much memory may not be registered here: ulimit -l\n");
		return SKIPPED;
	}
	snprintf(fabric, sizeof(fabric), "much-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	connect_ends(&own, &peer);
	for (int i = 0; i < FILLED + MORE; i++)
		piece[i] = opened(i);
	/* Of two windows that end one's memory is given back, the other's goes on in use. */
	for (int i = 0; i < 2; i++)
		must(scif_unregister(own, piece[i].window, PIECE), "unregister");
	munmap(piece[0].memory, PIECE);
	again = opened(99);
	for (int i = 2; i < FILLED + MORE; i++)
		good &= holds(&piece[i], i);
	good &= holds(&again, 99) && piece[1].memory[PIECE - 1] == 1;
	printf("%s\n", good ? "each has its own" : "what was written is elsewhere");
	return !good;
}
