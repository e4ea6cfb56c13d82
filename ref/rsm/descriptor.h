/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors of the library stay out of the way of standard input, output and error, also in a
 * program that has closed those.
 */
#ifndef RSM_DESCRIPTOR_H
#define RSM_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Takes what a call that makes a descriptor returned: the descriptor, at 3 or above, or -errno. */
static inline int descriptor_settle(int fd)
{
	int higher, error;

	if (fd < 0)
		return -errno;
	if (fd > 2)
		return fd;
	higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	error = errno;
	close(fd);
	return higher < 0 ? -error : higher;
}

#endif
