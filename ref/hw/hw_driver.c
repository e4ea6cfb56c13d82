/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver in use and what its requests are called.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "driver.h"
#include "hw.h"

static int get_nodes_knc(int fd, uint16_t *nodes, int len, uint16_t *self)
{
	struct hw_nodes_knc request = {
		.nodes = (uintptr_t)nodes, .len = len, .self = (uintptr_t)self};
	int error = hw_request(fd, HW_KNC_GET_NODEIDS, &request);

	return error < 0 ? error : request.len;
}

static int get_nodes_mpss4(int fd, uint16_t *nodes, int len, uint16_t *self)
{
	struct hw_nodes_mpss4 request = {
		.nodes = (uintptr_t)nodes, .self = (uintptr_t)self, .len = len};
	int error = hw_request(fd, HW_MPSS4_GET_NODEIDS, &request);

	return error < 0 ? error : request.len;
}

static const struct hw_encoding knc = {
	.acceptreq = HW_KNC_ACCEPTREQ,
	.send = HW_KNC_SEND,
	.recv = HW_KNC_RECV,
	.reg = HW_KNC_REG,
	.unreg = HW_KNC_UNREG,
	.readfrom = HW_KNC_READFROM,
	.writeto = HW_KNC_WRITETO,
	.vreadfrom = HW_KNC_VREADFROM,
	.vwriteto = HW_KNC_VWRITETO,
	.fence_mark = HW_KNC_FENCE_MARK,
	.fence_signal = HW_KNC_FENCE_SIGNAL,
	.get_nodes = get_nodes_knc,
};

static const struct hw_encoding mpss4 = {
	.acceptreq = HW_MPSS4_ACCEPTREQ,
	.send = HW_MPSS4_SEND,
	.recv = HW_MPSS4_RECV,
	.reg = HW_MPSS4_REG,
	.unreg = HW_MPSS4_UNREG,
	.readfrom = HW_MPSS4_READFROM,
	.writeto = HW_MPSS4_WRITETO,
	.vreadfrom = HW_MPSS4_VREADFROM,
	.vwriteto = HW_MPSS4_VWRITETO,
	.fence_mark = HW_MPSS4_FENCE_MARK,
	.fence_signal = HW_MPSS4_FENCE_SIGNAL,
	.get_nodes = get_nodes_mpss4,
};

static const struct hw_driver *in_use;

const struct hw_driver *hw_driver(void)
{
	/* Pairs with the release below: the driver's members are seen with the pointer. */
	return __atomic_load_n(&in_use, __ATOMIC_ACQUIRE);
}

int hw_use(const struct hw_device *device)
{
	const struct hw_driver *none = NULL;
	size_t size = strlen(device->path) + 1;
	struct hw_driver *driver = malloc(sizeof(*driver) + size);

	if (driver == NULL)
		return -ENOMEM;
	driver->encoding = device->family == HW_MPSS4 ? &mpss4 : &knc;
	driver->mismatched = hw_device_mismatched(device);
	memcpy(driver->path, device->path, size);
	/* Of two threads that come here at once, the second takes what the first has found. */
	if (!__atomic_compare_exchange_n(&in_use, &none, driver, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		free(driver);
	return 0;
}

int hw_open_device(void)
{
	int fd = open(hw_driver()->path, O_RDWR);

	return fd < 0 ? -errno : fd;
}

int hw_request(int fd, unsigned request, void *argument)
{
	int result = ioctl(fd, (unsigned long)request, argument);

	return result < 0 ? -errno : result;
}
