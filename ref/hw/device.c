/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the device node of a SCIF driver.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device.h"
#include "driver.h"

static const struct {
	const char *path;
	enum hw_family family;
} nodes[] = {
	{"/dev/mic/scif", HW_KNC},
	{"/dev/scif", HW_MPSS4},
};
enum { NODES = sizeof(nodes) / sizeof(nodes[0]) };

bool hw_family_named(const char *name, enum hw_family *family)
{
	static const struct {
		const char *name;
		enum hw_family family;
	} names[] = {{"hw", HW_ANY}, {"hw:knc", HW_KNC}, {"hw:mpss4", HW_MPSS4}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].name, name) == 0) {
			*family = names[i].family;
			return true;
		}
	}
	return false;
}

bool hw_device_mismatched(const struct hw_device *device)
{
	return device->version > 0 && device->version != HW_VERSION;
}

/* The successor's driver knows no version request; what is no SCIF driver knows no request. */
static void ask_version(int fd, enum hw_family wanted, struct hw_device *device)
{
	int version = ioctl(fd, HW_KNC_GET_VERSION);

	if (version >= 0)
		device->version = version;
	else if (errno == ENOTTY)
		device->error = ENOTTY;
	if (wanted == HW_ANY && version >= 0)
		device->family = HW_KNC;
	if (wanted == HW_ANY && version < 0 && errno == EINVAL)
		device->family = HW_MPSS4;
}

static void look_at(const char *path, enum hw_family usual, enum hw_family wanted,
		    struct hw_device *device)
{
	int fd;

	*device = (struct hw_device){.path = path};
	/* Asked first: where there is no node, no descriptor is needed to say so. */
	if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
		return;
	device->present = true;
	device->family = wanted == HW_ANY ? usual : wanted;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		device->error = errno;
		return;
	}
	if (wanted != HW_MPSS4)
		ask_version(fd, wanted, device);
	close(fd);
}

void hw_device_find(enum hw_family family, struct hw_device *device)
{
	const char *path = secure_getenv("SCIF_HW_DEVICE");
	struct hw_device next;
	int i;

	if (path != NULL) {
		look_at(path, HW_KNC, family, device);
		return;
	}
	device->path = NULL;
	for (i = 0; i < NODES; i++) {
		if (family != HW_ANY && family != nodes[i].family)
			continue;
		look_at(nodes[i].path, nodes[i].family, family, &next);
		if (device->path == NULL || (next.present && (!device->present || !next.error)))
			*device = next;
		if (device->present && !device->error)
			return;
	}
}
