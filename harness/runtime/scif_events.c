/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers for scif_event_register that keep what they were told. */
#include "scif_endpoints.h"

#include <sched.h>

#define EVENT_MAX 64

static struct cts_event events[EVENT_MAX];
static atomic_int event_count, second_count;

void cts_event_handler(enum scif_event event, union scif_event_data data)
{
	int at = atomic_load(&event_count);

	if (at == EVENT_MAX)
		return;
	events[at] = (struct cts_event){
		.event = (int)event,
		.node = event == SCIF_NODE_ADDED ? data.scif_node_added : data.scif_node_removed,
	};
	/* Published after the entry is complete; handlers run one at a time. */
	atomic_store(&event_count, at + 1);
}

void cts_event_handler_second(enum scif_event event, union scif_event_data data)
{
	(void)event, (void)data;
	atomic_fetch_add(&second_count, 1);
}

int cts_event_count(void)
{
	return atomic_load(&event_count);
}

int cts_event_count_second(void)
{
	return atomic_load(&second_count);
}

struct cts_event cts_event_at(int i)
{
	if (i < 0 || i >= cts_event_count())
		cts_unresolved("event %d has not come", i);
	return events[i];
}

bool cts_event_wait(int event, int node)
{
	do {
		for (int i = 0; i < cts_event_count(); i++)
			if (events[i].event == event && events[i].node == node)
				return true;
		sched_yield();
	} while (cts_time_left());
	return false;
}
