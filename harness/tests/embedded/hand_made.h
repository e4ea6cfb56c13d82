/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process that reaches the fabric past the library makes itself: names, files, messages. A
 * step that fails ends the process with BROKEN.
 */
#ifndef EMBEDDED_TESTS_HAND_MADE_H
#define EMBEDDED_TESTS_HAND_MADE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { HAND_MADE_FDS = 16 };

/* format takes the fabric and the number. */
socklen_t hand_made_name(struct sockaddr_un *name, const char *format, const char *fabric,
			 int number);
/* A stream socket bound to that name; flags as for socket(2), beside SOCK_CLOEXEC. */
int hand_made_socket(int flags, const char *format, const char *fabric, int number);

int hand_made_memory(size_t size, int seals);
/* As large as a connection block, sealed, zero but for its head. */
int hand_made_block(uint32_t magic);
/* The same file, opened with O_RDONLY or O_WRONLY; fd is closed. */
int hand_made_reopened(int fd, int mode);

/* Bytes with up to HAND_MADE_FDS descriptors: what sendmsg(2) gives. */
ssize_t hand_made_send(int to, const void *bytes, size_t length, const int *fds, size_t count,
		       int flags);

#endif
