/* SPDX-License-Identifier: BSD-2-Clause */
/* Where posted signals go, how they count, and what is there when they come. */
#include "parties.h"

/* One importer of a segment of this process: a handle of a peer, or one of ours. */
struct importer {
	struct far_import far;
	struct near_import near;
	bool is_near;
};

static int importer_wait(struct importer *i, int timeout)
{
	if (i->is_near)
		return rsm_intr_signal_wait(i->near.handle, timeout);
	return value_of(
		cts_peer_call(i->far.peer, "rsm_wait %jd %d", (intmax_t)i->far.handle, timeout));
}

static int importer_post(struct importer *i)
{
	if (i->is_near)
		return rsm_intr_signal_post(i->near.handle, 0);
	return value_of(cts_peer_call(i->far.peer, "rsm_post %jd 0", (intmax_t)i->far.handle));
}

struct audience {
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id;
	struct importer importers[8];
	int count;
};

static void join_audience(struct audience *a, struct cts_peer *peer)
{
	struct importer *i = &a->importers[a->count++];

	i->is_near = !peer;
	if (peer)
		i->far = far_connect(peer, cts_self_node(), a->id, RSM_PERM_RDWR);
	else
		CTS_REQUIRE(near_connect(&i->near, "loopback", cts_self_node(), a->id,
					 RSM_PERM_RDWR) == RSM_SUCCESS);
}

/* Importers in turn: this process, the peer, another process of its node, one of our node. */
static void audience_open(struct audience *a, int importers)
{
	struct cts_peer *peers[] = {NULL, cts_peer(), cts_peer_start(cts_peer_node(cts_peer())),
				    cts_peer_start(cts_self_node())};
	size_t page = cts_page_size();

	a->count = 0;
	a->segment = near_create("scif0", cts_fx_pages(1), page, 0);
	a->id = near_publish(a->segment, (struct list){.count = 0});
	for (int i = 0; i < importers; i++)
		join_audience(a, peers[i % 4]);
}

SCENARIO(post_all_importers)
{
	struct audience a;

	audience_open(&a, 2 * (int)cts_param("importers"));
	CTS_ASSERT(rsm_intr_signal_post(a.segment, 0) == RSM_SUCCESS);
	for (int i = 0; i < a.count; i++)
		CTS_ASSERT(importer_wait(&a.importers[i], 5000) == RSM_SUCCESS);
	for (int i = 0; i < a.count; i++)
		CTS_ASSERT(importer_wait(&a.importers[i], 0) == RSMERR_TIMEOUT);
	CTS_ASSERT(rsm_intr_signal_wait(a.segment, 0) == RSMERR_TIMEOUT);
}

SCENARIO(wait_many_importers)
{
	struct audience a;

	audience_open(&a, 2 * (int)cts_param("importers"));
	for (int i = 0; i < a.count; i++)
		CTS_ASSERT(importer_post(&a.importers[i]) == RSM_SUCCESS);
	for (int i = 0; i < a.count; i++)
		CTS_ASSERT(rsm_intr_signal_wait(a.segment, 5000) == RSM_SUCCESS);
	CTS_ASSERT(rsm_intr_signal_wait(a.segment, 20) == RSMERR_TIMEOUT);
}

SCENARIO(post_to_one_pending)
{
	struct audience a;

	audience_open(&a, 4);
	CTS_ASSERT(rsm_intr_signal_post(a.segment, 0) == RSM_SUCCESS);
	for (int i = 0; i < a.count; i += 2)
		CTS_ASSERT(importer_wait(&a.importers[i], 5000) == RSM_SUCCESS);
	CTS_ASSERT(rsm_intr_signal_post(a.segment, RSM_SIGPOST_NO_ACCUMULATE) == RSM_SUCCESS);
	for (int i = 0; i < a.count; i++)
		CTS_ASSERT(importer_wait(&a.importers[i], 5000) == RSM_SUCCESS);
	for (int i = 0; i < a.count; i++)
		CTS_ASSERT(importer_wait(&a.importers[i], 20) == RSMERR_TIMEOUT);
}

SCENARIO(post_before_connect)
{
	struct audience a;

	audience_open(&a, 0);
	CTS_ASSERT(rsm_intr_signal_post(a.segment, 0) == RSM_SUCCESS);
	join_audience(&a, cts_peer());
	join_audience(&a, NULL);
	for (int i = 0; i < a.count; i++)
		CTS_ASSERT(importer_wait(&a.importers[i], 20) == RSMERR_TIMEOUT);
	CTS_ASSERT(rsm_intr_signal_post(a.segment, 0) == RSM_SUCCESS);
	for (int i = 0; i < a.count; i++) {
		CTS_ASSERT(importer_wait(&a.importers[i], 5000) == RSM_SUCCESS);
		CTS_ASSERT(importer_wait(&a.importers[i], 0) == RSMERR_TIMEOUT);
	}
}

SCENARIO(signal_own_process)
{
	struct audience a;

	audience_open(&a, 1);
	rsm_memseg_import_handle_t im = a.importers[0].near.handle;
	for (int i = 0; i < 3; i++) {
		CTS_ASSERT(rsm_intr_signal_post(im, 0) == RSM_SUCCESS);
		CTS_ASSERT(rsm_intr_signal_wait(a.segment, 5000) == RSM_SUCCESS);
		CTS_ASSERT(rsm_intr_signal_wait(im, 0) == RSMERR_TIMEOUT);
		CTS_ASSERT(rsm_intr_signal_post(a.segment, 0) == RSM_SUCCESS);
		CTS_ASSERT(rsm_intr_signal_wait(im, 5000) == RSM_SUCCESS);
		CTS_ASSERT(rsm_intr_signal_wait(a.segment, 0) == RSMERR_TIMEOUT);
	}
}

/* ---- counts ---- */

static void post_times(rsm_memseg_import_handle_t im, long count)
{
	for (long i = 0; i < count; i++)
		CTS_ASSERT(rsm_intr_signal_post(im, 0) == RSM_SUCCESS);
}

static void exporter_takes(rsm_memseg_import_handle_t im, long count)
{
	for (long i = 0; i < count; i++)
		if (cts_segment_wait(im, 5000) != RSM_SUCCESS)
			cts_fail("the exporter got %ld of %ld signals", i, count);
	CTS_ASSERT(cts_segment_has_no_signal(im));
}

SCENARIO(post_to_stopped)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	long count = cts_param("count");

	cts_segment_stop(im, true);
	post_times(im, count);
	cts_segment_stop(im, false);
	exporter_takes(im, count);
}

SCENARIO(post_many)
{
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	long count = cts_param("count");

	post_times(im, count);
	exporter_takes(im, count);
}

struct poster {
	rsm_memseg_import_handle_t im;
	long rounds;
};

static int post_again_and_again(void *arg)
{
	const struct poster *p = arg;
	int value = RSM_SUCCESS;

	for (long i = 0; i < p->rounds && value == RSM_SUCCESS; i++)
		value = rsm_intr_signal_post(p->im, 0);
	return value;
}

SCENARIO(post_threads)
{
	struct poster p = {cts_fx_imported(1, RSM_PERM_RDWR), cts_param("rounds")};
	struct poster second = {cts_fx_imported_again(p.im, RSM_PERM_RDWR), p.rounds};
	struct cts_thread *threads[4];
	pid_t child = cts_fork(post_again_and_again, &p);

	for (int i = 0; i < 4; i++)
		threads[i] = begin(post_again_and_again, i % 2 ? &p : &second);
	for (int i = 0; i < 4; i++)
		CTS_ASSERT(end_of(threads[i]) == RSM_SUCCESS);
	CTS_ASSERT(cts_wait_child(child) == RSM_SUCCESS);
	exporter_takes(p.im, 5 * p.rounds);
}

SCENARIO(post_in_child)
{
	struct poster p = {cts_fx_imported(1, RSM_PERM_RDWR), 3};

	CTS_ASSERT(cts_wait_child(cts_fork(post_again_and_again, &p)) == RSM_SUCCESS);
	exporter_takes(p.im, p.rounds);
	CTS_ASSERT(rsm_intr_signal_post(p.im, 0) == RSM_SUCCESS);
	exporter_takes(p.im, 1);
}

/* ---- data come before the signal ---- */

enum way { BY_PUT, BY_PUT_AND_BARRIER, BY_MAPPING_AND_BARRIER };

SCENARIO(put_then_post)
{
	enum way way = (enum way)cts_param("mode");
	uint64_t rounds = (uint64_t)cts_param("rounds");
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	rsmapi_barrier_t *barrier = cts_fx_barrier(im);
	volatile uint64_t *mapped = NULL;

	if (way == BY_MAPPING_AND_BARRIER)
		mapped = (volatile uint64_t *)(void *)cts_fx_import_mapping(im, 0, cts_page_size(),
									    RSM_PERM_RDWR);
	if (way != BY_PUT)
		CTS_REQUIRE(rsm_memseg_import_set_mode(im, RSM_BARRIER_MODE_EXPLICIT) ==
			    RSM_SUCCESS);
	for (uint64_t word = 1; word <= rounds; word++) {
		if (way != BY_PUT)
			CTS_ASSERT(rsm_memseg_import_open_barrier(barrier) == RSM_SUCCESS);
		if (mapped)
			*mapped = word;
		else
			CTS_ASSERT(rsm_memseg_import_put64(im, 0, &word, 1) == RSM_SUCCESS);
		if (way != BY_PUT)
			CTS_ASSERT(rsm_memseg_import_close_barrier(barrier) == RSM_SUCCESS);
		CTS_ASSERT(rsm_intr_signal_post(im, 0) == RSM_SUCCESS);
		CTS_ASSERT(cts_segment_wait(im, 5000) == RSM_SUCCESS);
		CTS_ASSERT(cts_segment_peek64(im, 0) == word);
	}
}
