/* SPDX-License-Identifier: BSD-2-Clause */
/* Transfers and connections again and again: the process holds no more afterwards. */
#include "ends.h"
#include "rma_ends.h"

#define ROUNDS 40
#define WARM   5

static void check_nothing_left(const struct cts_holdings *before)
{
	struct cts_holdings after = cts_holdings();

	CTS_CHECK_EFFECT(after.descriptors <= before->descriptors, "no descriptor is left over");
	CTS_CHECK_EFFECT(after.mappings <= before->mappings, "no mapping is left over");
	CTS_CHECK_EFFECT(after.mapped <= before->mapped, "no mapped memory is left over");
	CTS_CHECK_EFFECT(after.heap <= before->heap + 4096, "no heap memory is left over");
}

/* Of every length and with every flag, so that each way of copying is gone. */
static void transfer_round(const struct rma_ends *e)
{
	size_t page = cts_page_size();

	for (int flags = 0; flags <= 15; flags++) {
		cts_expect_ok(rma_transfer(e, 0, 0, 2 * page, flags), "two pages");
		cts_expect_ok(rma_transfer(e, 10, 20, page, flags), "an unaligned range");
		cts_expect_ok(rma_transfer(e, 3, 5, 1, flags), "one byte");
	}
	rma_fence(e->epd);
}

SCENARIO(rma_leaves_nothing)
{
	cts_need("own_memory");
	struct rma_ends e = rma_ends_open(2);

	for (int i = 0; i < WARM; i++)
		transfer_round(&e);
	struct cts_holdings before = cts_holdings();
	for (int i = 0; i < ROUNDS; i++)
		transfer_round(&e);
	check_nothing_left(&before);
}

static void connect_round(struct listener l)
{
	scif_epd_t epd = cts_fx_unbound(), accepted = -1;
	struct scif_portID from = {0}, at = l.at;

	CTS_REQUIRE(fcntl(epd, F_SETFL, O_NONBLOCK) == 0);
	CTS_ASSERT(cts_failed_with(CTS_RESULT(scif_connect(epd, &at)), EINPROGRESS));
	CTS_ASSERT(scif_accept(l.epd, &from, &accepted, SCIF_ACCEPT_SYNC) == 0);
	CTS_ASSERT(ends_collected(CTS_RESULT(scif_connect(epd, &at)), from.port));
	CTS_ASSERT(ends_talk(epd, accepted));
	CTS_ASSERT(scif_close(epd) == 0);
	CTS_ASSERT(scif_close(accepted) == 0);
}

SCENARIO(connect_leaves_nothing)
{
	cts_need("own_memory");
	struct listener l = ends_listen(2);

	for (int i = 0; i < WARM; i++)
		connect_round(l);
	struct cts_holdings before = cts_holdings();
	for (int i = 0; i < ROUNDS; i++)
		connect_round(l);
	check_nothing_left(&before);
}
