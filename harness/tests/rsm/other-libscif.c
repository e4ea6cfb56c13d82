/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another libscif: every call is counted and passed on to the library that OTHER_BELOW names, which
 * is loaded where nobody else can bind to it.  What was called is appended to the file that
 * OTHER_LOG names when the process ends, a line `NAME CALLS` for each.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "scif.h"

struct call {
	const char *what;
	void *below;
	_Atomic unsigned long times;
};

#define FUNCTION(name, result, parameters) CALL_##name,
enum {
#include "functions.def"
	CALLS
};
#undef FUNCTION
#define FUNCTION(name, result, parameters) [CALL_##name] = {.what = #name},
static struct call calls[CALLS] = {
#include "functions.def"
};
#undef FUNCTION

static __attribute__((constructor)) void load(void)
{
	void *library = dlopen(getenv("OTHER_BELOW"), RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		fprintf(stderr, "OTHER_BELOW: %s\n", dlerror());
		abort();
	}
	for (int i = 0; i < CALLS; i++)
		calls[i].below = dlsym(library, calls[i].what);
}

static __attribute__((destructor)) void tell(void)
{
	int fd = open(getenv("OTHER_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600);

	for (int i = 0; i < CALLS; i++)
		if (calls[i].times > 0)
			dprintf(fd, "%s %lu\n", calls[i].what, calls[i].times);
	close(fd);
}

/* The call of that name in the library below, counted. */
#define BELOW(name)                                                                                \
	(atomic_fetch_add(&calls[CALL_##name].times, 1),                                           \
	 (__typeof__(&name))calls[CALL_##name].below)

scif_epd_t scif_open(void)
{
	return BELOW(scif_open)();
}

int scif_close(scif_epd_t epd)
{
	return BELOW(scif_close)(epd);
}

int scif_bind(scif_epd_t epd, uint16_t pn)
{
	return BELOW(scif_bind)(epd, pn);
}

int scif_listen(scif_epd_t epd, int backlog)
{
	return BELOW(scif_listen)(epd, backlog);
}

int scif_connect(scif_epd_t epd, struct scif_portID *dst)
{
	return BELOW(scif_connect)(epd, dst);
}

int scif_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	return BELOW(scif_accept)(epd, peer, newepd, flags);
}

int scif_send(scif_epd_t epd, void *msg, int len, int flags)
{
	return BELOW(scif_send)(epd, msg, len, flags);
}

int scif_recv(scif_epd_t epd, void *msg, int len, int flags)
{
	return BELOW(scif_recv)(epd, msg, len, flags);
}

off_t scif_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot_flags,
		    int map_flags)
{
	return BELOW(scif_register)(epd, addr, len, offset, prot_flags, map_flags);
}

int scif_unregister(scif_epd_t epd, off_t offset, size_t len)
{
	return BELOW(scif_unregister)(epd, offset, len);
}

void *scif_mmap(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd, off_t offset)
{
	return BELOW(scif_mmap)(addr, len, prot_flags, map_flags, epd, offset);
}

int scif_munmap(void *addr, size_t len)
{
	return BELOW(scif_munmap)(addr, len);
}

int scif_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	return BELOW(scif_readfrom)(epd, loffset, len, roffset, rma_flags);
}

int scif_writeto(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	return BELOW(scif_writeto)(epd, loffset, len, roffset, rma_flags);
}

int scif_vreadfrom(scif_epd_t epd, void *addr, size_t len, off_t offset, int rma_flags)
{
	return BELOW(scif_vreadfrom)(epd, addr, len, offset, rma_flags);
}

int scif_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t offset, int rma_flags)
{
	return BELOW(scif_vwriteto)(epd, addr, len, offset, rma_flags);
}

int scif_fence_mark(scif_epd_t epd, int flags, int *mark)
{
	return BELOW(scif_fence_mark)(epd, flags, mark);
}

int scif_fence_wait(scif_epd_t epd, int mark)
{
	return BELOW(scif_fence_wait)(epd, mark);
}

int scif_fence_signal(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
		      int flags)
{
	return BELOW(scif_fence_signal)(epd, loff, lval, roff, rval, flags);
}

int scif_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self)
{
	return BELOW(scif_get_nodeIDs)(nodes, len, self);
}

int scif_poll(struct scif_pollepd *ufds, unsigned int nfds, long timeout_msecs)
{
	return BELOW(scif_poll)(ufds, nfds, timeout_msecs);
}
