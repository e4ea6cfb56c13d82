/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles: tag, generation, kind and slot in one word. The tag makes it an address that no pointer
 * can have.
 */
#include "handle.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOT_BITS = 12, KIND_BITS = 4, GENERATION_SHIFT = SLOT_BITS + KIND_BITS };

#define TAG ((uint64_t)0x5253 << 48)

_Static_assert(HANDLE_SLOTS == 1 << SLOT_BITS, "a slot number fills its bits");
_Static_assert(sizeof(void *) == sizeof(uint64_t), "a handle holds tag, generation, kind and slot");

/* The users of a slot and what else decides whether one may enter, in one atomic word. */
#define RETIRED 0x80000000u
#define USERS	0x7fffffffu

struct slot {
	_Atomic uint64_t state; /* generation << 32 | RETIRED | users */
	_Atomic(struct segment *) segment;
	uint32_t kind;
};

/* `next` is where the search for a free slot starts, so that a slot rests before it is used again.
 */
static struct slot slots[HANDLE_SLOTS];
static unsigned next;

struct parts {
	uint32_t slot, kind, generation;
};

static uint64_t word(uint32_t generation, uint32_t users)
{
	return (uint64_t)generation << 32 | users;
}

static uint32_t generation_of(uint64_t state)
{
	return (uint32_t)(state >> 32);
}

static void *encode(struct parts p)
{
	return (void *)(uintptr_t)(TAG | (uint64_t)p.generation << GENERATION_SHIFT |
				   (uint64_t)p.kind << SLOT_BITS | p.slot);
}

static bool decode(struct parts *p, const void *handle)
{
	uint64_t bits = (uintptr_t)handle;

	p->slot = bits & (HANDLE_SLOTS - 1);
	p->kind = bits >> SLOT_BITS & ((1u << KIND_BITS) - 1);
	p->generation = (uint32_t)(bits >> GENERATION_SHIFT);
	return (bits & (uint64_t)0xffff << 48) == TAG &&
	       (p->kind == SEGMENT_EXPORT || p->kind == SEGMENT_IMPORT);
}

static struct slot *slot_of(const struct segment *s)
{
	return &slots[(uintptr_t)s->handle & (HANDLE_SLOTS - 1)];
}

void *handle_new(struct segment *s)
{
	for (unsigned i = 0; i < HANDLE_SLOTS; i++) {
		unsigned number = (next + i) % HANDLE_SLOTS;
		struct slot *slot = &slots[number];
		uint32_t generation = generation_of(atomic_load(&slot->state)) + 1;

		/* Acquire pairs with the release in handle_drain(). */
		if (atomic_load_explicit(&slot->segment, memory_order_acquire) != NULL)
			continue;
		next = number + 1;
		atomic_store_explicit(&slot->segment, s, memory_order_relaxed);
		slot->kind = s->kind;
		s->closing = false;
		s->handle = encode((struct parts){number, s->kind, generation});
		/* Release: who enters sees the segment. */
		atomic_store_explicit(&slot->state, word(generation, 0), memory_order_release);
		return s->handle;
	}
	return NULL;
}

/*
 * A free slot is a retired one, so one word says whether the handle is live. The segment is read
 * after the use was counted: from then on it stays.
 */
struct segment *handle_enter(const void *handle, unsigned kinds)
{
	struct segment *s;
	struct slot *slot;
	struct parts p;
	uint64_t state;

	if (!decode(&p, handle) || !(kinds & 1u << p.kind))
		return NULL;
	slot = &slots[p.slot];
	state = atomic_load_explicit(&slot->state, memory_order_relaxed);
	do {
		if (generation_of(state) != p.generation || (state & RETIRED) || state == 0)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&slot->state, &state, state + 1, memory_order_acquire, memory_order_relaxed));
	s = atomic_load_explicit(&slot->segment, memory_order_relaxed);
	if (slot->kind == p.kind)
		return s;
	handle_leave(s);
	return NULL;
}

/* The lower half of the word, where users are counted; what a futex can wait on. */
static uint32_t *users_word(struct slot *slot)
{
	uint32_t *halves = (uint32_t *)(void *)&slot->state;

	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? &halves[0] : &halves[1];
}

void handle_leave(struct segment *s)
{
	struct slot *slot = slot_of(s);
	/* Release: what was done inside is done before the segment is freed. */
	uint64_t before = atomic_fetch_sub_explicit(&slot->state, 1, memory_order_release);

	if (before & RETIRED)
		syscall(SYS_futex, users_word(slot), FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool handle_was(const void *handle, enum segment_kind kind)
{
	struct parts p;
	uint64_t state;

	if (!decode(&p, handle) || p.kind != (uint32_t)kind || p.generation == 0)
		return false;
	state = atomic_load(&slots[p.slot].state);
	if (generation_of(state) == p.generation)
		return slots[p.slot].kind == p.kind && (state & RETIRED);
	/* Generations wrap around; half of them count as past. */
	return generation_of(state) - p.generation < 0x80000000u;
}

bool handle_retire(struct segment *s)
{
	uint64_t before = atomic_fetch_or(&slot_of(s)->state, RETIRED);

	s->closing = true;
	return !(before & RETIRED);
}

void handle_drain(struct segment *s)
{
	struct slot *slot = slot_of(s);
	uint64_t state;

	/* Acquire pairs with the release of those who left. */
	while (((state = atomic_load_explicit(&slot->state, memory_order_acquire)) & USERS) > 1)
		syscall(SYS_futex, users_word(slot), FUTEX_WAIT_PRIVATE, (uint32_t)state, NULL,
			NULL, 0);
	atomic_store(&slot->state, word(generation_of(state), RETIRED));
	/* Last: from here handle_new() may take the slot. */
	atomic_store_explicit(&slot->segment, NULL, memory_order_release);
}

/* Only a slot that is not retired keeps its segment while the lock is held. */
void handle_each(unsigned kinds, void (*visit)(struct segment *s, void *arg), void *arg)
{
	for (unsigned i = 0; i < HANDLE_SLOTS; i++) {
		struct segment *s = atomic_load(&slots[i].segment);

		if (s != NULL && !(atomic_load(&slots[i].state) & RETIRED) &&
		    (kinds & 1u << slots[i].kind))
			visit(s, arg);
	}
}

void handle_atfork_child(void (*visit)(struct segment *s))
{
	for (unsigned i = 0; i < HANDLE_SLOTS; i++) {
		struct segment *s = atomic_load(&slots[i].segment);

		atomic_store(&slots[i].state, atomic_load(&slots[i].state) & ~(uint64_t)USERS);
		if (s != NULL)
			visit(s);
	}
}
