/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints of this process and the table that leads from descriptor numbers to
 * them. The application may close, duplicate and reuse numbers without telling
 * us, so a number counts only as long as the socket behind it is the right one.
 */
#include "endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bell.h"
#include "connect.h"
#include "family.h"
#include "message.h"
#include "node.h"
#include "number_set.h"
#include "registry.h"
#include "request.h"
#include "store.h"
#include "wait.h"

/* Numbers up to 2^24; a directory of pages that are made when first needed and stay. */
enum { PAGE_BITS_EP = 12, PAGE_SLOTS = 1 << PAGE_BITS_EP, DIRECTORY_SLOTS = 4096 };

typedef _Atomic(struct ep *) ep_slot;

static _Atomic(ep_slot *) directory[DIRECTORY_SLOTS];

/* Numbers that scif_close is at work on: nobody may take them for duplicates now. */
static struct number_set closing_numbers;

static struct {
	pthread_mutex_t lock;
	struct ep *first;
	struct ep *free;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Library calls of this thread that hold an endpoint: more than one means a signal handler calls.
 */
static _Thread_local unsigned calls;

static ep_slot *slot_of(int number)
{
	ep_slot *page;

	if (number < 0 || number >> PAGE_BITS_EP >= DIRECTORY_SLOTS)
		return NULL;
	page = atomic_load_explicit(&directory[number >> PAGE_BITS_EP], memory_order_acquire);
	return page == NULL ? NULL : &page[number & (PAGE_SLOTS - 1)];
}

static ep_slot *slot_make(int number)
{
	_Atomic(ep_slot *) *entry;
	ep_slot *none = NULL, *page;

	if (number >> PAGE_BITS_EP >= DIRECTORY_SLOTS)
		return NULL;
	entry = &directory[number >> PAGE_BITS_EP];
	if (atomic_load(entry) == NULL) {
		page = calloc(PAGE_SLOTS, sizeof(*page));
		if (page == NULL)
			return NULL;
		if (!atomic_compare_exchange_strong(entry, &none, page))
			free(page);
	}
	return slot_of(number);
}

int ep_socket(void)
{
	/* connect(2) on a full queue must not wait for long whatever O_NONBLOCK says. */
	const struct timeval shortest = {.tv_usec = 1};
	const int size = BELL_SEND_BUFFER;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &shortest, sizeof(shortest)) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

/*
 * Endpoints are recycled but never freed: a thread that read a stale pointer
 * from the table still finds a reference count there.
 */
struct ep *ep_create(void)
{
	struct ep *ep;

	pthread_mutex_lock(&table.lock);
	ep = table.free;
	if (ep != NULL)
		table.free = ep->next_free;
	pthread_mutex_unlock(&table.lock);
	if (ep == NULL) {
		ep = calloc(1, sizeof(*ep));
		if (ep == NULL)
			return NULL;
		pthread_mutex_init(&ep->lock, NULL);
	}
	atomic_store(&ep->fd, -1);
	ep->inode = 0;
	atomic_store(&ep->state, EP_UNBOUND);
	atomic_store(&ep->closed, false);
	ep->connecting_call = ep->uncollected = ep->unusable = false;
	ep->port = 0;
	ep->backlog = 0;
	ep->failure = 0;
	ep->kept = ep->served = NULL;
	atomic_store(&ep->conn, NULL);
	atomic_store(&ep->numbers, 0);
	pthread_mutex_lock(&table.lock);
	ep->prev = NULL;
	ep->next = table.first;
	if (ep->next != NULL)
		ep->next->prev = ep;
	table.first = ep;
	pthread_mutex_unlock(&table.lock);
	/* Release: whoever gets a reference sees the fields above. */
	atomic_store_explicit(&ep->refs, 1, memory_order_release);
	calls++;
	return ep;
}

static void ep_recycle(struct ep *ep)
{
	struct conn *c = atomic_exchange(&ep->conn, NULL);

	requests_drop(ep);
	if (c != NULL)
		conn_put(c);
	pthread_mutex_lock(&table.lock);
	if (ep->prev != NULL)
		ep->prev->next = ep->next;
	else
		table.first = ep->next;
	if (ep->next != NULL)
		ep->next->prev = ep->prev;
	ep->next_free = table.free;
	table.free = ep;
	pthread_mutex_unlock(&table.lock);
}

static void ep_release(struct ep *ep)
{
	uint32_t left = atomic_fetch_sub(&ep->refs, 1) - 1;

	if (left == 0)
		ep_recycle(ep);
	else if (atomic_load_explicit(&ep->closed, memory_order_relaxed))
		futex_wake(&ep->refs, false);
}

void ep_put(struct ep *ep)
{
	calls--;
	ep_release(ep);
}

bool ep_nested(void)
{
	return calls > 1;
}

static bool ep_reference(struct ep *ep)
{
	uint32_t refs = atomic_load_explicit(&ep->refs, memory_order_relaxed);

	/* Acquire pairs with the release in ep_create. */
	while (refs != 0)
		if (atomic_compare_exchange_weak_explicit(
			    &ep->refs, &refs, refs + 1, memory_order_acquire, memory_order_relaxed))
			return true;
	return false;
}

static struct ep *lookup(int number)
{
	ep_slot *slot = slot_of(number);
	struct ep *ep;

	if (slot == NULL)
		return NULL;
	while ((ep = atomic_load_explicit(slot, memory_order_acquire)) != NULL) {
		if (!ep_reference(ep))
			continue;
		/* It may have been recycled between the load and the reference. */
		if (atomic_load(slot) == ep)
			return ep;
		ep_release(ep);
	}
	return NULL;
}

static int socket_inode(int number, ino_t *inode)
{
	struct stat st;

	if (fstat(number, &st) != 0)
		return -EBADF;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTTY;
	*inode = st.st_ino;
	return 0;
}

static void ep_lost(struct ep *ep);

/* The number came up again, so what the table had under it was closed behind our back. */
static void replaced(struct ep *old, int number)
{
	atomic_fetch_sub(&old->numbers, 1);
	if (!ep_move(old, number))
		ep_lost(old);
	ep_release(old);
}

static bool slot_set(struct ep *ep, int number)
{
	ep_slot *slot = slot_make(number);
	struct ep *old;

	if (slot == NULL)
		return false;
	/* A fork may have copied the mark of a thread that the child does not have. */
	if (number_set_has(&closing_numbers, number))
		number_set_remove(&closing_numbers, number);
	atomic_fetch_add(&ep->numbers, 1);
	atomic_fetch_add(&ep->refs, 1);
	old = atomic_exchange(slot, ep);
	if (old != NULL)
		replaced(old, number);
	return true;
}

int ep_attach(struct ep *ep, int fd)
{
	int error = socket_inode(fd, &ep->inode);

	if (error != 0)
		return error;
	atomic_store(&ep->fd, fd);
	return slot_set(ep, fd) ? 0 : -ENOMEM;
}

bool ep_close_begin(struct ep *ep, int number)
{
	if (!number_set_add(&closing_numbers, number))
		return false;
	if (ep_detach(ep, number))
		return true;
	number_set_remove(&closing_numbers, number);
	return false;
}

void ep_close_end(int number)
{
	close(number);
	number_set_remove(&closing_numbers, number);
}

bool ep_detach(struct ep *ep, int number)
{
	ep_slot *slot = slot_of(number);
	struct ep *expected = ep;

	if (!atomic_compare_exchange_strong(slot, &expected, NULL))
		return false;
	atomic_fetch_sub(&ep->numbers, 1);
	ep_release(ep);
	return true;
}

/* A number we do not know: perhaps a duplicate of one that we do. */
static int adopt(int number, struct ep **out)
{
	struct ep *ep;
	ino_t inode;
	int error =
		number_set_has(&closing_numbers, number) ? -EBADF : socket_inode(number, &inode);

	if (error != 0)
		return error;
	pthread_mutex_lock(&table.lock);
	for (ep = table.first; ep != NULL; ep = ep->next)
		if (ep->inode == inode && ep_reference(ep))
			break;
	pthread_mutex_unlock(&table.lock);
	if (ep == NULL)
		return -ENOTTY;
	/* scif_close is at work on it. */
	if (atomic_load(&ep->closed)) {
		ep_release(ep);
		return -EBADF;
	}
	if (!slot_set(ep, number)) {
		ep_release(ep);
		return -ENOMEM;
	}
	*out = ep;
	return 0;
}

static void use_number(struct ep *ep, int number)
{
	struct conn *c = atomic_load(&ep->conn);

	atomic_store(&ep->fd, number);
	if (c != NULL && !atomic_load(&c->closed))
		atomic_store(&c->sock, number);
}

static void lose_number(struct ep *ep, int number);

static bool sure(struct ep *ep, int number)
{
	ino_t inode;

	return socket_inode(number, &inode) == 0 && inode == ep->inode;
}

static bool answer_missing(struct ep *ep, bool unasked)
{
	struct conn *c = atomic_load_explicit(&ep->conn, memory_order_acquire);

	if (atomic_load_explicit(&ep->state, memory_order_acquire) < EP_CONNECTED || c == NULL)
		return true;
	return unasked ? conn_identity_old(c) : conn_answer_old(c);
}

static bool still_valid(struct ep *ep, int number, bool unasked)
{
	struct conn *c = atomic_load_explicit(&ep->conn, memory_order_acquire);

	if (c == NULL || atomic_load(&ep->state) < EP_CONNECTED)
		return sure(ep, number);
	return unasked ? conn_identify(c, number) : conn_question(c, number) != -EBADF;
}

enum check { CHECK_IDENTITY, CHECK_IF_OLD, CHECK_ALWAYS };

static bool check(struct ep *ep, int number, enum check when)
{
	if (when == CHECK_ALWAYS)
		return sure(ep, number);
	return !answer_missing(ep, when == CHECK_IDENTITY) ||
	       still_valid(ep, number, when == CHECK_IDENTITY);
}

static int get(scif_epd_t epd, struct ep **out, enum check when)
{
	struct ep *ep = lookup(epd);
	int error;

	if (ep != NULL && !check(ep, epd, when)) {
		lose_number(ep, epd);
		ep_release(ep);
		ep = NULL;
	}
	if (ep == NULL) {
		error = epd < 0 ? -EBADF : adopt(epd, &ep);
		if (error != 0)
			return error;
	}
	/* The number that calls use is one that was just seen to be good. */
	if (atomic_load_explicit(&ep->fd, memory_order_relaxed) != epd && !sure(ep, ep->fd))
		use_number(ep, epd);
	calls++;
	*out = ep;
	return 0;
}

int ep_get(scif_epd_t epd, struct ep **ep)
{
	return get(epd, ep, CHECK_IF_OLD);
}

int ep_get_sure(scif_epd_t epd, struct ep **ep)
{
	return get(epd, ep, CHECK_ALWAYS);
}

int ep_get_unasked(scif_epd_t epd, struct ep **ep)
{
	return get(epd, ep, CHECK_IDENTITY);
}

/* --- duplicates that we were not told about --- */

static int descriptor_limit(void)
{
	struct rlimit limit;
	FILE *status = fopen("/proc/self/status", "re");
	char line[128];
	int size = 0;

	while (status != NULL && size == 0 && fgets(line, sizeof(line), status) != NULL)
		if (strncmp(line, "FDSize:", 7) == 0)
			size = atoi(line + 7);
	if (status != NULL)
		fclose(status);
	if (size == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0)
		size = limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
	return size;
}

enum { BATCH = 1024 };

/* A connect that fails at this moment drops the endpoint's own reference. */
static struct conn *take_conn(struct ep *ep)
{
	struct conn *c;

	pthread_mutex_lock(&ep->lock);
	c = atomic_load(&ep->conn);
	if (c != NULL)
		conn_get(c);
	pthread_mutex_unlock(&ep->lock);
	return c;
}

/*
 * Sockets of our kind show the band bit exactly when they show POLLOUT, files show only POLLOUT,
 * pipes and queues that wait for input neither: so poll(2) itself passes over what comes with each
 * connection, which fstat(2) would have to be asked about one by one.
 */
static bool maybe_ours(short revents, bool ours_is_writable)
{
	if (revents & POLLNVAL)
		return false;
	return revents & POLLOUT ? revents & POLLWRBAND
				 : !(revents & POLLWRBAND) && !ours_is_writable;
}

/*
 * One poll(2) tells of many numbers which are open; the table knows most of those. When nobody can
 * send, a socket that was seen to be writable stays so under all its numbers.
 */
static int search_batch(struct ep *ep, int first, int end, int except, bool quiet)
{
	struct pollfd p[1 + BATCH] = {{.fd = quiet ? except : -1, .events = POLLOUT}};
	int count = 1;
	ino_t inode;

	for (int number = first; number < end; number++) {
		ep_slot *slot = slot_of(number);

		if (number != except && !conn_is_control(number) &&
		    (slot == NULL || atomic_load(slot) == NULL))
			p[count++] = (struct pollfd){.fd = number, .events = POLLOUT | POLLWRBAND};
	}
	if (count > 1 && poll(p, (nfds_t)count, 0) < 0)
		return -1;
	for (int i = 1; i < count; i++)
		if (maybe_ours(p[i].revents, p[0].revents & POLLOUT) &&
		    socket_inode(p[i].fd, &inode) == 0 && inode == ep->inode)
			return p[i].fd;
	return -1;
}

static int other_number(struct ep *ep, int except)
{
	int limit = descriptor_limit(), found = -1;
	struct conn *c = take_conn(ep);
	bool quiet = c != NULL && atomic_load(&ep->state) == EP_CONNECTED && sure(ep, except) &&
		     message_hold_senders(c);

	for (int first = 0; first < limit && found < 0; first += BATCH)
		found = search_batch(ep, first, first + BATCH < limit ? first + BATCH : limit,
				     except, quiet);
	if (quiet)
		message_release_senders(c);
	if (c != NULL)
		conn_put(c);
	return found;
}

/* Whether the endpoint is open under it; if not any more, it must not count as one of its users. */
static bool still_leads_to(struct ep *ep, int number)
{
	if (sure(ep, number))
		return true;
	if (ep_detach(ep, number))
		registry_remove(number);
	return false;
}

static int known_number(struct ep *ep, int except)
{
	int found = -1;

	pthread_mutex_lock(&table.lock);
	for (int number = 0;
	     atomic_load(&ep->numbers) > 0 && found < 0 && number >> PAGE_BITS_EP < DIRECTORY_SLOTS;
	     number++) {
		ep_slot *slot = slot_of(number);

		if (slot == NULL)
			number |= PAGE_SLOTS - 1;
		else if (number != except && atomic_load(slot) == ep && still_leads_to(ep, number))
			found = number;
	}
	pthread_mutex_unlock(&table.lock);
	return found;
}

bool ep_move(struct ep *ep, int closing)
{
	ep_slot *slot;
	int other = known_number(ep, closing);

	if (other < 0)
		other = other_number(ep, closing);
	if (other < 0)
		return false;
	slot = slot_of(other);
	if ((slot == NULL || atomic_load(slot) != ep) && !slot_set(ep, other))
		return false;
	use_number(ep, other);
	return true;
}

static void ep_lost(struct ep *ep)
{
	struct conn *c = atomic_load(&ep->conn);

	ep_shut(ep);
	if (c != NULL)
		atomic_store(&c->sock, -1);
}

/* The number was closed behind our back; it may be open again as something else. */
static void lose_number(struct ep *ep, int number)
{
	if (!ep_detach(ep, number))
		return;
	registry_remove(number);
	if (!ep_move(ep, -1))
		ep_lost(ep);
}

static void shut_conn(struct conn *c)
{
	c->last_holder = conn_last_holder(c);
	atomic_store(&c->closed, true);
}

void ep_shut(struct ep *ep)
{
	struct conn *c = take_conn(ep);

	atomic_store(&ep->closed, true);
	if (c != NULL)
		shut_conn(c);
	wake_sleepers();
	if (c == NULL)
		return;
	if (c->mem != NULL)
		mem_conn_closed(c);
	conn_publish_close(c);
	conn_put(c);
}

/* --- states --- */

enum ep_state ep_state_now(struct ep *ep)
{
	enum ep_state state = atomic_load_explicit(&ep->state, memory_order_acquire);

	if (state == EP_CONNECTING) {
		connect_settle(ep);
		state = atomic_load(&ep->state);
	}
	if (state == EP_CONNECTED && conn_alive(atomic_load(&ep->conn)) != 0)
		state = EP_DISCONNECTED;
	return state;
}

int ep_connection(struct ep *ep, struct conn **c)
{
	if (atomic_load_explicit(&ep->state, memory_order_acquire) == EP_CONNECTING)
		connect_settle(ep);
	if (atomic_load_explicit(&ep->state, memory_order_acquire) != EP_CONNECTED)
		return -ENOTCONN;
	*c = atomic_load_explicit(&ep->conn, memory_order_relaxed);
	return 0;
}

int ep_rma_ready(struct ep *ep, struct conn **c)
{
	int error = ep_connection(ep, c);

	if (error != 0)
		return error;
	if (atomic_load(&ep->closed))
		return -EBADF;
	return conn_alive(*c);
}

void ep_publish(struct ep *ep)
{
	struct conn *c = atomic_load(&ep->conn);
	struct registry_entry entry = {.inode = ep->inode,
				       .state = atomic_load(&ep->state),
				       .node = node_self(),
				       .port = ep->port};

	if (c != NULL && entry.state == EP_CONNECTED) {
		entry.port = c->port;
		entry.peer_node = c->peer_node;
		entry.peer_port = c->peer_port;
	}
	registry_endpoint(atomic_load(&ep->fd), &entry);
}

/* --- fork --- */

void ep_atfork_prepare(void)
{
	pthread_mutex_lock(&table.lock);
	family_atfork_prepare();
	wait_atfork_prepare();
	conn_atfork_prepare();
}

void ep_atfork_parent(void)
{
	conn_atfork_parent();
	wait_atfork_parent();
	pthread_mutex_unlock(&table.lock);
}

void ep_atfork_child(void)
{
	family_atfork_child();
	conn_atfork_child();
	wait_atfork_child();
	pthread_mutex_unlock(&table.lock);
	for (struct ep *ep = table.first; ep != NULL; ep = ep->next) {
		/* Holders of the lock and calls in progress are threads that only the parent has.
		 */
		pthread_mutex_init(&ep->lock, NULL);
		atomic_store(&ep->refs, atomic_load(&ep->numbers));
	}
	calls = 0;
}

void ep_atfork_child_last(void)
{
	/* Requests at hand are the parent's to serve. */
	for (struct ep *ep = table.first; ep != NULL; ep = ep->next)
		requests_atfork_child(ep);
}
