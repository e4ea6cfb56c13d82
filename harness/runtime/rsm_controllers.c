/* SPDX-License-Identifier: BSD-2-Clause */
/* Controllers, nodes, segment ids, and the file of segment ids. */
#include "rsm_segments.h"

#include <stdlib.h>
#include <stdio.h>

#define NO_SUCH_NODE  200
#define FIRST_FREE_ID 0x400000
#define IDS_EACH      0x100

/* The controllers that fixtures use for themselves, each got once. */
static struct {
	const char *name;
	rsmapi_controller_handle_t handle;
} own[] = {{FABRIC, NULL}, {LOOPBACK, NULL}};

rsmapi_controller_handle_t cts_fx_controller(const char *name)
{
	rsmapi_controller_handle_t handle = NULL;
	char copy[300];

	snprintf(copy, sizeof copy, "%s", name);
	rsm_must(rsm_get_controller(copy, &handle), "rsm_get_controller");
	return handle;
}

rsmapi_controller_handle_t own_controller(const char *name)
{
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		if (strcmp(own[i].name, name))
			continue;
		if (!own[i].handle)
			own[i].handle = cts_fx_controller(name);
		return own[i].handle;
	}
	cts_unresolved("no fixture uses a controller %s", name);
}

void controllers_forget(void)
{
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		own[i].handle = NULL;
}

rsmapi_controller_handle_t cts_fx_controller_released(const char *name)
{
	rsmapi_controller_handle_t handle = cts_fx_controller(name);

	rsm_must(rsm_release_controller(handle), "rsm_release_controller");
	return handle;
}

void *cts_fx_garbage(void)
{
	return cts_fx_buffer(cts_page_size());
}

void *cts_fx_no_handle(void)
{
	return NULL;
}

rsm_node_id_t cts_fx_own_node(void)
{
	return cts_self_node();
}

rsm_node_id_t cts_fx_peer_node(void)
{
	return cts_peer_node(cts_peer());
}

rsm_node_id_t cts_fx_absent_node(void)
{
	return NO_SUCH_NODE;
}

rsm_node_id_t cts_fx_down_node(void)
{
	int node = cts_peer_node(cts_peer());

	cts_node(node, "down");
	cts_let_notice();
	return (rsm_node_id_t)node;
}

/* Every process takes its ids from a block of its own, and no case shares its fabric. */
rsm_memseg_id_t next_segment_id(void)
{
	static unsigned used;

	return FIRST_FREE_ID + (rsm_memseg_id_t)(getpid() & 0xffff) * IDS_EACH + used++ % IDS_EACH;
}

rsm_memseg_id_t cts_fx_free_segment_id(void)
{
	return next_segment_id();
}

rsm_topology_t *cts_fx_topology(void)
{
	rsm_topology_t *topology = NULL;

	rsm_must(rsm_get_interconnect_topology(&topology), "rsm_get_interconnect_topology");
	return topology;
}

const char *cts_fx_segmentid_path(const char *path)
{
	if (setenv("RSM_SEGMENTID_FILE", path, 1) == -1)
		cts_unresolved("setenv: %s", strerror(errno));
	return getenv("RSM_SEGMENTID_FILE");
}

const char *cts_fx_segmentid_file(const char *text)
{
	int fd = memfd_create("cts-segmentid", MFD_CLOEXEC);
	char path[64];

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		cts_unresolved("no memory file: %s", strerror(errno));
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return cts_fx_segmentid_path(path);
}
