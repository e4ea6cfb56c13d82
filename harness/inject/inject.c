/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcts-inject.so: makes the n-th library call of a class fail. It is preloaded after the
 * implementation, so that the implementation's calls to the C library come here first, whoever
 * wrote it. With a negative n all calls from the n-th on fail. It does nothing until the test arms
 * it around one call, and then only in the thread that armed it. Instead of failing, the n-th call
 * can be preceded by a function of the test, so that something happens between two calls.
 *
 * libfiu was looked at first. Its preload has no memfd_create, accept4, userfaultfd or
 * pthread_create, its failures are switched on by name for the whole process (by chance or by
 * caller, not "the n-th in this thread"), and it does not count what it let pass, which is how the
 * end of the series is found.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	CLASS_HEAP = 1,
	CLASS_MAPPING = 2,
	CLASS_DESCRIPTOR = 4,
	CLASS_SOCKET = 8,
	CLASS_THREAD = 16,
	CLASS_REQUEST = 32, /* to a driver; not among "any": what a driver answers is not ours to say */
	CLASS_SHARED = 64,  /* room for memory that processes share */
};

int cts_inject_arm(const char *klass, int nth, int err);
bool cts_inject_disarm(int *seen);
int cts_inject_before(const char *klass, int nth, void (*act)(void *arg), void *arg);

/* Initial-exec: reading it must not allocate, for it is read inside malloc. */
static _Thread_local struct {
	int classes; /* 0: not armed */
	int nth, seen, err;
	bool lasting; /* so do all after the n-th */
	bool fired;
	void (*act)(void *arg); /* what precedes the call; NULL: it fails */
	void *arg;
} armed __attribute__((tls_model("initial-exec")));

EXPORT int cts_inject_arm(const char *klass, int nth, int err)
{
	static const struct {
		const char *name;
		int classes;
	} known[] = {
		{"heap", CLASS_HEAP},
		{"mapping", CLASS_MAPPING},
		{"memory", CLASS_HEAP | CLASS_MAPPING},
		{"descriptor", CLASS_DESCRIPTOR},
		{"socket", CLASS_SOCKET},
		{"thread", CLASS_THREAD},
		{"request", CLASS_REQUEST},
		{"shared", CLASS_SHARED},
		{"any",
		 CLASS_HEAP | CLASS_MAPPING | CLASS_DESCRIPTOR | CLASS_SOCKET | CLASS_THREAD},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strcmp(known[i].name, klass))
			continue;
		armed.lasting = nth < 0;
		armed.nth = nth < 0 ? -nth : nth;
		armed.err = err;
		armed.seen = 0;
		armed.fired = false;
		armed.act = NULL;
		armed.classes = known[i].classes;
		return 0;
	}
	return -1;
}

EXPORT int cts_inject_before(const char *klass, int nth, void (*act)(void *arg), void *arg)
{
	if (cts_inject_arm(klass, nth, 0) == -1)
		return -1;
	armed.arg = arg;
	armed.act = act;
	return 0;
}

EXPORT bool cts_inject_disarm(int *seen)
{
	armed.classes = 0;
	*seen = armed.seen;
	return armed.fired;
}

/* True when this call is the one that has to fail. */
static bool fails(int classes)
{
	if (__builtin_expect(!(armed.classes & classes), 1))
		return false;
	if (++armed.seen != armed.nth && !(armed.lasting && armed.seen > armed.nth))
		return false;
	armed.fired = true;
	if (!armed.act)
		return true;
	armed.classes = 0; /* what the test does now is not counted */
	armed.act(armed.arg);
	return false;
}

/*
 * The next definition of a function, looked up at its first use. Several threads may look at once
 * and find the same, so relaxed order does. A look-up that needs memory itself would come back
 * here; it is told that there is none, and dlsym can live with that.
 */
static _Thread_local bool looking __attribute__((tls_model("initial-exec")));

static void *next_definition(void **found, const char *name)
{
	void *next = __atomic_load_n(found, __ATOMIC_RELAXED);

	if (next || looking)
		return next;
	looking = true;
	next = dlsym(RTLD_NEXT, name);
	looking = false;
	__atomic_store_n(found, next, __ATOMIC_RELAXED);
	return next;
}

#define NEXT(name)                                                                                 \
	(__extension__({                                                                           \
		static void *found;                                                                \
		(__typeof__(name) *)(uintptr_t)next_definition(&found, #name);                     \
	}))

#define REFUSE(classes, failure)                                                                   \
	do {                                                                                       \
		if (fails(classes)) {                                                              \
			errno = armed.err;                                                         \
			return failure;                                                            \
		}                                                                                  \
	} while (0)

#define DEFINE_ALLOCATOR(name, params, call)                                                       \
	EXPORT void *name params                                                                   \
	{                                                                                          \
		REFUSE(CLASS_HEAP, NULL);                                                          \
		__typeof__(name) *next = NEXT(name);                                               \
		return next ? next call : NULL;                                                    \
	}

DEFINE_ALLOCATOR(malloc, (size_t size), (size))
DEFINE_ALLOCATOR(calloc, (size_t count, size_t size), (count, size))
DEFINE_ALLOCATOR(realloc, (void *p, size_t size), (p, size))
DEFINE_ALLOCATOR(reallocarray, (void *p, size_t count, size_t size), (p, count, size))
DEFINE_ALLOCATOR(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
DEFINE_ALLOCATOR(memalign, (size_t alignment, size_t size), (alignment, size))

EXPORT int posix_memalign(void **p, size_t alignment, size_t size)
{
	if (fails(CLASS_HEAP))
		return armed.err;
	return NEXT(posix_memalign)(p, alignment, size);
}

EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	REFUSE(CLASS_MAPPING, MAP_FAILED);
	return NEXT(mmap)(addr, len, prot, flags, fd, offset);
}

EXPORT void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	REFUSE(CLASS_MAPPING, MAP_FAILED);
	return NEXT(mmap64)(addr, len, prot, flags, fd, offset);
}

EXPORT void *mremap(void *old, size_t old_len, size_t len, int flags, ...)
{
	va_list args;
	void *to;

	va_start(args, flags);
	to = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
	va_end(args);
	REFUSE(CLASS_MAPPING, MAP_FAILED);
	return NEXT(mremap)(old, old_len, len, flags, to);
}

EXPORT int memfd_create(const char *name, unsigned flags)
{
	REFUSE(CLASS_MAPPING | CLASS_DESCRIPTOR | CLASS_SHARED, -1);
	return NEXT(memfd_create)(name, flags);
}

EXPORT int ftruncate(int fd, off_t len)
{
	REFUSE(CLASS_MAPPING | CLASS_SHARED, -1);
	return NEXT(ftruncate)(fd, len);
}

EXPORT int ftruncate64(int fd, off64_t len)
{
	REFUSE(CLASS_MAPPING | CLASS_SHARED, -1);
	return NEXT(ftruncate64)(fd, len);
}

/* Giving room back does not fail for want of it. */
static bool takes_room(int mode)
{
	return !(mode & FALLOC_FL_PUNCH_HOLE);
}

EXPORT int fallocate(int fd, int mode, off_t from, off_t len)
{
	if (takes_room(mode))
		REFUSE(CLASS_SHARED, -1);
	return NEXT(fallocate)(fd, mode, from, len);
}

EXPORT int fallocate64(int fd, int mode, off64_t from, off64_t len)
{
	if (takes_room(mode))
		REFUSE(CLASS_SHARED, -1);
	return NEXT(fallocate64)(fd, mode, from, len);
}

EXPORT int socket(int domain, int type, int protocol)
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(socket)(domain, type, protocol);
}

EXPORT int socketpair(int domain, int type, int protocol, int pair[2])
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(socketpair)(domain, type, protocol, pair);
}

EXPORT int accept(int fd, struct sockaddr *addr, socklen_t *len)
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(accept)(fd, addr, len);
}

EXPORT int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(accept4)(fd, addr, len, flags);
}

static bool has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

#define DEFINE_OPEN(name, params, call, last)                                                      \
	EXPORT int name params                                                                     \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list args;                                                                      \
		va_start(args, last);                                                              \
		if (has_mode(flags))                                                               \
			mode = va_arg(args, mode_t);                                               \
		va_end(args);                                                                      \
		REFUSE(CLASS_DESCRIPTOR, -1);                                                      \
		return NEXT(name) call;                                                            \
	}

DEFINE_OPEN(open, (const char *path, int flags, ...), (path, flags, mode), flags)
DEFINE_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), flags)
DEFINE_OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode), flags)
DEFINE_OPEN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode), flags)

/* What the fortified headers turn some of the calls into. */
#define DEFINE_FORTIFIED_OPEN(name, params, call)                                                  \
	int name params;                                                                           \
	EXPORT int name params                                                                     \
	{                                                                                          \
		REFUSE(CLASS_DESCRIPTOR, -1);                                                      \
		return NEXT(name) call;                                                            \
	}

DEFINE_FORTIFIED_OPEN(__open_2, (const char *path, int flags), (path, flags))
DEFINE_FORTIFIED_OPEN(__open64_2, (const char *path, int flags), (path, flags))
DEFINE_FORTIFIED_OPEN(__openat_2, (int dir, const char *path, int flags), (dir, path, flags))
DEFINE_FORTIFIED_OPEN(__openat64_2, (int dir, const char *path, int flags), (dir, path, flags))

EXPORT int dup(int fd)
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(dup)(fd);
}

EXPORT int eventfd(unsigned count, int flags)
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(eventfd)(count, flags);
}

EXPORT int epoll_create(int size)
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(epoll_create)(size);
}

EXPORT int epoll_create1(int flags)
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(epoll_create1)(flags);
}

EXPORT int pipe(int ends[2])
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(pipe)(ends);
}

EXPORT int pipe2(int ends[2], int flags)
{
	REFUSE(CLASS_DESCRIPTOR, -1);
	return NEXT(pipe2)(ends, flags);
}

static bool duplicates(int command)
{
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

/* The argument is a word or a pointer, and passing a word on serves both. */
#define DEFINE_FCNTL(name)                                                                         \
	EXPORT int name(int fd, int command, ...)                                                  \
	{                                                                                          \
		va_list args;                                                                      \
		va_start(args, command);                                                           \
		void *argument = va_arg(args, void *);                                             \
		va_end(args);                                                                      \
		if (duplicates(command))                                                           \
			REFUSE(CLASS_DESCRIPTOR, -1);                                              \
		return NEXT(name)(fd, command, argument);                                          \
	}

DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

/* Calls without a wrapper in the C library. The six words are passed on whether they were given or
 * not. */
EXPORT long syscall(long number, ...)
{
	va_list args;
	long word[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		word[i] = va_arg(args, long);
	va_end(args);
	switch (number) {
	case SYS_memfd_create:
		REFUSE(CLASS_MAPPING | CLASS_DESCRIPTOR | CLASS_SHARED, -1);
		break;
	case SYS_userfaultfd:
	case SYS_pidfd_open:
		REFUSE(CLASS_DESCRIPTOR, -1);
		break;
	}
	return NEXT(syscall)(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	REFUSE(CLASS_REQUEST, -1);
	return NEXT(ioctl)(fd, request, argument);
}

EXPORT ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
	REFUSE(CLASS_SOCKET, -1);
	return NEXT(send)(fd, bytes, len, flags);
}

EXPORT ssize_t recv(int fd, void *bytes, size_t len, int flags)
{
	REFUSE(CLASS_SOCKET, -1);
	return NEXT(recv)(fd, bytes, len, flags);
}

ssize_t __recv_chk(int fd, void *bytes, size_t len, size_t room, int flags);
EXPORT ssize_t __recv_chk(int fd, void *bytes, size_t len, size_t room, int flags)
{
	REFUSE(CLASS_SOCKET, -1);
	return NEXT(__recv_chk)(fd, bytes, len, room, flags);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	REFUSE(CLASS_SOCKET, -1);
	return NEXT(sendmsg)(fd, message, flags);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	REFUSE(CLASS_SOCKET, -1);
	return NEXT(recvmsg)(fd, message, flags);
}

EXPORT int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	REFUSE(CLASS_SOCKET, -1);
	return NEXT(connect)(fd, addr, len);
}

EXPORT int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	REFUSE(CLASS_SOCKET, -1);
	return NEXT(bind)(fd, addr, len);
}

EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	REFUSE(CLASS_SOCKET, -1);
	return NEXT(setsockopt)(fd, level, name, value, len);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			  void *arg)
{
	if (fails(CLASS_THREAD))
		return armed.err;
	return NEXT(pthread_create)(thread, attr, start, arg);
}
