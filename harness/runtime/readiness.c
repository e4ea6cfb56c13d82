/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking an endpoint for its readiness by every documented way, and waiting for it within bounds.
 */
#include "engine.h"

#include <sched.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

/* An implementation may ask the kernel about its peer only so often; the text gives no time for it.
 */
#define NOTICE_US 300
#define SLICE_MS  50 /* between two looks at the time that is left */

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

int cts_poll(scif_epd_t epd, int events)
{
	struct scif_pollepd entry = {.epd = epd, .events = (short)events};

	return scif_poll(&entry, 1, 0) == -1 ? -1 : (unsigned short)entry.revents;
}

int cts_poll_wait(scif_epd_t epd, int events)
{
	int got;

	while (!(got = cts_poll(epd, events)) && time_left())
		sched_yield();
	return got;
}

int cts_poll2(scif_epd_t epd, int events)
{
	struct pollfd entry = {.fd = epd, .events = (short)events};

	return poll(&entry, 1, 0) == -1 ? -1 : (unsigned short)entry.revents;
}

int cts_select(scif_epd_t epd, int events)
{
	struct timeval none = {0, 0};
	fd_set in, out, except;

	if (epd < 0 || epd >= FD_SETSIZE)
		cts_unresolved("descriptor %d does not fit select", epd);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&except);
	if (events & POLLIN)
		FD_SET(epd, &in);
	if (events & POLLOUT)
		FD_SET(epd, &out);
	if (events & POLLPRI)
		FD_SET(epd, &except);
	if (select(epd + 1, &in, &out, &except, &none) == -1)
		return -1;
	return (FD_ISSET(epd, &in) ? POLLIN : 0) | (FD_ISSET(epd, &out) ? POLLOUT : 0) |
	       (FD_ISSET(epd, &except) ? POLLPRI : 0);
}

static int epoll_open(scif_epd_t epd, uint32_t events)
{
	struct epoll_event event = {.events = events};
	int set = epoll_create1(EPOLL_CLOEXEC);

	if (set == -1 || epoll_ctl(set, EPOLL_CTL_ADD, epd, &event) == -1)
		cts_unresolved("epoll of descriptor %d: %s", epd, strerror(errno));
	return set;
}

int cts_epoll_edge(int set)
{
	struct epoll_event event = {.events = 0};
	int got = epoll_wait(set, &event, 1, 0);

	return got == -1 ? -1 : got ? (int)(event.events & 0xffff) : 0;
}

int cts_epoll(scif_epd_t epd, int events)
{
	int set = epoll_open(epd, (uint32_t)events), got = cts_epoll_edge(set);

	close(set);
	return got;
}

int cts_epoll_edge_open(scif_epd_t epd, int events)
{
	return epoll_open(epd, (uint32_t)events | EPOLLET);
}

void cts_wait_hup(scif_epd_t epd)
{
	struct pollfd entry = {.fd = epd};

	/* HUP needs no asking for, so the wait ends with it and not with data. */
	while (poll(&entry, 1, SLICE_MS) == -1 || !(entry.revents & POLLHUP))
		if (!time_left())
			waited_in_vain("the disconnected endpoint shows no HUP");
	cts_let_pass_us(NOTICE_US);
}

void cts_set_nonblocking(scif_epd_t epd, bool on)
{
	int flags = fcntl(scif_get_fd(epd), F_GETFL);

	if (flags == -1 || fcntl(epd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) == -1)
		cts_unresolved("O_NONBLOCK of descriptor %d: %s", epd, strerror(errno));
}
