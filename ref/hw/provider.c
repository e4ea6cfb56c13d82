/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The operation table of the driver provider.
 */
#include "hw.h"

const struct scif_provider scif_provider_hw = {
	.name = "hw",
	.open = hw_open,
	.close = hw_close,
	.bind = hw_bind,
	.listen = hw_listen,
	.connect = hw_connect,
	.accept = hw_accept,
	.send = hw_send,
	.recv = hw_recv,
	.reg = hw_register,
	.unreg = hw_unregister,
	.mmap = hw_mmap,
	.munmap = hw_munmap,
	.readfrom = hw_readfrom,
	.writeto = hw_writeto,
	.vreadfrom = hw_vreadfrom,
	.vwriteto = hw_vwriteto,
	.fence_mark = hw_fence_mark,
	.fence_wait = hw_fence_wait,
	.fence_signal = hw_fence_signal,
	.get_nodeIDs = hw_get_nodeIDs,
	.poll = hw_poll,
	.event_register = hw_event_register,
};
