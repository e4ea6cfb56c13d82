/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lies in the range is looked up in /proc/self/maps: frames of our stores are shared with the
 * windows that exist already, private memory is moved into a store, and memory that is shared with
 * others becomes a store of its own.
 */
#include "pin.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mapping.h"
#include "maps.h"
#include "quota.h"
#include "relocate.h"
#include "safe_copy.h"
#include "scif.h"
#include "window.h"

/* One thing mapped within the range. */
struct piece {
	uintptr_t start, end;
	int prot;
	struct store *store; /* NULL: private memory, still to be moved */
	uint64_t frame;
	int fd; /* to be sent to the peer with the store, or -1 */
};

struct pieces {
	struct piece *v;
	size_t count, room;
};

/* Ranges that were moved, whatever is there by now: sorted, disjoint. */
struct range {
	uintptr_t start, end;
};

/* Held from the look into the maps until the windows' frames are referenced. */
static pthread_mutex_t pin_lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *moved;
static size_t moved_count, moved_room;

static int grow(void **v, size_t *room, size_t count, size_t size)
{
	if (count < *room)
		return 0;
	size_t wanted = *room ? 2 * *room : 8;
	void *more = realloc(*v, wanted * size);
	if (!more)
		return -ENOMEM;
	*v = more;
	*room = wanted;
	return 0;
}

/* --- without /proc --- */

static size_t find_moved(uintptr_t addr)
{
	size_t low = 0, high = moved_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (moved[middle].end < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int remember_room(void)
{
	return grow((void **)&moved, &moved_room, moved_count, sizeof(*moved));
}

/* Room was made before. */
static void remember_moved(uintptr_t start, uintptr_t end)
{
	size_t first = find_moved(start), after = first;
	for (; after < moved_count && moved[after].start <= end; after++) {
		if (moved[after].start < start)
			start = moved[after].start;
		if (moved[after].end > end)
			end = moved[after].end;
	}
	memmove(&moved[first + 1], &moved[after], (moved_count - after) * sizeof(*moved));
	moved_count = moved_count - after + first + 1;
	moved[first] = (struct range){start, end};
}

static bool was_moved(uintptr_t start, uintptr_t end)
{
	size_t i = find_moved(start + 1);
	return i < moved_count && moved[i].start < end;
}

/* A second mapping of length 0 of the old one is possible for shared memory only. */
static bool page_shared(uintptr_t at)
{
	void *again = mremap((void *)at, 0, PAGE_BYTES, MREMAP_MAYMOVE);
	if (again == MAP_FAILED)
		return false;
	munmap(again, PAGE_BYTES);
	return true;
}

static int add_piece(struct pieces *p, const struct piece *piece)
{
	int error = grow((void **)&p->v, &p->room, p->count, sizeof(*p->v));
	if (error)
		return error;
	struct piece *last = p->count ? &p->v[p->count - 1] : NULL;
	if (last && !last->store && !piece->store && last->prot == piece->prot) {
		last->end = piece->end;
		return 0;
	}
	p->v[p->count++] = *piece;
	return 0;
}

static int guess_pieces(uintptr_t start, uintptr_t end, bool write, struct pieces *p)
{
	int error = was_moved(start, end) ? -EAGAIN : 0;
	for (uintptr_t at = start; at < end && !error; at += PAGE_BYTES) {
		bool writable = safe_probe_write((void *)at, 1) == 0;
		if (!writable && (write || safe_probe_read((void *)at, 1)))
			return -EFAULT;
		if (page_shared(at))
			return -EAGAIN;
		struct piece piece = {.start = at,
				      .end = at + PAGE_BYTES,
				      .prot = PROT_READ | (writable ? PROT_WRITE : 0),
				      .fd = -1};
		error = add_piece(p, &piece);
	}
	return error;
}

/* --- with /proc --- */

static int shared_piece(struct conn *c, struct maps *maps, const struct area *area, bool write,
			struct piece *piece)
{
	uint64_t pages = (area->end - area->start) >> PAGE_BITS;
	struct store *s = store_find(area, pages);
	struct store_class *class = &c->mem->class;
	int error = 0;
	if (s && s->kind == STORE_OWN) {
		piece->fd = s->fd;
		error = store_class_same(&s->class, class) ? 0 : -EAGAIN;
		if (error)
			store_put(s);
	} else if (!c->same_class) {
		/* The whole file would be in the hands of another user. */
		if (s)
			store_put(s);
		error = -EAGAIN;
	} else if (!s || (write && !s->writable)) {
		if (s)
			store_put(s);
		error = store_open_shared(maps, area, write, &s, &piece->fd);
	}
	if (error)
		return error;
	piece->store = s;
	piece->frame = area->offset >> PAGE_BITS;
	return piece->frame + pages <= s->pages ? 0 : -EFAULT;
}

/* The part of an area within the range. */
static void clip(struct area *area, uintptr_t start, uintptr_t end)
{
	if (area->start < start) {
		area->offset += start - area->start;
		area->start = start;
	}
	if (area->end > end)
		area->end = end;
}

static int look_up(struct conn *c, struct maps *maps, uintptr_t at, uintptr_t end, bool write,
		   struct pieces *p)
{
	struct area area;
	if (!maps_next(maps, at, &area) || area.start > at)
		return -EFAULT;
	if (!(area.prot & (PROT_READ | PROT_WRITE)) || (write && !(area.prot & PROT_WRITE)))
		return -EFAULT;
	clip(&area, at, end);
	struct piece piece = {.start = area.start, .end = area.end, .prot = area.prot, .fd = -1};
	int error = area.shared ? shared_piece(c, maps, &area, write, &piece) : 0;
	if (!error || piece.store)
		error = add_piece(p, &piece) ? -ENOMEM : error;
	return error;
}

static int find_pieces(struct conn *c, uintptr_t start, uintptr_t end, bool write, struct pieces *p)
{
	struct maps maps;
	if (maps_open(&maps))
		return guess_pieces(start, end, write, p);
	int error = 0;
	for (uintptr_t at = start; at < end && !error; at = p->count ? p->v[p->count - 1].end : end)
		error = look_up(c, &maps, at, end, write, p);
	maps_close(&maps);
	return error;
}

static void drop_pieces(struct pieces *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct piece *piece = &p->v[i];
		if (!piece->store)
			continue;
		if (piece->fd >= 0 && piece->store->kind == STORE_SHARED)
			close(piece->fd);
		store_put(piece->store);
	}
	free(p->v);
}

/* --- frames --- */

static int move_piece(struct conn *c, struct piece *piece)
{
	uint64_t pages = (piece->end - piece->start) >> PAGE_BITS;
	struct store *s;
	int error = remember_room();
	if (!error)
		error = store_with_room(&c->mem->class, c->mem->place[c->side].store, pages, &s,
					&piece->frame);
	if (error)
		return error;
	error = relocate_in((void *)piece->start, piece->end - piece->start, piece->prot, s,
			    piece->frame);
	if (error) {
		store_release(s, piece->frame, pages);
		return error;
	}
	store_hold(s, piece->frame, pages);
	remember_moved(piece->start, piece->end);
	store_get(s);
	piece->store = s;
	piece->fd = s->fd;
	return 0;
}

static bool continues(const struct extent *last, const struct extent *e)
{
	return last->store == e->store && last->frame + last->pages == e->frame;
}

static int add_extent(struct conn *c, const struct piece *piece, int prot, struct pinned *p)
{
	struct extent e = {
		.pages = (piece->end - piece->start) >> PAGE_BITS,
		.frame = piece->frame,
		.holder = getpid(),
		.prot = prot,
	};
	int error = window_store_number(c, piece->store, piece->fd, &e.store);
	if (error)
		return error;
	if (p->count && continues(&p->extents[p->count - 1], &e)) {
		p->extents[p->count - 1].pages += e.pages;
		return 0;
	}
	p->extents[p->count++] = e;
	return 0;
}

static int pin_pieces(struct conn *c, struct pieces *pieces, int prot, struct pinned *p)
{
	p->extents = calloc(pieces->count, sizeof(*p->extents));
	if (!p->extents)
		return -ENOMEM;
	for (size_t i = 0; i < pieces->count; i++) {
		struct piece *piece = &pieces->v[i];
		uint64_t pages = (piece->end - piece->start) >> PAGE_BITS;
		bool move = !piece->store;
		int error = move ? move_piece(c, piece) : 0;
		if (error)
			return error;
		if (!move)
			store_reference(piece->store, piece->frame, pages);
		error = add_extent(c, piece, prot, p);
		if (error) {
			store_release(piece->store, piece->frame, pages);
			return error;
		}
	}
	return 0;
}

static void release_extents(struct conn *c, struct pinned *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct store *s = window_store(c, c->side, p->extents[i].store);
		if (s)
			store_release(s, p->extents[i].frame, p->extents[i].pages);
	}
	free(p->extents);
}

static int pin_locked(struct conn *c, uintptr_t start, uintptr_t end, int prot, struct pinned *p)
{
	struct pieces pieces = {0};
	int error = find_pieces(c, start, end, prot != SCIF_PROT_READ, &pieces);
	if (!error)
		error = pin_pieces(c, &pieces, prot, p);
	drop_pieces(&pieces);
	if (error)
		release_extents(c, p);
	return error;
}

int pin_range(struct conn *c, void *addr, size_t len, int prot, struct pinned *p)
{
	uintptr_t start = (uintptr_t)addr;
	*p = (struct pinned){0};
	if (!start || len > UINTPTR_MAX - start || mapping_covers(addr, len))
		return -EFAULT;
	int error = quota_take(len >> PAGE_BITS);
	if (error)
		return safe_probe_read(addr, PAGE_BYTES) ? -EFAULT : error;
	/* Brings in what is not there yet, perhaps slowly, while nobody has to wait for us. */
	error = safe_probe_read(addr, len);
	if (!error) {
		pthread_mutex_lock(&pin_lock);
		error = pin_locked(c, start, start + len, prot, p);
		pthread_mutex_unlock(&pin_lock);
	}
	if (error)
		quota_return(len >> PAGE_BITS);
	return error;
}

void pin_undo(struct conn *c, struct pinned *p)
{
	uint64_t pages = 0;
	for (size_t i = 0; i < p->count; i++)
		pages += p->extents[i].pages;
	release_extents(c, p);
	quota_return(pages);
}

bool pin_is_ours(uintptr_t start, uintptr_t end)
{
	pthread_mutex_lock(&pin_lock);
	bool ours = was_moved(start, end);
	pthread_mutex_unlock(&pin_lock);
	return ours;
}

/* --- fork --- */

void pin_atfork_prepare(void)
{
	pthread_mutex_lock(&pin_lock);
}

void pin_atfork_parent(void)
{
	pthread_mutex_unlock(&pin_lock);
}

void pin_atfork_child(void)
{
	moved_count = 0;
	pthread_mutex_unlock(&pin_lock);
}

/* What of the ranges moved is still shared is ours, unless the application mapped it anew. */
static void copy_remembered(void)
{
	for (size_t i = 0; i < moved_count; i++)
		for (uintptr_t at = moved[i].start; at < moved[i].end; at += PAGE_BYTES)
			if (page_shared(at))
				relocate_shared((void *)at, PAGE_BYTES);
}

void pin_copy_all(void)
{
	struct maps maps;
	struct area area;
	if (maps_open(&maps)) {
		copy_remembered();
		return;
	}
	for (uintptr_t at = 0; maps_next(&maps, at, &area); at = area.end) {
		struct store *s = store_of_area(&area);
		if (s)
			relocate_out((void *)area.start, area.end - area.start, area.prot, s,
				     area.offset >> PAGE_BITS);
	}
	maps_close(&maps);
}
