/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares every constant, size, offset, sign and failure value of the headers with what the real
 * interface has.
 */
#include "scif.h"
#include "scif_event.h"
#include "table.h"

#define FUNCTION(name, result, parameters)                                                         \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), result parameters),          \
		       "prototype of " #name);
#include "functions.def"
FUNCTION(scif_get_fd, int, (scif_epd_t))
FUNCTION(scif_event_register, int, (scif_event_handler_t))

static const struct row constants[] = {
#define VALUE(name, number) {#name, (long long)(name), number},
#include "values.def"
};

static const struct row layout[] = {
	SIZE(scif_epd_t, 4),
	FACT((scif_epd_t)-1 < 0),
	SIZE(struct scif_portID, 4),
	OFFSET(struct scif_portID, node, 0),
	MEMBER(struct scif_portID, node, 2),
	OFFSET(struct scif_portID, port, 2),
	MEMBER(struct scif_portID, port, 2),
	SAME(__typeof__(((struct scif_portID *)NULL)->node), uint16_t),
	SAME(__typeof__(((struct scif_portID *)NULL)->port), uint16_t),
	SIZE(portID_t, 4),
	SAME(portID_t, struct scif_portID),
	SIZE(struct scif_pollepd, 8),
	OFFSET(struct scif_pollepd, epd, 0),
	MEMBER(struct scif_pollepd, epd, 4),
	OFFSET(struct scif_pollepd, events, 4),
	MEMBER(struct scif_pollepd, events, 2),
	OFFSET(struct scif_pollepd, revents, 6),
	MEMBER(struct scif_pollepd, revents, 2),
	SIZE(struct pollfd, sizeof(struct scif_pollepd)),
	SIZE(off_t, 8),
	FACT(SCIF_OPEN_FAILED == -1),
	SAME(__typeof__(SCIF_OPEN_FAILED), scif_epd_t),
	FACT(SCIF_REGISTER_FAILED == -1),
	SAME(__typeof__(SCIF_REGISTER_FAILED), off_t),
	FACT(SCIF_MMAP_FAILED == (void *)-1),
	SAME(__typeof__(SCIF_MMAP_FAILED), void *),
	SIZE(enum scif_event, 4),
	SIZE(union scif_event_data, 2),
	MEMBER(union scif_event_data, scif_node_added, 2),
	OFFSET(union scif_event_data, scif_node_added, 0),
	MEMBER(union scif_event_data, scif_node_removed, 2),
	OFFSET(union scif_event_data, scif_node_removed, 0),
};

int main(void)
{
	const struct row calls[] = {
		{"scif_get_fd(5)", scif_get_fd(5), 5},
		{"scif_get_fd(-7)", scif_get_fd(-7), -7},
	};
	unsigned wrong = compare(constants, sizeof(constants) / sizeof(constants[0]));

	wrong += compare(layout, sizeof(layout) / sizeof(layout[0]));
	wrong += compare(calls, sizeof(calls) / sizeof(calls[0]));
	return wrong != 0;
}
