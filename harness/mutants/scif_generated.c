/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generated mutants of libscif: one error of one call comes back as another one, or the call
 * goes through instead.  It goes through in earnest where the argument can be repaired; where it
 * cannot, the caller is told what a call with good arguments would have told.
 */
#include "scif_generated.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "mutant.h"

#define SOME_PORT   2000
#define SOME_NUMBER 1000
#define SOME_OFFSET 0x4000000000000000
#define PAGE	    4096L
#define SCRATCH	    65536

static struct wrapped real;

/* Whether it was memory that the call has refused. */
static _Thread_local bool bad_memory;

/* Whether the call failed with the error that the mutant gets wrong and shall go through. */
static bool goes_through(bool failed)
{
	if (!failed || !mutant_strikes(errno))
		return false;
	bad_memory = errno == EFAULT;
	if (!mutant.replacement)
		return true;
	errno = mutant.replacement;
	return false;
}

static off_t down(off_t at)
{
	return at & -PAGE;
}

static size_t up(size_t length)
{
	return length ? (length + PAGE - 1) & -PAGE : PAGE;
}

/* What is made up for an endpoint: a descriptor of another kind, or a number where none is left. */
static scif_epd_t some_descriptor(void)
{
	int descriptor = eventfd(0, EFD_CLOEXEC);

	return descriptor >= 0 ? descriptor : SOME_NUMBER;
}

static scif_epd_t open_mutant(void)
{
	scif_epd_t epd = real.open();

	return goes_through(epd == SCIF_OPEN_FAILED) ? some_descriptor() : epd;
}

static int bind_mutant(scif_epd_t epd, uint16_t pn)
{
	int port = real.bind(epd, pn);

	if (!goes_through(port < 0))
		return port;
	port = real.bind(epd, 0);
	return pn ? pn : port > 0 ? port : SOME_PORT;
}

static int listen_mutant(scif_epd_t epd, int backlog)
{
	int result = real.listen(epd, backlog);

	return goes_through(result < 0) ? 0 : result;
}

static int connect_mutant(scif_epd_t epd, struct scif_portID *dst)
{
	int port = real.connect(epd, dst);

	return goes_through(port < 0) ? SOME_PORT : port;
}

static int accept_mutant(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	int result = real.accept(epd, peer, newepd, flags);

	if (!goes_through(result < 0))
		return result;
	if (flags & ~SCIF_ACCEPT_SYNC &&
	    real.accept(epd, peer, newepd, flags & SCIF_ACCEPT_SYNC) == 0)
		return 0;
	if (peer && newepd && !bad_memory) {
		*peer = (struct scif_portID){.node = 1, .port = SOME_PORT};
		*newepd = some_descriptor();
	}
	return 0;
}

static int close_mutant(scif_epd_t epd)
{
	int result = real.close(epd);

	return goes_through(result < 0) ? 0 : result;
}

static int send_mutant(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = real.send(epd, msg, len, flags);
	char scratch[SCRATCH] = "";

	if (!goes_through(count < 0))
		return count;
	if (bad_memory && len > 0 && len <= SCRATCH)
		real.send(epd, scratch, len, 0);
	else if (flags & ~SCIF_SEND_BLOCK)
		real.send(epd, msg, len, 0);
	return len < 0 ? 0 : len;
}

static int recv_mutant(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = real.recv(epd, msg, len, flags);
	char scratch[SCRATCH];

	if (!goes_through(count < 0))
		return count;
	if (bad_memory && len > 0 && len <= SCRATCH)
		real.recv(epd, scratch, len, 0);
	else if (flags & ~SCIF_RECV_BLOCK)
		real.recv(epd, msg, len, 0);
	return len < 0 ? 0 : len;
}

static off_t register_mutant(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot_flags,
			     int map_flags)
{
	off_t at = real.reg(epd, addr, len, offset, prot_flags, map_flags);
	int prot = prot_flags & (SCIF_PROT_READ | SCIF_PROT_WRITE);

	if (!goes_through(at == SCIF_REGISTER_FAILED))
		return at;
	at = real.reg(epd, (void *)down((off_t)addr), up(len), down(offset),
		      prot ? prot : SCIF_PROT_READ, map_flags & SCIF_MAP_FIXED);
	if (at == SCIF_REGISTER_FAILED)
		at = SOME_OFFSET;
	return map_flags & SCIF_MAP_FIXED ? offset : at;
}

static int unregister_mutant(scif_epd_t epd, off_t offset, size_t len)
{
	int result = real.unreg(epd, offset, len);

	if (!goes_through(result < 0))
		return result;
	real.unreg(epd, down(offset), up(len));
	return 0;
}

static void *mmap_mutant(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd,
			 off_t offset)
{
	static char page[PAGE];
	void *memory = real.mmap(addr, len, prot_flags, map_flags, epd, offset);

	if (!goes_through(memory == SCIF_MMAP_FAILED))
		return memory;
	memory = real.mmap(NULL, up(len), SCIF_PROT_READ, 0, epd, down(offset));
	return memory == SCIF_MMAP_FAILED ? page : memory;
}

static int munmap_mutant(void *addr, size_t len)
{
	int result = real.munmap(addr, len);

	if (!goes_through(result < 0))
		return result;
	real.munmap((void *)down((off_t)addr), up(len));
	return 0;
}

/* The flags that a transfer has; another one is what the check would have refused. */
#define RMA_FLAGS (SCIF_RMA_USECPU | SCIF_RMA_USECACHE | SCIF_RMA_SYNC | SCIF_RMA_ORDERED)

static int readfrom_mutant(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	int result = real.readfrom(epd, loffset, len, roffset, rma_flags);

	if (!goes_through(result < 0))
		return result;
	if (rma_flags & ~RMA_FLAGS)
		real.readfrom(epd, loffset, len, roffset, rma_flags & RMA_FLAGS);
	return 0;
}

static int writeto_mutant(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	int result = real.writeto(epd, loffset, len, roffset, rma_flags);

	if (!goes_through(result < 0))
		return result;
	if (rma_flags & ~RMA_FLAGS)
		real.writeto(epd, loffset, len, roffset, rma_flags & RMA_FLAGS);
	return 0;
}

static int vreadfrom_mutant(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	int result = real.vreadfrom(epd, addr, len, roffset, rma_flags);

	if (!goes_through(result < 0))
		return result;
	if (rma_flags & ~RMA_FLAGS)
		real.vreadfrom(epd, addr, len, roffset, rma_flags & RMA_FLAGS);
	return 0;
}

static int vwriteto_mutant(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	int result = real.vwriteto(epd, addr, len, roffset, rma_flags);

	if (!goes_through(result < 0))
		return result;
	if (rma_flags & ~RMA_FLAGS)
		real.vwriteto(epd, addr, len, roffset, rma_flags & RMA_FLAGS);
	return 0;
}

static int fence_mark_mutant(scif_epd_t epd, int flags, int *mark)
{
	int result = real.fence_mark(epd, flags, mark);

	if (!goes_through(result < 0))
		return result;
	if (!bad_memory && mark && real.fence_mark(epd, SCIF_FENCE_INIT_SELF, mark) < 0)
		*mark = 0;
	return 0;
}

static int fence_wait_mutant(scif_epd_t epd, int mark)
{
	int result = real.fence_wait(epd, mark);

	return goes_through(result < 0) ? 0 : result;
}

static int fence_signal_mutant(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
			       int flags)
{
	int result = real.fence_signal(epd, loff, lval, roff, rval, flags);

	if (!goes_through(result < 0))
		return result;
	real.fence_signal(epd, loff, lval, roff, rval,
			  SCIF_FENCE_INIT_SELF |
				  (flags & (SCIF_SIGNAL_LOCAL | SCIF_SIGNAL_REMOTE)));
	return 0;
}

static int get_nodeIDs_mutant(uint16_t *nodes, int len, uint16_t *self)
{
	int count = real.get_nodeIDs(nodes, len, self);

	return goes_through(count < 0) ? 1 : count;
}

static int poll_mutant(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	int count = real.poll(epds, nepds, timeout);

	return goes_through(count < 0) ? nepds > 0 : count;
}

static int event_register_mutant(scif_event_handler_t handler)
{
	int result = real.event_register(handler);

	return goes_through(result < 0) ? 0 : result;
}

void scif_generated_install(void)
{
	static const struct {
		const char *function;
		void *call, *mutant;
	} calls[] = {
		{"scif_open", &wrapped.open, open_mutant},
		{"scif_bind", &wrapped.bind, bind_mutant},
		{"scif_listen", &wrapped.listen, listen_mutant},
		{"scif_connect", &wrapped.connect, connect_mutant},
		{"scif_accept", &wrapped.accept, accept_mutant},
		{"scif_close", &wrapped.close, close_mutant},
		{"scif_send", &wrapped.send, send_mutant},
		{"scif_recv", &wrapped.recv, recv_mutant},
		{"scif_register", &wrapped.reg, register_mutant},
		{"scif_unregister", &wrapped.unreg, unregister_mutant},
		{"scif_mmap", &wrapped.mmap, mmap_mutant},
		{"scif_munmap", &wrapped.munmap, munmap_mutant},
		{"scif_readfrom", &wrapped.readfrom, readfrom_mutant},
		{"scif_writeto", &wrapped.writeto, writeto_mutant},
		{"scif_vreadfrom", &wrapped.vreadfrom, vreadfrom_mutant},
		{"scif_vwriteto", &wrapped.vwriteto, vwriteto_mutant},
		{"scif_fence_mark", &wrapped.fence_mark, fence_mark_mutant},
		{"scif_fence_wait", &wrapped.fence_wait, fence_wait_mutant},
		{"scif_fence_signal", &wrapped.fence_signal, fence_signal_mutant},
		{"scif_get_nodeIDs", &wrapped.get_nodeIDs, get_nodeIDs_mutant},
		{"scif_poll", &wrapped.poll, poll_mutant},
		{"scif_event_register", &wrapped.event_register, event_register_mutant},
	};
	size_t i;

	real = wrapped;
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strcmp(calls[i].function, mutant.function) == 0) {
			*(void **)calls[i].call = calls[i].mutant;
			return;
		}
	}
	mutant_unknown(mutant.function);
}
