/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading /proc for the sockets of a fabric.
 */
#include "census.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node.h"

/* "N", then "/pid/P" or "/PORT"; anything else is not a name of ours. */
static bool parse_rest(char *rest, struct census_name *name)
{
	char *slash = strchr(rest, '/');
	unsigned node, port;

	if (slash == NULL)
		return false;
	*slash = '\0';
	if (!node_parse_number(rest, 0, NODE_MAX, &node))
		return false;
	name->node = (uint16_t)node;
	name->is_process = strncmp(slash + 1, "pid/", 4) == 0;
	if (name->is_process)
		return true;
	if (!node_parse_number(slash + 1, 1, 65535, &port))
		return false;
	name->port = (uint16_t)port;
	return true;
}

/* Num RefCount Protocol Flags Type St Inode Path; an abstract path starts with an @. */
static bool parse_line(char *line, const char *fabric, struct census_name *name)
{
	static const char prefix[] = "@" FABRIC_NAMES "/";
	unsigned flags;
	unsigned long inode;
	int path_at = 0;
	size_t fabric_len = strlen(fabric);
	char *path;

	if (sscanf(line, "%*s %*x %*x %x %*x %*x %lu %n", &flags, &inode, &path_at) != 2 ||
	    path_at == 0)
		return false;
	path = line + path_at;
	path[strcspn(path, "\n")] = '\0';
	if (strncmp(path, prefix, strlen(prefix)) != 0 ||
	    strlen(path) > sizeof(name->name.sun_path))
		return false;
	*name = (struct census_name){.inode = inode, .listening = (flags & 0x10000) != 0};
	name->name.sun_family = AF_UNIX;
	memcpy(name->name.sun_path + 1, path + 1, strlen(path) - 1);
	name->name_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	path += strlen(prefix);
	if (strncmp(path, fabric, fabric_len) != 0 || path[fabric_len] != '/')
		return false;
	return parse_rest(path + fabric_len + 1, name);
}

static int append(struct census *census, const struct census_name *name)
{
	struct census_name *names = census->names;

	/* Room doubles whenever the count reaches a power of two. */
	if ((census->count & (census->count - 1)) == 0) {
		size_t room = census->count == 0 ? 1 : census->count * 2;

		names = realloc(names, room * sizeof(*names));
		if (names == NULL)
			return -ENOMEM;
		census->names = names;
	}
	names[census->count++] = *name;
	return 0;
}

static int by_inode(const void *left, const void *right)
{
	ino_t a = ((const struct census_name *)left)->inode;
	ino_t b = ((const struct census_name *)right)->inode;

	return (a > b) - (a < b);
}

int census_take(struct census *census, const char *fabric)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char line[512];
	int error = 0;

	*census = (struct census){0};
	if (file == NULL)
		return -errno;
	while (error == 0 && fgets(line, sizeof(line), file) != NULL) {
		struct census_name name;

		if (parse_line(line, fabric, &name))
			error = append(census, &name);
	}
	fclose(file);
	if (census->count > 0)
		qsort(census->names, census->count, sizeof(census->names[0]), by_inode);
	return error;
}

void census_free(struct census *census)
{
	free(census->names);
	*census = (struct census){0};
}

struct census_name *census_find(const struct census *census, ino_t inode)
{
	struct census_name key = {.inode = inode};

	if (census->count == 0)
		return NULL;
	return bsearch(&key, census->names, census->count, sizeof(key), by_inode);
}

static ino_t socket_at(int dir, const char *name)
{
	char link[64];
	unsigned long inode;
	ssize_t len = readlinkat(dir, name, link, sizeof(link) - 1);

	if (len < 0)
		return 0;
	link[len] = '\0';
	return sscanf(link, "socket:[%lu]", &inode) == 1 ? inode : 0;
}

ino_t census_socket_of(pid_t pid, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	return socket_at(AT_FDCWD, path);
}

static void visit_process(pid_t pid, census_visit *visit, void *arg)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (dir == NULL)
		return; /* gone, or not ours to look into */
	while ((entry = readdir(dir)) != NULL) {
		ino_t inode = socket_at(dirfd(dir), entry->d_name);

		if (inode != 0)
			visit(arg, pid, atoi(entry->d_name), inode);
	}
	closedir(dir);
}

int census_each_socket(census_visit *visit, void *arg)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (proc == NULL)
		return -errno;
	while ((entry = readdir(proc)) != NULL) {
		unsigned pid;

		if (node_parse_number(entry->d_name, 1, INT_MAX, &pid))
			visit_process((pid_t)pid, visit, arg);
	}
	closedir(proc);
	return 0;
}
