/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An implementation that claims success for every call and does nothing: counts are those asked
 * for, descriptors and ports are made up, a mapping is fresh memory.
 */
#include <sys/mman.h>

#include "plain_calls.h"

#define SOME_EPD    3
#define SOME_PORT   2000
#define SOME_OFFSET 0x4000000000000000

int plain_answer(void)
{
	return 0;
}

scif_epd_t scif_open(void)
{
	return SOME_EPD;
}

int scif_bind(scif_epd_t epd, uint16_t pn)
{
	(void)epd;
	return pn ? pn : SOME_PORT;
}

int scif_connect(scif_epd_t epd, struct scif_portID *dst)
{
	(void)epd;
	(void)dst;
	return SOME_PORT;
}

int scif_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	(void)epd;
	(void)flags;
	if (peer)
		*peer = (struct scif_portID){.node = 1, .port = SOME_PORT};
	if (newepd)
		*newepd = SOME_EPD + 1;
	return 0;
}

int scif_send(scif_epd_t epd, void *msg, int len, int flags)
{
	(void)epd;
	(void)msg;
	(void)flags;
	return len;
}

int scif_recv(scif_epd_t epd, void *msg, int len, int flags)
{
	(void)epd;
	(void)msg;
	(void)flags;
	return len;
}

off_t scif_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot_flags,
		    int map_flags)
{
	(void)epd;
	(void)addr;
	(void)len;
	(void)prot_flags;
	return map_flags & SCIF_MAP_FIXED ? offset : SOME_OFFSET;
}

void *scif_mmap(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd, off_t offset)
{
	static uint64_t page[512];
	void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)addr;
	(void)prot_flags;
	(void)map_flags;
	(void)epd;
	(void)offset;
	return memory == MAP_FAILED ? page : memory;
}

int scif_fence_mark(scif_epd_t epd, int flags, int *mark)
{
	(void)epd;
	(void)flags;
	if (mark)
		*mark = 0;
	return 0;
}

int scif_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self)
{
	if (nodes && len > 0)
		nodes[0] = 0;
	if (self)
		*self = 0;
	return 1;
}

int scif_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	unsigned int i;

	(void)timeout;
	for (i = 0; epds && i < nepds; i++)
		epds[i].revents = epds[i].events;
	return (int)nepds;
}
