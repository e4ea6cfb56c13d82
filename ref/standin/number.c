/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptor numbers.  A number of the driver's is one of an endpoint of the fabric behind, whose
 * table also learns of duplicates by itself.  Two things are the driver's own: an endpoint ends
 * with the last reference to the open file, and a call in progress or a mapping is one; and a
 * process that closes any duplicate of a listener it has accepted on ends the listening.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bell.h"
#include "embedded.h"
#include "family.h"
#include "libc.h"
#include "node.h"
#include "process.h"
#include "registry.h"
#include "safe_copy.h"
#include "standin.h"
#include "wait.h"
#include "window.h"

enum { HELD = 64, HELD_FIRST = 256 };

static atomic_bool used; /* an endpoint was opened in this process or in one it was forked from */

int number_get(int number, struct ep **ep)
{
	return atomic_load_explicit(&used, memory_order_relaxed) ? ep_get_sure(number, ep)
								 : -ENOTTY;
}

void number_put(struct ep *ep)
{
	ep_put(ep);
	number_release_idle();
}

bool number_is_ours(int number)
{
	struct ep *ep;
	int saved = errno;
	bool ours = number >= 0 && number_get(number, &ep) == 0;

	if (ours)
		ep_put(ep);
	errno = saved;
	return ours;
}

/* --- what the driver knows of an endpoint --- */

enum { BUCKETS = 1024 };

static _Atomic(struct open_file *) buckets[BUCKETS];

/* Endpoints are recycled but never given back, so an entry is made once and stays. */
struct open_file *open_file_of(struct ep *ep)
{
	_Atomic(struct open_file *) *bucket = &buckets[(uintptr_t)ep / sizeof(*ep) % BUCKETS];
	struct open_file *first = atomic_load(bucket), *file, *fresh = NULL;

	for (;;) {
		for (file = first; file != NULL && file->ep != ep; file = file->next)
			;
		if (file != NULL || (fresh == NULL && !(fresh = calloc(1, sizeof(*fresh)))))
			break;
		fresh->ep = ep;
		fresh->next = first;
		if (atomic_compare_exchange_strong(bucket, &first, fresh))
			return fresh;
	}
	free(fresh);
	return file;
}

static void forget_listening(struct open_file *file)
{
	struct listening *listening = atomic_exchange(&file->listening, NULL);

	if (listening != NULL)
		munmap(listening, sizeof(*listening));
}

int open_file_reset(struct ep *ep)
{
	struct open_file *file = open_file_of(ep);

	if (file == NULL)
		return -ENOMEM;
	forget_listening(file);
	worker_over(ep);
	atomic_store(&file->deadline, WAIT_FOREVER);
	return 0;
}

/* --- opening --- */

static void watch_forks(void);

static int prepare_process(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int error;

	room_enter();
	error = embedded_prepare();
	room_leave();
	/* After the fabric's own handlers. */
	pthread_once(&once, watch_forks);
	return error;
}

static int attach(struct ep *ep, int flags)
{
	int fd = ep_socket(), error;

	if (fd < 0)
		return fd;
	error = flags & O_CLOEXEC || fcntl(fd, F_SETFD, 0) == 0 ? 0 : -errno;
	if (error == 0 && flags & O_NONBLOCK)
		error = fcntl(fd, F_SETFL, O_NONBLOCK) == 0 ? 0 : -errno;
	if (error == 0)
		error = ep_attach(ep, fd);
	if (error == 0)
		return fd;
	close(fd);
	return error;
}

int number_open(int flags)
{
	struct ep *ep;
	int result = prepare_process();

	if (result != 0)
		return result;
	ep = ep_create();
	if (ep == NULL)
		return -ENOMEM;
	result = open_file_reset(ep);
	if (result == 0)
		result = attach(ep, flags);
	if (result >= 0) {
		atomic_store(&used, true);
		ep_publish(ep);
	}
	ep_put(ep);
	return result;
}

/* --- exec --- */

/* A socket of the fabric that is not connected: what a connection lives by is gone with the program
 * that had it. */
static bool is_free_endpoint(int fd)
{
	struct timeval shortest = {0};
	int domain = 0, size = 0;
	socklen_t length = sizeof(domain), name_length;
	struct sockaddr_un name;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || domain != AF_UNIX)
		return false;
	length = sizeof(size);
	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, &length) != 0 ||
	    size != 2 * BELL_SEND_BUFFER)
		return false;
	length = sizeof(shortest);
	/* The kernel has rounded it up to a tick of its own. */
	if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &shortest, &length) != 0 ||
	    shortest.tv_sec != 0 || shortest.tv_usec == 0)
		return false;
	name_length = sizeof(name);
	return getpeername(fd, (struct sockaddr *)&name, &name_length) != 0;
}

static void take_up(int fd)
{
	struct sockaddr_un name;
	socklen_t length = sizeof(name);
	uint16_t node, port;
	struct ep *ep;

	if (prepare_process() != 0 || (ep = ep_create()) == NULL)
		return;
	if (open_file_reset(ep) == 0 && ep_attach(ep, fd) == 0) {
		atomic_store(&used, true);
		if (getsockname(fd, (struct sockaddr *)&name, &length) == 0 &&
		    node_parse_port_name(&name, length, &node, &port)) {
			ep->port = port;
			atomic_store(&ep->state, EP_BOUND);
			port_see_listening(ep);
		}
		ep_publish(ep);
	}
	ep_put(ep);
}

/* Descriptors without close-on-exec are still the driver's in the program that exec has started. */
__attribute__((constructor)) static void take_up_inherited(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int found[HELD], count = 0;

	for (struct dirent *entry; dir != NULL && count < HELD && (entry = readdir(dir));) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && is_free_endpoint(fd))
			found[count++] = fd;
	}
	if (dir != NULL)
		closedir(dir);
	while (count > 0)
		take_up(found[--count]);
}

/* --- listeners --- */

static bool process_ended(int32_t pid)
{
	siginfo_t info = {.si_pid = 0};

	if (pid == 0 || pid == getpid())
		return false;
	if (process_dead(pid))
		return true;
	/* One that nobody has waited for holds no descriptors any more. */
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pid;
}

bool listening_ended(struct ep *ep)
{
	struct open_file *file = open_file_of(ep);
	struct listening *listening = file == NULL ? NULL : atomic_load(&file->listening);
	int saved = errno;

	if (listening == NULL)
		return false;
	if (!atomic_load(&listening->closed) && process_ended(atomic_load(&listening->accepter)))
		atomic_store(&listening->closed, 1);
	errno = saved;
	return atomic_load(&listening->closed);
}

static void flush_listener(struct ep *ep)
{
	struct listening *listening = atomic_load(&open_file_of(ep)->listening);

	if (listening == NULL || atomic_load(&listening->accepter) != getpid())
		return;
	atomic_store(&listening->closed, 1);
	wake_sleepers();
}

/* --- closing --- */

/* Endpoints without a number of the application's that something still holds. */

static struct {
	pthread_mutex_t lock;
	atomic_int count;
	int number[HELD];
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_mapped(struct ep *ep)
{
	struct conn *c = atomic_load(&ep->conn);

	return c != NULL && c->mem != NULL && atomic_load(&c->mem->mappings) > 0;
}

/* own: references of the caller. */
static bool is_held(struct ep *ep, uint32_t own)
{
	return atomic_load(&ep->refs) > atomic_load(&ep->numbers) + own || is_mapped(ep);
}

static bool hold(struct ep *ep, int number)
{
	struct ep *same;
	bool kept = false;
	int other;

	room_enter();
	other = fcntl(number, F_DUPFD_CLOEXEC, HELD_FIRST);
	room_leave();
	if (other < 0)
		return false;
	/* The table learns of it, so that the fabric goes over to it when the number goes. */
	if (ep_get_sure(other, &same) == 0) {
		pthread_mutex_lock(&held.lock);
		kept = same == ep && atomic_load(&held.count) < HELD;
		if (kept)
			held.number[held.count++] = other;
		pthread_mutex_unlock(&held.lock);
		ep_put(same);
	}
	if (!kept)
		embedded_close(other);
	return kept;
}

static bool is_idle(int number)
{
	struct ep *ep;
	bool idle;

	if (ep_get_sure(number, &ep) != 0)
		return true;
	idle = !is_held(ep, 1);
	ep_put(ep);
	return idle;
}

static int take_idle(void)
{
	int number = -1;

	pthread_mutex_lock(&held.lock);
	for (int i = 0; i < held.count && number < 0; i++) {
		if (!is_idle(held.number[i]))
			continue;
		number = held.number[i];
		held.number[i] = held.number[--held.count];
	}
	pthread_mutex_unlock(&held.lock);
	return number;
}

static void end(int number)
{
	struct ep *ep;

	if (ep_get_sure(number, &ep) != 0)
		return;
	driver_connect_finish(ep);
	worker_over(ep);
	driver_accept_forget(ep);
	forget_listening(open_file_of(ep));
	ep_put(ep);
	embedded_close(number);
}

void number_release_idle(void)
{
	int number, saved = errno;

	while (atomic_load_explicit(&held.count, memory_order_relaxed) > 0 &&
	       (number = take_idle()) >= 0)
		end(number);
	errno = saved;
}

static int close_number(struct ep *ep, int number)
{
	/* Another number of this process, known or not, names the endpoint as well. */
	bool others = ep_move(ep, number);

	flush_listener(ep);
	/* One reference is the caller's own. */
	if (!others && is_held(ep, 1))
		others = hold(ep, number);
	if (!others && !family_holds(number, ep->inode))
		driver_connect_finish(ep);
	if (!others) {
		worker_over(ep);
		driver_accept_forget(ep);
		forget_listening(open_file_of(ep));
	}
	return embedded_close(number);
}

int number_close(struct ep *ep, int number)
{
	int result = close_number(ep, number);

	ep_put(ep);
	number_release_idle();
	return result;
}

int number_take_over(int number, int from)
{
	int flags = fcntl(number, F_GETFD), status = fcntl(number, F_GETFL);
	struct ep *ep;
	int error;

	if (flags < 0 || status < 0)
		return -errno;
	if (fcntl(from, F_SETFL, status) != 0 ||
	    dup3(from, number, flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
		return -errno;
	/* What was under the number before has lost it, and the table finds that out here. */
	error = ep_get_sure(number, &ep);
	if (error != 0)
		return error;
	error = embedded_close(from);
	ep_publish(ep);
	ep_put(ep);
	return error;
}

/* --- fork --- */

static void before_fork(void)
{
	worker_atfork_prepare();
	epoll_atfork_prepare();
	pthread_mutex_lock(&held.lock);
	room_atfork_prepare();
}

static void in_parent(void)
{
	room_atfork_parent();
	epoll_atfork_parent();
	pthread_mutex_unlock(&held.lock);
	worker_atfork_parent();
}

/* What holds these are calls and mappings of the parent. */
static void in_child(void)
{
	room_atfork_child();
	worker_atfork_child();
	epoll_atfork_child();
	pthread_mutex_init(&held.lock, NULL);
	while (held.count > 0)
		embedded_close(held.number[--held.count]);
	driver_accept_forked();
}

/* Registered after the fabric's handlers: prepare runs before theirs, the others after. */
static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}
