/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers that connect, register, send and close without end, one of which is killed at a random
 * moment again and again: whatever lock it held, the others and who serves them go on, and its port
 * is free.
 */
#include "ends.h"

#include <stdatomic.h>
#include <stdlib.h>

#define WORKERS 3
#define BYTES	64
#define STOP	((off_t)-1) /* instead of the offset of a window */

struct worker {
	uint16_t port;
	struct scif_portID server;
	unsigned char *memory; /* a page, pattern 2 */
	atomic_long *done;     /* rounds; -1: something was wrong */
	pid_t pid;
};

/* One life of an endpoint: a window is shown, read by the server, and taken back. */
static bool work_once(const struct worker *w)
{
	scif_epd_t epd = scif_open();
	size_t page = cts_page_size();
	char byte;

	if (epd < 0 || scif_bind(epd, w->port) != w->port ||
	    scif_connect(epd, (struct scif_portID *)&w->server) != w->port)
		return false;
	off_t offset = scif_register(epd, w->memory, page, 0, SCIF_PROT_READ, 0);
	return offset != SCIF_REGISTER_FAILED &&
	       scif_send(epd, &offset, sizeof offset, SCIF_SEND_BLOCK) == sizeof offset &&
	       scif_recv(epd, &byte, 1, SCIF_RECV_BLOCK) == 1 &&
	       scif_unregister(epd, offset, page) == 0 && scif_close(epd) == 0;
}

static int work_on(void *arg)
{
	struct worker *w = arg;

	while (work_once(w))
		atomic_fetch_add(w->done, 1);
	atomic_store(w->done, -1);
	return 1;
}

struct server {
	struct listener at;
	bool stop;
	atomic_long wrong; /* bytes that were not those of the window */
};

static bool may_end_so(int err)
{
	return err == ECONNRESET || err == ENOTCONN || err == ENODEV || err == ENXIO;
}

/* Its client may die anywhere in between, and then a call says so. */
static struct cts_result serve_one(struct server *s, scif_epd_t epd)
{
	unsigned char seen[BYTES];
	off_t offset;
	struct cts_result r = CTS_RESULT(scif_recv(epd, &offset, sizeof offset, SCIF_RECV_BLOCK));

	s->stop = r.ret == sizeof offset && offset == STOP;
	if (r.ret != sizeof offset || s->stop)
		return r.ret >= 0 ? (struct cts_result){0, 0} : r;
	r = CTS_RESULT(scif_vreadfrom(epd, seen, BYTES, offset, SCIF_RMA_SYNC));
	if (r.ret == 0 && !cts_is_pattern(seen, BYTES, 2))
		atomic_fetch_add(&s->wrong, 1);
	if (r.ret == 0)
		r = CTS_RESULT(scif_send(epd, "", 1, SCIF_SEND_BLOCK));
	/* The client closes first: it still has a window to take back. */
	return r.ret == 1 ? CTS_RESULT(scif_recv(epd, seen, 1, SCIF_RECV_BLOCK)) : r;
}

static struct cts_result serve(void *arg)
{
	struct server *s = arg;

	while (!s->stop) {
		struct scif_portID from;
		scif_epd_t epd;
		struct cts_result r =
			CTS_RESULT(scif_accept(s->at.epd, &from, &epd, SCIF_ACCEPT_SYNC));

		if (r.ret != 0 && !ends_driver())
			return r;
		if (r.ret != 0)
			continue;
		r = serve_one(s, epd);
		if (r.ret == -1 && !may_end_so(r.err))
			return r;
		scif_close(epd);
	}
	return (struct cts_result){0, 0};
}

static void check_progress(const struct worker *workers)
{
	for (int i = 0; i < WORKERS; i++) {
		long then = atomic_load(workers[i].done);

		while (atomic_load(workers[i].done) < then + 2) {
			CTS_ASSERT(atomic_load(workers[i].done) != -1);
			if (!cts_time_left())
				cts_fail("worker %d makes no progress after another was killed", i);
			cts_let_pass_us(200);
		}
	}
}

static void check_port(uint16_t port)
{
	scif_epd_t epd = scif_open();

	CTS_ASSERT(scif_bind(epd, port) == port);
	CTS_ASSERT(scif_close(epd) == 0);
}

/* Ports that nobody has, each another one. */
static void free_ports(uint16_t *ports)
{
	scif_epd_t epds[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		epds[i] = scif_open();
		int port = scif_bind(epds[i], 0);

		CTS_REQUIRE(port > 0);
		ports[i] = (uint16_t)port;
	}
	for (int i = 0; i < WORKERS; i++)
		CTS_REQUIRE(scif_close(epds[i]) == 0);
}

static void workers_begin(struct worker *workers, struct scif_portID server)
{
	atomic_long *done = mmap(NULL, cts_page_size(), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	uint16_t ports[WORKERS];

	CTS_REQUIRE(done != MAP_FAILED);
	free_ports(ports);
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){.port = ports[i],
					     .server = server,
					     .memory = cts_fx_pages(1),
					     .done = &done[i]};
		workers[i].pid = cts_fork(work_on, &workers[i]);
	}
}

static void server_end(struct server *s, struct cts_thread *serving)
{
	scif_epd_t epd = cts_fx_unbound();
	off_t stop = STOP;

	CTS_ASSERT(CTS_OBSERVE(scif_connect(epd, &s->at.at)).ret > 0);
	CTS_ASSERT(scif_send(epd, &stop, sizeof stop, SCIF_SEND_BLOCK) == sizeof stop);
	CTS_ASSERT(cts_join(serving).ret == 0);
	CTS_ASSERT(atomic_load(&s->wrong) == 0);
}

SCENARIO(x20_killed_worker)
{
	struct server server = {.at = ends_listen(2 * WORKERS)};
	struct worker workers[WORKERS];
	unsigned seed = 1;

	workers_begin(workers, server.at.at);
	struct cts_thread *serving = cts_thread_start(serve, &server);
	check_progress(workers);
	for (long i = cts_param("rounds"); i > 0; i--) {
		struct worker *doomed = &workers[i % WORKERS];

		cts_let_pass_us((unsigned)rand_r(&seed) % 500);
		cts_kill_child(doomed->pid);
		check_port(doomed->port);
		doomed->pid = cts_fork(work_on, doomed);
		check_progress(workers);
	}
	for (int i = 0; i < WORKERS; i++)
		cts_kill_child(workers[i].pid);
	server_end(&server, serving);
}
