/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is on a fabric: the socket names the kernel shows in /proc/net/unix and the processes that
 * hold them.  For scif-fabric and the controller; the library does not use it.
 */
#ifndef EMBEDDED_CENSUS_H
#define EMBEDDED_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

struct census_name {
	ino_t inode;
	uint16_t node;
	uint16_t port; /* 0 for the name of a process */
	bool is_process;
	bool listening;
	bool claimed; /* free for the reader: somebody accounts for it */
	struct sockaddr_un name;
	socklen_t name_len;
};

struct census {
	struct census_name *names; /* ascending by inode */
	size_t count;
};

/* 0 or a negative errno; census_free() in any case. */
int census_take(struct census *census, const char *fabric);
void census_free(struct census *census);
struct census_name *census_find(const struct census *census, ino_t inode);

/* Calls visit for every socket that a process we may look into holds; 0 or a negative errno. */
typedef void census_visit(void *arg, pid_t pid, int fd, ino_t inode);
int census_each_socket(census_visit *visit, void *arg);

/* The socket behind a process's descriptor, 0 when it is none. */
ino_t census_socket_of(pid_t pid, int fd);

#endif
