/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exporters that do not keep to docs/rsm-protocol.md lose their importers, whose calls come back
 * with an error of the text, and nothing else happens.
 */
#include <endian.h>
#include <pthread.h>
#include <sched.h>
#include <scif.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "by_hand.h"
#include "pair.h"

enum { ID = 0x400777, SIZE = 8192, LENGTH = 64, RELAY = 2, NOWHERE = 0x7000, LIMIT_SECONDS = 120 };

/* --- exporters --- */

/* What one does, once it has said where the segment is. */
enum deed {
	HONEST,
	ENDS,
	/* these when the importer signals, who loses the connection for it */
	UNKNOWN_MESSAGE,
	REBIND_TO_HALF_A_PAGE,
	REBIND_TO_NOTHING,

	ONLY_READ, /* its window, whatever it grants */

	REFUSES_TRANSFERS,
	SENDS_LESS,
	SENDS_ANOTHER_ANSWER_FIRST,
	ENDS_AT_A_TRANSFER,
	SAYS_NOTHING,
};

struct exporter {
	const char *name;
	uint32_t status, flags;
	uint64_t size, offset; /* offset 0: of a window that there is */
	enum deed deed;
	int connects; /* what the importer gets for it */
	bool maps, moves;
};

static const struct exporter exporters[] = {
	{"an honest one", 0, 0, SIZE, 0, HONEST, RSM_SUCCESS, true, true},
	{"an honest one that relays", 0, RELAY, SIZE, 0, HONEST, RSM_SUCCESS, false, true},
	{"a refusal that is none", 4711, 0, 0, 0, ENDS, RSMERR_REMOTE_NODE_UNREACHABLE, false,
	 false},
	{"half a page", 0, 0, 100, 0, ENDS, RSMERR_REMOTE_NODE_UNREACHABLE, false, false},
	{"a window that is not there", 0, 0, SIZE, NOWHERE << 12, HONEST, RSM_SUCCESS, false,
	 false},
	{"an unknown message", 0, 0, SIZE, 0, UNKNOWN_MESSAGE, RSM_SUCCESS, true, false},
	{"a rebind to half a page", 0, 0, SIZE, 0, REBIND_TO_HALF_A_PAGE, RSM_SUCCESS, true, false},
	{"a rebind to nothing", 0, 0, SIZE, 0, REBIND_TO_NOTHING, RSM_SUCCESS, true, false},
	{"a window that can only be read", 0, 0, SIZE, 0, ONLY_READ, RSM_SUCCESS, false, false},
	{"transfers refused", 0, RELAY, SIZE, 0, REFUSES_TRANSFERS, RSM_SUCCESS, false, false},
	{"less than was asked for", 0, RELAY, SIZE, 0, SENDS_LESS, RSM_SUCCESS, false, false},
	{"an answer to nothing, then the right one", 0, RELAY, SIZE, 0, SENDS_ANOTHER_ANSWER_FIRST,
	 RSM_SUCCESS, false, true},
	{"an end instead of an answer", 0, RELAY, SIZE, 0, ENDS_AT_A_TRANSFER, RSM_SUCCESS, false,
	 false},
	{"no answer", 0, RELAY, SIZE, 0, SAYS_NOTHING, RSM_SUCCESS, false, false},
};
enum { EXPORTERS = sizeof(exporters) / sizeof(exporters[0]) };

static void say(scif_epd_t epd, const void *bytes, int length)
{
	scif_send(epd, (void *)(uintptr_t)bytes, length, SCIF_SEND_BLOCK);
}

static void put_wide(struct message *m, int word, uint64_t value)
{
	m->word[word] = htole32((uint32_t)value);
	m->word[word + 1] = htole32((uint32_t)(value >> 32));
}

static void say_rebind(scif_epd_t epd, uint64_t offset)
{
	struct message m = by_hand(REBIND, ID);

	m.word[3] = htole32(1);
	put_wide(&m, 12, offset);
	say(epd, &m, HEADER);
}

static void say_done(scif_epd_t epd, uint32_t serial, uint32_t status, uint32_t length)
{
	static const char bytes[SIZE];
	struct message m = by_hand(DONE, ID);

	m.word[2] = htole32(length);
	m.word[3] = htole32(serial);
	m.word[4] = htole32(status);
	say(epd, &m, HEADER);
	if (length > 0)
		say(epd, bytes, (int)length);
}

/* False: the connection is to be ended. */
static bool answer_transfer(scif_epd_t epd, const struct message *m, enum deed deed)
{
	static char bytes[SIZE];
	uint32_t serial = le32toh(m->word[3]), put = le32toh(m->word[2]),
		 got = le32toh(m->word[14]);

	if (put > 0 && scif_recv(epd, bytes, (int)put, SCIF_RECV_BLOCK) != (int)put)
		return false;
	if (by_hand_type(m) == PUT)
		got = 0;
	if (deed == SENDS_ANOTHER_ANSWER_FIRST)
		say_done(epd, serial + 100, 0, got);
	if (deed == ENDS_AT_A_TRANSFER)
		return false;
	if (deed != SAYS_NOTHING)
		say_done(epd, serial, deed == REFUSES_TRANSFERS ? RSMERR_BARRIER_FAILURE : 0,
			 deed == SENDS_LESS ? got / 2 : got);
	return true;
}

static void strike(scif_epd_t epd, enum deed deed)
{
	struct message unknown = by_hand(99, ID);

	if (deed == UNKNOWN_MESSAGE)
		say(epd, &unknown, HEADER);
	else
		say_rebind(epd, deed == REBIND_TO_NOTHING ? (uint64_t)NOWHERE << 12 : 2048);
}

static void do_deed(scif_epd_t epd, enum deed deed)
{
	struct message m;

	while (by_hand_hears(epd, &m)) {
		/* A signal of the importer means: now. */
		if (by_hand_type(&m) == SIGNAL)
			strike(epd, deed);
		if ((by_hand_type(&m) == GET || by_hand_type(&m) == PUT) &&
		    !answer_transfer(epd, &m, deed))
			return;
	}
}

static void serve(scif_epd_t epd, const struct exporter *e, char *memory)
{
	struct message m, answer = by_hand(ANSWER, ID);
	int prot = e->deed == ONLY_READ ? SCIF_PROT_READ : SCIF_PROT_READ | SCIF_PROT_WRITE;
	off_t window = scif_register(epd, memory, SIZE, 0, prot, 0);

	if (!by_hand_hears(epd, &m) || by_hand_type(&m) != CONNECT)
		return;
	answer.word[4] = htole32(e->status);
	answer.word[5] = htole32(e->flags);
	answer.word[7] = m.word[7];
	put_wide(&answer, 12, e->offset ? e->offset : (uint64_t)window);
	put_wide(&answer, 14, e->size);
	say(epd, &answer, HEADER);
	if (e->deed != ENDS)
		do_deed(epd, e->deed);
}

/* One after the other, each for one importer. */
static void export_falsely(int ready)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	scif_epd_t listener = scif_open(), epd;
	struct scif_portID who;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pair_must(scif_bind(listener, by_hand_first_port(ID)) < 0 || scif_listen(listener, 4) != 0,
		  "listen");
	pair_must(write(ready, "", 1) != 1, "write");
	/* The first and the last one twice. */
	for (int i = -1; i < EXPORTERS + 1; i++) {
		pair_must(scif_accept(listener, &who, &epd, SCIF_ACCEPT_SYNC), "accept");
		serve(epd, &exporters[i < 0 ? 0 : i < EXPORTERS ? i : EXPORTERS - 1], memory);
		scif_close(epd);
	}
	for (;;)
		pause();
}

/* --- importers --- */

static bool failed;

static void check(bool holds, const struct exporter *e, const char *what)
{
	if (holds)
		return;
	printf("does not hold: %s: %s\n", e->name, what);
	failed = true;
}

static bool is_loss(int error)
{
	return error == RSMERR_CONN_ABORTED || error == RSMERR_BARRIER_FAILURE ||
	       error == RSMERR_BARRIER_OPEN_FAILED;
}

static void move(rsm_memseg_import_handle_t segment, const struct exporter *e)
{
	char bytes[LENGTH] = {0};
	rsmapi_barrier_t barrier;
	int error;

	pair_must(rsm_memseg_import_init_barrier(segment, RSM_BAR_DEFAULT, &barrier),
		  "init_barrier");
	error = rsm_memseg_import_get(segment, 0, bytes, LENGTH);
	check(e->moves ? error == RSM_SUCCESS : is_loss(error), e, "what comes of a get");
	error = rsm_memseg_import_put(segment, 0, bytes, LENGTH);
	/* A relay that answers puts rightly may go on with them. */
	check(e->moves || e->deed == SENDS_LESS ? error == RSM_SUCCESS : is_loss(error), e,
	      "what comes of a put");
	rsm_memseg_import_destroy_barrier(&barrier);
}

/* What libscif refuses is an error of the call, and the connection is there still. */
static void read_only(rsm_memseg_import_handle_t segment, const struct exporter *e)
{
	char bytes[LENGTH] = {0};
	rsmapi_barrier_t barrier;
	void *at;

	pair_must(rsm_memseg_import_init_barrier(segment, RSM_BAR_DEFAULT, &barrier),
		  "init_barrier");
	check(rsm_memseg_import_map(segment, &at, RSM_MAP_NONE, RSM_PERM_RDWR, 0, SIZE) ==
		      RSMERR_BAD_PERMS,
	      e, "it cannot be mapped to write");
	check(rsm_memseg_import_put(segment, 0, bytes, LENGTH) == RSMERR_PERM_DENIED, e,
	      "what comes of a put");
	check(rsm_memseg_import_get(segment, 0, bytes, LENGTH) == RSM_SUCCESS, e,
	      "what comes of a get");
	rsm_memseg_import_destroy_barrier(&barrier);
}

static void map(rsm_memseg_import_handle_t segment, const struct exporter *e)
{
	void *at = NULL;
	int error = rsm_memseg_import_map(segment, &at, RSM_MAP_NONE, RSM_PERM_RDWR, 0, SIZE);

	check((error == RSM_SUCCESS) == e->maps, e, "whether it can be mapped");
	if (e->deed >= UNKNOWN_MESSAGE && e->deed <= REBIND_TO_NOTHING) {
		while (rsm_intr_signal_post(segment, 0) == RSM_SUCCESS)
			sched_yield();
	}
	if (error == RSM_SUCCESS)
		check(rsm_memseg_import_unmap(segment) == RSM_SUCCESS, e, "it is unmapped");
}

static void import(rsmapi_controller_handle_t controller, rsm_node_id_t node,
		   const struct exporter *e)
{
	rsm_memseg_import_handle_t segment;
	int error = rsm_memseg_import_connect(controller, node, ID, RSM_PERM_RDWR, &segment);

	check(error == e->connects, e, "what connect gives");
	if (error != RSM_SUCCESS)
		return;
	if (e->deed == ONLY_READ) {
		read_only(segment, e);
	} else {
		map(segment, e);
		move(segment, e);
	}
	check(rsm_memseg_import_disconnect(segment) == RSM_SUCCESS, e, "it is disconnected");
}

static struct {
	rsm_memseg_import_handle_t segment;
	_Atomic int error, thread;
	_Atomic bool done;
} waiting;

static void *get(void *unused)
{
	char bytes[LENGTH];

	(void)unused;
	waiting.thread = gettid();
	waiting.error = rsm_memseg_import_get(waiting.segment, 0, bytes, LENGTH);
	waiting.done = true;
	return NULL;
}

/* A call that waits for an answer ends when another thread disconnects. */
static void disconnect_meanwhile(rsmapi_controller_handle_t controller, rsm_node_id_t node)
{
	const struct exporter *e = &exporters[EXPORTERS - 1];
	rsmapi_barrier_t barrier;
	pthread_t thread;
	int state;

	pair_must(rsm_memseg_import_connect(controller, node, ID, RSM_PERM_RDWR, &waiting.segment),
		  "connect");
	pair_must(rsm_memseg_import_init_barrier(waiting.segment, RSM_BAR_DEFAULT, &barrier),
		  "init_barrier");
	pthread_create(&thread, NULL, get, NULL);
	while (!waiting.done && !waiting.thread)
		asleep_pace();
	state = asleep_open(waiting.thread);
	while (!waiting.done && !asleep_now(state))
		asleep_pace();
	close(state);
	check(!waiting.done, e, "a get waits for its answer");
	check(rsm_memseg_import_disconnect(waiting.segment) == RSM_SUCCESS, e,
	      "disconnect meanwhile");
	pthread_join(thread, NULL);
	check(waiting.error != RSM_SUCCESS, e, "and the get comes back");
}

int main(void)
{
	rsmapi_controller_handle_t controller;
	char fabric[32], byte;
	uint16_t self;
	int ready[2];
	pid_t pid;

	alarm(LIMIT_SECONDS);
	snprintf(fabric, sizeof(fabric), "false-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	pair_must(pipe(ready), "pipe");
	pid = fork();
	if (pid == 0)
		export_falsely(ready[1]);
	pair_must(read(ready[0], &byte, 1) != 1, "read");
	pair_must(rsm_get_controller("scif0", &controller), "get_controller");
	pair_must(scif_get_nodeIDs(NULL, 0, &self) < 0, "get_nodeIDs");
	import(controller, self, &exporters[0]);
	int before = pair_descriptors();
	for (int i = 0; i < EXPORTERS; i++)
		import(controller, self, &exporters[i]);
	disconnect_meanwhile(controller, self);
	check(pair_descriptors() == before, &exporters[0], "no descriptor is left");
	pair_must(rsm_release_controller(controller), "release_controller");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
