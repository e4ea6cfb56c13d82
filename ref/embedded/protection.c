/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tries userfaultfd the way the library does: in full first, then for faults of user mode only.
 */
#include "protection.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* 0 when memory can be write-protected, else a negative errno. */
static int try_mode(int mode)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | mode);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, UFFDIO_API, &api) < 0)
		error = -errno;
	close(fd);
	return error;
}

json_t *protection_json(void)
{
	int full = try_mode(0);
	int user = full == 0 ? 0 : try_mode(UFFD_USER_MODE_ONLY);

	if (full == 0)
		return json_pack("{s:b, s:s, s:s}", "available", 1, "mode", "full", "detail",
				 "stores and system calls of other threads wait");
	if (user == 0)
		return json_pack("{s:b, s:s, s:s}", "available", 1, "mode", "user-mode-only",
				 "detail",
				 "stores of other threads wait, their system calls get EFAULT");
	return json_pack("{s:b, s:s, s:s}", "available", 0, "mode", "none", "detail",
			 strerror(-user));
}
