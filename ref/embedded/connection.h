/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection as one process sees it: the block shared with the peer, the
 * memory shared only with the processes of our own side (by fork), the two
 * descriptors, and the question whether the peer is still there.
 */
#ifndef SCIF_EMBEDDED_CONNECTION_H
#define SCIF_EMBEDDED_CONNECTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "block.h"
#include "patience.h"

struct mem_conn; /* memory half, store.h / window.h */

/*
 * Shared by the processes that hold this side (anonymous shared memory, passed
 * on by fork), never by the peer: glibc's robust mutexes keep list pointers
 * inside themselves, which a hostile peer must not be able to write.
 */
struct conn_side {
	pthread_mutex_t send; /* robust, process-shared */
	pthread_mutex_t recv;
	pthread_mutex_t mem;	      /* for the memory half */
	_Atomic uint32_t send_asleep; /* the holder of `send` waits for room */
	_Atomic uint32_t recv_asleep; /* the holder of `recv` waits for data */
	uint32_t bell_removals;	      /* doorbell bytes still to be taken off; under recv */
	uint32_t bell_tokens; /* doorbell messages still to be sent, see bell.c; under send */
	uint32_t send_seen;   /* for ring_put; under send */
	uint64_t recv_seen;   /* for ring_take; under recv */
	struct patience send_patience, recv_patience; /* under send, recv */
	struct patience recv_lag;		      /* under recv */
	bool broken;				      /* the peer wrote nonsense into the block */
	_Atomic bool
		forked;	  /* several processes may hold this side, and one of them may be killed */
	_Atomic int gone; /* first reason the connection ended: 0, ECONNRESET, ENODEV */
};

struct conn {
	struct block *block;
	int side;	  /* ours: SIDE_CONNECTOR or SIDE_ACCEPTOR */
	_Atomic int sock; /* a descriptor number of the endpoint's socket, -1 once closed here */
	int ctl;	  /* control socket */
	bool same_class;  /* the peer has our euid */
	uid_t peer_uid;
	uint16_t node, port; /* ours */
	uint16_t peer_node, peer_port;
	uint32_t incarnation, peer_incarnation;
	uint32_t filler, peer_filler; /* lengths of J, ours and the peer's */
	struct conn_side *own;
	struct mem_conn *mem; /* memory half; NULL before mem_conn_init */

	ino_t inode, ctl_inode; /* what sock and ctl must be */
	_Atomic uint64_t asked; /* when the kernel was last asked, by age_now */
	_Atomic uint64_t known; /* when the identity of sock was last checked, the same */
	_Atomic bool closed;	/* scif_close was called in this process */
	bool last_holder;	/* what conn_last_holder found at that time */
	_Atomic uint32_t refs;
	struct conn *next, *prev; /* all connections of the process; under conn_list lock */
};

void conn_get(struct conn *c);
/* Closes the control socket before the end, when others go on with this side. */
void conn_drop_control(struct conn *c);
void conn_put(struct conn *c); /* the last one calls mem_conn_free and closes ctl */

/*
 * 0, -ECONNRESET or -ENODEV. Asks the kernel when its last answer is older
 * than 50 us; costs no system call otherwise.
 */
int conn_alive(struct conn *c);
/* The same, but always asks. */
int conn_ask(struct conn *c);
/* Asks through this number; -EBADF when it is no longer the endpoint's socket. */
int conn_question(struct conn *c, int number);
bool conn_answer_old(const struct conn *c);
/* Whether the number still is the endpoint's socket, and whether that was asked lately. */
bool conn_identify(struct conn *c, int number);
bool conn_identity_old(const struct conn *c);

/*
 * Sleeps while *word == seen. Returns 0 when it changed (or may have),
 * -ECONNRESET, -ENODEV, or -EINTR (signal, or scif_close in this process).
 */
int conn_wait_word(struct conn *c, _Atomic uint32_t *word, uint32_t seen);
void conn_wake_word(_Atomic uint32_t *word);

/*
 * Messages with a descriptor over the control socket. conn_recv_fd does not
 * block (-EAGAIN); fewer bytes than len is -EPROTO; *fd is -1 when none came.
 * One message is received whole. fd -1 sends none.
 */
int conn_send_fd(struct conn *c, const void *msg, size_t len, int fd);
int conn_recv_fd(struct conn *c, void *msg, size_t len, int *fd);
/* The same for a message that stays until it is dropped, so that one that meets a shortage is not lost. */
int conn_peek_fd(struct conn *c, void *msg, size_t len, int *fd);
void conn_drop_fd(struct conn *c);

/* Robust lock of this side's memory state, which is put right when the last owner died inside. */
void conn_lock_mem(struct conn *c);
void conn_unlock_mem(struct conn *c);
#ifdef FAULT_POINTS
/* Every place that takes the lock is a fault point by the name of its function. */
#define conn_lock_mem(c) conn_lock_mem_at(c, __func__)
void conn_lock_mem_at(struct conn *c, const char *function);
#endif

/*
 * True unless another process of our side (fork) or another descriptor (dup)
 * still holds the endpoint. mem_conn_closed is called by every process that
 * closes; it drops this side's windows only when this is true.
 */
bool conn_last_holder(struct conn *c);

/* Calls visit for every connection of the process with the list locked. */
void conn_for_each(void (*visit)(struct conn *c, void *arg), void *arg);

struct block *conn_block_create(int *memfd);	   /* NULL + errno */
int conn_block_map(int memfd, struct block **out); /* checks seals, size, magic; 0 or -errno */
struct conn *conn_create(int side);		   /* NULL when out of memory */
/* The control socket becomes the connection's to close; -EPROTO when it is no socket. */
int conn_set_control(struct conn *c, int number);
bool conn_is_control(int number);
void conn_mark_gone(struct conn *c, int reason); /* keeps the first reason */
/* What memory alone tells: 0, -ECONNRESET, -ENODEV; asks nobody. */
int conn_gone(struct conn *c);
void conn_publish_close(struct conn *c);
void conn_atfork_prepare(void);
void conn_atfork_parent(void);
void conn_atfork_child(void);

#endif
