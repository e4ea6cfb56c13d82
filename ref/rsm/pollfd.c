/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors that show pending signals: rsm_memseg_get_pollfd, rsm_memseg_release_pollfd.
 */
#include <poll.h>
#include <stddef.h>

#include "caller_memory.h"
#include "export.h"
#include "handle.h"
#include "import.h"

/* Lock held. Whether signals can come. */
static bool connected(const struct segment *s)
{
	if (s->kind == SEGMENT_EXPORT)
		return export_is_published((const struct export *)s);
	return atomic_load(&((const struct import *)s)->channel.state) == CHANNEL_UP;
}

static int take(struct segment *s)
{
	int result = RSM_SUCCESS;

	service_lock();
	if (s->closing || !connected(s))
		result = RSMERR_BAD_SEG_HNDL;
	else if (s->events.read_end < 0)
		result = RSMERR_INSUFFICIENT_RESOURCES;
	else
		s->pollfd_users++;
	service_unlock();
	return result;
}

static void give_back(struct segment *s)
{
	service_lock();
	if (s->pollfd_users > 0)
		s->pollfd_users--;
	service_unlock();
}

static int get_pollfd(struct segment *s, struct pollfd *user)
{
	struct pollfd filled = {.fd = s->events.read_end, .events = POLLRDNORM};
	int result;

	if (user == NULL)
		return RSMERR_BAD_ADDR;
	if (s->kind == SEGMENT_IMPORT)
		import_state((struct import *)s);
	result = take(s);
	if (result != RSM_SUCCESS)
		return result;
	if (caller_store(user, &filled, offsetof(struct pollfd, revents)) == 0)
		return RSM_SUCCESS;
	give_back(s);
	return RSMERR_BAD_ADDR;
}

int rsm_memseg_get_pollfd(void *memseg, struct pollfd *pollfd)
{
	struct segment *s = handle_enter(memseg, SEGMENT_ANY);
	int result;

	if (s == NULL)
		return RSMERR_BAD_SEG_HNDL;
	result = get_pollfd(s, pollfd);
	handle_leave(s);
	return result;
}

int rsm_memseg_release_pollfd(void *memseg)
{
	struct segment *s = handle_enter(memseg, SEGMENT_ANY);

	if (s == NULL)
		return RSMERR_BAD_SEG_HNDL;
	give_back(s);
	handle_leave(s);
	return RSM_SUCCESS;
}
