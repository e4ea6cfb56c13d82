/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exporters and importers that a scenario makes by hand, in peers, in children and in this process,
 * where the ready-made fixtures do not tell enough: who allows what to whom, who is killed or
 * stopped when.
 */
#ifndef RSM_PARTIES_H
#define RSM_PARTIES_H

#include "cts_rsm.h"

#include <stdatomic.h>

/* Declares and begins the scenario that clauses name NAME. */
#ifndef SCENARIO
#define SCENARIO(name)                                                                             \
	void cts_scenario_##name(void);                                                            \
	void cts_scenario_##name(void)
#endif

/* Notes what a call gave as what the scenario observed; FAIL, and the case ends, unless it is
 * `wanted`. */
#define EXPECT(call, wanted) parties_expect((call), (wanted), #call " gives " #wanted)
void parties_expect(int got, int wanted, const char *text);

/* The error that a peer's call gave, or RSM_SUCCESS. */
static inline int value_of(struct cts_result r)
{
	return r.ret == -1 ? r.err : RSM_SUCCESS;
}

/* Lists of nodes. */

#define EVERYTHING 0666
struct list {
	unsigned count;
	rsmapi_access_entry_t entries[4];
};
struct list list_of(rsm_node_id_t node, rsm_permission_t digits);
struct list list_and(struct list l, rsm_node_id_t node, rsm_permission_t digits);

/* One more peer on the node of cts_peer(). */
struct cts_peer *second_peer(void);
/* One more on our own node. */
struct cts_peer *neighbour(void);

/* A segment that a peer exports; numbers are the peer's. */
struct far_export {
	struct cts_peer *peer;
	intptr_t handle, memory;
	size_t len;
	rsm_memseg_id_t id;
};
struct far_export far_create(struct cts_peer *peer, size_t pages, unsigned flags); /* pattern 3 */
struct cts_result far_publish(struct far_export *e, rsm_memseg_id_t id, struct list l);
struct far_export far_published(struct cts_peer *peer,
				size_t pages); /* to everybody, id assigned */

/* A connection of a peer, with a barrier. */
struct far_import {
	struct cts_peer *peer;
	intptr_t handle;
};
struct cts_result far_try(struct cts_peer *peer, rsm_node_id_t node, rsm_memseg_id_t id,
			  rsm_permission_t perm);
struct far_import far_connect(struct cts_peer *peer, rsm_node_id_t node, rsm_memseg_id_t id,
			      rsm_permission_t perm);
/* Connects and disconnects: the value of the connect. */
int far_can_connect(struct cts_peer *peer, rsm_node_id_t node, rsm_memseg_id_t id,
		    rsm_permission_t perm);
void far_disconnect(struct far_import i);
intptr_t far_map(struct far_import i, rsm_permission_t perm, off_t offset, size_t len);
/* Gets these bytes and compares them with the pattern. */
bool far_reads(struct far_import i, off_t offset, size_t n, unsigned seed, size_t from);
int far_put(struct far_import i, off_t offset, size_t n, unsigned seed, size_t from);
int far_get8(struct far_import i); /* the value of a get of the first byte */
bool far_mapping_is(struct far_import i, intptr_t at, size_t n, unsigned seed, size_t from);

/* A connection of this process, with a barrier; it must stay where it is. */
struct near_import {
	rsm_memseg_import_handle_t handle;
	rsmapi_barrier_t barrier;
};
int near_connect(struct near_import *i, const char *controller, rsm_node_id_t node,
		 rsm_memseg_id_t id, rsm_permission_t perm);
/* Connects through the fabric and disconnects: the value of the connect. */
int near_can_connect(rsm_node_id_t node, rsm_memseg_id_t id, rsm_permission_t perm);
bool near_reads(struct near_import *i, off_t offset, size_t n, unsigned seed, size_t from);
int near_put(struct near_import *i, off_t offset, size_t n, unsigned seed, size_t from);
int near_get8(struct near_import *i);

/* Segments of this process over memory of the scenario. */
rsm_memseg_export_handle_t near_create(const char *controller, void *mem, size_t len,
				       unsigned flags);
rsm_memseg_id_t near_publish(rsm_memseg_export_handle_t segment, struct list l); /* id assigned */

/* Turns between a process and its child, and words that they pass. */
struct turns {
	int to_child[2], to_parent[2];
};
struct turns turns_open(void);
/* In the parent, once the child is there: keeps what is the parent's, so that each side notices the
 * end of the other. */
void turns_of_parent(struct turns *t);
void turns_close(struct turns *t);
void say(int fd, uint64_t word);
uint64_t hear(int fd);		    /* UNRESOLVED when nobody is there any more */
bool heard(int fd, uint64_t *word); /* false when nobody is there any more */

/* Runs fn in a thread over and over until *stop; its first value that is not RSM_SUCCESS ends it.
 */
struct loop {
	int (*fn)(void *arg);
	void *arg;
	atomic_bool stop;
	atomic_int rounds;
	struct cts_thread *thread;
};
void loop_begin(struct loop *l, int (*fn)(void *arg), void *arg);
void loop_wait(struct loop *l, int rounds); /* until it has done that many more */
int loop_end(struct loop *l);		    /* stops it: its last value */
int loop_ended(struct loop *l);		    /* waits for its own end: its last value */

/* One call in a thread of its own. */
struct cts_thread *begin(int (*fn)(void *arg), void *arg);
int end_of(struct cts_thread *t);
/* Signals the thread once it sleeps, and again until the call has ended: its value. */
int end_interrupted(struct cts_thread *t);

/* Rounds after which what a process makes once and keeps is there. */
#define WARM_UP 3
/* FAIL, kind side effect, when the process holds more than before. */
void nothing_left(const struct cts_holdings *before);

#endif
