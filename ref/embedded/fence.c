/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A mark stands for the number of the last transfer a side had started. A signal that has to wait
 * for transfers lies in the table of the side that runs them; whichever thread finds that the last
 * of them has ended writes it.
 */
#include "fence.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "embedded.h"
#include "endpoint.h"
#include "fault_point.h"
#include "process.h"
#include "rma.h"
#include "safe_copy.h"
#include "scif.h"
#include "window.h"

enum {
	INIT_FLAGS = SCIF_FENCE_INIT_SELF | SCIF_FENCE_INIT_PEER,
	SIGNAL_FLAGS = SCIF_SIGNAL_LOCAL | SCIF_SIGNAL_REMOTE,
};

/* Side whose transfers are meant, or -EINVAL. */
static int marked_side(const struct conn *c, int flags)
{
	if ((flags & INIT_FLAGS) == SCIF_FENCE_INIT_SELF)
		return c->side;
	if ((flags & INIT_FLAGS) == SCIF_FENCE_INIT_PEER)
		return !c->side;
	return -EINVAL;
}

/* --- marks --- */

/* A mark that says the same as the last one of its side is the last one. */
static uint64_t new_mark(struct mem_marks *marks, uint64_t seq)
{
	if (!marks->issued || marks->seq[marks->issued % MEM_MARKS] != seq)
		marks->seq[++marks->issued % MEM_MARKS] = seq;
	return marks->issued;
}

static int mark(struct conn *c, int flags, int *out)
{
	int side = flags & ~INIT_FLAGS ? -EINVAL : marked_side(c, flags);
	if (side < 0)
		return side;
	int error = out ? safe_probe_write(out, sizeof(*out)) : -EFAULT;
	if (error)
		return error;
	conn_lock_mem(c);
	uint64_t number =
		new_mark(&c->mem->own->marks[side], atomic_load(&c->block->mem[side].started));
	conn_unlock_mem(c);
	int value = (number << 1 | side) & INT32_MAX;
	return safe_copy(out, &value, sizeof(value));
}

/* The transfer that a value stands for, or false when the value was never handed out. */
static bool find_mark(struct mem_marks *marks, int value, uint64_t *seq)
{
	uint64_t back = (marks->issued - ((uint64_t)value >> 1)) & (INT32_MAX >> 1);
	if (value < 0 || back >= marks->issued)
		return false;
	/* One that is no longer kept stands before all that are. */
	if (back >= MEM_MARKS)
		back = MEM_MARKS - 1;
	*seq = marks->seq[(marks->issued - back) % MEM_MARKS];
	return true;
}

static int wait_finished(struct conn *c, int side, uint64_t seq)
{
	struct block_mem *mem = &c->block->mem[side];
	int error = 0;
	if (!rma_pending(c, side, seq))
		return 0;
	if (side == c->side)
		rma_drop_dead(c);
	atomic_fetch_add(&mem->waiters, 1);
	while (!error) {
		uint32_t seen = atomic_load(&mem->finished);
		if (!rma_pending(c, side, seq))
			break;
		error = conn_wait_word(c, &mem->finished, seen);
	}
	atomic_fetch_sub(&mem->waiters, 1);
	return error;
}

static int wait_mark(struct conn *c, int value)
{
	uint64_t seq;
	int side = value & 1;
	conn_lock_mem(c);
	bool known = find_mark(&c->mem->own->marks[side], value, &seq);
	conn_unlock_mem(c);
	return known ? wait_finished(c, side, seq) : -EINVAL;
}

/* --- signals --- */

static int check_target(struct conn *c, const struct signal_target *target)
{
	struct span s = {.c = c, .side = target->side, .offset = target->offset, .bytes = 8};
	struct extent first, last;
	struct tree_place *place = &c->mem->place[target->side];
	_Atomic uint64_t *root = &c->block->mem[target->side].windows;
	int error = span_check(&s, 0);
	/* The text of signals knows no shortage. */
	if (error)
		return error == -ENOMEM ? -ENXIO : error;
	/* Both ends within one window, though perhaps in two of its extents. */
	if (!tree_next(place, root, target->offset >> PAGE_BITS, &first) ||
	    !tree_next(place, root, (target->offset + 7) >> PAGE_BITS, &last) ||
	    first.id != last.id)
		return -ENXIO;
	return first.prot & SCIF_PROT_WRITE ? 0 : -EACCES;
}

struct unaligned_value {
	uint64_t value;
} __attribute__((packed, may_alias));

static void store_value(unsigned char *at, uint64_t value)
{
	if (safe_probe_write(at, sizeof(value)))
		return;
	((volatile struct unaligned_value *)at)->value = value;
}

/* One store where the place allows it, so that a reader never sees half a value. */
static void write_value(struct conn *c, const struct signal_target *target)
{
	struct span s = {.c = c, .side = target->side, .offset = target->offset, .bytes = 8};
	const unsigned char *value = (const unsigned char *)&target->value;
	if (span_find(&s))
		return;
	/* Release: the data of the transfers is visible before the signal. */
	atomic_thread_fence(memory_order_release);
	if (s.piece == 8) {
		store_value(s.at, target->value);
		return;
	}
	size_t head = s.piece;
	safe_copy(s.at, value, head);
	if (span_advance(&s, head) == 0)
		safe_copy(s.at, value + head, 8 - head);
}

/* --- who has an entry, among the processes of this side --- */

static _Atomic uint32_t *signer(struct conn *c, int side, const struct pending_signal *p)
{
	return &c->mem->own->signing[side][p - c->block->mem[side].pending];
}

/* From one state to another, as the only one of this side to change it until release(). */
static bool claim(struct conn *c, int side, struct pending_signal *p, uint32_t from, uint32_t to)
{
	uint32_t holder = 0;
	while (!atomic_compare_exchange_strong(signer(c, side, p), &holder, rma_self()))
		if (!process_dead((pid_t)holder))
			return false;
	FAULT_POINT("signal-claimed");
	if (atomic_compare_exchange_strong(&p->state, &from, to))
		return true;
	atomic_store(signer(c, side, p), 0);
	return false;
}

static void release(struct conn *c, int side, struct pending_signal *p)
{
	atomic_store(signer(c, side, p), 0);
}

/* What one that died was filling is free, what it was writing is written by others. */
static void reclaim(struct conn *c, int side, struct pending_signal *p)
{
	uint32_t holder = atomic_load(signer(c, side, p));
	if (!process_dead((pid_t)holder) ||
	    !atomic_compare_exchange_strong(signer(c, side, p), &holder, rma_self()))
		return;
	uint32_t filling = SIGNAL_FILLING, writing = SIGNAL_WRITING;
	atomic_compare_exchange_strong(&p->state, &filling, SIGNAL_FREE);
	atomic_compare_exchange_strong(&p->state, &writing, SIGNAL_READY);
	release(c, side, p);
}

static uint32_t state_of(struct conn *c, int side, struct pending_signal *p)
{
	uint32_t state = atomic_load(&p->state);
	if (state == SIGNAL_FREE || state == SIGNAL_READY)
		return state;
	reclaim(c, side, p);
	return atomic_load(&p->state);
}

static void deliver(struct conn *c, int side, struct pending_signal *p)
{
	if (!claim(c, side, p, SIGNAL_READY, SIGNAL_WRITING))
		return;
	FAULT_POINT("signal-taken");
	for (int i = 0; i < 2; i++) {
		/* Read once: the peer can write there all the time. */
		struct signal_target target = *(const volatile struct signal_target *)&p->target[i];
		if (target.wanted && target.side < 2)
			write_value(c, &target);
	}
	FAULT_POINT("signal-written");
	atomic_store(&p->state, SIGNAL_FREE);
	FAULT_POINT("signal-freed");
	atomic_fetch_sub(&c->block->mem[side].signals, 1);
	release(c, side, p);
}

void fence_deliver(struct conn *c, int side)
{
	struct block_mem *mem = &c->block->mem[side];
	for (unsigned i = 0; i < MEM_SIGNALS; i++) {
		struct pending_signal *p = &mem->pending[i];
		if (state_of(c, side, p) == SIGNAL_READY && !rma_pending(c, side, p->seq))
			deliver(c, side, p);
	}
}

static bool target_in(const struct pending_signal *p, uint32_t side, uint64_t first, uint64_t end)
{
	for (int i = 0; i < 2; i++) {
		const struct signal_target *target = &p->target[i];
		if (target->wanted && target->side == side && target->offset < end &&
		    target->offset + 8 > first)
			return true;
	}
	return false;
}

bool fence_refers(struct conn *c, uint64_t first, uint64_t end)
{
	for (int side = 0; side < 2; side++)
		for (unsigned i = 0; i < MEM_SIGNALS; i++) {
			struct pending_signal *p = &c->block->mem[side].pending[i];
			if (state_of(c, side, p) != SIGNAL_FREE &&
			    target_in(p, c->side, first, end))
				return true;
		}
	return false;
}

bool fence_pending(struct conn *c)
{
	return atomic_load(&c->block->mem[0].signals) || atomic_load(&c->block->mem[1].signals);
}

static struct pending_signal *take_entry(struct conn *c, int side)
{
	struct pending_signal *all = c->block->mem[side].pending;
	for (unsigned i = 0; i < MEM_SIGNALS; i++)
		if (atomic_load(&all[i].state) == SIGNAL_FREE &&
		    claim(c, side, &all[i], SIGNAL_FREE, SIGNAL_FILLING))
			return &all[i];
	return NULL;
}

/* With all entries waiting for transfers, the next one waits for any of those to end. */
static int get_entry(struct conn *c, int side, struct pending_signal **entry)
{
	struct block_mem *mem = &c->block->mem[side];
	int error = 0;
	while (!(*entry = take_entry(c, side)) && !error) {
		atomic_fetch_add(&mem->waiters, 1);
		uint32_t seen = atomic_load(&mem->finished);
		fence_deliver(c, side);
		*entry = take_entry(c, side);
		if (!*entry)
			error = conn_wait_word(c, &mem->finished, seen);
		atomic_fetch_sub(&mem->waiters, 1);
		if (*entry)
			break;
		if (error == -EINTR && !atomic_load(&c->closed))
			error = 0;
	}
	return error;
}

static int check_targets(struct conn *c, const struct signal_target targets[2])
{
	int error = 0;
	for (int i = 0; i < 2 && !error; i++)
		if (targets[i].wanted)
			error = check_target(c, &targets[i]);
	return error;
}

static int signal_after(struct conn *c, int side, const struct signal_target targets[2])
{
	struct block_mem *mem = &c->block->mem[side];
	struct pending_signal *p;
	int error = get_entry(c, side, &p);
	if (error)
		return error;
	FAULT_POINT("signal-placed");
	p->target[0] = targets[0];
	p->target[1] = targets[1];
	p->seq = atomic_load(&mem->started);
	/* The entry holds the windows from here on; a window closed before is found closed. */
	atomic_fetch_add(&mem->signals, 1);
	FAULT_POINT("signal-filled");
	/* Not as the entry has them: the peer can write there. */
	error = check_targets(c, targets);
	if (error) {
		atomic_store(&p->state, SIGNAL_FREE);
		release(c, side, p);
		atomic_fetch_sub(&mem->signals, 1);
		return error;
	}
	atomic_store(&p->state, SIGNAL_READY);
	FAULT_POINT("signal-ready");
	release(c, side, p);
	fence_deliver(c, side);
	return 0;
}

static int request_signal(struct conn *c, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
			  int flags)
{
	if (flags & ~(INIT_FLAGS | SIGNAL_FLAGS))
		return -EINVAL;
	int side = marked_side(c, flags);
	bool local = flags & SCIF_SIGNAL_LOCAL, remote = flags & SCIF_SIGNAL_REMOTE;
	if (side < 0 || (!local && !remote) || (local && loff % 4) || (remote && roff % 4))
		return -EINVAL;
	struct signal_target targets[2] = {
		{.wanted = local, .side = c->side, .offset = loff, .value = lval},
		{.wanted = remote, .side = !c->side, .offset = roff, .value = rval},
	};
	return signal_after(c, side, targets);
}

int embedded_fence_mark(scif_epd_t epd, int flags, int *out)
{
	struct ep *ep;
	struct conn *c;
	int error = mem_enter(epd, &ep, &c);
	if (error)
		return error;
	error = mark(c, flags, out);
	ep_put(ep);
	return error;
}

int embedded_fence_wait(scif_epd_t epd, int value)
{
	struct ep *ep;
	struct conn *c;
	int error = mem_enter(epd, &ep, &c);
	if (error)
		return error;
	error = wait_mark(c, value);
	ep_put(ep);
	return error;
}

int embedded_fence_signal(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
			  int flags)
{
	struct ep *ep;
	struct conn *c;
	int error = mem_enter(epd, &ep, &c);
	if (error)
		return error;
	error = request_signal(c, loff, lval, roff, rval, flags);
	ep_put(ep);
	return error;
}
