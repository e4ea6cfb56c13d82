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
#include "export.h"

/* A connection to our listener: a guest until it has sent a CONNECT that is granted. */
struct link {
	struct channel channel;
	struct export *export;
	struct link *next, *prev;
	bool admitted;
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
void link_unregister(struct link *l, off_t window);
/* Sends a question that DONE answers. */
void link_ask(struct link *l, struct wire_message *question);
/* Tells the importer that access has ended. */
void link_abort(struct link *l);
/* Closes the connection and frees the link. */
void link_close(struct link *l);

/* Tells every importer that access has ended. */
void links_abort(struct export *e);
/*
 * Waits until every importer has answered what it was asked, five seconds at most; those who have
 * not by then are cut off. 0 or -EINTR.
 */
int links_await(struct export *e, bool interruptible);
/* Waits a moment for those that have answered before. */
void links_await_prompt(struct export *e);
void links_close(struct export *e);

#endif
