/* SPDX-License-Identifier: BSD-2-Clause */
#include "hand_made.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "block.h"
#include "ends.h"

socklen_t hand_made_name(struct sockaddr_un *name, const char *format, const char *fabric,
			 int number)
{
	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, format,
					    fabric, number));
}

int hand_made_socket(int flags, const char *format, const char *fabric, int number)
{
	struct sockaddr_un name;
	socklen_t length = hand_made_name(&name, format, fabric, number);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

	must(fd, "socket");
	must(bind(fd, (struct sockaddr *)&name, length), "bind");
	return fd;
}

int hand_made_memory(size_t size, int seals)
{
	int fd = memfd_create("by-hand", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	must(fd, "memfd_create");
	must(ftruncate(fd, (off_t)size), "ftruncate");
	if (seals)
		must(fcntl(fd, F_ADD_SEALS, seals), "F_ADD_SEALS");
	return fd;
}

int hand_made_block(uint32_t magic)
{
	struct block head = {.magic = magic, .version = BLOCK_VERSION, .size = sizeof(head)};
	int fd = hand_made_memory(sizeof(head), 0);

	must(pwrite(fd, &head, offsetof(struct block, side), 0), "pwrite");
	must(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), "F_ADD_SEALS");
	return fd;
}

int hand_made_reopened(int fd, int mode)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int other = open(path, mode | O_CLOEXEC);
	must(other, path);
	close(fd);
	return other;
}

ssize_t hand_made_send(int to, const void *bytes, size_t length, const int *fds, size_t count,
		       int flags)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(HAND_MADE_FDS * sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(count * sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (count > 0) {
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	return sendmsg(to, &message, MSG_NOSIGNAL | flags);
}
