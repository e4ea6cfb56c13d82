/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that close endpoints.
 */
#include "closer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "endpoint.h"
#include "service.h"

/* Hardly any endpoint takes longer unless its peer is stopped. */
#define MOMENT_NS 200000000u

struct closing {
	struct endpoint_closing endpoint;
	struct closing *next;
	bool done;
	bool left; /* nobody waits for the thread any more: it frees this */
};

static struct closing *first; /* library lock */

static void forget(struct closing *c)
{
	struct closing **link = &first;

	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	free(c);
}

static void *close_it(void *arg)
{
	struct closing *c = arg;

	endpoint_close_long(&c->endpoint);
	service_lock();
	c->done = true;
	if (c->left)
		forget(c);
	service_changed();
	service_unlock();
	return NULL;
}

static void await(struct closing *c, pthread_t thread)
{
	uint64_t deadline = service_now() + MOMENT_NS;

	while (!c->done && service_wait(deadline, false) == 0)
		;
	if (!c->done) {
		c->left = true;
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	forget(c);
}

void closer_close(scif_epd_t epd)
{
	struct closing *c = calloc(1, sizeof(*c));
	pthread_t thread;

	if (c == NULL) {
		endpoint_close(epd);
		return;
	}
	c->next = first;
	first = c;
	endpoint_close_begin(&c->endpoint, epd);
	if (service_spawn(&thread, close_it, c) == 0) {
		await(c, thread);
	} else {
		endpoint_close_long(&c->endpoint);
		forget(c);
	}
}

void closer_atfork_child(void)
{
	while (first != NULL) {
		endpoint_close_copy(&first->endpoint);
		forget(first);
	}
}
