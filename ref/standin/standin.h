/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the stand-in share.  It answers as the Knights Corner driver was observed to
 * (the module `mic` of MPSS 3, in loopback; the successor's with SCIF_STANDIN=mpss4 differs in its
 * device and encodings only), with a fabric of its own behind it.
 *
 * Operations return >= 0 on success and a negative errno otherwise, as a driver's do; the calls of
 * the C library that an application makes are turned into them in file.c, poll.c and epoll.c.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "connection.h"
#include "endpoint.h"
#include "wait.h"

#define STANDIN_EXPORT __attribute__((visibility("default")))

/* --- device.c: the device node --- */

bool device_is(int dir, const char *path);
bool device_is_mpss4(void);
/* How long a connect waits for its accept, in ns. */
uint64_t device_watchdog(void);
/* The driver was loaded with ulimit=1. */
bool device_counts_locked(void);
/* Whether the machine that is acted has the node; its state is the fabric's matter. */
bool device_has_node(uint16_t node);

/* --- number.c: descriptor numbers and what the driver knows of each endpoint --- */

/* Of a listening endpoint, shared by all processes that hold it. */
struct listening {
	_Atomic int32_t accepter; /* the process that looked for a request last */
	_Atomic uint32_t closed;  /* that one closed a descriptor of it, or ended */
};

struct wish;

struct open_file {
	struct open_file *next;
	struct ep *ep;
	_Atomic(struct listening *) listening;
	_Atomic uint64_t deadline;   /* of a connect that was not accepted yet */
	_Atomic(struct wish *) wish; /* of one that does not block */
};

/* The endpoint behind a number, referenced, or -EBADF, -ENOTTY.  Cheap when there never was one. */
int number_get(int number, struct ep **ep);
void number_put(struct ep *ep);
bool number_is_ours(int number);
int number_open(int flags);
int number_close(struct ep *ep, int number);
/* Makes the number a new endpoint's: ep's, which gives up the number `from`. */
int number_take_over(int number, int from);
struct open_file *open_file_of(struct ep *ep);
/* For an endpoint that was just made: 0 or -ENOMEM. */
int open_file_reset(struct ep *ep);
/* Ends endpoints that were closed while a call or a mapping still held them. */
void number_release_idle(void);
/* The listener was closed by the process that accepts on it. */
bool listening_ended(struct ep *ep);

/* --- room.c --- */

/* Around work of the fabric that takes descriptors. */
void room_enter(void);
void room_leave(void);
void room_atfork_prepare(void);
void room_atfork_parent(void);
void room_atfork_child(void);

/* --- sleep.c --- */

/*
 * Sleeps until fd shows one of events or an end, or the time is up, or for no reason; *revents is
 * what it shows.  -EINTR for a signal, with `restarts` not for one with SA_RESTART: such a call
 * goes on.  A call has its signals released at its end, by wait_signals_release.
 */
int sleep_on_fd(struct wait_signals *signals, bool restarts, int fd, short events,
		uint64_t deadline, short *revents);
/* The same until the word has changed or the peer is gone. */
int sleep_on_word(struct wait_signals *signals, bool restarts, struct conn *c,
		  _Atomic uint32_t *word, uint32_t seen);

/* For poll and its kin: every handler ends the call, and a mask given is in force in its sleeps. */
struct sleep_mask {
	struct wait_signals signals;
	struct wait_signals callers; /* held: a mask was given, and this is the caller's own */
};
void sleep_mask_begin(struct sleep_mask *m, const sigset_t *mask);
void sleep_mask_end(struct sleep_mask *m);
/* There is room for WAIT_EXTRA entries after the caller's. */
int sleep_on_all(struct sleep_mask *m, struct pollfd *fds, nfds_t count, uint64_t deadline);

/* --- the driver's requests --- */

int driver_bind(int number, uint16_t port);
int driver_listen(struct ep *ep, int number, int backlog);
int driver_connect(struct ep *ep, const struct scif_portID *peer);
/* The new endpoint stays without a number until driver_accept_complete gives it one. */
int driver_accept(struct ep *ep, int flags, struct scif_portID *peer, uint64_t *handle);
int driver_accept_complete(int number, uint64_t handle);
void driver_accept_forget(struct ep *listener);
void driver_accept_forked(void);
/* Waits for a connect that was started without blocking. */
void driver_connect_finish(struct ep *ep);
/* One that the worker has not come to. */
bool driver_connect_queued(struct ep *ep);
/* The worker's part, if the wish is still the endpoint's. */
void driver_connect_serve(struct ep *ep, const struct wish *wish, const struct scif_portID *dst);
void driver_connect_settle(struct ep *ep, const struct wish *wish);

int driver_send(struct ep *ep, const void *bytes, int len, int flags);
int driver_recv(struct ep *ep, void *bytes, int len, int flags);

/* Opens every call on memory: -ECONNRESET, -ENOTCONN, or the connection. */
int driver_ready(struct ep *ep, struct conn **c);
off_t driver_register(struct ep *ep, void *addr, size_t len, off_t offset, int prot, int flags);
int driver_unregister(struct ep *ep, off_t offset, size_t len);
int driver_map(struct ep *ep, void **place, void *addr, size_t len, int prot, int flags,
	       off_t offset);
/* addr NULL: a transfer between windows. */
int driver_copy(struct ep *ep, off_t loffset, void *addr, size_t len, off_t roffset, int flags,
		bool read);
int driver_fence_mark(struct ep *ep, int flags, int *mark);
int driver_fence_wait(struct ep *ep, int mark);
int driver_fence_signal(struct ep *ep, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
			int flags);
int driver_get_nodes(uint16_t *nodes, int len, uint16_t *self);

/* --- worker.c --- */

/* Asks for the turn; NULL when memory is short.  With ep->lock held, as the next two. */
struct wish *worker_wish(struct ep *ep, const struct scif_portID *dst);
bool worker_has_turn(const struct wish *wish);
/* From here on the thread looks after it. */
void worker_entrust(struct wish *wish);
/* The endpoint's wish has come to its end, if there is one: the next one has its turn. */
void worker_over(struct ep *ep);
void worker_atfork_prepare(void);
void worker_atfork_parent(void);
void worker_atfork_child(void);

/* --- port.c --- */

bool port_listens(int number);
/* The endpoint is shared with the processes of a fork, and one of them has begun to listen on it.
 */
void port_see_listening(struct ep *ep);

/* --- window.c --- */

/* Closes the windows that the range touches: -ENXIO. */
int window_remove_range(struct conn *c, uint64_t page, uint64_t pages);

/* --- pin.c --- */

/* From now on some memory may be marked as not for forked children. */
void pin_set_apart(void);

/* --- ioctl.c --- */

int request_serve(int number, struct ep *ep, unsigned long request, void *argument);

/* --- poll.c --- */

/* What the endpoint shows to who asks for `events`: what poll(2) on the driver's file answers. */
short readiness(struct ep *ep, short events);
/* What to ask the kernel for, so that a change of the readiness is noticed. */
short readiness_interest(struct ep *ep, short events);
/* The kernel showed something of the socket that is no readiness. */
void readiness_calm(struct ep *ep, short shown);
/* When it has to be looked at again although nothing was shown. */
uint64_t readiness_deadline(struct ep *ep, uint64_t deadline);

/* --- epoll.c --- */

void epoll_forget(int epfd);
void epoll_atfork_prepare(void);
void epoll_atfork_parent(void);
void epoll_atfork_child(void);

#endif
