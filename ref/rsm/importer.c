/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the exporter says on the connection: the segment moves, the connection ends, a signal, the
 * answer to a relayed transfer.
 */
#include <errno.h>
#include <unistd.h>

#include "import.h"

/* --- transfers under way --- */

unsigned transfer_begin(struct import *m)
{
	uint32_t phase = atomic_load(&m->phase), now;

	/*
	 * Sequentially consistent with answer_order(): either the count is seen there, or the new
	 * phase here, and with it the state and the window that were stored before.
	 */
	for (;;) {
		atomic_fetch_add(&m->under_way[phase & 1], 1);
		now = atomic_load(&m->phase);
		if (now == phase)
			return phase & 1;
		transfer_end(m, phase & 1);
		phase = now;
	}
}

/* Lock held. Answers the exporter's order unless a transfer that began before it goes on. */
static void answer_order(struct import *m)
{
	struct wire_message done = {.type = WIRE_DONE, .serial = m->order_serial};

	while (atomic_load(&m->answer_owed)) {
		if (atomic_load(&m->under_way[(atomic_load(&m->phase) - 1) & 1]) != 0)
			return;
		if (m->another_order) {
			m->another_order = false;
			atomic_fetch_add(&m->phase, 1);
			continue;
		}
		atomic_store(&m->answer_owed, false);
		/* Should it not go out, the exporter loses its patience with us. */
		channel_send(&m->channel, &done, NULL, 0);
	}
}

void transfer_end(struct import *m, unsigned place)
{
	if (atomic_fetch_sub(&m->under_way[place], 1) != 1 || !atomic_load(&m->answer_owed))
		return;
	service_lock();
	answer_order(m);
	service_unlock();
}

void transfer_atfork_child(struct import *m)
{
	atomic_store(&m->under_way[0], 0);
	atomic_store(&m->under_way[1], 0);
	atomic_store(&m->answer_owed, false);
	m->another_order = false;
	m->rebind.owed = false;
}

/* --- orders of the exporter --- */

/* Only the latest serial is answered: it supersedes those before. */
static void take_order(struct import *m, uint32_t serial)
{
	m->order_serial = serial;
	m->another_order = atomic_load(&m->answer_owed);
	if (!m->another_order) {
		atomic_store(&m->answer_owed, true);
		atomic_fetch_add(&m->phase, 1);
	}
	answer_order(m);
}

static bool window_possible(const struct import *m, uint64_t offset)
{
	return offset % (uint64_t)sysconf(_SC_PAGESIZE) == 0 && offset <= INT64_MAX - m->size;
}

static void give_up(struct import *m)
{
	channel_end(&m->channel, CHANNEL_LOST);
	mapping_scrap(m);
	service_changed();
}

static void on_rebind(struct import *m, const struct wire_message *order)
{
	if (!m->relay && !window_possible(m, order->offset)) {
		give_up(m);
		return;
	}
	m->rebind.owed = true;
	m->rebind.window = (off_t)order->offset;
	m->rebind.serial = order->serial;
}

/*
 * When all that has come is known: of a rebind and its being taken back, which a process finds that
 * was stopped meanwhile, only the second counts, and no transfer meets the memory between.
 */
void importer_idle(struct channel *c)
{
	struct import *m = c->owner;

	if (!m->rebind.owed)
		return;
	m->rebind.owed = false;
	atomic_store(&m->window, m->rebind.window);
	/* A mapping that went on showing the old memory would deceive. */
	if (atomic_load(&m->channel.state) == CHANNEL_UP && mapping_renew(m) != 0)
		give_up(m);
	take_order(m, m->rebind.serial);
}

static void on_abort(struct import *m, const struct wire_message *order)
{
	m->rebind.owed = false;
	channel_end(&m->channel, CHANNEL_ABORTED);
	mapping_scrap(m);
	service_changed();
	take_order(m, order->serial);
}

void importer_message(struct channel *c, const struct wire_message *m, const void *payload)
{
	struct import *import = c->owner;

	switch (m->type) {
	case WIRE_REBIND:
		on_rebind(import, m);
		break;
	case WIRE_ABORT:
		on_abort(import, m);
		break;
	case WIRE_DONE:
		relay_done(import, m, payload);
		break;
	case WIRE_SIGNAL:
		event_post(&import->segment.events, m->size, !(m->flags & WIRE_NO_ACCUMULATE));
		break;
	default:
		give_up(import);
	}
}

void importer_lost(struct channel *c)
{
	mapping_scrap(c->owner);
}
