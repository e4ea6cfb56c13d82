/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel copies between two places of this process and says so if one of them is not there.  It
 * needs no signal handler and sees changes that other threads make to the mappings meanwhile.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "caller_memory.h"

/* Memcheck does not know that a call may write to its own process this way. */
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED(address, length) ((void)(address), (void)(length))
#endif

/* No page is smaller: a piece that does not cross such a boundary is readable as a whole or not at
 * all. */
enum { PIECE = 4096 };

typedef ssize_t vm_call(pid_t, const struct iovec *, unsigned long, const struct iovec *,
			unsigned long, unsigned long);

/* 0, -EFAULT, or -ENOSYS where the kernel refuses to copy at all. */
static int copy_by_kernel(vm_call *call, void *own, void *user, size_t length)
{
	struct iovec here = {.iov_base = own, .iov_len = length};
	struct iovec there = {.iov_base = user, .iov_len = length};
	ssize_t copied = call(getpid(), &here, 1, &there, 1, 0);

	if (copied == (ssize_t)length)
		return 0;
	if (copied < 0 && (errno == ENOSYS || errno == EPERM))
		return -ENOSYS;
	return -EFAULT;
}

int caller_fetch(void *dst, const void *user, size_t length)
{
	int saved = errno;
	int rc;

	if (length == 0)
		return 0;
	if (user == NULL)
		return -EFAULT;
	rc = copy_by_kernel(process_vm_readv, dst, (void *)(uintptr_t)user, length);
	errno = saved;
	if (rc != -ENOSYS)
		return rc;
	memcpy(dst, user, length);
	return 0;
}

int caller_store(void *user, const void *src, size_t length)
{
	int saved = errno;
	int rc;

	if (length == 0)
		return 0;
	if (user == NULL)
		return -EFAULT;
	rc = copy_by_kernel(process_vm_writev, (void *)(uintptr_t)src, user, length);
	errno = saved;
	if (rc == 0)
		(void)VALGRIND_MAKE_MEM_DEFINED(user, length);
	if (rc != -ENOSYS)
		return rc;
	memcpy(user, src, length);
	return 0;
}

int caller_fetch_string(char *dst, size_t size, const char *user)
{
	size_t done = 0;

	while (done < size) {
		size_t piece = PIECE - ((uintptr_t)user + done) % PIECE;
		const char *end;

		if (piece > size - done)
			piece = size - done;
		if (caller_fetch(dst + done, user == NULL ? NULL : user + done, piece) < 0)
			return -EFAULT;
		end = memchr(dst + done, '\0', piece);
		if (end != NULL)
			return (int)(end - dst);
		done += piece;
	}
	return -ENAMETOOLONG;
}
