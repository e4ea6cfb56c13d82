/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All sleeping of the library: on descriptors, always together with the
 * process's datagram socket (node changes) and its wake descriptor (scif_close
 * in another thread).
 */
#ifndef SCIF_EMBEDDED_WAIT_H
#define SCIF_EMBEDDED_WAIT_H

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { WAIT_EXTRA = 2 }; /* entries that wait_sleep adds after the caller's */

/* Makes the wake descriptor; 0 or -errno. */
int wait_init(void);

/*
 * Between enter and leave a wake_sleepers of another thread is not lost: look
 * at the condition after wait_enter, then sleep.
 */
struct wait {
	uint32_t slot;
};
void wait_enter(struct wait *w);
void wait_leave(struct wait *w);

/*
 * What a call that sleeps again and again keeps from its first sleep to its end: the signals that
 * were let in when it began. In between they get in only while it sleeps, as in a system call;
 * otherwise one that came together with a wake-up for another thread would be handled and not end
 * the call. Begin with
 * {.held = false}; every way out of the call goes through wait_signals_release.
 */
struct wait_signals {
	bool held;
	sigset_t let_in;
};
void wait_signals_hold(struct wait_signals *signals); /* a first sleep does it by itself */
void wait_signals_release(struct wait_signals *signals);

/*
 * fds has room for count + WAIT_EXTRA entries. deadline is in ns of
 * wait_now(), WAIT_FOREVER or 0 (do not sleep). Returns ready entries of the
 * caller, 0 (time is up or woken), or -errno (-EINTR: signal). signals may be NULL: a signal ends
 * this sleep at most.
 */
#define WAIT_FOREVER UINT64_MAX
int wait_sleep(struct wait_signals *signals, struct pollfd *fds, nfds_t count, uint64_t deadline);
uint64_t wait_now(void);
struct timespec wait_timespec(uint64_t ns);

/*
 * Sleeps until fd shows one of events, HUP or ERR. 0 with *revents (0 when
 * woken for another reason), -EINTR for a signal or when *closed is set.
 */
int wait_fd(const _Atomic bool *closed, struct wait_signals *signals, int fd, short events,
	    uint64_t deadline, short *revents);

/* Every sleeper returns from its present sleep. */
void wake_sleepers(void);

int futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns, bool shared);
void futex_wake(_Atomic uint32_t *word, bool shared);

void wait_atfork_prepare(void);
void wait_atfork_parent(void);
void wait_atfork_child(void);

#endif
