/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables for results of SCIF calls, filled with what no call would leave by chance. */
#include "scif_endpoints.h"

scif_epd_t cts_fx_epd_out(void)
{
	return -77;
}

uint16_t cts_fx_node_out(void)
{
	return 0xa5a5;
}

struct scif_portID cts_fx_port_out(void)
{
	return (struct scif_portID){.node = 0xa5a5, .port = 0xa5a5};
}

uint16_t *cts_fx_node_ids(size_t entries)
{
	uint16_t *ids = (void *)cts_fx_guarded(entries * sizeof *ids);

	for (size_t i = 0; i < entries; i++)
		ids[i] = 0xa5a5;
	return ids;
}

struct scif_pollepd cts_fx_pollepd(scif_epd_t epd, int events)
{
	return (struct scif_pollepd){.epd = epd, .events = (short)events, .revents = 0x5a5a};
}

struct scif_pollepd *cts_fx_pollset(size_t entries)
{
	struct scif_pollepd *set = (void *)cts_fx_buffer(entries * sizeof *set);

	for (size_t i = 0; i < entries; i++)
		set[i] = (struct scif_pollepd){.epd = -1, .revents = 0x5a5a};
	return set;
}

int cts_fx_mark(scif_epd_t epd, int flags)
{
	int mark;

	if (scif_fence_mark(epd, flags, &mark) == -1)
		cts_unresolved("scif_fence_mark: %s", strerror(errno));
	return mark;
}
