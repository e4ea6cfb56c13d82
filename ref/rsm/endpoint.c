/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening, connecting and closing endpoints, and exchanging whole messages within a time limit.
 */
#include "endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>

#include "service.h"

/* --- which descriptors are ours --- */

enum { WORD_BITS = 64, NUMBERS = 1 << 20 };

static _Atomic uint64_t ours[NUMBERS / WORD_BITS];

/* Read to get or give back an endpoint, written to fork: then `ours` is complete. */
static pthread_rwlock_t forking = PTHREAD_RWLOCK_INITIALIZER;

/*
 * Read in scif_accept(), which a connector that stalls may hold up: a fork waits for it, but not
 * longer than this. A connection that is made at the very end of that time may stay open in the
 * child.
 */
static pthread_rwlock_t accepting = PTHREAD_RWLOCK_INITIALIZER;
#define FORK_PATIENCE_NS 500000000u
static bool awaited; /* by the thread that forks */

static void note(int number)
{
	atomic_fetch_or(&ours[number / WORD_BITS], UINT64_C(1) << number % WORD_BITS);
}

static void forget(int number)
{
	atomic_fetch_and(&ours[number / WORD_BITS], ~(UINT64_C(1) << number % WORD_BITS));
}

/* --- opening --- */

/* What one end of a connection takes while it is made. */
enum { DESCRIPTORS_NEEDED = 4 };

static bool out_of_descriptors(void)
{
	int fds[DESCRIPTORS_NEEDED], count = 0;
	bool none = false;

	while (count < DESCRIPTORS_NEEDED && !none) {
		fds[count] = eventfd(0, EFD_CLOEXEC);
		none = fds[count] < 0 && (errno == EMFILE || errno == ENFILE);
		if (fds[count++] < 0)
			break;
	}
	while (count-- > 0)
		if (fds[count] >= 0)
			close(fds[count]);
	return none;
}

/* libscif has one error for every shortage; whether it was descriptors shows by asking for some. */
static int shortage(int error)
{
	if (error == ENFILE || error == EMFILE)
		return -EMFILE;
	if (error != ENOMEM && error != ENOBUFS)
		return -error;
	return out_of_descriptors() ? -EMFILE : -ENOMEM;
}

/* Away from standard input, output and error, and closed by exec whatever libscif does. */
static int settle(scif_epd_t epd)
{
	int higher = epd > 2 ? epd : fcntl(epd, F_DUPFD_CLOEXEC, 3);
	int error = higher < 0 ? -errno : 0;

	if (higher != epd)
		scif_close(epd);
	if (error == -EINVAL || higher >= NUMBERS)
		error = -EMFILE;
	if (error == 0 && fcntl(higher, F_SETFD, FD_CLOEXEC) != 0)
		error = -errno;
	if (error == 0)
		note(higher);
	else if (higher >= 0)
		scif_close(higher);
	return error == 0 ? higher : error;
}

int endpoint_open(void)
{
	scif_epd_t epd;
	int error;

	pthread_rwlock_rdlock(&forking);
	epd = scif_open();
	epd = epd == SCIF_OPEN_FAILED ? shortage(errno) : settle(epd);
	pthread_rwlock_unlock(&forking);
	if (epd < 0)
		return epd;
	error = service_prepare();
	if (error == 0)
		return epd;
	endpoint_close(epd);
	return error;
}

int endpoint_accept(scif_epd_t listener, struct scif_portID *peer)
{
	scif_epd_t epd;
	int result;

	pthread_rwlock_rdlock(&accepting);
	result = scif_accept(listener, peer, &epd, 0) == 0 ? 0 : -errno;
	if (result == 0) {
		pthread_rwlock_rdlock(&forking);
		result = settle(epd);
		pthread_rwlock_unlock(&forking);
	}
	pthread_rwlock_unlock(&accepting);
	return result == -ENOBUFS ? -EMFILE : result;
}

/* Not ours any more before the number is free for others. */
void endpoint_close(scif_epd_t epd)
{
	pthread_rwlock_rdlock(&forking);
	forget(epd);
	scif_close(epd);
	pthread_rwlock_unlock(&forking);
}

static ino_t inode_of(scif_epd_t epd)
{
	struct stat status;

	return fstat(scif_get_fd(epd), &status) == 0 ? status.st_ino : 0;
}

void endpoint_close_begin(struct endpoint_closing *closing, scif_epd_t epd)
{
	pthread_rwlock_rdlock(&forking);
	forget(epd);
	*closing = (struct endpoint_closing){.epd = epd, .inode = inode_of(epd)};
	pthread_rwlock_unlock(&forking);
}

void endpoint_close_long(struct endpoint_closing *closing)
{
	scif_close(closing->epd);
	pthread_rwlock_rdlock(&forking);
	closing->epd = -1;
	pthread_rwlock_unlock(&forking);
}

/* Between the close in the parent and the note of it the number may have become another's. */
void endpoint_close_copy(const struct endpoint_closing *closing)
{
	if (closing->epd >= 0 && inode_of(closing->epd) == closing->inode)
		scif_close(closing->epd);
}

/* --- talking --- */

/*
 * 0 ready, -ETIMEDOUT, -EINTR. poll(2) is never restarted, so a handler with SA_RESTART
 * interrupts too.
 */
static int wait_for(scif_epd_t epd, short events, uint64_t deadline, bool interruptible)
{
	struct scif_pollepd p = {.epd = epd, .events = events};
	uint64_t now;
	int count;

	for (;;) {
		now = service_now();
		if (now >= deadline)
			return -ETIMEDOUT;
		count = scif_poll(&p, 1, (long)((deadline - now + 999999) / 1000000));
		if (count > 0)
			return 0;
		if (count < 0 && errno != EINTR)
			return -errno;
		if (count < 0 && interruptible)
			return -EINTR;
	}
}

static int set_nonblocking(scif_epd_t epd)
{
	int flags = fcntl(scif_get_fd(epd), F_GETFL);

	return flags < 0 || fcntl(scif_get_fd(epd), F_SETFL, flags | O_NONBLOCK) != 0 ? -errno : 0;
}

int endpoint_connect(scif_epd_t epd, uint16_t node, uint16_t port, uint64_t deadline,
		     bool interruptible)
{
	struct scif_portID to = {.node = node, .port = port};
	int error = set_nonblocking(epd);

	if (error != 0)
		return error;
	while (scif_connect(epd, &to) < 0) {
		if (errno == ENOBUFS || errno == ENOMEM)
			return shortage(errno);
		if (errno != EINPROGRESS)
			return errno == EISCONN ? 0 : -errno;
		error = wait_for(epd, SCIF_POLLOUT, deadline, interruptible);
		if (error != 0)
			return error;
	}
	return 0;
}

/* What send and recv say of a connection that is no more. */
static int gone(int error)
{
	return error == ENODEV || error == ENOMEM ? -error : -ECONNRESET;
}

int endpoint_send(scif_epd_t epd, const void *bytes, size_t n, uint64_t deadline,
		  bool interruptible)
{
	const char *from = bytes;
	int sent, error;

	while (n > 0) {
		/* scif_send() only reads what it is given. */
		sent = scif_send(epd, (void *)(uintptr_t)from, (int)n, 0);
		if (sent < 0 && errno != EINTR)
			return gone(errno);
		if (sent > 0) {
			from += sent;
			n -= (size_t)sent;
			continue;
		}
		error = wait_for(epd, SCIF_POLLOUT, deadline, interruptible);
		if (error != 0)
			return error;
	}
	return 0;
}

int endpoint_receive(scif_epd_t epd, void *bytes, size_t n, uint64_t deadline, bool interruptible)
{
	char *to = bytes;
	int got, error;

	while (n > 0) {
		got = scif_recv(epd, to, (int)n, 0);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return gone(errno);
		if (got > 0) {
			to += got;
			n -= (size_t)got;
			continue;
		}
		error = wait_for(epd, SCIF_POLLIN, deadline, interruptible);
		if (error != 0)
			return error;
	}
	return 0;
}

/* --- fork --- */

void endpoint_atfork_prepare(void)
{
	struct timespec limit = service_timespec(service_now() + FORK_PATIENCE_NS);

	awaited = pthread_rwlock_clockwrlock(&accepting, CLOCK_MONOTONIC, &limit) == 0;
	pthread_rwlock_wrlock(&forking);
}

void endpoint_atfork_parent(void)
{
	pthread_rwlock_unlock(&forking);
	if (awaited)
		pthread_rwlock_unlock(&accepting);
}

void endpoint_atfork_child(void)
{
	forking = accepting = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	for (int i = 0; i < NUMBERS / WORD_BITS; i++) {
		uint64_t word = atomic_load(&ours[i]);

		/* Pages without any stay shared with the parent. */
		if (word != 0)
			atomic_store(&ours[i], 0);
		for (; word != 0; word &= word - 1)
			scif_close(i * WORD_BITS + __builtin_ctzll(word));
	}
}
