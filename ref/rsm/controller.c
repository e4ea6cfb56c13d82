/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of controllers. A handle is the address of a table entry and is compared, never
 * followed, before it is known to be one; so garbage is told apart. Entries live for ever, so a
 * released controller is told apart as well.
 */
#include "controller.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "nodes.h"

/* micN leads to node N+1, which has to be a node. */
enum { MIC_UNITS = NODES_MOST - 1 };

static struct rsm_controller loopback = {.kind = CONTROLLER_LOOPBACK};
static struct rsm_controller fabric = {.kind = CONTROLLER_SCIF};
static struct rsm_controller mic[MIC_UNITS] = {[0 ... MIC_UNITS - 1] = {.kind = CONTROLLER_MIC}};

static struct rsm_controller *entry_of(rsmapi_controller_handle_t handle)
{
	uintptr_t distance = (uintptr_t)handle - (uintptr_t)mic;

	if ((void *)handle == &loopback)
		return &loopback;
	if ((void *)handle == &fabric)
		return &fabric;
	if (distance < sizeof(mic) && distance % sizeof(mic[0]) == 0)
		return &mic[distance / sizeof(mic[0])];
	return NULL;
}

rsmapi_controller_handle_t controller_handle(struct rsm_controller *controller)
{
	return (rsmapi_controller_handle_t)(void *)controller;
}

int controller_check(rsmapi_controller_handle_t handle, struct rsm_controller **controller)
{
	struct rsm_controller *entry = entry_of(handle);

	if (entry == NULL || !entry->given)
		return RSMERR_BAD_CTLR_HNDL;
	if (entry->users == 0)
		return RSMERR_CTLR_NOT_PRESENT;
	*controller = entry;
	return RSM_SUCCESS;
}

bool controller_released(const struct rsm_controller *controller)
{
	return controller->users == 0;
}

uint32_t controller_mic_node(const struct rsm_controller *controller)
{
	return (uint32_t)(controller - mic) + 1;
}

int controller_own_node(uint16_t *node)
{
	struct nodes nodes;

	if (nodes_online(&nodes) < 0)
		return RSMERR_CTLR_NOT_PRESENT;
	*node = nodes.self;
	return RSM_SUCCESS;
}

static bool leads_to(const struct rsm_controller *controller, uint16_t self, uint32_t node)
{
	switch (controller->kind) {
	case CONTROLLER_LOOPBACK:
		return node == self;
	case CONTROLLER_MIC:
		return node == controller_mic_node(controller);
	default:
		return true;
	}
}

/* A card's driver is asked through a descriptor. */
static int no_answer(int error)
{
	switch (error) {
	case -EMFILE:
	case -ENFILE:
		return RSMERR_INSUFFICIENT_RESOURCES;
	case -ENOMEM:
		return RSMERR_INSUFFICIENT_MEM;
	default:
		return RSMERR_CTLR_NOT_PRESENT;
	}
}

int controller_reaches(const struct rsm_controller *controller, uint32_t node)
{
	struct nodes nodes;
	int error = nodes_online(&nodes);

	if (error < 0)
		return no_answer(error);
	if (!leads_to(controller, nodes.self, node))
		return RSMERR_CTLR_NOT_PRESENT;
	if (!nodes_have(&nodes, node))
		return RSMERR_REMOTE_NODE_UNREACHABLE;
	return RSM_SUCCESS;
}

size_t controller_longest_segment(void)
{
	long page = sysconf(_SC_PAGESIZE);
	long pages = sysconf(_SC_PHYS_PAGES);

	if (pages <= 0)
		pages = LONG_MAX / page;
	return (size_t)pages * (size_t)page;
}

/* Decimal digits only, none meaning 0; false if the number is too large for any unit. */
static bool parse_unit(const char *digits, unsigned long *unit)
{
	*unit = 0;
	for (; *digits != '\0'; digits++) {
		*unit = *unit * 10 + (unsigned long)(*digits - '0');
		if (*unit > UINT_MAX)
			return false;
	}
	return true;
}

struct rsm_controller *controller_named(const char *name)
{
	size_t type = strlen(name);
	unsigned long unit;

	while (type > 0 && isdigit((unsigned char)name[type - 1]))
		type--;
	if (!parse_unit(name + type, &unit))
		return NULL;
	if (type == strlen("loopback") && strncasecmp(name, "loopback", type) == 0)
		return &loopback;
	if (type == strlen("scif") && strncasecmp(name, "scif", type) == 0 && unit == 0)
		return &fabric;
	if (type == strlen("mic") && strncasecmp(name, "mic", type) == 0 && unit < MIC_UNITS)
		return &mic[unit];
	return NULL;
}
