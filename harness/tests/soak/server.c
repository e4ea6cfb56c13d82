/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server of a worker. It waits for a client only while that one is in the middle of a request, so nobody waits in a
 * circle. When a client is gone it compares what was acknowledged to it with what is there.
 */
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "documented.h"
#include "holding.h"
#include "pattern.h"

enum { MOST_CLIENTS = 32, BACKLOG = 16, WAIT_MS = 10 };

struct client {
	scif_epd_t epd;
	int slot; /* -1 until it has said so */
	uint32_t life;
	uint64_t streamed;
	unsigned char *window; /* AREAS areas */
	off_t offset;
};

static struct client clients[MOST_CLIENTS];
static _Atomic int client_count;
static scif_epd_t listener;
static uint32_t known_life[SLOTS];

int server_connections(void)
{
	return client_count;
}

void server_begin(void)
{
	uint16_t port = (uint16_t)(FIRST_PORT + self.slot);

	listener = (int)SCIF_CALL(SERVER, scif_open);
	if (listener < 0 || SCIF_CALL(SERVER, scif_bind, listener, port) != port ||
	    SCIF_CALL(SERVER, scif_listen, listener, BACKLOG) != 0)
		complain("binding the port of a dead worker again: %s",
			 documented_name("scif_bind", errno));
}

/* --- what was acknowledged --- */

static void compare_windows(const struct client *c, const struct account *account)
{
	for (int i = 0; i < AREAS; i++) {
		uint32_t pattern = atomic_load(&account->window[i]);

		if (pattern != 0 && !cts_is_pattern_at(c->window + i * AREA, AREA, pattern, 0))
			complain("area %d, written and fenced by life %u, is not what it wrote", i,
				 c->life);
	}
}

/* Of a client that is gone without a word; what else it sent has been taken. */
static void compare(const struct client *c)
{
	const struct account *account = account_of(c->life, self.slot);

	if (c->slot < 0)
		return;
	if (c->streamed < atomic_load(&account->streamed))
		complain("of %lu bytes that life %u has sent %lu came",
			 (unsigned long)atomic_load(&account->streamed), c->life,
			 (unsigned long)c->streamed);
	if (c->window != NULL)
		compare_windows(c, account);
}

static void compare_segment(int slot, uint32_t life)
{
	const struct account *account = account_of(life, self.slot);

	for (int i = 0; i < AREAS && account->exporter == self.life; i++) {
		uint32_t pattern = atomic_load(&account->segment[i]);

		if (pattern != 0 &&
		    !cts_is_pattern_at(self.segment_memory + i * PAGE + place_of(life), PLACE,
				pattern, 0))
			complain("what life %u of slot %d has put behind a barrier is not there",
				 life, slot);
	}
}

static void compare_segments(void)
{
	for (int i = 0; i < SLOTS; i++) {
		uint32_t life = atomic_load(&board->slot[i].life);

		if (life == known_life[i])
			continue;
		if (known_life[i] != 0)
			compare_segment(i, known_life[i]);
		known_life[i] = life;
	}
}

/* --- requests --- */

static bool take(const struct client *c, void *to, size_t bytes)
{
	return SCIF_CALL(SERVER, scif_recv, c->epd, to, (int)bytes, SCIF_RECV_BLOCK) ==
	       (long)bytes;
}

static bool answer(const struct client *c, const struct answer *a)
{
	return SCIF_CALL(SERVER, scif_send, c->epd, (void *)(uintptr_t)a, sizeof(*a),
			 SCIF_SEND_BLOCK) == sizeof(*a);
}

static bool hello(struct client *c, const struct request *r)
{
	c->life = r->value;
	c->slot = (int)r->area;
	return answer(c, &(struct answer){.kind = r->kind, .right = 1});
}

static bool echo(struct client *c, const struct request *r)
{
	static unsigned char payload[MOST_PAYLOAD];

	if (!take(c, payload, r->length))
		return false;
	return answer(c, &(struct answer){.kind = r->kind,
					  .right = cts_is_pattern_at(payload, r->length, r->value, 0)});
}

static bool stream(struct client *c, const struct request *r)
{
	static unsigned char payload[MOST_PAYLOAD];
	long got = SCIF_CALL(SERVER, scif_recv, c->epd, payload, (int)r->length, SCIF_RECV_BLOCK);

	if (got <= 0)
		return false;
	if (!cts_is_pattern_at(payload, (size_t)got, r->value, c->streamed))
		complain("what life %u streams comes as something else", c->life);
	c->streamed += (uint64_t)got;
	return got == (long)r->length;
}

static bool open_window(struct client *c, const struct request *r)
{
	if (c->window == NULL) {
		c->window = pages_new(AREAS * AREA);
		c->offset = SCIF_CALL(SERVER, scif_register, c->epd, c->window, AREAS * AREA, 0,
				      SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	}
	return c->offset != SCIF_REGISTER_FAILED &&
	       answer(c, &(struct answer){.kind = r->kind, .right = 1, .offset = c->offset});
}

static bool verify(struct client *c, const struct request *r)
{
	bool right = c->window != NULL && r->area < AREAS &&
		     cts_is_pattern_at(c->window + r->area * AREA, AREA, r->value, 0);

	return answer(c, &(struct answer){.kind = r->kind, .right = right});
}

static bool look(struct client *c, const struct request *r)
{
	unsigned char page[PAGE];
	bool right;

	if (r->value & 1) {
		unsigned char *there = scif_mmap(NULL, PAGE, SCIF_PROT_READ, 0, c->epd, r->offset);

		heard_scif("scif_mmap", (long)there);
		if (there == SCIF_MMAP_FAILED)
			return false;
		right = cts_is_pattern_at(there, PAGE, r->value, 0);
		SCIF_CALL(SERVER, scif_munmap, there, PAGE);
	} else {
		if (SCIF_CALL(SERVER, scif_vreadfrom, c->epd, page, PAGE, r->offset, 0) != 0)
			return false;
		right = cts_is_pattern_at(page, PAGE, r->value, 0);
	}
	return answer(c, &(struct answer){.kind = r->kind, .right = right});
}

static bool bye(struct client *c, const struct request *r)
{
	compare(c);
	c->slot = -1;
	answer(c, &(struct answer){.kind = r->kind, .right = 1});
	return false;
}

static bool serve(struct client *c)
{
	static bool (*const kinds[])(struct client *, const struct request *) = {
		[REQUEST_HELLO] = hello,   [REQUEST_ECHO] = echo,     [REQUEST_STREAM] = stream,
		[REQUEST_WINDOW] = open_window, [REQUEST_VERIFY] = verify, [REQUEST_LOOK] = look,
		[REQUEST_BYE] = bye,
	};
	struct request r;

	if (!take(c, &r, sizeof(r)))
		return false;
	if (r.kind > REQUEST_BYE || r.length > MOST_PAYLOAD) {
		complain("a request that nobody made");
		return false;
	}
	return kinds[r.kind](c, &r);
}

static void forget(struct client *c)
{
	/* Read before the comparison: what was alive then may have written more since. */
	if (c->slot >= 0 && !may_be_gone(c->slot, c->life))
		complain("the connection of life %u to slot %d ended, and both live: %s", c->life,
			 self.slot, strerror(errno));
	compare(c);
	SCIF_CALL(SERVER, scif_close, c->epd);
	if (c->window != NULL)
		munmap(c->window, AREAS * AREA);
	*c = clients[--client_count];
}

static void admit(void)
{
	struct scif_portID from;
	scif_epd_t epd;

	/* Who asked may have died since. */
	if (client_count == MOST_CLIENTS || SCIF_CALL(SERVER, scif_accept, listener, &from, &epd, 0) != 0)
		return;
	clients[client_count++] = (struct client){.epd = epd, .slot = -1};
}

static void serve_all(void)
{
	struct scif_pollepd waiting[MOST_CLIENTS + 1];
	int count = client_count;

	for (int i = 0; i < count; i++)
		waiting[i] = (struct scif_pollepd){.epd = clients[i].epd, .events = SCIF_POLLIN};
	waiting[count] = (struct scif_pollepd){.epd = listener, .events = SCIF_POLLIN};
	if (SCIF_CALL(SERVER, scif_poll, waiting, (unsigned)count + 1, WAIT_MS) <= 0)
		return;
	for (int i = count - 1; i >= 0; i--)
		if (waiting[i].revents != 0 && !serve(&clients[i]))
			forget(&clients[i]);
	if (waiting[count].revents != 0)
		admit();
}

/* What still waited to be swept up is gone after the next call. */
static void rest(uint32_t pause)
{
	struct slot *s = &board->slot[self.slot];

	SCIF_CALL(SERVER, scif_close, (int)SCIF_CALL(SERVER, scif_open));
	holding_measure(&s->holding);
	atomic_store(&s->rested, pause);
}

void *server_run(void *unused)
{
	const struct slot *s = &board->slot[self.slot];

	while (!board->over) {
		uint32_t pause = atomic_load(&board->pause);

		serve_all();
		compare_segments();
		RSM_CALL(SERVER, rsm_intr_signal_wait, self.segment, 0);
		step_done(SERVER);
		if (pause != 0 && pause != s->rested && client_count == 0 && client_rested(pause))
			rest(pause);
	}
	SCIF_CALL(SERVER, scif_close, listener);
	return unused;
}
