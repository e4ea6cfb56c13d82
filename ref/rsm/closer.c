/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints that are being closed.
 */
#include "closer.h"

#include <stdbool.h>
#include <stddef.h>

#include "service.h"

static struct closing *first; /* library lock */

static void finish(struct closing *c)
{
	struct closing **link = &first;

	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	c->closed(c);
	service_changed();
}

static void run(struct errand *e)
{
	struct closing *c = (struct closing *)((char *)e - offsetof(struct closing, errand));

	endpoint_close_long(&c->endpoint);
	service_lock();
	finish(c);
	service_unlock();
}

void closer_close(struct closing *c, scif_epd_t epd, const void *owner,
		  void (*closed)(struct closing *c))
{
	c->errand.run = run;
	c->errand.peer_may_hold = true;
	c->owner = owner;
	c->closed = closed;
	c->next = first;
	first = c;
	endpoint_close_begin(&c->endpoint, epd);
	if (errand_send(&c->errand) == 0)
		return;
	endpoint_close_long(&c->endpoint);
	finish(c);
}

static bool any_of(const void *owner)
{
	const struct closing *c = first;

	while (c != NULL && c->owner != owner)
		c = c->next;
	return c != NULL;
}

void closer_await(const void *owner, uint64_t deadline)
{
	while (any_of(owner) && service_wait(deadline, false) == 0)
		;
}

void closer_disown(const void *owner)
{
	for (struct closing *c = first; c != NULL; c = c->next)
		if (c->owner == owner)
			c->owner = NULL;
}

void closer_atfork_child(void)
{
	struct closing *c;

	while ((c = first) != NULL) {
		first = c->next;
		endpoint_close_copy(&c->endpoint);
		c->closed(c);
	}
}
