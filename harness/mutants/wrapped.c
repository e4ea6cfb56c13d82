/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes every call on.  All definitions are weak, so that a mutant replaces those it wants. */
#include "wrapped.h"

#include <dlfcn.h>

#define WEAK __attribute__((weak))

struct wrapped wrapped;

/* Programs that use no libscif are preloaded too, a shell for example; there is nothing to wrap then. */
static void find(void *pointer, const char *name)
{
	*(void **)pointer = dlsym(RTLD_NEXT, name);
}

WEAK void wrapped_found(void)
{
}

__attribute__((constructor)) static void find_all(void)
{
	find(&wrapped.open, "scif_open");
	find(&wrapped.bind, "scif_bind");
	find(&wrapped.listen, "scif_listen");
	find(&wrapped.connect, "scif_connect");
	find(&wrapped.accept, "scif_accept");
	find(&wrapped.close, "scif_close");
	find(&wrapped.send, "scif_send");
	find(&wrapped.recv, "scif_recv");
	find(&wrapped.reg, "scif_register");
	find(&wrapped.unreg, "scif_unregister");
	find(&wrapped.mmap, "scif_mmap");
	find(&wrapped.munmap, "scif_munmap");
	find(&wrapped.readfrom, "scif_readfrom");
	find(&wrapped.writeto, "scif_writeto");
	find(&wrapped.vreadfrom, "scif_vreadfrom");
	find(&wrapped.vwriteto, "scif_vwriteto");
	find(&wrapped.fence_mark, "scif_fence_mark");
	find(&wrapped.fence_wait, "scif_fence_wait");
	find(&wrapped.fence_signal, "scif_fence_signal");
	find(&wrapped.get_nodeIDs, "scif_get_nodeIDs");
	find(&wrapped.poll, "scif_poll");
	find(&wrapped.event_register, "scif_event_register");
	wrapped_found();
}

WEAK scif_epd_t scif_open(void)
{
	return wrapped.open();
}

WEAK int scif_bind(scif_epd_t epd, uint16_t pn)
{
	return wrapped.bind(epd, pn);
}

WEAK int scif_listen(scif_epd_t epd, int backlog)
{
	return wrapped.listen(epd, backlog);
}

WEAK int scif_connect(scif_epd_t epd, struct scif_portID *dst)
{
	return wrapped.connect(epd, dst);
}

WEAK int scif_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	return wrapped.accept(epd, peer, newepd, flags);
}

WEAK int scif_close(scif_epd_t epd)
{
	return wrapped.close(epd);
}

WEAK int scif_send(scif_epd_t epd, void *msg, int len, int flags)
{
	return wrapped.send(epd, msg, len, flags);
}

WEAK int scif_recv(scif_epd_t epd, void *msg, int len, int flags)
{
	return wrapped.recv(epd, msg, len, flags);
}

WEAK off_t scif_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot_flags,
			 int map_flags)
{
	return wrapped.reg(epd, addr, len, offset, prot_flags, map_flags);
}

WEAK int scif_unregister(scif_epd_t epd, off_t offset, size_t len)
{
	return wrapped.unreg(epd, offset, len);
}

WEAK void *scif_mmap(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd,
		     off_t offset)
{
	return wrapped.mmap(addr, len, prot_flags, map_flags, epd, offset);
}

WEAK int scif_munmap(void *addr, size_t len)
{
	return wrapped.munmap(addr, len);
}

WEAK int scif_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	return wrapped.readfrom(epd, loffset, len, roffset, rma_flags);
}

WEAK int scif_writeto(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	return wrapped.writeto(epd, loffset, len, roffset, rma_flags);
}

WEAK int scif_vreadfrom(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	return wrapped.vreadfrom(epd, addr, len, roffset, rma_flags);
}

WEAK int scif_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	return wrapped.vwriteto(epd, addr, len, roffset, rma_flags);
}

WEAK int scif_fence_mark(scif_epd_t epd, int flags, int *mark)
{
	return wrapped.fence_mark(epd, flags, mark);
}

WEAK int scif_fence_wait(scif_epd_t epd, int mark)
{
	return wrapped.fence_wait(epd, mark);
}

WEAK int scif_fence_signal(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
			   int flags)
{
	return wrapped.fence_signal(epd, loff, lval, roff, rval, flags);
}

WEAK int scif_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self)
{
	return wrapped.get_nodeIDs(nodes, len, self);
}

WEAK int scif_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	return wrapped.poll(epds, nepds, timeout);
}

WEAK int scif_event_register(scif_event_handler_t handler)
{
	return wrapped.event_register(handler);
}
