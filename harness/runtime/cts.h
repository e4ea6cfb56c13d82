/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a generated test or a hand-written scenario sees of the test runtime: the case table that
 * the spec compiler emits, the fixtures of spec/vocabulary.yaml, the peer, and the helpers that
 * set-up statements, `during` statements and checks may call. Only the public SCIF interface is
 * used below this header, so it works on any implementation.
 *
 * Fixtures and set-up helpers never return failure: when they cannot do their work the case ends
 * as UNRESOLVED with the reason. Functions that wait are bounded by the time limit of the case.
 */
#ifndef CTS_H
#define CTS_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "scif.h"
#include "scif_event.h"

/* The case table, emitted by the spec compiler. */

struct cts_result {
	intptr_t ret; /* the returned value, converted */
	int err;      /* errno after the call; it was 0 before */
};

struct cts_expect {
	const char *profile;	  /* "documented", "knc" */
	const char *returns_text; /* "-1", ">= SCIF_PORT_RSVD", "any" */
	const char *errno_text;	  /* "EACCES", "EBADF EINVAL", "" for success */
	const int *errnos;	  /* the allowed set */
	int errno_count;	  /* 0 for success */
	void (*check)(void *v, const struct cts_result *r); /* by CTS_CHECK; may be NULL */
	bool accepts_text; /* passes as well when `documented` does */
	const char *tag;   /* "observed", "read"; NULL in `documented` */
};

struct cts_snapshot {
	const char *text;		    /* the lvalue as written */
	size_t (*copy)(void *v, void *out); /* its size; copied when out is not NULL */
};

struct cts_key {
	const char *key, *value;
};

/* `provoke: {signal: SIGUSR1}` is kind "signal", keys {{"signal", "SIGUSR1"}}; kind NULL: none. */
struct cts_provoke {
	const char *kind;
	const struct cts_key *keys;
	int key_count;
};

struct cts_param {
	const char *name;
	long value;
};

struct cts_case {
	const char *id, *function, *outcome, *text, *source;
	const char *call_text, *control_text, *scenario_name;
	int line;
	const char *file;
	size_t vars_size;
	void (*given)(void *v); /* fixtures in file order, then setup */
	void (*call)(void *v, struct cts_result *r);
	void (*during)(void *v);
	void (*control_setup)(void *v);
	void (*control)(void *v, struct cts_result *r);
	bool (*control_ok)(const struct cts_result *r);
	bool (*failed)(const struct cts_result *r); /* NULL: the function cannot fail */
	void (*scenario)(void);
	const char *as;		/* "unprivileged" or NULL */
	const char *control_as; /* the same for the control */
	struct cts_provoke provoke;
	const struct cts_snapshot *unchanged;
	int unchanged_count;
	const struct cts_expect *expects;
	int expect_count;
	const char *const *needs; /* NULL-terminated, those of its fixtures too; may be NULL */
	const char *choice;
	const struct cts_param *params;
	int param_count;
	bool is_error, is_long, repeat;
	const char *untestable, *ruled_out;
};

extern const struct cts_case cts_cases[];
extern const int cts_case_count;
extern const char cts_function[], cts_spec_hash[];

/* Verdicts from inside a case. */

/* Names the step under way; it appears in the reason when the set-up breaks. */
void cts_step(const char *text);

void cts_check(bool holds, const char *text, const char *file, int line);
void cts_check_effect(bool holds, const char *text, const char *file, int line);
void cts_assert(bool holds, const char *text, const char *file, int line);
void cts_require(bool holds, const char *text, const char *file, int line);
_Noreturn void cts_unresolved(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void cts_untested(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void cts_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void cts_fail_effect(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* FAIL, kind value, when EXPR is false; the case goes on. TEXT is what the report shows. */
#define CTS_CHECK(expr, text) cts_check((expr), (text), __FILE__, __LINE__)
/* FAIL, kind side effect, when EXPR is false; the case goes on. */
#define CTS_CHECK_EFFECT(expr, text) cts_check_effect((expr), (text), __FILE__, __LINE__)
/* FAIL, kind value, and the case ends. For scenarios. */
#define CTS_ASSERT(expr) cts_assert((expr), #expr, __FILE__, __LINE__)
/* UNRESOLVED when EXPR is false: the set-up broke, the implementation is not accused. */
#define CTS_REQUIRE(expr) cts_require((expr), #expr, __FILE__, __LINE__)

/*
 * Runs one call in a scenario and notes its result as what the scenario observed; the last one
 * noted is what the record shows. Yields a struct cts_result.
 */
#define CTS_OBSERVE(call)                                                                          \
	(__extension__({                                                                           \
		errno = 0;                                                                         \
		intptr_t cts_ret_ = (intptr_t)(call);                                              \
		cts_observe(cts_ret_, errno);                                                      \
	}))
/* Runs one call without noting it. */
#define CTS_RESULT(call)                                                                           \
	(__extension__({                                                                           \
		errno = 0;                                                                         \
		intptr_t cts_ret_ = (intptr_t)(call);                                              \
		(struct cts_result){cts_ret_, errno};                                              \
	}))
/* CTS_OBSERVE, and FAIL (kind value or errno, the case ends) unless it returned -1 with NAME. */
#define CTS_OBSERVE_ERROR(call, name)                                                              \
	cts_expect_error(CTS_OBSERVE(call), (name), #call " gives " #name)

struct cts_result cts_observe(intptr_t ret, int err);
struct cts_result cts_expect_error(struct cts_result r, int err, const char *text);
/* FAIL, kind errno, when r.ret is -1 */
void cts_expect_ok(struct cts_result r, const char *text);
static inline bool cts_failed_with(struct cts_result r, int err)
{
	return r.ret == -1 && r.err == err;
}

/* The value of a scenario's parameter `name`; UNRESOLVED when the clause has none. */
long cts_param(const char *name);
/* "documented" or "knc". */
const char *cts_profile(void);
/* Scenarios: UNTESTED with its reason when NAME of the vocabulary's needs is not met here. */
void cts_need(const char *name);

/*
 * Exceptions to the oracle of error cases, for set-up statements.
 * may_change: readiness of this endpoint and of its far end may differ after the failing call.
 * may_grow: descriptors, mappings or heap may grow when the call is repeated.
 */
void cts_may_change(scif_epd_t epd);
void cts_may_grow(void);

/* Patterns and memory. */

/* Byte at position `at` of the pattern `seed`; its period is not a power of two. */
unsigned char cts_pattern(unsigned seed, size_t at);
void cts_fill(void *p, size_t n, unsigned seed); /* from position 0 */
void cts_fill_at(void *p, size_t n, unsigned seed, size_t from);
bool cts_is_pattern(const void *p, size_t n, unsigned seed);
bool cts_is_pattern_at(const void *p, size_t n, unsigned seed, size_t from);
/* all n bytes are value */
bool cts_is_byte(const void *p, size_t n, int value);
bool cts_same(const void *a, const void *b, size_t n);
/* True while the 64 bytes on each side of a `buffer` fixture hold what the fixture put there. */
bool cts_guards_ok(const unsigned char *buffer);
size_t cts_page_size(void);
/* the whole range, by /proc/self/maps */
bool cts_is_mapped(const void *p, size_t n);
/* loading that byte raises a signal */
bool cts_faults_on_read(const void *p);
bool cts_faults_on_write(void *p);
/* Bounded waits for a word that another thread, process or transfer writes. False: time is up. */
bool cts_wait64(const volatile void *p, uint64_t value);
bool cts_wait32(const volatile void *p, uint32_t value);

/* What the process holds. */

struct cts_holdings {
	int descriptors;
	int mappings;  /* without heap and stacks */
	size_t mapped; /* bytes in these mappings */
	size_t heap;   /* bytes in use by malloc */
};
struct cts_holdings cts_holdings(void);
int cts_descriptor_count(void);
int cts_lowest_free_descriptor(void);
bool cts_is_open(int fd);
bool cts_has_cloexec(int fd);

/* Readiness. */

/* scif_poll of one endpoint with timeout 0: revents; -1 and errno when the call failed. */
int cts_poll(scif_epd_t epd, int events);
/* The same, waiting (bounded) until any of `events`, ERR, HUP or NVAL shows. 0: time is up. */
int cts_poll_wait(scif_epd_t epd, int events);
/* poll(2), select(2), epoll(7) on the descriptor with timeout 0. select gives
 * POLLIN|POLLOUT|POLLPRI bits. */
int cts_poll2(scif_epd_t epd, int events);
int cts_select(scif_epd_t epd, int events);
int cts_epoll(scif_epd_t epd, int events);
/* An edge-triggered epoll set with one member: edges since the last question, without waiting;
 * close when done. */
int cts_epoll_edge_open(scif_epd_t epd, int events);
int cts_epoll_edge(int set);
/* Waits (bounded) until poll(2) shows HUP and the implementation must have taken it in. */
void cts_wait_hup(scif_epd_t epd);
void cts_set_nonblocking(scif_epd_t epd, bool on);
/* Lets at least this time pass on the monotonic clock, for a text that speaks of time itself. */
void cts_let_pass_us(unsigned us);
uint64_t cts_now_us(void);

/* Threads of the test process. */

struct cts_thread;
/* Starts fn(arg); its return value is what cts_join gives. */
struct cts_thread *cts_thread_start(struct cts_result (*fn)(void *arg), void *arg);
/* Waits (bounded) until the thread sleeps in the kernel: no other way to know that it blocks. */
void cts_wait_asleep(struct cts_thread *t);
bool cts_thread_done(struct cts_thread *t);
/* a handler without SA_RESTART is in place */
void cts_thread_signal(struct cts_thread *t, int sig);
/* bounded: FAIL timeout; may be asked again */
struct cts_result cts_join(struct cts_thread *t);
/* One call begun in a thread of its own; cts_wait_asleep, then cts_join. Buffers live in the
 * thread. */
struct cts_thread *cts_begin_send(scif_epd_t epd, int len, int flags); /* pattern 1 */
struct cts_thread *cts_begin_recv(scif_epd_t epd, int len, int flags);
struct cts_thread *cts_begin_accept(scif_epd_t epd, int flags);
struct cts_thread *cts_begin_connect(scif_epd_t epd, struct scif_portID dst);
struct cts_thread *cts_begin_poll(scif_epd_t epd, int events, long timeout); /* scif_poll */
struct cts_thread *cts_begin_poll2(scif_epd_t epd, int events, int timeout); /* poll(2) */
struct cts_thread *cts_begin_close(scif_epd_t epd);
struct cts_thread *cts_begin_fence_wait(scif_epd_t epd, int mark);
struct cts_thread *cts_begin_vwriteto(scif_epd_t epd, void *p, size_t len, off_t roff, int flags);
struct cts_thread *cts_begin_vreadfrom(scif_epd_t epd, void *p, size_t len, off_t roff, int flags);
struct cts_thread *cts_begin_writeto(scif_epd_t epd, off_t loff, size_t len, off_t roff, int flags);
struct cts_thread *cts_begin_readfrom(scif_epd_t epd, off_t loff, size_t len, off_t roff,
				      int flags);
/* After cts_join: the bytes a cts_begin_recv thread got, the endpoint a cts_begin_accept thread
 * got. */
const unsigned char *cts_thread_bytes(struct cts_thread *t);
scif_epd_t cts_thread_epd(struct cts_thread *t);

/* Child processes of the test process (fork tests). */

/* Forks, runs fn(arg) in the child and ends the child with exit(its value); the pid. */
pid_t cts_fork(int (*fn)(void *arg), void *arg);
int cts_wait_child(pid_t pid);	/* bounded; exit status, or 128 + signal */
void cts_kill_child(pid_t pid); /* SIGKILL and wait */

/* The peer. */

struct cts_peer;
/* the case's peer on another node, started on first use */
struct cts_peer *cts_peer(void);
struct cts_peer *cts_peer_start(int node);		 /* one more, on that node */
struct cts_peer *cts_peer_start_as(int node, uid_t uid); /* needs root */
struct cts_peer *cts_peer_of(scif_epd_t epd); /* the peer that holds the far end of epd */
int cts_far(scif_epd_t epd);		      /* the number of the far end in its peer */
uint16_t cts_peer_node(struct cts_peer *p);
pid_t cts_peer_pid(struct cts_peer *p); /* as the peer sees itself */
/* scenarios that connect by hand */
void cts_link(scif_epd_t epd, struct cts_peer *p, int far);

/* Any verb of docs/peer-protocol.md. A refused verb is UNRESOLVED, a failing SCIF call a result. */
struct cts_result cts_peer_call(struct cts_peer *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The rest of the last reply line of that peer. */
const char *cts_peer_text(struct cts_peer *p);
/* Begins a verb in a thread of the peer: a tag. Then asleep (it sleeps in the kernel), then end. */
int cts_peer_begin(struct cts_peer *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void cts_peer_asleep(struct cts_peer *p, int tag);
void cts_peer_interrupt(struct cts_peer *p, int tag); /* a signal to that thread */
/* waits (bounded) for its result */
struct cts_result cts_peer_end(struct cts_peer *p, int tag);
void cts_peer_stop(struct cts_peer *p); /* ends it by the handshake */
void cts_peer_kill(struct cts_peer *p); /* SIGKILL, and waits until it is gone */
void cts_peer_exit(struct cts_peer *p); /* it exits without closing anything */
/* it kills itself (works through a launch command) */
void cts_peer_die(struct cts_peer *p);
void cts_peer_stall_process(struct cts_peer *p, bool stopped); /* SIGSTOP, SIGCONT */

/* The far end of our endpoint `epd`. Results are those of the SCIF call made there. */
/* blocking, pattern 1 from position 0 */
struct cts_result cts_far_send(scif_epd_t epd, int len);
struct cts_result cts_far_send_at(scif_epd_t epd, int len, unsigned seed, size_t from, int flags);
struct cts_result cts_far_recv(scif_epd_t epd, int len, int flags); /* bytes are dropped */
/* blocking; exactly these bytes came */
bool cts_far_recv_is(scif_epd_t epd, int len, unsigned seed, size_t from);
/* scif_poll there, timeout 0: revents */
int cts_far_poll(scif_epd_t epd, int events);
int cts_far_poll_wait(scif_epd_t epd, int events);
void cts_far_close(scif_epd_t epd); /* and waits for HUP at our end */
/* its process exits without closing; waits for HUP */
void cts_far_exit(scif_epd_t epd);
/* its process is killed; waits for HUP */
void cts_far_kill(scif_epd_t epd);
struct cts_result cts_far_fence_mark(scif_epd_t epd, int flags); /* ret: the mark */
struct cts_result cts_far_fence_wait(scif_epd_t epd, int mark);
/* a byte sent there arrives here and back; the connection must be drained */
bool cts_far_alive(scif_epd_t epd);

/* newepd is what scif_accept gave for the oldest pending request of that listening_* fixture;
 * cts_far_* work then. */
void cts_adopt(scif_epd_t newepd, scif_epd_t listener);
/* The other half of a request that is pending at a peer: of a `connecting` endpoint. */
/* the peer accepts our pending or blocked connect */
void cts_far_accept(scif_epd_t epd);
/* begins a blocking accept there: tag for cts_peer_end */
int cts_far_accept_begin(scif_epd_t epd);
/* the listener our `connecting` epd is queued at */
void cts_far_close_listener(scif_epd_t epd);
/* the listener behind a peer_port* fixture */
void cts_peer_close_port(struct scif_portID id);
/* begins a blocking accept there, to complete a connect of ours */
void cts_peer_accept_port(struct scif_portID id);

/* Windows. */

struct cts_window {
	void *addr;   /* memory behind the window */
	size_t len;   /* bytes, from the start of the first part to the end of the last */
	off_t offset; /* in the registered address space */
	size_t pages; /* len in pages */
	int prot;
	int parts;	 /* 1, or 2 for pairs and gaps */
	size_t part_len; /* bytes of one part */
	scif_epd_t epd;	 /* the endpoint of ours it was registered on, or whose far end it was */
};
struct cts_peer_window {
	off_t offset; /* in the peer's registered address space */
	size_t len, pages;
	int prot;
	int parts;
	size_t part_len;
	uint64_t there; /* address in the peer's process */
	scif_epd_t epd; /* our end of the connection */
};
struct cts_mapping {
	unsigned char *addr;
	size_t len;
	off_t offset;
};

/* Memory behind a peer's window, touched by the peer's CPU; `at` counts bytes from its start. */
/* whole window, pattern from 0 */
void cts_peer_fill(struct cts_peer_window w, unsigned seed);
void cts_peer_fill_at(struct cts_peer_window w, size_t at, size_t n, unsigned seed, size_t from);
void cts_peer_set(struct cts_peer_window w, size_t at, size_t n, int byte);
bool cts_peer_is(struct cts_peer_window w, size_t at, size_t n, unsigned seed, size_t from);
bool cts_peer_is_byte(struct cts_peer_window w, size_t at, size_t n, int byte);
uint64_t cts_peer_peek64(struct cts_peer_window w, size_t at);
void cts_peer_poke64(struct cts_peer_window w, size_t at, uint64_t value);
bool cts_peer_wait64(struct cts_peer_window w, size_t at, uint64_t value); /* bounded */
struct cts_result cts_peer_unregister(struct cts_peer_window w);
/* scif_vwriteto by the peer, pattern from 0 */
struct cts_result cts_peer_writeto_us(struct cts_window w, size_t at, size_t n, unsigned seed,
				      int flags);
/* scif_vreadfrom by the peer into a scratch buffer */
struct cts_result cts_peer_readfrom_us(struct cts_window w, size_t at, size_t n, int flags);
/* what that read delivered */
bool cts_peer_scratch_is(scif_epd_t epd, size_t n, unsigned seed, size_t from);
/* the peer can read (or, unreadable, write) its first byte by RMA; changes nothing */
bool cts_window_is_open(struct cts_window w);
/* a FIXED registration there succeeds; undone again */
bool cts_offset_is_free(scif_epd_t epd, off_t offset, size_t len);
/* The peer's mapping of our window (peer_mapping fixture), touched by its CPU. */
struct cts_peer_mapping {
	uint64_t there;
	size_t len;
	off_t offset;
	scif_epd_t epd;
};
uint64_t cts_peer_mapping_peek64(struct cts_peer_mapping m, size_t at);
void cts_peer_mapping_poke64(struct cts_peer_mapping m, size_t at, uint64_t value);
struct cts_result cts_peer_mapping_unmap(struct cts_peer_mapping m);

/* A transfer that is really in flight. */

/*
 * A scif_vwriteto (or scif_vreadfrom) of one page whose local buffer is held back by userfaultfd:
 * the call sleeps inside the transfer until released. `there`: the peer makes the call.
 */
struct cts_stall;
void cts_stall_release(struct cts_stall *s); /* the page arrives, pattern 7 */
bool cts_stall_pending(struct cts_stall *s); /* the transfer has not finished yet */
/* bounded; of the transfer; release first */
struct cts_result cts_stall_join(struct cts_stall *s);

/* Nodes, ports, limits, faults. */

/* "up", "down", "sleep" by the node adapter; undone at the end of the case. */
void cts_node(int node, const char *state);
/* Node of the far end of epd, by the same adapter; "down" also waits for HUP at our end. */
void cts_far_node(scif_epd_t epd, const char *state);
/* The ephemeral ports, by the port adapter; undone at the end of the case. */
void cts_ports(unsigned low, unsigned high);
/* A fabric of a version that the library does not fit, by the version adapter; undone at the end of
 * the case. */
void cts_other_version(bool on);
uint16_t cts_self_node(void);
int cts_node_count(void);	      /* online nodes by scif_get_nodeIDs */
bool cts_port_is_free(uint16_t port); /* another endpoint can bind it; undone again */
/* A soft limit, "current" (nothing more than now), "0" or a number; restored by cts_limit_restore
 * and at the end. */
void cts_limit(int resource, const char *to);
void cts_limit_restore(int resource);
/* The fault preload, for scenarios: fail the nth call of the class in this thread. Disarm: did it
 * fail one; seen counts. */
void cts_fault_arm(const char *klass, int nth, int err);
bool cts_fault_disarm(int *seen);
/* The same, but act(arg) is called just before the nth call, which then goes on as ever. */
void cts_before_call(const char *klass, int nth, void (*act)(void *arg), void *arg);
/* Effective user 65534 without capabilities, and back. Root only; otherwise nothing. */
void cts_drop_privilege(void);
void cts_regain_privilege(void);

/* Node events. */

/* Handlers for scif_event_register: the first notes what it was told, the second counts apart. */
void cts_event_handler(enum scif_event event, union scif_event_data data);
void cts_event_handler_second(enum scif_event event, union scif_event_data data);
struct cts_event {
	int event, node;
};
int cts_event_count(void); /* calls of the first so far */
int cts_event_count_second(void);
struct cts_event cts_event_at(int i);
bool cts_event_wait(int event, int node); /* bounded: such a call has come */

/* Two ends in this process. */

/* Connected pair, both ends ours, on our own node (loopback). */
void cts_pair(scif_epd_t pair[2]);

/* Fixtures: spec/vocabulary.yaml says what each one is. */

scif_epd_t cts_fx_never_opened(void);
scif_epd_t cts_fx_closed(void);
scif_epd_t cts_fx_closed_connected(void);
scif_epd_t cts_fx_other_kind(void);
scif_epd_t cts_fx_pipe(void);
scif_epd_t cts_fx_socket(void);
scif_epd_t cts_fx_file(void);
scif_epd_t cts_fx_null_device(void);
scif_epd_t cts_fx_epoll_set(void);
scif_epd_t cts_fx_unbound(void);
scif_epd_t cts_fx_bound(void);
scif_epd_t cts_fx_bound_to(int port);
scif_epd_t cts_fx_listening(void);
scif_epd_t cts_fx_listening_backlog(int backlog);
scif_epd_t cts_fx_listening_pending(int requests);
scif_epd_t cts_fx_listening_dead_closed(void);
scif_epd_t cts_fx_listening_dead_killed(void);
scif_epd_t cts_fx_listening_dead_interrupted(void);
scif_epd_t cts_fx_listening_dead_node(void);
scif_epd_t cts_fx_connecting(void);
scif_epd_t cts_fx_connecting_done(void);
scif_epd_t cts_fx_connecting_refused(void);
scif_epd_t cts_fx_refused(void);
scif_epd_t cts_fx_connected(void);
scif_epd_t cts_fx_connected_own_node(void);
scif_epd_t cts_fx_connected_other_user(void);
scif_epd_t cts_fx_connected_bound(void);
scif_epd_t cts_fx_accepted(void);
scif_epd_t cts_fx_queued(int bytes);
scif_epd_t cts_fx_full_queue(void);
scif_epd_t cts_fx_peer_closed(void);
scif_epd_t cts_fx_peer_closed_data(int bytes);
scif_epd_t cts_fx_peer_exited(void);
scif_epd_t cts_fx_peer_killed(void);
scif_epd_t cts_fx_peer_killed_data(int bytes);
scif_epd_t cts_fx_node_lost(void);
scif_epd_t cts_fx_node_lost_data(int bytes);
scif_epd_t cts_fx_node_back(void);
scif_epd_t cts_fx_node_asleep(void);
scif_epd_t cts_fx_node_asleep_data(int bytes);
scif_epd_t cts_fx_duplicate(scif_epd_t epd);
scif_epd_t cts_fx_nonblocking(scif_epd_t epd);

uint16_t cts_fx_free_port(void);
uint16_t cts_fx_taken_port(void);
int cts_fx_ports_exhausted(void);
struct scif_portID cts_fx_port_id(int node, int port);
struct scif_portID cts_fx_peer_port(void);
struct scif_portID cts_fx_peer_port_backlog(int backlog);
struct scif_portID cts_fx_peer_port_full(void);
struct scif_portID cts_fx_peer_port_accepting(void);
struct scif_portID cts_fx_peer_port_bound(void);
struct scif_portID cts_fx_peer_port_unused(void);
struct scif_portID cts_fx_peer_port_closing(void);
struct scif_portID cts_fx_absent_node_port(void);
struct scif_portID cts_fx_down_node_port(void);

struct cts_window cts_fx_window(size_t pages, int prot);
struct cts_window cts_fx_window_at(size_t pages, int prot, off_t offset);
struct cts_window cts_fx_window_on(scif_epd_t epd, size_t pages, int prot);
struct cts_window cts_fx_window_pair(size_t pages, int prot);
struct cts_window cts_fx_window_pair_prot(size_t pages, int prot_first, int prot_second);
struct cts_window cts_fx_window_gap(size_t pages, int prot);
struct cts_window cts_fx_window_of(scif_epd_t epd, void *addr, size_t len, int prot);
struct cts_window cts_fx_window_mapped(size_t pages, int prot);
struct cts_peer_window cts_fx_peer_window(size_t pages, int prot);
struct cts_peer_window cts_fx_peer_window_at(size_t pages, int prot, off_t offset);
struct cts_peer_window cts_fx_peer_window_on(scif_epd_t epd, size_t pages, int prot);
struct cts_peer_window cts_fx_peer_window_pair(size_t pages, int prot);
struct cts_peer_window cts_fx_peer_window_pair_prot(size_t pages, int prot_first, int prot_second);
struct cts_peer_window cts_fx_peer_window_gap(size_t pages, int prot);
struct cts_peer_window cts_fx_peer_window_closed(size_t pages, int prot);
struct cts_mapping cts_fx_mapping(struct cts_peer_window w, int prot);
struct cts_peer_mapping cts_fx_peer_mapping(struct cts_window w, int prot);
off_t cts_fx_free_offset(scif_epd_t epd);

unsigned char *cts_fx_buffer(size_t bytes);
unsigned char *cts_fx_pattern(size_t bytes, unsigned seed);
unsigned char *cts_fx_guarded(size_t bytes);
unsigned char *cts_fx_guarded_before(size_t bytes);
unsigned char *cts_fx_readonly(size_t bytes);
unsigned char *cts_fx_noaccess(size_t bytes);
unsigned char *cts_fx_unmapped(size_t bytes);
unsigned char *cts_fx_straddling(size_t bytes);
unsigned char *cts_fx_straddling_readonly(size_t bytes);
unsigned char *cts_fx_pages(size_t pages);
unsigned char *cts_fx_heap_pages(size_t pages);
unsigned char *cts_fx_shared_pages(size_t pages);
unsigned char *cts_fx_file_pages(size_t pages);
unsigned char *cts_fx_readonly_pages(size_t pages);
unsigned char *cts_fx_noaccess_pages(size_t pages);
unsigned char *cts_fx_unmapped_pages(size_t pages);
unsigned char *cts_fx_straddling_pages(size_t pages);

int cts_fx_integer(int value);
off_t cts_fx_offset(off_t value);
size_t cts_fx_length(size_t value);
uint64_t cts_fx_word(uint64_t value);
scif_epd_t cts_fx_epd_out(void);
uint16_t cts_fx_node_out(void);
uint16_t *cts_fx_node_ids(size_t entries);
struct scif_portID cts_fx_port_out(void);
struct scif_pollepd cts_fx_pollepd(scif_epd_t epd, int events);
struct scif_pollepd *cts_fx_pollset(size_t entries);
int cts_fx_mark(scif_epd_t epd, int flags);
int cts_fx_descriptors(void);

struct cts_thread *cts_fx_sending(scif_epd_t epd, int bytes);
struct cts_thread *cts_fx_receiving(scif_epd_t epd, int bytes);
struct cts_thread *cts_fx_accepting(scif_epd_t epd);
struct cts_thread *cts_fx_connecting_to(scif_epd_t epd, struct scif_portID dst);
struct cts_thread *cts_fx_polling(scif_epd_t epd, int events);
struct cts_thread *cts_fx_polling2(scif_epd_t epd, int events);

struct cts_stall *cts_fx_stalled_write(struct cts_peer_window w);
struct cts_stall *cts_fx_stalled_read(struct cts_peer_window w);
struct cts_stall *cts_fx_peer_stalled_write(struct cts_window w);

#endif
