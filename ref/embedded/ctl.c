/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client side of the controller protocol, shared by the library and scif-fabric.
 */
#include "ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

ssize_t ctl_send_fd(int sock, const struct sockaddr_un *to, socklen_t to_len, const void *msg,
		    size_t len, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)msg, .iov_len = len};
	struct msghdr header = {
		.msg_name = (void *)(uintptr_t)to,
		.msg_namelen = to_len,
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	ssize_t sent;

	if (fd >= 0) {
		header.msg_control = &control;
		header.msg_controllen = sizeof(control);
		struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	}
	sent = sendmsg(sock, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
	return sent < 0 ? -errno : sent;
}

/* Keeps one descriptor of a message and closes any others. */
static void take_descriptors(const struct cmsghdr *cmsg, int *fd)
{
	size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < count; i++) {
		int received;

		memcpy(&received, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
		if (*fd >= 0)
			close(received);
		else
			*fd = received;
	}
}

ssize_t ctl_recv_fd(int sock, void *msg, size_t len, int *fd, uid_t *uid)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(4 * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec iov = {.iov_base = msg, .iov_len = len};
	struct msghdr header = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t received = recvmsg(sock, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (uid != NULL)
		*uid = (uid_t)-1;
	if (received < 0)
		return -errno;
	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header); cmsg != NULL;
	     cmsg = CMSG_NXTHDR(&header, cmsg)) {
		if (cmsg->cmsg_type == SCM_RIGHTS)
			take_descriptors(cmsg, fd);
		if (cmsg->cmsg_type == SCM_CREDENTIALS && uid != NULL) {
			struct ucred sender;

			memcpy(&sender, CMSG_DATA(cmsg), sizeof(sender));
			*uid = sender.uid;
		}
	}
	return received;
}

int ctl_connect(const char *fabric, struct ucred *owner)
{
	struct sockaddr_un name;
	socklen_t name_len = node_ctl_name(&name, fabric);
	socklen_t owner_len = sizeof(*owner);
	/* Non-blocking: a controller whose queue is full or that is stopped must not hold us. */
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (sock < 0)
		return -errno;
	if (connect(sock, (struct sockaddr *)&name, name_len) < 0 ||
	    getsockopt(sock, SOL_SOCKET, SO_PEERCRED, owner, &owner_len) < 0) {
		error = -errno;
		close(sock);
		return error;
	}
	return sock;
}

bool ctl_heeded(const struct ucred *owner)
{
	return owner->uid == 0 || owner->uid == geteuid();
}

static int milliseconds_left(const struct timespec *end)
{
	struct timespec now;
	int64_t left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
	return left < 0 ? 0 : (int)left;
}

static int wait_readable(int sock, int timeout_ms)
{
	struct pollfd pollfd = {.fd = sock, .events = POLLIN};
	struct timespec end;
	int ready;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += timeout_ms / 1000;
	end.tv_nsec += timeout_ms % 1000 * 1000000L;
	do
		ready = poll(&pollfd, 1, milliseconds_left(&end));
	while (ready < 0 && errno == EINTR && milliseconds_left(&end) > 0);
	if (ready < 0)
		return -errno;
	return ready == 0 ? -ETIMEDOUT : 0;
}

int ctl_request(int sock, const struct ctl_request *request, int timeout_ms, int *table_fd)
{
	struct ctl_reply reply;
	ssize_t count = ctl_send_fd(sock, NULL, 0, request, sizeof(*request), -1);
	int error;

	if (count < 0)
		return (int)count;
	error = wait_readable(sock, timeout_ms);
	if (error < 0)
		return error;
	count = ctl_recv_fd(sock, &reply, sizeof(reply), table_fd, NULL);
	if (count < 0)
		return (int)count;
	if (count == 0)
		error = -ECONNRESET;
	else if (count != sizeof(reply) || reply.magic != CTL_MAGIC)
		error = -EPROTO;
	else if (reply.version != CTL_VERSION)
		error = -ENXIO;
	else if (reply.error != 0)
		error = reply.error < 0 ? reply.error : -EPROTO;
	else if (*table_fd < 0)
		error = -EPROTO;
	if (error < 0 && *table_fd >= 0) {
		close(*table_fd);
		*table_fd = -1;
	}
	return error;
}

const struct node_table *ctl_map_table(int fd, int *error)
{
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);
	const struct node_table *table;

	*error = -EPROTO;
	/* Without the shrink seal a read of the mapping could end in SIGBUS. */
	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
		return NULL;
	if (fstat(fd, &status) < 0 || status.st_size < (off_t)sizeof(*table))
		return NULL;
	table = mmap(NULL, sizeof(*table), PROT_READ, MAP_SHARED, fd, 0);
	if (table == MAP_FAILED) {
		*error = -errno;
		return NULL;
	}
	if (table->magic == CTL_MAGIC && table->version == CTL_VERSION) {
		*error = 0;
		return table;
	}
	if (table->magic == CTL_MAGIC)
		*error = -ENXIO;
	munmap((void *)(uintptr_t)table, sizeof(*table));
	return NULL;
}
