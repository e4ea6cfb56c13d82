/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exported segments. Everything in here is guarded by the library lock, but for what never changes
 * after the creation.
 */
#ifndef RSM_EXPORT_H
#define RSM_EXPORT_H

#include <rsmapi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "access.h"
#include "backing.h"
#include "segment.h"
#include "service.h"

enum export_state {
	EXPORT_BOUND,
	EXPORT_CLAIMING, /* listens under its id, has not yet heard from all other holders */
	EXPORT_PUBLISHED,
	EXPORT_UNPUBLISHING, /* waits for importers to let go */
};

/*
 * libscif cannot share all memory that may be exported (on the embedded fabric not System V shared
 * memory, because it has no name to open). Every importer is served by messages then.
 */
#define BINDING_UNSHARED ((off_t)-1)

/* The memory that is the segment at present. */
struct binding {
	void *vaddr;
	off_t window;	/* on the anchor, or BINDING_UNSHARED */
	uint64_t print; /* of what is mapped there, backing.h */
};

struct listener {
	struct watch watch;
	int epd;
	unsigned accepting; /* errands that may be in scif_accept(), without the lock */
	unsigned seen;	    /* of `taken`, when it was last looked at */
	unsigned taken;	    /* how often scif_accept() has returned */
	bool knocked;	    /* since the queue was last found empty */
	bool closing;
};

struct link;

struct export
{
	struct segment segment;
	/* of the creation */
	unsigned family; /* service_family() of the creator */
	uid_t owner;
	gid_t group;
	mode_t mode; /* for an empty access list: 0666 & ~umask */
	unsigned flags;
	size_t size;
	bool big_endian;

	struct binding binding;
	bool busy; /* a control operation is under way; the others wait */

	enum export_state state;
	bool withdrawn; /* the claim gave way to another */
	uint32_t segment_id;
	unsigned index; /* of the port in the sequence of the id */
	struct access_list access;
	struct listener listener;
	struct link *links;   /* connections, newest first */
	unsigned guests;      /* of these, those that have not said what they want */
	unsigned registering; /* links whose window is being opened, also those closed meanwhile */
	uint32_t serial;      /* of the last question to importers */
};

/* The calling process, not a parent of it, created it. */
bool export_is_own(const struct export *e);

/* Lock held: importers can connect (rsm_memseg_get_pollfd works). */
bool export_is_published(const struct export *e);

/* Lock held: one signal to each importer. */
void export_signal(struct export *e, bool accumulate);
/* Lock held: reads what importers have sent, so that signals posted by now have arrived. */
void export_take_input(struct export *e);

/*
 * Lock held; control operations of one segment come one at a time. 0, RSMERR_INTERRUPTED (if
 * interruptible) or RSMERR_BAD_SEG_HNDL when the segment is being destroyed.
 */
int export_begin(struct export *e, bool interruptible);
void export_end(struct export *e);

/* A multiple of the page size. */
bool export_aligned(uintptr_t value);

/* Checks memory and registers it on the anchor, which is in use. No lock held. An RSMERR value. */
int export_bind(struct binding *b, void *vaddr, size_t size);
void export_unbind(const struct binding *b, size_t size);

/* Whether the program still has the segment's memory at its address. */
bool export_memory_in_place(const struct export *e);

#endif
