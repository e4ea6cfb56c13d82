/* SPDX-License-Identifier: BSD-2-Clause */
/* An implementation of which nothing is implemented: every call fails with ENOSYS. */
#include <errno.h>

#include "plain_calls.h"

int plain_answer(void)
{
	errno = ENOSYS;
	return -1;
}

scif_epd_t scif_open(void)
{
	return plain_answer();
}

int scif_bind(scif_epd_t epd, uint16_t pn)
{
	(void)epd;
	(void)pn;
	return plain_answer();
}

int scif_connect(scif_epd_t epd, struct scif_portID *dst)
{
	(void)epd;
	(void)dst;
	return plain_answer();
}

int scif_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	(void)epd;
	(void)peer;
	(void)newepd;
	(void)flags;
	return plain_answer();
}

int scif_send(scif_epd_t epd, void *msg, int len, int flags)
{
	(void)epd;
	(void)msg;
	(void)len;
	(void)flags;
	return plain_answer();
}

int scif_recv(scif_epd_t epd, void *msg, int len, int flags)
{
	return scif_send(epd, msg, len, flags);
}

off_t scif_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot_flags,
		    int map_flags)
{
	(void)epd;
	(void)addr;
	(void)len;
	(void)offset;
	(void)prot_flags;
	(void)map_flags;
	return plain_answer();
}

void *scif_mmap(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd, off_t offset)
{
	(void)addr;
	(void)len;
	(void)prot_flags;
	(void)map_flags;
	(void)epd;
	(void)offset;
	plain_answer();
	return SCIF_MMAP_FAILED;
}

int scif_fence_mark(scif_epd_t epd, int flags, int *mark)
{
	(void)epd;
	(void)flags;
	(void)mark;
	return plain_answer();
}

int scif_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self)
{
	(void)nodes;
	(void)len;
	(void)self;
	return plain_answer();
}

int scif_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	(void)epds;
	(void)nepds;
	(void)timeout;
	return plain_answer();
}
