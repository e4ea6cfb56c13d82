/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serving those who connect to a published segment, in the service thread: claims are answered,
 * importers admitted, relayed transfers carried out.
 */
#include "exporter.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "access.h"
#include "anchor.h"
#include "caller_memory.h"
#include "closer.h"
#include "controller.h"
#include "endpoint.h"

/* Those who have not said what they want; the oldest goes when another comes. */
enum { GUESTS = 64 };

/* How soon accept is tried again after it has failed. */
#define SHORTAGE_NS 100000000u

/* How long those that have just answered may take to answer again. */
#define MOMENT_NS 500000000u

/* How often one that is to wait for its window hears that we are at it. */
#define WORKING_NS 1000000000u

/* Whoever takes longer to get through scif_accept() holds up those behind. */
#define HELD_UP_NS 250000000u
enum { MOST_ACCEPTING = 40 };

/* How long those that were cut off are waited for: what they hold may take for ever. */
#define CUT_OFF_NS 200000000u

/* --- links --- */

static void link_enter(struct link *l, struct export *e)
{
	l->export = e;
	l->next = e->links;
	if (l->next != NULL)
		l->next->prev = l;
	e->links = l;
}

static void link_leave(struct link *l)
{
	if (l->prev != NULL)
		l->prev->next = l->next;
	else
		l->export->links = l->next;
	if (l->next != NULL)
		l->next->prev = l->prev;
	if (l->guest)
		l->export->guests--;
}

static void link_closed(struct closing *c)
{
	free((char *)c - offsetof(struct link, closing));
}

void link_close(struct link *l)
{
	bool open;

	link_leave(l);
	open = channel_abandon(&l->channel) >= 0;
	l->over = true;
	service_changed();
	if (l->errands > 0)
		return;
	if (open && l->admitted) {
		closer_close(&l->closing, l->epd, l->export, link_closed);
		return;
	}
	/* It had no window that anything could wait for. */
	if (open)
		endpoint_close(l->epd);
	free(l);
}

/* Lock held: an errand that used the endpoint has come back. True when the link is over. */
static bool errand_done(struct link *l)
{
	l->errands--;
	service_changed();
	if (!l->over)
		return false;
	if (l->errands == 0)
		closer_close(&l->closing, l->epd, NULL, link_closed);
	return true;
}

off_t link_register(struct link *l, void *vaddr)
{
	int prot = (l->permission & RSM_PERM_READ ? SCIF_PROT_READ : 0) |
		   (l->permission & RSM_PERM_WRITE ? SCIF_PROT_WRITE : 0);
	off_t window = scif_register(l->epd, vaddr, l->export->size, 0, prot, 0);

	return window == SCIF_REGISTER_FAILED ? -errno : window;
}

void link_unregister(struct link *l, off_t window)
{
	scif_unregister(l->epd, window, l->export->size);
}

struct vacating {
	struct errand errand;
	struct link *link;
	off_t window;
	size_t size;
};

static void vacate(struct errand *errand)
{
	struct vacating *v =
		(struct vacating *)((char *)errand - offsetof(struct vacating, errand));
	struct link *l = v->link;

	scif_unregister(l->epd, v->window, v->size);
	service_lock();
	l->vacating--;
	errand_done(l);
	errand_free(errand);
	service_unlock();
}

/* scif_unregister() waits for transfers, and what the importer says of them need not be true. */
void link_vacate(struct link *l, off_t window)
{
	struct vacating *v = calloc(1, sizeof(*v));

	if (v == NULL) {
		link_unregister(l, window);
		return;
	}
	*v = (struct vacating){.errand = {.run = vacate, .peer_may_hold = true},
			       .link = l,
			       .window = window,
			       .size = l->export->size};
	if (errand_send_allocated(&v->errand) != 0) {
		link_unregister(l, window);
		free(v);
		return;
	}
	l->vacating++;
	l->errands++;
}

void link_ask(struct link *l, struct wire_message *question)
{
	question->serial = l->serial = ++l->export->serial;
	l->waiting = true;
	/* One that cannot be asked does not answer. */
	channel_send(&l->channel, question, NULL, 0);
}

void link_abort(struct link *l)
{
	struct wire_message m = {.type = WIRE_ABORT};

	l->ending = true;
	link_ask(l, &m);
}

void links_abort(struct export *e)
{
	for (struct link *l = e->links; l != NULL; l = l->next)
		if (l->admitted && !l->ending)
			link_abort(l);
}

static struct link *first_waiting(const struct export *e)
{
	struct link *l = e->links;

	while (l != NULL && !l->waiting)
		l = l->next;
	return l;
}

int links_await(struct export *e, bool interruptible)
{
	uint64_t deadline = service_now() + SERVICE_PATIENCE_NS;
	struct link *l;

	while (first_waiting(e) != NULL && service_now() < deadline)
		if (service_wait(deadline, interruptible) == -EINTR)
			return -EINTR;
	if (first_waiting(e) == NULL)
		return 0;
	/* One that has not answered may have been stopped in the middle of a transfer. */
	while ((l = first_waiting(e)) != NULL)
		link_close(l);
	closer_await(e, service_now() + CUT_OFF_NS);
	closer_disown(e);
	return 0;
}

void links_await_registered(struct export *e)
{
	while (e->registering > 0)
		service_wait(UINT64_MAX, false);
}

static bool same_memory(const struct binding *a, const struct binding *b)
{
	return a->vaddr == b->vaddr && a->window == b->window && a->print == b->print;
}

/* Also those that are closed meanwhile and not to be seen any more. */
static bool any_registers_old(const struct export *e)
{
	unsigned of_present = 0;

	for (const struct link *l = e->links; l != NULL; l = l->next)
		of_present += l->registering && same_memory(&l->registered, &e->binding);
	return e->registering > of_present;
}

void links_await_registered_old(struct export *e)
{
	while (any_registers_old(e))
		service_wait(UINT64_MAX, false);
}

static bool any_vacates(const struct export *e)
{
	const struct link *l = e->links;

	while (l != NULL && l->vacating == 0)
		l = l->next;
	return l != NULL;
}

void links_await_vacated(struct export *e)
{
	uint64_t deadline = service_now() + MOMENT_NS;

	while (any_vacates(e) && service_wait(deadline, false) == 0)
		;
}

static bool any_prompt_waits(const struct export *e)
{
	const struct link *l = e->links;

	while (l != NULL && !(l->waiting && l->prompt))
		l = l->next;
	return l != NULL;
}

void links_await_prompt(struct export *e)
{
	uint64_t deadline = service_now() + MOMENT_NS;

	while (any_prompt_waits(e) && service_wait(deadline, false) == 0)
		;
}

void links_close(struct export *e)
{
	while (e->links != NULL)
		link_close(e->links);
}

void export_signal(struct export *e, bool accumulate)
{
	for (struct link *l = e->links; l != NULL; l = l->next)
		if (l->admitted && !l->ending)
			channel_signal(&l->channel, accumulate);
}

void export_take_input(struct export *e)
{
	struct link *next;

	for (struct link *l = e->links; l != NULL; l = next) {
		next = l->next; /* the link may end with what it reads */
		channel_take_input(&l->channel);
	}
}

/* --- what comes from a link --- */

/* The connection is dropped; what was sent before stays readable for the other side. */
static void refuse(struct link *l)
{
	channel_end(&l->channel, CHANNEL_LOST);
}

static void on_ask(struct link *l, const struct wire_message *m)
{
	struct wire_message answer = {.type = WIRE_HOLDER, .segment_id = m->segment_id};
	struct export *e = l->export;

	if (m->segment_id == e->segment_id && !e->withdrawn) {
		if (e->state != EXPORT_CLAIMING || e->index < m->index)
			answer.status = RSMERR_SEGID_IN_USE;
		else
			e->withdrawn = true;
	}
	if (channel_send(&l->channel, &answer, NULL, 0) != 0)
		refuse(l);
}

/* A segment of loopback is for the own node, one of micN for the other end of that path as well. */
static bool led_to(const struct export *e, uint16_t node)
{
	uint16_t self;

	if (controller_own_node(&self) == RSM_SUCCESS && node == self)
		return true;
	return controller_reaches(e->segment.controller, node) != RSMERR_CTLR_NOT_PRESENT;
}

static int may_connect(struct link *l, const struct wire_message *m)
{
	struct export *e = l->export;
	struct access_caller who;
	int result;

	if (m->segment_id != e->segment_id || e->state != EXPORT_PUBLISHED)
		return RSMERR_SEG_NOT_PUBLISHED;
	if (!access_permission_known(m->permission))
		return RSMERR_PERM_DENIED;
	if (!led_to(e, l->channel.node))
		return RSMERR_SEG_NOT_PUBLISHED_TO_NODE;
	result = access_caller_of(l->channel.epd, l->channel.node, m->uid, m->gid, &who);
	if (result != RSM_SUCCESS)
		return result;
	result = access_allows(&e->access, e->owner, e->group, &who, m->permission);
	access_caller_free(&who);
	return result;
}

/*
 * Through messages goes what libscif cannot share with this importer, and memory that the program
 * has taken away from its address: the anchor still has it.
 */
static int take_window(struct link *l, off_t window)
{
	switch (window) {
	case -ENOMEM:
		return RSMERR_INSUFFICIENT_MEM;
	case -ECONNRESET:
	case -ENODEV:
		return RSMERR_CONN_ABORTED;
	default:
		l->window = window;
		l->relay = window < 0;
	}
	if (l->relay && channel_relay(&l->channel) != 0)
		return RSMERR_INSUFFICIENT_MEM;
	return RSM_SUCCESS;
}

/* False when the importer is refused; then the connection is to be dropped. */
static bool answer_connect(struct link *l, int status)
{
	struct export *e = l->export;
	struct wire_message answer = {
		.type = WIRE_ANSWER, .segment_id = e->segment_id, .status = (uint32_t)status};

	if (status == RSM_SUCCESS) {
		answer.permission = l->permission;
		answer.size = e->size;
		answer.offset = l->relay ? 0 : (uint64_t)l->window;
		answer.flags = (l->relay ? WIRE_RELAY : 0) | (e->big_endian ? WIRE_BIG_ENDIAN : 0);
	}
	if (channel_send(&l->channel, &answer, NULL, 0) != 0 || status != RSM_SUCCESS)
		return false;
	l->admitted = true;
	watch_deadline(&l->channel.watch, 0);
	return true;
}

static off_t open_window(struct link *l)
{
	return backing_is(l->registered.vaddr, l->export->size, l->registered.print)
		       ? link_register(l, l->registered.vaddr)
		       : -EFAULT;
}

static bool begin_opening(struct link *l);

/*
 * Lock held. The segment may have got other memory meanwhile, or may not be published any more.
 * False as answer_connect().
 */
static bool opened(struct link *l, off_t window)
{
	struct export *e = l->export;

	l->registering = false;
	e->registering--;
	if (errand_done(l))
		return true;
	if (e->state != EXPORT_PUBLISHED)
		return answer_connect(l, RSMERR_SEG_NOT_PUBLISHED);
	if (same_memory(&l->registered, &e->binding))
		return answer_connect(l, take_window(l, window));
	if (window >= 0)
		link_unregister(l, window);
	return begin_opening(l);
}

static void run_opening(struct errand *errand)
{
	struct link *l = (struct link *)((char *)errand - offsetof(struct link, opening));
	off_t window = open_window(l);

	service_lock();
	if (!opened(l, window))
		link_close(l);
	service_unlock();
}

static bool begin_opening(struct link *l)
{
	l->registered = l->export->binding;
	l->registering = true;
	l->export->registering++;
	l->errands++;
	l->opening.run = run_opening;
	return errand_send(&l->opening) == 0 || opened(l, open_window(l));
}

/* Gigabytes take seconds; the importer loses its patience with those who are silent. */
static void still_working(struct watch *w)
{
	struct link *l = (struct link *)((char *)w - offsetof(struct link, channel.watch));
	struct wire_message m = {.type = WIRE_WORKING};

	channel_send(&l->channel, &m, NULL, 0);
	watch_deadline(w, service_now() + WORKING_NS);
}

static void on_connect(struct link *l, const struct wire_message *m)
{
	int status = may_connect(l, m);

	l->guest = false;
	l->export->guests--;
	l->permission = m->permission;
	l->channel.watch.due = still_working;
	watch_deadline(&l->channel.watch, service_now() + WORKING_NS);
	if (!(status == RSM_SUCCESS ? begin_opening(l) : answer_connect(l, status)))
		refuse(l);
}

static void on_done(struct link *l, const struct wire_message *m)
{
	if (!l->waiting || m->serial != l->serial)
		return;
	l->waiting = false;
	if (l->has_other && l->close_other) {
		link_vacate(l, l->other);
		l->has_other = l->close_other = false;
	}
	if (l->ending)
		refuse(l);
	service_changed();
}

static bool inside(const struct export *e, uint64_t offset, uint64_t n)
{
	return n > 0 && n <= WIRE_PAYLOAD_MAX && offset <= e->size && n <= e->size - offset;
}

static bool may_transfer(const struct link *l, uint32_t permission, uint64_t offset, uint64_t n)
{
	return l->relay && !l->ending && (l->permission & permission) &&
	       inside(l->export, offset, n);
}

static int read_segment(const struct export *e, void *to, size_t n, uint64_t from)
{
	const struct binding *b = &e->binding;

	return b->window == BINDING_UNSHARED ? caller_fetch(to, (char *)b->vaddr + from, n)
					     : anchor_read(to, n, b->window + (off_t)from);
}

static int write_segment(const struct export *e, uint64_t to, const void *from, size_t n)
{
	const struct binding *b = &e->binding;

	return b->window == BINDING_UNSHARED ? caller_store((char *)b->vaddr + to, from, n)
					     : anchor_write(b->window + (off_t)to, from, n);
}

static uint32_t transfer_status(int error)
{
	switch (error) {
	case 0:
		return RSM_SUCCESS;
	case -ENOMEM:
	case -EAGAIN:
		return RSMERR_INSUFFICIENT_RESOURCES;
	default:
		return RSMERR_BARRIER_FAILURE;
	}
}

static void answer_transfer(struct link *l, struct wire_message *answer, const void *data, size_t n)
{
	int error = channel_send(&l->channel, answer, data, n);

	if (error == -ENOMEM) {
		answer->status = RSMERR_INSUFFICIENT_RESOURCES;
		error = channel_send(&l->channel, answer, NULL, 0);
	}
	if (error != 0)
		refuse(l);
}

static void on_get(struct link *l, const struct wire_message *m)
{
	static unsigned char bytes[WIRE_PAYLOAD_MAX]; /* the lock is held */
	struct wire_message answer = {.type = WIRE_DONE, .serial = m->serial};
	int error;

	if (!may_transfer(l, RSM_PERM_READ, m->offset, m->size)) {
		refuse(l);
		return;
	}
	error = read_segment(l->export, bytes, m->size, m->offset);
	answer.status = transfer_status(error);
	answer_transfer(l, &answer, bytes, error == 0 ? m->size : 0);
}

static void on_put(struct link *l, const struct wire_message *m, const void *payload)
{
	struct wire_message answer = {.type = WIRE_DONE, .serial = m->serial};

	if (!may_transfer(l, RSM_PERM_WRITE, m->offset, m->length)) {
		refuse(l);
		return;
	}
	answer.status = transfer_status(write_segment(l->export, m->offset, payload, m->length));
	answer_transfer(l, &answer, NULL, 0);
}

static void on_signal(struct link *l, const struct wire_message *m)
{
	if (m->size > 0)
		event_post(&l->export->segment.events, m->size, !(m->flags & WIRE_NO_ACCUMULATE));
}

static void guest_message(struct link *l, const struct wire_message *m)
{
	if (m->type == WIRE_ASK)
		on_ask(l, m);
	else if (m->type == WIRE_CONNECT)
		on_connect(l, m);
	else
		refuse(l);
}

static void message(struct channel *c, const struct wire_message *m, const void *payload)
{
	struct link *l = c->owner;

	if (l->guest) {
		guest_message(l, m);
		return;
	}
	if (!l->admitted) {
		refuse(l);
		return;
	}
	switch (m->type) {
	case WIRE_DONE:
		on_done(l, m);
		break;
	case WIRE_SIGNAL:
		on_signal(l, m);
		break;
	case WIRE_GET:
		on_get(l, m);
		break;
	case WIRE_PUT:
		on_put(l, m, payload);
		break;
	default:
		refuse(l);
	}
}

static void lost(struct channel *c)
{
	link_close(c->owner);
}

/* --- the listener --- */

static void guest_late(struct watch *w)
{
	struct link *l = (struct link *)((char *)w - offsetof(struct link, channel.watch));

	link_close(l);
}

static void make_room_for_guest(struct export *e)
{
	struct link *oldest = NULL;

	if (e->guests < GUESTS)
		return;
	for (struct link *l = e->links; l != NULL; l = l->next)
		if (l->guest)
			oldest = l;
	link_close(oldest);
}

static int receive_guest(struct export *e, scif_epd_t epd, uint16_t node)
{
	struct link *l = calloc(1, sizeof(*l));
	int error;

	if (l == NULL)
		return -ENOMEM;
	l->channel.owner = l;
	l->channel.message = message;
	l->channel.lost = lost;
	error = channel_open(&l->channel, epd, node);
	if (error != 0) {
		free(l);
		return error;
	}
	make_room_for_guest(e);
	l->epd = epd;
	l->guest = true;
	e->guests++;
	link_enter(l, e);
	l->channel.watch.due = guest_late;
	watch_deadline(&l->channel.watch, service_now() + SERVICE_PATIENCE_NS);
	return 0;
}

/* 0 or why there was none. */
static int take_one(struct export *e)
{
	struct scif_portID peer;
	int epd, error;

	service_unlock();
	epd = endpoint_accept(e->listener.epd, &peer);
	service_lock();
	e->listener.taken++;
	if (epd < 0)
		return epd;
	error = e->listener.closing ? -ENOENT : receive_guest(e, epd, peer.node);
	if (error != 0)
		endpoint_close(epd);
	return error;
}

/* Lock held, dropped meanwhile. The last that leaves an empty queue leaves no deadline either. */
static void take_guests(struct export *e)
{
	struct listener *listener = &e->listener;
	int error = 0;

	while (!listener->closing && (error == 0 || listener->knocked)) {
		listener->knocked = false;
		error = take_one(e);
	}
	listener->accepting--;
	if (listener->closing)
		service_changed();
	/* A request that was set aside for want of something, or others behind one that failed. */
	else if (error != -EAGAIN)
		watch_deadline(&listener->watch, service_now() + SHORTAGE_NS);
	else if (listener->accepting == 0)
		watch_deadline(&listener->watch, 0);
}

struct visit {
	struct errand errand;
	struct export *export;
};

static void run_visit(struct errand *errand)
{
	struct visit *v = (struct visit *)((char *)errand - offsetof(struct visit, errand));

	service_lock();
	take_guests(v->export);
	errand_free(errand);
	service_unlock();
}

/*
 * A connector that stalls can hold up scif_accept() on the embedded fabric. False: there was no
 * thread to be had, the guests were taken here, and the export may be gone by now.
 */
static bool send_visit(struct export *e)
{
	struct visit *v = calloc(1, sizeof(*v));

	e->listener.accepting++;
	watch_deadline(&e->listener.watch, service_now() + HELD_UP_NS);
	if (v != NULL) {
		*v = (struct visit){.errand.run = run_visit, .export = e};
		if (errand_send_allocated(&v->errand) == 0)
			return true;
	}
	free(v);
	take_guests(e);
	return false;
}

static struct export *export_of(struct watch *w)
{
	return (struct export *)((char *)w - offsetof(struct export, listener.watch));
}

/* Comes once for each request, or for several. */
static void knock(struct watch *w, uint32_t bits)
{
	struct export *e = export_of(w);

	(void)bits;
	e->listener.knocked = true;
	if (e->listener.accepting == 0)
		send_visit(e);
}

static bool request_there(const struct listener *l)
{
	struct pollfd p = {.fd = scif_get_fd(l->epd), .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/*
 * A shortage may be over; or somebody holds up the threads that accept, and others wait behind: as
 * many again soon get through however many stall.
 */
static void look_again(struct watch *w)
{
	struct export *e = export_of(w);
	struct listener *l = &e->listener;
	bool held_up = l->taken == l->seen && request_there(l);
	unsigned more = l->accepting == 0 ? 1 : held_up ? l->accepting : 0;

	l->seen = l->taken;
	watch_deadline(w, service_now() + HELD_UP_NS);
	if (more > MOST_ACCEPTING - l->accepting)
		more = MOST_ACCEPTING - l->accepting;
	while (more > 0 && send_visit(e))
		more--;
}

int listener_open(struct export *e, scif_epd_t epd)
{
	int error;

	e->listener = (struct listener){
		.epd = epd, .watch = {.fd = scif_get_fd(epd), .ready = knock, .due = look_again}};
	error = watch_add(&e->listener.watch, EPOLLIN | EPOLLET);
	if (error != 0)
		e->listener.epd = -1;
	return error;
}

void listener_close(struct export *e)
{
	if (e->listener.epd < 0)
		return;
	e->listener.closing = true;
	while (e->listener.accepting > 0)
		service_wait(UINT64_MAX, false);
	watch_remove(&e->listener.watch);
	endpoint_close(e->listener.epd);
	e->listener.epd = -1;
}
