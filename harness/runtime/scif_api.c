/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCIF for the engine. The state probe: what every endpoint of the case looks like from here and
 * from its far end.
 */
#include "scif_endpoints.h"

#include "errname.h"
#include "functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

struct probe {
	int count;
	struct {
		int here, there; /* readiness bits; -1: not asked */
	} of[];
};

void cts_may_change(scif_epd_t epd)
{
	endpoint_find(epd)->may_change = true;
}

static void *scif_probe_take(void)
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

static bool scif_probe_same(const void *before, const void *after, char *why, size_t size)
{
	const struct probe *a = before, *b = after;

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

static void peer_ended(const struct cts_peer *p)
{
	for (int i = 0; i < endpoint_count; i++)
		if (endpoints[i].peer == p)
			endpoints[i].far = endpoints[i].listener = -1;
}

static void forget(void)
{
	endpoint_count = 0;
}

static int node_count(void)
{
	uint16_t self;
	int count = scif_get_nodeIDs(NULL, 0, &self);

	if (count == -1)
		cts_unresolved("scif_get_nodeIDs: %s", strerror(errno));
	return count;
}

static int self_node(void)
{
	uint16_t self = 0;

	if (scif_get_nodeIDs(NULL, 0, &self) == -1)
		cts_unresolved("scif_get_nodeIDs: %s", strerror(errno));
	return self;
}

static int use(void)
{
	return scif_open() == -1 ? errno : 0;
}

static bool returns_address(const char *function)
{
	return !strcmp(function, "scif_mmap");
}

static void hear_nothing(enum scif_event event, union scif_event_data data)
{
	(void)event;
	(void)data;
}

/* In a process of its own: a registration cannot be taken back. */
static bool offers_events(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(scif_event_register(hear_nothing) == -1 && errno == ENOSYS);
	while (pid > 0 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	return pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == 0;
}

static bool offers(const char *function)
{
	return strcmp(function, "scif_event_register") != 0 || offers_events();
}

const struct cts_api cts_api_scif = {
	.functions = scif_functions,
	.error_name = cts_errname,
	.error_number = cts_errnumber,
	.returns_address = returns_address,
	.offers = offers,
	.probe_take = scif_probe_take,
	.probe_same = scif_probe_same,
	.peer_ended = peer_ended,
	.forget = forget,
	.self_node = self_node,
	.node_count = node_count,
	.use = use,
};
