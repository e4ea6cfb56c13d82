/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of a worker: one random step after the other, each on the server of a random slot nearby. A step may fail only if
 * who lives there may be gone.
 */
#include "worker.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "documented.h"
#include "pattern.h"

enum { MOST_STREAM = 3000, SPINS = 1000000, NAP_NS = 1000000 };
/* On its own slot, and on some that follow: on both nodes. */
enum { NEIGHBOURS = 4 };

struct link {
	scif_epd_t epd;
	uint32_t life; /* of the server; 0: not connected */
	off_t window;  /* of the server; -1: not asked for */
	uint32_t pattern[AREAS];
	unsigned char *memory; /* a page for data and one for signals, registered at `own` */
	off_t own;
};

static struct link links[SLOTS];
static struct dice dice;
static uint32_t patterns;
static _Atomic uint32_t rested;

static uint32_t throw(uint32_t sides)
{
	return dice_throw(&dice, sides);
}

static struct account *account(const struct link *l)
{
	return account_of(self.life, (int)(l - links));
}

/* --- talking --- */

static bool say(const struct link *l, const void *what, size_t bytes)
{
	return SCIF_CALL(CLIENT, scif_send, l->epd, (void *)(uintptr_t)what, (int)bytes,
			 SCIF_SEND_BLOCK) == (long)bytes;
}

static bool request(const struct link *l, const struct request *r, const void *payload)
{
	return say(l, r, sizeof(*r)) && (r->length == 0 || say(l, payload, r->length));
}

static bool hear_answer(const struct link *l, uint32_t kind, struct answer *a)
{
	if (SCIF_CALL(CLIENT, scif_recv, l->epd, a, sizeof(*a), SCIF_RECV_BLOCK) != sizeof(*a))
		return false;
	if (a->kind != kind || !a->right)
		complain("the server of slot %d answers %u to request %u: %s", (int)(l - links),
			 a->kind, kind, a->right ? "right" : "what came was wrong");
	return true;
}

static bool ask(const struct link *l, const struct request *r, const void *payload)
{
	struct answer a;

	return request(l, r, payload) && hear_answer(l, r->kind, &a);
}

/* --- links --- */

static void drop(struct link *l)
{
	if (l->life == 0)
		return;
	SCIF_CALL(CLIENT, scif_close, l->epd);
	if (l->memory != NULL)
		munmap(l->memory, 2 * PAGE);
	*l = (struct link){.life = 0};
}

static bool part(struct link *l)
{
	bool heard = ask(l, &(struct request){.kind = REQUEST_BYE}, NULL);

	drop(l);
	return heard;
}

static bool join(struct link *l, uint32_t life)
{
	int slot = (int)(l - links);
	struct scif_portID there = {.node = (uint16_t)slot_node(slot),
				    .port = (uint16_t)(FIRST_PORT + slot)};

	memset(account(l)->window, 0, sizeof(account(l)->window));
	atomic_store(&account(l)->streamed, 0);
	*l = (struct link){.epd = (int)SCIF_CALL(CLIENT, scif_open), .life = life, .window = -1};
	if (l->epd < 0) {
		complain("scif_open: %s", strerror(errno));
		l->life = 0;
		return true;
	}
	return SCIF_CALL(CLIENT, scif_connect, l->epd, &there) > 0 &&
	       ask(l, &(struct request){.kind = REQUEST_HELLO, .value = self.life, .area = (uint32_t)self.slot},
		   NULL);
}

static bool have_window(struct link *l)
{
	struct answer a;

	if (l->window >= 0)
		return true;
	if (!request(l, &(struct request){.kind = REQUEST_WINDOW}, NULL) ||
	    !hear_answer(l, REQUEST_WINDOW, &a))
		return false;
	l->window = a.offset;
	return true;
}

static bool have_own(struct link *l)
{
	if (l->memory != NULL)
		return true;
	l->memory = pages_new(2 * PAGE);
	l->own = SCIF_CALL(CLIENT, scif_register, l->epd, l->memory, 2 * PAGE, 0,
			   SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	return l->own != SCIF_REGISTER_FAILED;
}

/* --- steps: false where a call has failed --- */

static bool step_echo(struct link *l)
{
	static const uint32_t sizes[] = {1, 64, 4095, 4096, MOST_PAYLOAD};
	static unsigned char payload[MOST_PAYLOAD];
	struct request r = {.kind = REQUEST_ECHO, .value = ++patterns};

	r.length = throw(2) ? sizes[throw(5)] : 1 + throw(MOST_PAYLOAD);
	cts_fill_at(payload, r.length, r.value, 0);
	return ask(l, &r, payload);
}

static bool step_stream(struct link *l)
{
	static unsigned char payload[MOST_STREAM];
	struct request r = {.kind = REQUEST_STREAM, .length = 1 + throw(MOST_STREAM), .value = 1};
	uint64_t streamed = atomic_load(&account(l)->streamed);

	cts_fill_at(payload, r.length, r.value, streamed);
	if (!request(l, &r, payload))
		return false;
	atomic_store(&account(l)->streamed, streamed + r.length);
	return true;
}

/* Everything that was written before is there when this is true. */
static bool fence_by_mark(struct link *l)
{
	int mark;

	return SCIF_CALL(CLIENT, scif_fence_mark, l->epd, SCIF_FENCE_INIT_SELF, &mark) == 0 &&
	       SCIF_CALL(CLIENT, scif_fence_wait, l->epd, mark) == 0;
}

static bool fence_by_signal(struct link *l)
{
	_Atomic uint64_t *word;
	uint64_t value = ++patterns;

	if (!have_own(l))
		return false;
	word = (_Atomic uint64_t *)(void *)(l->memory + PAGE);
	if (SCIF_CALL(CLIENT, scif_fence_signal, l->epd, l->own + PAGE, value, 0, 0,
		      SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_LOCAL) != 0)
		return false;
	for (long i = 0; atomic_load(word) != value; i++) {
		if (i >= SPINS) {
			complain("a signal did not come, with no transfer under way");
			return true;
		}
		sched_yield();
	}
	return true;
}

static bool acknowledge(struct link *l, uint32_t area, uint32_t pattern)
{
	if (!(throw(2) ? fence_by_mark(l) : fence_by_signal(l)))
		return false;
	l->pattern[area] = pattern;
	atomic_store(&account(l)->window[area], pattern);
	return throw(3) ||
	       ask(l, &(struct request){.kind = REQUEST_VERIFY, .area = area, .value = pattern},
		   NULL);
}

/* Nothing is known of the area until it is acknowledged again. */
static uint32_t begin_writing(struct link *l)
{
	uint32_t area = throw(AREAS);

	l->pattern[area] = 0;
	atomic_store(&account(l)->window[area], 0);
	return area;
}

static int some_flags(void)
{
	static const int flags[] = {0, SCIF_RMA_USECPU, SCIF_RMA_SYNC, SCIF_RMA_ORDERED};

	return flags[throw(4)];
}

static bool step_put(struct link *l)
{
	static unsigned char data[AREA];
	uint32_t pattern = ++patterns, area;

	if (!have_window(l))
		return false;
	area = begin_writing(l);
	cts_fill_at(data, AREA, pattern, 0);
	return SCIF_CALL(CLIENT, scif_vwriteto, l->epd, data, AREA, l->window + area * AREA,
			 some_flags()) == 0 &&
	       acknowledge(l, area, pattern);
}

static bool step_put_registered(struct link *l)
{
	uint32_t pattern = ++patterns, area;

	if (!have_window(l) || !have_own(l))
		return false;
	area = begin_writing(l);
	cts_fill_at(l->memory, AREA, pattern, 0);
	return SCIF_CALL(CLIENT, scif_writeto, l->epd, l->own, AREA, l->window + area * AREA,
			 some_flags()) == 0 &&
	       acknowledge(l, area, pattern);
}

static bool step_get(struct link *l)
{
	static unsigned char data[AREA];
	uint32_t area = throw(AREAS);
	off_t from = l->window + area * AREA;
	const unsigned char *got = data;

	if (!have_window(l) || l->pattern[area] == 0)
		return true;
	if (throw(2) == 0) {
		if (SCIF_CALL(CLIENT, scif_vreadfrom, l->epd, data, AREA, from, some_flags()) != 0)
			return false;
	} else {
		if (!have_own(l) || SCIF_CALL(CLIENT, scif_readfrom, l->epd, l->own, AREA, from,
					      some_flags()) != 0)
			return false;
		got = l->memory;
	}
	if (!cts_is_pattern_at(got, AREA, l->pattern[area], 0))
		complain("what was written is read as something else");
	return true;
}

static bool step_map(struct link *l)
{
	uint32_t pattern = ++patterns, area;
	unsigned char *there;
	bool well;

	if (!have_window(l))
		return false;
	area = begin_writing(l);
	there = scif_mmap(NULL, AREA, SCIF_PROT_READ | SCIF_PROT_WRITE, 0, l->epd,
			  l->window + area * AREA);
	heard_scif("scif_mmap", (long)there);
	if (there == SCIF_MMAP_FAILED)
		return false;
	cts_fill_at(there, AREA, pattern, 0);
	well = acknowledge(l, area, pattern);
	/* Also that of a dead one. */
	if (!cts_is_pattern_at(there, AREA, pattern, 0))
		complain("what was stored in a mapping is not there");
	return SCIF_CALL(CLIENT, scif_munmap, there, AREA) == 0 && well;
}

static bool step_show(struct link *l)
{
	struct request r = {.kind = REQUEST_LOOK, .value = ++patterns};
	unsigned char *page = pages_new(PAGE);
	bool well;

	cts_fill_at(page, PAGE, r.value, 0);
	r.offset = SCIF_CALL(CLIENT, scif_register, l->epd, page, PAGE, 0, SCIF_PROT_READ, 0);
	well = r.offset != SCIF_REGISTER_FAILED && ask(l, &r, NULL) &&
	       SCIF_CALL(CLIENT, scif_unregister, l->epd, r.offset, PAGE) == 0;
	munmap(page, PAGE);
	return well;
}

static bool step_alone(struct link *l)
{
	uint16_t nodes[8], me;
	int epd = (int)SCIF_CALL(CLIENT, scif_open);
	bool well = epd >= 0 && SCIF_CALL(CLIENT, scif_bind, epd, 0) > 0 &&
		    SCIF_CALL(CLIENT, scif_listen, epd, 1) == 0;

	(void)l;
	well = SCIF_CALL(CLIENT, scif_get_nodeIDs, nodes, 8, &me) > 0 && well;
	return SCIF_CALL(CLIENT, scif_close, epd) == 0 && well;
}

static bool (*const steps[])(struct link *) = {
	step_echo, step_stream, step_put, step_put_registered, step_get, step_map, step_show, step_alone,
};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

static void failed(struct link *l)
{
	int slot = (int)(l - links);

	if (!may_be_gone(slot, l->life))
		complain("%s failed with %s, though slot %d lives",
			 board->slot[self.slot].doing[CLIENT], strerror(errno), slot);
	drop(l);
}

static void link_step(int slot, uint32_t life)
{
	struct link *l = &links[slot];
	bool well;

	if (l->life != 0 && l->life != life)
		drop(l);
	if (l->life == 0)
		well = join(l, life);
	else if (throw(20) == 0)
		well = part(l);
	else
		well = steps[throw(STEPS)](l);
	if (!well && l->life != 0)
		failed(l);
}

/* --- life --- */

bool client_rested(uint32_t pause)
{
	return atomic_load(&rested) == pause;
}

static void rest(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (links[i].life != 0 && !part(&links[i]) && !may_be_gone(i, links[i].life))
			complain("no farewell from slot %d", i);
	segments_rest();
}

static void step(void)
{
	int slot = (self.slot + (int)throw(NEIGHBOURS)) % SLOTS;
	uint32_t kind = throw(4), life = atomic_load(&board->slot[slot].ready);

	if (life == 0 || life != atomic_load(&board->slot[slot].life))
		sched_yield();
	else if (kind == 0)
		segments_step(&dice, slot);
	else
		link_step(slot, life);
}

/* Who is not about to be killed leaves the processors to those who are, and to those who come. */
static void nap(void)
{
	if (atomic_load(&board->prey) != self.slot)
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

void client_run(void)
{
	dice = dice_for(board->seed, self.life, CLIENT);
	while (!board->over) {
		uint32_t pause = atomic_load(&board->pause);

		if (pause == 0) {
			step();
			nap();
		} else if (!client_rested(pause)) {
			rest();
			atomic_store(&rested, pause);
		} else {
			nap();
		}
		step_done(CLIENT);
	}
	rest();
}
