/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutants of libscif that were written by hand: endpoints, connections, messages, readiness, nodes;
 * by_hand.tsv says what each gets wrong.
 */
#include "scif_by_hand.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wrapped.h"

#define PAGE 4096L
#define EPDS 1024

static struct wrapped real;

/* What a mutant does on the side shall not show in errno. */
static int keep_errno(int result, int error)
{
	errno = error;
	return result;
}

/* --- endpoints --- */

static scif_epd_t open_without_cloexec(void)
{
	scif_epd_t epd = real.open();

	if (epd >= 0)
		fcntl(epd, F_SETFD, 0);
	return epd;
}

static scif_epd_t open_nonblocking(void)
{
	scif_epd_t epd = real.open();

	if (epd >= 0)
		fcntl(epd, F_SETFL, O_NONBLOCK);
	return epd;
}

static int bind_any_below_reserved(scif_epd_t epd, uint16_t pn)
{
	uint16_t port;
	int result;

	if (pn)
		return real.bind(epd, pn);
	for (port = SCIF_ADMIN_PORT_END; port < SCIF_PORT_RSVD; port++) {
		result = real.bind(epd, port);
		if (result >= 0 || errno != EINVAL)
			return result;
	}
	return real.bind(epd, 0);
}

static int bind_fixed_elsewhere(scif_epd_t epd, uint16_t pn)
{
	if (pn >= SCIF_ADMIN_PORT_END && pn < UINT16_MAX && real.bind(epd, pn + 1) >= 0)
		return pn;
	return real.bind(epd, pn);
}

static bool is_listening(int socket)
{
	int listening = 0;
	socklen_t length = sizeof(listening);

	return getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) == 0 && listening;
}

/* Another descriptor of the socket keeps the port. */
static int close_keeps_port(scif_epd_t epd)
{
	int copy = is_listening(epd) ? fcntl(epd, F_DUPFD_CLOEXEC, 64) : -1;
	int result = real.close(epd), error = errno;

	if (result < 0 && copy >= 0)
		close(copy);
	return keep_errno(result, error);
}

static int listen_one_more(scif_epd_t epd, int backlog)
{
	return real.listen(epd, backlog > 0 && backlog < 1000 ? backlog + 1 : backlog);
}

static int listen_at_least_one(scif_epd_t epd, int backlog)
{
	return real.listen(epd, backlog < 1 ? 1 : backlog);
}

/* --- connections --- */

static int held_back[EPDS]; /* port of a connect whose success was not told yet */
static bool pending[EPDS];

static int connect_tells_pending_again(scif_epd_t epd, struct scif_portID *dst)
{
	int port;

	if (epd >= 0 && epd < EPDS && held_back[epd]) {
		port = held_back[epd];
		held_back[epd] = 0;
		return port;
	}
	port = real.connect(epd, dst);
	if (epd < 0 || epd >= EPDS)
		return port;
	if (port >= 0 && pending[epd]) {
		pending[epd] = false;
		held_back[epd] = port;
		errno = EINPROGRESS;
		return -1;
	}
	pending[epd] = port < 0 && errno == EINPROGRESS;
	return port;
}

static int told[EPDS];

static int connect_tells_success_again(scif_epd_t epd, struct scif_portID *dst)
{
	int port = real.connect(epd, dst);

	if (epd < 0 || epd >= EPDS)
		return port;
	if (port >= 0)
		told[epd] = port;
	else if (errno == EISCONN && told[epd])
		return told[epd];
	return port;
}

static int connect_before_accept(scif_epd_t epd, struct scif_portID *dst)
{
	int flags = fcntl(epd, F_GETFL), port = real.bind(epd, 0), result, error;

	if (flags < 0 || flags & O_NONBLOCK || port < 0)
		return real.connect(epd, dst);
	fcntl(epd, F_SETFL, flags | O_NONBLOCK);
	result = real.connect(epd, dst);
	error = errno;
	fcntl(epd, F_SETFL, flags);
	if (result < 0 && error == EINPROGRESS)
		return port;
	return keep_errno(result, error);
}

static int connect_port_off_by_one(scif_epd_t epd, struct scif_portID *dst)
{
	int port = real.connect(epd, dst);

	return port < 0 ? port : port + 1;
}

static int connect_leaks_descriptor(scif_epd_t epd, struct scif_portID *dst)
{
	int port = real.connect(epd, dst), error = errno;

	if (port >= 0)
		eventfd(0, EFD_CLOEXEC);
	return keep_errno(port, error);
}

static int connect_refused_leaks_descriptor(scif_epd_t epd, struct scif_portID *dst)
{
	int port = real.connect(epd, dst), error = errno;

	if (port < 0 && error == ECONNREFUSED)
		eventfd(0, EFD_CLOEXEC);
	return keep_errno(port, error);
}

static int accept_peer_port_off_by_one(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd,
				       int flags)
{
	int result = real.accept(epd, peer, newepd, flags);

	if (result == 0)
		peer->port++;
	return result;
}

static int accept_names_own_node(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd,
				 int flags)
{
	int result = real.accept(epd, peer, newepd, flags);

	if (result == 0)
		real.get_nodeIDs(NULL, 0, &peer->node);
	return result;
}

static int accept_inherits_nonblocking(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd,
				       int flags)
{
	int result = real.accept(epd, peer, newepd, flags), status = fcntl(epd, F_GETFL);

	if (result == 0 && status & O_NONBLOCK)
		fcntl(*newepd, F_SETFL, O_NONBLOCK);
	return result;
}

static int accept_never_waits(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd,
			      int flags)
{
	return real.accept(epd, peer, newepd, flags & ~SCIF_ACCEPT_SYNC);
}

static int accept_writes_on_failure(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd,
				    int flags)
{
	int result = real.accept(epd, peer, newepd, flags), error = errno;

	if (result < 0 && error == EAGAIN)
		*newepd = -1;
	return keep_errno(result, error);
}

/* --- messages --- */

static int send_blocking_is_short(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = real.send(epd, msg, len, flags == SCIF_SEND_BLOCK ? 0 : flags);

	/* Only what is begun is short; into a full queue it waits. */
	return count == 0 && flags == SCIF_SEND_BLOCK ? real.send(epd, msg, len, flags) : count;
}

static int send_always_blocks(scif_epd_t epd, void *msg, int len, int flags)
{
	return real.send(epd, msg, len, flags == 0 ? SCIF_SEND_BLOCK : flags);
}

static int send_delivers_what_it_refuses(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = real.send(epd, msg, len, flags), error = errno;

	if (count < 0 && error == EINVAL && len > 0)
		real.send(epd, msg, len, 0);
	return keep_errno(count, error);
}

static int send_part_is_interrupted(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = real.send(epd, msg, len, flags);

	if (flags != SCIF_SEND_BLOCK || count <= 0 || count == len)
		return count;
	errno = EINTR;
	return -1;
}

static int send_nothing_needs_connection(scif_epd_t epd, void *msg, int len, int flags)
{
	if (len == 0 && real.unreg(epd, 0, PAGE) < 0 && errno == ENOTCONN)
		return -1;
	return real.send(epd, msg, len, flags);
}

static int recv_end_is_zero(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = real.recv(epd, msg, len, flags);

	return count < 0 && errno == ECONNRESET ? 0 : count;
}

static int recv_blocking_is_short(scif_epd_t epd, void *msg, int len, int flags)
{
	int first, more;

	if (flags != SCIF_RECV_BLOCK || len < 2)
		return real.recv(epd, msg, len, flags);
	first = real.recv(epd, msg, 1, flags);
	if (first <= 0)
		return first;
	more = real.recv(epd, (char *)msg + 1, len - 1, 0);
	return more > 0 ? 1 + more : 1;
}

static int recv_clears_rest(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = real.recv(epd, msg, len, flags);

	if (count > 0 && count < len)
		memset((char *)msg + count, 0, len - count);
	return count;
}

static int recv_empty_is_eagain(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = real.recv(epd, msg, len, flags);

	if (count || !len || flags)
		return count;
	errno = EAGAIN;
	return -1;
}

static int recv_takes_one_too_many(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = real.recv(epd, msg, len, flags);
	char lost;

	if (count == len && len > 0 && len < 4095)
		real.recv(epd, &lost, 1, 0);
	return count;
}

/* --- readiness --- */

static int count_ready(struct scif_pollepd *epds, unsigned int nepds)
{
	unsigned int i;
	int ready = 0;

	for (i = 0; i < nepds; i++)
		ready += epds[i].revents != 0;
	return ready;
}

static bool is_connected(scif_epd_t epd)
{
	return real.unreg(epd, 0, PAGE) < 0 && errno == ENXIO;
}

static int poll_shows_room_in_full_queue(struct scif_pollepd *epds, unsigned int nepds,
					 long timeout)
{
	unsigned int i;

	if (real.poll(epds, nepds, 0) < 0)
		return -1;
	for (i = 0; i < nepds; i++) {
		if (is_connected(epds[i].epd) && !(epds[i].revents & SCIF_POLLHUP))
			epds[i].revents |= epds[i].events & SCIF_POLLOUT;
	}
	if (count_ready(epds, nepds))
		return count_ready(epds, nepds);
	return real.poll(epds, nepds, timeout);
}

static int poll_without(struct scif_pollepd *epds, unsigned int nepds, int ready, short bit)
{
	unsigned int i;

	if (ready <= 0)
		return ready;
	for (i = 0; i < nepds; i++)
		epds[i].revents &= ~bit;
	return count_ready(epds, nepds);
}

static int poll_shows_no_hup(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	return poll_without(epds, nepds, real.poll(epds, nepds, timeout), SCIF_POLLHUP);
}

static int poll_shows_no_nval(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	return poll_without(epds, nepds, real.poll(epds, nepds, timeout), SCIF_POLLNVAL);
}

static int poll_hup_hides_data(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	int ready = real.poll(epds, nepds, timeout);
	unsigned int i;

	for (i = 0; ready > 0 && i < nepds; i++) {
		if (epds[i].revents & SCIF_POLLHUP)
			epds[i].revents = SCIF_POLLHUP;
	}
	return ready;
}

static int poll_counts_entries(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	int ready = real.poll(epds, nepds, timeout);

	return ready > 0 ? (int)nepds : ready;
}

static int poll_ends_early(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	return real.poll(epds, nepds, timeout > 1 ? timeout / 2 : timeout);
}

static int poll_shows_unasked(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	struct scif_pollepd all[64];
	int ready = real.poll(epds, nepds, timeout);
	unsigned int i;

	if (ready <= 0 || nepds > 64)
		return ready;
	memcpy(all, epds, nepds * sizeof(*epds));
	for (i = 0; i < nepds; i++)
		all[i].events |= SCIF_POLLIN | SCIF_POLLOUT;
	real.poll(all, nepds, 0);
	for (i = 0; i < nepds; i++)
		epds[i].revents |= all[i].revents;
	return ready;
}

static int poll_leaves_old_answers(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	short before[64];
	unsigned int i;
	int ready;

	for (i = 0; epds && i < nepds && i < 64; i++)
		before[i] = epds[i].revents;
	ready = real.poll(epds, nepds, timeout);
	for (i = 0; ready >= 0 && i < nepds && i < 64; i++) {
		if (!epds[i].revents)
			epds[i].revents = before[i];
	}
	return ready;
}

/* --- nodes and events --- */

static int get_nodeIDs_one_too_many(uint16_t *nodes, int len, uint16_t *self)
{
	int count = real.get_nodeIDs(nodes, len, self);

	return count < 0 ? count : count + 1;
}

static int get_nodeIDs_past_the_end(uint16_t *nodes, int len, uint16_t *self)
{
	uint16_t all[64];
	int count = real.get_nodeIDs(nodes, len, self), error = errno, most;

	most = count < 0 ? 0 : real.get_nodeIDs(all, 64, self);
	if (count >= 0 && len >= 0 && len < most && nodes)
		nodes[len] = all[len];
	return keep_errno(count, error);
}

static scif_event_handler_t first_handler;
static atomic_int handler_count;

static void handle_twice(enum scif_event event, union scif_event_data data)
{
	first_handler(event, data);
	first_handler(event, data);
}

static void handle_every_other(enum scif_event event, union scif_event_data data)
{
	static atomic_int number;

	if (atomic_fetch_add(&number, 1) % 2 == 0)
		first_handler(event, data);
}

static void handle_as_removed(enum scif_event event, union scif_event_data data)
{
	uint16_t node = event == SCIF_NODE_ADDED ? data.scif_node_added : data.scif_node_removed;

	first_handler(SCIF_NODE_REMOVED, (union scif_event_data){.scif_node_removed = node});
}

static int register_through(scif_event_handler_t handler, scif_event_handler_t ours)
{
	if (!handler || atomic_fetch_add(&handler_count, 1) > 0)
		return real.event_register(handler);
	first_handler = handler;
	return real.event_register(ours);
}

static int event_is_doubled(scif_event_handler_t handler)
{
	return register_through(handler, handle_twice);
}

static int event_is_lost(scif_event_handler_t handler)
{
	return register_through(handler, handle_every_other);
}

static int event_is_always_removal(scif_event_handler_t handler)
{
	return register_through(handler, handle_as_removed);
}

static int event_second_handler_forgotten(scif_event_handler_t handler)
{
	if (handler && atomic_fetch_add(&handler_count, 1) > 0)
		return 0;
	return real.event_register(handler);
}

#define MUTATIONS(MUTATION)                                                                        \
	MUTATION("scif-open-without-cloexec", open, open_without_cloexec)                          \
	MUTATION("scif-open-nonblocking", open, open_nonblocking)                                  \
	MUTATION("scif-bind-any-below-reserved", bind, bind_any_below_reserved)                    \
	MUTATION("scif-bind-fixed-elsewhere", bind, bind_fixed_elsewhere)                          \
	MUTATION("scif-close-keeps-port", close, close_keeps_port)                                 \
	MUTATION("scif-listen-one-too-many", listen, listen_one_more)                              \
	MUTATION("scif-listen-backlog-0-admits", listen, listen_at_least_one)                      \
	MUTATION("scif-connect-einprogress-again", connect, connect_tells_pending_again)           \
	MUTATION("scif-connect-success-again", connect, connect_tells_success_again)               \
	MUTATION("scif-connect-before-accept", connect, connect_before_accept)                     \
	MUTATION("scif-connect-wrong-port", connect, connect_port_off_by_one)                      \
	MUTATION("scif-connect-leaks-descriptor", connect, connect_leaks_descriptor)               \
	MUTATION("scif-connect-refused-leaks", connect, connect_refused_leaks_descriptor)          \
	MUTATION("scif-accept-wrong-peer-port", accept, accept_peer_port_off_by_one)               \
	MUTATION("scif-accept-wrong-peer-node", accept, accept_names_own_node)                     \
	MUTATION("scif-accept-inherits-nonblocking", accept, accept_inherits_nonblocking)          \
	MUTATION("scif-accept-never-waits", accept, accept_never_waits)                            \
	MUTATION("scif-accept-writes-on-failure", accept, accept_writes_on_failure)                \
	MUTATION("scif-send-blocking-short", send, send_blocking_is_short)                         \
	MUTATION("scif-send-always-blocks", send, send_always_blocks)                              \
	MUTATION("scif-send-delivers-refused", send, send_delivers_what_it_refuses)                \
	MUTATION("scif-send-part-is-eintr", send, send_part_is_interrupted)                        \
	MUTATION("scif-send-nothing-needs-connection", send, send_nothing_needs_connection)        \
	MUTATION("scif-recv-end-is-zero", recv, recv_end_is_zero)                                  \
	MUTATION("scif-recv-blocking-short", recv, recv_blocking_is_short)                         \
	MUTATION("scif-recv-clears-rest", recv, recv_clears_rest)                                  \
	MUTATION("scif-recv-empty-is-eagain", recv, recv_empty_is_eagain)                          \
	MUTATION("scif-recv-loses-byte", recv, recv_takes_one_too_many)                            \
	MUTATION("scif-poll-room-while-full", poll, poll_shows_room_in_full_queue)                 \
	MUTATION("scif-poll-no-hup", poll, poll_shows_no_hup)                                      \
	MUTATION("scif-poll-no-nval", poll, poll_shows_no_nval)                                    \
	MUTATION("scif-poll-hup-hides-data", poll, poll_hup_hides_data)                            \
	MUTATION("scif-poll-counts-entries", poll, poll_counts_entries)                            \
	MUTATION("scif-poll-ends-early", poll, poll_ends_early)                                    \
	MUTATION("scif-poll-shows-unasked", poll, poll_shows_unasked)                              \
	MUTATION("scif-poll-old-answers", poll, poll_leaves_old_answers)                           \
	MUTATION("scif-nodes-one-too-many", get_nodeIDs, get_nodeIDs_one_too_many)                 \
	MUTATION("scif-nodes-past-the-end", get_nodeIDs, get_nodeIDs_past_the_end)                 \
	MUTATION("scif-event-doubled", event_register, event_is_doubled)                           \
	MUTATION("scif-event-lost", event_register, event_is_lost)                                 \
	MUTATION("scif-event-always-removal", event_register, event_is_always_removal)             \
	MUTATION("scif-event-second-handler", event_register, event_second_handler_forgotten)

MUTATIONS(SCIF_INSTALLER)

const struct mutation scif_by_hand[] = {MUTATIONS(MUTATION_ENTRY)};
const size_t scif_by_hand_count = sizeof(scif_by_hand) / sizeof(*scif_by_hand);
