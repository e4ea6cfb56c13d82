/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A transfer takes a place in its side's table before it looks for windows, and gives it back when
 * the last byte is written. Unregistering, closing and fences look there.
 */
#include "rma.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "embedded.h"
#include "endpoint.h"
#include "fault_point.h"
#include "fence.h"
#include "mapping.h"
#include "process.h"
#include "safe_copy.h"
#include "scif.h"
#include "wait.h"

enum { CACHE_LINE = 64, TENTATIVE_TRIES = 10000 };
enum { RMA_FLAGS = SCIF_RMA_USECPU | SCIF_RMA_USECACHE | SCIF_RMA_SYNC | SCIF_RMA_ORDERED };

static const uint64_t WAIT_SLICE_NS = 10000000;

static struct block_mem *mem_of(struct conn *c, int side)
{
	return &c->block->mem[side];
}

static _Atomic uint32_t own_pid;

uint32_t rma_self(void)
{
	/* getpid is a system call; fork's child handler forgets the value. Relaxed: who finds none asks for the same. */
	uint32_t pid = atomic_load_explicit(&own_pid, memory_order_relaxed);
	if (!pid) {
		pid = (uint32_t)getpid();
		atomic_store_explicit(&own_pid, pid, memory_order_relaxed);
	}
	return pid;
}

void rma_atfork_child(void)
{
	atomic_store_explicit(&own_pid, 0, memory_order_relaxed);
}

/* --- places --- */

static _Atomic uint32_t *flying(struct conn *c, const struct transfer *t)
{
	return &c->mem->own->flying[t - mem_of(c, c->side)->transfer];
}

/* Taken where the peer cannot write, which is first to be taken and last to be given back. */
static struct transfer *try_begin(struct conn *c, struct block_mem *mem)
{
	static _Thread_local unsigned last;
	for (unsigned i = 0; i < MEM_TRANSFERS; i++) {
		struct transfer *t = &mem->transfer[(last + i) % MEM_TRANSFERS];
		uint32_t nobody = 0;
		if (atomic_load_explicit(flying(c, t), memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(flying(c, t), &nobody, rma_self()))
			continue;
		FAULT_POINT("transfer-reserved");
		/* Relaxed: seen by whoever sees that begin() has counted it. */
		atomic_store_explicit(&t->seq, TRANSFER_TENTATIVE, memory_order_relaxed);
		last += i;
		return t;
	}
	return NULL;
}

/* More threads than places: waits for any transfer to end. */
static int wait_place(struct conn *c, struct block_mem *mem)
{
	rma_drop_dead(c);
	atomic_fetch_add(&mem->waiters, 1);
	uint32_t seen = atomic_load(&mem->finished);
	bool full = true;
	for (unsigned i = 0; i < MEM_TRANSFERS && full; i++)
		full = atomic_load(&c->mem->own->flying[i]);
	int error = full ? conn_wait_word(c, &mem->finished, seen) : 0;
	atomic_fetch_sub(&mem->waiters, 1);
	/* A signal does not end a transfer; scif_close in another thread does. */
	return error == -EINTR && !atomic_load(&c->closed) ? 0 : error;
}

static int begin(struct conn *c, const struct span *local, uint64_t roffset,
		 struct transfer **place)
{
	struct block_mem *mem = mem_of(c, c->side);
	struct transfer *t;
	while (!(t = try_begin(c, mem))) {
		int error = wait_place(c, mem);
		if (error)
			return error;
	}
	FAULT_POINT("transfer-placed");
	bool space = local->side != SPAN_MEMORY;
	/* Relaxed: the fetch_add below orders them before the look into the window trees. */
	atomic_store_explicit(&t->local_first, local->offset, memory_order_relaxed);
	atomic_store_explicit(&t->local_end, local->offset + (space ? local->bytes : 0),
			      memory_order_relaxed);
	atomic_store_explicit(&t->remote_first, roffset, memory_order_relaxed);
	atomic_store_explicit(&t->remote_end, roffset + local->bytes, memory_order_relaxed);
	atomic_store_explicit(&t->seq, atomic_fetch_add(&mem->started, 1) + 1,
			      memory_order_relaxed);
	FAULT_POINT("transfer-begun");
	*place = t;
	return 0;
}

static void end(struct conn *c, struct transfer *t)
{
	struct block_mem *mem = mem_of(c, c->side);
	FAULT_POINT("transfer-copied");
	/* seq_cst: who waits or leaves a signal counts itself first and then looks at the places;
	 * here it is the other way round, so one sees the other. */
	atomic_store(&t->seq, 0);
	FAULT_POINT("transfer-ended");
	/* Release: who takes the place next has seen it empty. */
	atomic_store_explicit(flying(c, t), 0, memory_order_release);
	if (atomic_load(&mem->signals))
		fence_deliver(c, c->side);
	if (atomic_load(&mem->waiters)) {
		atomic_fetch_add(&mem->finished, 1);
		conn_wake_word(&mem->finished);
	}
}

static bool overlaps(const struct transfer *t, bool of_peer, uint64_t first, uint64_t last_end)
{
	if (!atomic_load(&t->seq))
		return false;
	uint64_t from = atomic_load(of_peer ? &t->remote_first : &t->local_first);
	uint64_t to = atomic_load(of_peer ? &t->remote_end : &t->local_end);
	return from < last_end && to > first;
}

/* A place of ours that nobody of ours has was written by the peer. */
static bool taken(struct conn *c, int side, unsigned i)
{
	return side != c->side || atomic_load(&c->mem->own->flying[i]);
}

static bool side_in_flight(struct conn *c, int side, uint64_t first, uint64_t last_end)
{
	for (unsigned i = 0; i < MEM_TRANSFERS; i++)
		if (taken(c, side, i) &&
		    overlaps(&mem_of(c, side)->transfer[i], side != c->side, first, last_end))
			return true;
	return false;
}

bool rma_in_flight(struct conn *c, uint64_t first, uint64_t last_end)
{
	return side_in_flight(c, c->side, first, last_end) ||
	       side_in_flight(c, !c->side, first, last_end);
}

bool rma_pending(struct conn *c, int side, uint64_t seq)
{
	struct block_mem *mem = mem_of(c, side);
	for (unsigned i = 0; i < MEM_TRANSFERS; i++) {
		uint64_t number;
		int tries = 0;
		/* Between place and number are a few instructions, unless the thread died there. */
		while ((number = atomic_load(&mem->transfer[i].seq)) == TRANSFER_TENTATIVE &&
		       tries++ < TENTATIVE_TRIES && conn_alive(c) == 0)
			sched_yield();
		if (number == TRANSFER_TENTATIVE && conn_alive(c) == 0 && taken(c, side, i))
			return true;
		if (number && number <= seq && taken(c, side, i))
			return true;
	}
	return false;
}

void rma_drop_dead(struct conn *c)
{
	struct block_mem *mem = mem_of(c, c->side);
	for (unsigned i = 0; i < MEM_TRANSFERS; i++) {
		struct transfer *t = &mem->transfer[i];
		uint32_t holder = atomic_load(flying(c, t));
		if (!process_dead((pid_t)holder) ||
		    !atomic_compare_exchange_strong(flying(c, t), &holder, rma_self()))
			continue;
		atomic_store(&t->seq, 0);
		atomic_store(flying(c, t), 0);
		atomic_fetch_add(&mem->finished, 1);
		conn_wake_word(&mem->finished);
	}
}

void mem_conn_waited(struct conn *c)
{
	if (c->mem)
		rma_drop_dead(c);
}

static void wait_side(struct conn *c, int side, uint64_t first, uint64_t last_end)
{
	struct block_mem *mem = mem_of(c, side);
	while (side_in_flight(c, side, first, last_end)) {
		atomic_fetch_add(&mem->waiters, 1);
		uint32_t seen = atomic_load(&mem->finished);
		if (side_in_flight(c, side, first, last_end))
			futex_wait(&mem->finished, seen, WAIT_SLICE_NS, true);
		atomic_fetch_sub(&mem->waiters, 1);
		if (side == c->side)
			rma_drop_dead(c);
		else if (mem_peer_ended(c))
			return;
	}
}

void rma_wait_range(struct conn *c, uint64_t first, uint64_t last_end)
{
	wait_side(c, c->side, first, last_end);
	wait_side(c, !c->side, first, last_end);
}

/* --- copying --- */

static int copy_part(struct span *to, struct span *from, size_t bytes)
{
	int error = 0;
	while (bytes && !error) {
		size_t n = bytes;
		if (n > to->piece)
			n = to->piece;
		if (n > from->piece)
			n = from->piece;
		error = safe_copy(to->at, from->at, n);
		if (!error)
			error = span_advance(to, n);
		if (!error)
			error = span_advance(from, n);
		bytes -= n;
	}
	return error;
}

static int copy(struct span *to, struct span *from, bool ordered)
{
	size_t bytes = from->bytes;
	if (!ordered)
		return copy_part(to, from, bytes);
	/* The last cache line, or part of one, of the source. */
	uint64_t place = from->side == SPAN_MEMORY ? (uintptr_t)from->at : from->offset;
	size_t tail = (place + bytes - 1) % CACHE_LINE + 1;
	if (tail > bytes)
		tail = bytes;
	int error = copy_part(to, from, bytes - tail);
	/* Release: nobody sees the last line before the rest. */
	atomic_thread_fence(memory_order_release);
	return error ? error : copy_part(to, from, tail);
}

static int check_memory(const struct span *local, bool write)
{
	uintptr_t at = (uintptr_t)local->at;
	if (!at || local->bytes > UINTPTR_MAX - at)
		return -EFAULT;
	if (mapping_covers(local->at, local->bytes))
		return -EFAULT;
	return write ? safe_probe_overwrite(local->at, local->bytes)
		     : safe_probe_read(local->at, local->bytes);
}

static int transfer(struct conn *c, struct span *local, uint64_t roffset, int flags, bool read)
{
	struct span remote = {.c = c, .side = !c->side, .offset = roffset, .bytes = local->bytes};
	bool memory = local->side == SPAN_MEMORY;
	/* Ranges are looked up before the caller's memory is touched, which may take any time: a
	 * window that is closed meanwhile waits for this transfer. */
	int range = span_check(&remote, read ? SCIF_PROT_READ : SCIF_PROT_WRITE);
	int error = memory ? check_memory(local, read) : 0;
	if (!error)
		error = range;
	if (!error)
		error = span_check(local, read ? SCIF_PROT_WRITE : SCIF_PROT_READ);
	if (!error) {
		bool ordered = flags & SCIF_RMA_ORDERED;
		error = read ? copy(local, &remote, ordered) : copy(&remote, local, ordered);
	}
	/* The text of transfers knows no shortage, nor memory of a shared file that is cut off under a window. */
	return error == -ENOMEM || (error == -EFAULT && !memory) ? -ENXIO : error;
}

int rma_run(struct conn *c, struct span *local, uint64_t roffset, int flags, bool read)
{
	struct transfer *place;
	if (flags & ~RMA_FLAGS || !local->bytes)
		return -EINVAL;
	lookup_soon(&c->mem->lookup[!c->side], roffset >> PAGE_BITS);
	int error = begin(c, local, roffset, &place);
	if (error)
		return error;
	error = transfer(c, local, roffset, flags, read);
	end(c, place);
	return error;
}

static int run_on(scif_epd_t epd, struct span *local, off_t roffset, int flags, bool read)
{
	struct ep *ep;
	struct conn *c;
	int error = mem_enter(epd, &ep, &c);
	if (error)
		return error;
	local->c = c;
	if (local->side != SPAN_MEMORY)
		local->side = c->side;
	error = rma_run(c, local, roffset, flags, read);
	ep_put(ep);
	return error;
}

int embedded_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	struct span local = {.offset = loffset, .bytes = len};
	return run_on(epd, &local, roffset, rma_flags, true);
}

int embedded_writeto(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	struct span local = {.offset = loffset, .bytes = len};
	return run_on(epd, &local, roffset, rma_flags, false);
}

int embedded_vreadfrom(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	struct span local = {.side = SPAN_MEMORY, .at = addr, .bytes = len};
	return run_on(epd, &local, roffset, rma_flags, true);
}

int embedded_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	struct span local = {.side = SPAN_MEMORY, .at = addr, .bytes = len};
	return run_on(epd, &local, roffset, rma_flags, false);
}
