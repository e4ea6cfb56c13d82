/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers that are really in flight: the local buffer is a held page, so the call sleeps in the
 * middle of the copy until the page is released. Nothing of the implementation takes part in
 * holding it.
 */
#include "engine.h"

#include "held.h"

#include <inttypes.h>
#include <stdlib.h>

#define ARRIVING_SEED 7

struct cts_stall {
	struct held_page page; /* ours, or */
	struct cts_peer *peer; /* the peer's */
	uint64_t there;
	struct cts_thread *thread;
	int tag;
	bool joined;
	struct cts_result result;
};

/* Told before it is done: what comes back afterwards may have got on by it. */
static void release(struct held_page *page)
{
	int err;

	observe_event("si", "released", (intptr_t)page->addr);
	err = held_release(page, ARRIVING_SEED);
	if (err)
		cts_unresolved("releasing held memory: %s", strerror(-err));
}

static struct cts_stall *stall_new(void)
{
	struct cts_stall *s = calloc(1, sizeof *s);

	if (!s)
		cts_unresolved("no memory");
	s->page.uffd = -1;
	return s;
}

struct cts_stall *stall_local(void **page)
{
	struct cts_stall *s = stall_new();
	int err = held_open(&s->page, cts_page_size());

	if (err)
		cts_untested("userfaultfd: %s", strerror(-err));
	observe_event("si", "held", (intptr_t)s->page.addr);
	*page = s->page.addr;
	return s;
}

struct cts_stall *stall_in_flight(struct cts_stall *s, struct cts_thread *t)
{
	s->thread = t;
	cts_wait_asleep(t);
	if (cts_thread_done(t)) {
		struct cts_result r = cts_join(t);

		cts_untested("the transfer cannot be held back: it returned %ld %s", (long)r.ret,
			     result_failed(&r) ? error_name(r.err) : "");
	}
	observe_event("si", "stalled", (intptr_t)s->page.addr);
	return s;
}

uint64_t stall_there(struct cts_peer *p)
{
	return (uint64_t)cts_peer_call(p, "hold").ret;
}

struct cts_stall *stall_in_peer(struct cts_peer *p, uint64_t there, int tag)
{
	struct cts_stall *s = stall_new();

	s->peer = p;
	s->there = there;
	s->tag = tag;
	if (!cts_peer_call(p, "asleep %d", tag).ret)
		cts_untested("the peer's transfer cannot be held back");
	return s;
}

void cts_stall_release(struct cts_stall *s)
{
	if (s->peer) {
		cts_peer_call(s->peer, "release %" PRIu64 " %d", s->there, ARRIVING_SEED);
		return;
	}
	release(&s->page);
}

bool cts_stall_pending(struct cts_stall *s)
{
	if (s->joined)
		return false;
	return s->peer ? !cts_peer_call(s->peer, "done %d", s->tag).ret
		       : !cts_thread_done(s->thread);
}

struct cts_result cts_stall_join(struct cts_stall *s)
{
	if (!s->joined)
		s->result = s->peer ? cts_peer_end(s->peer, s->tag) : cts_join(s->thread);
	s->joined = true;
	return s->result;
}

/* Pages that a case hands to the call under test itself. */
#define HELD_MAX 16
static struct held_page held[HELD_MAX];
static int held_count;

static unsigned char *hold(size_t pages, size_t all)
{
	if (held_count == HELD_MAX)
		cts_unresolved("too many held fixtures");
	int err = held_open_start(&held[held_count], pages * cts_page_size(),
				  all * cts_page_size());
	if (err)
		cts_untested("userfaultfd: %s", strerror(-err));
	observe_event("si", "held", (intptr_t)held[held_count].addr);
	return held[held_count++].addr;
}

unsigned char *cts_fx_held(size_t pages)
{
	return hold(pages, pages);
}

unsigned char *cts_held_start(size_t pages)
{
	return hold(1, pages);
}

void cts_held_release(const void *p)
{
	for (int i = 0; i < held_count; i++) {
		if (held[i].addr != p)
			continue;
		release(&held[i]);
		return;
	}
	cts_unresolved("%p is no held fixture", p);
}
