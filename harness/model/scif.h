/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the model knows of SCIF: processes, endpoints, who is connected with whom, what is under way
 * between them, windows. Numbers that are not known for sure are kept as the least and the most.
 */
#ifndef CTS_MODEL_SCIF_H
#define CTS_MODEL_SCIF_H

#include "core.h"

/* The columns of the state matrix. An endpoint has a set of those it may be in. */
enum endpoint_state {
	NEVER_OPENED = 1,
	CLOSED = 2,
	OTHER_KIND = 4,
	UNBOUND = 8,
	BOUND = 16,
	LISTENING = 32,
	CONNECTING = 64,
	CONNECTED = 128,
	ACCEPTED = 256,
	PEER_CLOSED = 512,
	NODE_LOST = 1024,
	ALL_STATES = 2047,
	NO_ENDPOINT = NEVER_OPENED | CLOSED | OTHER_KIND,
	HAS_PEER = CONNECTED | ACCEPTED | PEER_CLOSED | NODE_LOST
};
#define STATE_COUNT 11

struct window {
	intptr_t offset;
	size_t length;
	int protection;
	intptr_t address; /* of the memory; 0: not known */
};

/* What scif_fence_mark gave. */
struct mark {
	intptr_t number;
	bool is_own;   /* about transfers through this endpoint, not through the peer */
	bool is_quiet; /* no transfer was under way, so nothing is to be waited for */
	size_t stalls; /* it is about those among the first so many stalled transfers */
};

/* Memory that lets whoever touches it sleep. */
struct held {
	int process;
	intptr_t address;
	const struct endpoint *mover; /* whose transfer sleeps there; NULL: none is known */
	const struct step *transfer;
	size_t since; /* that is the so-manieth stalled transfer */
};

/* Bytes, or anything that is counted. */
struct count {
	size_t least, most;
};

struct endpoint {
	unsigned states;
	int node, port; /* -1: not known; port 0: none */
	int backlog;
	struct count sent, taken; /* of messages: by it to its peer, by it from its peer */
	struct endpoint *peer;	  /* NULL: not known, or none */
	bool was_made;		  /* by accept: the port is the listener's */
	bool has_asked;		  /* a connect was called */
	bool was_accepted;	  /* the accept of its request has come back */
	int peer_node, peer_port; /* as accept told them; -1: not known */
	int to_node, to_port;	  /* where it asked to be connected to; -1: not known */
	size_t holders;		  /* processes */
	bool may_be_held;	  /* by a process that nobody records */
	bool windows_known;	  /* no other than these */
	struct window *windows;
	size_t window_count;
	struct window *gone; /* were windows; whether they are accessible is not known any more */
	size_t gone_count;
	struct mark *marks;
	size_t mark_count;
};

struct scif_process {
	int number, node; /* node -1: not known */
	bool may_be_gone;
	bool has_unknown;     /* an accepted endpoint whose number was not told */
	bool has_alias;	      /* a number that names one of its endpoints and was made elsewhere */
	bool is_unprivileged; /* for sure */
	intptr_t *closed;     /* numbers that scif_close was called with */
	size_t closed_count;
	struct {
		intptr_t epd;
		struct endpoint *endpoint;
	} * open;
	size_t open_count;
};

struct scif {
	struct model *model;
	struct scif_process *processes;
	size_t process_count;
	struct endpoint **endpoints; /* all that there ever were */
	size_t endpoint_count;
	bool nodes_changed, node_sleeps; /* since the beginning */
	int asleep;			 /* 1 + a node that surely sleeps; 0: none */
	size_t unknown_accepts;		 /* whose requester was not told */
	size_t accepts_begun;		 /* those that may have made a connection */
	bool has_withdrawn;		 /* a request may have been taken back */
	size_t connects;		 /* those that got one */
	int closer; /* the process whose scif_close was the last call but for polls; 0: none */
	intptr_t just_closed; /* the number */
	intptr_t node_total;  /* how many nodes are online; 0: not known */
	struct held *held;
	size_t held_count, stalls; /* stalls: transfers that were seen to sleep */
};

/* A call that is judged. */
struct scif_call {
	struct scif *scif;
	struct flight *flight;
	const struct step *step;
	const struct plan_function *function;
	struct scif_process *process;
	struct endpoint *endpoint; /* NULL: the number names none that is known */
	unsigned states;	   /* that it may have been in */
};

/* What an endpoint's numbers were when a call on it began. */
struct before {
	struct endpoint *endpoint; /* NULL: it was not known */
	unsigned states;
	struct count sent, taken, peer_sent, peer_taken;
	size_t stalls;
	bool nothing_moves, is_unprivileged;
};

struct scif_process *scif_process(struct scif *scif, int number);
/* NULL: no endpoint that is known. */
struct endpoint *scif_endpoint(const struct scif *scif, int process, intptr_t epd);
struct endpoint *scif_new_endpoint(struct scif *scif, struct scif_process *process, intptr_t epd);
/* Which argument is the endpoint; -1: none. */
int scif_endpoint_argument(const struct step *step);
unsigned scif_states(const struct scif *scif, const struct endpoint *endpoint);
/* Names of a set of states, "bound or listening"; static memory. */
const char *scif_state_names(unsigned states);
/* Whether it may have been used by a number that the model does not know. */
bool scif_has_alias(const struct scif *scif, const struct endpoint *endpoint);
bool scif_may_be_gone(const struct scif *scif, const struct endpoint *endpoint);
void scif_close_endpoint(struct scif *scif, struct endpoint *endpoint);

/* An error that is documented for the function can have no reason here. */
bool scif_excludes(const struct scif_call *call, const char *error);
bool scif_ports_exclude(const struct scif_call *call, const char *error);
bool scif_windows_exclude(const struct scif_call *call, const char *error);

/* Whether nodes may have gone down, slept or come. */
bool scif_node_loss(const struct scif *scif);
/* An endpoint that surely listens there and has surely room for a request; NULL: none is known. */
const struct endpoint *scif_listener(const struct scif *scif, int node, int port);

/* An endpoint that surely listens there, whether or not it lets anybody wait. */
const struct endpoint *scif_listening(const struct scif *scif, int node, int port);
/*
 * How many connects to a listener are under way since before event BEFORE, none of which was
 * accepted: they wait, unless the queue is full. 0 where that is not known.
 */
int scif_requests(const struct scif *scif, const struct endpoint *listener, size_t before);

/* What contradicts an error although the state would allow it; NULL: nothing. */
struct complaint *scif_contradict_ports(const struct scif_call *call);
struct complaint *scif_contradict_windows(const struct scif_call *call);
struct complaint *scif_contradict_stream(const struct scif_call *call);

/* What a success must look like; NULL: so it may. */
struct complaint *scif_judge_poll(const struct scif_call *call);
struct complaint *scif_judge_ports(const struct scif_call *call);
struct complaint *scif_judge_stream(const struct scif_call *call);
struct complaint *scif_judge_transfers(const struct scif_call *call);
/* Of a call that has not come back. */
struct complaint *scif_judge_wait(const struct scif_call *call);
/* What an endpoint may have to receive, or has not got rid of yet, apart from the call. */
struct count scif_bytes_for(const struct endpoint *endpoint);
struct count scif_bytes_of(const struct endpoint *endpoint);
size_t scif_capacity(const struct scif *scif);
struct complaint *scif_judge_windows(const struct scif_call *call);
/* A complaint about CALL; CLAUSES is an outcome whose clauses are named, or ids. */
struct complaint *scif_complain(const struct scif_call *call, const char *allowed,
				const char *outcome, const char *why, ...)
	__attribute__((format(printf, 4, 5)));

/* Whether there may be anything to receive. */
bool scif_may_have_bytes(const struct scif_call *call);

bool scif_is_transfer(const struct step *step);
bool scif_nothing_moves(const struct scif *scif);
const struct mark *scif_mark(const struct endpoint *endpoint, intptr_t number);
/* Memory is held, let go, slept on. */
void scif_take_memory(struct scif *scif, const struct step *step);

/* What follows from what came back. */
void scif_learn_transfers(const struct scif_call *call);
void scif_learn_ports(const struct scif_call *call);
void scif_learn_windows(const struct scif_call *call);
void scif_begin_stream(struct scif *scif, struct flight *flight, struct endpoint *endpoint);
void scif_learn_stream(const struct scif_call *call);

#endif
