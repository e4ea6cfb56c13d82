/* SPDX-License-Identifier: BSD-2-Clause */
/* An implementation of which nothing is implemented: every call fails with ENOSYS. */
#include <errno.h>

#include "scif.h"
#include "scif_event.h"

static int refuse(void)
{
	errno = ENOSYS;
	return -1;
}

scif_epd_t scif_open(void)
{
	return refuse();
}

int scif_bind(scif_epd_t epd, uint16_t pn)
{
	(void)epd;
	(void)pn;
	return refuse();
}

int scif_listen(scif_epd_t epd, int backlog)
{
	(void)epd;
	(void)backlog;
	return refuse();
}

int scif_connect(scif_epd_t epd, struct scif_portID *dst)
{
	(void)epd;
	(void)dst;
	return refuse();
}

int scif_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	(void)epd;
	(void)peer;
	(void)newepd;
	(void)flags;
	return refuse();
}

int scif_close(scif_epd_t epd)
{
	(void)epd;
	return refuse();
}

int scif_send(scif_epd_t epd, void *msg, int len, int flags)
{
	(void)epd;
	(void)msg;
	(void)len;
	(void)flags;
	return refuse();
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
	return refuse();
}

int scif_unregister(scif_epd_t epd, off_t offset, size_t len)
{
	(void)epd;
	(void)offset;
	(void)len;
	return refuse();
}

void *scif_mmap(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd, off_t offset)
{
	(void)addr;
	(void)len;
	(void)prot_flags;
	(void)map_flags;
	(void)epd;
	(void)offset;
	refuse();
	return SCIF_MMAP_FAILED;
}

int scif_munmap(void *addr, size_t len)
{
	(void)addr;
	(void)len;
	return refuse();
}

int scif_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	(void)epd;
	(void)loffset;
	(void)len;
	(void)roffset;
	(void)rma_flags;
	return refuse();
}

int scif_writeto(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	return scif_readfrom(epd, loffset, len, roffset, rma_flags);
}

int scif_vreadfrom(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	(void)epd;
	(void)addr;
	(void)len;
	(void)roffset;
	(void)rma_flags;
	return refuse();
}

int scif_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	return scif_vreadfrom(epd, addr, len, roffset, rma_flags);
}

int scif_fence_mark(scif_epd_t epd, int flags, int *mark)
{
	(void)epd;
	(void)flags;
	(void)mark;
	return refuse();
}

int scif_fence_wait(scif_epd_t epd, int mark)
{
	(void)epd;
	(void)mark;
	return refuse();
}

int scif_fence_signal(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
		      int flags)
{
	(void)epd;
	(void)loff;
	(void)lval;
	(void)roff;
	(void)rval;
	(void)flags;
	return refuse();
}

int scif_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self)
{
	(void)nodes;
	(void)len;
	(void)self;
	return refuse();
}

int scif_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	(void)epds;
	(void)nepds;
	(void)timeout;
	return refuse();
}

int scif_event_register(scif_event_handler_t handler)
{
	(void)handler;
	return refuse();
}
