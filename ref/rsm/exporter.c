/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serving those who connect to a published segment, in the service thread: claims are answered,
 * importers admitted, relayed transfers carried out.
 */
#include "exporter.h"

#include <errno.h>
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

/* How soon accept is tried again after memory or descriptors ran out. */
#define SHORTAGE_NS 100000000u

/* How long those that have just answered may take to answer again. */
#define MOMENT_NS 500000000u

/* Connections taken at a time, so that the others get their turn. */
enum { TAKEN_AT_ONCE = 8 };

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
}

void link_close(struct link *l)
{
	link_leave(l);
	channel_close(&l->channel);
	free(l);
	service_changed();
}

/* One that has not answered may have been stopped in the middle of a transfer. */
static void link_cut_off(struct link *l)
{
	scif_epd_t epd;

	link_leave(l);
	epd = channel_abandon(&l->channel);
	free(l);
	if (epd >= 0)
		closer_close(epd);
}

off_t link_register(struct link *l, void *vaddr)
{
	int prot = (l->permission & RSM_PERM_READ ? SCIF_PROT_READ : 0) |
		   (l->permission & RSM_PERM_WRITE ? SCIF_PROT_WRITE : 0);
	off_t window = scif_register(l->channel.epd, vaddr, l->export->size, 0, prot, 0);

	return window == SCIF_REGISTER_FAILED ? -errno : window;
}

void link_unregister(struct link *l, off_t window)
{
	scif_unregister(l->channel.epd, window, l->export->size);
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
	while ((l = first_waiting(e)) != NULL)
		link_cut_off(l);
	return 0;
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
static int open_window(struct link *l)
{
	l->window = export_memory_in_place(l->export) ? link_register(l, l->export->binding.vaddr)
						      : -EFAULT;
	switch (l->window) {
	case -ENOMEM:
		return RSMERR_INSUFFICIENT_MEM;
	case -ECONNRESET:
	case -ENODEV:
		return RSMERR_CONN_ABORTED;
	default:
		l->relay = l->window < 0;
	}
	if (l->relay && channel_relay(&l->channel) != 0)
		return RSMERR_INSUFFICIENT_MEM;
	return RSM_SUCCESS;
}

static void on_connect(struct link *l, const struct wire_message *m)
{
	struct export *e = l->export;
	struct wire_message answer = {.type = WIRE_ANSWER, .segment_id = m->segment_id};

	l->permission = m->permission;
	answer.status = (uint32_t)may_connect(l, m);
	if (answer.status == RSM_SUCCESS)
		answer.status = (uint32_t)open_window(l);
	if (answer.status == RSM_SUCCESS) {
		answer.permission = l->permission;
		answer.size = e->size;
		answer.offset = l->relay ? 0 : (uint64_t)l->window;
		answer.flags = (l->relay ? WIRE_RELAY : 0) | (e->big_endian ? WIRE_BIG_ENDIAN : 0);
	}
	if (channel_send(&l->channel, &answer, NULL, 0) != 0 || answer.status != RSM_SUCCESS) {
		refuse(l);
		return;
	}
	l->admitted = true;
	watch_deadline(&l->channel.watch, 0);
}

static void on_done(struct link *l, const struct wire_message *m)
{
	if (!l->waiting || m->serial != l->serial)
		return;
	l->waiting = false;
	if (l->has_other && l->close_other) {
		link_unregister(l, l->other);
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

	if (!l->admitted) {
		guest_message(l, m);
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
	unsigned count = 0;

	for (struct link *l = e->links; l != NULL; l = l->next) {
		if (l->admitted)
			continue;
		oldest = l;
		count++;
	}
	if (count >= GUESTS)
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
	link_enter(l, e);
	l->channel.watch.due = guest_late;
	watch_deadline(&l->channel.watch, service_now() + SERVICE_PATIENCE_NS);
	return 0;
}

/*
 * 0 or why there was none. A connector of the embedded fabric that stalls can hold accept for a
 * moment, so the lock is not kept meanwhile.
 */
static int take_one(struct export *e)
{
	struct scif_portID peer;
	int epd, error;

	service_unlock();
	epd = endpoint_accept(e->listener.epd, &peer);
	service_lock();
	if (epd < 0)
		return epd;
	error = e->listener.closing ? -ENOENT : receive_guest(e, epd, peer.node);
	if (error != 0)
		endpoint_close(epd);
	return error;
}

static void take_guests(struct export *e)
{
	struct listener *listener = &e->listener;
	int error = 0;

	listener->accepting = true;
	for (int i = 0; i < TAKEN_AT_ONCE && error == 0 && !listener->closing; i++)
		error = take_one(e);
	listener->accepting = false;
	if (listener->closing) {
		service_changed();
		return;
	}
	/* A request that libscif has set aside for want of something does not show in epoll. */
	if (error == -EMFILE || error == -ENFILE || error == -ENOMEM) {
		watch_change(&listener->watch, 0);
		watch_deadline(&listener->watch, service_now() + SHORTAGE_NS);
	}
}

static struct export *export_of(struct watch *w)
{
	return (struct export *)((char *)w - offsetof(struct export, listener.watch));
}

static void knock(struct watch *w, uint32_t bits)
{
	(void)bits;
	take_guests(export_of(w));
}

static void shortage_over(struct watch *w)
{
	watch_change(w, EPOLLIN);
	take_guests(export_of(w));
}

int listener_open(struct export *e, scif_epd_t epd)
{
	int error;

	e->listener = (struct listener){
		.epd = epd,
		.watch = {.fd = scif_get_fd(epd), .ready = knock, .due = shortage_over}};
	error = watch_add(&e->listener.watch, EPOLLIN);
	if (error != 0)
		e->listener.epd = -1;
	return error;
}

void listener_close(struct export *e)
{
	if (e->listener.epd < 0)
		return;
	e->listener.closing = true;
	while (e->listener.accepting)
		service_wait(UINT64_MAX, false);
	watch_remove(&e->listener.watch);
	endpoint_close(e->listener.epd);
	e->listener.epd = -1;
}
