/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listeners, requests and connections that a scenario makes by hand, where the ready-made fixtures
 * do not tell enough: which port somebody listens on, which endpoint of the peer asked, who accepts
 * when.
 */
#ifndef SCIF_ENDS_H
#define SCIF_ENDS_H

#include "scenario.h"

/* A listening endpoint of this process, and how others reach it. */
struct listener {
	scif_epd_t epd;
	struct scif_portID at;
};
struct listener ends_listen(int backlog);

/* A listening endpoint of a peer. */
struct far_listener {
	struct cts_peer *peer;
	int epd;
	struct scif_portID at;
};
struct far_listener ends_far_listen(struct cts_peer *peer, int backlog);

/* A connect of the peer that runs in a thread of its own there. */
struct request {
	struct cts_peer *peer;
	int far, tag;
};
struct request ends_request_begin(struct cts_peer *peer, struct scif_portID at);
struct request ends_request(struct cts_peer *peer,
			    struct scif_portID at); /* and it waits to be accepted */
/* So many requests of the peer, waiting in this order. */
#define ENDS_MOST_REQUESTS 16
void ends_requests(struct cts_peer *peer, struct scif_portID at, struct request *waiting,
		   int count);
struct cts_result ends_request_end(const struct request *r);
struct cts_result ends_connect_of(struct cts_peer *peer, int far,
				  struct scif_portID at); /* blocking */
int ends_far_open(struct cts_peer *peer);

/* Accepts the oldest request, which has to be `r`; our end, known to cts_far_*. */
scif_epd_t ends_accept(scif_epd_t listener, const struct request *r);
/* The same with a fresh request of the peer. */
scif_epd_t ends_serve(struct listener at, struct cts_peer *peer);

/* Connects epd to the far listener, which accepts it: the port; epd is known to cts_far_*. */
int ends_connect(scif_epd_t epd, struct far_listener at);
/* The peer accepts a request of ours that waits already; epd is known to cts_far_*. */
void ends_far_accept(struct far_listener at, scif_epd_t epd);

/* Whether r collects a non-blocking connect: the port, or 0, which the text allows too. */
bool ends_collected(struct cts_result r, int port);

static inline bool ends_refused(struct cts_result r)
{
	return cts_failed_with(r, ECONNREFUSED);
}

/* A byte there and one back; both ends are ours. */
bool ends_talk(scif_epd_t one, scif_epd_t other);

/* The profile knc: the driver leaves callers asleep when another thread closes their endpoint. */
bool ends_driver(void);

/* A result of another thread becomes what the scenario observed. */
struct cts_result ends_observe_error(struct cts_result r, int err, const char *text);

/* Two pipes between a process and its child: each side waits for a byte of the other. */
struct turns {
	int to_child[2], to_parent[2];
};
struct turns turns_open(void);
void turns_close(struct turns *t);
void turn_to_child(const struct turns *t);
bool turn_of_child(const struct turns *t); /* in the child: waits; false when the parent is gone */
void turn_to_parent(const struct turns *t);
void turn_of_parent(const struct turns *t); /* in the parent: waits */

#endif
