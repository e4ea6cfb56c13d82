/* SPDX-License-Identifier: BSD-2-Clause */
/* The segments of the running case, shared between the RSMAPI files of the runtime. */
#ifndef CTS_RSM_SEGMENTS_H
#define CTS_RSM_SEGMENTS_H

#include "cts_rsm.h"
#include "engine.h"
#include "rsm_errname.h"

#define FABRIC	    "scif0"
#define LOOPBACK    "loopback"
#define OUR_SEED    2
#define PEER_SEED   3
#define STATE_PAGES 4
#define EVERYBODY   0666

/* An export or an import of ours that a fixture made. */
struct segment {
	const void *handle;
	bool is_export;
	bool live;	/* the oracle may ask for its state */
	bool transfers; /* ... and may transfer a byte without disturbing a barrier of the case */
	/* an export */
	unsigned char *memory;
	size_t len;
	rsm_memseg_id_t id;
	struct cts_peer *importer;
	uint64_t importer_handle, importer_address;
	/* an import */
	const void *own; /* our export behind it, or NULL: */
	struct cts_peer_segment behind;
	rsm_permission_t perm;
	rsmapi_barrier_t *barrier;
	unsigned char *address;
};

struct segment *segment_find(const void *handle); /* UNRESOLVED when no fixture made it */
/* UNRESOLVED unless the call succeeded. */
void rsm_must(int code, const char *what);
/* The value of a peer's call, UNRESOLVED when it failed. */
intptr_t rsm_must_peer(struct cts_result r, const char *what);
int rsm_code(struct cts_result r); /* RSMERR value of a peer's call */

/* rsm_segments.c */
struct segment *segment_add(const void *handle, bool is_export);
extern struct segment segments[];
extern int segment_count;

/* rsm_controllers.c */
rsmapi_controller_handle_t own_controller(const char *name);
rsm_memseg_id_t next_segment_id(void);
void controllers_forget(void);

/* rsm_peers.c */
struct cts_peer_segment peer_export(struct cts_peer *p, size_t pages, int node,
				    rsm_permission_t perm);
void peers_controllers_forget(void);
uint64_t peer_scratch(struct cts_peer *p);

/* rsm_imports.c */
rsm_permission_t digits_of(rsm_permission_t perm); /* what allows it to every class */

#endif
