/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker: its client connects to servers and makes random calls, its server answers, and both its segments can be
 * imported by everybody. What it sends is agreed here.
 */
#ifndef SOAK_WORKER_H
#define SOAK_WORKER_H

#include <rsmapi.h>
#include <scif.h>
#include <stddef.h>

#include "board.h"

enum { PAGE = 4096, AREA = PAGE, MOST_PAYLOAD = 20000 };

enum request_kind {
	REQUEST_HELLO,	/* value: life, area: slot */
	REQUEST_ECHO,	/* length bytes of pattern `value` follow */
	REQUEST_STREAM, /* likewise, goes on where the last one ended, is not answered */
	REQUEST_WINDOW, /* the answer's offset is one of AREAS areas */
	REQUEST_VERIFY, /* an area is full of pattern `value` */
	REQUEST_LOOK,	/* at a page of pattern `value` at this offset of the client's */
	REQUEST_BYE,
};

struct request {
	uint32_t kind, length, value, area;
	off_t offset;
};

struct answer {
	uint32_t kind, right;
	off_t offset;
};

struct self {
	int slot;
	uint32_t life;
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t segment;
	unsigned char *segment_memory; /* AREAS pages */
};
extern struct self self;

_Static_assert(SLOTS * PLACES_OF_SLOT * PLACE <= PAGE, "a page has room for the place of every life");

/*
 * A call by the client or the server: what fails must be documented for it. Value and errno of a call of SCIF, the
 * value of one of RSM.
 */
#define SCIF_CALL(part, function, ...) \
	(calling(part, #function), heard_scif(#function, (long)function(__VA_ARGS__)))
#define RSM_CALL(part, function, ...) \
	(calling(part, #function), heard_rsm(#function, function(__VA_ARGS__)))
void calling(enum part part, const char *function);
long heard_scif(const char *function, long result);
int heard_rsm(const char *function, int error);

void step_done(enum part part);

void *pages_new(size_t bytes);

/* The server's part of a step; both end when the soak is over. */
void server_begin(void);
void *server_run(void *unused);
int server_connections(void);

void client_run(void);
bool client_rested(uint32_t pause);

/* The client's calls of RSMAPI on the segments of a slot, and on its own second segment. */
void segments_step(struct dice *dice, int slot);
void segments_rest(void);

#endif
