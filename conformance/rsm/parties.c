/* SPDX-License-Identifier: BSD-2-Clause */
/* The making of exporters and importers by hand: what parties.h declares. */
#include "parties.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

void parties_expect(int got, int wanted, const char *text)
{
	cts_expect_value(cts_observe(got, 0), wanted, text);
}

struct list list_of(rsm_node_id_t node, rsm_permission_t digits)
{
	return (struct list){.count = 1, .entries = {{node, digits}}};
}

struct list list_and(struct list l, rsm_node_id_t node, rsm_permission_t digits)
{
	l.entries[l.count++] = (rsmapi_access_entry_t){node, digits};
	return l;
}

struct cts_peer *second_peer(void)
{
	return cts_peer_start(cts_peer_node(cts_peer()));
}

struct cts_peer *neighbour(void)
{
	return cts_peer_start(cts_self_node());
}

static intptr_t required(struct cts_result r, const char *what)
{
	if (r.ret == -1)
		cts_unresolved("the peer's %s gives %d", what, r.err);
	return r.ret;
}

static intptr_t far_controller(struct cts_peer *peer)
{
	return required(cts_peer_call(peer, "rsm_controller scif0"), "rsm_get_controller");
}

struct far_export far_create(struct cts_peer *peer, size_t pages, unsigned flags)
{
	struct far_export e = {.peer = peer, .len = pages * cts_page_size()};

	e.memory = required(cts_peer_call(peer, "alloc %zu", e.len), "alloc");
	cts_peer_call(peer, "fill %jd %zu 3 0", (intmax_t)e.memory, e.len);
	e.handle = required(cts_peer_call(peer, "rsm_create %jd %jd %zu %u",
					  (intmax_t)far_controller(peer), (intmax_t)e.memory, e.len,
					  flags),
			    "rsm_memseg_export_create");
	return e;
}

struct cts_result far_publish(struct far_export *e, rsm_memseg_id_t id, struct list l)
{
	char text[200] = "";
	size_t used = 0;

	for (unsigned i = 0; i < l.count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, " %u %u",
					 l.entries[i].ae_node, l.entries[i].ae_permission);
	struct cts_result r =
		cts_peer_call(e->peer, "rsm_publish %jd %u%s", (intmax_t)e->handle, id, text);
	if (r.ret != -1)
		e->id = (rsm_memseg_id_t)r.ret;
	return r;
}

struct far_export far_published(struct cts_peer *peer, size_t pages)
{
	struct far_export e = far_create(peer, pages, RSM_ALLOW_REBIND);

	required(far_publish(&e, 0, (struct list){.count = 0}), "rsm_memseg_export_publish");
	return e;
}

struct cts_result far_try(struct cts_peer *peer, rsm_node_id_t node, rsm_memseg_id_t id,
			  rsm_permission_t perm)
{
	return cts_peer_call(peer, "rsm_connect %jd %u %u %u", (intmax_t)far_controller(peer), node,
			     id, perm);
}

struct far_import far_connect(struct cts_peer *peer, rsm_node_id_t node, rsm_memseg_id_t id,
			      rsm_permission_t perm)
{
	struct far_import i = {.peer = peer};

	i.handle = required(far_try(peer, node, id, perm), "rsm_memseg_import_connect");
	required(cts_peer_call(peer, "rsm_barrier %jd", (intmax_t)i.handle),
		 "rsm_memseg_import_init_barrier");
	return i;
}

void far_disconnect(struct far_import i)
{
	required(cts_peer_call(i.peer, "rsm_disconnect %jd", (intmax_t)i.handle),
		 "rsm_memseg_import_disconnect");
}

int far_can_connect(struct cts_peer *peer, rsm_node_id_t node, rsm_memseg_id_t id,
		    rsm_permission_t perm)
{
	struct cts_result r = far_try(peer, node, id, perm);

	if (r.ret != -1)
		far_disconnect((struct far_import){peer, r.ret});
	return value_of(r);
}

intptr_t far_map(struct far_import i, rsm_permission_t perm, off_t offset, size_t len)
{
	return required(cts_peer_call(i.peer, "rsm_map %jd %u %jd %zu", (intmax_t)i.handle, perm,
				      (intmax_t)offset, len),
			"rsm_memseg_import_map");
}

static intptr_t far_buffer(struct cts_peer *peer, size_t n)
{
	return required(cts_peer_call(peer, "alloc %zu", n), "alloc");
}

static void far_buffer_free(struct cts_peer *peer, intptr_t at, size_t n)
{
	cts_peer_call(peer, "free %jd %zu", (intmax_t)at, n);
}

bool far_mapping_is(struct far_import i, intptr_t at, size_t n, unsigned seed, size_t from)
{
	return cts_peer_call(i.peer, "is %jd %zu %u %zu", (intmax_t)at, n, seed, from).ret == 1;
}

bool far_reads(struct far_import i, off_t offset, size_t n, unsigned seed, size_t from)
{
	intptr_t buffer = far_buffer(i.peer, n);
	struct cts_result r = cts_peer_call(i.peer, "rsm_get %jd %jd %zu %jd", (intmax_t)i.handle,
					    (intmax_t)offset, n, (intmax_t)buffer);
	bool same = r.ret != -1 && far_mapping_is(i, buffer, n, seed, from);

	far_buffer_free(i.peer, buffer, n);
	return same;
}

int far_put(struct far_import i, off_t offset, size_t n, unsigned seed, size_t from)
{
	intptr_t buffer = far_buffer(i.peer, n);

	cts_peer_call(i.peer, "fill %jd %zu %u %zu", (intmax_t)buffer, n, seed, from);
	struct cts_result r = cts_peer_call(i.peer, "rsm_put %jd %jd %zu %jd", (intmax_t)i.handle,
					    (intmax_t)offset, n, (intmax_t)buffer);
	far_buffer_free(i.peer, buffer, n);
	return value_of(r);
}

int far_get8(struct far_import i)
{
	intptr_t buffer = far_buffer(i.peer, 1);
	struct cts_result r =
		cts_peer_call(i.peer, "rsm_get %jd 0 1 %jd", (intmax_t)i.handle, (intmax_t)buffer);

	far_buffer_free(i.peer, buffer, 1);
	return value_of(r);
}

int near_connect(struct near_import *i, const char *controller, rsm_node_id_t node,
		 rsm_memseg_id_t id, rsm_permission_t perm)
{
	rsmapi_controller_handle_t c = cts_fx_controller(controller);
	int value = rsm_memseg_import_connect(c, node, id, perm, &i->handle);

	if (value != RSM_SUCCESS)
		return value;
	CTS_REQUIRE(rsm_memseg_import_init_barrier(i->handle, RSM_BAR_DEFAULT, &i->barrier) ==
		    RSM_SUCCESS);
	return RSM_SUCCESS;
}

int near_can_connect(rsm_node_id_t node, rsm_memseg_id_t id, rsm_permission_t perm)
{
	rsmapi_controller_handle_t c;
	rsm_memseg_import_handle_t handle;

	CTS_REQUIRE(rsm_get_controller("scif0", &c) == RSM_SUCCESS);
	int value = rsm_memseg_import_connect(c, node, id, perm, &handle);
	if (value == RSM_SUCCESS)
		CTS_REQUIRE(rsm_memseg_import_disconnect(handle) == RSM_SUCCESS);
	CTS_REQUIRE(rsm_release_controller(c) == RSM_SUCCESS);
	return value;
}

bool near_reads(struct near_import *i, off_t offset, size_t n, unsigned seed, size_t from)
{
	unsigned char *bytes = malloc(n);
	bool same = rsm_memseg_import_get(i->handle, offset, bytes, n) == RSM_SUCCESS &&
		    cts_is_pattern_at(bytes, n, seed, from);

	free(bytes);
	return same;
}

int near_put(struct near_import *i, off_t offset, size_t n, unsigned seed, size_t from)
{
	unsigned char *bytes = malloc(n);

	cts_fill_at(bytes, n, seed, from);
	int value = rsm_memseg_import_put(i->handle, offset, bytes, n);
	free(bytes);
	return value;
}

int near_get8(struct near_import *i)
{
	uint8_t byte;

	return rsm_memseg_import_get8(i->handle, 0, &byte, 1);
}

rsm_memseg_export_handle_t near_create(const char *controller, void *mem, size_t len,
				       unsigned flags)
{
	rsm_memseg_export_handle_t segment;

	CTS_REQUIRE(rsm_memseg_export_create(cts_fx_controller(controller), &segment, mem, len,
					     flags) == RSM_SUCCESS);
	return segment;
}

rsm_memseg_id_t near_publish(rsm_memseg_export_handle_t segment, struct list l)
{
	rsm_memseg_id_t id = 0;

	CTS_REQUIRE(rsm_memseg_export_publish(segment, &id, l.entries, l.count) == RSM_SUCCESS);
	return id;
}

struct turns turns_open(void)
{
	struct turns t;

	CTS_REQUIRE(pipe2(t.to_child, O_CLOEXEC) == 0);
	CTS_REQUIRE(pipe2(t.to_parent, O_CLOEXEC) == 0);
	return t;
}

static void give_up(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

void turns_of_parent(struct turns *t)
{
	give_up(&t->to_child[0]);
	give_up(&t->to_parent[1]);
}

void turns_close(struct turns *t)
{
	for (int i = 0; i < 2; i++) {
		give_up(&t->to_child[i]);
		give_up(&t->to_parent[i]);
	}
}

void say(int fd, uint64_t word)
{
	CTS_REQUIRE(write(fd, &word, sizeof word) == sizeof word);
}

bool heard(int fd, uint64_t *word)
{
	ssize_t got;

	while ((got = read(fd, word, sizeof *word)) == -1 && errno == EINTR)
		;
	return got == sizeof *word;
}

uint64_t hear(int fd)
{
	uint64_t word = 0;

	CTS_REQUIRE(heard(fd, &word));
	return word;
}

static struct cts_result loop_main(void *arg)
{
	struct loop *l = arg;
	int value = RSM_SUCCESS;

	while (value == RSM_SUCCESS && !atomic_load(&l->stop)) {
		value = l->fn(l->arg);
		atomic_fetch_add(&l->rounds, 1);
	}
	return (struct cts_result){value, 0};
}

void loop_begin(struct loop *l, int (*fn)(void *arg), void *arg)
{
	*l = (struct loop){.fn = fn, .arg = arg};
	l->thread = cts_thread_start(loop_main, l);
}

void loop_wait(struct loop *l, int rounds)
{
	int from = atomic_load(&l->rounds);

	while (atomic_load(&l->rounds) < from + rounds && !cts_thread_done(l->thread))
		sched_yield();
}

int loop_ended(struct loop *l)
{
	return (int)cts_join(l->thread).ret;
}

int loop_end(struct loop *l)
{
	atomic_store(&l->stop, true);
	return loop_ended(l);
}

struct one_call {
	int (*fn)(void *arg);
	void *arg;
};

static struct cts_result one_call_main(void *arg)
{
	struct one_call c = *(struct one_call *)arg;

	free(arg);
	return (struct cts_result){c.fn(c.arg), 0};
}

struct cts_thread *begin(int (*fn)(void *arg), void *arg)
{
	struct one_call *c = malloc(sizeof *c);

	*c = (struct one_call){fn, arg};
	return cts_thread_start(one_call_main, c);
}

int end_of(struct cts_thread *t)
{
	return (int)cts_join(t).ret;
}

/* What looked like the call's sleep may have been a lock before it, so the signal comes until it
 * has told. */
int end_interrupted(struct cts_thread *t)
{
	cts_wait_asleep(t);
	while (!cts_thread_done(t)) {
		cts_thread_signal(t, SIGUSR1);
		cts_let_pass_us(20000);
	}
	return end_of(t);
}

void nothing_left(const struct cts_holdings *before)
{
	struct cts_holdings now = cts_holdings();

	cts_need("own_memory");
	CTS_CHECK_EFFECT(now.descriptors <= before->descriptors, "descriptors are as before");
	CTS_CHECK_EFFECT(now.mappings <= before->mappings && now.mapped <= before->mapped,
			 "mappings are as before");
	CTS_CHECK_EFFECT(now.heap <= before->heap, "heap memory is as before");
}
