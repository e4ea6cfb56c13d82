/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one seam below the SCIF entry points: a table of operations.  An operation returns a value >=
 * 0 on success and a negative errno otherwise; the entry points turn that into errno and the
 * documented failure value.
 */
#ifndef SCIF_PROVIDER_H
#define SCIF_PROVIDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Everything is hidden but what the public headers declare. */
#pragma GCC visibility push(default)
#include "scif.h"
#include "scif_event.h"
#pragma GCC visibility pop

struct scif_provider {
	const char *name;
	int (*open)(void);
	int (*close)(scif_epd_t epd);
	int (*bind)(scif_epd_t epd, uint16_t pn);
	int (*listen)(scif_epd_t epd, int backlog);
	int (*connect)(scif_epd_t epd, struct scif_portID *dst);
	int (*accept)(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags);
	int (*send)(scif_epd_t epd, const void *msg, int len, int flags);
	int (*recv)(scif_epd_t epd, void *msg, int len, int flags);
	off_t (*reg)(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot, int map_flags);
	int (*unreg)(scif_epd_t epd, off_t offset, size_t len);
	int (*mmap)(void **pa, void *addr, size_t len, int prot, int map_flags, scif_epd_t epd,
		    off_t offset);
	int (*munmap)(void *addr, size_t len);
	int (*readfrom)(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags);
	int (*writeto)(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags);
	int (*vreadfrom)(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags);
	int (*vwriteto)(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags);
	int (*fence_mark)(scif_epd_t epd, int flags, int *mark);
	int (*fence_wait)(scif_epd_t epd, int mark);
	int (*fence_signal)(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
			    int flags);
	int (*get_nodeIDs)(uint16_t *nodes, int len, uint16_t *self);
	int (*poll)(struct scif_pollepd *epds, unsigned int nepds, long timeout);
	int (*event_register)(scif_event_handler_t handler);
};

extern const struct scif_provider scif_provider_embedded;
extern const struct scif_provider scif_provider_hw;

/*
 * The provider in use, chosen at the first success, which leaves errno alone.  NULL with errno ENXIO
 * when SCIF_PROVIDER names none or one that is absent, or with the shortage that kept a driver from
 * being asked.
 */
const struct scif_provider *scif_provider(void);

#endif
