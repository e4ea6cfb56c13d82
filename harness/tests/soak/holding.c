/* SPDX-License-Identifier: BSD-2-Clause */
/* Out of /proc/self and the allocator. */
#include "holding.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Heap and resident pages go up and down with what the allocator and the library keep for the next time: tables that
 * double, stacks, a page of each view touched for the first time. A leak of one page a kill is more before long.
 */
enum { MORE_MAPPINGS = 8, MORE_HEAP = 256 << 10, MORE_PAGES = 1024 };

static long count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	long count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count;
}

static long count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	long count = 0;
	int c;

	while (maps != NULL && (c = getc(maps)) != EOF)
		count += c == '\n';
	if (maps != NULL)
		fclose(maps);
	return count;
}

static long count_resident(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	long size, resident = 0;

	if (statm != NULL && fscanf(statm, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (statm != NULL)
		fclose(statm);
	return resident;
}

void holding_measure(struct holding *h)
{
	malloc_trim(0);
	h->descriptors = count_descriptors();
	h->mappings = count_mappings();
	h->heap = (long)mallinfo2().uordblks;
	h->resident = count_resident();
}

const char *holding_grown(const struct holding *from, const struct holding *to)
{
	if (to->descriptors > from->descriptors)
		return "descriptors";
	if (to->mappings > from->mappings + MORE_MAPPINGS)
		return "mappings";
	if (to->heap > from->heap + MORE_HEAP)
		return "heap";
	return to->resident > from->resident + MORE_PAGES ? "resident pages" : NULL;
}
