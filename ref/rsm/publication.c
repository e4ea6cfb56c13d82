/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_memseg_export_publish, _republish, _unpublish.
 */
#include "publication.h"

#include <errno.h>
#include <rsmapi.h>

#include "caller_memory.h"
#include "endpoint.h"
#include "exporter.h"
#include "handle.h"
#include "rendezvous.h"

/* Ids that a program may choose lie between the reserved ranges. */
#define CHOSEN_ID_BASE ((rsm_memseg_id_t)RSM_HPC_ID_BASE)
#define SYSTEM_ID_BASE ((rsm_memseg_id_t)RSM_USER_APP_ID_BASE)

/* System ids whose ports are all taken by others, in a row, before that is no accident. */
enum { CROWDED_IDS = 16 };

/* Begins an operation on the segment of a handle: RSM_SUCCESS and the lock, or the RSMERR value. */
static int begin(struct export **entered, rsm_memseg_export_handle_t memseg, bool interruptible)
{
	struct export *e = (struct export *)handle_enter(memseg, SEGMENT_EXPORTS);
	int result;

	if (e == NULL)
		return RSMERR_BAD_SEG_HNDL;
	service_lock();
	result = export_is_own(e) ? export_begin(e, interruptible) : RSMERR_NOT_CREATOR;
	*entered = e;
	if (result == RSM_SUCCESS)
		return RSM_SUCCESS;
	service_unlock();
	handle_leave(&e->segment);
	return result;
}

static void end(struct export *e)
{
	export_end(e);
	service_unlock();
	handle_leave(&e->segment);
}

/* --- claims --- */

struct search {
	const struct export *claimer;
	uint32_t segment_id;
	bool found;
};

static void compare_id(struct segment *s, void *arg)
{
	const struct export *e = (const struct export *)s;
	struct search *search = arg;

	if (e != search->claimer && e->state != EXPORT_BOUND && e->segment_id == search->segment_id)
		search->found = true;
}

static bool used_by_ourselves(const struct export *e, uint32_t segment_id)
{
	struct search search = {.claimer = e, .segment_id = segment_id};

	handle_each(SEGMENT_EXPORTS, compare_id, &search);
	return search.found;
}

static int bind_unlocked(struct export *e, scif_epd_t *epd)
{
	int error;

	service_unlock();
	error = rendezvous_bind(e->segment_id, &e->index, epd);
	service_lock();
	return error;
}

static int ask_unlocked(struct export *e)
{
	int error;

	service_unlock();
	error = rendezvous_ask(e->segment_id, e->index);
	service_lock();
	if (error == 0 && e->withdrawn)
		error = -EADDRINUSE;
	return error;
}

static void give_up_claim(struct export *e)
{
	listener_close(e);
	links_await_registered(e);
	links_close(e);
	e->state = EXPORT_BOUND;
}

/* Lock held, dropped meanwhile: 0, -EADDRINUSE, -ENOSPC, or as endpoint_open(). */
static int claim(struct export *e, uint32_t segment_id)
{
	scif_epd_t epd;
	int error;

	if (used_by_ourselves(e, segment_id))
		return -EADDRINUSE;
	e->segment_id = segment_id;
	e->withdrawn = false;
	e->state = EXPORT_CLAIMING;
	error = bind_unlocked(e, &epd);
	if (error == 0) {
		error = listener_open(e, epd);
		if (error != 0)
			endpoint_close(epd);
	}
	if (error == 0)
		error = ask_unlocked(e);
	if (error == 0)
		e->state = EXPORT_PUBLISHED;
	else
		give_up_claim(e);
	return error;
}

/* System ids are not given out twice. */
static int claim_any(struct export *e)
{
	static uint32_t next = SYSTEM_ID_BASE; /* library lock */
	int error = -EADDRINUSE;
	unsigned crowded = 0;

	while (error == -EADDRINUSE || (error == -ENOSPC && ++crowded < CROWDED_IDS)) {
		if (next < SYSTEM_ID_BASE)
			return -ENOSPC;
		error = claim(e, next++);
	}
	return error;
}

static int claim_error(int error)
{
	switch (error) {
	case 0:
		return RSM_SUCCESS;
	case -EADDRINUSE:
		return RSMERR_SEGID_IN_USE;
	case -ENOMEM:
		return RSMERR_INSUFFICIENT_MEM;
	default:
		return RSMERR_INSUFFICIENT_RESOURCES;
	}
}

/* --- publish --- */

static int publish_as(struct export *e, uint32_t wanted, uint32_t *given)
{
	int result, error = service_use();

	if (error != 0)
		return claim_error(error);
	result = claim_error(wanted == 0 ? claim_any(e) : claim(e, wanted));
	*given = e->segment_id;
	if (result != RSM_SUCCESS)
		service_release();
	return result;
}

static bool may_choose(uint32_t segment_id)
{
	return segment_id == 0 || (segment_id >= CHOSEN_ID_BASE && segment_id < SYSTEM_ID_BASE);
}

static int set_access(struct export *e, const rsmapi_access_entry_t *entries, unsigned count)
{
	struct access_list access;
	int result = access_list_copy(&access, entries, count, e->segment.controller, e->mode);

	if (result != RSM_SUCCESS)
		return result;
	access_list_free(&e->access);
	e->access = access;
	return RSM_SUCCESS;
}

/* Lock held, in the segment's operation. */
static int publish(struct export *e, uint32_t wanted, const rsmapi_access_entry_t *entries,
		   unsigned count, uint32_t *given)
{
	int result;

	if (e->state != EXPORT_BOUND)
		return RSMERR_SEG_ALREADY_PUBLISHED;
	if (!may_choose(wanted))
		return RSMERR_RESERVED_SEGID;
	result = set_access(e, entries, count);
	return result == RSM_SUCCESS ? publish_as(e, wanted, given) : result;
}

/* The id goes to the caller before anybody can be sure of the segment; if it cannot, no segment. */
static int publish_and_tell(struct export *e, rsm_memseg_id_t *place,
			    const rsmapi_access_entry_t *entries, unsigned count)
{
	rsm_memseg_id_t wanted, given;
	int result;

	if (caller_fetch(&wanted, place, sizeof(wanted)) != 0)
		return RSMERR_BAD_ADDR;
	result = publish(e, wanted, entries, count, &given);
	if (result != RSM_SUCCESS || wanted != 0)
		return result;
	if (caller_store(place, &given, sizeof(given)) == 0)
		return RSM_SUCCESS;
	publication_end(e, false);
	return RSMERR_BAD_ADDR;
}

int rsm_memseg_export_publish(rsm_memseg_export_handle_t memseg, rsm_memseg_id_t *segment_id,
			      rsmapi_access_entry_t access_list[], uint_t access_list_length)
{
	struct export *e;
	int result;

	if (segment_id == NULL)
		return RSMERR_BAD_SEGID;
	result = begin(&e, memseg, false);
	if (result != RSM_SUCCESS)
		return result;
	result = publish_and_tell(e, segment_id, access_list, access_list_length);
	end(e);
	return result;
}

/* --- republish --- */

int rsm_memseg_export_republish(rsm_memseg_export_handle_t memseg,
				rsmapi_access_entry_t access_list[], uint_t access_list_length)
{
	struct export *e;
	int result = begin(&e, memseg, true);

	if (result != RSM_SUCCESS)
		return result;
	result = e->state == EXPORT_PUBLISHED ? set_access(e, access_list, access_list_length)
					      : RSMERR_SEG_NOT_PUBLISHED;
	end(e);
	return result;
}

/* --- unpublish --- */

int publication_end(struct export *e, bool interruptible)
{
	uint64_t deadline = service_now() + SERVICE_PATIENCE_NS;

	if (e->state == EXPORT_BOUND)
		return 0;
	e->state = EXPORT_UNPUBLISHING;
	links_abort(e);
	if (links_await(e, interruptible) != 0) {
		e->state = EXPORT_PUBLISHED;
		return -EINTR;
	}
	give_up_claim(e);
	closer_await(e, deadline);
	closer_disown(e);
	access_list_free(&e->access);
	service_release();
	return 0;
}

static int unpublish(struct export *e)
{
	if (e->state != EXPORT_PUBLISHED)
		return RSMERR_SEG_NOT_PUBLISHED;
	if (e->segment.pollfd_users > 0)
		return RSMERR_POLLFD_IN_USE;
	return publication_end(e, true) == 0 ? RSM_SUCCESS : RSMERR_INTERRUPTED;
}

int rsm_memseg_export_unpublish(rsm_memseg_export_handle_t memseg)
{
	struct export *e;
	int result = begin(&e, memseg, true);

	if (result != RSM_SUCCESS)
		return result;
	result = unpublish(e);
	end(e);
	return result;
}
