/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process keeps its mappings sorted by address; each has a node in its side's tree of mappings
 * in the block, by which the owner of the window sees it.
 */
#include "mapping.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "connection.h"
#include "embedded.h"
#include "maps.h"
#include "pin.h"
#include "scif.h"
#include "window.h"

struct mapping {
	uintptr_t start, end;
	struct conn *c; /* referenced */
	struct store *store;
	uint64_t page;	/* in the peer's space */
	uint64_t frame; /* in the store */
	uint32_t id;
};

static struct {
	pthread_mutex_t lock;
	struct mapping *v;
	size_t count, room;
	uint64_t pass;
	/* To be looked at without the lock: count, and the range that all of them are within. */
	_Atomic size_t known;
	_Atomic uintptr_t low, high;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the list, under its lock --- */

/* First mapping that ends above addr. */
static size_t find(uintptr_t addr)
{
	size_t low = 0, high = list.count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (list.v[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(size_t more)
{
	if (list.count + more <= list.room)
		return 0;
	size_t room = list.room ? 2 * list.room : 64;
	while (room < list.count + more)
		room *= 2;
	struct mapping *v = realloc(list.v, room * sizeof(*v));
	if (!v)
		return -ENOMEM;
	list.v = v;
	list.room = room;
	return 0;
}

static void set_count(size_t count)
{
	list.count = count;
	if (count) {
		atomic_store_explicit(&list.low, list.v[0].start, memory_order_relaxed);
		atomic_store_explicit(&list.high, list.v[count - 1].end, memory_order_relaxed);
	}
	atomic_store_explicit(&list.known, count, memory_order_relaxed);
}

static void list_insert(const struct mapping *m)
{
	size_t at = find(m->start);
	memmove(&list.v[at + 1], &list.v[at], (list.count - at) * sizeof(*m));
	list.v[at] = *m;
	set_count(list.count + 1);
}

static void list_delete(size_t at)
{
	memmove(&list.v[at], &list.v[at + 1], (list.count - at - 1) * sizeof(*list.v));
	set_count(list.count - 1);
}

/* --- what the owner sees --- */

static struct extent node_of(const struct mapping *m)
{
	return (struct extent){
		.page = m->page,
		.pages = (m->end - m->start) >> PAGE_BITS,
		.id = m->id,
		.holder = getpid(),
	};
}

static void begin_change(struct conn *c, struct tree_change *t)
{
	tree_begin(t, &c->mem->place[c->side], &c->mem->own->pool,
		   &c->block->mem[c->side].mappings);
}

static int announce(struct conn *c, uint64_t page, uint64_t pages, uint32_t *id)
{
	struct tree_change t;
	conn_lock_mem(c);
	*id = ++c->mem->own->next_id;
	struct extent e = {.page = page, .pages = pages, .id = *id, .holder = getpid()};
	begin_change(c, &t);
	tree_insert(&t, &e);
	int error = tree_commit(&t);
	conn_unlock_mem(c);
	return error;
}

static void withdraw(struct conn *c, uint64_t page, uint32_t id)
{
	struct tree_change t;
	conn_lock_mem(c);
	begin_change(c, &t);
	tree_remove(&t, page, id);
	tree_commit(&t);
	conn_unlock_mem(c);
}

/* One node is replaced by those of the mappings given, in one step. */
static int replace(struct conn *c, uint64_t page, uint32_t id, struct mapping *m, size_t count)
{
	struct tree_change t;
	conn_lock_mem(c);
	begin_change(c, &t);
	tree_remove(&t, page, id);
	for (size_t i = 0; i < count; i++) {
		m[i].id = ++c->mem->own->next_id;
		struct extent e = node_of(&m[i]);
		tree_insert(&t, &e);
	}
	int error = tree_commit(&t);
	conn_unlock_mem(c);
	return error;
}

/* --- mappings that end, wholly or in part --- */

static struct mapping part_of(const struct mapping *m, uintptr_t start, uintptr_t end)
{
	struct mapping part = *m;
	part.start = start;
	part.end = end;
	part.page += (start - m->start) >> PAGE_BITS;
	part.frame += (start - m->start) >> PAGE_BITS;
	return part;
}

/*
 * Takes [start, end) out of the mapping at an index. When memory is short the node of the whole
 * stays: the owner keeps more than it needs, never less.
 */
static void cut(size_t at, uintptr_t start, uintptr_t end)
{
	struct mapping whole = list.v[at], left[2];
	size_t count = 0;
	if (whole.start < start)
		left[count++] = part_of(&whole, whole.start, start);
	if (whole.end > end)
		left[count++] = part_of(&whole, end, whole.end);
	/* An owner that has destroyed the nodes is told nothing any more. */
	if (make_room(1) || replace(whole.c, whole.page, whole.id, left, count) == -ENOMEM)
		return;
	list_delete(at);
	for (size_t i = 0; i < count; i++) {
		conn_get(whole.c);
		list_insert(&left[i]);
	}
	atomic_fetch_add(&whole.c->mem->mappings, (uint32_t)count - 1);
	conn_put(whole.c);
}

static void forget(uintptr_t start, uintptr_t end)
{
	size_t at;
	while ((at = find(start)) < list.count && list.v[at].start < end) {
		size_t before = list.count;
		uintptr_t next = list.v[at].end;
		cut(at, start, end);
		if (list.count >= before && next >= end)
			break;
		if (list.count == before && start < next)
			start = next;
	}
}

/* --- what is really there --- */

static bool shows(const struct mapping *m, const struct area *area, uintptr_t at)
{
	return area->shared && area->ino == m->store->ino && area->dev == m->store->dev &&
	       (area->offset + (at - area->start)) >> PAGE_BITS ==
		       m->frame + ((at - m->start) >> PAGE_BITS);
}

/* First part of a mapping, from `from` on, that is no longer there. */
static bool find_gone(struct maps *maps, const struct mapping *m, uintptr_t from, uintptr_t *start,
		      uintptr_t *end)
{
	struct area area;
	for (uintptr_t at = from; at < m->end;) {
		bool there = maps_next(maps, at, &area);
		uintptr_t stop = there && area.start <= at ? area.end : there ? area.start : m->end;
		if (stop > m->end)
			stop = m->end;
		if (!there || area.start > at || !shows(m, &area, at)) {
			*start = at;
			*end = stop;
			return true;
		}
		at = stop;
	}
	return false;
}

/* Whether a gone part was only moved: its pages are mapped where no mapping is known. */
static bool moved(struct maps *maps, const struct mapping *m, uintptr_t start, uintptr_t end)
{
	struct area area;
	uint64_t first = m->frame + ((start - m->start) >> PAGE_BITS);
	uint64_t last = first + ((end - start) >> PAGE_BITS);
	uintptr_t view = (uintptr_t)m->store->base;
	for (uintptr_t at = 0; maps_next(maps, at, &area); at = area.end) {
		uint64_t frame = area.offset >> PAGE_BITS;
		uint64_t frame_end = frame + ((area.end - area.start) >> PAGE_BITS);
		bool in_view =
			area.start >= view && area.end <= view + (m->store->pages << PAGE_BITS);
		if (!area.shared || area.ino != m->store->ino || area.dev != m->store->dev ||
		    in_view || frame >= last || frame_end <= first)
			continue;
		size_t known = find(area.start);
		if (known < list.count && list.v[known].start < area.end)
			continue;
		/* Within one process the owner's memory shows the same pages. */
		if (!pin_is_ours(area.start, area.end))
			return true;
	}
	return false;
}

/* Whether the owner waits for a mapping: its window was unregistered. */
static bool awaited(const struct mapping *m)
{
	struct extent e;
	struct conn *c = m->c;
	return tree_next_closed(&c->mem->place[!c->side], &c->block->mem[!c->side].windows, m->page,
				&e) &&
	       e.page < m->page + ((m->end - m->start) >> PAGE_BITS);
}

/* Lets go of what is gone; returns how many awaited mappings are still there. */
static uint32_t verify(struct maps *maps, struct conn *c)
{
	uintptr_t start, end, at = 0;
	uint32_t left = 0;
	for (size_t i = find(at); i < list.count; i = find(at)) {
		struct mapping m = list.v[i];
		uintptr_t from = at > m.start ? at : m.start;
		at = m.end;
		if (m.c != c || !awaited(&m))
			continue;
		if (!find_gone(maps, &m, from, &start, &end)) {
			left++;
			continue;
		}
		at = end;
		if (moved(maps, &m, start, end))
			left++;
		else
			cut(i, start, end);
	}
	return left;
}

/* As long as the owner waits for a mapping that is still there, every call looks again. */
static bool verification_wanted(struct conn *c)
{
	uint32_t asked = atomic_load_explicit(&c->block->mem[c->side].verify, memory_order_relaxed);
	return asked != atomic_load_explicit(&c->mem->verified, memory_order_relaxed) ||
	       atomic_load_explicit(&c->mem->awaited, memory_order_relaxed);
}

static void verify_conn(struct conn *c)
{
	struct maps maps;
	uint32_t asked = atomic_load(&c->block->mem[c->side].verify), left = 0;
	conn_get(c);
	if (atomic_load(&c->mem->mappings) && maps_open(&maps) == 0) {
		left = verify(&maps, c);
		maps_close(&maps);
	}
	atomic_store(&c->mem->verified, asked);
	atomic_store(&c->mem->awaited, left);
	conn_put(c);
}

void mem_attend(struct conn *c)
{
	if (!verification_wanted(c))
		return;
	pthread_mutex_lock(&list.lock);
	verify_conn(c);
	pthread_mutex_unlock(&list.lock);
}

int mem_enter(scif_epd_t epd, struct ep **ep, struct conn **c)
{
	int error = ep_get(epd, ep);
	if (error)
		return error;
	error = ep_rma_ready(*ep, c);
	if (error)
		ep_put(*ep);
	else
		mem_attend(*c);
	return error;
}

void mapping_verify_wanted(void)
{
	if (!atomic_load_explicit(&list.known, memory_order_relaxed))
		return;
	pthread_mutex_lock(&list.lock);
	/* Each connection once, however many mappings it has. */
	list.pass++;
	for (size_t i = 0; i < list.count; i++) {
		struct conn *c = list.v[i].c;
		if (c->mem->pass == list.pass || !verification_wanted(c))
			continue;
		c->mem->pass = list.pass;
		verify_conn(c);
	}
	pthread_mutex_unlock(&list.lock);
}

static bool still_there(struct maps *maps, const struct mapping *m, uintptr_t start, uintptr_t end)
{
	struct mapping part =
		part_of(m, start > m->start ? start : m->start, end < m->end ? end : m->end);
	uintptr_t gone, gone_end;
	return !find_gone(maps, &part, part.start, &gone, &gone_end);
}

bool mapping_covers(const void *addr, size_t len)
{
	if (!atomic_load_explicit(&list.known, memory_order_relaxed))
		return false;
	uintptr_t start = (uintptr_t)addr & -PAGE_BYTES;
	uintptr_t end = ((uintptr_t)addr + len + PAGE_BYTES - 1) & -PAGE_BYTES;
	/* Most memory is elsewhere, and the lock would be one for all transfers. */
	if (end <= atomic_load_explicit(&list.low, memory_order_relaxed) ||
	    start >= atomic_load_explicit(&list.high, memory_order_relaxed))
		return false;
	struct maps maps;
	bool covers = false;
	pthread_mutex_lock(&list.lock);
	size_t at = find(start);
	if (at < list.count && list.v[at].start < end) {
		/* It may have been replaced without the library's knowledge. */
		covers = maps_open(&maps) != 0;
		bool opened = !covers;
		for (; !covers && at < list.count && list.v[at].start < end; at++)
			covers = still_there(&maps, &list.v[at], start, end);
		if (opened)
			maps_close(&maps);
	}
	pthread_mutex_unlock(&list.lock);
	return covers;
}

/* --- making --- */

/* Maps the extents of a checked range one after the other into a reserved place. */
static int fill(struct span *s, int prot, unsigned char *at, struct mapping *made, size_t *count)
{
	size_t left = s->bytes, room = *count;
	for (*count = 0; left;) {
		size_t size = s->piece;
		/* More than were counted: the other side is changing them. */
		if (*count == room)
			return -ENXIO;
		int error = store_map(s->store, s->frame, size >> PAGE_BITS, prot, at, 0);
		if (error)
			return error;
		made[(*count)++] = (struct mapping){
			.start = (uintptr_t)at,
			.end = (uintptr_t)at + size,
			.c = s->c,
			.store = s->store,
			.page = s->offset >> PAGE_BITS,
			.frame = s->frame,
		};
		left -= size;
		at += size;
		error = span_advance(s, size);
		if (error)
			return error;
	}
	return 0;
}

static size_t count_pieces(struct span s)
{
	size_t count = 1;
	while (s.piece < s.bytes && span_advance(&s, s.piece) == 0)
		count++;
	return count;
}

/* Moves what was built elsewhere over the place that was asked for. */
static int move_to(unsigned char *target, struct mapping *made, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = made[i].end - made[i].start;
		void *from = (void *)made[i].start;
		if (mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, target) == MAP_FAILED)
			return errno == EINVAL ? -EINVAL : -ENOMEM;
		made[i].start = (uintptr_t)target;
		made[i].end = made[i].start + size;
		target += size;
	}
	return 0;
}

static int build(struct span *s, int prot, void *addr, bool fixed, struct mapping *made,
		 size_t *count, void **pa)
{
	size_t len = s->bytes;
	/* The kernel aligns a suggestion by itself, valgrind refuses one that is not aligned. */
	void *hint = fixed ? NULL : (void *)((uintptr_t)addr & -PAGE_BYTES);
	unsigned char *place =
		mmap(hint, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (place == MAP_FAILED)
		return -ENOMEM;
	int error = fill(s, prot, place, made, count) ? -ENOMEM : 0;
	/* A mapping of remote memory is not inherited by fork. */
	if (!error && madvise(place, len, MADV_DONTFORK))
		error = -ENOMEM;
	*pa = place;
	if (!error && fixed) {
		*pa = addr;
		error = move_to(addr, made, *count);
	}
	if (error)
		munmap(place, len);
	return error;
}

static int enter(struct conn *c, struct mapping *made, size_t count, uint64_t page, uint32_t id)
{
	int error = make_room(count);
	if (!error)
		error = replace(c, page, id, made, count);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		conn_get(c);
		list_insert(&made[i]);
	}
	atomic_fetch_add(&c->mem->mappings, count);
	return 0;
}

static int make(struct span *s, int prot, void *addr, bool fixed, uint32_t id, void **pa)
{
	size_t len = s->bytes, count = count_pieces(*s);
	uint64_t page = s->offset >> PAGE_BITS;
	struct mapping *made = calloc(count, sizeof(*made));
	if (!made)
		return -ENOMEM;
	pthread_mutex_lock(&list.lock);
	int error = build(s, prot, addr, fixed, made, &count, pa);
	if (!error) {
		forget((uintptr_t)*pa, (uintptr_t)*pa + len);
		error = enter(s->c, made, count, page, id);
		if (error)
			munmap(*pa, len);
	}
	pthread_mutex_unlock(&list.lock);
	free(made);
	return error;
}

int mapping_make(struct conn *c, uint64_t offset, size_t len, int prot, void *addr, bool fixed,
		 void **pa)
{
	uint32_t id;
	struct span s = {.c = c, .side = !c->side, .offset = offset, .bytes = len};
	/* First told, then looked at: the owner looks for mappings after it closed a window. */
	int error = announce(c, offset >> PAGE_BITS, len >> PAGE_BITS, &id);
	if (error)
		return error;
	error = span_check(&s, prot);
	if (!error)
		error = make(&s, prot, addr, fixed, id, pa);
	if (error)
		withdraw(c, offset >> PAGE_BITS, id);
	return error;
}

int mapping_remove(void *addr, size_t len)
{
	pthread_mutex_lock(&list.lock);
	int error = munmap(addr, len) ? -errno : 0;
	if (!error)
		forget((uintptr_t)addr, (uintptr_t)addr + len);
	pthread_mutex_unlock(&list.lock);
	return error;
}

/* --- fork --- */

void mapping_atfork_prepare(void)
{
	pthread_mutex_lock(&list.lock);
}

void mapping_atfork_parent(void)
{
	pthread_mutex_unlock(&list.lock);
}

/* The child has none of the mappings; what the owners see are the parent's. */
void mapping_atfork_child(void)
{
	for (size_t i = 0; i < list.count; i++) {
		atomic_store(&list.v[i].c->mem->mappings, 0);
		conn_put(list.v[i].c);
	}
	set_count(0);
	pthread_mutex_unlock(&list.lock);
}
