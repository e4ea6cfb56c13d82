/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An input is what happens on a connection: what the peer writes into the block and its store,
 * sends over its sockets, or keeps changing all the time, and what its victim calls meanwhile. The
 * first byte says who connected.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <scif.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ends.h"
#include "hostile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* More would only take time. */
enum { STEPS = 48, THERE = 0x100, LONG = 5000, NOTICE = 0x53544f52 };

static struct peer peer;
static struct {
	char *memory;
	off_t here;
	void *mapping;
	size_t mapped;
	bool open;
} victim;

/* At the end of what calls may be given. */
static int *const mark = (int *)(buffer + sizeof(buffer) - sizeof(int));

/* --- places in the block --- */

struct place {
	size_t at, bytes, count, stride;
	bool per_side;
};

#define PLACE(member, sides)                                                                       \
	offsetof(struct block, member), sizeof(((struct block *)NULL)->member), 1, 0, sides
#define MANY(member, number, kind)                                                                 \
	offsetof(struct block, mem[0].member), sizeof(((struct block *)NULL)->mem[0].member),      \
		number, sizeof(struct kind), true
#define NODE(field)	MANY(node[0].field, MEM_NODES_INLINE, tree_node)
#define TRANSFER(field) MANY(transfer[0].field, MEM_TRANSFERS, transfer)
#define SIGNAL(field)	MANY(pending[0].field, MEM_SIGNALS, pending_signal)

static const struct place places[] = {
	{PLACE(side[0].state, false)},
	{PLACE(side[1].state, false)},
	{PLACE(side[0].filler, false)},
	{PLACE(side[1].filler, false)},
	{PLACE(ring[0].head, false)},
	{PLACE(ring[0].tail, false)},
	{PLACE(ring[1].head, false)},
	{PLACE(ring[1].tail, false)},
	{PLACE(mem[0].windows, true)},
	{PLACE(mem[0].mappings, true)},
	{PLACE(mem[0].chunk_frame[1], true)},
	{PLACE(mem[0].chunk_frame[2], true)},
	{PLACE(mem[0].pid_space, true)},
	{PLACE(mem[0].verify, true)},
	{PLACE(mem[0].started, true)},
	{PLACE(mem[0].finished, true)},
	{PLACE(mem[0].waiters, true)},
	{PLACE(mem[0].signals, true)},
	{NODE(page)},
	{NODE(pages)},
	{NODE(frame)},
	{NODE(store)},
	{NODE(id)},
	{NODE(left)},
	{NODE(right)},
	{NODE(first)},
	{NODE(end)},
	{NODE(gap)},
	{NODE(made)},
	{NODE(retired)},
	{NODE(version)},
	{NODE(holder)},
	{NODE(prot)},
	{NODE(closed)},
	{NODE(any_closed)},
	{TRANSFER(seq)},
	{TRANSFER(local_first)},
	{TRANSFER(local_end)},
	{TRANSFER(remote_first)},
	{TRANSFER(remote_end)},
	{SIGNAL(state)},
	{SIGNAL(seq)},
	{SIGNAL(target[0].offset)},
	{SIGNAL(target[0].wanted)},
	{SIGNAL(target[0].side)},
	{SIGNAL(target[1].offset)},
	{SIGNAL(target[1].wanted)},
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

/* A value at a place; with everywhere, at all places of its kind. */
static void write_place(struct input *in)
{
	const struct place *p = &places[take8(in) % PLACES];
	uint8_t which = take8(in);
	uint64_t value = take_number(in);
	char *at = (char *)peer.block + p->at;
	bool everywhere = which >= UINT8_MAX - 1;

	if (p->per_side)
		at += (which & 1) * sizeof(struct block_mem);
	at += (everywhere ? 0 : (which >> 1) % p->count) * p->stride;
	for (size_t i = 0; i < (everywhere ? p->count : 1); i++)
		memcpy(at + i * p->stride, &value, p->bytes);
}

static void write_anywhere(struct input *in, unsigned char *base, size_t size)
{
	size_t at = take(in, 3) % (size - 8);
	uint64_t value = take_number(in);

	memcpy(base + at, &value, 8);
}

/* --- a place that never rests --- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic uint32_t *at;
	uint32_t value[2];
	_Atomic bool on;
} racer = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *race(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&racer.lock);
	for (;;) {
		while (!atomic_load(&racer.on))
			pthread_cond_wait(&racer.changed, &racer.lock);
		for (unsigned i = 0; atomic_load_explicit(&racer.on, memory_order_relaxed); i++)
			atomic_store_explicit(racer.at, racer.value[i % 2], memory_order_relaxed);
	}
	return NULL;
}

static void rest(void)
{
	atomic_store(&racer.on, false);
}

static void never_rest(struct input *in)
{
	const struct place *p = &places[take8(in) % PLACES];
	uint8_t which = take8(in);
	char *at = (char *)peer.block + p->at +
		   (p->per_side ? (which & 1) * sizeof(struct block_mem) : 0);

	rest();
	pthread_mutex_lock(&racer.lock);
	racer.at =
		(_Atomic uint32_t *)(((uintptr_t)at + (which >> 1) % p->count * p->stride) & ~3ul);
	racer.value[0] = *racer.at;
	racer.value[1] = (uint32_t)take_number(in);
	atomic_store(&racer.on, true);
	pthread_cond_signal(&racer.changed);
	pthread_mutex_unlock(&racer.lock);
}

/* --- what the peer sends --- */

static void ring_at_random(struct input *in)
{
	int length = (int)take(in, 2) % (FILLER + 2);

	send(peer.sock, buffer, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void take_off(struct input *in)
{
	int length = (int)take(in, 2);

	recv(peer.sock, buffer, (size_t)length, MSG_DONTWAIT);
}

static void notify(struct input *in)
{
	uint8_t shape = take8(in);
	uint32_t message[6] = {NOTICE, shape >> 4, 1, 0, shape >> 1 & 1, shape & 1};
	uint8_t files = take8(in);
	int fds[3];
	size_t count = files & 3;

	if (shape & 4)
		message[2] = (uint32_t)take_number(in);
	if (shape & 8)
		message[3] = (uint32_t)take_number(in);
	for (size_t i = 0; i < count; i++)
		fds[i] = file_of_kind((files >> 2) % FILE_KINDS, NULL);
	send_with(peer.talk, message, files == 0xff ? 7 : sizeof(message), fds, count);
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

/* --- what the victim calls --- */

static void leave(void)
{
	peer_leaves(&peer);
}

static off_t offset_of(struct input *in, bool local)
{
	uint8_t which = take8(in);
	off_t base = local ? victim.here : (off_t)THERE * PAGE;

	return which < 240 ? base + (which >> 4) * PAGE + (which & 15) * 8 : (off_t)take_number(in);
}

static int length_of(struct input *in)
{
	static const int lengths[] = {1, 8, 64, 4095, 4096, 4097, LONG, WINDOW};

	return lengths[take8(in) % 8];
}

static void talk(struct input *in, uint8_t how)
{
	struct scif_pollepd entry = {.epd = peer.victim, .events = take8(in) & (POLLIN | POLLOUT)};
	int length = length_of(in);

	if (how % 4 == 0)
		scif_send(peer.victim, buffer, length, take8(in) == 1 ? SCIF_SEND_BLOCK : 0);
	else if (how % 4 == 1)
		scif_recv(peer.victim, buffer, length, take8(in) == 1 ? SCIF_RECV_BLOCK : 0);
	else
		scif_poll(&entry, 1, how % 4 == 2 ? 0 : 2);
}

static void move(struct input *in, uint8_t how)
{
	off_t local = offset_of(in, true), remote = offset_of(in, false);
	size_t length = (size_t)length_of(in);
	int flags = take8(in) & (SCIF_RMA_SYNC | SCIF_RMA_ORDERED);

	switch (how % 4) {
	case 0:
		scif_readfrom(peer.victim, local, length, remote, flags);
		break;
	case 1:
		scif_writeto(peer.victim, local, length, remote, flags);
		break;
	case 2:
		scif_vreadfrom(peer.victim, buffer, length, remote, flags);
		break;
	default:
		scif_vwriteto(peer.victim, buffer, length, remote, flags);
	}
}

static void fence(struct input *in, uint8_t how)
{
	int flags = take8(in) & 1 ? SCIF_FENCE_INIT_SELF : SCIF_FENCE_INIT_PEER;

	if (how % 4 == 0)
		scif_fence_mark(peer.victim, flags, mark);
	else if (how % 4 == 1)
		scif_fence_wait(peer.victim, *mark);
	else
		scif_fence_signal(peer.victim, offset_of(in, true), 1, offset_of(in, false), 2,
				  flags | (how % 4 == 2 ? SCIF_SIGNAL_LOCAL : SCIF_SIGNAL_REMOTE));
}

static void open_window(struct input *in)
{
	uint8_t which = take8(in);
	size_t first = which & 3, count = 1 + (which >> 2 & 1);
	int prot = which & 16 ? SCIF_PROT_READ : SCIF_PROT_READ | SCIF_PROT_WRITE;

	if (first + count > WINDOW_PAGES)
		return;
	scif_register(peer.victim, victim.memory + first * PAGE, count * PAGE,
		      which & 8 ? (off_t)(which >> 5) * PAGE : 0, prot,
		      which & 8 ? SCIF_MAP_FIXED : 0);
}

static void map(struct input *in)
{
	off_t there = offset_of(in, false) & -PAGE;
	size_t size = (size_t)(1 + (take8(in) & 3)) * PAGE;

	if (victim.mapping) {
		scif_munmap(victim.mapping, victim.mapped);
		victim.mapping = NULL;
		return;
	}
	victim.mapping =
		scif_mmap(NULL, size, SCIF_PROT_READ | SCIF_PROT_WRITE, 0, peer.victim, there);
	victim.mapped = size;
	if (victim.mapping == SCIF_MMAP_FAILED)
		victim.mapping = NULL;
}

static void close_victim(void)
{
	if (victim.open)
		scif_close(peer.victim);
	victim.open = false;
}

static void call(struct input *in, uint8_t how)
{
	call_begins(leave);
	switch (how >> 2 & 7) {
	case 0:
		talk(in, how);
		break;
	case 1:
	case 2:
		move(in, how);
		break;
	case 3:
		fence(in, how);
		break;
	case 4:
		open_window(in);
		break;
	case 5:
		scif_unregister(peer.victim, offset_of(in, true) & -PAGE,
				(size_t)(1 + how % 4) * PAGE);
		break;
	case 6:
		map(in);
		break;
	default:
		if (how % 4 == 0)
			close_victim();
	}
	call_ends();
}

static void act(struct input *in, uint8_t what)
{
	switch (what & 15) {
	case 0:
		write_anywhere(in, (unsigned char *)peer.block, sizeof(*peer.block));
		break;
	case 1:
		write_anywhere(in, peer.store, STORE_SIZE);
		break;
	case 2:
		never_rest(in);
		break;
	case 3:
		rest();
		break;
	case 4:
		ring_at_random(in);
		break;
	case 5:
		take_off(in);
		break;
	case 6:
		notify(in);
		break;
	case 7:
		if (what >> 4 == 0)
			leave();
		break;
	case 8:
		call_begins(NULL);
		innocent_goes_on();
		call_ends();
		break;
	default:
		write_place(in);
	}
}

/* A window that is right, for the nonsense to begin with. */
static void be_honest(void)
{
	struct block_mem *mem = &peer.block->mem[peer.side];

	mem->node[0] = (struct tree_node){.page = THERE,
					  .pages = WINDOW_PAGES,
					  .id = 1,
					  .first = THERE,
					  .end = THERE + WINDOW_PAGES,
					  .version = 1,
					  .prot = SCIF_PROT_READ | SCIF_PROT_WRITE};
	atomic_store(&mem->windows, UINT64_C(1) << 32 | 1);
	victim.memory =
		mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(victim.memory == MAP_FAILED ? -1 : 0, "mmap");
	victim.here = scif_register(peer.victim, victim.memory, WINDOW, 0,
				    SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	must(victim.here, "register");
	victim.mapping = NULL;
	victim.open = true;
}

static void put_away(void)
{
	rest();
	pthread_mutex_lock(&racer.lock);
	pthread_mutex_unlock(&racer.lock);
	/* Another connection is closed while the peer still has its way with this one. */
	call_begins(leave);
	close_victim();
	innocent_goes_on();
	call_ends();
	peer_leaves(&peer);
	call_begins(NULL);
	if (victim.mapping)
		scif_munmap(victim.mapping, victim.mapped);
	call_ends();
	munmap(victim.memory, WINDOW);
	peer_end(&peer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	static bool racing;
	pthread_t thread;

	begin();
	if (!racing)
		racing = pthread_create(&thread, NULL, race, NULL) == 0;
	if (take8(&in) & 1)
		peer_is_reached(&peer);
	else
		peer_connects(&peer);
	be_honest();
	for (int i = 0; i < STEPS && in.at < in.end; i++) {
		uint8_t what = take8(&in);

		if (what & 1)
			call(&in, what >> 1);
		else
			act(&in, what >> 1);
	}
	put_away();
	finish();
	return 0;
}
