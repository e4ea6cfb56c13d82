/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_intr_signal_post: one signal to the other side of a segment.
 */
#include "signal_post.h"

#include <errno.h>

#include "export.h"
#include "handle.h"

int signal_exporter(struct import *m, bool accumulate)
{
	unsigned state = import_state(m);
	int error = -ECONNRESET;

	service_lock();
	if (state == CHANNEL_UP)
		error = channel_signal(&m->channel, accumulate);
	service_unlock();
	if (state == CHANNEL_NODE_LOST || error == -ENODEV)
		return RSMERR_REMOTE_NODE_UNREACHABLE;
	return error == 0 ? RSM_SUCCESS : RSMERR_CONN_ABORTED;
}

static int signal_importers(struct export *e, bool accumulate)
{
	service_lock();
	export_signal(e, accumulate);
	service_unlock();
	return RSM_SUCCESS;
}

int rsm_intr_signal_post(void *memseg, uint_t flags)
{
	bool accumulate = !(flags & RSM_SIGPOST_NO_ACCUMULATE);
	struct segment *s = handle_enter(memseg, SEGMENT_ANY);
	int result;

	if (s == NULL)
		return RSMERR_BAD_SEG_HNDL;
	if (s->kind == SEGMENT_EXPORT)
		result = signal_importers((struct export *)s, accumulate);
	else
		result = signal_exporter((struct import *)s, accumulate);
	handle_leave(s);
	return result;
}

void signal_send_rest(struct import *m)
{
	uint64_t deadline = service_now() + SERVICE_PATIENCE_NS;

	while (channel_unsent(&m->channel) && service_wait(deadline, false) == 0)
		;
}
