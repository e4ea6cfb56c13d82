/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Treaps with path copying. The priority of a node is a hash of its key, so equal contents have one
 * shape and nothing needs to be stored for it.
 */
#include "tree.h"

#include <errno.h>
#include <stddef.h>

#include "fault_point.h"
#include "store.h"

/*
 * Far beyond the depth of any tree that fits, the nodes that one look into it meets, and the
 * changes that come in between; what goes further is not a tree, or nobody's that keeps to the
 * calls.
 */
enum { DEPTH_MAX = 200, STEPS_MAX = 1 << 18, TRIES_MAX = 1 << 16 };

static uint64_t chunk_pages(unsigned chunk)
{
	uint64_t bytes = ((uint64_t)MEM_NODES_INLINE << chunk) * sizeof(struct tree_node);
	return (bytes + PAGE_BYTES - 1) >> PAGE_BITS;
}

/* Node number 0 is no node. NULL when the number is not one of the pool. */
static struct tree_node *node_at(const struct tree_place *place, uint32_t number)
{
	if (!number)
		return NULL;
	uint32_t position = number - 1;
	uint32_t multiple = position / MEM_NODES_INLINE + 1;
	unsigned chunk = 31 - __builtin_clz(multiple);
	if (!chunk)
		return &place->mem->node[position];
	if (chunk >= MEM_CHUNKS)
		return NULL;
	uint64_t frame =
		atomic_load_explicit(&place->mem->chunk_frame[chunk], memory_order_relaxed);
	struct tree_node *nodes =
		(struct tree_node *)store_address(place->store, frame, chunk_pages(chunk));
	return nodes ? nodes + position - MEM_NODES_INLINE * ((1u << chunk) - 1) : NULL;
}

static uint64_t priority(uint64_t page, uint32_t id)
{
	uint64_t x = page * UINT64_C(0x9e3779b97f4a7c15) + id;
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

/* --- reading --- */

static uint32_t root_node(uint64_t root)
{
	return (uint32_t)root;
}

/* A field that the other side may be changing: read once. */
#define FIELD(node, field) (*(const volatile __typeof__((node)->field) *)&(node)->field)

static void copy_extent(const struct tree_node *n, struct extent *e)
{
	*e = (struct extent){
		.page = FIELD(n, page),
		.pages = FIELD(n, pages),
		.frame = FIELD(n, frame),
		.store = FIELD(n, store),
		.id = FIELD(n, id),
		.holder = FIELD(n, holder),
		.prot = FIELD(n, prot),
		.closed = FIELD(n, closed),
	};
}

/* A run that wraps is nonsense of the peer; the caller sees a hole. */
static bool sane(const struct extent *e)
{
	return e->pages && e->page < UINT64_C(1) << 52 && e->pages < UINT64_C(1) << 52;
}

/*
 * The nodes below a root stay as they are while it is the root; when it is still the root after the
 * walk, all that was read belongs to it.
 */
static bool still_root(_Atomic uint64_t *root, uint64_t seen)
{
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(root, memory_order_relaxed) == seen;
}

static bool walk_next(const struct tree_place *place, uint32_t number, uint64_t page,
		      struct extent *extent, int *nodes)
{
	const struct tree_node *best = NULL;
	int depth;
	for (depth = 0; depth < DEPTH_MAX; depth++) {
		const struct tree_node *n = node_at(place, number);
		if (!n)
			break;
		uint64_t start = FIELD(n, page);
		if (start + FIELD(n, pages) <= page) {
			number = FIELD(n, right);
			continue;
		}
		best = n;
		if (start <= page)
			break;
		number = FIELD(n, left);
	}
	*nodes = depth;
	if (best)
		copy_extent(best, extent);
	return best;
}

/* What was found on the way may be another thing in the copy: the other side can write all the
 * time. */
static bool ends_behind(const struct extent *e, uint64_t page)
{
	return sane(e) && e->page + e->pages > page;
}

bool tree_find(const struct tree_place *place, _Atomic uint64_t *root, uint64_t page,
	       struct extent *extent, struct tree_way *way)
{
	for (int tries = 0; tries < TRIES_MAX; tries++) {
		way->root = atomic_load_explicit(root, memory_order_acquire);
		bool found = walk_next(place, root_node(way->root), page, extent, &way->nodes);
		if (still_root(root, way->root))
			return found && ends_behind(extent, page);
	}
	return false;
}

bool tree_next(const struct tree_place *place, _Atomic uint64_t *root, uint64_t page,
	       struct extent *extent)
{
	struct tree_way way;
	return tree_find(place, root, page, extent, &way);
}

static bool any_closed(const struct tree_place *place, uint32_t number)
{
	const struct tree_node *n = node_at(place, number);
	return n && FIELD(n, any_closed);
}

static bool walk_closed(const struct tree_place *place, uint32_t number, uint64_t page,
			struct extent *extent, int depth, int *steps)
{
	const struct tree_node *n = node_at(place, number);
	if (!n || depth == DEPTH_MAX || --*steps < 0 || !FIELD(n, any_closed) ||
	    FIELD(n, end) <= page)
		return false;
	if (any_closed(place, FIELD(n, left)) &&
	    walk_closed(place, FIELD(n, left), page, extent, depth + 1, steps))
		return true;
	if (FIELD(n, closed) && FIELD(n, page) + FIELD(n, pages) > page) {
		copy_extent(n, extent);
		return true;
	}
	return walk_closed(place, FIELD(n, right), page, extent, depth + 1, steps);
}

bool tree_next_closed(const struct tree_place *place, _Atomic uint64_t *root, uint64_t page,
		      struct extent *extent)
{
	for (int tries = 0, steps = STEPS_MAX; tries < TRIES_MAX && steps > 0; tries++) {
		uint64_t seen = atomic_load_explicit(root, memory_order_acquire);
		bool found = walk_closed(place, root_node(seen), page, extent, 0, &steps);
		if (still_root(root, seen))
			return found && ends_behind(extent, page);
	}
	return false;
}

static bool walk_overlap(const struct tree_place *place, uint32_t number,
			 const struct tree_search *search, int depth, int *steps)
{
	const struct tree_node *n = node_at(place, number);
	struct extent e;
	if (--*steps < 0)
		return true;
	if (!n || depth == DEPTH_MAX || FIELD(n, end) <= search->first ||
	    FIELD(n, first) >= search->end)
		return false;
	if (walk_overlap(place, FIELD(n, left), search, depth + 1, steps))
		return true;
	copy_extent(n, &e);
	if (e.page < search->end && e.page + e.pages > search->first && search->counts(&e))
		return true;
	return walk_overlap(place, FIELD(n, right), search, depth + 1, steps);
}

bool tree_overlap(const struct tree_place *place, _Atomic uint64_t *root,
		  const struct tree_search *search)
{
	for (int tries = 0, steps = STEPS_MAX; tries < TRIES_MAX && steps > 0; tries++) {
		uint64_t seen = atomic_load_explicit(root, memory_order_acquire);
		bool found = walk_overlap(place, root_node(seen), search, 0, &steps);
		if (still_root(root, seen))
			return found;
	}
	return true;
}

/* --- writing --- */

static struct tree_node nowhere; /* stands in for a node that cannot be had; never published */

static uint32_t fail(struct tree_change *t, int error)
{
	if (!t->error)
		t->error = error;
	return 0;
}

static struct tree_node *node(struct tree_change *t, uint32_t number)
{
	struct tree_node *n = node_at(t->place, number);
	if (n)
		return n;
	fail(t, -ECONNRESET);
	return &nowhere;
}

static uint32_t capacity(const struct tree_pool *pool)
{
	return MEM_NODES_INLINE * ((1u << pool->chunks) - 1);
}

static bool grow_pool(struct tree_change *t)
{
	struct tree_pool *pool = t->pool;
	uint64_t frame = 0;
	if (pool->chunks == MEM_CHUNKS)
		return false;
	if (pool->chunks && store_take(t->place->store, chunk_pages(pool->chunks), &frame))
		return false;
	atomic_store_explicit(&t->place->mem->chunk_frame[pool->chunks], frame,
			      memory_order_relaxed);
	FAULT_POINT("tree-grown");
	pool->chunks++;
	return true;
}

static uint32_t make_node(struct tree_change *t)
{
	struct tree_pool *pool = t->pool;
	uint32_t number = pool->free;
	if (t->error)
		return 0;
	if (number) {
		pool->free = node(t, number)->made;
		FAULT_POINT("tree-node-taken");
	} else {
		if (pool->fresh == capacity(pool) && !grow_pool(t))
			return fail(t, -ENOMEM);
		number = ++pool->fresh;
	}
	struct tree_node *n = node(t, number);
	*n = (struct tree_node){.made = t->made, .version = t->version};
	t->made = number;
	return number;
}

/* A node that may be changed: a copy of a published one, or one that this change made itself. */
static uint32_t copy_node(struct tree_change *t, uint32_t number)
{
	struct tree_node *old = node(t, number);
	if (old->version == t->version)
		return t->error ? 0 : number;
	uint32_t copy = make_node(t);
	if (!copy)
		return 0;
	struct tree_node *n = node(t, copy);
	uint32_t made = n->made;
	*n = *old;
	n->made = made;
	n->retired = 0;
	n->version = t->version;
	old->retired = t->retired;
	t->retired = number;
	return copy;
}

static void free_list(struct tree_change *t, uint32_t number, bool by_retired)
{
	/* A list longer than the pool was tampered with. */
	for (uint32_t i = 0; number && i < capacity(t->pool); i++) {
		struct tree_node *n = node(t, number);
		uint32_t next = by_retired ? n->retired : n->made;
		n->made = t->pool->free;
		t->pool->free = number;
		number = next;
	}
}

static void summarise(struct tree_change *t, struct tree_node *n)
{
	n->first = n->page;
	n->end = n->page + n->pages;
	n->gap = 0;
	n->any_closed = n->closed;
	if (n->left) {
		const struct tree_node *l = node(t, n->left);
		n->first = l->first;
		n->gap = l->gap;
		n->any_closed |= l->any_closed;
		if (n->page > l->end && n->page - l->end > n->gap)
			n->gap = n->page - l->end;
		if (l->end > n->end)
			n->end = l->end;
	}
	if (n->right) {
		const struct tree_node *r = node(t, n->right);
		uint64_t hole = r->first > n->page + n->pages ? r->first - n->page - n->pages : 0;
		n->any_closed |= r->any_closed;
		if (r->gap > n->gap)
			n->gap = r->gap;
		if (hole > n->gap)
			n->gap = hole;
		if (r->end > n->end)
			n->end = r->end;
	}
}

static int compare(uint64_t page, uint32_t id, const struct tree_node *n)
{
	if (page != n->page)
		return page < n->page ? -1 : 1;
	return id < n->id ? -1 : id > n->id;
}

static bool too_deep(struct tree_change *t, int depth)
{
	if (depth > DEPTH_MAX)
		fail(t, -ECONNRESET);
	return t->error;
}

static void split(struct tree_change *t, uint32_t number, uint64_t page, uint32_t id,
		  uint32_t *below, uint32_t *above, int depth)
{
	*below = *above = 0;
	if (!number || too_deep(t, depth))
		return;
	uint32_t copy = copy_node(t, number);
	if (!copy)
		return;
	struct tree_node *n = node(t, copy);
	if (compare(page, id, n) > 0) {
		split(t, n->right, page, id, &n->right, above, depth + 1);
		*below = copy;
	} else {
		split(t, n->left, page, id, below, &n->left, depth + 1);
		*above = copy;
	}
	summarise(t, n);
}

static uint32_t join(struct tree_change *t, uint32_t below, uint32_t above, int depth)
{
	if (!below || !above)
		return below ? below : above;
	if (too_deep(t, depth))
		return 0;
	const struct tree_node *b = node(t, below), *a = node(t, above);
	bool below_on_top = priority(b->page, b->id) > priority(a->page, a->id);
	uint32_t copy = copy_node(t, below_on_top ? below : above);
	if (!copy)
		return 0;
	struct tree_node *n = node(t, copy);
	if (below_on_top)
		n->right = join(t, n->right, above, depth + 1);
	else
		n->left = join(t, below, n->left, depth + 1);
	summarise(t, n);
	return copy;
}

static uint32_t insert(struct tree_change *t, uint32_t number, uint32_t new, int depth)
{
	struct tree_node *n = node(t, new);
	if (too_deep(t, depth))
		return 0;
	const struct tree_node *at = number ? node(t, number) : NULL;
	if (!at || priority(n->page, n->id) > priority(at->page, at->id)) {
		split(t, number, n->page, n->id, &n->left, &n->right, depth);
		summarise(t, n);
		return new;
	}
	uint32_t copy = copy_node(t, number);
	if (!copy)
		return 0;
	struct tree_node *c = node(t, copy);
	if (compare(n->page, n->id, c) < 0)
		c->left = insert(t, c->left, new, depth + 1);
	else
		c->right = insert(t, c->right, new, depth + 1);
	summarise(t, c);
	return copy;
}

enum edit { EDIT_REMOVE, EDIT_CLOSE };

static uint32_t edit(struct tree_change *t, uint32_t number, uint64_t page, uint32_t id,
		     enum edit what, int depth)
{
	if (!number || too_deep(t, depth))
		return 0;
	struct tree_node *old = node(t, number);
	int order = compare(page, id, old);
	if (order == 0 && what == EDIT_REMOVE) {
		old->retired = t->retired;
		t->retired = number;
		return join(t, old->left, old->right, depth);
	}
	uint32_t copy = copy_node(t, number);
	if (!copy)
		return 0;
	struct tree_node *n = node(t, copy);
	if (order < 0)
		n->left = edit(t, n->left, page, id, what, depth + 1);
	else if (order > 0)
		n->right = edit(t, n->right, page, id, what, depth + 1);
	else
		n->closed = 1;
	summarise(t, n);
	return copy;
}

void tree_begin(struct tree_change *t, const struct tree_place *place, struct tree_pool *pool,
		_Atomic uint64_t *root)
{
	uint64_t now = atomic_load_explicit(root, memory_order_relaxed);
	*t = (struct tree_change){
		.place = place,
		.pool = pool,
		.root = root,
		.top = root_node(now),
		.version = (uint32_t)(now >> 32) + 1,
	};
}

void tree_insert(struct tree_change *t, const struct extent *extent)
{
	uint32_t number = make_node(t);
	if (!number)
		return;
	struct tree_node *n = node(t, number);
	n->page = extent->page;
	n->pages = extent->pages;
	n->frame = extent->frame;
	n->store = extent->store;
	n->id = extent->id;
	n->holder = extent->holder;
	n->prot = extent->prot;
	n->closed = extent->closed;
	t->top = insert(t, t->top, number, 0);
}

void tree_remove(struct tree_change *t, uint64_t page, uint32_t id)
{
	t->top = edit(t, t->top, page, id, EDIT_REMOVE, 0);
}

void tree_close(struct tree_change *t, uint64_t page, uint32_t id)
{
	t->top = edit(t, t->top, page, id, EDIT_CLOSE, 0);
}

int tree_commit(struct tree_change *t)
{
	if (t->error) {
		free_list(t, t->made, false);
		return t->error;
	}
	FAULT_POINT("tree-made");
	/* seq_cst: the caller looks for transfers in flight next, a transfer announces itself first
	 * and looks at the root next; one of the two must see the other. */
	atomic_store(t->root, (uint64_t)t->version << 32 | t->top);
	FAULT_POINT("tree-published");
	free_list(t, t->retired, true);
	return 0;
}

static bool fit(struct tree_change *t, uint32_t number, uint64_t *start, uint64_t pages, int depth)
{
	if (!number || too_deep(t, depth))
		return false;
	const struct tree_node *n = node(t, number);
	if (n->end <= *start)
		return false;
	if (n->first >= *start && n->first - *start >= pages)
		return true;
	if (n->gap < pages) {
		*start = n->end;
		return false;
	}
	if (fit(t, n->left, start, pages, depth + 1))
		return true;
	if (n->page >= *start && n->page - *start >= pages)
		return true;
	if (*start < n->page + n->pages)
		*start = n->page + n->pages;
	return fit(t, n->right, start, pages, depth + 1);
}

bool tree_fit(struct tree_change *t, uint64_t base, uint64_t limit, uint64_t pages, uint64_t *page)
{
	*page = base;
	if (pages > limit - base)
		return false;
	fit(t, t->top, page, pages, 0);
	return !t->error && *page <= limit - pages;
}
