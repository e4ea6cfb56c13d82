/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What transfers cost, for information: the time of put64 and get64, and a put of 1 MiB beside a
 * memcpy of as much, in turns. Nothing is asserted about the times, only that the data arrives.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "pair.h"

enum { SMALL_ROUNDS = 200000, LARGE_ROUNDS = 201, LARGE = 1 << 20 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *pages(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	pair_must(memory == MAP_FAILED, "mmap");
	return memory;
}

static void time_words(struct pair *pair)
{
	uint64_t value = 0, back = 0;
	double start, put, get;

	start = now();
	for (int i = 0; i < SMALL_ROUNDS; i++) {
		value++;
		pair_must(rsm_memseg_import_put64(pair->segment, 8, &value, 1), "put64");
	}
	put = (now() - start) / SMALL_ROUNDS;
	start = now();
	for (int i = 0; i < SMALL_ROUNDS; i++)
		pair_must(rsm_memseg_import_get64(pair->segment, 8, &back, 1), "get64");
	get = (now() - start) / SMALL_ROUNDS;
	pair_must(back != value, "what put64 wrote is not what get64 read");
	printf("put64 %.0f ns, get64 %.0f ns\n", put, get);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *times)
{
	qsort(times, LARGE_ROUNDS, sizeof(times[0]), ascending);
	return times[LARGE_ROUNDS / 2];
}

static void time_block(struct pair *pair)
{
	static double puts[LARGE_ROUNDS], copies[LARGE_ROUNDS];
	unsigned char *from = pages(LARGE), *to = pages(LARGE);
	double put, copy;

	for (int i = 0; i < LARGE_ROUNDS; i++) {
		double start;

		memset(from, i, LARGE / 4096);
		start = now();
		memcpy(to, from, LARGE);
		copies[i] = now() - start;
		start = now();
		pair_must(rsm_memseg_import_put(pair->segment, 0, from, LARGE), "put");
		puts[i] = now() - start;
	}
	memset(to, 0xff, LARGE);
	pair_must(rsm_memseg_import_get(pair->segment, 0, to, LARGE), "get");
	pair_must(memcmp(from, to, LARGE), "what put wrote is not what get read");
	put = median(puts);
	copy = median(copies);
	printf("put of 1 MiB %.0f us, memcpy %.0f us, ratio %.2f (medians of %d, in turns)\n",
	       put / 1000, copy / 1000, put / copy, LARGE_ROUNDS);
}

int main(void)
{
	struct pair pair;
	void *address = NULL;

	pair_begin(&pair, LARGE);
	pair_connect(&pair);
	pair_must(rsm_memseg_import_map(pair.segment, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0,
					LARGE),
		  "map");
	time_words(&pair);
	time_block(&pair);
	pair_end(&pair);
	return EXIT_SUCCESS;
}
