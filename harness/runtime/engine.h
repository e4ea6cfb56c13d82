/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the runtime share: the running case, its phases, and what each of them must
 * undo when the case ends. Tests see cts.h only.
 */
#ifndef CTS_ENGINE_H
#define CTS_ENGINE_H

#include "cts.h"
#include "record.h"

#include <stdatomic.h>
#include <sys/types.h>

enum phase {
	PHASE_NEEDS,
	PHASE_SETUP,
	PHASE_CALL,
	PHASE_CHECK,
	PHASE_REPEAT,
	PHASE_CONTROL,
	PHASE_TEARDOWN
};

#define CHANGED_NODES 16

/*
 * Shared between the case and the process that watches over it, so that a case that crashes or
 * hangs still gets its record, which that process writes, and whatever it changed outside is
 * undone.
 */
struct shared_case {
	struct record record;
	enum phase phase;
	bool finished; /* the case came to its end; otherwise it crashed, hung or exited */
	char step[160];
	char fabric[80];
	int changed_nodes[CHANGED_NODES];
	bool added_nodes[CHANGED_NODES];
	int changed_node_count;
	bool changed_ports, changed_version;
	bool fault_fired; /* fault provoker: the preload made a library call of this round fail */
	bool call_failed;
	int call_err;
};

/* What the command line and the environment say. */
struct settings {
	const char *profile, *impl, *peer, *peer_launch, *inject, *node_adapter, *port_adapter;
	const char *version_adapter, *records;
	double timeout_scale;
	bool fork, all;
};
extern struct settings settings;

extern struct shared_case *shared; /* the running case; never NULL inside one */
extern const struct cts_case *current;

/* engine.c */
void run_case(const struct cts_case *c);
double case_timeout(const struct cts_case *c); /* seconds */
int64_t now_ms(void);
bool time_left(void); /* false shortly before the case would be killed */
void phase_enter(enum phase phase);
void result_text(char *out, size_t size, const struct cts_case *c, const struct cts_result *r);

/* fault.c: a case run for n = 1, 2, ... */
void run_fault_case(const struct cts_case *c);
extern int fault_round; /* n, while such a round runs; 0 otherwise */

/* verdict.c */
_Noreturn void case_end(void); /* to the end of the case, from any thread */
void verdict_set(enum verdict verdict, enum kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool verdict_is_pass(void);
/* A wait that never came true: the implementation's fault once the call has begun, otherwise the
 * set-up's. */
_Noreturn void waited_in_vain(const char *what);
void case_run_until_end(void (*body)(const struct cts_case *), const struct cts_case *c);

/* needs.c */
const char *need_missing(const char *name); /* NULL when met, else why not */

/* oracle.c */
struct probe;
struct probe *probe_take(void);
bool probe_same(const struct probe *a, const struct probe *b, char *why, size_t size);
bool holdings_grew(const struct cts_holdings *before, const struct cts_holdings *after, char *why,
		   size_t size);
bool growth_allowed(void);

/* provoke.c */
extern bool fault_fired; /* in the latest provoked call */
void provoked_call(const struct cts_case *c, void *v, struct cts_result *r);
const char *provoke_value(const struct cts_case *c, const char *key);
int inject_arm(const char *klass, int nth, int err); /* -1: no preload */
bool inject_disarm(int *seen);
bool inject_present(void);

/* adapters.c */
void adapters_undo(struct shared_case *s);

/* peer.c */
void peers_stop(void);		  /* handshake with every peer that lives, at the end of a case */
void peers_kill(void);		  /* without one */
void peers_forget_node(int node); /* a node went down: its peers are gone and that is right */
void peers_forget(void);	  /* in a forked child: they belong to the parent */

/* threads.c */
void thread_wait_asleep_fd(int stat, const atomic_bool *done);

/* endpoints.c: every endpoint that a fixture made, so that the oracle can ask about it */
struct endpoint {
	scif_epd_t epd;
	struct cts_peer *peer; /* holds the far end, when far is not -1 */
	int far;
	int listener; /* of the peer, where a request of ours waits; or -1 */
	int accept_tag;
	bool live; /* a usable endpoint: its readiness is probed */
	bool may_change;
};
#define ENDPOINT_MAX 4096
extern struct endpoint endpoints[ENDPOINT_MAX];
extern int endpoint_count;
struct endpoint *endpoint_add(scif_epd_t epd);
struct endpoint *endpoint_find(scif_epd_t epd); /* UNRESOLVED when no fixture made it */
scif_epd_t endpoint_latest_connected(void);
scif_epd_t open_endpoint(void); /* scif_open or UNRESOLVED */
void fill_send_queue(scif_epd_t epd);

/* ports.c: listeners of peers, by the port that a clause sees */
struct scif_portID peer_listener(struct cts_peer *p, int backlog, int *listener);
int port_listener(struct scif_portID id);
void port_resolve(struct endpoint *e); /* fills in the far end when a peer has accepted meanwhile */

/* memory.c */
void *pages_map(size_t len, int prot, int flags, int fd);

#endif
