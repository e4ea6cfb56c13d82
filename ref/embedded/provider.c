/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The operation table of the embedded provider: a whole SCIF network on one machine.
 */
#include "embedded.h"
#include "../scif/provider.h"

const struct scif_provider scif_provider_embedded = {
	.name = "embedded",
	.open = embedded_open,
	.close = embedded_close,
	.bind = embedded_bind,
	.listen = embedded_listen,
	.connect = embedded_connect,
	.accept = embedded_accept,
	.send = embedded_send,
	.recv = embedded_recv,
	.reg = embedded_register,
	.unreg = embedded_unregister,
	.mmap = embedded_mmap,
	.munmap = embedded_munmap,
	.readfrom = embedded_readfrom,
	.writeto = embedded_writeto,
	.vreadfrom = embedded_vreadfrom,
	.vwriteto = embedded_vwriteto,
	.fence_mark = embedded_fence_mark,
	.fence_wait = embedded_fence_wait,
	.fence_signal = embedded_fence_signal,
	.get_nodeIDs = embedded_get_nodeIDs,
	.poll = embedded_poll,
	.event_register = embedded_event_register,
};
