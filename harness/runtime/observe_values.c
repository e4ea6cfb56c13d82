/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lies behind the pointers of a call, as the items of a JSON object. Memory that the kernel
 * cannot read either is left out; memory for data is not looked at, whose pages may be held back.
 */
#include "observe_log.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <rsmapi.h>
#include <scif.h>

#define MOST_ENTRIES 16
#define NAME_BYTES   64
#define ITEM_BYTES   16

struct values {
	char *out;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct values *v, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(v->out + v->used, v->size - v->used, format, args);
	va_end(args);
	if (length > 0 && v->used + (size_t)length < v->size)
		v->used += (size_t)length;
}

static void put_name(struct values *v, const struct observed_argument *argument)
{
	put(v, "%s\"%s\":", v->used ? "," : "", argument->name);
}

static void put_port(struct values *v, const struct observed_argument *argument)
{
	struct scif_portID port;

	if (!observe_read((void *)argument->value, &port, sizeof port))
		return;
	put_name(v, argument);
	put(v, "[%u,%u]", port.node, port.port);
}

static void put_int(struct values *v, const struct observed_argument *argument)
{
	int value;

	if (!observe_read((void *)argument->value, &value, sizeof value))
		return;
	put_name(v, argument);
	put(v, "%d", value);
}

/* What the call was told, and what it left there. */
static void put_id(struct values *v, const struct observed_argument *argument,
		   struct observed_call *call, bool returned)
{
	rsm_memseg_id_t id;

	if (!observe_read((void *)argument->value, &id, sizeof id))
		return;
	if (!returned)
		call->made = (intptr_t)id;
	put_name(v, argument);
	put(v, "[%" PRIdPTR ",%u]", call->made, id);
}

static void put_short(struct values *v, const struct observed_argument *argument)
{
	uint16_t value;

	if (!observe_read((void *)argument->value, &value, sizeof value))
		return;
	put_name(v, argument);
	put(v, "%u", value);
}

/* One of an array, behind the ones before it. */
typedef void put_item(struct values *v, const void *item);

static void put_items(struct values *v, const struct observed_argument *argument, intptr_t count,
		      size_t size, put_item *put_one)
{
	const char *at = (void *)argument->value;
	_Alignas(max_align_t) char item[ITEM_BYTES];

	_Static_assert(sizeof(struct scif_pollepd) <= ITEM_BYTES &&
			       sizeof(rsmapi_access_entry_t) <= ITEM_BYTES &&
			       sizeof(struct pollfd) <= ITEM_BYTES,
		       "an item has room for each of them");

	put_name(v, argument);
	put(v, "[");
	for (int i = 0; i < count && i < MOST_ENTRIES && observe_read(at + (size_t)i * size, item, size); i++) {
		put(v, "%s", i ? "," : "");
		put_one(v, item);
	}
	put(v, "]");
}

static void put_one_short(struct values *v, const void *item)
{
	put(v, "%u", *(const uint16_t *)item);
}

static void put_one_poll(struct values *v, const void *item)
{
	const struct scif_pollepd *entry = item;

	put(v, "[%d,%d,%d]", entry->epd, entry->events, entry->revents);
}

static void put_one_access(struct values *v, const void *item)
{
	const rsmapi_access_entry_t *entry = item;

	put(v, "[%u,%u]", entry->ae_node, entry->ae_permission);
}

static void put_one_pollfd(struct values *v, const void *item)
{
	const struct pollfd *entry = item;

	put(v, "[%d,%d,%d]", entry->fd, entry->events, entry->revents);
}

static void put_address(struct values *v, const char *name, uintptr_t address)
{
	put(v, "%s\"%s\":\"0x%" PRIxPTR "\"", v->used ? "," : "", name, address);
}

/* What was in the place before the call, and what is there after it. */
static void put_made(struct values *v, const struct observed_argument *argument,
		     struct observed_call *call, bool returned)
{
	uintptr_t address;

	if (!observe_read((void *)argument->value, &address, sizeof address))
		return;
	if (returned && call->has_before) {
		put_name(v, argument);
		put(v, "[\"0x%" PRIxPTR "\",\"0x%" PRIxPTR "\"]", (uintptr_t)call->before, address);
	} else if (returned) {
		put_address(v, argument->name, address);
	}
	call->has_before = true;
	call->before = (intptr_t)address;
}

static void put_entry(struct values *v, const rsm_iovec_t *at)
{
	rsm_iovec_t entry;

	if (observe_read(at, &entry, sizeof entry))
		put(v, ",[%d,%ld,%ld,%ld]", entry.io_type, (long)entry.local_offset,
		    (long)entry.remote_offset, (long)entry.transfer_length);
}

static void put_transfers(struct values *v, const struct observed_argument *argument)
{
	rsm_scat_gath_t transfers;

	if (!observe_read((void *)argument->value, &transfers, sizeof transfers))
		return;
	put_name(v, argument);
	/* Signed: readers of JSON have no larger integers. */
	put(v, "[\"0x%" PRIxPTR "\",%ld,%ld,%u", (uintptr_t)transfers.remote_handle,
	    (long)transfers.io_request_count, (long)transfers.io_residual_count,
	    (unsigned)transfers.flags);
	for (unsigned long i = 0; i < transfers.io_request_count && i < MOST_ENTRIES; i++)
		put_entry(v, transfers.iovec + i);
	put(v, "]");
}

/* revents before the call and after it. */
static void put_pollfd_made(struct values *v, const struct observed_argument *argument,
			    struct observed_call *call, bool returned)
{
	struct pollfd entry;

	if (!observe_read((void *)argument->value, &entry, sizeof entry))
		return;
	if (returned && call->has_before) {
		put_name(v, argument);
		put(v, "[%d,%d,%d,%d]", entry.fd, entry.events, (int)call->before, entry.revents);
	}
	call->has_before = true;
	call->before = entry.revents;
}

/* The nodes of the active remote ends of a controller. */
static void put_connections(struct values *v, const rsm_connections_t *at)
{
	rsm_connections_hdr_t header;
	rsm_remote_cntlr_t remote;
	const char *between = "";

	put(v, ",[");
	if (!observe_read(at, &header, sizeof header))
		header.remote_cntlr_count = 0;
	for (int i = 0; i < header.remote_cntlr_count && i < MOST_ENTRIES; i++) {
		if (!observe_read(at->remote_cntlr + i, &remote, sizeof remote) ||
		    remote.connection_state != RSM_CONNECTION_ACTIVE)
			continue;
		put(v, "%s%u", between, remote.remote_nodeid);
		between = ",";
	}
	put(v, "]");
}

static void put_topology(struct values *v, const struct observed_argument *argument)
{
	const rsm_topology_t *at;
	const rsm_connections_t *connections;
	rsm_topology_hdr_t header;

	if (!observe_read((void *)argument->value, &at, sizeof at) ||
	    !observe_read(at, &header, sizeof header))
		return;
	put_name(v, argument);
	put(v, "[%u", header.local_nodeid);
	for (unsigned i = 0; i < header.local_cntlr_count && i < MOST_ENTRIES &&
			     observe_read(at->connections + i, &connections, sizeof connections);
	     i++)
		put_connections(v, connections);
	put(v, "]");
}

/* A name that JSON would have to escape is cut there. */
static void put_string(struct values *v, const struct observed_argument *argument)
{
	char text[NAME_BYTES];
	size_t length = 0;

	if (!argument->value)
		return;
	while (length < sizeof text - 1 &&
	       observe_read((char *)argument->value + length, &text[length], 1) &&
	       text[length] >= ' ' && text[length] < 0x7f && text[length] != '"' &&
	       text[length] != '\\')
		length++;
	text[length] = '\0';
	put_name(v, argument);
	put(v, "\"%s\"", text);
}

static void put_value(struct values *v, const struct observed_argument *arguments, int i,
		      struct observed_call *call, bool returned)
{
	const struct observed_argument *argument = &arguments[i];
	/* Of an array, where the next argument is its length. */
	intptr_t length = i + 1 < call->count ? arguments[i + 1].value : 0;

	switch (argument->is) {
	case OBSERVED_PORT:
		put_port(v, argument);
		break;
	case OBSERVED_POLL:
		put_items(v, argument, length, sizeof(struct scif_pollepd), put_one_poll);
		break;
	case OBSERVED_INT:
		put_int(v, argument);
		break;
	case OBSERVED_ID:
		put_id(v, argument, call, returned);
		break;
	case OBSERVED_SHORT:
		put_short(v, argument);
		break;
	case OBSERVED_SHORTS:
		if (returned && call->ret > 0 && i + 1 < call->count)
			put_items(v, argument,
				  call->ret < length ? call->ret : length, sizeof(uint16_t),
				  put_one_short);
		break;
	case OBSERVED_ADDRESS:
		put_address(v, argument->name, (uintptr_t)argument->value);
		break;
	case OBSERVED_TRANSFERS:
		put_transfers(v, argument);
		break;
	case OBSERVED_NAME:
		put_string(v, argument);
		break;
	case OBSERVED_ACCESS:
		/* A list that cannot be told whole is not told. */
		if (argument->value && (uint32_t)length <= MOST_ENTRIES)
			put_items(v, argument, length, sizeof(rsmapi_access_entry_t), put_one_access);
		break;
	case OBSERVED_POLLFDS:
		put_items(v, argument, length, sizeof(struct pollfd), put_one_pollfd);
		break;
	case OBSERVED_POLLFD_MADE:
		put_pollfd_made(v, argument, call, returned);
		break;
	case OBSERVED_TOPOLOGY:
		if (returned && !call->ret)
			put_topology(v, argument);
		break;
	case OBSERVED_ADDRESS_MADE:
		put_made(v, argument, call, returned);
		break;
	case OBSERVED_ENDPOINT_MADE:
		if (returned)
			put_int(v, argument);
		break;
	case OBSERVED_NUMBER:
	case OBSERVED_POINTER:
	case OBSERVED_ENDPOINT:
		break;
	}
}

/* Whom the digits of an access list are compared with: the effective user and the groups. */
static void put_user(struct values *v)
{
	gid_t groups[MOST_ENTRIES];
	int count = getgroups(MOST_ENTRIES, groups);

	if (count < 0)
		return;
	put(v, "%s\"user\":[%u,%u", v->used ? "," : "", geteuid(), getegid());
	for (int i = 0; i < count; i++)
		put(v, ",%u", groups[i]);
	put(v, "]");
}

static bool goes_by_user(const char *function)
{
	return !strcmp(function, "rsm_memseg_export_create") ||
	       !strcmp(function, "rsm_memseg_export_publish") ||
	       !strcmp(function, "rsm_memseg_export_republish") ||
	       !strcmp(function, "rsm_memseg_import_connect");
}

size_t observe_values(struct observed_call *call, const struct observed_argument *arguments,
		      bool returned, char *out, size_t size)
{
	struct values v = {.out = out, .size = size};

	for (int i = 0; i < call->count; i++)
		put_value(&v, arguments, i, call, returned);
	if (returned && goes_by_user(call->function))
		put_user(&v);
	if (returned && call->returns == OBSERVED_POINTER && call->ret != -1)
		put_address(&v, "return", (uintptr_t)call->ret);
	return v.used;
}
