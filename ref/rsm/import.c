/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Imports: connect, disconnect, and connecting anew in a forked child.
 */
#include "import.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access.h"
#include "caller_memory.h"
#include "controller.h"
#include "endpoint.h"
#include "handle.h"
#include "rendezvous.h"
#include "signal_post.h"

#define OWN_ORDER (__BYTE_ORDER == __BIG_ENDIAN ? WIRE_BIG_ENDIAN : 0)

struct import *import_enter(const void *handle)
{
	return (struct import *)handle_enter(handle, SEGMENT_IMPORTS);
}

void import_leave(struct import *m)
{
	handle_leave(&m->segment);
}

/* --- finding the exporter --- */

/* The codes that an exporter may answer with; anything else is no answer. */
static int refusal(uint32_t status)
{
	switch (status) {
	case RSMERR_PERM_DENIED:
	case RSMERR_SEG_NOT_PUBLISHED:
	case RSMERR_SEG_NOT_PUBLISHED_TO_NODE:
	case RSMERR_INSUFFICIENT_MEM:
	case RSMERR_INSUFFICIENT_RESOURCES:
		return (int)status;
	default:
		return RSMERR_REMOTE_NODE_UNREACHABLE;
	}
}

static int find_failed(int error)
{
	switch (error) {
	case -ENOENT:
		return RSMERR_SEG_NOT_PUBLISHED;
	case -EINTR:
		return RSMERR_INTERRUPTED;
	case -ENOMEM:
		return RSMERR_INSUFFICIENT_MEM;
	case -EMFILE:
	case -ENOSPC: /* this node has no port left to connect from */
		return RSMERR_INSUFFICIENT_RESOURCES;
	case -ENXIO:
		return RSMERR_CTLR_NOT_PRESENT;
	default:
		return RSMERR_REMOTE_NODE_UNREACHABLE;
	}
}

/* Whether what the exporter says of the segment can be true. */
static bool sensible(const struct wire_message *answer)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t window = answer->flags & WIRE_RELAY ? 0 : answer->offset;

	return answer->size > 0 && answer->size % page == 0 && window % page == 0 &&
	       window <= INT64_MAX && answer->size <= INT64_MAX - window;
}

/* RSM_SUCCESS and the connection, or the RSMERR value. */
static int find(const struct import *m, struct wire_message *answer, scif_epd_t *epd)
{
	struct wire_message request = {.type = WIRE_CONNECT,
				       .permission = m->permission,
				       .uid = geteuid(),
				       .gid = getegid()};
	int error = rendezvous_find((uint16_t)m->node, m->id, &request, answer, epd);

	if (error != 0)
		return find_failed(error);
	if (answer->status != RSM_SUCCESS)
		return refusal(answer->status);
	if (sensible(answer))
		return RSM_SUCCESS;
	endpoint_close(*epd);
	return RSMERR_REMOTE_NODE_UNREACHABLE;
}

/* --- connect --- */

static int import_new(struct import **made)
{
	struct import *m = calloc(1, sizeof(*m));
	int error;

	if (m == NULL)
		return RSMERR_INSUFFICIENT_MEM;
	error = event_queue_init(&m->segment.events);
	if (error != 0) {
		free(m);
		return segment_shortage(error);
	}
	m->segment.kind = SEGMENT_IMPORT;
	m->channel.owner = m;
	m->channel.message = importer_message;
	m->channel.idle = importer_idle;
	m->channel.lost = importer_lost;
	m->channel.epd = -1;
	barrier_set_init(&m->barriers);
	atomic_init(&m->mode, RSM_BARRIER_MODE_IMPLICIT);
	*made = m;
	return RSM_SUCCESS;
}

static void import_free(struct import *m)
{
	event_queue_free(&m->segment.events);
	barrier_set_free(&m->barriers);
	free(m);
}

/* Lock held. The endpoint is the import's on success, and still the caller's otherwise. */
static int adopt(struct import *m, const struct wire_message *answer, scif_epd_t epd)
{
	int error = service_use();

	if (error != 0)
		return error;
	m->relay = answer->flags & WIRE_RELAY;
	m->swapped = (answer->flags & WIRE_BIG_ENDIAN) != OWN_ORDER;
	atomic_store(&m->window, (off_t)answer->offset);
	error = m->relay ? channel_relay(&m->channel) : 0;
	if (error == 0)
		error = channel_open(&m->channel, epd, (uint16_t)m->node);
	if (error == 0) {
		m->attached = true;
		return 0;
	}
	channel_close(&m->channel);
	service_release();
	return error;
}

/* Lock held. */
static void detach(struct import *m)
{
	channel_close(&m->channel);
	if (m->attached)
		service_release();
	m->attached = false;
}

/* The import becomes known under its handle. */
static int introduce(struct import *m, const struct wire_message *answer, scif_epd_t epd)
{
	int result = RSM_SUCCESS;
	int error;

	m->size = answer->size;
	service_lock();
	error = adopt(m, answer, epd);
	if (error == 0 && handle_new(&m->segment) == NULL) {
		detach(m);
		result = RSMERR_INSUFFICIENT_RESOURCES;
	}
	service_unlock();
	if (error == 0)
		return result;
	endpoint_close(epd);
	return segment_shortage(error);
}

static int connect_new(struct import *m)
{
	struct wire_message answer;
	scif_epd_t epd;
	int result = find(m, &answer, &epd);

	return result != RSM_SUCCESS ? result : introduce(m, &answer, epd);
}

/* So that nobody is connected for a handle that could not be told. */
static bool writable(rsm_memseg_import_handle_t *place)
{
	rsm_memseg_import_handle_t present;

	return caller_fetch(&present, place, sizeof(present)) == 0 &&
	       caller_store(place, &present, sizeof(present)) == 0;
}

static int check_connect(rsmapi_controller_handle_t handle, struct rsm_controller **controller,
			 rsm_node_id_t node, rsm_permission_t perm,
			 rsm_memseg_import_handle_t *place)
{
	int result = controller_check(handle, controller);

	if (result != RSM_SUCCESS)
		return result;
	if (place == NULL)
		return RSMERR_BAD_SEG_HNDL;
	if (!writable(place))
		return RSMERR_BAD_ADDR;
	if (!access_permission_known(perm))
		return RSMERR_PERM_DENIED;
	return controller_reaches(*controller, node);
}

int rsm_memseg_import_connect(rsmapi_controller_handle_t controller, rsm_node_id_t node_id,
			      rsm_memseg_id_t segment_id, rsm_permission_t perm,
			      rsm_memseg_import_handle_t *im_memseg)
{
	struct rsm_controller *c;
	struct import *m;
	void *handle;
	int result = check_connect(controller, &c, node_id, perm, im_memseg);

	if (result == RSM_SUCCESS)
		result = import_new(&m);
	if (result != RSM_SUCCESS)
		return result;
	m->segment.controller = c;
	m->node = node_id;
	m->id = segment_id;
	m->permission = perm;
	result = connect_new(m);
	if (result != RSM_SUCCESS) {
		import_free(m);
		return result;
	}
	handle = m->segment.handle;
	if (caller_store(im_memseg, &handle, sizeof(handle)) == 0)
		return RSM_SUCCESS;
	rsm_memseg_import_disconnect(handle);
	return RSMERR_BAD_ADDR;
}

/* --- disconnect --- */

/* Lock held. Nobody enters any more on success. */
static int retire(struct import *m)
{
	if (m->segment.closing)
		return RSMERR_BAD_SEG_HNDL;
	if (m->mapping.address != NULL)
		return RSMERR_SEG_STILL_MAPPED;
	if (m->segment.pollfd_users > 0)
		return RSMERR_POLLFD_IN_USE;
	return handle_retire(&m->segment) ? RSM_SUCCESS : RSMERR_BAD_SEG_HNDL;
}

int rsm_memseg_import_disconnect(rsm_memseg_import_handle_t im_memseg)
{
	struct import *m = import_enter(im_memseg);
	int result;

	if (m == NULL)
		return RSMERR_BAD_SEG_HNDL;
	service_lock();
	result = retire(m);
	service_changed(); /* ends what waits for an answer over this connection */
	service_unlock();
	if (result != RSM_SUCCESS) {
		import_leave(m);
		return result;
	}
	event_queue_close(&m->segment.events);
	handle_drain(&m->segment);
	service_lock();
	signal_send_rest(m);
	detach(m);
	service_unlock();
	import_free(m);
	return RSM_SUCCESS;
}

/* --- after a fork --- */

void import_atfork_child(struct segment *s)
{
	struct import *m = (struct import *)s;

	channel_atfork_child(&m->channel);
	m->attached = false;
	m->connecting = false;
	m->requests = NULL;
	transfer_atfork_child(m);
	barrier_set_atfork_child(&m->barriers);
	atomic_store(&m->orphan, atomic_load(&m->channel.state) == CHANNEL_FORKED);
}

/*
 * Lock held, dropped meanwhile. 0 when the question is settled, also by finding no exporter: then
 * the channel stays as it is, which is not UP.
 */
static int connect_anew(struct import *m)
{
	struct wire_message answer;
	uint64_t size = m->size;
	scif_epd_t epd;
	int error, result;

	service_unlock();
	do
		result = find(m, &answer, &epd);
	while (result == RSMERR_INTERRUPTED);
	service_lock();
	if (result == RSMERR_INSUFFICIENT_MEM || result == RSMERR_INSUFFICIENT_RESOURCES)
		return result == RSMERR_INSUFFICIENT_MEM ? -ENOMEM : -EMFILE;
	if (result != RSM_SUCCESS)
		return 0;
	/* Another segment under the id. */
	error = answer.size == size ? adopt(m, &answer, epd) : 0;
	if (answer.size != size || error != 0) {
		endpoint_close(epd);
		return error;
	}
	if (mapping_renew(m) != 0)
		channel_end(&m->channel, CHANNEL_LOST);
	return 0;
}

static int attach(struct import *m)
{
	int error = 0;

	service_lock();
	while (m->connecting)
		service_wait(UINT64_MAX, false);
	if (atomic_load(&m->orphan)) {
		m->connecting = true;
		error = connect_anew(m);
		m->connecting = false;
		/* Release: who finds it false finds the connection. */
		atomic_store_explicit(&m->orphan, error != 0, memory_order_release);
		service_changed();
	}
	service_unlock();
	return error;
}

int import_attach(struct import *m)
{
	return atomic_load_explicit(&m->orphan, memory_order_acquire) ? attach(m) : 0;
}

unsigned import_state(struct import *m)
{
	return import_attach(m) != 0 ? CHANNEL_FORKED : channel_state(&m->channel);
}

unsigned import_state_now(struct import *m)
{
	return import_attach(m) != 0 ? CHANNEL_FORKED : channel_state_now(&m->channel);
}

int import_loss(struct import *m, unsigned state, bool began_up)
{
	if (state == CHANNEL_ABORTED || !began_up || atomic_exchange(&m->loss_told, true))
		return RSMERR_CONN_ABORTED;
	return RSMERR_BARRIER_FAILURE;
}
