/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fabric reads of /proc by lines and entries, without the C library's streams: those take
 * memory in the application's name.  One thread reads one file at a time.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc.h"

struct reader {
	int fd;
	size_t used, at;
	_Alignas(8) char bytes[4096];
	struct dirent entry;
};

static _Thread_local struct reader reader;

LIBC_FUNCTION(FILE *, fopen, (const char *path, const char *mode));
LIBC_FUNCTION(char *, fgets, (char *line, int size, FILE *file));
LIBC_FUNCTION(int, fclose, (FILE * file));
LIBC_FUNCTION(DIR *, opendir, (const char *path));
LIBC_FUNCTION(struct dirent *, readdir, (DIR * dir));
LIBC_FUNCTION(int, closedir, (DIR * dir));

static void *reader_open(const char *path, int flags)
{
	reader.fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	reader.used = reader.at = 0;
	return reader.fd < 0 ? NULL : &reader;
}

FILE *libc_fopen(const char *path, const char *mode)
{
	(void)mode;
	return reader_open(path, 0);
}

static bool fill(struct reader *r, long got)
{
	r->at = 0;
	r->used = got > 0 ? (size_t)got : 0;
	return got > 0;
}

char *libc_fgets(char *line, int size, FILE *file)
{
	struct reader *r = (struct reader *)file;
	int length = 0;

	while (length < size - 1 && (length == 0 || line[length - 1] != '\n')) {
		if (r->at == r->used && !fill(r, read(r->fd, r->bytes, sizeof(r->bytes))))
			break;
		line[length++] = r->bytes[r->at++];
	}
	line[length] = '\0';
	return length > 0 ? line : NULL;
}

int libc_fclose(FILE *file)
{
	return close(((struct reader *)file)->fd);
}

DIR *libc_opendir(const char *path)
{
	return reader_open(path, O_DIRECTORY);
}

/* As the kernel lays an entry out. */
struct kernel_entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

struct dirent *libc_readdir(DIR *dir)
{
	struct reader *r = (struct reader *)dir;
	const struct kernel_entry *entry;

	if (r->at == r->used &&
	    !fill(r, syscall(SYS_getdents64, r->fd, r->bytes, sizeof(r->bytes))))
		return NULL;
	entry = (const struct kernel_entry *)(r->bytes + r->at);
	r->at += entry->length;
	r->entry.d_ino = entry->inode;
	r->entry.d_type = entry->type;
	snprintf(r->entry.d_name, sizeof(r->entry.d_name), "%s", entry->name);
	return &r->entry;
}

int libc_closedir(DIR *dir)
{
	return close(((struct reader *)dir)->fd);
}
