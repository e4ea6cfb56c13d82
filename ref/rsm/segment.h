/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What exported and imported segments have in common. It is the first member of struct export and
 * of struct import, and what the table of handles leads to.
 */
#ifndef RSM_SEGMENT_H
#define RSM_SEGMENT_H

#include <errno.h>
#include <rsmapi.h>
#include <stdbool.h>

#include "event.h"

struct rsm_controller;

enum segment_kind { SEGMENT_EXPORT = 1, SEGMENT_IMPORT = 2 };

/* Masks for handle_enter(). */
enum {
	SEGMENT_EXPORTS = 1u << SEGMENT_EXPORT,
	SEGMENT_IMPORTS = 1u << SEGMENT_IMPORT,
	SEGMENT_ANY = SEGMENT_EXPORTS | SEGMENT_IMPORTS
};

/* The RSMERR value for want of something while a segment is made: -ENOMEM, or any other. */
static inline int segment_shortage(int error)
{
	return error == -ENOMEM ? RSMERR_INSUFFICIENT_MEM : RSMERR_INSUFFICIENT_RESOURCES;
}

struct segment {
	enum segment_kind kind;
	void *handle; /* set by handle_new() */
	struct rsm_controller *controller;
	struct event_queue events;
	unsigned pollfd_users; /* gets less releases; under the library lock */
	bool closing;	       /* handle_retire() was called; under the library lock */
};

#endif
