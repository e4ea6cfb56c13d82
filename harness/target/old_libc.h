/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libraries and peers use that the C library of a card's system does not have, or musl.  Included
 * before every source where ./configure has missed one of these functions.  The names are our own,
 * since a header may declare what a library lacks.
 */
#ifndef OLD_LIBC_H
#define OLD_LIBC_H

#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef HAVE_GETTID
static inline pid_t old_libc_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}
#define gettid old_libc_gettid
#endif

#ifndef HAVE_SECURE_GETENV
static inline char *old_libc_secure_getenv(const char *name)
{
	return getuid() == geteuid() && getgid() == getegid() ? getenv(name) : NULL;
}
#define secure_getenv old_libc_secure_getenv
#endif

#ifndef HAVE_REALLOCARRAY
static inline void *old_libc_reallocarray(void *array, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(array, count * size);
}
#define reallocarray old_libc_reallocarray
#endif

/* The kernel is as old as the C library: their callers have another way where it refuses. */
#ifndef HAVE_PROCESS_VM_READV
static inline ssize_t old_libc_process_vm_readv(pid_t pid, const struct iovec *own,
						unsigned long own_count, const struct iovec *other,
						unsigned long other_count, unsigned long flags)
{
	(void)pid, (void)own, (void)own_count, (void)other, (void)other_count, (void)flags;
	errno = ENOSYS;
	return -1;
}

static inline ssize_t old_libc_process_vm_writev(pid_t pid, const struct iovec *own,
						 unsigned long own_count, const struct iovec *other,
						 unsigned long other_count, unsigned long flags)
{
	return old_libc_process_vm_readv(pid, own, own_count, other, other_count, flags);
}
#define process_vm_readv  old_libc_process_vm_readv
#define process_vm_writev old_libc_process_vm_writev
#endif

/* The lock for writers came to the C library together with this one. */
#ifndef HAVE_PTHREAD_MUTEX_CLOCKLOCK
/* A change of the time of day moves the end; the clock that does not change cannot be waited by. */
static inline struct timespec old_libc_time_of_day(clockid_t clock, const struct timespec *end)
{
	struct timespec now, day;
	int64_t left;

	clock_gettime(clock, &now);
	clock_gettime(CLOCK_REALTIME, &day);
	left = (int64_t)(end->tv_sec - now.tv_sec) * 1000000000 + (end->tv_nsec - now.tv_nsec);
	if (left < 0)
		left = 0;
	left += day.tv_nsec;
	day.tv_sec += (time_t)(left / 1000000000);
	day.tv_nsec = (long)(left % 1000000000);
	return day;
}

static inline int old_libc_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
					   const struct timespec *end)
{
	struct timespec day = old_libc_time_of_day(clock, end);

	return pthread_mutex_timedlock(mutex, &day);
}

static inline int old_libc_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
					      const struct timespec *end)
{
	struct timespec day = old_libc_time_of_day(clock, end);

	return pthread_rwlock_timedwrlock(lock, &day);
}
#define pthread_mutex_clocklock	   old_libc_mutex_clocklock
#define pthread_rwlock_clockwrlock old_libc_rwlock_clockwrlock
#endif

#ifndef HAVE_STRERRORNAME_NP
const char *old_libc_strerrorname(int err);
#define strerrorname_np old_libc_strerrorname
#endif

#endif
