/* SPDX-License-Identifier: BSD-2-Clause */
/* What a barrier promises: completeness, order, and that no loss stays silent. */
#include "parties.h"

#include <inttypes.h>
#include <stdatomic.h>

enum loss { LOSS_KILL, LOSS_NODE, LOSS_UNPUBLISH };

static void explicit_mode(rsm_memseg_import_handle_t im)
{
	CTS_REQUIRE(rsm_memseg_import_set_mode(im, RSM_BARRIER_MODE_EXPLICIT) == RSM_SUCCESS);
}

/* ---- a transfer that is really under way ---- */

static int let_land(struct cts_stall *flight)
{
	cts_stall_release(flight);
	return (int)cts_stall_join(flight).ret;
}

/* The exporter may wait until the transfer has landed. */
static int land_while_unpublishing(rsm_memseg_import_handle_t im, struct cts_stall *flight)
{
	struct cts_peer_segment *segment = cts_peer_segment_of(im);
	int tag = cts_peer_begin(segment->peer, "rsm_unpublish %" PRIu64, segment->handle);

	cts_peer_asleep(segment->peer, tag);
	int value = let_land(flight);
	CTS_REQUIRE(value_of(cts_peer_end(segment->peer, tag)) == RSM_SUCCESS);
	return value;
}

static int land_after(rsm_memseg_import_handle_t im, struct cts_stall *flight, enum loss how)
{
	switch (how) {
	case LOSS_KILL:
		cts_segment_kill(im);
		return let_land(flight);
	case LOSS_NODE:
		cts_segment_node(im, "down");
		return let_land(flight);
	default:
		return land_while_unpublishing(im, flight);
	}
}

SCENARIO(barrier_flight)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	rsmapi_barrier_t *barrier = cts_fx_barrier_open(im);

	explicit_mode(im);
	struct cts_stall *flight =
		cts_param("get") ? cts_fx_stalled_get(im) : cts_fx_stalled_put(im);
	CTS_REQUIRE(cts_stall_pending(flight));
	int value = land_after(im, flight, (enum loss)cts_param("how"));
	CTS_ASSERT(value == RSM_SUCCESS || cts_is_loss(value));
	value = cts_param("order") ? rsm_memseg_import_order_barrier(barrier)
				   : rsm_memseg_import_close_barrier(barrier);
	cts_observe(value, value);
	CTS_ASSERT(cts_is_loss(value));
}

/* ---- the exporter ends the segment at any moment ---- */

struct writer {
	rsm_memseg_import_handle_t im;
	rsmapi_barrier_t *barrier;
	volatile uint64_t *mapped; /* NULL: by put */
	uint64_t last;		   /* the word of the last interval that closed with success */
};

static int write_one_interval(void *arg)
{
	struct writer *w = arg;
	uint64_t word = w->last + 1;
	int value = rsm_memseg_import_open_barrier(w->barrier);

	if (value != RSM_SUCCESS)
		return value;
	if (w->mapped)
		*w->mapped = word;
	else
		value = rsm_memseg_import_put64(w->im, 0, &word, 1);
	if (value != RSM_SUCCESS)
		return value;
	value = rsm_memseg_import_close_barrier(w->barrier);
	if (value == RSM_SUCCESS)
		w->last = word;
	return value;
}

SCENARIO(barrier_never_silent)
{
	long rounds = cts_param("rounds");
	size_t page = cts_page_size();

	for (long i = 0; i < rounds; i++) {
		struct writer w = {.im = cts_fx_imported(1, RSM_PERM_RDWR)};
		struct loop l;

		w.barrier = cts_fx_barrier(w.im);
		explicit_mode(w.im);
		cts_segment_poke64(w.im, 0, 0);
		if (cts_param("mapped"))
			w.mapped = (volatile uint64_t *)(void *)cts_fx_import_mapping(
				w.im, 0, page, RSM_PERM_RDWR);
		loop_begin(&l, write_one_interval, &w);
		loop_wait(&l, (int)i * 7);
		CTS_REQUIRE((i % 2 ? cts_segment_destroy(w.im) : cts_segment_unpublish(w.im)) ==
			    RSM_SUCCESS);
		int value = loop_ended(&l);
		cts_observe(value, value);
		CTS_ASSERT(cts_is_loss(value));
		if (cts_segment_peek64(w.im, 0) < w.last)
			cts_fail("interval %ju closed with success and is not in the segment",
				 (uintmax_t)w.last);
	}
}

/* ---- order: exporter and importer in this process ---- */

struct ordered {
	struct near_import import;
	rsmapi_barrier_t *barrier;
	volatile uint64_t *words; /* of the exporter: [0] is written before [1] */
	volatile uint64_t *mapped;
	uint64_t rounds;
	bool by_close;
};

static int write_word(struct ordered *o, size_t place, uint64_t word)
{
	if (o->mapped) {
		o->mapped[place] = word;
		return RSM_SUCCESS;
	}
	return rsm_memseg_import_put64(o->import.handle, (off_t)(place * sizeof word), &word, 1);
}

/* Between two writes: the barrier is ordered, or this interval ends and the next begins. */
static int come_between(const struct ordered *o)
{
	if (!o->by_close)
		return rsm_memseg_import_order_barrier(o->barrier);
	int value = rsm_memseg_import_close_barrier(o->barrier);
	return value == RSM_SUCCESS ? rsm_memseg_import_open_barrier(o->barrier) : value;
}

static int write_in_order(void *arg)
{
	struct ordered *o = arg;
	int value = rsm_memseg_import_open_barrier(o->barrier);

	for (uint64_t word = 1; word <= o->rounds; word++)
		for (size_t place = 0; place < 2 && value == RSM_SUCCESS; place++) {
			value = write_word(o, place, word);
			if (value == RSM_SUCCESS)
				value = come_between(o);
		}
	return value == RSM_SUCCESS ? rsm_memseg_import_close_barrier(o->barrier) : value;
}

SCENARIO(barrier_order)
{
	size_t page = cts_page_size();
	unsigned char *mem = cts_fx_pages(1);
	struct ordered o = {.words = (volatile uint64_t *)(void *)mem,
			    .rounds = (uint64_t)cts_param("rounds"),
			    .by_close = cts_param("close")};

	memset(mem, 0, page);
	rsm_memseg_id_t id =
		near_publish(near_create("scif0", mem, page, 0), (struct list){.count = 0});
	CTS_REQUIRE(near_connect(&o.import, "scif0", cts_self_node(), id, RSM_PERM_RDWR) ==
		    RSM_SUCCESS);
	o.barrier = &o.import.barrier;
	explicit_mode(o.import.handle);
	if (cts_param("mapped")) {
		void *address = NULL;

		CTS_REQUIRE(rsm_memseg_import_map(o.import.handle, &address, RSM_MAP_NONE,
						  RSM_PERM_RDWR, 0, page) == RSM_SUCCESS);
		o.mapped = address;
	}
	struct cts_thread *writer = begin(write_in_order, &o);
	do {
		uint64_t second = o.words[1];
		atomic_thread_fence(memory_order_acquire);
		uint64_t first = o.words[0];

		if (first < second)
			cts_fail("word %ju is there, but only %ju of those before it",
				 (uintmax_t)second, (uintmax_t)first);
	} while (!cts_thread_done(writer));
	CTS_ASSERT(end_of(writer) == RSM_SUCCESS);
	CTS_ASSERT(o.words[0] == o.rounds && o.words[1] == o.rounds);
}

/* ---- many ---- */

SCENARIO(barrier_many_puts)
{
	size_t puts = (size_t)cts_param("puts"), at = 0;
	rsm_memseg_import_handle_t im = cts_fx_imported(64, RSM_PERM_RDWR);
	rsmapi_barrier_t *barrier = cts_fx_barrier_open(im);
	unsigned char *data = cts_fx_pattern(64 * cts_page_size(), 4);

	explicit_mode(im);
	for (size_t i = 0; i < puts; i++) {
		size_t len = 1 + i * 37 % 400;

		CTS_ASSERT(rsm_memseg_import_put(im, (off_t)at, data + at, len) == RSM_SUCCESS);
		at += len;
	}
	CTS_ASSERT(rsm_memseg_import_close_barrier(barrier) == RSM_SUCCESS);
	CTS_ASSERT(cts_segment_is(im, 0, at, 4, 0));
	CTS_ASSERT(cts_segment_is(im, at, 64, 3, at));
}

SCENARIO(barrier_many)
{
	enum { MOST = 1000 };
	static rsmapi_barrier_t barriers[MOST];
	long count = cts_param("count");
	rsm_memseg_import_handle_t im = cts_fx_imported_bare(1, RSM_PERM_RDWR);

	CTS_REQUIRE(count <= MOST);
	for (long i = 0; i < count; i++) {
		CTS_ASSERT(rsm_memseg_import_init_barrier(im, RSM_BAR_DEFAULT, &barriers[i]) ==
			   RSM_SUCCESS);
		CTS_ASSERT(rsm_memseg_import_open_barrier(&barriers[i]) == RSM_SUCCESS);
	}
	for (long i = 0; i < count; i++) {
		CTS_ASSERT(rsm_memseg_import_order_barrier(&barriers[i]) == RSM_SUCCESS);
		CTS_ASSERT(rsm_memseg_import_close_barrier(&barriers[i]) == RSM_SUCCESS);
		CTS_ASSERT(rsm_memseg_import_destroy_barrier(&barriers[i]) == RSM_SUCCESS);
	}
}

struct interval {
	rsm_memseg_import_handle_t im;
	rsmapi_barrier_t barrier;
	long rounds;
	size_t at;
};

static int open_put_close(void *arg)
{
	struct interval *v = arg;
	int value = rsm_memseg_import_init_barrier(v->im, RSM_BAR_DEFAULT, &v->barrier);

	for (long i = 1; i <= v->rounds && value == RSM_SUCCESS; i++) {
		uint64_t word = (uint64_t)i;

		value = rsm_memseg_import_open_barrier(&v->barrier);
		if (value == RSM_SUCCESS)
			value = rsm_memseg_import_put64(v->im, (off_t)v->at, &word, 1);
		if (value == RSM_SUCCESS)
			value = rsm_memseg_import_close_barrier(&v->barrier);
	}
	return value;
}

SCENARIO(barrier_threads)
{
	rsm_memseg_import_handle_t im = cts_fx_imported_bare(1, RSM_PERM_RDWR);
	struct interval intervals[4];
	struct cts_thread *threads[4];

	explicit_mode(im);
	for (size_t i = 0; i < 4; i++) {
		intervals[i] = (struct interval){
			.im = im, .rounds = cts_param("rounds"), .at = i * sizeof(uint64_t)};
		threads[i] = begin(open_put_close, &intervals[i]);
	}
	for (size_t i = 0; i < 4; i++)
		CTS_ASSERT(end_of(threads[i]) == RSM_SUCCESS);
	for (size_t i = 0; i < 4; i++) {
		CTS_ASSERT(cts_segment_peek64(im, intervals[i].at) ==
			   (uint64_t)intervals[i].rounds);
		CTS_ASSERT(rsm_memseg_import_destroy_barrier(&intervals[i].barrier) == RSM_SUCCESS);
	}
}

static void make_and_destroy(rsm_memseg_import_handle_t im, long rounds)
{
	rsmapi_barrier_t barrier;

	for (long i = 0; i < rounds; i++) {
		CTS_ASSERT(rsm_memseg_import_init_barrier(im, RSM_BAR_DEFAULT, &barrier) ==
			   RSM_SUCCESS);
		if (i % 2)
			CTS_ASSERT(rsm_memseg_import_open_barrier(&barrier) == RSM_SUCCESS);
		CTS_ASSERT(rsm_memseg_import_destroy_barrier(&barrier) == RSM_SUCCESS);
	}
}

SCENARIO(barrier_cycle)
{
	rsm_memseg_import_handle_t im = cts_fx_imported_bare(1, RSM_PERM_RDWR);

	make_and_destroy(im, 10);
	struct cts_holdings before = cts_holdings();
	make_and_destroy(im, cts_param("rounds"));
	nothing_left(&before);
}
