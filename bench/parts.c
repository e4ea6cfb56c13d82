/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What calls are made of, as this machine does it: the least that a target can be compared with
 * where the library cannot do without.
 */
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "subjects.h"

enum { PAGE = 4096, COLD_PAGES = 100000, LINE = 64 };

static _Alignas(LINE) _Atomic uint64_t word;
static struct pollfd descriptors[2];
static char *pages;
static size_t next;

static void add_once(struct pair *pair)
{
	(void)pair;
	atomic_fetch_add(&word, 1);
}

static void read_clock(struct pair *pair)
{
	struct timespec t;

	(void)pair;
	clock_gettime(CLOCK_MONOTONIC, &t);
}

static void call_kernel(struct pair *pair)
{
	(void)pair;
	syscall(SYS_getppid);
}

static void open_descriptors(struct pair *pair)
{
	int ends[2];

	bench_must(pair, socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
	descriptors[0] = (struct pollfd){.fd = ends[0], .events = POLLIN | POLLOUT};
	descriptors[1] = (struct pollfd){.fd = eventfd(0, 0), .events = POLLIN};
}

static void ask_descriptors(struct pair *pair)
{
	bench_must(pair, poll(descriptors, 2, 0) == 1, "poll");
}

static void map_pages(struct pair *pair)
{
	pages = bench_pages(pair, (size_t)COLD_PAGES * PAGE);
}

/*
 * Pages in an order that nothing guesses: the step has no divisor in common with their number.
 * Where the next one is comes from this one, as on a way down a tree.
 */
static void load_cold(struct pair *pair)
{
	enum { STEP = 61803 };
	/* Another line of each: otherwise all compete for a few places of the caches. */
	char found = *(volatile char *)(pages + next * PAGE + next % (PAGE / LINE) * LINE);

	(void)pair;
	next = (next + STEP + (unsigned char)found / 128u) % COLD_PAGES;
}

static void fault_once(struct pair *pair)
{
	char *fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	bench_must(pair, fresh != MAP_FAILED, "mmap");
	*(volatile char *)fresh = 1;
	munmap(fresh, PAGE);
}

#define PART(NAME, BEGIN, ONCE)                                                                    \
	&(const struct subject)                                                                    \
	{                                                                                          \
		NAME, true, .driver = {.begin = (BEGIN), .once = (ONCE) }                          \
	}

const struct measurement measurement_parts = {
	.name = "parts",
	.title = "What calls are made of, on this machine: time of one",
	.kind = SIZE_COUNT,
	.sizes = {1},
	.effort = copy_effort,
	.subjects =
		(const struct subject *const[]){
			PART("locked addition", NULL, add_once),
			PART("clock_gettime", NULL, read_clock),
			PART("getppid", NULL, call_kernel),
			PART("poll of two", open_descriptors, ask_descriptors),
			PART("load, 100,000 pages", map_pages, load_cold),
			PART("mmap, touch, munmap", NULL, fault_once),
			NULL,
		},
};
