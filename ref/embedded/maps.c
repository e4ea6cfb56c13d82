/* SPDX-License-Identifier: BSD-2-Clause */
/* Look-up of the process's own mappings in /proc/self/maps. */
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The kernel's struct procmap_query; headers older than 6.11 lack it. */
struct maps_question {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start, vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t vma_name_size;
	uint32_t build_id_size;
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};

#define MAPS_ASK _IOWR('f', 17, struct maps_question)

enum { ASK_READABLE = 1, ASK_WRITABLE = 2, ASK_EXECUTABLE = 4, ASK_SHARED = 8, ASK_OR_NEXT = 16 };

static int ask(const struct maps *m, uintptr_t addr, uint64_t flags, struct maps_question *q,
	       char *name, size_t name_size)
{
	*q = (struct maps_question){
		.size = sizeof(*q),
		.query_flags = flags,
		.query_addr = addr,
		.vma_name_addr = (uintptr_t)name,
		.vma_name_size = name_size,
	};
	return ioctl(m->fd, MAPS_ASK, q) ? -errno : 0;
}

/*
 * Into a mapping of its own, not into the heap: a forked child reads this while its heap may still
 * be shared with the parent.
 */
static int read_text(struct maps *m)
{
	size_t used = 0;
	m->size = 1 << 20;
	m->text = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->text == MAP_FAILED)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(m->fd, m->text + used, m->size - used - 1);
		if (n <= 0) {
			m->at = m->text;
			return n ? -errno : 0;
		}
		used += n;
		if (m->size - used > 4096)
			continue;
		char *more = mremap(m->text, m->size, 2 * m->size, MREMAP_MAYMOVE);
		if (more == MAP_FAILED)
			return -ENOMEM;
		m->text = more;
		m->size *= 2;
	}
}

int maps_open(struct maps *m)
{
	*m = (struct maps){.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	if (m->fd < 0)
		return -errno;
	struct maps_question q;
	int error = ask(m, 0, ASK_OR_NEXT, &q, NULL, 0);
	if (error)
		error = read_text(m);
	if (error)
		maps_close(m);
	return error;
}

void maps_close(struct maps *m)
{
	if (m->text && m->text != MAP_FAILED)
		munmap(m->text, m->size);
	close(m->fd);
}

static bool parse_line(const char *line, struct area *area)
{
	uintptr_t start, end;
	char perms[5];
	uint64_t offset, inode;
	unsigned major_number, minor_number;
	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64 " %x:%x %" SCNu64, &start, &end,
		   perms, &offset, &major_number, &minor_number, &inode) != 7)
		return false;
	*area = (struct area){
		.start = start,
		.end = end,
		.prot = (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
			(perms[2] == 'x' ? PROT_EXEC : 0),
		.shared = perms[3] == 's',
		.offset = offset,
		.dev = makedev(major_number, minor_number),
		.ino = inode,
	};
	return true;
}

/* Leaves m->at on the line found, so that walking upward reads the text once. */
static bool next_in_text(struct maps *m, uintptr_t addr, struct area *area)
{
	if (parse_line(m->at, area) && area->start > addr)
		m->at = m->text;
	while (*m->at) {
		char *newline = strchr(m->at, '\n');
		if (!newline || !parse_line(m->at, area))
			return false;
		if (area->end > addr)
			return true;
		m->at = newline + 1;
	}
	return false;
}

bool maps_next(struct maps *m, uintptr_t addr, struct area *area)
{
	if (m->text)
		return next_in_text(m, addr, area);
	struct maps_question q;
	if (ask(m, addr, ASK_OR_NEXT, &q, NULL, 0))
		return false;
	*area = (struct area){
		.start = q.vma_start,
		.end = q.vma_end,
		.prot = (q.vma_flags & ASK_READABLE ? PROT_READ : 0) |
			(q.vma_flags & ASK_WRITABLE ? PROT_WRITE : 0) |
			(q.vma_flags & ASK_EXECUTABLE ? PROT_EXEC : 0),
		.shared = q.vma_flags & ASK_SHARED,
		.offset = q.vma_offset,
		.dev = makedev(q.dev_major, q.dev_minor),
		.ino = q.inode,
	};
	return true;
}

static bool path_in_text(struct maps *m, uintptr_t addr, char *path, size_t size)
{
	struct area area;
	bool found = next_in_text(m, addr, &area) && area.start <= addr;
	const char *name = strchr(m->at, '/');
	const char *newline = strchr(m->at, '\n');
	if (!found || !name || !newline || name > newline || (size_t)(newline - name) >= size)
		return false;
	memcpy(path, name, newline - name);
	path[newline - name] = 0;
	return true;
}

bool maps_path(struct maps *m, uintptr_t addr, char *path, size_t size)
{
	if (m->text)
		return path_in_text(m, addr, path, size);
	struct maps_question q;
	return ask(m, addr, 0, &q, path, size) == 0 && q.vma_name_size > 1 && path[0] == '/';
}
