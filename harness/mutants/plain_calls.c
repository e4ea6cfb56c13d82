/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that have only their result to answer with. */
#include "plain_calls.h"

int scif_listen(scif_epd_t epd, int backlog)
{
	(void)epd;
	(void)backlog;
	return plain_answer();
}

int scif_close(scif_epd_t epd)
{
	(void)epd;
	return plain_answer();
}

int scif_unregister(scif_epd_t epd, off_t offset, size_t len)
{
	(void)epd;
	(void)offset;
	(void)len;
	return plain_answer();
}

int scif_munmap(void *addr, size_t len)
{
	(void)addr;
	(void)len;
	return plain_answer();
}

int scif_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	(void)epd;
	(void)loffset;
	(void)len;
	(void)roffset;
	(void)rma_flags;
	return plain_answer();
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
	return plain_answer();
}

int scif_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	return scif_vreadfrom(epd, addr, len, roffset, rma_flags);
}

int scif_fence_wait(scif_epd_t epd, int mark)
{
	(void)epd;
	(void)mark;
	return plain_answer();
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
	return plain_answer();
}

int scif_event_register(scif_event_handler_t handler)
{
	(void)handler;
	return plain_answer();
}
