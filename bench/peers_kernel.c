/* SPDX-License-Identifier: BSD-2-Clause */
/* Channels of the kernel: AF_UNIX stream, pipe, eventfd. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "channel.h"
#include "timing.h"

struct descriptors {
	int in, out;
};

static struct descriptors ends[MOST_CONNECTIONS];

/* The partner is there already, so it gets its descriptors from the driver. */
static void pass(const struct pair *pair, int fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS,
			      .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec byte = {.iov_base = "", .iov_len = 1};
	struct msghdr message = {.msg_iov = &byte,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	bench_must(pair, sendmsg(pair->talk, &message, MSG_NOSIGNAL) == 1, "sendmsg");
	close(fd);
}

static int passed(const struct pair *pair)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char text;
	struct iovec byte = {.iov_base = &text, .iov_len = 1};
	struct msghdr message = {.msg_iov = &byte,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int fd;

	bench_must(pair, recvmsg(pair->talk, &message, MSG_CMSG_CLOEXEC) == 1, "recvmsg");
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

static void open_unix(struct pair *pair, unsigned connections)
{
	unsigned i;

	for (i = 0; i < connections; i++) {
		int both[2];

		if (pair->partner == 0) {
			ends[i].in = ends[i].out = passed(pair);
			continue;
		}
		bench_must(pair, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0,
			   "socketpair");
		ends[i].in = ends[i].out = both[0];
		pass(pair, both[1]);
	}
}

static void send_unix(const struct pair *pair, unsigned connection, size_t length)
{
	bench_must(pair,
		   send(ends[connection].out, channel_message, length, MSG_NOSIGNAL) ==
			   (ssize_t)length,
		   "send");
}

static void receive_unix(const struct pair *pair, unsigned connection, size_t length)
{
	bench_must(pair,
		   recv(ends[connection].in, channel_message, length, MSG_WAITALL) ==
			   (ssize_t)length,
		   "recv");
}

static void poll_unix(const struct pair *pair, unsigned connection, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = recv(ends[connection].in, channel_message + done, length - done,
				   MSG_DONTWAIT);

		bench_must(pair, got > 0 || (got < 0 && errno == EAGAIN), "recv");
		if (got > 0)
			done += (size_t)got;
		else
			await_other(pair);
	}
}

static void open_pipes(struct pair *pair, unsigned connections)
{
	unsigned i;

	for (i = 0; i < connections; i++) {
		int forth[2], back[2];

		if (pair->partner == 0) {
			ends[i].in = passed(pair);
			ends[i].out = passed(pair);
			continue;
		}
		bench_must(pair, pipe2(forth, O_CLOEXEC) == 0 && pipe2(back, O_CLOEXEC) == 0,
			   "pipe2");
		ends[i] = (struct descriptors){.in = back[0], .out = forth[1]};
		pass(pair, forth[0]);
		pass(pair, back[1]);
	}
}

static void open_eventfds(struct pair *pair, unsigned connections)
{
	(void)connections;
	if (pair->partner == 0) {
		ends[0].in = passed(pair);
		ends[0].out = passed(pair);
		return;
	}
	ends[0].in = eventfd(0, EFD_CLOEXEC);
	ends[0].out = eventfd(0, EFD_CLOEXEC);
	bench_must(pair, ends[0].in >= 0 && ends[0].out >= 0, "eventfd");
	pass(pair, dup(ends[0].out));
	pass(pair, dup(ends[0].in));
}

static void write_message(const struct pair *pair, unsigned connection, size_t length)
{
	bench_must(pair, write(ends[connection].out, channel_message, length) == (ssize_t)length,
		   "write");
}

static void read_message(const struct pair *pair, unsigned connection, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = read(ends[connection].in, channel_message + done, length - done);

		bench_must(pair, got > 0, "read");
		done += (size_t)got;
	}
}

static void write_event(const struct pair *pair, unsigned connection, size_t length)
{
	uint64_t one = 1;

	(void)connection;
	(void)length;
	bench_must(pair, write(ends[0].out, &one, sizeof(one)) == sizeof(one), "write");
}

static void read_event(const struct pair *pair, unsigned connection, size_t length)
{
	uint64_t value;

	(void)connection;
	(void)length;
	bench_must(pair, read(ends[0].in, &value, sizeof(value)) == sizeof(value), "read");
}

const struct channel channel_unix = {open_unix, send_unix, receive_unix};
const struct channel channel_unix_polling = {open_unix, send_unix, poll_unix};
const struct channel channel_pipe = {open_pipes, write_message, read_message};
const struct channel channel_eventfd = {open_eventfds, write_event, read_event};
