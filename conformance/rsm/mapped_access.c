/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads and stores through a mapping: widths, losses, processes, threads. */
#include "parties.h"

enum loss { LOSS_UNPUBLISH, LOSS_DESTROY, LOSS_KILL, LOSS_NODE };

static void lose(rsm_memseg_import_handle_t im, enum loss how)
{
	switch (how) {
	case LOSS_UNPUBLISH:
		CTS_REQUIRE(cts_segment_unpublish(im) == RSM_SUCCESS);
		return;
	case LOSS_DESTROY:
		CTS_REQUIRE(cts_segment_destroy(im) == RSM_SUCCESS);
		return;
	case LOSS_KILL:
		cts_segment_kill(im);
		return;
	case LOSS_NODE:
		cts_segment_node(im, "down");
	}
}

/* Stores items of one width over the whole page and loads them again. */
#define STORE_AND_LOAD(type, map, page)                                                            \
	do {                                                                                       \
		volatile type *items = (volatile type *)(void *)(map);                             \
		for (size_t i = 0; i < (page) / sizeof *items; i++)                                \
			items[i] = (type)(i * 0x0102030405060709u);                                \
		for (size_t i = 0; i < (page) / sizeof *items; i++)                                \
			CTS_ASSERT(items[i] == (type)(i * 0x0102030405060709u));                   \
	} while (0)

SCENARIO(mapped_widths)
{
	size_t page = cts_page_size();
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	unsigned char *map = cts_fx_import_mapping(im, 0, page, RSM_PERM_RDWR);
	rsmapi_barrier_t *barrier = cts_fx_barrier_open(im);

	STORE_AND_LOAD(uint8_t, map, page);
	STORE_AND_LOAD(uint16_t, map, page);
	STORE_AND_LOAD(uint32_t, map, page);
	STORE_AND_LOAD(uint64_t, map, page);
	CTS_ASSERT(rsm_memseg_import_close_barrier(barrier) == RSM_SUCCESS);
	for (size_t at = 0; at < page; at += 8)
		CTS_ASSERT(cts_segment_peek64(im, at) == at / 8 * 0x0102030405060709u);
}

SCENARIO(mapped_after_loss)
{
	size_t page = cts_page_size(), len = 3 * page;
	rsm_memseg_import_handle_t im = cts_fx_imported(3, RSM_PERM_RDWR);
	unsigned char *map = cts_fx_import_mapping(im, 0, len, RSM_PERM_RDWR);

	map[0] = 1;
	lose(im, (enum loss)cts_param("how"));
	for (size_t at = 0; at < len; at += page / 2) {
		CTS_ASSERT(!cts_faults_on_read(map + at));
		CTS_ASSERT(!cts_faults_on_write(map + at));
	}
	memset(map, 0x5a, len);
	CTS_ASSERT(cts_is_mapped(map, len));
	CTS_ASSERT(rsm_memseg_import_unmap(im) == RSM_SUCCESS);
	CTS_ASSERT(!cts_is_mapped(map, page));
	CTS_ASSERT(rsm_memseg_import_disconnect(im) == RSM_SUCCESS);
}

struct words {
	volatile uint64_t *at;
	size_t count;
};

static int store_all(void *arg)
{
	struct words *w = arg;

	for (size_t i = 0; i < w->count; i++)
		w->at[i] += i;
	return RSM_SUCCESS;
}

SCENARIO(mapped_store_under_loss)
{
	static const enum loss ways[] = {LOSS_UNPUBLISH, LOSS_DESTROY};
	size_t len = 4 * cts_page_size();
	long rounds = cts_param("rounds");

	for (long i = 0; i < rounds; i++) {
		rsm_memseg_import_handle_t im = cts_fx_imported(4, RSM_PERM_RDWR);
		unsigned char *map = cts_fx_import_mapping(im, 0, len, RSM_PERM_RDWR);
		struct words w = {(volatile uint64_t *)(void *)map, len / 8};
		struct loop l;

		loop_begin(&l, store_all, &w);
		loop_wait(&l, 3);
		/* A killed peer serves no further segments, so the last round is the one to kill.
		 */
		lose(im, i == rounds - 1 ? LOSS_KILL : ways[i % 2]);
		loop_wait(&l, 3);
		CTS_ASSERT(loop_end(&l) == RSM_SUCCESS);
		CTS_ASSERT(rsm_memseg_import_unmap(im) == RSM_SUCCESS);
	}
}

/* ---- a forked process ---- */

struct family {
	rsm_memseg_import_handle_t im;
	unsigned char *map;
};

static int child_uses_mapping(void *arg)
{
	struct family *f = arg;
	unsigned char byte;
	int value = rsm_memseg_import_get8(f->im, 0, &byte, 1);

	if (value != RSM_SUCCESS)
		return value;
	if (!cts_is_pattern(f->map, cts_page_size(), 3))
		return 201;
	cts_fill(f->map, 64, 8);
	return cts_is_pattern(f->map, 64, 8) ? RSM_SUCCESS : 202;
}

SCENARIO(mapped_in_child)
{
	struct family f = {.im = cts_fx_imported(1, RSM_PERM_RDWR)};

	f.map = cts_fx_import_mapping(f.im, 0, cts_page_size(), RSM_PERM_RDWR);
	CTS_ASSERT(cts_wait_child(cts_fork(child_uses_mapping, &f)) == RSM_SUCCESS);
	CTS_ASSERT(cts_segment_is(f.im, 0, 64, 8, 0));
	CTS_ASSERT(cts_is_pattern(f.map, 64, 8));
}

/* ---- again and again ---- */

struct mapper {
	rsm_memseg_import_handle_t im;
	long rounds;
};

static int map_and_unmap(rsm_memseg_import_handle_t im, size_t at)
{
	size_t page = cts_page_size();
	void *address = NULL;
	int value =
		rsm_memseg_import_map(im, &address, RSM_MAP_NONE, RSM_PERM_RDWR, (off_t)at, page);

	if (value != RSM_SUCCESS)
		return value;
	if (!cts_is_pattern_at(address, page, 3, at))
		return -1;
	return rsm_memseg_import_unmap(im);
}

static int map_again_and_again(void *arg)
{
	const struct mapper *m = arg;
	int value = RSM_SUCCESS;

	for (long i = 0; i < m->rounds && value == RSM_SUCCESS; i++)
		value = map_and_unmap(m->im, (size_t)(i % 2) * cts_page_size());
	return value;
}

SCENARIO(map_threads)
{
	struct mapper mappers[4];
	struct cts_thread *threads[4];

	for (int i = 0; i < 4; i++)
		mappers[i] = (struct mapper){
			.im = i ? cts_fx_imported_again(mappers[0].im, RSM_PERM_RDWR)
				: cts_fx_imported(2, RSM_PERM_RDWR),
			.rounds = cts_param("rounds"),
		};
	for (int i = 0; i < 4; i++)
		threads[i] = begin(map_again_and_again, &mappers[i]);
	for (int i = 0; i < 4; i++)
		CTS_ASSERT(end_of(threads[i]) == RSM_SUCCESS);
}

SCENARIO(map_cycle)
{
	struct mapper m = {.im = cts_fx_imported(2, RSM_PERM_RDWR), .rounds = 10};

	CTS_ASSERT(map_again_and_again(&m) == RSM_SUCCESS);
	struct cts_holdings before = cts_holdings();
	m.rounds = cts_param("rounds");
	CTS_ASSERT(map_again_and_again(&m) == RSM_SUCCESS);
	nothing_left(&before);
}
