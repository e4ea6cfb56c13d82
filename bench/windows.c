/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows: to open and close them by size, to find one among many. */
#include <errno.h>
#include <scif.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scif_ends.h"
#include "subjects.h"
#include "timing.h"

enum { PAGE = 4096, PAGES_SHOWN = 64, BOTH = SCIF_PROT_READ | SCIF_PROT_WRITE };

static scif_epd_t epd;

static void connect_ends(struct pair *pair)
{
	scif_ends_open(pair, &epd, 1);
}

/* --- opened and closed --- */

/* Does to fresh touched memory what takes a time that it returns. */
static void each_fresh(struct pair *pair, double (*time_of)(struct pair *pair, void *pages))
{
	struct progress progress = timing_begin(pair);
	bool is_last;

	do {
		void *pages = bench_pages(pair, pair->size);
		double time = time_of(pair, pages);

		is_last = timing_is_last(pair, &progress);
		if (progress.made++ >= progress.warm)
			timing_note(pair, time);
		munmap(pages, pair->size);
	} while (!is_last);
}

static off_t open_window(struct pair *pair, void *pages)
{
	off_t offset = scif_register(epd, pages, pair->size, 0, BOTH, 0);

	bench_must(pair, offset != SCIF_REGISTER_FAILED, "scif_register");
	return offset;
}

static void close_window(struct pair *pair, off_t offset)
{
	bench_must(pair, scif_unregister(epd, offset, pair->size) == 0, "scif_unregister");
}

static double time_first(struct pair *pair, void *pages)
{
	uint64_t start = now(), end;
	off_t offset = open_window(pair, pages);

	end = now();
	close_window(pair, offset);
	return (double)(end - start);
}

/* Memory that had a window before is in shared pages already. */
static double time_again(struct pair *pair, void *pages)
{
	time_first(pair, pages);
	return time_first(pair, pages);
}

static double time_close(struct pair *pair, void *pages)
{
	off_t offset = open_window(pair, pages);
	uint64_t start = now();

	close_window(pair, offset);
	return (double)(now() - start);
}

static double time_copy(struct pair *pair, void *pages)
{
	uint64_t start = now(), end;
	int fd = memfd_create("copy", MFD_CLOEXEC);
	void *fresh;

	bench_must(pair, fd >= 0, "memfd_create");
	bench_must(pair, ftruncate(fd, (off_t)pair->size) == 0, "ftruncate");
	fresh = mmap(NULL, pair->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	bench_must(pair, fresh != MAP_FAILED, "mmap");
	memcpy(fresh, pages, pair->size);
	end = now();
	munmap(fresh, pair->size);
	close(fd);
	return (double)(end - start);
}

static void register_first(struct pair *pair)
{
	each_fresh(pair, time_first);
}

static void register_again(struct pair *pair)
{
	each_fresh(pair, time_again);
}

static void unregister(struct pair *pair)
{
	each_fresh(pair, time_close);
}

static void copy_fresh(struct pair *pair)
{
	each_fresh(pair, time_copy);
}

static struct effort register_effort(size_t size)
{
	size_t samples = ((size_t)64 << 20) / size;

	return (struct effort){.samples = samples < 3	  ? 3
					  : samples > 100 ? 100
							  : (unsigned)samples,
			       .batch = 1};
}

#define CONNECTED .partner = {.begin = connect_ends}

const struct measurement measurement_register = {
	.name = "register",
	.title = "Opening a window on touched memory, by its size",
	.sizes = {PAGE, 65536, 1 << 20, 16 << 20, 64 << 20},
	.effort = register_effort,
	.subjects =
		(const struct subject *const[]){
			&(const struct subject){
				"scif_register", CONNECTED,
				.driver = {.begin = connect_ends, .repeat = register_first}},
			&(const struct subject){
				"scif_register again", CONNECTED,
				.driver = {.begin = connect_ends, .repeat = register_again}},
			&(const struct subject){"fresh shared copy", true,
						.driver = {.repeat = copy_fresh}},
			NULL},
};

const struct measurement measurement_unregister = {
	.name = "unregister",
	.title = "Closing a window, by its size",
	.sizes = {PAGE, 65536, 1 << 20, 16 << 20, 64 << 20},
	.effort = register_effort,
	.subjects = (const struct subject *const[]){&(const struct subject){
							    "scif_unregister", CONNECTED,
							    .driver = {.begin = connect_ends,
								       .repeat = unregister}},
						    NULL},
};

/* --- one among many --- */

static char *shown;
static size_t windows;
static uint32_t chosen = 1;

static void connect_with_pages(struct pair *pair)
{
	connect_ends(pair);
	shown = bench_pages(pair, PAGES_SHOWN * PAGE);
}

/* Gaps between them keep windows what they are: many. */
static off_t offset_of(size_t window)
{
	return (off_t)(window + 1) * 2 * PAGE;
}

/* Sizes ascend, so each needs more of them only. */
static void add_windows(struct pair *pair)
{
	for (; windows < pair->size; windows++)
		bench_must(pair,
			   scif_register(epd, shown + windows % PAGES_SHOWN * PAGE, PAGE,
					 offset_of(windows), BOTH, SCIF_MAP_FIXED) >= 0,
			   "scif_register");
	pair_tell(pair, "", 1);
}

static void read_window(struct pair *pair, size_t window)
{
	uint64_t value;

	bench_must(pair,
		   scif_vreadfrom(epd, &value, sizeof(value), offset_of(window), SCIF_RMA_SYNC) == 0,
		   "scif_vreadfrom");
}

static void read_one(struct pair *pair)
{
	chosen = chosen * 1664525 + 1013904223;
	read_window(pair, (size_t)chosen * pair->size >> 32);
}

static void read_any(struct pair *pair)
{
	char byte;

	pair_hear(pair, &byte, 1);
	/* The caches of processor and library are warm then, as far as they reach. */
	for (size_t window = 0; window < pair->size; window++)
		read_window(pair, window);
	timing_loop(pair, read_one, 1);
}

static struct effort find_effort(size_t size)
{
	(void)size;
	return (struct effort){.samples = 200, .batch = 64};
}

const struct measurement measurement_windows = {
	.name = "windows",
	.title = "Reading 8 bytes from any of many windows, by their number",
	.kind = SIZE_COUNT,
	.sizes = {10, 1000, 100000},
	.effort = find_effort,
	.subjects =
		(const struct subject *const[]){
			&(const struct subject){
				"scif_vreadfrom",
				.driver = {.begin = connect_ends, .repeat = read_any},
				.partner = {.begin = connect_with_pages, .repeat = add_windows}},
			NULL},
};
