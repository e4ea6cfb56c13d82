/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll on the driver's descriptors.  A set that holds one gets an inner set with the sockets
 * behind them, which the kernel watches for changes alone; what is ready is asked of the driver's
 * own readiness at every wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "libc.h"
#include "standin.h"
#include "wait.h"

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

struct watch {
	struct watch *next;
	int fd;
	struct ep *ep; /* not referenced: only compared with what the number leads to */
	ino_t inode;   /* of the socket that the kernel watches */
	struct epoll_event event;
	bool changed; /* since it was reported last */
	bool done;    /* EPOLLONESHOT */
};

struct set {
	struct set *next;
	int epfd;
	int inner;
	struct watch *first;
};

static struct {
	pthread_mutex_t lock;
	struct set *_Atomic first;
} sets = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { INNER_FIRST = 256, BATCH = 64 };

static struct set *set_of(int epfd)
{
	struct set *set = sets.first;

	while (set != NULL && set->epfd != epfd)
		set = set->next;
	return set;
}

static void set_free(struct set *set)
{
	while (set->first != NULL) {
		struct watch *watch = set->first;

		set->first = watch->next;
		free(watch);
	}
	if (set->inner >= 0)
		close(set->inner);
	free(set);
}

static int make_inner(int epfd, struct set *set)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = set};
	int low;

	room_enter();
	low = epoll_create1(EPOLL_CLOEXEC);
	if (low >= 0) {
		set->inner = fcntl(low, F_DUPFD_CLOEXEC, INNER_FIRST);
		close(low);
	}
	room_leave();
	if (set->inner < 0)
		return -ENOMEM;
	return libc_epoll_ctl(epfd, EPOLL_CTL_ADD, set->inner, &event) == 0 ? 0 : -errno;
}

static int set_make(int epfd, struct set **made)
{
	struct set *set = calloc(1, sizeof(*set));
	int error;

	if (set == NULL)
		return -ENOMEM;
	set->epfd = epfd;
	set->inner = -1;
	error = make_inner(epfd, set);
	if (error != 0) {
		set_free(set);
		return error;
	}
	set->next = sets.first;
	sets.first = set;
	*made = set;
	return 0;
}

static struct watch **link_to(struct set *set, int fd, const struct ep *ep)
{
	struct watch **link = &set->first;

	while (*link != NULL && ((*link)->fd != fd || (ep != NULL && (*link)->ep != ep)))
		link = &(*link)->next;
	return link;
}

static short bits_wanted(const struct watch *watch)
{
	return (short)(watch->event.events & (EPOLLIN | EPOLLOUT | EPOLLPRI));
}

/* The kernel tells of changes; whether one is of interest is decided here. */
static int watch_socket(struct set *set, struct watch *watch, int op)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = watch->fd};

	watch->inode = watch->ep->inode;
	if (libc_epoll_ctl(set->inner, op, watch->fd, &event) == 0 || errno == EEXIST)
		return 0;
	return -errno;
}

static int add(struct set *set, int fd, struct ep *ep, const struct epoll_event *event)
{
	struct watch **stale = link_to(set, fd, NULL), *watch = *stale;
	int error;

	if (watch != NULL && watch->ep == ep)
		return -EEXIST;
	if (watch != NULL)
		*stale = watch->next;
	else
		watch = calloc(1, sizeof(*watch));
	if (watch == NULL)
		return -ENOMEM;
	*watch = (struct watch){.fd = fd, .ep = ep, .event = *event, .changed = true};
	error = watch_socket(set, watch, EPOLL_CTL_ADD);
	if (error != 0) {
		free(watch);
		return error;
	}
	watch->next = set->first;
	set->first = watch;
	return 0;
}

static int change(struct set *set, int fd, struct ep *ep, const struct epoll_event *event)
{
	struct watch *watch = *link_to(set, fd, ep);

	if (watch == NULL)
		return -ENOENT;
	watch->event = *event;
	watch->changed = true;
	watch->done = false;
	return 0;
}

static int drop(struct set *set, int fd, struct ep *ep)
{
	struct watch **link = link_to(set, fd, ep), *watch = *link;

	if (watch == NULL)
		return -ENOENT;
	*link = watch->next;
	free(watch);
	libc_epoll_ctl(set->inner, EPOLL_CTL_DEL, fd, NULL);
	return 0;
}

static int control(int epfd, int op, int fd, struct ep *ep, const struct epoll_event *event)
{
	struct set *set = set_of(epfd);
	int error = set == NULL && op == EPOLL_CTL_ADD ? set_make(epfd, &set) : 0;

	if (error != 0)
		return error;
	if (set == NULL)
		return -ENOENT;
	switch (op) {
	case EPOLL_CTL_ADD:
		return add(set, fd, ep, event);
	case EPOLL_CTL_MOD:
		return change(set, fd, ep, event);
	case EPOLL_CTL_DEL:
		return drop(set, fd, ep);
	default:
		return -EINVAL;
	}
}

STANDIN_EXPORT int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	struct ep *ep;
	int saved = errno, error;

	if (fd < 0 || epfd == fd || number_get(fd, &ep) != 0) {
		errno = saved;
		return libc_epoll_ctl(epfd, op, fd, event);
	}
	pthread_mutex_lock(&sets.lock);
	error = event == NULL && op != EPOLL_CTL_DEL ? -EFAULT : control(epfd, op, fd, ep, event);
	pthread_mutex_unlock(&sets.lock);
	number_put(ep);
	errno = error < 0 ? -error : saved;
	return error < 0 ? -1 : 0;
}

/* --- waiting --- */

/* The endpoint, referenced, if the number still leads there; a socket that was replaced is watched
 * anew. */
static struct ep *still_there(struct set *set, struct watch *watch)
{
	struct ep *ep;

	if (number_get(watch->fd, &ep) != 0)
		return NULL;
	if (ep == watch->ep) {
		if (ep->inode != watch->inode)
			watch_socket(set, watch, EPOLL_CTL_ADD);
		return ep;
	}
	ep_put(ep);
	return NULL;
}

static bool report(struct watch *watch, struct ep *ep, struct epoll_event *event)
{
	uint32_t bits = watch->done ? 0 : (uint32_t)(uint16_t)readiness(ep, bits_wanted(watch));

	if (bits == 0 || ((watch->event.events & EPOLLET) && !watch->changed))
		return false;
	watch->changed = false;
	watch->done = watch->event.events & EPOLLONESHOT;
	*event = (struct epoll_event){.events = bits, .data = watch->event.data};
	return true;
}

static int report_all(struct set *set, struct epoll_event *events, int max, uint64_t *deadline)
{
	int count = 0;

	for (struct watch **link = &set->first, *watch; (watch = *link) != NULL && count < max;) {
		struct ep *ep = still_there(set, watch);

		if (ep == NULL) {
			*link = watch->next;
			free(watch);
			continue;
		}
		count += report(watch, ep, &events[count]);
		*deadline = readiness_deadline(ep, *deadline);
		ep_put(ep);
		link = &watch->next;
	}
	return count;
}

static void note_changes(struct set *set)
{
	struct epoll_event changed[BATCH];
	int count;

	do {
		count = libc_epoll_pwait(set->inner, changed, BATCH, 0, NULL);
		for (int i = 0; i < count; i++) {
			struct watch *watch = *link_to(set, changed[i].data.fd, NULL);

			if (watch != NULL)
				watch->changed = true;
		}
	} while (count == BATCH);
}

/* What the kernel has to tell of other descriptors; changes of endpoints are noted. */
static int kernel_events(int epfd, struct set *set, struct epoll_event *events, int max)
{
	int count = libc_epoll_pwait(epfd, events, max, 0, NULL), kept = 0;

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == set)
			note_changes(set);
		else
			events[kept++] = events[i];
	}
	return kept;
}

/* The set may be gone after a sleep: its epoll descriptor was closed by another thread. */
static int look(int epfd, struct epoll_event *events, int max, uint64_t *deadline)
{
	struct set *set;
	int count, own = 0;

	pthread_mutex_lock(&sets.lock);
	set = set_of(epfd);
	count = kernel_events(epfd, set, events, max);
	if (set != NULL && count >= 0)
		own = report_all(set, events + count, max - count, deadline);
	pthread_mutex_unlock(&sets.lock);
	return count < 0 ? count : count + own;
}

static int wait_masked(int epfd, struct epoll_event *events, int max, uint64_t deadline,
		       struct sleep_mask *m)
{
	for (;;) {
		struct pollfd fds[1 + WAIT_EXTRA] = {{.fd = epfd, .events = POLLIN}};
		uint64_t until = deadline;
		int result = look(epfd, events, max, &until);

		if (result != 0)
			return result;
		if (deadline != WAIT_FOREVER && wait_now() >= deadline)
			return 0;
		result = sleep_on_all(m, fds, 1, until);
		if (result < 0)
			return result;
	}
}

static int serve_wait(int epfd, struct epoll_event *events, int max, uint64_t deadline,
		      const sigset_t *mask)
{
	struct sleep_mask m;
	int result;

	sleep_mask_begin(&m, mask);
	result = wait_masked(epfd, events, max, deadline, &m);
	sleep_mask_end(&m);
	return result;
}

static bool has_endpoints(int epfd, int max)
{
	bool has;

	if (max <= 0 || sets.first == NULL)
		return false;
	pthread_mutex_lock(&sets.lock);
	has = set_of(epfd) != NULL;
	pthread_mutex_unlock(&sets.lock);
	return has;
}

static int answer(int result, int saved)
{
	number_release_idle();
	errno = result < 0 ? -result : saved;
	return result < 0 ? -1 : result;
}

STANDIN_EXPORT int epoll_pwait(int epfd, struct epoll_event *events, int max, int timeout,
			       const sigset_t *mask)
{
	uint64_t deadline = timeout < 0 ? WAIT_FOREVER : wait_now() + (uint64_t)timeout * NS_PER_MS;
	int saved = errno;

	if (!has_endpoints(epfd, max))
		return libc_epoll_pwait(epfd, events, max, timeout, mask);
	return answer(serve_wait(epfd, events, max, deadline, mask), saved);
}

STANDIN_EXPORT int epoll_wait(int epfd, struct epoll_event *events, int max, int timeout)
{
	return epoll_pwait(epfd, events, max, timeout, NULL);
}

int epoll_pwait2(int epfd, struct epoll_event *events, int max, const struct timespec *timeout,
		 const sigset_t *mask);
STANDIN_EXPORT int epoll_pwait2(int epfd, struct epoll_event *events, int max,
				const struct timespec *timeout, const sigset_t *mask)
{
	uint64_t deadline = timeout == NULL ? WAIT_FOREVER
					    : wait_now() + (uint64_t)timeout->tv_sec * NS_PER_S +
						      (uint64_t)timeout->tv_nsec;
	int saved = errno;

	if (!has_endpoints(epfd, max))
		return LIBC(epoll_pwait2)(epfd, events, max, timeout, mask);
	return answer(serve_wait(epfd, events, max, deadline, mask), saved);
}

/* An epoll descriptor of the application's goes; its number may be another set's next. */
void epoll_forget(int epfd)
{
	if (sets.first == NULL)
		return;
	pthread_mutex_lock(&sets.lock);
	for (struct set **link = (struct set **)&sets.first, *set; (set = *link) != NULL;
	     link = &set->next) {
		if (set->epfd != epfd)
			continue;
		*link = set->next;
		set_free(set);
		break;
	}
	pthread_mutex_unlock(&sets.lock);
}

void epoll_atfork_prepare(void)
{
	pthread_mutex_lock(&sets.lock);
}

void epoll_atfork_parent(void)
{
	pthread_mutex_unlock(&sets.lock);
}

void epoll_atfork_child(void)
{
	pthread_mutex_init(&sets.lock, NULL);
}
