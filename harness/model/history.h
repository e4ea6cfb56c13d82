/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two halves of reading a log share: the calls of the case, and those of its peers. */
#ifndef CTS_MODEL_HISTORY_H
#define CTS_MODEL_HISTORY_H

#include "step.h"
#include "tables.h"

struct origin {
	int process, thread;
};

/* A request that runs in a thread of the peer. */
struct running {
	int peer, tag;
	size_t step;
	const struct verb *verb;
	char *request;
};

struct reader {
	struct history *history;
	const json_t *events;
	const struct tables *tables;
	size_t event_count;
	struct origin *origins; /* of each event */
	/* Of each peer, by its number in the log: the process it is now, when it last replied. */
	struct peer_process {
		int process;
		size_t last_reply; /* 0: none */
	} * peers;
	size_t peer_count;
	int processes; /* that peers have been */
	struct running *running;
	size_t running_count;
};

/* Valid until the next one is added. */
struct step *history_add_step(struct reader *reader, size_t event, enum step_kind kind);
void history_add_move(struct reader *reader, size_t step, size_t time, bool is_end);

/* An exchange that began and ended at these times. */
void history_read_exchange(struct reader *reader, const json_t *event, size_t index, size_t begin,
			   size_t end);
/* A peer is about to be killed. */
void history_end_peer(struct reader *reader, int number, size_t index, size_t time);
/* Peers that are not heard of any more may be gone. */
void history_end_exchanges(struct reader *reader);

#endif
