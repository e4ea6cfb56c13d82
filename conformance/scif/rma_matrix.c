/* SPDX-License-Identifier: BSD-2-Clause */
/* Every length at every alignment, with guard bytes: exactly the range is copied. */
#include "rma_ends.h"

#define GUARD	64
#define SOURCE	2
#define TARGET	31
#define LONGEST ((1 << 20) + 1)

static const size_t lengths[] = {1,    63,   64,   65,	  4095,	 4096,	 4097,
				 8191, 8192, 8193, 26496, 65537, LONGEST};
static const size_t source_places[] = {0, 1, 63, 4095};
static const size_t target_places[] = {0, 7, 64, 4090};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static size_t pages_needed(void)
{
	return (LONGEST + 4095 + 2 * GUARD) / cts_page_size() + 3;
}

/* The first page in front of the range is there for the guards. */
static void one_copy(const struct rma_ends *e, size_t len, size_t source_place, size_t target_place,
		     int flags)
{
	size_t page = cts_page_size(), source = page + source_place, target = page + target_place;
	bool reads = rma_reads(e->call);
	unsigned seed = reads ? 3 : SOURCE;

	rma_target_fill(e, target - GUARD, len + 2 * GUARD, TARGET, 0);
	struct cts_result r =
		rma_transfer(e, reads ? target : source, reads ? source : target, len, flags);
	if (r.ret != 0)
		cts_fail("%zu bytes from +%zu to +%zu, flags %d: errno %d", len, source_place,
			 target_place, flags, r.err);
	if (!(flags & SCIF_RMA_SYNC))
		rma_fence(e->epd);
	if (!rma_target_is(e, target, len, seed, source))
		cts_fail("%zu bytes from +%zu to +%zu, flags %d: wrong bytes", len, source_place,
			 target_place, flags);
	if (!rma_target_is(e, target - GUARD, GUARD, TARGET, 0) ||
	    !rma_target_is(e, target + len, GUARD, TARGET, GUARD + len))
		cts_fail_effect("%zu bytes from +%zu to +%zu, flags %d: bytes beside the range",
				len, source_place, target_place, flags);
}

static void all_places(const struct rma_ends *e, size_t len, int flags, size_t step)
{
	for (size_t i = 0; i < COUNT(source_places) * COUNT(target_places); i += step)
		one_copy(e, len, source_places[i / COUNT(target_places)],
			 target_places[i % COUNT(target_places)], flags);
}

/*
 * All places without flags and with SCIF_RMA_SYNC; six of them, which show every place of both
 * sides, with the others. The longest length costs milliseconds and gets by with two or three.
 */
SCENARIO(rma_matrix)
{
	struct rma_ends e = rma_ends_open(pages_needed());
	int flags = (int)cts_param("flags");
	bool all = flags == 0 || flags == SCIF_RMA_SYNC;

	for (size_t i = 0; i < COUNT(lengths); i++)
		if (lengths[i] == LONGEST)
			all_places(&e, lengths[i], flags, all ? 7 : 15);
		else
			all_places(&e, lengths[i], flags, all ? 1 : 3);
}

SCENARIO(rma_matrix_all)
{
	struct rma_ends e = rma_ends_open(pages_needed());

	for (int flags = 0; flags < 16; flags++)
		for (size_t i = 0; i < COUNT(lengths); i++)
			all_places(&e, lengths[i], flags, 1);
}
