/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports of the own node.
 */
#include "port.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "node.h"
#include "process.h"

/* No port of the range below this one is free, as far as this process knows. */
static _Atomic uint32_t lowest_free;

int port_bind(int sock, uint16_t port)
{
	struct sockaddr_un name;
	socklen_t length = node_port_name(&name, node_self(), port);

	if (bind(sock, (struct sockaddr *)&name, length) == 0)
		return 0;
	return errno == EADDRINUSE ? -EINVAL : -errno;
}

static int search(int sock, uint32_t first, uint32_t end)
{
	for (uint32_t port = first; port < end; port++) {
		int error = port_bind(sock, (uint16_t)port);

		if (error == 0)
			return (int)port;
		if (error != -EINVAL)
			return error;
	}
	return -ENOSPC;
}

int port_bind_any(int sock)
{
	uint32_t start = atomic_load(&lowest_free);
	uint16_t low, high;
	int port;

	/* The range may have been changed since this process last looked. */
	process_refresh();
	node_port_range(&low, &high);
	if (start < low || start > high)
		start = low;
	port = search(sock, start, (uint32_t)high + 1);
	if (port == -ENOSPC)
		port = search(sock, low, start);
	if (port >= 0)
		atomic_store(&lowest_free, (uint32_t)port + 1);
	return port;
}

void port_freed(uint16_t port)
{
	uint32_t lowest = atomic_load(&lowest_free);

	while (port != 0 && port < lowest &&
	       !atomic_compare_exchange_weak(&lowest_free, &lowest, port))
		;
}

bool port_privileged_caller(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (geteuid() == 0)
		return true;
	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN));
}
