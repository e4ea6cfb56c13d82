/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A transfer that is really in flight: its local buffer is a held page, so the call sleeps in the
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

static struct cts_stall *stall_new(void)
{
	struct cts_stall *s = calloc(1, sizeof *s);

	if (!s)
		cts_unresolved("no memory");
	s->page.uffd = -1;
	return s;
}

static struct cts_stall *local_stall(void)
{
	struct cts_stall *s = stall_new();
	int err = held_open(&s->page);

	if (err)
		cts_untested("userfaultfd: %s", strerror(-err));
	return s;
}

static struct cts_stall *in_flight(struct cts_stall *s)
{
	cts_wait_asleep(s->thread);
	if (cts_thread_done(s->thread)) {
		struct cts_result r = cts_join(s->thread);

		cts_untested("the transfer cannot be held back: it returned %ld %s", (long)r.ret,
			     r.ret == -1 ? strerror(r.err) : "");
	}
	return s;
}

struct cts_stall *cts_fx_stalled_write(struct cts_peer_window w)
{
	struct cts_stall *s = local_stall();

	s->thread = cts_begin_vwriteto(w.epd, s->page.addr, s->page.len, w.offset, 0);
	return in_flight(s);
}

struct cts_stall *cts_fx_stalled_read(struct cts_peer_window w)
{
	struct cts_stall *s = local_stall();

	s->thread = cts_begin_vreadfrom(w.epd, s->page.addr, s->page.len, w.offset, 0);
	return in_flight(s);
}

struct cts_stall *cts_fx_peer_stalled_write(struct cts_window w)
{
	struct cts_stall *s = stall_new();

	s->peer = cts_peer_of(w.epd);
	s->there = (uint64_t)cts_peer_call(s->peer, "hold").ret;
	s->tag = cts_peer_begin(s->peer, "vwriteto %d %" PRIu64 " %zu %jd 0", cts_far(w.epd),
				s->there, cts_page_size(), (intmax_t)w.offset);
	if (!cts_peer_call(s->peer, "asleep %d", s->tag).ret)
		cts_untested("the peer's transfer cannot be held back");
	return s;
}

void cts_stall_release(struct cts_stall *s)
{
	if (s->peer) {
		cts_peer_call(s->peer, "release %" PRIu64 " %d", s->there, ARRIVING_SEED);
		return;
	}
	int err = held_release(&s->page, ARRIVING_SEED);
	if (err)
		cts_unresolved("releasing the held page: %s", strerror(-err));
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
