/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the test runtime that belongs to SCIF: endpoints and their far ends, windows, ports,
 * node events, and the fixtures of spec/scif-vocabulary.yaml. Only the public SCIF interface is
 * used below this header, so it works on any implementation.
 */
#ifndef CTS_SCIF_H
#define CTS_SCIF_H

#include "cts.h"
#include "scif.h"
#include "scif_event.h"

extern const struct cts_api cts_api_scif;

/* An exception to the oracle of error cases, for set-up statements: readiness of this endpoint and
 * of its far end may differ after the failing call. */
void cts_may_change(scif_epd_t epd);

/* Readiness. */

/* scif_poll of one endpoint with timeout 0: revents; -1 and errno when the call failed. */
int cts_poll(scif_epd_t epd, int events);
/* The same, waiting (bounded) until any of `events`, ERR, HUP or NVAL shows. 0: time is up. */
int cts_poll_wait(scif_epd_t epd, int events);
/* Waits (bounded) until poll(2) shows HUP and the implementation must have taken it in. */
void cts_wait_hup(scif_epd_t epd);
void cts_set_nonblocking(scif_epd_t epd, bool on);

/* Threads of the test process. */

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

/* The peer. */

struct cts_peer *cts_peer_of(scif_epd_t epd); /* the peer that holds the far end of epd */
int cts_far(scif_epd_t epd);		      /* the number of the far end in its peer */
/* scenarios that connect by hand */
void cts_link(scif_epd_t epd, struct cts_peer *p, int far);

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
/* Node of the far end of epd, by the node adapter; "down" also waits for HUP at our end. */
void cts_far_node(scif_epd_t epd, const char *state);
bool cts_port_is_free(uint16_t port); /* another endpoint can bind it; undone again */

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
/* Fixtures: spec/scif-vocabulary.yaml says what each one is. */

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

scif_epd_t cts_fx_epd_out(void);
uint16_t cts_fx_node_out(void);
uint16_t *cts_fx_node_ids(size_t entries);
struct scif_portID cts_fx_port_out(void);
struct scif_pollepd cts_fx_pollepd(scif_epd_t epd, int events);
struct scif_pollepd *cts_fx_pollset(size_t entries);
int cts_fx_mark(scif_epd_t epd, int flags);

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
