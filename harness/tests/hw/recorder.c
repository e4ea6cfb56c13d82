/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's calls that reach a driver, taken over by name: for device nodes that the
 * environment makes up they answer themselves and keep a record, all else goes to the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

enum { DESCRIPTORS = 64, WORD = 64, VERSION_REQUEST = 0x7317 };

static struct {
	char text[16384];
	size_t used;
	const struct answer *answers;
	size_t count, next;
	const void *poll_array, *munmap_address;
	int error;
	struct {
		int fd; /* -1: free */
		char answer[WORD];
	} opened[DESCRIPTORS];
	int opened_count;
} recorder;

void recorder_start(const struct answer *answers, size_t count)
{
	recorder.text[0] = '\0';
	recorder.used = 0;
	recorder.answers = answers;
	recorder.count = count;
	recorder.next = 0;
	recorder.error = 0;
}

const char *recorder_text(void)
{
	return recorder.text;
}

void recorder_watch(const void *poll_array, const void *munmap_address)
{
	recorder.poll_array = poll_array;
	recorder.munmap_address = munmap_address;
}

void recorder_fail(int error)
{
	recorder.error = error;
}

__attribute__((format(printf, 1, 2))) static void write_down(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	recorder.used += (size_t)vsnprintf(recorder.text + recorder.used,
					   sizeof(recorder.text) - recorder.used, format, args);
	va_end(args);
	if (recorder.used >= sizeof(recorder.text))
		abort();
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* True when the environment makes this node up; then @answer is its word. */
static bool made_up(const char *path, char answer[WORD])
{
	const char *at = getenv("RECORDER_NODES");
	size_t length = strlen(path);

	for (; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
		if (strncmp(at, path, length) != 0 || at[length] != '=')
			continue;
		snprintf(answer, WORD, "%.*s", (int)strcspn(at + length + 1, ","), at + length + 1);
		return true;
	}
	return false;
}

/* The error of open(2) that an answer stands for, or 0. */
static int open_error(const char *answer)
{
	if (strcmp(answer, "absent") == 0)
		return ENOENT;
	for (int error = 1; error < 134; error++) {
		const char *name = strerrorname_np(error);

		if (name != NULL && strcmp(name, answer) == 0)
			return error;
	}
	return 0;
}

/* The number of a node's descriptor, or -1. */
static int number_of(int fd)
{
	for (int i = 0; i < recorder.opened_count; i++)
		if (recorder.opened[i].fd == fd)
			return i;
	return -1;
}

int access(const char *path, int mode)
{
	char answer[WORD];

	if (!made_up(path, answer))
		return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
	return strcmp(answer, "absent") == 0 ? fail(ENOENT) : 0;
}

static int open_node(const char *path, int flags, const char *answer)
{
	int error = open_error(answer), fd;

	write_down("open %s %s%s\n", path, (flags & O_ACCMODE) == O_RDWR ? "rw" : "not rw",
		   flags & O_CLOEXEC ? " cloexec" : "");
	if (error != 0)
		return fail(error);
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", flags);
	if (fd < 0 || recorder.opened_count == DESCRIPTORS)
		abort();
	recorder.opened[recorder.opened_count].fd = fd;
	strcpy(recorder.opened[recorder.opened_count++].answer, answer);
	return fd;
}

#define DEFINE_OPEN(name)                                                                          \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		char answer[WORD];                                                                 \
		mode_t mode = 0;                                                                   \
		va_list args;                                                                      \
		va_start(args, flags);                                                             \
		if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)                         \
			mode = va_arg(args, mode_t);                                               \
		va_end(args);                                                                      \
		if (made_up(path, answer))                                                         \
			return open_node(path, flags, answer);                                     \
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                      \
	}

DEFINE_OPEN(open)
DEFINE_OPEN(open64)

int close(int fd)
{
	int number = number_of(fd);

	if (number >= 0) {
		write_down("close #%d\n", number);
		recorder.opened[number].fd = -1;
	}
	return (int)syscall(SYS_close, fd);
}

#define DEFINE_FCNTL(name)                                                                         \
	int name(int fd, int command, ...)                                                         \
	{                                                                                          \
		int number = number_of(fd);                                                        \
		va_list args;                                                                      \
		va_start(args, command);                                                           \
		void *argument = va_arg(args, void *);                                             \
		va_end(args);                                                                      \
		if (number >= 0 && command == F_SETFD) {                                           \
			write_down("setfd #%d %ld\n", number, (long)(intptr_t)argument);           \
			if (recorder.error != 0)                                                   \
				return fail(recorder.error);                                       \
		}                                                                                  \
		return (int)syscall(SYS_fcntl, fd, command, argument);                             \
	}

DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

static int tell_version(const char *answer)
{
	if (strncmp(answer, "knc", 3) == 0)
		return answer[3] - '0';
	return fail(strcmp(answer, "mpss4") == 0 ? EINVAL : ENOTTY);
}

static void put(const struct answer *answer, void *argument)
{
	unsigned char *to = (unsigned char *)argument + answer->at;
	int before = errno;
	unsigned byte;

	for (const char *at = answer->result; sscanf(at, " %2x", &byte) == 1; at += 2) {
		at += strspn(at, " ");
		*to++ = (unsigned char)byte;
	}
	errno = before;
}

static int answer_request(void *argument)
{
	const struct answer *answer = &recorder.answers[recorder.next++];
	const unsigned char *bytes = argument;

	if (recorder.next > recorder.count) {
		write_down(" unexpected\n");
		return fail(EPROTO);
	}
	if (answer->size == 0)
		write_down(" value %08x", (unsigned)(uintptr_t)argument);
	for (unsigned i = 0; i < answer->size; i++)
		write_down("%s%02x", i % 4 == 0 ? " " : "", bytes[i]);
	write_down("\n");
	if (answer->error != 0)
		return fail(answer->error);
	if (answer->result != NULL)
		put(answer, argument);
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	int number = number_of(fd);
	va_list args;

	va_start(args, request);
	void *argument = va_arg(args, void *);
	va_end(args);
	if (number < 0)
		return (int)syscall(SYS_ioctl, fd, request, argument);
	write_down("ioctl #%d %08lx", number, request);
	if (request != VERSION_REQUEST)
		return answer_request(argument);
	write_down("\n");
	return tell_version(recorder.opened[number].answer);
}

/* A mapping of a node is one of nothing. */
#define DEFINE_MMAP(name)                                                                          \
	void *name(void *addr, size_t len, int prot, int flags, int fd, off_t offset)              \
	{                                                                                          \
		int number = fd < 0 ? -1 : number_of(fd);                                          \
		if (number < 0)                                                                    \
			return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);      \
		write_down("mmap %lx %zx %x %x #%d %llx\n", (unsigned long)addr, len,              \
			   (unsigned)prot, (unsigned)flags, number, (long long)offset);            \
		if (recorder.error != 0)                                                           \
			return (void *)(intptr_t)fail(recorder.error);                             \
		return addr;                                                                       \
	}

DEFINE_MMAP(mmap)
DEFINE_MMAP(mmap64)

int munmap(void *addr, size_t len)
{
	if (addr == NULL || addr != recorder.munmap_address)
		return (int)syscall(SYS_munmap, addr, len);
	write_down("munmap %lx %zx\n", (unsigned long)addr, len);
	return recorder.error != 0 ? fail(recorder.error) : 0;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	struct timespec limit = {.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000l};

	if (fds == NULL || fds != recorder.poll_array)
		return (int)syscall(SYS_ppoll, fds, count, timeout < 0 ? NULL : &limit, NULL, 0);
	write_down("poll %d %d:", (int)count, timeout);
	for (nfds_t i = 0; i < count; i++) {
		write_down(" %d=%x", fds[i].fd, (unsigned)(unsigned short)fds[i].events);
		fds[i].revents = (short)(i + 1);
	}
	write_down("\n");
	return recorder.error != 0 ? fail(recorder.error) : (int)count;
}
