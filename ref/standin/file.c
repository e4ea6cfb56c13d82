/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls on descriptors: the driver's own file operations, what its files have not, and what the
 * kernel does for any file.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libc.h"
#include "mapping.h"
#include "standin.h"

/* What the kernel shows of an opened file on 64-bit machines, whatever the C library calls it. */
enum { KERNEL_O_LARGEFILE = 0100000 };

static int answer(int result, int saved)
{
	errno = result < 0 ? -result : saved;
	return result < 0 ? -1 : result;
}

/* The kernel answers these for every file. */
static bool is_for_any_file(unsigned long request)
{
	return request == FIOCLEX || request == FIONCLEX || request == FIONBIO ||
	       request == FIOASYNC;
}

STANDIN_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	struct ep *ep;
	va_list list;
	void *argument;
	int saved = errno, result;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	if (is_for_any_file(request) || number_get(fd, &ep) != 0) {
		errno = saved;
		return libc_ioctl(fd, request, argument);
	}
	result = request_serve(fd, ep, request, argument);
	number_put(ep);
	return answer(result, saved);
}

STANDIN_EXPORT int close(int fd)
{
	struct ep *ep;
	int saved = errno;

	if (fd >= 0 && number_get(fd, &ep) == 0)
		return answer(number_close(ep, fd), saved);
	errno = saved;
	epoll_forget(fd);
	return libc_close(fd);
}

/* A number that is about to become another file's is closed first. */
static void close_target(int from, int to)
{
	struct ep *ep;
	int saved = errno;

	if (from != to && to >= 0 && libc_fcntl(from, F_GETFD) >= 0) {
		if (number_get(to, &ep) == 0)
			number_close(ep, to);
		else
			epoll_forget(to);
	}
	errno = saved;
}

STANDIN_EXPORT int dup2(int from, int to)
{
	close_target(from, to);
	return LIBC(dup2)(from, to);
}

STANDIN_EXPORT int dup3(int from, int to, int flags)
{
	if (!(flags & ~O_CLOEXEC))
		close_target(from, to);
	return libc_dup3(from, to, flags);
}

static int control(int fd, int command, void *argument)
{
	int result = libc_fcntl(fd, command, argument);

	if (command == F_GETFL && result >= 0 && number_is_ours(fd))
		result |= KERNEL_O_LARGEFILE;
	return result;
}

#define DEFINE_FCNTL(name)                                                                         \
	STANDIN_EXPORT int name(int fd, int command, ...)                                          \
	{                                                                                          \
		va_list list;                                                                      \
		void *argument;                                                                    \
                                                                                                   \
		va_start(list, command);                                                           \
		argument = va_arg(list, void *);                                                   \
		va_end(list);                                                                      \
		return control(fd, command, argument);                                             \
	}

DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

/* --- memory --- */

static void *map(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	struct ep *ep;
	void *place;
	int saved = errno, error;

	if (flags & MAP_ANONYMOUS || fd < 0 || number_get(fd, &ep) != 0) {
		errno = saved;
		return libc_mmap(addr, len, prot, flags, fd, offset);
	}
	error = driver_map(ep, &place, addr, len, prot, flags, offset);
	number_put(ep);
	errno = error < 0 ? -error : saved;
	return error < 0 ? MAP_FAILED : place;
}

STANDIN_EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return map(addr, len, prot, flags, fd, offset);
}

STANDIN_EXPORT void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	return map(addr, len, prot, flags, fd, offset);
}

STANDIN_EXPORT int munmap(void *addr, size_t len)
{
	int saved = errno, error;

	if (!mapping_covers(addr, len))
		return libc_munmap(addr, len);
	error = mapping_remove(addr, len);
	if (error == 0)
		number_release_idle();
	return answer(error, saved);
}

/* The driver's mappings do not grow, and there is no file behind them to write to or read from. */
STANDIN_EXPORT void *mremap(void *old, size_t old_len, size_t len, int flags, ...)
{
	va_list list;
	void *to;

	va_start(list, flags);
	to = va_arg(list, void *);
	va_end(list);
	if (len > old_len && mapping_covers(old, old_len)) {
		errno = EFAULT;
		return MAP_FAILED;
	}
	return libc_mremap(old, old_len, len, flags, to);
}

STANDIN_EXPORT int msync(void *addr, size_t len, int flags)
{
	if (!mapping_covers(addr, len))
		return LIBC(msync)(addr, len, flags);
	errno = EINVAL;
	return -1;
}

STANDIN_EXPORT int madvise(void *addr, size_t len, int advice)
{
	if (advice == MADV_DONTFORK)
		pin_set_apart();
	if (advice != MADV_DONTNEED || !mapping_covers(addr, len))
		return libc_madvise(addr, len, advice);
	errno = EINVAL;
	return -1;
}

/* --- what the driver's files have not --- */

#define DEFINE_WITHOUT(result, name, error, params, args)                                          \
	STANDIN_EXPORT result name params                                                          \
	{                                                                                          \
		if (number_is_ours(fd)) {                                                          \
			errno = error;                                                             \
			return -1;                                                                 \
		}                                                                                  \
		return LIBC(name) args;                                                            \
	}

DEFINE_WITHOUT(ssize_t, read, EINVAL, (int fd, void *bytes, size_t len), (fd, bytes, len))
DEFINE_WITHOUT(ssize_t, write, EINVAL, (int fd, const void *bytes, size_t len), (fd, bytes, len))
DEFINE_WITHOUT(ssize_t, readv, EINVAL, (int fd, const struct iovec *part, int count),
	       (fd, part, count))
DEFINE_WITHOUT(ssize_t, writev, EINVAL, (int fd, const struct iovec *part, int count),
	       (fd, part, count))
DEFINE_WITHOUT(int, shutdown, ENOTSOCK, (int fd, int how), (fd, how))
DEFINE_WITHOUT(ssize_t, send, ENOTSOCK, (int fd, const void *bytes, size_t len, int flags),
	       (fd, bytes, len, flags))
DEFINE_WITHOUT(ssize_t, recv, ENOTSOCK, (int fd, void *bytes, size_t len, int flags),
	       (fd, bytes, len, flags))
DEFINE_WITHOUT(ssize_t, sendmsg, ENOTSOCK, (int fd, const struct msghdr *message, int flags),
	       (fd, message, flags))
DEFINE_WITHOUT(ssize_t, recvmsg, ENOTSOCK, (int fd, struct msghdr *message, int flags),
	       (fd, message, flags))
DEFINE_WITHOUT(int, listen, ENOTSOCK, (int fd, int backlog), (fd, backlog))
DEFINE_WITHOUT(int, getsockopt, ENOTSOCK,
	       (int fd, int level, int name, void *value, socklen_t *len),
	       (fd, level, name, value, len))
DEFINE_WITHOUT(int, setsockopt, ENOTSOCK,
	       (int fd, int level, int name, const void *value, socklen_t len),
	       (fd, level, name, value, len))
