/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking a descriptor for its readiness by every documented way; time. */
#include "engine.h"

#include <sched.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

uint64_t cts_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void cts_let_pass_us(unsigned us)
{
	uint64_t end = cts_now_us() + us;

	while (cts_now_us() < end)
		sched_yield();
}

int cts_poll2(int fd, int events)
{
	struct pollfd entry = {.fd = fd, .events = (short)events};

	return poll(&entry, 1, 0) == -1 ? -1 : (unsigned short)entry.revents;
}

int cts_select(int fd, int events)
{
	struct timeval none = {0, 0};
	fd_set in, out, except;

	if (fd < 0 || fd >= FD_SETSIZE)
		cts_unresolved("descriptor %d does not fit select", fd);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&except);
	if (events & POLLIN)
		FD_SET(fd, &in);
	if (events & POLLOUT)
		FD_SET(fd, &out);
	if (events & POLLPRI)
		FD_SET(fd, &except);
	if (select(fd + 1, &in, &out, &except, &none) == -1)
		return -1;
	return (FD_ISSET(fd, &in) ? POLLIN : 0) | (FD_ISSET(fd, &out) ? POLLOUT : 0) |
	       (FD_ISSET(fd, &except) ? POLLPRI : 0);
}

static int epoll_open(int fd, uint32_t events)
{
	struct epoll_event event = {.events = events};
	int set = epoll_create1(EPOLL_CLOEXEC);

	if (set == -1 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == -1)
		cts_unresolved("epoll of descriptor %d: %s", fd, strerror(errno));
	return set;
}

int cts_epoll_edge(int set)
{
	struct epoll_event event = {.events = 0};
	int got = epoll_wait(set, &event, 1, 0);

	return got == -1 ? -1 : got ? (int)(event.events & 0xffff) : 0;
}

int cts_epoll(int fd, int events)
{
	int set = epoll_open(fd, (uint32_t)events), got = cts_epoll_edge(set);

	close(set);
	return got;
}

int cts_epoll_edge_open(int fd, int events)
{
	return epoll_open(fd, (uint32_t)events | EPOLLET);
}
