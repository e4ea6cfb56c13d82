/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the model knows of RSMAPI: controllers, segments and imports by their handles, barriers by
 * their addresses. Where calls overlapped that matter to an object it is blurred: nothing is said
 * of it any more.
 */
#ifndef CTS_MODEL_RSM_H
#define CTS_MODEL_RSM_H

#include "core.h"

/* The columns of the state matrix; an object is in one of them. */
/* The numbers are those of the public headers. */
enum { PERM_READ = 0400, PERM_WRITE = 0200 };

enum segment_state {
	NO_HANDLE,
	GARBAGE,
	EXPORT_NEW,
	EXPORT_PUBLISHED,
	EXPORT_UNPUBLISHED,
	EXPORT_DESTROYED,
	IMPORT_CONNECTED,
	IMPORT_WITH_MAP,
	IMPORT_ABORTED,
	IMPORT_DISCONNECTED,
	STATE_UNKNOWN
};

struct segment {
	enum segment_state state;
	bool is_blurred, signals_blurred;
	bool may_be_gone;	   /* blurred, but only because its process may have ended */
	int process, node;	   /* of its owner; node -1: not known */
	intptr_t id;		   /* published under it */
	intptr_t length;	   /* -1: not known */
	struct segment *exporter;  /* of an import; NULL: not known */
	intptr_t permission, mode; /* of an import; -1: not known */
	bool has_barrier;
	const struct value *list,
		*user;	     /* of an export: who may import it, who made it; NULL: not known */
	int pollfds;	     /* got and not released */
	intptr_t descriptor; /* of them; -1: not known */
	size_t least_signals, most_signals; /* that are pending */
	const struct segment *poster;	    /* of the last of them */
	bool has_posters;		    /* several */
};

enum barrier_state { BARRIER_NONE, BARRIER_CLOSED, BARRIER_OPEN };

struct named {
	int process;
	intptr_t name; /* a handle, or the address of a barrier */
	struct segment *segment;
	enum barrier_state barrier;
	int controllers; /* how often it was got and not released */
	bool is_blurred;
};

struct names {
	struct named *at;
	size_t count;
};

struct rsm {
	struct model *model;
	struct segment **segments;
	size_t segment_count;
	struct names handles, controllers, barriers;
	struct {
		int process, node;
		bool is_gone;
	} * nodes;
	size_t node_count;
	struct {
		int process;
		const char *text;
	} * present; /* names that a controller was got by */
	size_t present_count;
	bool has_forked;    /* a child shares handles */
	bool is_shaken;	    /* nodes came and went */
	bool hides_handles; /* a call was about a segment that is not known */
};

struct rsm_call {
	struct rsm *rsm;
	struct flight *flight;
	const struct step *step;
	const struct plan_function *function;
	struct segment *segment; /* NULL: not known */
	struct named *barrier, *controller;
	enum segment_state state;
};

struct named *rsm_find(const struct names *names, int process, intptr_t name);
struct named *rsm_name(struct names *names, int process, intptr_t name);
struct segment *rsm_new_segment(struct rsm *rsm, int process, enum segment_state state);
int rsm_node(const struct rsm *rsm, int process);
/* NULL where the profile departs there. OUTCOME may also be ids. */
struct complaint *rsm_complain(const struct rsm_call *call, const char *allowed,
			       const char *outcome, const char *why, ...)
	__attribute__((format(printf, 4, 5)));
/* A published segment of that node and id; SURE: one that surely is. NULL: none. */
struct segment *rsm_published(const struct rsm *rsm, intptr_t node, intptr_t id, bool sure);
bool rsm_is(const struct rsm_call *call, const char *function);
/* Of the segment that is imported; -1: not known. */
intptr_t rsm_length(const struct segment *import);
/* What a call has left in a place for a handle; false: not told. */
bool rsm_made(const struct value *place, intptr_t *made);

/* Whether an error that is documented can have no reason. */
bool rsm_excludes(const struct rsm_call *call, const char *error);
/* What a call that failed has done. */
struct complaint *rsm_judge_rest(const struct rsm_call *call);
/* A success that only means that the loss of the connection is told later. */
bool rsm_tells_later(const struct rsm_call *call);
struct complaint *rsm_judge_success(const struct rsm_call *call);
void rsm_learn(const struct rsm_call *call);

/* rsm_access.c: who may import. The list is an argument, its length the next one. */
void rsm_set_node(struct rsm *rsm, int process, int node);
void rsm_learn_list(const struct rsm_call *call, size_t argument);
void rsm_learn_user(const struct rsm_call *call);
struct complaint *rsm_judge_access(const struct rsm_call *call);
bool rsm_access_excludes(const struct rsm_call *call, const char *error);
struct complaint *rsm_judge_topology(const struct rsm_call *call);

/* rsm_signals.c: signals, and the descriptors that tell of them. */
void rsm_learn_post(const struct rsm_call *call);
void rsm_learn_implicit_post(const struct rsm_call *call, intptr_t flags);
void rsm_learn_wait(const struct rsm_call *call);
void rsm_learn_wait_pollfd(const struct rsm_call *call);
void rsm_learn_pollfd(const struct rsm_call *call);
struct complaint *rsm_judge_wait(const struct rsm_call *call);
struct complaint *rsm_judge_wait_pollfd(const struct rsm_call *call);
struct complaint *rsm_judge_pollfd(const struct rsm_call *call);
struct complaint *rsm_judge_hanging_wait(const struct rsm_call *call);
bool rsm_wait_excludes(const struct rsm_call *call);
/* A descriptor of the segment is in use. */
bool rsm_is_polled(const struct rsm_call *call);

/* rsm_vector.c: scattered transfers. */
bool rsm_is_vector(const struct rsm_call *call);
void rsm_learn_vector(const struct rsm_call *call);
struct complaint *rsm_judge_vector(const struct rsm_call *call);
struct complaint *rsm_judge_failed_vector(const struct rsm_call *call);
bool rsm_vector_excludes(const struct rsm_call *call, const char *error);

#endif
