/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The byte ring of one direction. Data is copied first and then published by a compare-and-swap of
 * the word that counts it. As long as the ring is neither filled nor emptied a side reads only its
 * own word, which no other processor then takes away from it.
 */
#include "ring.h"

#include <endian.h>
#include <errno.h>

#include "fault_point.h"
#include "safe_copy.h"
#include "wait.h"

/* More marks than this while one message is copied are not made by a writer of ours. */
enum { MARKS_MAX = 100 };

static uint32_t count_of(uint64_t word)
{
	return (uint32_t)(word & RING_COUNT);
}

uint32_t ring_used(const struct ring *r)
{
	/* Acquire: what was published before is visible to whoever acts on the count. */
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire), before;
	uint32_t written;

	do {
		before = tail;
		written = count_of(atomic_load_explicit(&r->head, memory_order_acquire));
		tail = atomic_load_explicit(&r->tail, memory_order_acquire);
	} while (count_of(tail) != count_of(before));
	return written - count_of(tail);
}

bool ring_rung(const struct ring *r)
{
	return atomic_load(&r->head) & RING_RUNG;
}

bool ring_full(const struct ring *r)
{
	return atomic_load(&r->tail) & RING_FULL;
}

static _Atomic uint32_t *low_half(_Atomic uint64_t *word)
{
	return (_Atomic uint32_t *)word + (__BYTE_ORDER == __BIG_ENDIAN);
}

_Atomic uint32_t *ring_written(struct ring *r)
{
	return low_half(&r->head);
}

_Atomic uint32_t *ring_taken(struct ring *r)
{
	return low_half(&r->tail);
}

static uint32_t first_part(uint32_t at, uint32_t n)
{
	uint32_t to_end = RING_BYTES - (at & (RING_BYTES - 1));

	return n < to_end ? n : to_end;
}

static int copy_in(struct ring *r, uint32_t at, const unsigned char *src, uint32_t n)
{
	uint32_t first = first_part(at, n);
	int error = safe_copy(&r->data[at & (RING_BYTES - 1)], src, first);

	return error != 0 || first == n ? error : safe_copy(r->data, src + first, n - first);
}

static int copy_out(const struct ring *r, uint32_t at, unsigned char *dst, uint32_t n)
{
	uint32_t first = first_part(at, n);
	int error = safe_copy(dst, &r->data[at & (RING_BYTES - 1)], first);

	return error != 0 || first == n ? error : safe_copy(dst + first, r->data, n - first);
}

/* --- the writer --- */

/* Bytes that the reader is waiting for need no doorbell, unless they could fill the ring. */
static uint64_t head_after(uint64_t head, uint32_t n, bool fills)
{
	uint64_t written = (uint32_t)(count_of(head) + n);
	uint64_t want = (head & RING_WANT) >> RING_WANT_SHIFT;

	if ((head & RING_RUNG) || n > want || fills)
		return written | RING_RUNG;
	return written | (want - n) << RING_WANT_SHIFT;
}

/* True when the ring is full and this call was the one to say so. */
static bool declare_full(struct ring *r, uint32_t written, uint32_t *seen)
{
	uint64_t tail = atomic_load(&r->tail);

	while (written - count_of(tail) == RING_CAPACITY && !(tail & RING_FULL))
		if (atomic_compare_exchange_weak(&r->tail, &tail, tail | RING_FULL))
			return true;
	*seen = count_of(tail);
	return false;
}

int ring_put(struct ring *r, uint32_t *seen, const void *src, uint32_t n, uint32_t most,
	     struct ring_step *step)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed), next;
	uint32_t written = count_of(head), used = written - *seen;
	int error;

	*step = (struct ring_step){.moved = 0};
	if (n > most || used > most - n) {
		/* Acquire: the reader is done with the bytes it has marked as taken. */
		*seen = count_of(atomic_load_explicit(&r->tail, memory_order_acquire));
		used = written - *seen;
		if (used > RING_CAPACITY)
			return -EPROTO;
	}
	if (used >= most)
		return 0;
	if (n > most - used)
		n = most - used;
	error = copy_in(r, written, src, n);
	if (error != 0)
		return error;
	FAULT_POINT("ring-copied-in");
	/* Sequentially consistent: publishes the data, and orders us against the reader's marks. */
	do {
		if (count_of(head) != written)
			return -EPROTO;
		next = head_after(head, n, used + n == RING_CAPACITY);
	} while (!atomic_compare_exchange_weak(&r->head, &head, next));
	FAULT_POINT("ring-put");
	step->moved = n;
	step->token = (next & RING_RUNG) && !(head & RING_RUNG);
	step->sleeper = head & RING_ASLEEP;
	step->filler = used + n == RING_CAPACITY && declare_full(r, written + n, seen);
	return 0;
}

bool ring_refill(struct ring *r)
{
	uint32_t seen;

	return declare_full(r, count_of(atomic_load(&r->head)), &seen);
}

bool ring_withdraw(struct ring *r, const struct ring_step *step)
{
	uint32_t before = count_of(atomic_load(&r->head)) - step->moved;
	uint64_t tail = atomic_load(&r->tail);
	uint64_t next = ((tail & RING_TAKEBACKS) + RING_TAKEBACKS_ONE) | before;

	if (count_of(tail) != before ||
	    !atomic_compare_exchange_strong(&r->tail, &tail, next | RING_TAKEBACK))
		return false;
	/* The reader neither takes nor marks anything until the tail is free again. */
	atomic_store(&r->head, before);
	atomic_store(&r->tail, next);
	return true;
}

/* --- the reader --- */

/* True when the ring is empty, the doorbell told of its bytes, and this call was the one to empty
 * it. */
static bool declare_empty(struct ring *r, uint32_t taken)
{
	uint64_t head = atomic_load(&r->head);

	while (count_of(head) == taken && (head & RING_RUNG))
		if (atomic_compare_exchange_weak(&r->head, &head, head & ~RING_RUNG))
			return true;
	return false;
}

/* How many bytes there are, looking at the other side's word only when what was seen before does
 * not tell: it has to leave more than n, and nothing may have been taken back since. */
static uint32_t bytes_there(struct ring *r, uint64_t *seen, uint64_t tail, uint32_t n)
{
	uint32_t used = count_of(*seen) - count_of(tail);

	if (n < used && used <= RING_CAPACITY && !((*seen ^ tail) & RING_TAKEBACKS))
		return used;
	*seen = count_of(atomic_load_explicit(&r->head, memory_order_acquire)) |
		(tail & RING_TAKEBACKS);
	return count_of(*seen) - count_of(tail);
}

/* 1 when bytes were taken, 0 when there are none, -EAGAIN when the writer marked the tail
 * meanwhile.
 */
static int try_take(struct ring *r, uint64_t *seen, void *dst, uint32_t n, struct ring_step *step)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire), present = tail;
	uint32_t taken = count_of(tail), used = bytes_there(r, seen, tail, n);
	int error;

	if (used > RING_CAPACITY)
		return -EPROTO;
	if (n > used)
		n = used;
	if (n == 0 || (tail & RING_TAKEBACK))
		return 0;
	error = copy_out(r, taken, dst, n);
	if (error != 0)
		return error;
	if (!atomic_compare_exchange_strong(&r->tail, &present,
					    (tail & RING_TAKEBACKS) | (uint32_t)(taken + n)))
		return count_of(present) == taken ? -EAGAIN : -EPROTO;
	FAULT_POINT("ring-taken");
	step->moved = n;
	step->filler = tail & RING_FULL;
	step->token = count_of(*seen) == (uint32_t)(taken + n) && declare_empty(r, taken + n);
	return 1;
}

uint32_t ring_to_empty(struct ring *r, uint64_t seen, uint32_t n)
{
	uint64_t head;
	uint32_t taken = count_of(atomic_load_explicit(&r->tail, memory_order_relaxed));

	if (count_of(seen) - taken > n)
		return 0;
	head = atomic_load_explicit(&r->head, memory_order_acquire);
	return (head & RING_RUNG) && count_of(head) - taken <= n ? count_of(head) - taken : 0;
}

int ring_take(struct ring *r, uint64_t *seen, void *dst, uint32_t n, struct ring_step *step)
{
	int tries = MARKS_MAX, result;

	*step = (struct ring_step){.moved = 0};
	do
		result = try_take(r, seen, dst, n, step);
	while (result == -EAGAIN && --tries > 0);
	return result == -EAGAIN ? -EPROTO : result < 0 ? result : 0;
}

bool ring_want(struct ring *r, uint32_t n)
{
	uint64_t head = atomic_load(&r->head);
	uint64_t wanting = count_of(head) | (uint64_t)n << RING_WANT_SHIFT;

	if (count_of(head) != count_of(atomic_load(&r->tail)) || (head & RING_RUNG))
		return false;
	return head == wanting || atomic_compare_exchange_strong(&r->head, &head, wanting);
}

bool ring_doze(struct ring *r)
{
	uint64_t head = atomic_load(&r->head);

	return count_of(head) == count_of(atomic_load(&r->tail)) && !(head & RING_RUNG) &&
	       atomic_compare_exchange_strong(&r->head, &head, head | RING_ASLEEP);
}

void ring_unwant(struct ring *r)
{
	uint64_t head = atomic_load(&r->head);

	while ((head & (RING_WANT | RING_ASLEEP)) &&
	       !atomic_compare_exchange_weak(&r->head, &head, head & ~(RING_WANT | RING_ASLEEP)))
		;
}

void ring_rouse(struct ring *r)
{
	if (atomic_load(&r->head) & RING_ASLEEP)
		futex_wake(ring_written(r), true);
}
