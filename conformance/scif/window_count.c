/* SPDX-License-Identifier: BSD-2-Clause */
/* Many windows, many rounds: what they cost and what they leave behind. */
#include "ends.h"
#include "far_memory.h"

#include <stdlib.h>

static void read_label(scif_epd_t epd, uint64_t there, off_t offset, size_t from)
{
	cts_expect_ok(far_vreadfrom(epd, there, 64, offset + 100),
		      "the peer reads one of many windows");
	CTS_ASSERT(far_is(epd, there, 64, 2, from + 100));
}

SCENARIO(window_many)
{
	size_t count = (size_t)cts_param("count"), page = cts_page_size();
	scif_epd_t epd = cts_fx_connected();
	unsigned char *mem = cts_fx_pages(count);
	off_t *offsets = calloc(count, sizeof *offsets);
	uint64_t there = far_alloc(epd, page);
	int descriptors;

	CTS_REQUIRE(offsets);
	offsets[0] = scif_register(epd, mem, page, 0, READ_WRITE, 0);
	descriptors = cts_descriptor_count();
	for (size_t i = 1; i < count; i++) {
		offsets[i] = scif_register(epd, mem + i * page, page, 0, READ_WRITE, 0);
		CTS_ASSERT(offsets[i] != SCIF_REGISTER_FAILED);
	}
	CTS_ASSERT(cts_descriptor_count() == descriptors);
	for (size_t i = 0; i < count; i += count / 50)
		read_label(epd, there, offsets[i], i * page);
	for (size_t i = 1; i < count; i += 2)
		CTS_ASSERT(scif_unregister(epd, offsets[i], page) == 0);
	for (size_t i = 0; i + 1 < count; i += 2 * (count / 50)) {
		read_label(epd, there, offsets[i], i * page);
		CTS_ASSERT(cts_failed_with(far_vreadfrom(epd, there, 64, offsets[i + 1]), ENXIO));
	}
	if (ends_driver()) /* which wants the range to begin and end with a window */
		for (size_t i = 0; i < count; i += 2)
			CTS_ASSERT(scif_unregister(epd, offsets[i], page) == 0);
	else
		CTS_ASSERT(scif_unregister(epd, 0, ((size_t)1 << 63) - page) == 0);
	CTS_ASSERT(cts_failed_with(far_vreadfrom(epd, there, 64, offsets[0]), ENXIO));
	free(offsets);
}

static void cycle(scif_epd_t epd, void *mem, size_t len)
{
	off_t offset = scif_register(epd, mem, len, 0, READ_WRITE, 0);

	CTS_ASSERT(offset != SCIF_REGISTER_FAILED);
	CTS_ASSERT(scif_unregister(epd, offset, len) == 0);
}

static void check_holdings(struct cts_holdings before)
{
	struct cts_holdings after = cts_holdings();

	CTS_CHECK_EFFECT(after.descriptors <= before.descriptors, "no descriptor is left over");
	CTS_CHECK_EFFECT(after.mappings <= before.mappings, "no mapping is left over");
	CTS_CHECK_EFFECT(after.heap <= before.heap + 4096, "no heap memory is left over");
}

/* The same memory again and again, and fresh memory for every round. */
SCENARIO(window_cycles)
{
	scif_epd_t epd = cts_fx_connected();
	size_t len = 4 * cts_page_size();
	void *mem = cts_fx_pages(4);

	for (int i = 0; i < 10; i++)
		cycle(epd, mem, len);
	struct cts_holdings before = cts_holdings();
	for (long i = 0; i < cts_param("rounds"); i++) {
		cycle(epd, mem, len);
		void *fresh =
			mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CTS_REQUIRE(fresh != MAP_FAILED);
		cycle(epd, fresh, len);
		munmap(fresh, len);
	}
	check_holdings(before);
	CTS_ASSERT(cts_is_pattern(mem, len, 2));
}

/* No address space is left for whatever the call may want beside the memory that it is given. */
SCENARIO(b07_register_without_address_space)
{
	scif_epd_t epd = cts_fx_connected();
	size_t pages = (size_t)cts_param("pages"), len = pages * cts_page_size();
	struct cts_window present = cts_fx_window_on(epd, 2, READ_WRITE);
	unsigned char *mem = cts_fx_pages(pages);

	cts_limit(RLIMIT_AS, "current");
	struct cts_result r = CTS_RESULT(scif_register(epd, mem, len, 0, READ_WRITE, 0));
	cts_limit_restore(RLIMIT_AS);
	if (r.ret == SCIF_REGISTER_FAILED)
		CTS_ASSERT(r.err == ENOMEM || r.err == EAGAIN);
	else
		CTS_ASSERT(scif_unregister(epd, (off_t)r.ret, len) == 0);
	CTS_ASSERT(cts_is_pattern(mem, len, 2));
	cts_expect_ok(cts_peer_readfrom_us(present, 0, present.len, SCIF_RMA_SYNC),
		      "the peer reads a window that was there before");
	CTS_ASSERT(cts_peer_scratch_is(epd, present.len, 2, 0));
	struct cts_window win = {.addr = mem, .len = len, .epd = epd};
	win.offset = (off_t)CTS_OBSERVE(scif_register(epd, mem, len, 0, READ_WRITE, 0)).ret;
	CTS_ASSERT(win.offset != SCIF_REGISTER_FAILED);
	cts_expect_ok(cts_peer_readfrom_us(win, len - 100, 100, SCIF_RMA_SYNC),
		      "the peer reads the end of the window");
	CTS_ASSERT(cts_peer_scratch_is(epd, 100, 2, len - 100));
}

SCENARIO(window_failed_rounds)
{
	scif_epd_t epd = cts_fx_connected();
	size_t page = cts_page_size();
	unsigned char *bad = cts_fx_straddling_pages(3), *good = cts_fx_pages(3);
	off_t at = cts_fx_free_offset(epd);
	struct cts_window win = {.addr = good, .len = 3 * page, .offset = at, .epd = epd};

	for (int i = 0; i < 5; i++)
		CTS_OBSERVE_ERROR(scif_register(epd, bad, 3 * page, at, READ_WRITE, SCIF_MAP_FIXED),
				  EFAULT);
	struct cts_holdings before = cts_holdings();
	for (long i = 0; i < cts_param("rounds"); i++)
		cts_expect_error(CTS_RESULT(scif_register(epd, bad, 3 * page, at, READ_WRITE,
							  SCIF_MAP_FIXED)),
				 EFAULT, "every round gives EFAULT");
	check_holdings(before);
	CTS_ASSERT(cts_failed_with(cts_peer_readfrom_us(win, 0, 8, SCIF_RMA_SYNC), ENXIO));
	CTS_ASSERT(scif_register(epd, good, 3 * page, at, READ_WRITE, SCIF_MAP_FIXED) == at);
	CTS_ASSERT(cts_window_is_open(win));
}
