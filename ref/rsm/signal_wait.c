/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_intr_signal_wait: takes one signal of a segment. A disconnect or destroy in another thread
 * ends the wait: there is no such segment any more.
 */
#include "handle.h"
#include "import.h"

int rsm_intr_signal_wait(void *memseg, int timeout)
{
	struct segment *s = handle_enter(memseg, SEGMENT_ANY);
	int result;

	if (s == NULL)
		return RSMERR_BAD_SEG_HNDL;
	/* No signals without a connection; a failure is like an exporter that sends none. */
	if (s->kind == SEGMENT_IMPORT)
		import_attach((struct import *)s);
	result = event_wait(&s->events, timeout);
	handle_leave(s);
	return result;
}
