/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the process holds: descriptors, mappings, heap. Read without allocating anything, so that
 * counting does not change the count.
 */
#include "engine.h"

#include "asleep.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#define SETTLE_MS 100

struct lines {
	int fd;
	size_t used, at;
	char bytes[16384];
};

/* The next line of a /proc file, without its end; NULL at the end. */
static char *next_line(struct lines *l)
{
	for (;;) {
		char *end = memchr(l->bytes + l->at, '\n', l->used - l->at);

		if (end) {
			char *line = l->bytes + l->at;

			*end = '\0';
			l->at = (size_t)(end + 1 - l->bytes);
			return line;
		}
		l->used -= l->at;
		memmove(l->bytes, l->bytes + l->at, l->used);
		l->at = 0;
		ssize_t got = read(l->fd, l->bytes + l->used, sizeof l->bytes - l->used);
		if (got <= 0)
			return NULL;
		l->used += (size_t)got;
	}
}

static int open_maps(struct lines *l)
{
	l->used = l->at = 0;
	l->fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	return l->fd;
}

static bool is_anonymous_code(const char *line)
{
	const char *access = strchr(line, ' ');

	return access && !strncmp(access, " rwxp 00000000 00:00 0", 22);
}

/* It preloads parts of its own into what it runs. */
bool under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "/vgpreload_");
}

/* Valgrind's heaps and translations, writable code without a name, are not the program's. */
static void count_mappings(struct cts_holdings *h)
{
	static struct lines lines;
	uintptr_t start, end;
	bool valgrind = under_valgrind();

	if (open_maps(&lines) == -1)
		return;
	for (char *line; (line = next_line(&lines));) {
		if (valgrind && is_anonymous_code(line))
			continue;
		if (strstr(line, "[heap]") || strstr(line, "[stack]") || strstr(line, "[v"))
			continue;
		if (sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		h->mappings++;
		h->mapped += end - start;
	}
	close(lines.fd);
}

struct kernel_dirent {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

static int count_descriptors(void)
{
	char entries[4096] __attribute__((aligned(8)));
	int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
	long got;

	if (fd == -1)
		return -1;
	while ((got = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
		for (long at = 0; at < got;) {
			const struct kernel_dirent *e = (const void *)(entries + at);

			count += e->name[0] != '.';
			at += e->length;
		}
	}
	close(fd);
	return count - 1; /* without the one that was used to look */
}

int cts_descriptor_count(void)
{
	holdings_settle();
	return count_descriptors();
}

struct cts_holdings cts_holdings(void)
{
	struct cts_holdings h = {.descriptors = cts_descriptor_count()};
	struct mallinfo2 info = mallinfo2();

	h.heap = info.uordblks + info.hblkhd;
	count_mappings(&h);
	return h;
}

int cts_fx_descriptors(void)
{
	return cts_descriptor_count();
}

int cts_lowest_free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd != -1)
		close(fd);
	return fd;
}

bool cts_is_open(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

bool cts_has_cloexec(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags != -1 && (flags & FD_CLOEXEC);
}

bool cts_is_mapped(const void *p, size_t n)
{
	static struct lines lines;
	uintptr_t at = (uintptr_t)p, start, end;

	if (open_maps(&lines) == -1)
		cts_unresolved("/proc/self/maps: %s", strerror(errno));
	for (char *line; at < (uintptr_t)p + n && (line = next_line(&lines));)
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= at && at < end)
			at = end;
	close(lines.fd);
	return at >= (uintptr_t)p + n;
}

/* True while a thread other than this one runs or waits for a processor. */
static bool others_run(void)
{
	char entries[4096] __attribute__((aligned(8)));
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool run = false;
	long got;

	if (fd == -1)
		return false;
	while (!run && (got = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
		for (long at = 0; at < got && !run;) {
			const struct kernel_dirent *e = (const void *)(entries + at);
			pid_t tid = (pid_t)atoi(e->name);

			at += e->length;
			if (tid && tid != gettid()) {
				int stat = asleep_open(tid);

				run = stat != -1 && !asleep_now(stat);
				if (stat != -1)
					close(stat);
			}
		}
	}
	close(fd);
	return run;
}

/* How often other threads have gone to sleep. */
static long others_sleeps(void)
{
	struct rusage all, own;

	getrusage(RUSAGE_SELF, &all);
	getrusage(RUSAGE_THREAD, &own);
	return all.ru_nvcsw - own.ru_nvcsw;
}

/* Of the processor, without this thread. */
static int64_t others_time_ms(void)
{
	struct timespec all, own;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	return (all.tv_sec - own.tv_sec) * 1000 + (all.tv_nsec - own.tv_nsec) / 1000000;
}

/* While they were looked at one after the other, none may have woken another and gone to sleep. */
static bool others_rest(void)
{
	long before = others_sleeps();

	return !others_run() && others_sleeps() == before;
}

/*
 * An implementation may have threads of its own that finish what a call began. Whatever they hold,
 * they hold it steadily once they sleep. One that never sleeps is not waited for; on a busy machine
 * one may have to wait long for a processor, so what counts is the time that they have had.
 */
void holdings_settle(void)
{
	int64_t end = others_time_ms() + SETTLE_MS;

	while (!others_rest() && others_time_ms() < end && cts_time_left())
		asleep_pace();
}

static bool grow_allowed;

void cts_may_grow(void)
{
	grow_allowed = true;
}

bool growth_allowed(void)
{
	return grow_allowed;
}

bool holdings_grew(const struct cts_holdings *before, const struct cts_holdings *after, char *why,
		   size_t size)
{
	if (after->descriptors > before->descriptors)
		snprintf(why, size, "descriptors grew from %d to %d", before->descriptors,
			 after->descriptors);
	else if (after->mapped > before->mapped || after->mappings > before->mappings)
		snprintf(why, size, "mappings grew from %d (%zu bytes) to %d (%zu bytes)",
			 before->mappings, before->mapped, after->mappings, after->mapped);
	else if (after->heap > before->heap)
		snprintf(why, size, "heap grew from %zu to %zu bytes", before->heap, after->heap);
	else
		return false;
	return true;
}
