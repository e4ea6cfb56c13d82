/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of all measurements, in the order in which they are made. */
#include "subjects.h"

const struct measurement *const measurements[] = {
	&measurement_ping_pong,
	&measurement_wake,
	&measurement_stream,
	&measurement_stream_8,
	&measurement_write,
	&measurement_read,
	&measurement_write_unaligned,
	&measurement_read_unaligned,
	&measurement_store,
	&measurement_load,
	&measurement_fence,
	&measurement_register,
	&measurement_unregister,
	&measurement_windows,
	&measurement_connect,
	&measurement_poll,
	&measurement_putv,
	&measurement_barrier,
	&measurement_parts,
	NULL,
};
