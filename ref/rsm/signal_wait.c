/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_intr_signal_wait: takes one signal of a segment. A disconnect or destroy in another thread
 * ends the wait: there is no such segment any more.
 */
#include "export.h"
#include "handle.h"
#include "import.h"

/*
 * A signal that was posted before this call is there for it, and one that must not accumulate finds
 * the one that this call is about to take. Without a connection there are no signals; a failure to
 * make one is like an exporter that sends none.
 */
static void take_input(struct segment *s)
{
	if (s->kind == SEGMENT_IMPORT)
		import_attach((struct import *)s);
	service_lock();
	segment_take_input(s);
	service_unlock();
}

void segment_take_input(struct segment *s)
{
	if (s->kind == SEGMENT_IMPORT)
		channel_take_input(&((struct import *)s)->channel);
	else
		export_take_input((struct export *)s);
}

int rsm_intr_signal_wait(void *memseg, int timeout)
{
	struct segment *s = handle_enter(memseg, SEGMENT_ANY);
	int result;

	if (s == NULL)
		return RSMERR_BAD_SEG_HNDL;
	take_input(s);
	result = event_wait(&s->events, timeout);
	handle_leave(s);
	return result;
}
