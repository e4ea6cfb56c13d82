/* SPDX-License-Identifier: BSD-2-Clause */
/* Every length at every alignment, with guard bytes: exactly the range is copied, in the right
 * order. */
#include "transfer_calls.h"

#include <stdlib.h>

#define GUARD	   64
#define BESIDE	   31
#define UNTOUCHED  0xee
#define LONGEST	   4104
#define PUT_SEED   4
#define HUGE_BLOCK ((size_t)16 << 20)
#define HUGE_COUNT 128

struct ends {
	enum transfer_call call;
	rsm_memseg_import_handle_t im;
	bool other_order;
	unsigned char *room; /* LONGEST bytes at every alignment, GUARD on each side */
};

static const size_t lengths[] = {0,   8,   16,	24,  32,  56,  64,  72,	  120,	128,
				 136, 248, 256, 264, 504, 512, 520, 4088, 4096, LONGEST};

/* Some lengths that only narrower items can have. */
static const size_t odd_lengths[] = {1,	 2,  3,	 4,   6,   7,	9,    12,
				     31, 63, 65, 127, 129, 255, 4095, 4097};

static size_t room_len(void)
{
	return LONGEST + 2 * GUARD + 64;
}

static void get_one(const struct ends *e, size_t offset, size_t align, size_t bytes)
{
	unsigned char *data = e->room + GUARD + align;

	memset(e->room, UNTOUCHED, room_len());
	int value = transfer(e->call, e->im, offset, data, bytes);
	if (value != RSM_SUCCESS)
		cts_fail("%zu bytes from %zu to +%zu: %d", bytes, offset, align, value);
	if (e->other_order)
		transfer_swap(e->call, data, bytes);
	if (!cts_is_pattern_at(data, bytes, 3, offset))
		cts_fail("%zu bytes from %zu to +%zu: wrong bytes", bytes, offset, align);
	if (!cts_is_byte(e->room, GUARD + align, UNTOUCHED) ||
	    !cts_is_byte(data + bytes, room_len() - GUARD - align - bytes, UNTOUCHED))
		cts_fail_effect("%zu bytes from %zu to +%zu: bytes beside the range", bytes, offset,
				align);
}

static void put_one(const struct ends *e, size_t offset, size_t align, size_t bytes)
{
	unsigned char *data = e->room + GUARD + align;

	cts_segment_fill(e->im, offset - GUARD, bytes + 2 * GUARD, BESIDE, 0);
	cts_fill(data, bytes, PUT_SEED);
	if (e->other_order)
		transfer_swap(e->call, data, bytes);
	int value = transfer(e->call, e->im, offset, data, bytes);
	if (value != RSM_SUCCESS)
		cts_fail("%zu bytes from +%zu to %zu: %d", bytes, align, offset, value);
	if (!cts_segment_is(e->im, offset, bytes, PUT_SEED, 0))
		cts_fail("%zu bytes from +%zu to %zu: wrong bytes", bytes, align, offset);
	if (!cts_segment_is(e->im, offset - GUARD, GUARD, BESIDE, 0) ||
	    !cts_segment_is(e->im, offset + bytes, GUARD, BESIDE, GUARD + bytes))
		cts_fail_effect("%zu bytes from +%zu to %zu: bytes beside the range", bytes, align,
				offset);
}

static void all_places(const struct ends *e, size_t bytes)
{
	size_t page = cts_page_size(), width = transfer_width(e->call);
	const size_t offsets[] = {GUARD,	GUARD + width, page - 3 * width,
				  page - width, page,	       2 * page - 5 * width};
	const size_t aligns[] = {0, width, 3 * width, 64 - width};

	for (size_t i = 0; i < COUNT(offsets); i++)
		for (size_t j = 0; j < COUNT(aligns); j++)
			if (transfer_reads(e->call))
				get_one(e, offsets[i], aligns[j], bytes);
			else if ((i + j) % 3 == 0)
				put_one(e, offsets[i], aligns[j], bytes);
}

SCENARIO(transfer_matrix)
{
	struct ends e = {.call = transfer_call(), .other_order = cts_param("other_order")};

	e.im = e.other_order ? cts_fx_imported_other_order(4, RSM_PERM_RDWR)
			     : cts_fx_imported(4, RSM_PERM_RDWR);
	e.room = cts_fx_buffer(room_len());
	for (size_t i = 0; i < COUNT(lengths); i++)
		all_places(&e, lengths[i]);
	for (size_t i = 0; i < COUNT(odd_lengths); i++)
		if (odd_lengths[i] % transfer_width(e.call) == 0)
			all_places(&e, odd_lengths[i]);
	CTS_ASSERT(cts_guards_ok(e.room));
}

SCENARIO(transfer_large)
{
	enum transfer_call call = transfer_call();
	size_t len = (size_t)cts_param("mib") << 20;
	rsm_memseg_import_handle_t im = cts_fx_imported(len / cts_page_size(), RSM_PERM_RDWR);
	unsigned char *data = cts_fx_pattern(len, PUT_SEED);

	CTS_ASSERT(transfer(call, im, 0, data, len) == RSM_SUCCESS);
	CTS_ASSERT(cts_guards_ok(data));
	CTS_ASSERT(transfer_reads(call) ? cts_is_pattern(data, len, 3)
					: cts_segment_is(im, 0, len, PUT_SEED, 0));
}

/* ---- more than 2 GiB: one local block of 16 MiB that shows again and again, and a page ---- */

static unsigned char *block_memory(unsigned char **block)
{
	size_t page = cts_page_size();
	int fd = memfd_create("cts-blocks", MFD_CLOEXEC);

	CTS_REQUIRE(fd != -1 && ftruncate(fd, (off_t)(HUGE_BLOCK + page)) == 0);
	*block = mmap(NULL, HUGE_BLOCK + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *all = mmap(NULL, HUGE_COUNT * HUGE_BLOCK + page, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CTS_REQUIRE(*block != MAP_FAILED && all != MAP_FAILED);
	for (size_t i = 0; i <= HUGE_COUNT; i++)
		CTS_REQUIRE(mmap(all + i * HUGE_BLOCK, i < HUGE_COUNT ? HUGE_BLOCK : page,
				 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd,
				 i < HUGE_COUNT ? 0 : (off_t)HUGE_BLOCK) != MAP_FAILED);
	close(fd);
	return all;
}

SCENARIO(transfer_huge)
{
	size_t page = cts_page_size(), len = HUGE_COUNT * HUGE_BLOCK + page;
	enum transfer_call call = transfer_call();
	unsigned char *block, *data = block_memory(&block);

	if ((size_t)sysconf(_SC_AVPHYS_PAGES) * page < len + len / 2)
		cts_untested("the machine has not memory enough for a segment of 2 GiB");
	rsm_memseg_import_handle_t im = cts_fx_imported(len / page, RSM_PERM_RDWR);
	cts_fill(block, HUGE_BLOCK + page, 60);
	CTS_ASSERT(transfer(call, im, 0, data, len) == RSM_SUCCESS);
	if (transfer_reads(call)) {
		CTS_ASSERT(cts_is_pattern_at(block, HUGE_BLOCK, 3, (HUGE_COUNT - 1) * HUGE_BLOCK));
		CTS_ASSERT(cts_is_pattern_at(block + HUGE_BLOCK, page, 3, HUGE_COUNT * HUGE_BLOCK));
		return;
	}
	for (size_t i = 0; i < HUGE_COUNT; i++)
		CTS_ASSERT(cts_segment_is(im, i * HUGE_BLOCK, HUGE_BLOCK, 60, 0));
	CTS_ASSERT(cts_segment_is(im, HUGE_COUNT * HUGE_BLOCK, page, 60, HUGE_BLOCK));
}
