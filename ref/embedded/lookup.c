/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables with one place for each page, by a hash. An entry is taken for changing by making its turn
 * odd; whoever reads it meanwhile sees that, and looks into the tree.
 */
#include "lookup.h"

#include <stddef.h>
#include <sys/mman.h>

struct lookup_entry {
	_Atomic uint64_t turn;
	_Atomic uint64_t root, asked; /* the page that was looked for */
	_Atomic uint64_t page, pages, frame;
	_Atomic uint32_t store, id, holder;
	_Atomic uint8_t prot, closed;
} __attribute__((aligned(64)));

/* Of the number of entries: each table comes after the one before was too small. */
static const unsigned table_bits[] = {8, 13, 18};

enum { LOOKUP_TABLES = sizeof(table_bits) / sizeof(table_bits[0]) };

struct lookup_table {
	struct lookup_table *older;
	int number; /* in table_bits */
	struct lookup_entry entry[];
};

static size_t table_bytes(int number)
{
	return sizeof(struct lookup_table) + (sizeof(struct lookup_entry) << table_bits[number]);
}

static struct lookup_table *newest(struct lookup *l)
{
	return atomic_load_explicit(&l->newest, memory_order_acquire);
}

static struct lookup_entry *entry_for(struct lookup_table *table, uint64_t page)
{
	uint64_t hash = page * UINT64_C(0x9e3779b97f4a7c15);

	return table->entry + (hash >> (64 - table_bits[table->number]));
}

void lookup_soon(struct lookup *l, uint64_t page)
{
	struct lookup_table *table = newest(l);

	if (table)
		__builtin_prefetch(entry_for(table, page));
}

#define GET(field)	  atomic_load_explicit(&entry->field, memory_order_relaxed)
#define PUT(field, value) atomic_store_explicit(&entry->field, value, memory_order_relaxed)

bool lookup_get(struct lookup *l, uint64_t root, uint64_t page, struct extent *e)
{
	struct lookup_table *table = newest(l);
	const struct lookup_entry *entry;
	uint64_t turn;

	if (!table)
		return false;
	entry = entry_for(table, page);
	turn = atomic_load_explicit(&entry->turn, memory_order_acquire);
	if (turn & 1 || GET(root) != root || GET(asked) != page || !GET(pages))
		return false;
	*e = (struct extent){
		.page = GET(page),
		.pages = GET(pages),
		.frame = GET(frame),
		.store = GET(store),
		.id = GET(id),
		.holder = GET(holder),
		.prot = GET(prot),
		.closed = GET(closed),
	};
	atomic_thread_fence(memory_order_acquire);
	return GET(turn) == turn;
}

/* The smaller ones are kept: somebody may be looking into them. */
static void add_table(struct lookup *l, struct lookup_table *old)
{
	int number = old ? old->number + 1 : 0;
	size_t bytes = table_bytes(number);
	struct lookup_table *fresh =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fresh == MAP_FAILED)
		return;
	/* Every look would miss the processor's own table of pages. */
	madvise(fresh, bytes, MADV_HUGEPAGE);
	fresh->older = old;
	fresh->number = number;
	if (!atomic_compare_exchange_strong(&l->newest, &old, fresh))
		munmap(fresh, bytes);
	atomic_store(&l->replaced, 0);
}

static bool too_small(struct lookup *l, struct lookup_table *table, uint64_t root, uint64_t page)
{
	if (!table)
		return true;
	if (table->number == LOOKUP_TABLES - 1 ||
	    atomic_load_explicit(&entry_for(table, page)->root, memory_order_relaxed) != root)
		return false;
	return atomic_fetch_add(&l->replaced, 1) >> table_bits[table->number];
}

void lookup_put(struct lookup *l, uint64_t root, uint64_t page, const struct extent *e)
{
	struct lookup_table *table = newest(l);
	struct lookup_entry *entry;
	uint64_t turn;

	if (too_small(l, table, root, page)) {
		add_table(l, table);
		table = newest(l);
	}
	if (!table)
		return;
	entry = entry_for(table, page);
	turn = GET(turn) & ~UINT64_C(1);
	if (!atomic_compare_exchange_strong(&entry->turn, &turn, turn + 1))
		return;
	/* Release: who sees any of the new values sees the odd turn. */
	atomic_thread_fence(memory_order_release);
	PUT(root, root);
	PUT(asked, page);
	PUT(page, e->page);
	PUT(pages, e->pages);
	PUT(frame, e->frame);
	PUT(store, e->store);
	PUT(id, e->id);
	PUT(holder, e->holder);
	PUT(prot, e->prot);
	PUT(closed, e->closed);
	atomic_store_explicit(&entry->turn, turn + 2, memory_order_release);
}

void lookup_free(struct lookup *l)
{
	struct lookup_table *table = atomic_load(&l->newest), *older;

	for (; table; table = older) {
		older = table->older;
		munmap(table, table_bytes(table->number));
	}
}
