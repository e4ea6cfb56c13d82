/* SPDX-License-Identifier: BSD-2-Clause */
/* The owner of a published segment goes on with its own life while others import. */
#include "parties.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

static rsm_memseg_id_t publish_any(rsm_memseg_export_handle_t segment)
{
	rsm_memseg_id_t id = 0;

	EXPECT(rsm_memseg_export_publish(segment, &id, NULL, 0), RSM_SUCCESS);
	return id;
}

struct visit {
	struct cts_peer *peer;
	rsm_memseg_id_t id;
	uint64_t word;
};

/* Connects, puts the word at the start of the segment, disconnects. */
static int visit(void *arg)
{
	struct visit *v = arg;
	struct far_import i = far_connect(v->peer, cts_self_node(), v->id, RSM_PERM_RDWR);
	intptr_t at = cts_peer_call(v->peer, "alloc 8").ret;

	cts_peer_call(v->peer, "poke %jd 8 %ju", (intmax_t)at, (uintmax_t)v->word);
	int value = value_of(
		cts_peer_call(v->peer, "rsm_put %jd 0 8 %jd", (intmax_t)i.handle, (intmax_t)at));
	far_disconnect(i);
	return value;
}

SCENARIO(owner_computes)
{
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	void *mem = cts_segment_memory(segment);
	struct visit v = {cts_peer(), publish_any(segment), 4711};
	struct cts_thread *visiting = begin(visit, &v);

	CTS_CHECK(cts_wait64(mem, 4711), "the word of the importer arrives");
	CTS_CHECK(end_of(visiting) == RSM_SUCCESS, "the importer connects, puts and leaves");
}

SCENARIO(owner_sleeps)
{
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	struct visit v = {cts_peer(), publish_any(segment), 4712};
	uint64_t before = cts_now_us();
	struct cts_thread *visiting = begin(visit, &v);
	int slept = poll(NULL, 0, 300);

	CTS_CHECK(slept == 0 && cts_now_us() - before >= 299000, "the sleep is not cut short");
	CTS_CHECK(end_of(visiting) == RSM_SUCCESS, "the importer connects, puts and leaves");
}

static volatile sig_atomic_t handled;

static void on_signal(int sig)
{
	(void)sig;
	handled++;
}

SCENARIO(owner_keeps_signals)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct timespec none = {0};
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	sigset_t all, old;

	CTS_REQUIRE(sigaction(SIGUSR2, &action, NULL) == 0);
	sigfillset(&all);
	CTS_REQUIRE(pthread_sigmask(SIG_BLOCK, &all, &old) == 0);
	struct visit v = {cts_peer(), publish_any(segment), 4713};
	CTS_ASSERT(visit(&v) == RSM_SUCCESS);
	CTS_REQUIRE(kill(getpid(), SIGUSR2) == 0);
	CTS_ASSERT(visit(&v) == RSM_SUCCESS);
	CTS_CHECK(handled == 0, "no thread of the library takes a signal that the program blocks");
	sigemptyset(&all);
	sigaddset(&all, SIGUSR2);
	CTS_CHECK(sigtimedwait(&all, NULL, &none) == SIGUSR2, "the program gets it");
	CTS_REQUIRE(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
	CTS_REQUIRE(kill(getpid(), SIGUSR2) == 0);
	CTS_CHECK(handled == 1, "the program's own thread handles a signal that it does not block");
}

static int nothing(void *unused)
{
	(void)unused;
	return 7;
}

SCENARIO(owner_forks)
{
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	struct visit v = {cts_peer(), publish_any(segment), 4714};
	struct loop visitors;

	loop_begin(&visitors, visit, &v);
	for (int i = 0; i < 20; i++) {
		CTS_CHECK(cts_wait_child(cts_fork(nothing, NULL)) == 7,
			  "the child ends as it wants to");
		loop_wait(&visitors, 1);
	}
	CTS_CHECK(loop_end(&visitors) == RSM_SUCCESS, "importers come and go all the time");
	CTS_CHECK(waitpid(-1, NULL, WNOHANG) <= 0, "there is no child that the owner did not make");
}

#define MOST_IMPORTS 64

SCENARIO(many_importers)
{
	long peers = cts_param("peers"), each = cts_param("each"), count = 0;
	size_t page = cts_page_size();
	rsm_memseg_export_handle_t segment = cts_fx_exported(MOST_IMPORTS);
	unsigned char *mem = cts_segment_memory(segment);
	rsm_memseg_id_t id = publish_any(segment);
	struct far_import imports[MOST_IMPORTS];

	for (long p = 0; p < peers; p++) {
		struct cts_peer *peer = p % 2 ? neighbour() : second_peer();

		for (long i = 0; i < each; i++)
			imports[count++] = far_connect(peer, cts_self_node(), id, RSM_PERM_RDWR);
	}
	for (long i = 0; i < count; i++)
		CTS_CHECK(
			far_reads(imports[i], (off_t)((size_t)i * page), page, 2, (size_t)i * page),
			"every importer reads");
	for (long i = 0; i < count; i++)
		CTS_ASSERT(far_put(imports[i], (off_t)((size_t)i * page), page, (unsigned)i, 0) ==
			   RSM_SUCCESS);
	for (long i = 0; i < count; i++)
		CTS_CHECK(cts_is_pattern(mem + (size_t)i * page, page, (unsigned)i),
			  "what every importer wrote is there");
	CTS_ASSERT(rsm_intr_signal_post(segment, 0) == RSM_SUCCESS);
	for (long i = 0; i < count; i++)
		CTS_CHECK(value_of(cts_peer_call(imports[i].peer, "rsm_wait %jd 4000",
						 (intmax_t)imports[i].handle)) == RSM_SUCCESS,
			  "every importer is signalled");
}

/* The guide's example: a structure with a flag for each direction and a line of text. */
struct message {
	uint64_t in, out;
	char text[48];
};

SCENARIO(message_programs)
{
	rsm_memseg_export_handle_t segment = cts_fx_exported(2);
	volatile struct message *m = (struct message *)cts_segment_memory(segment);
	rsm_memseg_id_t id = RSM_HPC_ID_BASE;
	struct list l = list_of(cts_peer_node(cts_peer()), EVERYTHING);
	struct cts_peer *peer = cts_peer();

	m->in = m->out = 0;
	EXPECT(rsm_memseg_export_publish(segment, &id, l.entries, l.count), RSM_SUCCESS);
	struct far_import i = far_connect(peer, cts_self_node(), id, RSM_PERM_RDWR);
	intptr_t line = cts_peer_call(peer, "alloc 64").ret;
	for (long n = 1; n <= cts_param("messages"); n++) {
		cts_peer_call(peer, "fill %jd 64 %ld 0", (intmax_t)line, n);
		cts_peer_call(peer, "poke %jd 8 %ld", (intmax_t)line, n);
		CTS_ASSERT(value_of(cts_peer_call(peer, "rsm_put %jd 0 64 %jd", (intmax_t)i.handle,
						  (intmax_t)line)) == RSM_SUCCESS);
		CTS_ASSERT(value_of(cts_peer_call(peer, "rsm_post %jd 0", (intmax_t)i.handle)) ==
			   RSM_SUCCESS);
		CTS_ASSERT(rsm_intr_signal_wait(segment, -1) == RSM_SUCCESS);
		CTS_CHECK(m->in == (uint64_t)n, "the signal comes after the message");
		CTS_CHECK(cts_is_pattern_at((const void *)m->text, 48, (unsigned)n, 16),
			  "the line is the one that was sent");
		m->out = (uint64_t)n * 3;
		CTS_ASSERT(rsm_intr_signal_post(segment, 0) == RSM_SUCCESS);
		CTS_ASSERT(value_of(cts_peer_call(peer, "rsm_wait %jd -1", (intmax_t)i.handle)) ==
			   RSM_SUCCESS);
		CTS_ASSERT(value_of(cts_peer_call(peer, "rsm_get %jd 8 8 %jd", (intmax_t)i.handle,
						  (intmax_t)line)) == RSM_SUCCESS);
		CTS_CHECK(cts_peer_call(peer, "peek %jd 8", (intmax_t)line).ret == n * 3,
			  "the answer is the one that was given");
	}
	far_disconnect(i);
}
