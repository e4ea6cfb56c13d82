/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of the peer process behind an endpoint that no window fixture made; `there` is its address
 * in that process. */
#ifndef CTS_FAR_MEMORY_H
#define CTS_FAR_MEMORY_H

#include "scenario.h"

uint64_t far_alloc(scif_epd_t epd, size_t len);
bool far_is(scif_epd_t epd, uint64_t there, size_t len, unsigned seed, size_t from);
bool far_is_byte(scif_epd_t epd, uint64_t there, size_t len, int byte);
/* scif_vreadfrom and scif_vwriteto by the peer on our windows, always SYNC. */
struct cts_result far_vreadfrom(scif_epd_t epd, uint64_t there, size_t len, off_t roff);
struct cts_result far_vwriteto(scif_epd_t epd, uint64_t there, size_t len, off_t roff);
struct cts_result far_register(scif_epd_t epd, uint64_t there, size_t len, off_t offset,
			       int prot); /* fixed */
struct cts_result far_unregister(scif_epd_t epd, off_t offset, size_t len);
struct cts_result far_mmap(scif_epd_t epd, uint64_t there, size_t len, int prot, int flags,
			   off_t offset);
/* The peer can register these offsets; undone again. */
bool far_offset_is_free(scif_epd_t epd, off_t offset, size_t len);

#endif
