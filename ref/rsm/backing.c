/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader of /proc/self/maps that needs no heap.
 */
#include "backing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"

struct mapping {
	uintptr_t start, end;
	char access[5];
	uint64_t offset, inode;
	unsigned major, minor;
	const char *name; /* "" if none */
};

struct look {
	uintptr_t at, begin, end; /* of the range; [begin, at) has been seen */
	struct backing found;
	int verdict;
	/* of the run of pages that the print was last told of */
	uint64_t inode, delta;
	unsigned major, minor;
	char share;
};

static bool parse(struct mapping *m, const char *line)
{
	int name = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &m->start, &m->end, m->access, &m->offset,
		   &m->major, &m->minor, &m->inode, &name) < 7)
		return false;
	m->name = line + name;
	return true;
}

static bool starts_with(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Memory that has a name is none: System V, memfd, shared anonymous, devices. */
static bool is_shared_file(const struct mapping *m)
{
	if (m->access[3] != 's' || m->name[0] != '/')
		return false;
	if (starts_with(m->name, "/memfd:") || starts_with(m->name, "/SYSV"))
		return false;
	return !starts_with(m->name, "/dev/") || starts_with(m->name, "/dev/shm/");
}

static void stir(uint64_t *print, uint64_t value)
{
	*print = (*print ^ value) * UINT64_C(0x100000001b3);
	*print ^= *print >> 29;
}

/* Neighbouring mappings of one file that follow each other are one run, however the kernel cuts
 * them.
 */
static void take_print(struct look *look, const struct mapping *m)
{
	uint64_t delta = m->inode == 0 ? 0 : m->offset - (m->start - look->begin);
	bool first = look->at == look->begin;

	if (!first && m->inode == look->inode && m->major == look->major &&
	    m->minor == look->minor && delta == look->delta && m->access[3] == look->share)
		return;
	look->inode = m->inode;
	look->delta = delta;
	look->major = m->major;
	look->minor = m->minor;
	look->share = m->access[3];
	stir(&look->found.print, look->at - look->begin);
	stir(&look->found.print, m->inode);
	stir(&look->found.print, delta);
	stir(&look->found.print, (uint64_t)m->major << 32 | m->minor);
	stir(&look->found.print, (unsigned char)m->access[3]);
}

static void take_line(struct look *look, const char *line)
{
	struct mapping m;

	if (look->verdict != 0 || look->at >= look->end || !parse(&m, line) || m.end <= look->at)
		return;
	if (m.start > look->at || is_shared_file(&m)) {
		look->verdict = -EFAULT;
	} else if (m.access[0] != 'r' || m.access[1] != 'w') {
		look->verdict = -EACCES;
	} else {
		look->found.shared |= m.access[3] == 's';
		take_print(look, &m);
		look->at = m.end;
	}
}

/* Hands on whole lines; returns how many bytes are left over. No path makes a line that is too
 * long. */
static size_t take_lines(struct look *look, char *text, size_t n)
{
	char *line = text, *end;

	text[n] = '\0';
	while ((end = memchr(line, '\n', n - (size_t)(line - text))) != NULL) {
		*end = '\0';
		take_line(look, line);
		line = end + 1;
	}
	n -= (size_t)(line - text);
	memmove(text, line, n);
	return n;
}

static int read_all(struct look *look, int fd)
{
	char text[8192];
	size_t kept = 0;
	ssize_t n;

	while (look->verdict == 0 && look->at < look->end) {
		n = read(fd, text + kept, sizeof(text) - 1 - kept);
		if (n < 0)
			return errno == ENOMEM ? -ENOMEM : 0;
		if (n == 0)
			return -EFAULT;
		kept = take_lines(look, text, kept + (size_t)n);
	}
	return look->verdict;
}

int backing_look(const void *vaddr, size_t size, struct backing *b)
{
	struct look look = {.begin = (uintptr_t)vaddr, .found.print = UINT64_C(0xcbf29ce484222325)};
	int fd, error;

	look.at = look.begin;
	look.end = look.begin + size;
	if (look.end <= look.begin)
		return -EFAULT;
	fd = descriptor_settle(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
	if (fd < 0) {
		*b = (struct backing){0};
		return fd == -EMFILE || fd == -ENFILE ? -EMFILE : fd == -ENOMEM ? -ENOMEM : 0;
	}
	error = read_all(&look, fd);
	close(fd);
	*b = look.found;
	return error;
}

bool backing_is(const void *vaddr, size_t size, uint64_t print)
{
	struct backing b;

	return backing_look(vaddr, size, &b) == 0 && b.print == print;
}
