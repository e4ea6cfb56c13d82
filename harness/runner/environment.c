/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the machine what it is. */
#include "environment.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "format.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static bool has_userfaultfd(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

struct environment_class environment_class(bool sanitizer)
{
	return (struct environment_class){
		.root = geteuid() == 0,
		.userfaultfd = has_userfaultfd(),
		.sanitizer = sanitizer,
	};
}

bool environment_class_equal(const struct environment_class *a, const struct environment_class *b)
{
	return a->root == b->root && a->userfaultfd == b->userfaultfd &&
	       a->sanitizer == b->sanitizer;
}

char *environment_class_text(const struct environment_class *class)
{
	return format_text("%s, %s, %s build", class->root ? "root" : "not root",
			   class->userfaultfd ? "userfaultfd" : "no userfaultfd",
			   class->sanitizer ? "sanitizer" : "plain");
}

/* PRETTY_NAME of os-release, without its quotes. */
static char *read_distribution(void)
{
	static const char key[] = "PRETTY_NAME=";
	FILE *file = fopen("/etc/os-release", "re");
	char line[256], *name = NULL;

	while (file && !name && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, sizeof(key) - 1) != 0)
			continue;
		name = line + sizeof(key) - 1;
		name += strspn(name, "\"'");
		name[strcspn(name, "\"'\n")] = '\0';
	}
	if (file)
		fclose(file);
	return name ? printable_text(name, strlen(name)) : copy_text("unknown");
}

struct platform platform_read(void)
{
	struct utsname names = {0};

	uname(&names);
	return (struct platform){
		.system = copy_text(names.sysname),
		.release = copy_text(names.release),
		.machine = copy_text(names.machine),
		.distribution = read_distribution(),
		.c_library = format_text("glibc %s", gnu_get_libc_version()),
		.processors = (int)sysconf(_SC_NPROCESSORS_ONLN),
	};
}

void platform_free(struct platform *platform)
{
	free(platform->system);
	free(platform->release);
	free(platform->machine);
	free(platform->distribution);
	free(platform->c_library);
}
