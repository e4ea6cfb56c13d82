/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both fuzz targets stand on: a process that uses the library, with an innocent connection
 * inside, and a peer of another user that is made by hand, without the library, in the same
 * process. Whatever the peer does, the process must not crash, touch what is not its peers', or
 * lose a descriptor; every call ends when the peer is gone; the innocent connection goes on.
 */
#ifndef FUZZ_HOSTILE_H
#define FUZZ_HOSTILE_H

#include <scif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "hand_made.h"
#include "request.h"

enum {
	PAGE = 4096,
	WINDOW_PAGES = 4,
	WINDOW = WINDOW_PAGES * PAGE,
	STORE_SIZE = 1 << 20,
	FDS_MOST = HAND_MADE_FDS
};

/* --- input --- */

/* Bytes of the input, zero when they are used up. */
struct input {
	const uint8_t *at, *end;
};

uint8_t take8(struct input *in);
uint64_t take(struct input *in, unsigned bytes);
/* A number of up to 64 bits, often one at which something changes. */
uint64_t take_number(struct input *in);

/* --- the process --- */

/* Once; later calls do nothing. */
void begin(void);
/* What an input has left behind is put away, and the properties hold. */
void finish(void);
/* The innocent connection carries messages, transfers and new windows. */
void innocent_goes_on(void);
/* A broken property: says so and aborts. */
void broken(const char *property);

/* Memory that calls of the victim may be given. */
extern unsigned char buffer[1 << 16];

/* Around a call that may wait for the peer: it leaves when that takes long. */
void call_begins(void (*leave)(void));
void call_ends(void);

/* --- the peer --- */

/* From here until as_ourselves this thread is another user to the kernel, if we are root. */
void as_another(void);
void as_ourselves(void);

enum file_kind {
	FILE_BLOCK,
	FILE_STORE,
	FILE_SOCKET,
	FILE_PIPE,
	FILE_UNSEALED,
	FILE_OTHER_SIZE,
	FILE_OTHER_MAGIC,
	FILE_READ_ONLY,
	FILE_HUGE,
	FILE_EMPTY,
	FILE_EVENT,
	FILE_STREAM,
	FILE_KINDS
};
/* The caller's to close. *other: the far end of what has one. */
int file_of_kind(enum file_kind kind, int *other);

/* A socket bound to scif/FABRIC/...; and a message with descriptors. */
int socket_named(const char *format, int port);
int reach(int sock, const char *format, int port);
int send_with(int to, const void *bytes, size_t length, const int *fds, size_t count);
/* Descriptors that come are stored. */
long receive_with(int from, void *bytes, size_t length, int *fds, size_t *count);

/* A peer that has made its way to a connection, as an honest one would have. */
struct peer {
	int sock, talk;
	int side; /* its own in the block */
	struct block *block;
	unsigned char *store; /* its own */
	scif_epd_t victim;
};

/* The victim accepts or connects. */
void peer_connects(struct peer *p);
void peer_is_reached(struct peer *p);
/* It goes without a word; also from another thread. */
void peer_leaves(struct peer *p);
/* And what is left of it. */
void peer_end(struct peer *p);

/* The victim's listener, for connectors made by hand. */
extern scif_epd_t victim_listener;
/* A non-blocking scif_accept there, again where it was interrupted: the fuzzer has a timer of its own, and what was
 * interrupted is served first by the next call. */
int accept_next(struct scif_portID *who, scif_epd_t *epd);
enum { LISTENER_PORT = 2000, FALSE_PORT = 3000, PEER_PORT = 4000, FILLER = 9000 };

#endif
