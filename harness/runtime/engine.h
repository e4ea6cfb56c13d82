/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the runtime share: the running case, its phases, and what each of them must
 * undo when the case ends. Tests see cts.h only.
 */
#ifndef CTS_ENGINE_H
#define CTS_ENGINE_H

#include "cts.h"
#include "observe.h"
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
#define PEERS_MOST    32

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
	char came[160]; /* while something was short: the errors, each once */
	/* Of each peer: the request that is not replied to yet, and since when. */
	struct {
		char request[160]; /* empty: none */
		int64_t since;
	} pending[PEERS_MOST];
};

/* What the command line and the environment say. */
struct settings {
	const char *profile, *impl, *substrate, *peer, *peer_launch, *inject, *node_adapter,
		*port_adapter;
	const char *version_adapter, *records, *observations;
	double timeout_scale;
	bool fork, all;
};
extern struct settings settings;

extern struct shared_case *shared; /* the running case; never NULL inside one */
extern const struct cts_case *current;

/* What differs from one API to the other. Members that may be NULL say so. */
struct cts_api {
	bool returns_errors;	      /* a call returns its error code; otherwise -1 and errno */
	const char *const *functions; /* whose origin is proven; NULL-terminated */
	const char *const *substrate; /* of the library below the implementation; may be NULL */
	const char *(*error_name)(int err);
	int (*error_number)(const char *name);
	bool (*returns_address)(const char *function); /* may be NULL */
	/* False: the library has the function and says that there is nothing behind it; may be NULL. */
	bool (*offers)(const char *function);
	/* The state probe of the oracle: allocated, without side effect on what it looks at. */
	void *(*probe_take)(void);
	bool (*probe_same)(const void *a, const void *b, char *why, size_t size);
	void (*peer_ended)(const struct cts_peer *p);
	void (*forget)(void); /* in a forked child or a new round: fixtures belong to the parent */
	int (*self_node)(void);
	int (*node_count)(void);
	int (*use)(void); /* an errno, or 0: this process can use the implementation */
};

/* engine.c */
void run_case(const struct cts_case *c);
double case_timeout(const struct cts_case *c); /* seconds */
/* The chosen profile expects something else than the text does. */
bool profile_deviates(const struct cts_case *c);
bool error_expected(const struct cts_case *c, int err); /* by the chosen profile */
int64_t now_ms(void);
void phase_enter(enum phase phase);
void result_text(char *out, size_t size, const struct cts_case *c, const struct cts_result *r);
const char *error_name(int err); /* of a result's err */
bool result_failed(const struct cts_result *r);
/* For the raw log: the name of its error, or NULL where it says nothing. */
const char *result_error(const struct cts_result *r);

/* limits.c: around one call, like cts_limit(). */
void limit_above_use(int resource, size_t more);
void limits_bind(void); /* as well a process of user 0 */
void limits_bind_no_more(void);
void real_user_counts(bool on); /* among the processes that RLIMIT_NPROC is about */

/* shortage.c: the calls of successes while one resource is short. */
bool shortage_choose(int nth); /* false: there are no more */
bool shortage_named(const char *name);
const char *shortage_name(void); /* NULL: nothing is to be short */
/* What a fixture has to have more of for FUNCTION, since each of its calls that fails may use one up. */
int shortage_spare(const char *function);
bool shortage_fits(const struct cts_case *c);
void shortage_begin(void);
void shortage_end(void);
/* The call with as much of it as failed not to be enough, and what becomes of that; true: it succeeded. */
bool shortage_call(const struct cts_case *c, void *v, struct cts_result *r);

/* fault.c: a case run for n = 1, 2, ... */
void run_fault_case(const struct cts_case *c);
extern int fault_round; /* n, while such a round runs; 0 otherwise */

/* verdict.c */
_Noreturn void case_end(void); /* to the end of the case, from any thread */
void verdict_set(enum verdict verdict, enum kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, for what the raw log has shown already: nobody has to believe this in addition. */
void verdict_derived(enum verdict verdict, enum kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool verdict_is_pass(void);
/* A wait that never came true: the implementation's fault once the call has begun, otherwise the
 * set-up's. */
_Noreturn void waited_in_vain(const char *what);
void case_run_until_end(void (*body)(const struct cts_case *), const struct cts_case *c);

/* needs.c */
const char *need_missing(const char *name); /* NULL when met, else why not */
/* Of this process, one that has the memory in its hands: its name; NULL where there is none. */
const char *memory_sanitizer(void);

/* holdings.c */
bool under_valgrind(void);
void holdings_settle(void); /* waits a little until no other thread of the process runs */
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
void ports_restore(struct shared_case *s);

/* peer.c */
void peers_setting(const char *setting); /* NAME=VALUE for the peers to come; NULL: no more */
void peers_stop(void);		  /* handshake with every peer that lives, at the end of a case */
void peers_kill(void);		  /* without one */
void peers_forget_node(int node); /* a node went down: its peers are gone and that is right */
void peers_forget(void);	  /* in a forked child: they belong to the parent */
void peers_tell_pending(void);	  /* the case's time is up: what they have not replied to */

/* threads.c */
void thread_wait_asleep_fd(int stat, const atomic_bool *done);
void *thread_argument(struct cts_thread *t);
/* The same thread, asleep; UNRESOLVED when `what` returned instead. */
struct cts_thread *thread_asleep(struct cts_thread *t, const char *what);

/* stall.c */
struct cts_stall *stall_local(void **page); /* page: what the transfer must touch */
struct cts_stall *stall_in_flight(struct cts_stall *s, struct cts_thread *t);
/* Before and after the peer's transfer has been begun. */
uint64_t stall_there(struct cts_peer *p);
struct cts_stall *stall_in_peer(struct cts_peer *p, uint64_t there, int tag);

/* memory.c */
void *pages_map(size_t len, int prot, int flags, int fd);

#endif
