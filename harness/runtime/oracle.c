/* SPDX-License-Identifier: BSD-2-Clause */
/* The state probe: what every endpoint of the case looks like from here and from its far end. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>

struct probe {
	int count;
	struct {
		int here, there; /* readiness bits; -1: not asked */
	} of[];
};

static bool grow_allowed;

void cts_may_grow(void)
{
	grow_allowed = true;
}

bool growth_allowed(void)
{
	return grow_allowed;
}

void cts_may_change(scif_epd_t epd)
{
	endpoint_find(epd)->may_change = true;
}

struct probe *probe_take(void)
{
	struct probe *p = calloc(1, sizeof *p + (size_t)endpoint_count * sizeof *p->of);

	p->count = endpoint_count;
	for (int i = 0; i < endpoint_count; i++) {
		const struct endpoint *e = &endpoints[i];
		bool asked = e->live && !e->may_change;

		p->of[i].here = asked ? cts_poll(e->epd, POLLIN | POLLOUT) : -1;
		p->of[i].there = asked && e->peer && e->far != -1
					 ? cts_far_poll(e->epd, POLLIN | POLLOUT)
					 : -1;
	}
	return p;
}

bool probe_same(const struct probe *a, const struct probe *b, char *why, size_t size)
{
	for (int i = 0; i < a->count; i++) {
		if (a->of[i].here != b->of[i].here) {
			snprintf(why, size, "readiness of endpoint %d went from %#x to %#x",
				 endpoints[i].epd, (unsigned)a->of[i].here,
				 (unsigned)b->of[i].here);
			return false;
		}
		if (a->of[i].there != b->of[i].there) {
			snprintf(why, size, "the peer of endpoint %d sees %#x, saw %#x",
				 endpoints[i].epd, (unsigned)b->of[i].there,
				 (unsigned)a->of[i].there);
			return false;
		}
	}
	return true;
}
