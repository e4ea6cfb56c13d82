/* SPDX-License-Identifier: BSD-2-Clause */
/* Two processes that write, signal and wait, as the programs of the time do. */
#include "parties.h"

/* Our word goes into the peer's segment, its answer comes into ours. */
SCENARIO(message_exchange)
{
	rsm_memseg_import_handle_t out = cts_fx_imported(1, RSM_PERM_RDWR);
	rsm_memseg_export_handle_t in = cts_fx_published_imported(1);
	volatile uint64_t *answer = (volatile uint64_t *)(void *)cts_segment_memory(in);
	uint64_t rounds = (uint64_t)cts_param("rounds");

	for (uint64_t word = 1; word <= rounds; word++) {
		uint64_t got = 0;

		CTS_ASSERT(rsm_memseg_import_put64(out, 64, &word, 1) == RSM_SUCCESS);
		CTS_ASSERT(rsm_intr_signal_post(out, 0) == RSM_SUCCESS);
		CTS_ASSERT(cts_segment_wait(out, 5000) == RSM_SUCCESS);
		CTS_ASSERT(cts_segment_peek64(out, 64) == word);
		CTS_ASSERT(cts_importer_put64(in, 128, word * 3) == RSM_SUCCESS);
		CTS_ASSERT(cts_importer_post(in, 0) == RSM_SUCCESS);
		CTS_ASSERT(rsm_intr_signal_wait(in, 5000) == RSM_SUCCESS);
		CTS_ASSERT(answer[16] == word * 3);
		CTS_ASSERT(rsm_memseg_import_get64(out, 64, &got, 1) == RSM_SUCCESS);
		CTS_ASSERT(got == word);
	}
	CTS_ASSERT(rsm_intr_signal_wait(in, 0) == RSMERR_TIMEOUT);
	CTS_ASSERT(cts_segment_has_no_signal(out));
}

/* One life of a segment: export, connect, write, signal, wait, and everything given back. */
static void one_life(unsigned char *mem, unsigned seed)
{
	size_t page = cts_page_size();
	rsm_memseg_export_handle_t segment = near_create("scif0", mem, page, 0);
	rsm_memseg_id_t id = near_publish(segment, (struct list){.count = 0});
	struct far_import importer = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);

	memset(mem, 0, page);
	CTS_ASSERT(far_put(importer, 100, 1000, seed, 0) == RSM_SUCCESS);
	CTS_ASSERT(value_of(cts_peer_call(importer.peer, "rsm_post %jd 0",
					  (intmax_t)importer.handle)) == RSM_SUCCESS);
	CTS_ASSERT(rsm_intr_signal_wait(segment, 5000) == RSM_SUCCESS);
	CTS_ASSERT(cts_is_pattern(mem + 100, 1000, seed));
	far_disconnect(importer);
	CTS_ASSERT(rsm_memseg_export_unpublish(segment) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_export_destroy(segment) == RSM_SUCCESS);
}

SCENARIO(segment_cycle)
{
	unsigned char *mem = cts_fx_pages(1);
	long rounds = cts_param("rounds");

	for (unsigned i = 0; i < 3; i++)
		one_life(mem, 10 + i);
	struct cts_holdings before = cts_holdings();
	for (long i = 0; i < rounds; i++)
		one_life(mem, (unsigned)(20 + i % 40));
	nothing_left(&before);
}
