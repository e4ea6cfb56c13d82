/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections of this process: their blocks, the memory shared within one side,
 * the control socket, and who is still there on either side.
 */
#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "age.h"
#include "family.h"
#include "fault_point.h"
#include "node.h"
#include "number_set.h"
#include "process.h"
#include "ring.h"
#include "safe_copy.h"
#include "store.h"
#include "wait.h"

/* An answer of the kernel is good for this long. */
#define ANSWER_NS 50000ull
/* Identity and fault handler are looked at again after this long. */
#define IDENTITY_NS 1000000ull
/* conn_wait_word looks after the peer this often. */
#define WORD_SLICE_NS 5000000ull

enum { CHUNK_BYTES = 65536, CHUNK_SLOTS = CHUNK_BYTES / sizeof(struct conn_side) };

/*
 * Side memory comes in chunks. After a fork a chunk belongs to two processes
 * that do not tell each other what they free, so its slots are not used again.
 */
struct chunk {
	struct chunk *next;
	struct conn_side *slot;
	bool used[CHUNK_SLOTS];
	unsigned in_use;
	bool frozen;
};

static struct {
	pthread_mutex_t lock;
	struct conn *first;
	struct chunk *chunks;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct chunk *chunk_add(void)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));

	if (chunk == NULL)
		return NULL;
	chunk->slot =
		mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (chunk->slot == MAP_FAILED) {
		free(chunk);
		return NULL;
	}
	chunk->next = list.chunks;
	list.chunks = chunk;
	return chunk;
}

static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static struct conn_side *chunk_take(struct chunk *chunk)
{
	unsigned slot = 0;

	while (chunk->used[slot])
		slot++;
	chunk->used[slot] = true;
	chunk->in_use++;
	return &chunk->slot[slot];
}

static struct conn_side *side_create(void)
{
	struct chunk *chunk = list.chunks;
	struct conn_side *own;

	while (chunk != NULL && (chunk->frozen || chunk->in_use == CHUNK_SLOTS))
		chunk = chunk->next;
	if (chunk == NULL)
		chunk = chunk_add();
	if (chunk == NULL)
		return NULL;
	own = chunk_take(chunk);
	memset(own, 0, sizeof(*own));
	init_lock(&own->send);
	init_lock(&own->recv);
	init_lock(&own->mem);
	return own;
}

static void side_free(struct conn_side *own)
{
	struct chunk **link = &list.chunks, *chunk;

	while (own < (*link)->slot || own >= (*link)->slot + CHUNK_SLOTS)
		link = &(*link)->next;
	chunk = *link;
	chunk->in_use--;
	if (!chunk->frozen)
		chunk->used[own - chunk->slot] = false;
	if (chunk->in_use > 0)
		return;
	*link = chunk->next;
	munmap(chunk->slot, CHUNK_BYTES);
	free(chunk);
}

struct conn *conn_create(int side)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->side = side;
	c->ctl = -1;
	atomic_store(&c->sock, -1);
	atomic_store(&c->refs, 1);
	pthread_mutex_lock(&list.lock);
	c->own = side_create();
	if (c->own != NULL) {
		c->next = list.first;
		if (c->next != NULL)
			c->next->prev = c;
		list.first = c;
	}
	pthread_mutex_unlock(&list.lock);
	if (c->own == NULL) {
		free(c);
		return NULL;
	}
	return c;
}

void conn_get(struct conn *c)
{
	atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

static bool number_is(int fd, ino_t inode)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_ino == inode;
}

/* So that a search for duplicates of an endpoint passes them over. */
static struct number_set controls;

bool conn_is_control(int number)
{
	return number_set_has(&controls, number);
}

int conn_set_control(struct conn *c, int number)
{
	int type, domain;
	socklen_t length = sizeof(type);
	struct stat st;

	/* One that says when its other end is gone. */
	if (fstat(number, &st) != 0 || !S_ISSOCK(st.st_mode) ||
	    getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &length) != 0 ||
	    type != SOCK_SEQPACKET ||
	    getsockopt(number, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || domain != AF_UNIX)
		return -EPROTO;
	c->ctl = number;
	c->ctl_inode = st.st_ino;
	number_set_add(&controls, number);
	return 0;
}

void conn_drop_control(struct conn *c)
{
	if (c->ctl < 0)
		return;
	number_set_remove(&controls, c->ctl);
	/* The number may be a stranger's by now. */
	if (number_is(c->ctl, c->ctl_inode))
		close(c->ctl);
	c->ctl = -1;
}

static void conn_free(struct conn *c)
{
	if (c->mem != NULL)
		mem_conn_free(c);
	if (c->block != NULL)
		munmap(c->block, sizeof(*c->block));
	conn_drop_control(c);
	pthread_mutex_lock(&list.lock);
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		list.first = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	side_free(c->own);
	pthread_mutex_unlock(&list.lock);
	free(c);
}

void conn_put(struct conn *c)
{
	if (atomic_fetch_sub(&c->refs, 1) == 1)
		conn_free(c);
}

void conn_for_each(void (*visit)(struct conn *c, void *arg), void *arg)
{
	pthread_mutex_lock(&list.lock);
	for (struct conn *c = list.first; c != NULL; c = c->next)
		visit(c, arg);
	pthread_mutex_unlock(&list.lock);
}

/* --- the block --- */

struct block *conn_block_create(int *memfd)
{
	struct block *block;
	int fd = memfd_create("scif-block", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int error;

	if (fd < 0)
		return NULL;
	if (fd_set_size(fd, sizeof(*block)) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		goto fail;
	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (block == MAP_FAILED)
		goto fail;
	block->magic = BLOCK_MAGIC;
	block->version = BLOCK_VERSION;
	block->size = sizeof(*block);
	*memfd = fd;
	return block;
fail:
	error = errno;
	close(fd);
	errno = error;
	return NULL;
}

int conn_block_map(int memfd, struct block **out)
{
	struct block *block;
	struct stat st;
	int seals = fcntl(memfd, F_GET_SEALS);

	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return -EPROTO;
	if (fstat(memfd, &st) != 0 || st.st_size != (off_t)sizeof(*block))
		return -EPROTO;
	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	if (block == MAP_FAILED)
		return errno == EACCES || errno == EPERM ? -EPROTO : -ENOMEM;
	if (block->magic != BLOCK_MAGIC || block->version != BLOCK_VERSION ||
	    block->size != sizeof(*block)) {
		munmap(block, sizeof(*block));
		return -EPROTO;
	}
	*out = block;
	return 0;
}

/* --- is the other side still there --- */

static int known_reason(const struct conn *c)
{
	return -atomic_load_explicit(&c->own->gone, memory_order_relaxed);
}

void conn_mark_gone(struct conn *c, int reason)
{
	int none = 0;

	atomic_compare_exchange_strong(&c->own->gone, &none, reason);
}

static bool node_lost(const struct conn *c)
{
	return node_incarnation(c->peer_node) != c->peer_incarnation ||
	       node_incarnation(c->node) != c->incarnation || node_state(c->peer_node) == NODE_DOWN;
}

int conn_gone(struct conn *c)
{
	uint32_t peer;

	if (known_reason(c) != 0)
		return known_reason(c);
	peer = atomic_load_explicit(&c->block->side[1 - c->side].state, memory_order_acquire);
	if (node_lost(c))
		conn_mark_gone(c, ENODEV);
	else if (peer == BLOCK_SIDE_CLOSED || c->own->broken)
		conn_mark_gone(c, ECONNRESET);
	return known_reason(c);
}

/* Whether what poll(2) shows is what our socket would show in the rings' present state. */
static bool plausible(const struct conn *c, short revents)
{
	bool in = ring_rung(&c->block->ring[1 - c->side]);
	bool out = !ring_full(&c->block->ring[c->side]);

	/* Only sockets of our kind raise the band bit together with POLLOUT. */
	if (!(revents & POLLOUT) != !(revents & POLLWRBAND))
		return false;
	return !!(revents & POLLIN) == in && !!(revents & POLLOUT) == out;
}

bool conn_identify(struct conn *c, int number)
{
	atomic_store(&c->known, age_now());
	return number_is(number, c->inode);
}

static bool still_ours(struct conn *c, int number, short revents)
{
	static _Atomic uint64_t installed;
	bool old = conn_identity_old(c);

	if (age_exceeds(atomic_load(&installed), IDENTITY_NS)) {
		atomic_store(&installed, age_now());
		age_measure();
		safe_copy_install();
	}
	if (!old && !(revents & (POLLHUP | POLLRDHUP | POLLERR)) && plausible(c, revents))
		return true;
	return conn_identify(c, number);
}

int conn_question(struct conn *c, int number)
{
	struct pollfd p[2] = {
		{.fd = number, .events = POLLIN | POLLOUT | POLLWRBAND | POLLRDHUP},
		{.fd = process_wake_fd(), .events = POLLIN},
	};
	uint64_t now = age_now();

	if (poll(p, 2, 0) < 0)
		return conn_gone(c);
	atomic_store_explicit(&c->asked, now, memory_order_relaxed);
	if (p[1].revents & POLLIN)
		process_refresh();
	if ((p[0].revents & POLLNVAL) || !still_ours(c, number, p[0].revents))
		return -EBADF;
	if (p[0].revents & (POLLHUP | POLLRDHUP)) {
		/* The table changes before the processes of a lost node are killed. */
		process_refresh();
		if (conn_gone(c) == 0)
			conn_mark_gone(c, ECONNRESET);
	}
	return conn_gone(c);
}

bool conn_answer_old(const struct conn *c)
{
	return age_exceeds(atomic_load_explicit(&c->asked, memory_order_relaxed), ANSWER_NS);
}

bool conn_identity_old(const struct conn *c)
{
	return age_exceeds(atomic_load_explicit(&c->known, memory_order_relaxed), IDENTITY_NS);
}

int conn_ask(struct conn *c)
{
	int answer = conn_question(c, atomic_load(&c->sock));

	/* The descriptor was closed, here, by whatever means. */
	return answer == -EBADF ? -ECONNRESET : answer;
}

int conn_alive(struct conn *c)
{
	int gone = conn_gone(c);

	return gone == 0 && conn_answer_old(c) ? conn_ask(c) : gone;
}

int conn_wait_word(struct conn *c, _Atomic uint32_t *word, uint32_t seen)
{
	while (atomic_load(word) == seen) {
		int error = atomic_load(&c->closed) ? -EINTR : conn_alive(c);

		if (error != 0)
			return error;
		error = futex_wait(word, seen, WORD_SLICE_NS, true);
		if (error == -EINTR)
			return error;
		/* Who was to change the word may have been killed. */
		if (error == -ETIMEDOUT)
			mem_conn_waited(c);
	}
	return 0;
}

void conn_wake_word(_Atomic uint32_t *word)
{
	futex_wake(word, true);
}

/* --- who else is on our side --- */

bool conn_last_holder(struct conn *c)
{
	return atomic_load(&c->closed) ? c->last_holder
				       : !family_holds(atomic_load(&c->sock), c->inode);
}

void conn_publish_close(struct conn *c)
{
	if (c->last_holder)
		atomic_store(&c->block->side[c->side].state, BLOCK_SIDE_CLOSED);
	/* Ours and the peer's. */
	ring_rouse(&c->block->ring[0]);
	ring_rouse(&c->block->ring[1]);
}

void conn_atfork_prepare(void)
{
	pthread_mutex_lock(&list.lock);
	for (struct chunk *chunk = list.chunks; chunk != NULL; chunk = chunk->next)
		chunk->frozen = true;
	for (struct conn *c = list.first; c != NULL; c = c->next)
		atomic_store(&c->own->forked, true);
}

void conn_atfork_parent(void)
{
	pthread_mutex_unlock(&list.lock);
}

void conn_atfork_child(void)
{
	pthread_mutex_unlock(&list.lock);
}

/* --- locks within the side --- */

static int lock_robust(pthread_mutex_t *lock)
{
	if (pthread_mutex_lock(lock) != EOWNERDEAD)
		return 0;
	pthread_mutex_consistent(lock);
	return 1;
}

void(conn_lock_mem)(struct conn *c)
{
	if (lock_robust(&c->own->mem))
		mem_conn_repair(c);
}

#ifdef FAULT_POINTS
void conn_lock_mem_at(struct conn *c, const char *function)
{
	(conn_lock_mem)(c);
	FAULT_POINT(function);
}
#endif

void conn_unlock_mem(struct conn *c)
{
	pthread_mutex_unlock(&c->own->mem);
}

/* --- control socket --- */

union fd_message {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

int conn_send_fd(struct conn *c, const void *msg, size_t len, int fd)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)msg, .iov_len = len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union fd_message control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
					       .cmsg_level = SOL_SOCKET,
					       .cmsg_type = SCM_RIGHTS}};

	if (!number_is(c->ctl, c->ctl_inode))
		return -ECONNRESET;
	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	if (sendmsg(c->ctl, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return errno == EPIPE ? -ECONNRESET : -errno;
	return 0;
}

/* There is room for a second one, which nobody of ours sends. */
static int received_fd(struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fds[sizeof(union fd_message) / sizeof(int)];
	size_t count = 0;

	if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	if (count == 0)
		return -1;
	memcpy(fds, CMSG_DATA(header), count * sizeof(int));
	for (size_t i = 1; i < count; i++)
		close(fds[i]);
	return fd_keep(fds[0]);
}

static int receive(struct conn *c, void *msg, size_t len, int *fd, int flags)
{
	struct iovec part = {.iov_base = msg, .iov_len = len};
	union fd_message control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t got;

	*fd = -1;
	if (!number_is(c->ctl, c->ctl_inode))
		return -ECONNRESET;
	got = recvmsg(c->ctl, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | flags);
	if (got < 0)
		return -errno;
	*fd = received_fd(&message);
	if (got == (ssize_t)len && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	if (got == 0)
		return -ECONNRESET;
	return message.msg_flags & MSG_CTRUNC ? -EMFILE : -EPROTO;
}

int conn_recv_fd(struct conn *c, void *msg, size_t len, int *fd)
{
	return receive(c, msg, len, fd, 0);
}

int conn_peek_fd(struct conn *c, void *msg, size_t len, int *fd)
{
	return receive(c, msg, len, fd, MSG_PEEK);
}

void conn_drop_fd(struct conn *c)
{
	char byte;

	if (number_is(c->ctl, c->ctl_inode))
		recv(c->ctl, &byte, sizeof(byte), MSG_DONTWAIT);
}
