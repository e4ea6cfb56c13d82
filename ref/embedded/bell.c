/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The doorbell. The ring step tells which tokens are due; each token is a
 * message of its own, because the kernel gives the send buffer back per message.
 */
#include "bell.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fault_point.h"
#include "wait.h"

/* What a token that is late may cost its reader. */
#define LATE_NS 20000000ull
/* Used where it cannot be measured; right for kernels 5.11 to 6.18. */
#define FILLER_DEFAULT 9000u

static const unsigned char filler_bytes[BELL_FILLER_MAX];

static bool writable(int sock)
{
	struct pollfd p = {.fd = sock, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

/* A single J must block the sender; two of them and four T must fit, see bell_put. */
static bool filler_fits(int from, uint32_t length)
{
	int used, size;
	socklen_t size_length = sizeof(size);

	if (send(from, filler_bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)length)
		return false;
	if (writable(from) || ioctl(from, SIOCOUTQ, &used) != 0 ||
	    getsockopt(from, SOL_SOCKET, SO_SNDBUF, &size, &size_length) != 0)
		return false;
	return 2 * used + 4 * 1024 <= size;
}

static bool discard(int sock, size_t n)
{
	unsigned char sink[2048];

	while (n > 0) {
		ssize_t got = recv(sock, sink, n < sizeof(sink) ? n : sizeof(sink), MSG_DONTWAIT);

		if (got <= 0)
			return false;
		n -= (size_t)got;
	}
	return true;
}

static uint32_t measure_filler(void)
{
	int pair[2], size = BELL_SEND_BUFFER;
	uint32_t length = FILLER_DEFAULT;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return FILLER_DEFAULT;
	if (setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) == 0) {
		while (length < BELL_FILLER_MAX && !filler_fits(pair[0], length)) {
			discard(pair[1], length);
			length += 500;
		}
	}
	close(pair[0]);
	close(pair[1]);
	return length < BELL_FILLER_MAX ? length : FILLER_DEFAULT;
}

uint32_t bell_filler(void)
{
	static _Atomic uint32_t filler;
	uint32_t length = atomic_load(&filler);

	if (length == 0) {
		length = measure_filler();
		atomic_store(&filler, length);
	}
	return length;
}

enum token { TOKEN_T = 1, TOKEN_J = 2 };

/* Tokens not yet sent, oldest in the lowest two bits. */
static bool queue_token(struct conn_side *own, enum token token)
{
	unsigned place = 0;

	while (place < 32 && (own->bell_tokens >> place & 3) != 0)
		place += 2;
	if (place == 32)
		return false;
	own->bell_tokens |= (uint32_t)token << place;
	return true;
}

static int send_tokens(struct conn *c)
{
	struct mmsghdr message[16];
	struct iovec part[16];
	unsigned count = 0;
	int sent;

	for (uint32_t rest = c->own->bell_tokens; rest != 0; rest >>= 2, count++) {
		part[count] = (struct iovec){.iov_base = (void *)(uintptr_t)filler_bytes,
					     .iov_len = (rest & 3) == TOKEN_J ? c->filler : 1};
		message[count] =
			(struct mmsghdr){.msg_hdr = {.msg_iov = &part[count], .msg_iovlen = 1}};
	}
	if (count == 0)
		return 0;
	sent = count == 1 ? (int)sendmsg(c->sock, &message[0].msg_hdr, MSG_DONTWAIT | MSG_NOSIGNAL)
			  : sendmmsg(c->sock, message, count, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		return -errno;
	if (count == 1)
		sent = 1;
	c->own->bell_tokens >>= 2 * sent;
	return sent;
}

void bell_flush(struct conn *c)
{
	int sent;

	do
		sent = send_tokens(c);
	while (sent > 0 && c->own->bell_tokens != 0);
	/* A peer that is gone, or a descriptor that is no longer ours, needs no doorbell. */
	if (sent < 0 && sent != -EAGAIN && sent != -ENOMEM && sent != -ENOBUFS && sent != -EINTR)
		c->own->bell_tokens = 0;
}

static bool no_memory(int error)
{
	return error == -ENOMEM || error == -ENOBUFS;
}

int bell_put(struct conn *c, const struct ring_step *step)
{
	uint32_t before = c->own->bell_tokens;
	bool fits = true;
	int sent;

	if (step->moved == 0)
		return 0;
	if (step->token)
		fits &= queue_token(c->own, TOKEN_T);
	if (step->filler)
		fits &= queue_token(c->own, TOKEN_J) && queue_token(c->own, TOKEN_T);
	if (!fits)
		c->own->broken = true;
	if (c->own->bell_tokens == 0)
		return 0;
	/*
	 * The data is published, the doorbell follows: a reader that is faster
	 * waits for it in bell_settle. The other order would show a reader
	 * "readable" with nothing to read.
	 */
	FAULT_POINT("bell-due");
	sent = send_tokens(c);
	if (no_memory(sent) && before == 0 && ring_withdraw(&c->block->ring[c->side], step)) {
		c->own->bell_tokens = 0;
		return -ENOMEM;
	}
	if (sent >= 0 ? c->own->bell_tokens != 0 : sent != -EAGAIN)
		bell_flush(c);
	return 0;
}

/* Takes n bytes off the socket; how many are still missing. */
static uint32_t take_off(struct conn *c, uint32_t n)
{
	unsigned char sink[3072];
	struct iovec part[6];
	struct msghdr message = {.msg_iov = part};
	uint32_t rest = n;
	ssize_t got;

	for (; rest > 0 && message.msg_iovlen < 6; message.msg_iovlen++) {
		uint32_t length = rest < sizeof(sink) ? rest : (uint32_t)sizeof(sink);

		part[message.msg_iovlen] = (struct iovec){.iov_base = sink, .iov_len = length};
		rest -= length;
	}
	got = recvmsg(c->sock, &message, MSG_DONTWAIT);
	if (got > 0)
		return n - (uint32_t)got;
	/* End of stream, reset, or no longer our descriptor: nothing will come. */
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? n : 0;
}

void bell_settle(struct conn *c)
{
	struct conn_side *own = c->own;
	uint64_t deadline = 0;
	short revents;

	while (own->bell_removals > 0) {
		uint32_t missing = take_off(c, own->bell_removals);

		if (missing == own->bell_removals) {
			/* Its sender is between publishing and ringing. */
			if (deadline == 0)
				deadline = wait_now() + LATE_NS;
			else if (wait_now() >= deadline)
				return;
			if (wait_fd(&c->closed, NULL, c->sock, POLLIN, deadline, &revents) != 0 &&
			    atomic_load(&c->closed))
				return;
		}
		own->bell_removals = missing;
	}
}

void bell_taken(struct conn *c, const struct ring_step *step)
{
	struct conn_side *own = c->own;

	if (step->moved == 0)
		return;
	if (step->filler)
		own->bell_removals += 1 + c->peer_filler;
	if (step->token)
		own->bell_removals += 1;
	FAULT_POINT("bell-taken");
	if (own->bell_removals > 0)
		bell_settle(c);
}

void bell_repair_sender(struct conn *c)
{
	struct ring *r = &c->block->ring[c->side];
	int queued = 0;

	ioctl(c->sock, SIOCOUTQ, &queued);
	c->own->bell_tokens = 0;
	if (ring_rung(r) && queued == 0)
		queue_token(c->own, TOKEN_T);
	if (ring_refill(r) || (ring_full(r) && writable(c->sock))) {
		queue_token(c->own, TOKEN_J);
		queue_token(c->own, TOKEN_T);
	}
	bell_flush(c);
}

void bell_repair_receiver(struct conn *c)
{
	struct ring *r = &c->block->ring[1 - c->side];
	uint32_t due;
	int queued = 0;

	ring_unwant(r);
	ioctl(c->sock, SIOCINQ, &queued);
	due = (ring_rung(r) ? 1 : 0) + (ring_full(r) ? 1 + c->peer_filler : 0);
	c->own->bell_removals = queued > (int)due ? (uint32_t)queued - due : 0;
	bell_settle(c);
}
