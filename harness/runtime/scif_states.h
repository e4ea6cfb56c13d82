/* SPDX-License-Identifier: BSD-2-Clause */
/* What the calls of a log have made of the endpoints of one process. */
#ifndef CTS_SCIF_STATES_H
#define CTS_SCIF_STATES_H

#define SCIF_STATES 1024

struct scif_states {
	const char *of[SCIF_STATES]; /* by descriptor; NULL: unknown */
};

const char *scif_state(const struct scif_states *states, int epd);
/* A call of FUNCTION on EPD that gave RET, ERR and, by accept, the endpoint MADE. */
void scif_states_follow(struct scif_states *states, const char *function, int epd, int ret, int err,
			int made);

#endif
