/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_unregister on the embedded fabric. */
#include <errno.h>

#include "embedded.h"
#include "endpoint.h"
#include "mapping.h"
#include "window.h"

static int check_arguments(off_t offset, size_t len)
{
	if (!len || len % PAGE_BYTES || offset % PAGE_BYTES || offset < 0)
		return -EINVAL;
	return len > (size_t)INT64_MAX - offset ? -EINVAL : 0;
}

int embedded_unregister(scif_epd_t epd, off_t offset, size_t len)
{
	struct ep *ep;
	struct conn *c;
	int error = ep_get(epd, &ep);
	if (error)
		return error;
	error = check_arguments(offset, len);
	if (!error)
		error = ep_rma_ready(ep, &c);
	if (!error) {
		mapping_verify_wanted();
		window_collect();
		error = window_close(c, (uint64_t)offset >> PAGE_BITS, len >> PAGE_BITS);
	}
	ep_put(ep);
	return error;
}
