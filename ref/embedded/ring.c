/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The byte ring of one direction. Data is copied first and then published by a
 * compare-and-swap of the one place word, so every change of fill has exactly
 * one author who knows the fill before and after.
 */
#include "ring.h"

#include <errno.h>

#include "safe_copy.h"

static uint32_t place_written(uint64_t place)
{
	return (uint32_t)(place >> 32);
}

static uint32_t place_taken(uint64_t place)
{
	return (uint32_t)place;
}

static uint64_t place_of(uint32_t written, uint32_t taken)
{
	return (uint64_t)written << 32 | taken;
}

static uint32_t place_used(uint64_t place)
{
	return place_written(place) - place_taken(place);
}

uint32_t ring_used(const struct ring *r)
{
	/* Acquire: what was published before is visible to whoever acts on the count. */
	return place_used(atomic_load_explicit(&r->place, memory_order_acquire));
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

int ring_put(struct ring *r, const void *src, uint32_t n, struct ring_step *step)
{
	/* Acquire: the reader is done with the bytes it has marked as taken. */
	uint64_t place = atomic_load_explicit(&r->place, memory_order_acquire);
	uint32_t written = place_written(place);
	uint32_t used = place_used(place);
	int error;

	*step = (struct ring_step){.before = used, .after = used};
	if (used > RING_CAPACITY)
		return -EPROTO;
	if (n > RING_CAPACITY - used)
		n = RING_CAPACITY - used;
	if (n == 0)
		return 0;
	error = copy_in(r, written, src, n);
	if (error != 0)
		return error;
	/* Sequentially consistent: publishes the data, and orders us against the reader's own step.
	 */
	while (!atomic_compare_exchange_weak(&r->place, &place,
					     place_of(written + n, place_taken(place))))
		if (place_written(place) != written || place_used(place) > used)
			return -EPROTO;
	*step = (struct ring_step){
		.moved = n, .before = place_used(place), .after = place_used(place) + n};
	return 0;
}

int ring_take(struct ring *r, void *dst, uint32_t n, struct ring_step *step)
{
	uint64_t place = atomic_load_explicit(&r->place, memory_order_acquire);
	uint32_t taken = place_taken(place);
	uint32_t used = place_used(place);
	int error;

	*step = (struct ring_step){.before = used, .after = used};
	if (used > RING_CAPACITY)
		return -EPROTO;
	if (n > used)
		n = used;
	if (n == 0)
		return 0;
	error = copy_out(r, taken, dst, n);
	if (error != 0)
		return error;
	while (!atomic_compare_exchange_weak(&r->place, &place,
					     place_of(place_written(place), taken + n)))
		if (place_taken(place) != taken || place_used(place) > RING_CAPACITY ||
		    place_used(place) < used)
			return -EPROTO;
	*step = (struct ring_step){
		.moved = n, .before = place_used(place), .after = place_used(place) - n};
	return 0;
}

int ring_withdraw(struct ring *r, const struct ring_step *step)
{
	uint64_t place = atomic_load(&r->place);
	uint64_t back = place_of(place_written(place) - step->moved, place_taken(place));

	return place_used(place) == step->after &&
	       atomic_compare_exchange_strong(&r->place, &place, back);
}
