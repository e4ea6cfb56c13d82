/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device node: which path it is, which driver is acted, and the calls that find files by name.
 * SCIF_STANDIN=mpss4 is the successor's driver; SCIF_STANDIN_NODES=1 a machine without a card,
 * whose driver serves node 0 alone; SCIF_STANDIN_WATCHDOG the seconds until a connect is given up;
 * SCIF_STANDIN_ULIMIT=1 a driver that was loaded with ulimit=1; SCIF_STANDIN_UDEV=0 one without its
 * udev rule, whose node is for root alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libc.h"
#include "standin.h"

#define NS_PER_S 1000000000ull
enum { WATCHDOG_SECONDS = 30, NODES = 2 };

bool device_is_mpss4(void)
{
	const char *driver = getenv("SCIF_STANDIN");

	return driver != NULL && strcmp(driver, "mpss4") == 0;
}

static const char *device_path(void)
{
	const char *path = getenv("SCIF_HW_DEVICE");

	if (path != NULL)
		return path;
	return device_is_mpss4() ? "/dev/scif" : "/dev/mic/scif";
}

bool device_is(int dir, const char *path)
{
	return path != NULL && (dir == AT_FDCWD || path[0] == '/') &&
	       strcmp(path, device_path()) == 0;
}

static unsigned long number_from(const char *name, unsigned long usual)
{
	const char *text = getenv(name);
	char *end;
	unsigned long value;

	if (text == NULL || *text < '0' || *text > '9')
		return usual;
	value = strtoul(text, &end, 10);
	return *end == '\0' ? value : usual;
}

uint64_t device_watchdog(void)
{
	return number_from("SCIF_STANDIN_WATCHDOG", WATCHDOG_SECONDS) * NS_PER_S;
}

bool device_counts_locked(void)
{
	return number_from("SCIF_STANDIN_ULIMIT", 0) != 0;
}

bool device_has_node(uint16_t node)
{
	unsigned long nodes = number_from("SCIF_STANDIN_NODES", NODES);

	/* Nodes that somebody added to the fabric are cards as well. */
	return node == 0 || nodes > 1;
}

/* Without a card everybody is on the host, whatever node the embedded fabric would put them on. */
__attribute__((constructor)) static void stay_on_host(void)
{
	if (!device_has_node(1))
		unsetenv("SCIF_NODE");
}

static mode_t device_mode(void)
{
	return number_from("SCIF_STANDIN_UDEV", 1) != 0 ? 0666 : 0600;
}

/* The stand-in's node is root's. */
static bool may_open(uid_t user)
{
	return user == 0 || device_mode() & S_IROTH;
}

static int open_device(int flags)
{
	int saved = errno, result;

	if (!may_open(geteuid()))
		result = -EACCES;
	else if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		result = -EEXIST;
	else if (flags & O_DIRECTORY)
		result = -ENOTDIR;
	else
		result = number_open(flags);
	errno = result < 0 ? -result : saved;
	return result < 0 ? -1 : result;
}

static bool has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

#define DEFINE_OPEN(name, params, dir, call)                                                       \
	STANDIN_EXPORT int name params                                                             \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list list;                                                                      \
                                                                                                   \
		va_start(list, flags);                                                             \
		if (has_mode(flags))                                                               \
			mode = va_arg(list, mode_t);                                               \
		va_end(list);                                                                      \
		return device_is(dir, path) ? open_device(flags) : LIBC(name) call;                \
	}

DEFINE_OPEN(open, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
DEFINE_OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
DEFINE_OPEN(openat, (int dir, const char *path, int flags, ...), dir, (dir, path, flags, mode))
DEFINE_OPEN(openat64, (int dir, const char *path, int flags, ...), dir, (dir, path, flags, mode))

/* What the fortified headers turn them into, and the C library's other names. */
#define DEFINE_OTHER_OPEN(name, params, dir, call)                                                 \
	int name params;                                                                           \
	STANDIN_EXPORT int name params                                                             \
	{                                                                                          \
		return device_is(dir, path) ? open_device(flags) : LIBC(name) call;                \
	}

DEFINE_OTHER_OPEN(__open_2, (const char *path, int flags), AT_FDCWD, (path, flags))
DEFINE_OTHER_OPEN(__open64_2, (const char *path, int flags), AT_FDCWD, (path, flags))
DEFINE_OTHER_OPEN(__openat_2, (int dir, const char *path, int flags), dir, (dir, path, flags))
DEFINE_OTHER_OPEN(__openat64_2, (int dir, const char *path, int flags), dir, (dir, path, flags))

STANDIN_EXPORT int access(const char *path, int mode)
{
	if (!device_is(AT_FDCWD, path))
		return libc_access(path, mode);
	if (!(mode & X_OK) && (mode == F_OK || may_open(getuid())))
		return 0;
	errno = EACCES;
	return -1;
}

STANDIN_EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
	return device_is(dir, path) ? access(path, mode) : LIBC(faccessat)(dir, path, mode, flags);
}

#define DESCRIBE(st)                                                                               \
	do {                                                                                       \
		memset(st, 0, sizeof(*(st)));                                                      \
		(st)->st_mode = S_IFCHR | device_mode();                                           \
		(st)->st_nlink = 1;                                                                \
		(st)->st_blksize = 4096;                                                           \
		(st)->st_rdev = makedev(DEVICE_MAJOR, 1);                                          \
	} while (0)
/* From the range for experiments: the driver's own is handed out at load time. */
enum { DEVICE_MAJOR = 240 };

#define DEFINE_STAT(name, type)                                                                    \
	STANDIN_EXPORT int name(const char *path, struct type *st)                                 \
	{                                                                                          \
		if (!device_is(AT_FDCWD, path))                                                    \
			return LIBC(name)(path, st);                                               \
		DESCRIBE(st);                                                                      \
		return 0;                                                                          \
	}

DEFINE_STAT(stat, stat)
DEFINE_STAT(lstat, stat)
DEFINE_STAT(stat64, stat64)
DEFINE_STAT(lstat64, stat64)

#define DEFINE_FSTAT(name, type)                                                                   \
	STANDIN_EXPORT int name(int fd, struct type *st)                                           \
	{                                                                                          \
		if (!number_is_ours(fd))                                                           \
			return LIBC(name)(fd, st);                                                 \
		DESCRIBE(st);                                                                      \
		return 0;                                                                          \
	}

DEFINE_FSTAT(fstat, stat)
DEFINE_FSTAT(fstat64, stat64)

#define DEFINE_FSTATAT(name, type)                                                                 \
	STANDIN_EXPORT int name(int dir, const char *path, struct type *st, int flags)             \
	{                                                                                          \
		if (!device_is(dir, path) &&                                                       \
		    !(flags & AT_EMPTY_PATH && path[0] == '\0' && number_is_ours(dir)))            \
			return LIBC(name)(dir, path, st, flags);                                   \
		DESCRIBE(st);                                                                      \
		return 0;                                                                          \
	}

DEFINE_FSTATAT(fstatat, stat)
DEFINE_FSTATAT(fstatat64, stat64)
