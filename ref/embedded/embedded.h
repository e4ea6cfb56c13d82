/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The operations of the embedded provider, one per SCIF call.  Each returns >= 0 on success and a
 * negative errno otherwise and leaves errno alone.
 */
#ifndef EMBEDDED_H
#define EMBEDDED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "scif.h"
#include "scif_event.h"

/* What opening an endpoint needs of the process, done once; 0 or a negative errno. */
int embedded_prepare(void);
int embedded_open(void);
int embedded_close(scif_epd_t epd);
int embedded_bind(scif_epd_t epd, uint16_t pn);
int embedded_listen(scif_epd_t epd, int backlog);
int embedded_connect(scif_epd_t epd, struct scif_portID *dst);
int embedded_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags);
int embedded_send(scif_epd_t epd, const void *msg, int len, int flags);
int embedded_recv(scif_epd_t epd, void *msg, int len, int flags);
int embedded_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout);

off_t embedded_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot,
			int map_flags);
int embedded_unregister(scif_epd_t epd, off_t offset, size_t len);
int embedded_mmap(void **pa, void *addr, size_t len, int prot, int map_flags, scif_epd_t epd,
		  off_t offset);
int embedded_munmap(void *addr, size_t len);
int embedded_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags);
int embedded_writeto(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags);
int embedded_vreadfrom(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags);
int embedded_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags);
int embedded_fence_mark(scif_epd_t epd, int flags, int *mark);
int embedded_fence_wait(scif_epd_t epd, int mark);
int embedded_fence_signal(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
			  int flags);

int embedded_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self);
int embedded_event_register(scif_event_handler_t handler);

#endif
