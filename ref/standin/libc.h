/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library as the stand-in reaches it.  A driver's own work goes through none of the
 * application's preloads: the linker turns every call that an object of the stand-in makes (--wrap)
 * into one of the functions below, and those call the C library itself, past this preload and past
 * one that makes calls fail.
 */
#ifndef STANDIN_LIBC_H
#define STANDIN_LIBC_H

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A function of the C library, looked up once per place. */
void *libc_reach(void **place, const char *name);
#define LIBC(name)                                                                                 \
	(__extension__({                                                                           \
		static void *place;                                                                \
		(__typeof__(name) *)(uintptr_t)libc_reach(&place, #name);                          \
	}))

#define LIBC_FUNCTION(result, name, params) result libc_##name params __asm__("__wrap_" #name)

LIBC_FUNCTION(void *, malloc, (size_t size));
LIBC_FUNCTION(void *, calloc, (size_t count, size_t size));
LIBC_FUNCTION(void *, realloc, (void *p, size_t size));
LIBC_FUNCTION(void, free, (void *p));
LIBC_FUNCTION(int, open, (const char *path, int flags, ...));
LIBC_FUNCTION(int, close, (int fd));
LIBC_FUNCTION(int, ioctl, (int fd, unsigned long request, ...));
LIBC_FUNCTION(int, fcntl, (int fd, int command, ...));
LIBC_FUNCTION(int, dup3, (int from, int to, int flags));
LIBC_FUNCTION(int, fstat, (int fd, struct stat *st));
LIBC_FUNCTION(int, stat, (const char *path, struct stat *st));
LIBC_FUNCTION(int, access, (const char *path, int mode));
LIBC_FUNCTION(ssize_t, read, (int fd, void *bytes, size_t len));
LIBC_FUNCTION(ssize_t, write, (int fd, const void *bytes, size_t len));
LIBC_FUNCTION(void *, mmap, (void *addr, size_t len, int prot, int flags, int fd, off_t offset));
LIBC_FUNCTION(int, munmap, (void *addr, size_t len));
LIBC_FUNCTION(void *, mremap, (void *old, size_t old_len, size_t len, int flags, ...));
LIBC_FUNCTION(int, madvise, (void *addr, size_t len, int advice));
LIBC_FUNCTION(int, memfd_create, (const char *name, unsigned flags));
LIBC_FUNCTION(int, ftruncate, (int fd, off_t len));
LIBC_FUNCTION(int, eventfd, (unsigned count, int flags));
LIBC_FUNCTION(int, pipe2, (int ends[2], int flags));
LIBC_FUNCTION(int, poll, (struct pollfd * fds, nfds_t count, int timeout));
LIBC_FUNCTION(int, epoll_create1, (int flags));
LIBC_FUNCTION(int, epoll_ctl, (int epfd, int op, int fd, struct epoll_event *event));
LIBC_FUNCTION(int, epoll_pwait,
	      (int epfd, struct epoll_event *events, int max, int timeout, const sigset_t *mask));
LIBC_FUNCTION(int, socket, (int domain, int type, int protocol));
LIBC_FUNCTION(int, socketpair, (int domain, int type, int protocol, int pair[2]));
LIBC_FUNCTION(int, connect, (int fd, const struct sockaddr *name, socklen_t len));
LIBC_FUNCTION(int, bind, (int fd, const struct sockaddr *name, socklen_t len));
LIBC_FUNCTION(int, listen, (int fd, int backlog));
LIBC_FUNCTION(int, accept4, (int fd, struct sockaddr *name, socklen_t *len, int flags));
LIBC_FUNCTION(int, getpeername, (int fd, struct sockaddr *name, socklen_t *len));
LIBC_FUNCTION(int, getsockname, (int fd, struct sockaddr *name, socklen_t *len));
LIBC_FUNCTION(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len));
LIBC_FUNCTION(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len));
LIBC_FUNCTION(int, shutdown, (int fd, int how));
LIBC_FUNCTION(ssize_t, send, (int fd, const void *bytes, size_t len, int flags));
LIBC_FUNCTION(ssize_t, recv, (int fd, void *bytes, size_t len, int flags));
LIBC_FUNCTION(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags));
LIBC_FUNCTION(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags));
LIBC_FUNCTION(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags));
LIBC_FUNCTION(long, syscall, (long number, ...));
LIBC_FUNCTION(int, sigaction, (int sig, const struct sigaction *action, struct sigaction *old));

#endif
