/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exporter's side of its connections: a listener under the id, and a link to each importer.
 * Library lock held throughout.
 */
#ifndef RSM_EXPORTER_H
#define RSM_EXPORTER_H

#include <scif.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "channel.h"
#include "closer.h"
#include "errand.h"
#include "export.h"

/* A connection to our listener: a guest until it has sent a CONNECT that may be granted. */
struct link {
	struct channel channel;
	struct export *export;
	struct link *next, *prev;
	scif_epd_t epd;
	bool guest;
	bool admitted; /* its CONNECT was granted */
	/* Its window is being opened, over the memory that was the segment's when that began. */
	struct errand opening;
	bool registering;
	struct binding registered;
	unsigned errands;  /* that use the endpoint: it is not closed before they have ended */
	unsigned vacating; /* of these, those that close a window */
	bool over;	   /* closed, and no longer among the export's */
	struct closing closing;
	bool relay;
	bool ending; /* was sent ABORT */
	uint32_t permission;
	off_t window; /* unless relay */
	/*
	 * While a rebind is under way: the window before it. After one that was taken back: the
	 * one that was not to be, which is closed when the importer no longer uses it.
	 */
	off_t other;
	bool has_other, close_other;
	bool waiting; /* for DONE with `serial` */
	bool prompt;  /* has answered the question before */
	uint32_t serial;
};

/* Takes the endpoint over on success: 0, -ENOMEM, -EMFILE. */
int listener_open(struct export *e, scif_epd_t epd);
/* May drop the lock for a moment. */
void listener_close(struct export *e);

/* Registers memory on the link as its permission says: the window or -errno. */
off_t link_register(struct link *l, void *vaddr);
/* A window that nobody was told of. */
void link_unregister(struct link *l, off_t window);
/* One that the importer says it does not use any more. The endpoint's closing waits for it. */
void link_vacate(struct link *l, off_t window);
/* Sends a question that DONE answers. */
void link_ask(struct link *l, struct wire_message *question);
/* Tells the importer that access has ended. */
void link_abort(struct link *l);
/* The link is the export's no more, and freed; its endpoint is closed as soon as can be. */
void link_close(struct link *l);

/* Tells every importer that access has ended. */
void links_abort(struct export *e);
/*
 * Wait without a limit for registrations under way, which no peer can hold up: for all of them, or
 * those of memory that is not the segment's any more.
 */
void links_await_registered(struct export *e);
void links_await_registered_old(struct export *e);
/* Waits a moment until the windows that were given up are closed. */
void links_await_vacated(struct export *e);
/*
 * Waits until every importer has answered what it was asked, five seconds at most; those who have
 * not by then are cut off. 0 or -EINTR.
 */
int links_await(struct export *e, bool interruptible);
/* Waits a moment for those that have answered before. */
void links_await_prompt(struct export *e);
void links_close(struct export *e);

#endif
