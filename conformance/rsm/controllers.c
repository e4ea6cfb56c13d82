/* SPDX-License-Identifier: BSD-2-Clause */
/* Controllers: names, counts, and what is left of them. */
#include "parties.h"

#include <stdio.h>

SCENARIO(controllers_of_topology)
{
	rsm_topology_t *topology = cts_fx_topology();
	rsmapi_controller_handle_t c;
	rsmapi_controller_attr_t attr;

	CTS_ASSERT(topology->topology_hdr.local_cntlr_count >= 1);
	for (unsigned i = 0; i < topology->topology_hdr.local_cntlr_count; i++) {
		EXPECT(rsm_get_controller(topology->connections[i]->hdr.cntlr_name, &c),
		       RSM_SUCCESS);
		CTS_ASSERT(rsm_get_controller_attr(c, &attr) == RSM_SUCCESS);
		CTS_ASSERT(rsm_release_controller(c) == RSM_SUCCESS);
	}
	rsm_free_interconnect_topology(topology);
}

static int get_and_release(void *unused)
{
	rsmapi_controller_handle_t c;
	rsmapi_controller_attr_t attr;
	int value = rsm_get_controller("loopback", &c);

	(void)unused;
	if (value == RSM_SUCCESS)
		value = rsm_get_controller_attr(c, &attr);
	if (value == RSM_SUCCESS)
		value = rsm_release_controller(c);
	return value;
}

static int get_and_release_often(void *rounds)
{
	int value = RSM_SUCCESS;

	for (long i = *(long *)rounds; i && value == RSM_SUCCESS; i--)
		value = get_and_release(NULL);
	return value;
}

SCENARIO(controllers_from_threads)
{
	long threads = cts_param("threads"), rounds = cts_param("rounds");
	struct cts_thread *running[16];
	rsmapi_controller_handle_t c;
	rsmapi_controller_attr_t attr;

	for (long i = 0; i < threads; i++)
		running[i] = begin(get_and_release_often, &rounds);
	for (long i = 0; i < threads; i++)
		CTS_ASSERT(end_of(running[i]) == RSM_SUCCESS);
	EXPECT(rsm_get_controller("loopback", &c), RSM_SUCCESS);
	CTS_ASSERT(rsm_release_controller(c) == RSM_SUCCESS);
	CTS_CHECK(rsm_get_controller_attr(c, &attr) != RSM_SUCCESS,
		  "the last release leaves no handle behind");
}

static int use_in_child(void *handle)
{
	rsmapi_controller_handle_t inherited = handle, own;
	rsmapi_controller_attr_t attr;

	if (rsm_get_controller_attr(inherited, &attr) != RSM_SUCCESS)
		return 1;
	if (rsm_get_controller("scif0", &own) != RSM_SUCCESS)
		return 2;
	if (rsm_release_controller(own) != RSM_SUCCESS)
		return 3;
	if (rsm_release_controller(inherited) != RSM_SUCCESS)
		return 4;
	return rsm_get_controller_attr(inherited, &attr) == RSM_SUCCESS ? 5 : 0;
}

SCENARIO(controllers_in_child)
{
	rsmapi_controller_handle_t c;
	rsmapi_controller_attr_t attr;

	EXPECT(rsm_get_controller("scif0", &c), RSM_SUCCESS);
	CTS_ASSERT(cts_wait_child(cts_fork(use_in_child, c)) == 0);
	CTS_CHECK(rsm_get_controller_attr(c, &attr) == RSM_SUCCESS,
		  "what the child released is still got in the parent");
	CTS_ASSERT(rsm_release_controller(c) == RSM_SUCCESS);
}

SCENARIO(controller_of_lost_node)
{
	int node = cts_peer_node(cts_peer());
	rsmapi_controller_handle_t c;
	char name[32];

	snprintf(name, sizeof name, "mic%d", node - 1);
	cts_node(node, "down");
	EXPECT(rsm_get_controller(name, &c), RSMERR_CTLR_NOT_PRESENT);
	EXPECT(rsm_get_controller(name, &c), RSMERR_CTLR_NOT_PRESENT);
	cts_node(node, "up");
	cts_peer_start(node);
	CTS_CHECK_EFFECT(rsm_get_controller(name, &c) == RSM_SUCCESS &&
				 rsm_release_controller(c) == RSM_SUCCESS,
			 "the control, with the node up again, succeeds");
}

static int get_once(void *unused)
{
	rsmapi_controller_handle_t c;

	(void)unused;
	return rsm_get_controller("scif0", &c);
}

SCENARIO(controller_of_other_version)
{
	rsmapi_controller_handle_t c;

	CTS_ASSERT(cts_wait_child(cts_fork(get_once, NULL)) == RSM_SUCCESS);
	cts_other_version(true);
	for (int i = 0; i < 3; i++)
		EXPECT(rsm_get_controller("scif0", &c), RSMERR_BAD_LIBRARY_VERSION);
	CTS_CHECK_EFFECT(cts_wait_child(cts_fork(get_once, NULL)) == RSMERR_BAD_LIBRARY_VERSION,
			 "another process is refused too");
	cts_other_version(false);
	CTS_CHECK_EFFECT(cts_wait_child(cts_fork(get_once, NULL)) == RSM_SUCCESS,
			 "the control, with the versions equal again, succeeds");
}

static void get_segment_release(char *name)
{
	void *mem = cts_fx_pages(1);
	rsmapi_controller_handle_t c;
	rsm_memseg_export_handle_t segment;

	CTS_ASSERT(rsm_get_controller(name, &c) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_export_create(c, &segment, mem, cts_page_size(), 0) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_export_destroy(segment) == RSM_SUCCESS);
	EXPECT(rsm_release_controller(c), RSM_SUCCESS);
}

static void get_release(char *name)
{
	rsmapi_controller_handle_t c;

	CTS_ASSERT(rsm_get_controller(name, &c) == RSM_SUCCESS);
	EXPECT(rsm_release_controller(c), RSM_SUCCESS);
	CTS_ASSERT(rsm_release_controller(c) == RSMERR_BAD_CTLR_HNDL);
}

SCENARIO(controller_leaves_nothing)
{
	get_segment_release("scif0");
	get_segment_release("loopback");
	for (int i = 0; i < WARM_UP; i++) {
		get_release("scif0");
		get_release("loopback");
	}
	struct cts_holdings before = cts_holdings();
	for (int i = 0; i < 50; i++) {
		get_release("scif0");
		get_release("loopback");
	}
	nothing_left(&before);
}
