/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints: what a descriptor number means to this process. An endpoint is an
 * AF_UNIX stream socket from scif_open to scif_close; several numbers (dup) may
 * name the same one.
 */
#ifndef SCIF_EMBEDDED_ENDPOINT_H
#define SCIF_EMBEDDED_ENDPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "connection.h"
#include "scif.h"

enum ep_state { EP_UNBOUND, EP_BOUND, EP_LISTENING, EP_CONNECTING, EP_CONNECTED, EP_DISCONNECTED };

/* A request that accept could not complete for want of something, kept for the next call. */
struct request;

struct ep {
	_Atomic uint32_t
		refs; /* table numbers and calls; memory of an endpoint is never given back */
	_Atomic uint32_t numbers; /* descriptor numbers in the table */
	_Atomic int fd;		  /* one of them */
	ino_t inode;
	pthread_mutex_t lock; /* state changes; never held while sleeping */
	_Atomic uint32_t
		state; /* enum ep_state; DISCONNECTED is found out by asking the connection */
	_Atomic bool closed;
	bool connecting_call; /* a blocking connect waits */
	bool uncollected;     /* the outcome of a non-blocking connect was not fetched */
	bool unusable;	      /* its socket was used up and could not be replaced yet */
	uint16_t port;
	int backlog;
	/* stored outcome of a non-blocking connect, negative errno */
	int failure;
	_Atomic(struct conn *) conn; /* from connecting on */
	struct request *kept;	     /* oldest first; under lock */
	struct request *served;	     /* by threads in scif_accept; under lock */
	struct ep *next_free;
	struct ep *next, *prev; /* all endpoints in use; under the table lock */
};

/*
 * Takes a reference. 0, -EBADF (number not open), -ENOTTY (open, no endpoint).
 * On a connected endpoint this costs no lock, and a system call only when the
 * kernel was not asked for 50 us.
 */
int ep_get(scif_epd_t epd, struct ep **ep);
void ep_put(struct ep *ep);

/*
 * The check that opens every RMA, window and fence call: disconnected
 * -ECONNRESET, not connected -ENOTCONN, node lost -ENODEV, else 0. The
 * connection is valid as long as the endpoint reference is held; conn_get it
 * to keep it longer.
 */
int ep_rma_ready(struct ep *ep, struct conn **c);

/* fork: called by the handlers that fork.c registers, around its own part. */
void ep_atfork_prepare(void);
void ep_atfork_parent(void);
void ep_atfork_child(void);
void ep_atfork_child_last(void); /* takes locks of endpoints, so no lock of fork is held any more */

/* --- for the calls on endpoints themselves --- */

/* As ep_get, but always makes sure that the number still is this endpoint. */
int ep_get_sure(scif_epd_t epd, struct ep **ep);

/* As ep_get, for a caller that is about to poll the descriptor itself. */
int ep_get_unasked(scif_epd_t epd, struct ep **ep);

/* A new socket as endpoints use it; descriptor or -errno. */
int ep_socket(void);
/* An endpoint without a number; NULL when out of memory. One reference. */
struct ep *ep_create(void);
/* Gives a descriptor to it and shows it under that number; 0 or -errno (then fd is still the
 * caller's). */
int ep_attach(struct ep *ep, int fd);
/* Forgets the number; false when another thread did so first. */
bool ep_detach(struct ep *ep, int number);
/* The same around close(2) of the number; false when another thread closes it. */
bool ep_close_begin(struct ep *ep, int number);
void ep_close_end(int number);
/*
 * Goes over to another number of the same socket, known or not, except the one
 * that is being closed; false when there is none in this process.
 */
bool ep_move(struct ep *ep, int closing);
/* The last number is going: wakes the sleepers and ends the connection in this process. */
void ep_shut(struct ep *ep);
/* True inside a signal handler that interrupted another library call of this thread. */
bool ep_nested(void);

/* State as the text knows it: connecting may turn out to be over, connected to be disconnected. */
enum ep_state ep_state_now(struct ep *ep);
/* For send and recv: -ENOTCONN or 0 with the connection. */
int ep_connection(struct ep *ep, struct conn **c);
void ep_publish(struct ep *ep); /* to the registry */

#endif
