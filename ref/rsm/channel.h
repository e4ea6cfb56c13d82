/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A SCIF connection between an importer and an exporter that carries the messages of wire.h. Input
 * is read by the service thread, output that finds no room waits in the channel; nothing here
 * blocks.
 */
#ifndef RSM_CHANNEL_H
#define RSM_CHANNEL_H

#include <scif.h>
#include <stdatomic.h>
#include <stddef.h>

#include "service.h"
#include "wire.h"

enum channel_state {
	CHANNEL_UP,
	CHANNEL_ABORTED,   /* the exporter announced the end */
	CHANNEL_LOST,	   /* the peer is gone without a word, or broke the rules */
	CHANNEL_NODE_LOST, /* so is its node */
	CHANNEL_FORKED	   /* in a forked child: its copy of the connection was closed */
};

struct channel {
	/* to be set before channel_open() */
	void *owner;
	/*
	 * A whole message has come; payload holds m->length bytes and is gone after the return.
	 * Lock held, in the service thread or in a thread that asked for the state. May send and
	 * end the channel, not close it: CHANNEL_LOST drops the connection, `lost` follows.
	 */
	void (*message)(struct channel *c, const struct wire_message *m, const void *payload);
	/*
	 * May be NULL: all messages that were there have been handled, in the same hold of the
	 * lock. May send and end the channel.
	 */
	void (*idle)(struct channel *c);
	/*
	 * Once, when the connection is gone, whatever the reason. Lock held, nothing touches the
	 * channel afterwards: an owner whose endpoint no other thread uses may close and free it.
	 */
	void (*lost)(struct channel *c);

	/* to be read */
	scif_epd_t epd; /* -1 when closed */
	uint16_t node;	/* of the peer */
	_Atomic unsigned state;

	/* private */
	_Atomic uint64_t asked; /* when the kernel was last asked, ns */
	struct watch watch;
	bool gone, clogged;
	unsigned char *in, *out;
	size_t in_need, in_used, out_size, out_used;
	unsigned char in_room[WIRE_SIZE], out_room[4 * WIRE_SIZE];
	uint64_t signals;     /* still to be told to the peer */
	bool one_more_signal; /* unless one is pending there */
};

/*
 * Lock held; the service must be in use. On success the endpoint is the channel's. 0, -ENOMEM.
 * Input that is there already is delivered by the service thread later, not inside this call.
 */
int channel_open(struct channel *c, scif_epd_t epd, uint16_t node);

/*
 * Lock held. Allows messages with payload on a channel, open or about to be opened, which need a
 * buffer that channel_close() frees: 0, -ENOMEM.
 */
int channel_relay(struct channel *c);

/*
 * Lock held. Sends or queues the whole message or nothing: 0, -ENOMEM, -ECONNRESET (the channel is
 * not UP), -ENODEV. magic, version and length of the header are filled in on the way. A message
 * without payload on a channel that is not clogged needs no memory.
 */
int channel_send(struct channel *c, const struct wire_message *m, const void *payload, size_t n);

/*
 * Lock held. Sends one signal; never fails on a channel that is UP: what finds no room is counted
 * and goes out later. 0, -ECONNRESET, -ENODEV.
 */
int channel_signal(struct channel *c, bool accumulate);

/*
 * The state as one could know it: the flag, and the kernel's answer if the last one is older than
 * 50 us. Lock NOT held; takes it only when the connection turns out to be gone, to read what the
 * peer had said before (an announced end stays an announced end). Safe in any thread that keeps
 * the channel from being closed (handle_enter).
 */
unsigned channel_state(struct channel *c);
/* What is known so far; asks nobody. */
unsigned channel_last_state(const struct channel *c);
/* Always asks the kernel, and first reads what has arrived. Lock NOT held. */
unsigned channel_state_now(struct channel *c);

/* Lock held. Whether output waits for room, on a connection that can still take it. */
bool channel_unsent(const struct channel *c);

/* Lock held. Reads what has arrived, now instead of in the service thread. The owner may close. */
void channel_take_input(struct channel *c);

/*
 * Lock held. Leaves CHANNEL_UP for the state given, unless it was left before; true if this call
 * did it. Does not close the connection.
 */
bool channel_end(struct channel *c, enum channel_state state);

/*
 * Lock held. As channel_close(), but the endpoint stays open and is the caller's; -1 if it was
 * closed.
 */
scif_epd_t channel_abandon(struct channel *c);

/*
 * Lock held. Closes the endpoint and frees what the channel holds; the state becomes CHANNEL_LOST
 * if it was UP. Harmless on a closed or zeroed one with epd -1. No transfer of another thread may
 * use the endpoint.
 */
void channel_close(struct channel *c);

/*
 * In a forked child: closes the copy. UP becomes FORKED.
 */
void channel_atfork_child(struct channel *c);
/* In a forked child: no channel has output any more. */
void channel_atfork_child_all(void);

#endif
