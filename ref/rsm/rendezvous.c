/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ports of an id, claiming one of them, asking the holders of the others, and finding an
 * exporter.
 */
#include "rendezvous.h"

#include <errno.h>
#include <rsmapi.h>
#include <stdbool.h>
#include <stddef.h>

#include "endpoint.h"
#include "service.h"

enum { FIRST_PORT = 0x4000, PORT_COUNT = 0xc000, STEPS = 6143 };

/* More than ever connect at one moment; the kernel limits it further. */
enum { BACKLOG = 1024 };

/* Eight steps of at most STEPS do not go round, so the ports differ. */
_Static_assert(STEPS *RENDEZVOUS_PORTS <= PORT_COUNT, "ports of an id differ");

void rendezvous_ports(uint32_t segment_id, uint16_t ports[RENDEZVOUS_PORTS])
{
	uint64_t z = segment_id + UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	for (unsigned i = 0; i < RENDEZVOUS_PORTS; i++)
		ports[i] = (uint16_t)(FIRST_PORT +
				      (z % PORT_COUNT + i * (1 + (z >> 32) % STEPS)) % PORT_COUNT);
}

/* --- claiming --- */

static int listen_on(uint16_t port, scif_epd_t *listener)
{
	scif_epd_t epd = endpoint_open();
	int error = 0;

	if (epd < 0)
		return epd;
	if (scif_bind(epd, port) < 0 || scif_listen(epd, BACKLOG) != 0)
		error = -errno;
	if (error == 0)
		*listener = epd;
	else
		endpoint_close(epd);
	return error;
}

int rendezvous_bind(uint32_t segment_id, unsigned *index, scif_epd_t *listener)
{
	uint16_t ports[RENDEZVOUS_PORTS];
	int error = -EINVAL;

	rendezvous_ports(segment_id, ports);
	for (unsigned i = 0; i < RENDEZVOUS_PORTS && error == -EINVAL; i++) {
		*index = i;
		error = listen_on(ports[i], listener);
	}
	return error == -EINVAL ? -ENOSPC : error;
}

/* --- asking holders, all at the same time --- */

struct inquiry {
	scif_epd_t epd; /* -1: settled */
	struct scif_portID to;
	bool asked;
	unsigned char question[WIRE_SIZE], answer[WIRE_SIZE];
	int got;
};

/* 0 when the question is out, -EINPROGRESS, or that there is nobody (-ECONNREFUSED) or no memory.
 */
static int put_question(struct inquiry *q)
{
	int error = endpoint_connect(q->epd, q->to.node, q->to.port, 0, false);

	if (error != 0)
		return error == -ETIMEDOUT ? -EINPROGRESS : error;
	/* The connection is new, so there is room for the whole question. */
	error = endpoint_send(q->epd, q->question, WIRE_SIZE, 0, false);
	q->asked = error == 0;
	return error;
}

/*
 * One step forward: -EINPROGRESS there is more to come; 0 the holder does not have the id, or is
 * none of us; -EADDRINUSE it has; -ENOMEM.
 */
static int advance(struct inquiry *q)
{
	struct wire_message m;
	int n = q->asked ? 0 : put_question(q);

	if (n != 0)
		return n == -EINPROGRESS || n == -ENOMEM || n == -EMFILE ? n : 0;
	n = scif_recv(q->epd, q->answer + q->got, WIRE_SIZE - q->got, 0);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN || errno == ENOMEM ? -EINPROGRESS : 0;
	q->got += n;
	if (q->got < WIRE_SIZE)
		return -EINPROGRESS;
	if (wire_decode(&m, q->answer) && m.type == WIRE_HOLDER && m.status != RSM_SUCCESS)
		return -EADDRINUSE;
	return 0;
}

static int begin_inquiry(struct inquiry *q, uint16_t node, uint16_t port,
			 const struct wire_message *question)
{
	*q = (struct inquiry){.epd = endpoint_open(), .to = {.node = node, .port = port}};
	wire_encode(q->question, question);
	return q->epd < 0 ? q->epd : 0;
}

/* Drops those that are settled; the number of those that are not, or an error. */
static int advance_all(struct inquiry *all, unsigned count)
{
	int open = 0, result;

	for (unsigned i = 0; i < count; i++) {
		if (all[i].epd < 0)
			continue;
		result = advance(&all[i]);
		if (result == -EINPROGRESS) {
			open++;
			continue;
		}
		if (result != 0)
			return result;
		endpoint_close(all[i].epd);
		all[i].epd = -1;
	}
	return open;
}

static void wait_for_any(const struct inquiry *all, unsigned count, uint64_t left_ns)
{
	struct scif_pollepd p[RENDEZVOUS_PORTS];

	for (unsigned i = 0; i < count; i++)
		p[i] = (struct scif_pollepd){.epd = all[i].epd,
					     .events = all[i].asked ? SCIF_POLLIN : SCIF_POLLOUT};
	scif_poll(p, count, (long)((left_ns + 999999) / 1000000));
}

static int await_answers(struct inquiry *all, unsigned count)
{
	uint64_t now, deadline = service_now() + SERVICE_PATIENCE_NS;
	int open;

	while ((open = advance_all(all, count)) > 0) {
		now = service_now();
		/* Most likely a stopped publisher of this very id: two of one id must never be. */
		if (now >= deadline)
			return -EADDRINUSE;
		wait_for_any(all, count, deadline - now);
	}
	return open;
}

int rendezvous_ask(uint32_t segment_id, unsigned index)
{
	struct wire_message m = {.type = WIRE_ASK, .segment_id = segment_id, .index = index};
	struct inquiry all[RENDEZVOUS_PORTS];
	uint16_t ports[RENDEZVOUS_PORTS], self;
	unsigned count = 0;
	int error;

	if (scif_get_nodeIDs(NULL, 0, &self) < 0)
		return -errno;
	rendezvous_ports(segment_id, ports);
	error = 0;
	for (unsigned i = 0; i < RENDEZVOUS_PORTS && error == 0; i++)
		if (i != index)
			error = begin_inquiry(&all[count++], self, ports[i], &m);
	if (error == 0)
		error = await_answers(all, count);
	for (unsigned i = 0; i < count; i++)
		if (all[i].epd >= 0)
			endpoint_close(all[i].epd);
	return error;
}

/* --- finding an exporter --- */

static int receive(scif_epd_t epd, struct wire_message *m, uint64_t deadline)
{
	unsigned char bytes[WIRE_SIZE];
	int error = endpoint_receive(epd, bytes, sizeof(bytes), deadline, true);

	if (error != 0)
		return error;
	return wire_decode(m, bytes) && m->length == 0 ? 0 : -ECONNRESET;
}

/* Patience begins anew with every sign of life. */
static int exchange(scif_epd_t epd, const struct wire_message *request, struct wire_message *answer)
{
	unsigned char bytes[WIRE_SIZE];
	int error;

	wire_encode(bytes, request);
	error = endpoint_send(epd, bytes, sizeof(bytes), service_now() + SERVICE_PATIENCE_NS, true);
	do
		if (error == 0)
			error = receive(epd, answer, service_now() + SERVICE_PATIENCE_NS);
	while (error == 0 && answer->type == WIRE_WORKING);
	if (error != 0)
		return error;
	return answer->type == WIRE_ANSWER ? 0 : -ECONNRESET;
}

/*
 * One port: 0 its holder has an answer for us, -ENOENT it has not or there is none, -ETIMEDOUT it
 * was silent, or an error that ends the search.
 */
static int try_port(const struct scif_portID *to, const struct wire_message *request,
		    struct wire_message *answer, scif_epd_t *found)
{
	scif_epd_t epd = endpoint_open();
	int error;

	if (epd < 0)
		return epd;
	error = endpoint_connect(epd, to->node, to->port, service_now() + SERVICE_PATIENCE_NS,
				 true);
	if (error == 0)
		error = exchange(epd, request, answer);
	if (error == 0 && answer->status == RSMERR_SEG_NOT_PUBLISHED)
		error = -ENOENT;
	if (error == 0 && answer->status == RSM_SUCCESS) {
		*found = epd;
		return 0;
	}
	endpoint_close(epd);
	return error == -ECONNREFUSED || error == -ECONNRESET ? -ENOENT : error;
}

int rendezvous_find(uint16_t node, uint32_t segment_id, const struct wire_message *request,
		    struct wire_message *answer, scif_epd_t *epd)
{
	struct wire_message filled = *request;
	uint16_t ports[RENDEZVOUS_PORTS];
	bool silent = false;
	int error = -ENOENT;

	*epd = -1;
	filled.type = WIRE_CONNECT;
	filled.segment_id = segment_id;
	rendezvous_ports(segment_id, ports);
	for (unsigned i = 0; i < RENDEZVOUS_PORTS; i++) {
		struct scif_portID to = {.node = node, .port = ports[i]};

		error = try_port(&to, &filled, answer, epd);
		if (error == -ETIMEDOUT)
			silent = true;
		else if (error != -ENOENT)
			break;
	}
	if (error == -ENODEV)
		return -EHOSTUNREACH;
	if (error == -ETIMEDOUT || error == -ENOENT)
		return silent ? -EHOSTUNREACH : -ENOENT;
	return error;
}
