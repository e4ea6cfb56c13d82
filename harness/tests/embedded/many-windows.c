/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Far more windows than one way down their tree shows: each is found again and again, ends when it
 * is closed, and is another one when its place is taken again, also while a second thread reads
 * without a pause.
 */
#include <errno.h>
#include <pthread.h>
#include <scif.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ends.h"

enum { PAGE = 4096, PAGES = 64, WINDOWS = 20000, ROUNDS = 3, CHANGED = 7 };

static scif_epd_t own, peer;
static unsigned char *memory;
static atomic_bool done;

/* Gaps between them keep windows what they are: many. */
static off_t place(int window)
{
	return (off_t)(window + 1) * 2 * PAGE;
}

/* Page i holds i. */
static void open_window(int window, int page)
{
	off_t at = scif_register(own, memory + page * PAGE, PAGE, place(window), SCIF_PROT_READ,
				 SCIF_MAP_FIXED);

	must(at == place(window) ? 0 : -1, "register");
}

/* What the window shows, -1 when there is none. */
static int shown(int window)
{
	unsigned char byte = 0;

	if (scif_vreadfrom(peer, &byte, 1, place(window) + 1, SCIF_RMA_SYNC) == 0)
		return byte;
	must(errno == ENXIO ? 0 : -1, "vreadfrom");
	return -1;
}

static bool all_show(const char *when, int shift, bool some_closed)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (int window = 0; window < WINDOWS; window++) {
			int change = window % CHANGED == 0 ? shift : 0;
			int expected = some_closed && window % CHANGED == 0
					       ? -1
					       : (window + change) % PAGES;

			if (shown(window) == expected)
				continue;
			printf("not ok: window %d shows %d %s, not %d\n", window, shown(window),
			       when, expected);
			return false;
		}
	}
	printf("ok: %d windows %s\n", WINDOWS, when);
	return true;
}

static void *read_all_the_time(void *arg)
{
	bool *good = arg;
	uint32_t lot = 1;

	while (!atomic_load(&done)) {
		int window = (int)((lot = lot * 1664525 + 1013904223) % WINDOWS),
		    seen = shown(window);
		bool changes = window % CHANGED == 0;

		if (seen != window % PAGES &&
		    !(changes && (seen == -1 || seen == (window + 1) % PAGES)))
			*good = false;
	}
	return NULL;
}

static void close_some(void)
{
	for (int window = 0; window < WINDOWS; window += CHANGED)
		must(scif_unregister(own, place(window), PAGE), "unregister");
}

static void open_again(int shift)
{
	for (int window = 0; window < WINDOWS; window += CHANGED)
		open_window(window, (window + shift) % PAGES);
}

int main(void)
{
	pthread_t reader;
	bool good = true, reader_good = true;

	connect_ends(&peer, &own);
	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	for (int page = 0; page < PAGES; page++)
		memset(memory + page * PAGE, page, PAGE);
	for (int window = 0; window < WINDOWS; window++)
		open_window(window, window % PAGES);
	good &= all_show("are found again and again", 0, false);
	must(pthread_create(&reader, NULL, read_all_the_time, &reader_good) ? -1 : 0, "thread");
	close_some();
	good &= all_show("after some were closed", 0, true);
	open_again(1);
	good &= all_show("after others took their places", 1, false);
	atomic_store(&done, true);
	pthread_join(reader, NULL);
	printf("%s: a second thread saw nothing else\n", reader_good ? "ok" : "not ok");
	good &= scif_close(own) == 0 && scif_close(peer) == 0;
	return good && reader_good ? 0 : 1;
}
