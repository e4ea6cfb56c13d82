/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pinning for a driver, whose windows are the pages themselves.  fork makes them copy-on-write like
 * all private memory: parent and child both still show them, and whoever stores into one gets
 * another page, while the window keeps the old one.  A private mapping of the store's frames does
 * just that.  What MADV_DONTFORK set apart stays as it is.
 */
#define pin_atfork_prepare fabric_pin_atfork_prepare
#define pin_range	   fabric_pin_range
#include "../embedded/pin.c"
#undef pin_range
#undef pin_atfork_prepare

int pin_range(struct conn *c, void *addr, size_t len, int prot, struct pinned *p);
void pin_atfork_prepare(void);

#include <fcntl.h>
#include <stdio.h>

#include "libc.h"
#include "standin.h"

/* --- what was set apart from forks --- */

struct apart {
	struct range *v;
	size_t count, room;
};

static atomic_bool any_apart; /* by the application */

void pin_set_apart(void)
{
	atomic_store(&any_apart, true);
}

static char *read_all(int fd)
{
	size_t used = 0, room = 0;
	char *text = NULL;
	ssize_t count = 1;

	while (count > 0 && grow((void **)&text, &room, used + 4096, 1) == 0) {
		count = read(fd, text + used, room - used - 1);
		used += count > 0 ? (size_t)count : 0;
	}
	if (text != NULL)
		text[used] = '\0';
	return text;
}

/* The kernel marks a mapping that fork does not copy with "dc"; those of remote memory are. */
static void find_marked(char *text, struct apart *apart)
{
	struct range r = {0};
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			r = (struct range){.start = start, .end = end};
		else if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " dc") != NULL &&
			 grow((void **)&apart->v, &apart->room, apart->count, sizeof(r)) == 0)
			apart->v[apart->count++] = r;
	}
}

static void find_apart(struct apart *apart)
{
	int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	char *text;

	if (fd < 0)
		return;
	text = read_all(fd);
	close(fd);
	if (text != NULL)
		find_marked(text, apart);
	free(text);
}

static bool is_apart(const struct apart *apart, uintptr_t at)
{
	for (size_t i = 0; i < apart->count; i++)
		if (apart->v[i].start <= at && at < apart->v[i].end)
			return true;
	return false;
}

/* The fabric has put mappings of its own there. */
static void set_apart_again(const struct apart *apart, uintptr_t start, uintptr_t end)
{
	for (size_t i = 0; i < apart->count; i++) {
		uintptr_t from = apart->v[i].start < start ? start : apart->v[i].start;
		uintptr_t to = apart->v[i].end > end ? end : apart->v[i].end;

		if (from < to)
			madvise((void *)from, to - from, MADV_DONTFORK);
	}
}

int pin_range(struct conn *c, void *addr, size_t len, int prot, struct pinned *p)
{
	struct apart apart = {0};
	int error;

	if (atomic_load(&any_apart))
		find_apart(&apart);
	error = fabric_pin_range(c, addr, len, prot, p);
	if (error == 0)
		set_apart_again(&apart, (uintptr_t)addr, (uintptr_t)addr + len);
	free(apart.v);
	return error;
}

/* --- fork --- */

/* The frames are kept for good: who still looks at them through such a mapping is not known. */
static void copy_on_write(const struct area *area, struct store *s)
{
	uint64_t frame = area->offset >> PAGE_BITS;
	size_t size = area->end - area->start;

	store_reference(s, frame, size >> PAGE_BITS);
	/* Where it fails the memory stays shared with the child, which then copies it. */
	if (mmap((void *)area->start, size, area->prot, MAP_PRIVATE | MAP_FIXED, s->fd,
		 (off_t)area->offset) == MAP_FAILED)
		store_release(s, frame, size >> PAGE_BITS);
}

void pin_atfork_prepare(void)
{
	struct apart apart = {0};
	struct maps maps;
	struct area area;

	fabric_pin_atfork_prepare();
	if (!store_any() || maps_open(&maps) != 0)
		return;
	find_apart(&apart);
	for (uintptr_t at = 0; maps_next(&maps, at, &area); at = area.end) {
		struct store *s = store_of_area(&area);

		if (s != NULL && !is_apart(&apart, area.start))
			copy_on_write(&area, s);
	}
	maps_close(&maps);
	free(apart.v);
}
