/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls into the C library itself, see libc.h.
 */
#include "libc.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

static void *symbol(const char *name)
{
	static void *_Atomic library;
	void *found;

	/* Threads that come here at once find the same. */
	if (library == NULL)
		library = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
	found = library == NULL ? NULL : dlsym(library, name);
	/* A process whose C library lacks what this one was built with cannot be served. */
	if (found == NULL)
		abort();
	return found;
}

void *libc_reach(void **place, const char *name)
{
	void *found = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (found == NULL) {
		found = symbol(name);
		__atomic_store_n(place, found, __ATOMIC_RELAXED);
	}
	return found;
}

/* The look-up needs memory, which an armed fault preload would refuse: all of it is done early. */
#define REACH(name)                                                                                \
	static void *at_##name;                                                                    \
	__attribute__((constructor)) static void find_##name(void)                                 \
	{                                                                                          \
		libc_reach(&at_##name, #name);                                                     \
	}

#define PASS_ON(result, name, params, args)                                                        \
	REACH(name)                                                                                \
	result libc_##name params                                                                  \
	{                                                                                          \
		return ((result(*) params)(uintptr_t)libc_reach(&at_##name, #name))args;           \
	}

PASS_ON(void *, malloc, (size_t size), (size))
PASS_ON(void *, calloc, (size_t count, size_t size), (count, size))
PASS_ON(void *, realloc, (void *p, size_t size), (p, size))
PASS_ON(int, close, (int fd), (fd))
PASS_ON(int, dup3, (int from, int to, int flags), (from, to, flags))
PASS_ON(int, fstat, (int fd, struct stat *st), (fd, st))
PASS_ON(int, stat, (const char *path, struct stat *st), (path, st))
PASS_ON(int, access, (const char *path, int mode), (path, mode))
PASS_ON(ssize_t, read, (int fd, void *bytes, size_t len), (fd, bytes, len))
PASS_ON(ssize_t, write, (int fd, const void *bytes, size_t len), (fd, bytes, len))
PASS_ON(void *, mmap, (void *addr, size_t len, int prot, int flags, int fd, off_t offset),
	(addr, len, prot, flags, fd, offset))
PASS_ON(int, munmap, (void *addr, size_t len), (addr, len))
PASS_ON(int, madvise, (void *addr, size_t len, int advice), (addr, len, advice))
PASS_ON(int, memfd_create, (const char *name, unsigned flags), (name, flags))
PASS_ON(int, ftruncate, (int fd, off_t len), (fd, len))
PASS_ON(int, eventfd, (unsigned count, int flags), (count, flags))
PASS_ON(int, pipe2, (int ends[2], int flags), (ends, flags))
PASS_ON(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
PASS_ON(int, epoll_create1, (int flags), (flags))
PASS_ON(int, epoll_ctl, (int epfd, int op, int fd, struct epoll_event *event),
	(epfd, op, fd, event))
PASS_ON(int, epoll_pwait,
	(int epfd, struct epoll_event *events, int max, int timeout, const sigset_t *mask),
	(epfd, events, max, timeout, mask))
PASS_ON(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
PASS_ON(int, socketpair, (int domain, int type, int protocol, int pair[2]),
	(domain, type, protocol, pair))
PASS_ON(int, connect, (int fd, const struct sockaddr *name, socklen_t len), (fd, name, len))
PASS_ON(int, bind, (int fd, const struct sockaddr *name, socklen_t len), (fd, name, len))
PASS_ON(int, listen, (int fd, int backlog), (fd, backlog))
PASS_ON(int, accept4, (int fd, struct sockaddr *name, socklen_t *len, int flags),
	(fd, name, len, flags))
PASS_ON(int, getpeername, (int fd, struct sockaddr *name, socklen_t *len), (fd, name, len))
PASS_ON(int, getsockname, (int fd, struct sockaddr *name, socklen_t *len), (fd, name, len))
PASS_ON(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len),
	(fd, level, name, value, len))
PASS_ON(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len),
	(fd, level, name, value, len))
PASS_ON(int, shutdown, (int fd, int how), (fd, how))
PASS_ON(ssize_t, send, (int fd, const void *bytes, size_t len, int flags), (fd, bytes, len, flags))
PASS_ON(ssize_t, recv, (int fd, void *bytes, size_t len, int flags), (fd, bytes, len, flags))
PASS_ON(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
PASS_ON(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
PASS_ON(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
	(fd, messages, count, flags))
PASS_ON(int, sigaction, (int sig, const struct sigaction *action, struct sigaction *old),
	(sig, action, old))

REACH(free)
void libc_free(void *p)
{
	((void (*)(void *))(uintptr_t)libc_reach(&at_free, "free"))(p);
}

/* The last argument of these is a word or a pointer, given or not: passing a word on serves all. */
#define PASS_ON_WORD(name, type, named, params, args)                                              \
	REACH(name)                                                                                \
	int libc_##name params                                                                     \
	{                                                                                          \
		va_list list;                                                                      \
		void *word;                                                                        \
                                                                                                   \
		va_start(list, named);                                                             \
		word = va_arg(list, void *);                                                       \
		va_end(list);                                                                      \
		return ((int(*) type)(uintptr_t)libc_reach(&at_##name, #name))args;                \
	}

PASS_ON_WORD(open, (const char *, int, ...), flags, (const char *path, int flags, ...),
	     (path, flags, word))
PASS_ON_WORD(ioctl, (int, unsigned long, ...), request, (int fd, unsigned long request, ...),
	     (fd, request, word))
PASS_ON_WORD(fcntl, (int, int, ...), command, (int fd, int command, ...), (fd, command, word))

REACH(mremap)
void *libc_mremap(void *old, size_t old_len, size_t len, int flags, ...)
{
	va_list list;
	void *to;

	va_start(list, flags);
	to = va_arg(list, void *);
	va_end(list);
	return ((void *(*)(void *, size_t, size_t, int, ...))(uintptr_t)libc_reach(
		&at_mremap, "mremap"))(old, old_len, len, flags, to);
}

REACH(syscall)
long libc_syscall(long number, ...)
{
	va_list list;
	long word[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		word[i] = va_arg(list, long);
	va_end(list);
	return ((long (*)(long, ...))(uintptr_t)libc_reach(&at_syscall, "syscall"))(
		number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
