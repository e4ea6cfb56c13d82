/* SPDX-License-Identifier: BSD-2-Clause */
/* Transfers by several threads, by a forked process, and while the connection ends. */
#include "transfer_calls.h"

#define THREADS 4
#define PART	((size_t)3000 * 8)

/* Beside the library's values: what arrived was wrong, or the test could not do its part. */
#define WRONG_BYTES 200

struct worker {
	enum transfer_call call;
	rsm_memseg_import_handle_t im;
	size_t at;
	long rounds;
	unsigned char *data;
};

static int transfer_once(void *arg)
{
	struct worker *w = arg;
	int value = transfer(w->call, w->im, w->at, w->data, PART);

	if (value == RSM_SUCCESS && transfer_reads(w->call) &&
	    !cts_is_pattern_at(w->data, PART, 3, w->at))
		return WRONG_BYTES;
	return value;
}

static unsigned round_seed(long round)
{
	return (unsigned)(10 + round % 50);
}

static int transfer_again_and_again(void *arg)
{
	struct worker *w = arg;
	int value = RSM_SUCCESS;

	for (long i = 0; i < w->rounds && value == RSM_SUCCESS; i++) {
		if (!transfer_reads(w->call))
			cts_fill(w->data, PART, round_seed(i));
		value = transfer_once(w);
	}
	return value;
}

SCENARIO(transfer_threads)
{
	rsm_memseg_import_handle_t im =
		cts_fx_imported(THREADS * PART / cts_page_size() + 1, RSM_PERM_RDWR);
	struct worker workers[THREADS];
	struct cts_thread *threads[THREADS];

	for (size_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.call = transfer_call(),
					     .im = im,
					     .at = i * PART,
					     .rounds = cts_param("rounds"),
					     .data = cts_fx_buffer(PART)};
		threads[i] = begin(transfer_again_and_again, &workers[i]);
	}
	for (size_t i = 0; i < THREADS; i++)
		CTS_ASSERT(end_of(threads[i]) == RSM_SUCCESS);
	for (size_t i = 0; i < THREADS && !transfer_reads(workers[i].call); i++)
		CTS_ASSERT(cts_segment_is(im, workers[i].at, PART,
					  round_seed(workers[i].rounds - 1), 0));
}

/* ---- a forked process ---- */

static struct worker one_worker(void)
{
	return (struct worker){
		.call = transfer_call(),
		.im = cts_fx_imported(PART / cts_page_size() + 1, RSM_PERM_RDWR),
		.data = cts_fx_pattern(PART, 4),
	};
}

static bool arrived(const struct worker *w)
{
	return transfer_reads(w->call) || cts_segment_is(w->im, 0, PART, 4, 0);
}

SCENARIO(transfer_in_child)
{
	struct worker w = one_worker();

	CTS_ASSERT(cts_wait_child(cts_fork(transfer_once, &w)) == RSM_SUCCESS);
	CTS_ASSERT(arrived(&w));
	cts_segment_fill(w.im, 0, PART, 3, 0);
	CTS_ASSERT(transfer_once(&w) == RSM_SUCCESS);
	CTS_ASSERT(arrived(&w));
}

static int child_lacks_descriptors(void *arg)
{
	struct rlimit old, none;

	if (getrlimit(RLIMIT_NOFILE, &old))
		return WRONG_BYTES;
	none = (struct rlimit){0, old.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &none))
		return WRONG_BYTES;
	int value = transfer_once(arg);
	if (setrlimit(RLIMIT_NOFILE, &old) || transfer_once(arg) != RSM_SUCCESS)
		return WRONG_BYTES;
	return value;
}

SCENARIO(transfer_in_child_without_descriptors)
{
	struct worker w = one_worker();

	EXPECT(cts_wait_child(cts_fork(child_lacks_descriptors, &w)),
	       RSMERR_INSUFFICIENT_RESOURCES);
}

/* ---- the connection ends meanwhile ---- */

SCENARIO(transfer_until_unpublished)
{
	struct worker w = one_worker();
	struct loop l;

	loop_begin(&l, transfer_once, &w);
	loop_wait(&l, 50);
	CTS_REQUIRE(cts_segment_unpublish(w.im) == RSM_SUCCESS);
	EXPECT(loop_ended(&l), RSMERR_CONN_ABORTED);
	CTS_ASSERT(arrived(&w));
}

SCENARIO(transfer_while_disconnect)
{
	struct worker w = one_worker();
	struct loop l;

	loop_begin(&l, transfer_once, &w);
	loop_wait(&l, 50);
	CTS_ASSERT(rsm_memseg_import_disconnect(w.im) == RSM_SUCCESS);
	EXPECT(loop_ended(&l), RSMERR_BAD_SEG_HNDL);
}

/* ---- what transfers leave behind ---- */

#define TRANSFERS_WARM 20
#define TRANSFERS_MORE 300

static void transfer_times(const struct worker *w, int times)
{
	for (int i = 0; i < times; i++)
		CTS_ASSERT(transfer(w->call, w->im, w->at, w->data, PART) == RSM_SUCCESS);
}

SCENARIO(transfer_leaves_nothing)
{
	struct worker w = one_worker();

	transfer_times(&w, TRANSFERS_WARM);
	struct cts_holdings before = cts_holdings();
	transfer_times(&w, TRANSFERS_MORE);
	nothing_left(&before);
}
