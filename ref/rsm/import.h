/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Imported segments: a connection to the exporter, the window on it that shows the segment, at most
 * one mapping, and the barriers.
 */
#ifndef RSM_IMPORT_H
#define RSM_IMPORT_H

#include <rsmapi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barrier.h"
#include "channel.h"
#include "segment.h"

struct relay_request;

struct import {
	struct segment segment; /* first */
	struct channel channel;

	rsm_node_id_t node;
	rsm_memseg_id_t id;
	rsm_permission_t permission;
	uint64_t size; /* of the segment, in bytes */

	/*
	 * What the exporter answered. Written before the import can be found, and in a forked
	 * child before `orphan` is taken back, except for the window, which a rebind moves.
	 */
	bool swapped; /* the exporter's byte order is not ours */
	bool relay;
	_Atomic off_t window;

	_Atomic bool orphan; /* in a forked child: not connected anew yet */
	/* Under the library lock, as everything below that is not atomic. */
	bool attached;	 /* uses the service */
	bool connecting; /* a thread is at it */

	/*
	 * Transfers in progress, counted in one of two places by the parity of `phase`. An order of
	 * the exporter is answered when those that began before it have ended: it changes the phase
	 * and waits for the other count to become zero.
	 */
	_Atomic uint32_t phase;
	_Atomic uint32_t under_way[2];
	_Atomic bool answer_owed;
	bool another_order; /* came while the answer to the first was owed */
	uint32_t order_serial;
	struct {
		bool owed; /* ordered, not yet done */
		off_t window;
		uint32_t serial;
	} rebind;

	_Atomic int mode; /* rsm_barrier_mode_t */
	_Atomic bool loss_told;
	struct barrier_set barriers;

	struct mapping {
		void *address; /* NULL: none */
		size_t length; /* whole pages */
		off_t offset;  /* in the segment */
		int prot;      /* SCIF_PROT_* */
		bool scrap;    /* the memory is not the segment's any more */
	} mapping;

	struct relay_request *requests;
	uint32_t last_serial;
};

/* --- import.c --- */

/* Begins the use of the import that a handle names; NULL if it names none. */
struct import *import_enter(const void *handle);
void import_leave(struct import *m);

/*
 * In a forked child the import has no connection until it is used: makes one. 0, also when the
 * exporter has none to give any more and the import is lost; -ENOMEM or -EMFILE, and the next use
 * tries again. Lock NOT held. Costs one load where there was no fork.
 */
int import_attach(struct import *m);

/* import_attach(), then channel_state() or channel_state_now(). */
unsigned import_state(struct import *m);
unsigned import_state_now(struct import *m);

/*
 * The RSMERR value for what comes upon a connection in a state that is not CHANNEL_UP. The first
 * that had begun while it was up tells of an unannounced end as a failure.
 */
int import_loss(struct import *m, unsigned state, bool began_up);

/* --- importer.c: what the exporter says --- */

void importer_message(struct channel *c, const struct wire_message *m, const void *payload);
void importer_idle(struct channel *c);
void importer_lost(struct channel *c);

/* Around each transfer through the window; the result of the first is for the second. No lock. */
unsigned transfer_begin(struct import *m);
void transfer_end(struct import *m, unsigned place);
/* In a forked child: the threads that were at it do not exist here. */
void transfer_atfork_child(struct import *m);

/* --- signal_wait.c; lock held --- */

/* Signals that have been posted to the segment by now arrive. */
void segment_take_input(struct segment *s);

/* --- map.c; lock held --- */

/* Shows the window in its present place again. 0 or -errno, and then the mapping is scrap. */
int mapping_renew(struct import *m);
/*
 * Puts memory under the mapping that is nobody's. In a forked child it is so until the import is
 * connected anew.
 */
void mapping_scrap(struct import *m);

/* --- relay_client.c: transfers over messages --- */

/*
 * n <= WIRE_PAYLOAD_MAX; `data` is memory of the library. 0, -ENOMEM, -ECONNRESET, -EIO (the
 * exporter refused), -ECANCELED (the import is being disconnected), -EINTR (only if interruptible).
 */
int relay_put(struct import *m, off_t offset, const void *data, size_t n, bool interruptible);
int relay_get(struct import *m, off_t offset, void *data, size_t n, bool interruptible);
/* DONE has come; lock held. */
void relay_done(struct import *m, const struct wire_message *answer, const void *payload);

#endif
