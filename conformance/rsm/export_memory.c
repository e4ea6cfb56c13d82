/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of an exported segment: which may be bound, what it shows, and how many there may be.
 */
#include "parties.h"

#include <stdlib.h>

static const struct list everybody = {.count = 0};

SCENARIO(export_shows_memory)
{
	size_t pages = (size_t)cts_param("pages"), page = cts_page_size(), len = pages * page;
	unsigned char *mem = cts_fx_pages((int)pages + 2);
	rsm_memseg_export_handle_t segment;

	EXPECT(rsm_memseg_export_create(cts_fx_controller("scif0"), &segment, mem + page, len, 0),
	       RSM_SUCCESS);
	struct far_import i = far_connect(cts_peer(), cts_self_node(),
					  near_publish(segment, everybody), RSM_PERM_RDWR);
	CTS_CHECK(far_reads(i, 0, len, 2, page), "the importer reads the memory from end to end");
	for (size_t at = 0; at < len; at += page)
		mem[page + at] = (unsigned char)(at / page);
	mem[page + len - 1] = 0x77;
	intptr_t map = far_map(i, RSM_PERM_READ, 0, len);
	for (size_t at = 0; at < len; at += page)
		CTS_CHECK(cts_peer_call(i.peer, "peek %jd 1", (intmax_t)(map + (intptr_t)at)).ret ==
				  (unsigned char)(at / page),
			  "what the owner stores shows on its page");
	CTS_CHECK(far_put(i, (off_t)len, 1, 1, 0) != RSM_SUCCESS,
		  "there is nothing behind the end");
	CTS_CHECK_EFFECT(cts_is_pattern(mem, page, 2) &&
				 cts_is_pattern_at(mem + page + len, page, 2, page + len),
			 "the pages around the segment are what they were");
}

SCENARIO(export_takes_writes)
{
	size_t page = cts_page_size();
	unsigned char *mem = cts_fx_pages(5);
	rsm_memseg_export_handle_t segment;

	EXPECT(rsm_memseg_export_create(cts_fx_controller("scif0"), &segment, mem + page, 3 * page,
					0),
	       RSM_SUCCESS);
	struct far_import i = far_connect(cts_peer(), cts_self_node(),
					  near_publish(segment, everybody), RSM_PERM_WRITE);
	CTS_ASSERT(far_put(i, 0, 3 * page, 8, 0) == RSM_SUCCESS);
	CTS_CHECK(cts_is_pattern(mem + page, 3 * page, 8), "the owner has what was written");
	CTS_ASSERT(far_put(i, (off_t)page - 3, 6, 9, 0) == RSM_SUCCESS);
	CTS_CHECK(cts_is_pattern(mem + 2 * page - 3, 6, 9), "also across a page boundary");
	CTS_CHECK_EFFECT(cts_is_pattern(mem, page, 2) &&
				 cts_is_pattern_at(mem + 4 * page, page, 2, 4 * page),
			 "the pages around the segment are what they were");
}

#define BUSY_PAGES 4

struct counting {
	uint64_t *words[BUSY_PAGES];
	uint64_t counts[BUSY_PAGES];
};

static int count_on(void *arg)
{
	struct counting *c = arg;

	for (int i = 0; i < 1000; i++) {
		int page = i % BUSY_PAGES;

		__atomic_store_n(c->words[page], ++c->counts[page], __ATOMIC_RELAXED);
	}
	return RSM_SUCCESS;
}

static bool counted(const struct counting *c)
{
	for (int i = 0; i < BUSY_PAGES; i++)
		if (*c->words[i] != c->counts[i])
			return false;
	return true;
}

SCENARIO(export_keeps_stores)
{
	size_t page = cts_page_size(), len = BUSY_PAGES * page;
	unsigned char *mem = cts_fx_pages(BUSY_PAGES);
	struct counting c = {.counts = {0}};
	rsm_memseg_export_handle_t segment;
	struct loop owner;

	for (int i = 0; i < BUSY_PAGES; i++)
		c.words[i] = (uint64_t *)(mem + (size_t)i * page + 64);
	for (int round = 0; round < 20; round++) {
		loop_begin(&owner, count_on, &c);
		loop_wait(&owner, 2);
		EXPECT(rsm_memseg_export_create(cts_fx_controller("scif0"), &segment, mem, len, 0),
		       RSM_SUCCESS);
		rsm_memseg_id_t id = near_publish(segment, everybody);
		struct far_import i = far_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR);
		far_map(i, RSM_PERM_RDWR, 0, len);
		loop_wait(&owner, 2);
		CTS_ASSERT(loop_end(&owner) == RSM_SUCCESS);
		CTS_CHECK_EFFECT(counted(&c), "every store of the owner is there");
		CTS_ASSERT(rsm_memseg_export_destroy(segment) == RSM_SUCCESS);
		CTS_CHECK_EFFECT(counted(&c), "also after the segment is gone");
	}
}

enum kind { SYSTEM_V, ANONYMOUS, PRIVATE_FILE, HEAP, STATIC, ADJACENT, UNTOUCHED };

static unsigned char *adjacent_mappings(void)
{
	size_t page = cts_page_size();
	unsigned char *mem = cts_fx_pages(2);
	int fd = memfd_create("adjacent", MFD_CLOEXEC);

	CTS_REQUIRE(fd != -1 && ftruncate(fd, (off_t)page) == 0);
	CTS_REQUIRE(mmap(mem + page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
			 0) != MAP_FAILED);
	close(fd);
	cts_fill_at(mem + page, page, 2, page);
	return mem;
}

static unsigned char *untouched_memory(void)
{
	void *mem = mmap(NULL, 2 * cts_page_size(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CTS_REQUIRE(mem != MAP_FAILED);
	return mem;
}

static unsigned char *memory_of(enum kind kind)
{
	static unsigned char fixed[2 * 65536] __attribute__((aligned(65536)));

	switch (kind) {
	case SYSTEM_V:
		return cts_fx_sysv_pages(2);
	case ANONYMOUS:
		return cts_fx_pages(2);
	case PRIVATE_FILE:
		return cts_fx_private_file_pages(2);
	case HEAP:
		return cts_fx_heap_pages(2);
	case STATIC:
		cts_fill(fixed, 2 * cts_page_size(), 2);
		return fixed;
	case ADJACENT:
		return adjacent_mappings();
	default:
		return untouched_memory();
	}
}

SCENARIO(export_memory_kind)
{
	enum kind kind = (enum kind)cts_param("kind");
	unsigned char *mem = memory_of(kind);
	size_t len = 2 * cts_page_size();
	rsm_memseg_export_handle_t segment;

	EXPECT(rsm_memseg_export_create(cts_fx_controller("scif0"), &segment, mem, len, 0),
	       RSM_SUCCESS);
	struct far_import i = far_connect(cts_peer(), cts_self_node(),
					  near_publish(segment, everybody), RSM_PERM_RDWR);
	if (kind == UNTOUCHED) {
		intptr_t map = far_map(i, RSM_PERM_RDWR, 0, len);

		CTS_CHECK(cts_peer_call(i.peer, "isbyte %jd %zu 0", (intmax_t)map, len).ret == 1,
			  "untouched memory reads as zeros");
	} else {
		CTS_CHECK(far_reads(i, 0, len, 2, 0), "the importer reads the memory");
	}
	CTS_ASSERT(far_put(i, 0, len, 5, 0) == RSM_SUCCESS);
	CTS_CHECK(cts_is_pattern(mem, len, 5), "the owner has what the importer wrote");
	cts_fill(mem, len, 6);
	CTS_CHECK(far_reads(i, 0, len, 6, 0), "the importer reads what the owner stored");
}

SCENARIO(export_same_memory_twice)
{
	size_t len = 2 * cts_page_size();
	unsigned char *mem = cts_fx_pages(2);
	rsm_memseg_export_handle_t first = near_create("scif0", mem, len, 0), second;
	struct near_import near;

	EXPECT(rsm_memseg_export_create(cts_fx_controller("loopback"), &second, mem, len, 0),
	       RSM_SUCCESS);
	struct far_import far = far_connect(cts_peer(), cts_self_node(),
					    near_publish(first, everybody), RSM_PERM_RDWR);
	CTS_ASSERT(near_connect(&near, "loopback", cts_self_node(), near_publish(second, everybody),
				RSM_PERM_RDWR) == RSM_SUCCESS);
	CTS_CHECK(far_reads(far, 0, len, 2, 0) && near_reads(&near, 0, len, 2, 0),
		  "both segments show the memory");
	CTS_ASSERT(far_put(far, 0, len, 7, 0) == RSM_SUCCESS);
	CTS_CHECK(near_reads(&near, 0, len, 7, 0),
		  "what is written through one is read through the other");
	CTS_ASSERT(near_put(&near, 0, len, 8, 0) == RSM_SUCCESS);
	CTS_CHECK(far_reads(far, 0, len, 8, 0), "and the other way round");
	CTS_ASSERT(rsm_memseg_import_disconnect(near.handle) == RSM_SUCCESS);
}

static void create_many(rsm_memseg_export_handle_t *segments, long count, void *mem)
{
	rsmapi_controller_handle_t c = cts_fx_controller("scif0");

	for (long i = 0; i < count; i++) {
		EXPECT(rsm_memseg_export_create(c, &segments[i], mem, cts_page_size(), 0),
		       RSM_SUCCESS);
		for (long j = 0; j < i; j++)
			CTS_ASSERT(segments[i] != segments[j]);
	}
}

static void destroy_many(rsm_memseg_export_handle_t *segments, long count)
{
	for (long i = 0; i < count; i++)
		CTS_ASSERT(rsm_memseg_export_destroy(segments[i]) == RSM_SUCCESS);
}

SCENARIO(export_many_segments)
{
	long count = cts_param("count");
	void *mem = cts_fx_pages(1);
	rsm_memseg_export_handle_t *segments = calloc((size_t)count, sizeof *segments);

	for (int i = 0; i < WARM_UP; i++) {
		create_many(segments, count, mem);
		destroy_many(segments, count);
	}
	struct cts_holdings before = cts_holdings();
	create_many(segments, count, mem);
	destroy_many(segments, count);
	nothing_left(&before);
	free(segments);
}

/* Room for that many descriptors, here and in peers that start later. */
static void allow_descriptors(unsigned long count)
{
	struct rlimit limit;

	CTS_REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	if (limit.rlim_max < count)
		limit.rlim_max = count;
	if (limit.rlim_cur < count)
		limit.rlim_cur = count;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		cts_untested("the process may not have %lu descriptors", count);
}

static unsigned long limit_of_segments(rsmapi_controller_handle_t c, bool imports)
{
	rsmapi_controller_attr_t attr;

	CTS_REQUIRE(rsm_get_controller_attr(c, &attr) == RSM_SUCCESS);
	unsigned long limit =
		imports ? attr.attr_max_import_segments : attr.attr_max_export_segments;
	if (limit > 100000)
		cts_untested("%lu segments are too many to try", limit);
	allow_descriptors(limit * 4 + 400);
	return limit;
}

SCENARIO(export_segments_run_out)
{
	rsmapi_controller_handle_t c = cts_fx_controller("scif0");
	unsigned long limit = limit_of_segments(c, false), made = 0;
	void *mem = cts_fx_pages(1);
	rsm_memseg_export_handle_t *segments = calloc(limit + 1, sizeof *segments), more;
	int value = RSM_SUCCESS;

	while (made < limit && value == RSM_SUCCESS) {
		value = rsm_memseg_export_create(c, &segments[made], mem, cts_page_size(), 0);
		made += value == RSM_SUCCESS;
	}
	CTS_CHECK(made == limit, "as many segments as the attribute says are created");
	EXPECT(rsm_memseg_export_create(c, &more, mem, cts_page_size(), 0),
	       RSMERR_INSUFFICIENT_RESOURCES);
	CTS_CHECK_EFFECT(made && rsm_memseg_export_destroy(segments[--made]) == RSM_SUCCESS &&
				 rsm_memseg_export_create(c, &more, mem, cts_page_size(), 0) ==
					 RSM_SUCCESS,
			 "the control, after one was destroyed, succeeds");
	CTS_ASSERT(rsm_memseg_export_destroy(more) == RSM_SUCCESS);
	destroy_many(segments, (long)made);
	free(segments);
}

/* Exports and imports may share a table; exports fill it sooner. */
SCENARIO(import_segments_run_out)
{
	rsmapi_controller_handle_t c = cts_fx_controller("scif0");
	unsigned long limit = limit_of_segments(c, true), made = 0;
	struct far_export there = far_published(cts_peer(), 1);
	rsm_node_id_t node = cts_peer_node(there.peer);
	void *mem = cts_fx_pages(1);
	rsm_memseg_import_handle_t *imports = calloc(limit + 1, sizeof *imports), more;
	rsm_memseg_export_handle_t filling;
	int value = RSM_SUCCESS;

	for (unsigned long i = 32; i < limit; i++)
		if (rsm_memseg_export_create(c, &filling, mem, cts_page_size(), 0) != RSM_SUCCESS)
			break;
	while (made <= limit && value == RSM_SUCCESS) {
		value = rsm_memseg_import_connect(c, node, there.id, RSM_PERM_READ, &imports[made]);
		made += value == RSM_SUCCESS;
	}
	CTS_CHECK(made && made <= limit, "no more imports than the attribute says are connected");
	EXPECT(rsm_memseg_import_connect(c, node, there.id, RSM_PERM_READ, &more),
	       RSMERR_INSUFFICIENT_RESOURCES);
	CTS_CHECK_EFFECT(made && rsm_memseg_import_disconnect(imports[--made]) == RSM_SUCCESS &&
				 rsm_memseg_import_connect(c, node, there.id, RSM_PERM_READ,
							   &more) == RSM_SUCCESS,
			 "the control, after one was disconnected, succeeds");
	free(imports);
}
