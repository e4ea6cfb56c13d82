/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers that the exporter carries out for an importer who cannot be given its pages: a message
 * there, a message back.
 */
#include <errno.h>
#include <string.h>

#include "import.h"

struct relay_request {
	struct relay_request *next;
	uint32_t serial;
	void *data; /* where the bytes of a get go, or NULL */
	size_t n;
	bool done;
	int error;
};

static void add(struct import *m, struct relay_request *r)
{
	r->next = m->requests;
	m->requests = r;
}

static void drop(struct import *m, struct relay_request *r)
{
	struct relay_request **link = &m->requests;

	while (*link != NULL && *link != r)
		link = &(*link)->next;
	if (*link != NULL)
		*link = r->next;
}

void relay_done(struct import *m, const struct wire_message *answer, const void *payload)
{
	struct relay_request *r = m->requests;

	while (r != NULL && r->serial != answer->serial)
		r = r->next;
	/* Of a call that a signal has ended. */
	if (r == NULL)
		return;
	if (answer->status != RSM_SUCCESS || (r->data != NULL && answer->length != r->n))
		r->error = -EIO;
	else if (r->data != NULL)
		memcpy(r->data, payload, r->n);
	r->done = true;
	service_changed();
}

/* Lock held. An exporter that does not answer is as good as none. */
static int await(struct import *m, struct relay_request *r, bool interruptible)
{
	uint64_t deadline = service_now() + SERVICE_PATIENCE_NS;
	int error = 0;

	while (!r->done && error == 0) {
		if (m->segment.closing)
			error = -ECANCELED;
		else if (atomic_load(&m->channel.state) != CHANNEL_UP)
			error = -ECONNRESET;
		else
			error = service_wait(deadline, interruptible);
	}
	if (r->done)
		return r->error;
	if (error == -ETIMEDOUT) {
		channel_end(&m->channel, CHANNEL_LOST);
		service_changed();
		error = -ECONNRESET;
	}
	return error;
}

static int exchange(struct import *m, struct wire_message *question, const void *payload, size_t n,
		    struct relay_request *r, bool interruptible)
{
	int error;

	service_lock();
	r->serial = question->serial = ++m->last_serial;
	add(m, r);
	error = channel_send(&m->channel, question, payload, n);
	if (error == 0)
		error = await(m, r, interruptible);
	drop(m, r);
	service_unlock();
	return error == -ENODEV ? -ECONNRESET : error;
}

int relay_put(struct import *m, off_t offset, const void *data, size_t n, bool interruptible)
{
	struct wire_message question = {.type = WIRE_PUT, .offset = (uint64_t)offset};
	struct relay_request r = {.n = n};

	return exchange(m, &question, data, n, &r, interruptible);
}

int relay_get(struct import *m, off_t offset, void *data, size_t n, bool interruptible)
{
	struct wire_message question = {.type = WIRE_GET, .offset = (uint64_t)offset, .size = n};
	struct relay_request r = {.data = data, .n = n};

	return exchange(m, &question, NULL, 0, &r, interruptible);
}
