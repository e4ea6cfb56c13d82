/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening and closing windows, and finding the memory behind ranges of a registered address space.
 *
 * A closed window stays in the tree, marked, as long as the peer has it mapped, a transfer uses it
 * or a fence signal is to be written there. Users announce themselves before they look into the
 * tree; whoever closes a window changes the tree before it looks for users.
 */
#include "window.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "family.h"
#include "fault_point.h"
#include "fence.h"
#include "fork.h"
#include "mapping.h"
#include "process.h"
#include "quota.h"
#include "registry.h"
#include "rma.h"
#include "scif.h"

static const uint64_t ANYWHERE_FIRST = UINT64_C(1) << (62 - PAGE_BITS);
static const uint64_t ANYWHERE_END = UINT64_C(0x7f00000000000000) >> PAGE_BITS;

enum { STORE_NOTICE = 0x53544f52 };

/* Goes over the control socket together with the descriptor. */
struct store_notice {
	uint32_t magic;
	uint32_t number;
	uint64_t pages;
	uint32_t writable;
	uint32_t sealed;
};

/* --- life of the memory half --- */

static uint64_t pid_space(void)
{
	struct stat st;
	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

static struct mem_conn *mem_create(void)
{
	struct mem_conn *m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->own = mmap(NULL, sizeof(*m->own), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (m->own == MAP_FAILED) {
		free(m);
		return NULL;
	}
	pthread_mutex_init(&m->receiving, NULL);
	return m;
}

static int attach_stores(struct conn *c, struct mem_conn *m, int *peer_store_fd)
{
	struct store *own, *peer;
	m->class = store_class_of(c);
	int error = store_own(&m->class, &own);
	if (error)
		return error;
	int fd = *peer_store_fd;
	*peer_store_fd = -1;
	error = store_open_peer(fd, true, true, 0, &peer);
	if (error)
		return error;
	m->store[c->side][0] = m->place[c->side].store = own;
	m->store[!c->side][0] = m->place[!c->side].store = peer;
	m->place[0].mem = &c->block->mem[0];
	m->place[1].mem = &c->block->mem[1];
	m->own->store[0].dev = own->dev;
	m->own->store[0].ino = own->ino;
	m->own->stores = 1;
	return 0;
}

int mem_conn_init(struct conn *c, int peer_store_fd)
{
	struct mem_conn *m = mem_create();
	int error = m ? attach_stores(c, m, &peer_store_fd) : -ENOMEM;
	if (!error)
		error = mem_fork_init();
	if (peer_store_fd >= 0)
		close(peer_store_fd);
	if (error) {
		if (m)
			munmap(m->own, sizeof(*m->own));
		free(m);
		return error;
	}
	c->block->mem[c->side].pid_space = pid_space();
	c->mem = m;
	return 0;
}

/* The tree may say more than was taken, or nothing. */
static void return_quota(struct conn *c, uint64_t pages)
{
	if (pages > c->mem->charged)
		pages = c->mem->charged;
	c->mem->charged -= pages;
	quota_return(pages);
}

void mem_conn_free(struct conn *c)
{
	struct mem_conn *m = c->mem;
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < MEM_STORES; i++)
			if (m->store[side][i])
				store_put(m->store[side][i]);
	return_quota(c, m->charged);
	for (int side = 0; side < 2; side++)
		lookup_free(&m->lookup[side]);
	munmap(m->own, sizeof(*m->own));
	pthread_mutex_destroy(&m->receiving);
	free(m);
	c->mem = NULL;
}

/* --- stores of a connection --- */

/* What another user can cut off would end our program at the next access to a mapping of it. */
static bool acceptable(const struct conn *c, const struct store_notice *notice)
{
	return notice->magic == STORE_NOTICE && notice->number && notice->number < MEM_STORES &&
	       (notice->sealed || c->same_class);
}

/* -ENOMEM: not now. */
static int receive_store(struct conn *c, const struct store_notice *notice, int fd)
{
	struct mem_conn *m = c->mem;
	struct store *s;
	if (!acceptable(c, notice) || m->store[!c->side][notice->number]) {
		close(fd);
		return 0;
	}
	int error = store_open_peer(fd, notice->sealed, notice->writable, notice->pages, &s);
	if (!error)
		m->store[!c->side][notice->number] = s;
	return error == -ENOMEM ? error : 0;
}

/* A notice comes once. One that meets a shortage of descriptors or memory stays where it is for the next look. */
static bool take_notice(struct conn *c)
{
	struct store_notice notice;
	int fd, error = conn_peek_fd(c, &notice, sizeof(notice), &fd);
	if (error && error != -EPROTO)
		return false;
	if (!error && fd >= 0 && receive_store(c, &notice, fd) != 0)
		return false;
	conn_drop_fd(c);
	return !error;
}

static void receive_stores(struct conn *c)
{
	pthread_mutex_lock(&c->mem->receiving);
	/* No more than there can be: a peer that goes on and on does not hold us. */
	for (int i = 0; i < MEM_STORES && take_notice(c); i++)
		;
	pthread_mutex_unlock(&c->mem->receiving);
}

/* A store that another process of this side brought in, if this process knows it. */
static void adopt_store(struct conn *c, uint32_t number)
{
	struct mem_conn *m = c->mem;
	struct area area = {.dev = m->own->store[number].dev, .ino = m->own->store[number].ino};
	if (number >= m->own->stores)
		return;
	struct store *s = store_find(&area, m->own->store[number].pages), *none = NULL;
	if (s && !atomic_compare_exchange_strong(&m->store[c->side][number], &none, s))
		store_put(s);
}

struct store *window_store(struct conn *c, int side, uint32_t number)
{
	struct mem_conn *m = c->mem;
	if (number >= MEM_STORES)
		return NULL;
	struct store *s = atomic_load_explicit(&m->store[side][number], memory_order_acquire);
	if (s)
		return s;
	if (side == c->side)
		adopt_store(c, number);
	else
		receive_stores(c);
	return m->store[side][number];
}

static int send_store(struct conn *c, struct store *s, int fd, uint32_t number)
{
	struct store_notice notice = {
		.magic = STORE_NOTICE,
		.number = number,
		.pages = s->pages,
		.writable = s->writable,
		.sealed = s->kind == STORE_OWN,
	};
	int error = conn_send_fd(c, &notice, sizeof(notice), fd);
	return error && error != -ECONNRESET ? -EAGAIN : error;
}

static int add_store(struct conn *c, struct store *s, int fd, uint32_t *number)
{
	struct mem_conn *m = c->mem;
	uint32_t next = m->own->stores;
	for (uint32_t i = 0; i < next; i++) {
		if (m->store[c->side][i] != s)
			continue;
		*number = i;
		return 0;
	}
	if (next == MEM_STORES || fd < 0)
		return -EAGAIN;
	int error = send_store(c, s, fd, next);
	if (error)
		return error;
	store_get(s);
	m->own->store[next].dev = s->dev;
	m->own->store[next].ino = s->ino;
	m->own->store[next].pages = s->pages;
	FAULT_POINT("store-sent");
	m->store[c->side][next] = s;
	m->own->stores++;
	*number = next;
	return 0;
}

int window_store_number(struct conn *c, struct store *s, int fd, uint32_t *number)
{
	conn_lock_mem(c);
	int error = add_store(c, s, fd, number);
	conn_unlock_mem(c);
	return error;
}

/* --- who still refers to a closed window --- */

static struct tree_place *own_place(struct conn *c)
{
	return &c->mem->place[c->side];
}

static _Atomic uint64_t *own_windows(struct conn *c)
{
	return &c->block->mem[c->side].windows;
}

static bool same_pid_space(struct conn *c)
{
	uint64_t ours = c->block->mem[c->side].pid_space;
	return ours && ours == c->block->mem[!c->side].pid_space;
}

bool mem_peer_ended(struct conn *c)
{
	struct pollfd p = {.fd = c->ctl};
	return c->ctl >= 0 && poll(&p, 1, 0) == 1 && p.revents & POLLHUP;
}

static bool is_any(const struct extent *e)
{
	(void)e;
	return true;
}

static bool has_living_holder(const struct extent *e)
{
	return !process_dead(e->holder);
}

/* The peer's mappings of a range, apart from those of processes known to be dead. */
static bool mapped(struct conn *c, uint64_t first, uint64_t end)
{
	const struct tree_search search = {
		.first = first,
		.end = end,
		.counts = same_pid_space(c) ? has_living_holder : is_any,
	};
	return tree_overlap(&c->mem->place[!c->side], &c->block->mem[!c->side].mappings, &search);
}

static bool busy(struct conn *c, uint64_t first, uint64_t end)
{
	if (fence_refers(c, first << PAGE_BITS, end << PAGE_BITS) ||
	    rma_in_flight(c, first << PAGE_BITS, end << PAGE_BITS))
		return !mem_peer_ended(c);
	return mapped(c, first, end) && !mem_peer_ended(c);
}

/* --- removing --- */

struct window {
	uint64_t page, end;
	uint32_t id;
};

/* All of the window that an extent belongs to. */
static struct window window_of(struct conn *c, const struct extent *e)
{
	struct window w = {.page = e->page, .end = e->page + e->pages, .id = e->id};
	struct extent other;
	while (w.page && tree_next(own_place(c), own_windows(c), w.page - 1, &other) &&
	       other.page + other.pages == w.page && other.id == w.id)
		w.page = other.page;
	while (tree_next(own_place(c), own_windows(c), w.end, &other) && other.page == w.end &&
	       other.id == w.id)
		w.end = other.page + other.pages;
	return w;
}

static void release_extent(struct conn *c, const struct extent *e)
{
	struct store *s = window_store(c, c->side, e->store);
	if (s)
		store_release(s, e->frame, e->pages);
}

static void remove_window(struct conn *c, const struct window *w)
{
	struct tree_change t;
	struct extent e;
	uint64_t page = w->page;
	while (page < w->end && tree_next(own_place(c), own_windows(c), page, &e) &&
	       e.id == w->id) {
		tree_begin(&t, own_place(c), &c->mem->own->pool, own_windows(c));
		tree_remove(&t, e.page, e.id);
		if (tree_commit(&t))
			return;
		FAULT_POINT("window-removed");
		release_extent(c, &e);
		page = e.page + e.pages;
	}
}

/* Removes the closed windows in a range that nobody refers to; the others are left. */
static void remove_closed(struct conn *c, uint64_t first, uint64_t end)
{
	struct extent e;
	bool left = false;
	uint64_t page = first;
	while (page < end && tree_next_closed(own_place(c), own_windows(c), page, &e) &&
	       e.page < end) {
		struct window w = window_of(c, &e);
		page = w.end > page ? w.end : page + 1;
		if (busy(c, w.page, w.end))
			left = true;
		else
			remove_window(c, &w);
	}
	/* The mapper looks at its next call whether it still has what keeps them. */
	if (left)
		atomic_fetch_add(&c->block->mem[!c->side].verify, 1);
}

static void remove_all_closed(struct conn *c)
{
	uint64_t mappings = atomic_load(&c->block->mem[!c->side].mappings);
	struct extent e;
	if (!tree_next_closed(own_place(c), own_windows(c), 0, &e))
		return;
	if (mappings == c->mem->own->looked && !fence_pending(c))
		return;
	c->mem->own->looked = mappings;
	remove_closed(c, 0, ANYWHERE_END);
}

/* --- opening --- */

static bool range_taken(struct conn *c, uint64_t page, uint64_t pages)
{
	struct extent e;
	return tree_next(own_place(c), own_windows(c), page, &e) && e.page < page + pages;
}

static int check_free(struct conn *c, uint64_t page, uint64_t pages)
{
	if (!range_taken(c, page, pages))
		return 0;
	struct extent e;
	uint64_t from = page;
	if (tree_next(own_place(c), own_windows(c), page, &e) && e.page < from)
		from = window_of(c, &e).page;
	remove_closed(c, from, page + pages);
	return range_taken(c, page, pages) ? -EADDRINUSE : 0;
}

int window_check_free(struct conn *c, uint64_t page, uint64_t pages)
{
	conn_lock_mem(c);
	int error = check_free(c, page, pages);
	conn_unlock_mem(c);
	return error;
}

static int place_window(struct conn *c, struct tree_change *t, uint64_t pages, uint64_t *page)
{
	if (*page != WINDOW_ANYWHERE)
		return check_free(c, *page, pages);
	remove_all_closed(c);
	tree_begin(t, own_place(c), &c->mem->own->pool, own_windows(c));
	if (tree_fit(t, ANYWHERE_FIRST, ANYWHERE_END, pages, page))
		return 0;
	return t->error ? t->error : -ENOMEM;
}

static int insert_window(struct conn *c, const struct extent *extents, size_t count, uint64_t pages,
			 uint64_t page)
{
	struct tree_change t;
	struct mem_side *own = c->mem->own;
	uint32_t id = ++own->next_id;
	tree_begin(&t, own_place(c), &own->pool, own_windows(c));
	for (size_t i = 0; i < count; i++) {
		struct extent e = extents[i];
		e.page = page;
		e.id = id;
		tree_insert(&t, &e);
		page += e.pages;
	}
	int error = tree_commit(&t);
	if (error)
		return error;
	FAULT_POINT("window-opened");
	own->windows++;
	c->mem->charged += pages;
	own->bytes += pages << PAGE_BITS;
	registry_windows(c->sock, own->windows, own->bytes);
	return 0;
}

int window_open(struct conn *c, const struct extent *extents, size_t count, uint64_t page,
		uint64_t *placed)
{
	struct tree_change t;
	uint64_t pages = 0;
	for (size_t i = 0; i < count; i++)
		pages += extents[i].pages;
	conn_lock_mem(c);
	int error = place_window(c, &t, pages, &page);
	if (!error)
		error = insert_window(c, extents, count, pages, page);
	conn_unlock_mem(c);
	*placed = page;
	return error;
}

/* --- closing --- */

/* Walks the windows that are open in [*at, end); moves *at behind the extent found. */
static bool next_open(struct conn *c, uint64_t *at, uint64_t end, struct extent *e)
{
	while (*at < end && tree_next(own_place(c), own_windows(c), *at, e) && e->page < end) {
		*at = e->page + e->pages;
		if (!e->closed)
			return true;
	}
	return false;
}

static int check_range(struct conn *c, uint64_t page, uint64_t end)
{
	struct extent first, last;
	uint64_t at = page;
	if (!next_open(c, &at, end, &first))
		return -ENXIO;
	last = first;
	while (next_open(c, &at, end, &last))
		;
	/* Extents of one window are adjacent, so only the outermost two can be cut. */
	if (window_of(c, &first).page < page || window_of(c, &last).end > end)
		return -EINVAL;
	return 0;
}

struct tally {
	uint32_t windows, last_id;
	uint64_t pages, own_pages;
};

static void count(struct tally *tally, const struct extent *e, uint32_t self)
{
	tally->windows += e->id != tally->last_id;
	tally->last_id = e->id;
	tally->pages += e->pages;
	if (e->holder == self)
		tally->own_pages += e->pages;
}

static int close_windows(struct conn *c, uint64_t page, uint64_t end)
{
	struct tree_change t;
	struct extent e;
	struct mem_side *own = c->mem->own;
	struct tally tally = {0};
	uint32_t self = getpid();
	tree_begin(&t, own_place(c), &own->pool, own_windows(c));
	for (uint64_t at = page; next_open(c, &at, end, &e);) {
		tree_close(&t, e.page, e.id);
		count(&tally, &e, self);
	}
	int error = tree_commit(&t);
	if (error)
		return error;
	FAULT_POINT("windows-closed");
	own->windows -= tally.windows;
	own->bytes -= tally.pages << PAGE_BITS;
	return_quota(c, tally.own_pages);
	registry_windows(c->sock, own->windows, own->bytes);
	return 0;
}

/* Waits for the transfers that use closed windows, then lets go of those without other users. */
static void settle(struct conn *c, uint64_t page, uint64_t end)
{
	rma_wait_range(c, page << PAGE_BITS, end << PAGE_BITS);
	conn_lock_mem(c);
	remove_closed(c, page, end);
	conn_unlock_mem(c);
}

/* The tree is right at any time; what is counted of it follows. */
void mem_conn_repair(struct conn *c)
{
	struct extent e;
	struct tally tally = {0};
	for (uint64_t at = 0; next_open(c, &at, ANYWHERE_END, &e);)
		count(&tally, &e, 0);
	c->mem->own->windows = tally.windows;
	c->mem->own->bytes = tally.pages << PAGE_BITS;
}

int window_close(struct conn *c, uint64_t page, uint64_t pages)
{
	conn_lock_mem(c);
	int error = check_range(c, page, page + pages);
	if (!error)
		error = close_windows(c, page, page + pages);
	conn_unlock_mem(c);
	if (!error)
		settle(c, page, page + pages);
	return error;
}

static void close_all(struct conn *c)
{
	conn_lock_mem(c);
	close_windows(c, 0, ANYWHERE_END);
	conn_unlock_mem(c);
	settle(c, 0, ANYWHERE_END);
}

/* --- connections that are closed here but not over --- */

static struct conn *lingering;
static pthread_mutex_t lingering_lock = PTHREAD_MUTEX_INITIALIZER;

static bool siblings_alive(struct conn *c)
{
	return !c->last_holder && family_holds(c->mem->number, c->inode);
}

static bool no_windows(struct conn *c)
{
	struct extent e;
	return !tree_next(own_place(c), own_windows(c), 0, &e);
}

/*
 * Windows outlive the endpoint while the peer has them mapped, or while another process of this
 * side goes on using it: that process may die without a word, and then its windows are ours to
 * drop.
 */
static void linger(struct conn *c)
{
	pthread_mutex_lock(&lingering_lock);
	if (!c->mem->lingers) {
		c->mem->lingers = true;
		c->mem->next_lingering = lingering;
		lingering = c;
		conn_get(c);
	}
	pthread_mutex_unlock(&lingering_lock);
}

void mem_conn_closed(struct conn *c)
{
	if (!c->mem)
		return;
	bool last = conn_last_holder(c);
	c->mem->number = atomic_load(&c->sock);
	if (last)
		close_all(c);
	if (!last || !no_windows(c))
		linger(c);
	/* Another process of this side goes on; only a mapping of ours would need it here. */
	if (!last && !atomic_load(&c->mem->mappings))
		conn_drop_control(c);
	window_collect();
}

/* Of a connection that is closed here; waits for nobody, as all other connections wait for this. */
static void let_go(struct conn *c)
{
	conn_lock_mem(c);
	close_windows(c, 0, ANYWHERE_END);
	remove_closed(c, 0, ANYWHERE_END);
	conn_unlock_mem(c);
}

/* Takes a connection that is over out of the list: a peer that is gone needs no windows, whatever
 * it has made of them. */
static struct conn *take_finished(void)
{
	struct conn *c = NULL, **link = &lingering;
	pthread_mutex_lock(&lingering_lock);
	for (; (c = *link); link = &c->mem->next_lingering) {
		if (siblings_alive(c))
			continue;
		let_go(c);
		if (no_windows(c) || mem_peer_ended(c))
			break;
	}
	if (c) {
		*link = c->mem->next_lingering;
		c->mem->lingers = false;
	}
	pthread_mutex_unlock(&lingering_lock);
	return c;
}

void window_collect(void)
{
	struct conn *c;
	while (lingering && (c = take_finished()))
		conn_put(c);
}

void window_atfork_prepare(void)
{
	pthread_mutex_lock(&lingering_lock);
}

void window_atfork_parent(void)
{
	pthread_mutex_unlock(&lingering_lock);
}

static void reset_receiving(struct conn *c, void *arg)
{
	(void)arg;
	if (c->mem)
		pthread_mutex_init(&c->mem->receiving, NULL);
}

/* What lingers is the parent's to wait for. */
void window_atfork_child(void)
{
	pthread_mutex_unlock(&lingering_lock);
	conn_for_each(reset_receiving, NULL);
	while (lingering) {
		struct conn *c = lingering;
		lingering = c->mem->next_lingering;
		c->mem->lingers = false;
		conn_put(c);
	}
}

/* --- ranges of bytes --- */

/* Down a tree of few windows the way is as short as to the tables. */
enum { SHORT_WAY = 8 };

static bool find_extent(struct conn *c, int side, uint64_t page, struct extent *e)
{
	_Atomic uint64_t *root = &c->block->mem[side].windows;
	struct lookup *known = &c->mem->lookup[side];
	struct tree_way way;
	if (lookup_get(known, atomic_load_explicit(root, memory_order_acquire), page, e))
		return true;
	if (!tree_find(&c->mem->place[side], root, page, e, &way) || e->page > page)
		return false;
	if (way.nodes > SHORT_WAY)
		lookup_put(known, way.root, page, e);
	return true;
}

static int find_piece(struct span *s, int prot, bool closed_too, struct extent *e)
{
	uint64_t page = s->offset >> PAGE_BITS;
	if (!find_extent(s->c, s->side, page, e) || (e->closed && !closed_too))
		return -ENXIO;
	if ((e->prot & prot) != prot)
		return -EACCES;
	struct store *store = window_store(s->c, s->side, e->store);
	unsigned char *at = store ? store_address(store, e->frame, e->pages) : NULL;
	/* The window is there, only that this process cannot get at it. */
	if (!at)
		return -ENOMEM;
	uint64_t skip = s->offset - (e->page << PAGE_BITS);
	s->store = store;
	s->frame = e->frame + (skip >> PAGE_BITS);
	s->at = at + skip;
	s->piece = (e->pages << PAGE_BITS) - skip;
	if (s->piece > s->bytes)
		s->piece = s->bytes;
	return 0;
}

int span_check(struct span *s, int prot)
{
	struct extent e;
	if (s->side == SPAN_MEMORY) {
		s->piece = s->bytes;
		return 0;
	}
	if (s->offset > INT64_MAX || s->bytes > INT64_MAX - s->offset)
		return -ENXIO;
	int error = find_piece(s, prot, false, &e);
	struct span rest = *s;
	while (!error && rest.piece < rest.bytes) {
		rest.offset += rest.piece;
		rest.bytes -= rest.piece;
		error = find_piece(&rest, prot, false, &e);
	}
	return error;
}

int span_find(struct span *s)
{
	struct extent e;
	return find_piece(s, 0, true, &e);
}

int span_advance(struct span *s, size_t n)
{
	s->bytes -= n;
	s->piece -= n;
	s->at += n;
	s->offset += n;
	if (s->piece || !s->bytes)
		return 0;
	return span_find(s);
}
