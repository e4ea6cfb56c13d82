/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider that hands every call to a card's driver and adds nothing to it but what the real
 * user library adds.  Each operation returns >= 0 on success and a negative errno otherwise.
 */
#ifndef HW_H
#define HW_H

#include <stdbool.h>

#include "../scif/provider.h"
#include "device.h"

/* A driver's own request numbers; those that both have are in driver.h. */
struct hw_encoding {
	unsigned acceptreq, send, recv, reg, unreg, readfrom, writeto, vreadfrom, vwriteto;
	unsigned fence_mark, fence_signal;
	int (*get_nodes)(int fd, uint16_t *nodes, int len, uint16_t *self);
};

/* The driver in use, fixed for the life of the process. */
struct hw_driver {
	const struct hw_encoding *encoding;
	bool mismatched;
	char path[];
};

/* Fixes the driver.  Returns 0 or -ENOMEM. */
int hw_use(const struct hw_device *device);
const struct hw_driver *hw_driver(void);

/* A new endpoint's descriptor; not close-on-exec. */
int hw_open_device(void);
int hw_request(int fd, unsigned request, void *argument);

int hw_open(void);
int hw_close(scif_epd_t epd);
int hw_bind(scif_epd_t epd, uint16_t pn);
int hw_listen(scif_epd_t epd, int backlog);
int hw_connect(scif_epd_t epd, struct scif_portID *dst);
int hw_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags);
int hw_send(scif_epd_t epd, const void *msg, int len, int flags);
int hw_recv(scif_epd_t epd, void *msg, int len, int flags);
int hw_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout);
int hw_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self);
int hw_event_register(scif_event_handler_t handler);

off_t hw_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot, int map_flags);
int hw_unregister(scif_epd_t epd, off_t offset, size_t len);
int hw_mmap(void **pa, void *addr, size_t len, int prot, int map_flags, scif_epd_t epd,
	    off_t offset);
int hw_munmap(void *addr, size_t len);
int hw_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags);
int hw_writeto(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags);
int hw_vreadfrom(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags);
int hw_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags);
int hw_fence_mark(scif_epd_t epd, int flags, int *mark);
int hw_fence_wait(scif_epd_t epd, int mark);
int hw_fence_signal(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
		    int flags);

#endif
