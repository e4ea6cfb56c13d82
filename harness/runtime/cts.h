/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a generated test or a hand-written scenario sees of the test runtime, whatever API is under
 * test: the case table that the spec compiler emits, verdicts, memory, threads, children, the peer,
 * limits, faults. cts_scif.h and cts_rsm.h add what belongs to one API; tests include one of them.
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

/* The case table, emitted by the spec compiler. */

struct cts_result {
	intptr_t ret; /* the returned value, converted */
	int err; /* errno after the call, which was 0 before; or the value, where that is the code
		  */
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
	bool is_slow;	   /* takes as long as a long case, though it is none */
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
extern const char cts_function[];

/* The API that the program tests. */
struct cts_api;
extern const struct cts_api *const cts_api;

/* Verdicts from inside a case. */

/* Names the step under way; it appears in the reason when the set-up breaks. */
void cts_step(const char *text);

void cts_check(bool holds, const char *text, const char *file, int line);
void cts_check_effect(bool holds, const char *text, const char *file, int line);
/* A comparison of what the clause's call returned with VALUE; IS is its operator. */
void cts_check_returned(bool holds, intptr_t ret, const char *is, intptr_t value, const char *text);
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
		cts_result_of(cts_ret_, errno);                                                    \
	}))
/* CTS_OBSERVE, and FAIL (kind value or errno, the case ends) unless it failed with NAME. */
#define CTS_OBSERVE_ERROR(call, name)                                                              \
	cts_expect_error(CTS_OBSERVE(call), (name), #call " gives " #name)

struct cts_result cts_result_of(intptr_t ret, int err);
struct cts_result cts_observe(intptr_t ret, int err);
struct cts_result cts_expect_error(struct cts_result r, int err, const char *text);
/* FAIL, kind errno, when the call failed: it returned -1, or an error code */
void cts_expect_ok(struct cts_result r, const char *text);
bool cts_failed_with(struct cts_result r, int err);

/* The value of a scenario's parameter `name`; UNRESOLVED when the clause has none. */
long cts_param(const char *name);
/* "documented" or "knc". */
const char *cts_profile(void);
/* Scenarios: UNTESTED with its reason when NAME of the vocabulary's needs is not met here. */
void cts_need(const char *name);

/* An exception to the oracle of error cases, for set-up statements: descriptors, mappings or heap
 * may grow when the call is repeated. */
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
/* So many pages of which only the first is held back, as by the `held` fixture. */
unsigned char *cts_held_start(size_t pages);
/* A `held` fixture's pages arrive, with pattern 7. */
void cts_held_release(const void *p);
/* True while the 64 bytes on each side of a `buffer` fixture hold what the fixture put there. */
bool cts_guards_ok(const unsigned char *buffer);
size_t cts_page_size(void);
/* the whole range, by /proc/self/maps */
bool cts_is_mapped(const void *p, size_t n);
/* loading that byte raises a signal */
bool cts_faults_on_read(const void *p);
bool cts_faults_on_write(void *p);
/* False shortly before the case would be killed for the time it took. */
bool cts_time_left(void);
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
/* Readiness and time. */

/* poll(2), select(2), epoll(7) on a descriptor with timeout 0. select gives
 * POLLIN|POLLOUT|POLLPRI bits. */
int cts_poll2(int fd, int events);
int cts_select(int fd, int events);
int cts_epoll(int fd, int events);
/* An edge-triggered epoll set with one member: edges since the last question, without waiting;
 * close when done. */
int cts_epoll_edge_open(int fd, int events);
int cts_epoll_edge(int set);
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

/* Child processes of the test process (fork tests). */

/* Forks, runs fn(arg) in the child and ends the child with exit(its value); the pid. */
pid_t cts_fork(int (*fn)(void *arg), void *arg);
int cts_wait_child(pid_t pid);	/* bounded; exit status, or 128 + signal */
void cts_kill_child(pid_t pid); /* SIGKILL and wait */
/* From here on the case runs in a forked child; the parent waits for it and ends as it does. */
void cts_become_child(void);
/* The peer. */

struct cts_peer;
/* the case's peer on another node, started on first use */
struct cts_peer *cts_peer(void);
struct cts_peer *cts_peer_start(int node);		 /* one more, on that node */
struct cts_peer *cts_peer_start_as(int node, uid_t uid); /* needs root */
uint16_t cts_peer_node(struct cts_peer *p);
pid_t cts_peer_pid(struct cts_peer *p); /* as the peer sees itself */

/* Any verb of docs/peer-protocol.md. A refused verb is UNRESOLVED, a failing call a result:
 * -1 and the number of the error. */
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
/* A transfer that is really in flight. */

/*
 * A transfer of one page whose local buffer is held back by userfaultfd: the call, ours or the
 * peer's, sleeps inside the transfer until released.
 */
struct cts_stall;
void cts_stall_release(struct cts_stall *s); /* the page arrives, pattern 7 */
bool cts_stall_pending(struct cts_stall *s); /* the transfer has not finished yet */
/* bounded; of the transfer; release first */
struct cts_result cts_stall_join(struct cts_stall *s);
/* Nodes, ports, limits, faults. */

/* "up", "down", "sleep" by the node adapter; undone at the end of the case. */
void cts_node(int node, const char *state);
/* The ephemeral ports, by the port adapter; undone at the end of the case. */
void cts_ports(unsigned low, unsigned high);
/* A fabric of a version that the library does not fit, by the version adapter; undone at the end of
 * the case. */
void cts_other_version(bool on);
uint16_t cts_self_node(void);
int cts_node_count(void); /* online nodes, as the implementation tells */
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

/* Fixtures: spec/vocabulary.yaml says what each one is. */

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
unsigned char *cts_fx_sysv_pages(size_t pages);
unsigned char *cts_fx_shared_file_pages(size_t pages);
unsigned char *cts_fx_private_file_pages(size_t pages);
unsigned char *cts_fx_writeonly_pages(size_t pages);
unsigned char *cts_fx_held(size_t pages);

int cts_fx_integer(int value);
off_t cts_fx_offset(off_t value);
size_t cts_fx_length(size_t value);
uint64_t cts_fx_word(uint64_t value);
int cts_fx_descriptors(void);

#endif
