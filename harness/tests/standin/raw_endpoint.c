/* SPDX-License-Identifier: BSD-2-Clause */
/* Set-ups of the raw cases. */
#include "raw_endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "driver_call.h"
#include "encoding.h"
#include "tap.h"

int endpoint(void)
{
	int fd = open(driver->device, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		tap_bail("%s cannot be opened: %m", driver->device);
	return fd;
}

int endpoint_bound(uint16_t *port)
{
	struct image number = image_of(4);
	int fd = endpoint();

	image_put(&number, 0, 4, 0);
	call_must(fd, REQUEST_BIND, &number);
	*port = (uint16_t)image_get(&number, 0, 4);
	return fd;
}

int endpoint_listening(uint16_t *port)
{
	int fd = endpoint_bound(port);

	value_must(fd, REQUEST_LISTEN, 5);
	return fd;
}

static int connect_once(int fd, uint16_t port)
{
	unsigned char *bytes = memory_before_guard(8);
	struct image image = image_of(8);

	image_put(&image, 4, 2, 0);
	image_put(&image, 6, 2, port);
	memcpy(bytes, image.byte, 8);
	return ioctl(fd, driver->code[REQUEST_CONNECT], bytes);
}

int connector_pending(uint16_t port)
{
	int fd = endpoint();

	if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
		tap_bail("set-up: O_NONBLOCK: %m");
	if (connect_once(fd, port) != -1 || errno != EINPROGRESS)
		tap_bail("set-up: a non-blocking connect did not start");
	return fd;
}

int accept_on_new_descriptor(int listener)
{
	struct image request = image_of(16);
	struct image handle = image_of(8);
	int fd = endpoint();

	image_put(&request, 0, 4, 1);
	call_must(listener, REQUEST_ACCEPTREQ, &request);
	image_put(&handle, 0, 8, image_get(&request, 8, 8));
	call_must(fd, REQUEST_ACCEPTREG, &handle);
	return fd;
}

void connector_collect(int fd, uint16_t port)
{
	struct pollfd wanted = {.fd = fd, .events = POLLOUT};

	if (poll(&wanted, 1, 10000) != 1)
		tap_bail("set-up: the connect did not finish");
	if (connect_once(fd, port) != 0 || fcntl(fd, F_SETFL, 0) != 0)
		tap_bail("set-up: the connect could not be collected: %m");
}

struct raw_pair raw_pair(void)
{
	struct raw_pair pair;

	pair.listener = endpoint_listening(&pair.listener_port);
	pair.connector = endpoint_bound(&pair.connector_port);
	if (fcntl(pair.connector, F_SETFL, O_NONBLOCK) != 0 ||
	    connect_once(pair.connector, pair.listener_port) != -1 || errno != EINPROGRESS)
		tap_bail("set-up: a non-blocking connect did not start: %m");
	pair.acceptor = accept_on_new_descriptor(pair.listener);
	connector_collect(pair.connector, pair.listener_port);
	return pair;
}

void raw_pair_close(struct raw_pair *pair)
{
	close(pair->connector);
	close(pair->acceptor);
	close(pair->listener);
}

void window_open(int fd, void *memory, size_t length, uint64_t offset, int protection)
{
	struct image image = image_of(40);

	image_put(&image, 0, 8, (uintptr_t)memory);
	image_put(&image, 8, 8, length);
	image_put(&image, 16, 8, offset);
	image_put(&image, 24, 4, (uint64_t)protection);
	image_put(&image, 28, 4, 0x10);
	call_must(fd, REQUEST_REG, &image);
	if (image_get(&image, 32, 8) != offset)
		tap_bail("set-up: a window is not where it was asked for");
}
