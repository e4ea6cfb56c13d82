/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's windows, on the fabric's.  A window that was unregistered stays what it was, for
 * transfers, new mappings and another unregister, as long as the other side has a page of it
 * mapped. A range to unregister must begin within a window and end where a window ends; all windows
 * it touches go as a whole.
 */
#define span_check fabric_span_check
#include "../embedded/window.c"
#undef span_check

int span_check(struct span *s, int prot);

#include "libc.h"
#include "standin.h"

static bool next_of_window(struct conn *c, int side, uint64_t page, uint32_t id, struct extent *e)
{
	return tree_next(&c->mem->place[side], &c->block->mem[side].windows, page, e) &&
	       e->page <= page && e->id == id;
}

/* All of the window on either side that an extent belongs to. */
static struct window whole_window(struct conn *c, int side, const struct extent *e)
{
	struct window w = {.page = e->page, .end = e->page + e->pages, .id = e->id};
	struct extent other;

	while (w.page > 0 && next_of_window(c, side, w.page - 1, w.id, &other))
		w.page = other.page;
	while (next_of_window(c, side, w.end, w.id, &other))
		w.end = other.page + other.pages;
	return w;
}

static bool is_there(struct conn *c, int side, const struct extent *e)
{
	struct tree_search search = {.counts = is_any};
	struct window w;

	if (!e->closed)
		return true;
	w = whole_window(c, side, e);
	search.first = w.page;
	search.end = w.end;
	return tree_overlap(&c->mem->place[!side], &c->block->mem[!side].mappings, &search);
}

static int check_piece(struct span *s, int prot)
{
	struct extent e;
	int error = find_piece(s, 0, true, &e);

	if (error == 0 && !is_there(s->c, s->side, &e))
		error = -ENXIO;
	return error == 0 && (e.prot & prot) != prot ? -EPERM : error;
}

int span_check(struct span *s, int prot)
{
	struct span rest;
	int error;

	if (s->side == SPAN_MEMORY) {
		s->piece = s->bytes;
		return 0;
	}
	if (s->offset > INT64_MAX || s->bytes > INT64_MAX - s->offset)
		return -ENXIO;
	error = check_piece(s, prot);
	for (rest = *s; error == 0 && rest.piece < rest.bytes; error = check_piece(&rest, prot)) {
		rest.offset += rest.piece;
		rest.bytes -= rest.piece;
	}
	return error;
}

/* The windows that the range stands for: from the start of the first to the end of the last. */
static int find_range(struct conn *c, uint64_t page, uint64_t end, struct window *range)
{
	struct extent e;
	struct window w;

	for (uint64_t at = page; at < end; at = w.end) {
		if (!tree_next(own_place(c), own_windows(c), at, &e) || e.page > at ||
		    !is_there(c, c->side, &e))
			return -ENXIO;
		w = whole_window(c, c->side, &e);
		if (at == page)
			range->page = w.page;
		else if (w.page != at)
			return -ENXIO;
		range->end = w.end;
	}
	return range->end == end ? 0 : -ENXIO;
}

int window_remove_range(struct conn *c, uint64_t page, uint64_t pages)
{
	struct window range = {0};
	int error;

	conn_lock_mem(c);
	error = find_range(c, page, page + pages, &range);
	if (error == 0)
		error = close_windows(c, range.page, range.end);
	conn_unlock_mem(c);
	if (error == 0)
		settle(c, range.page, range.end);
	return error;
}
