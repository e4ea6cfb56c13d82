/* SPDX-License-Identifier: BSD-2-Clause */
/* The partner listens, the driver connects. */
#include "scif_ends.h"

void scif_listener_open(const struct pair *pair, struct scif_listener *listener, int backlog)
{
	if (pair->partner == 0) {
		int port;

		listener->epd = scif_open();
		bench_must(pair, listener->epd != SCIF_OPEN_FAILED, "scif_open");
		port = scif_bind(listener->epd, 0);
		bench_must(pair, port > 0, "scif_bind");
		bench_must(pair, scif_listen(listener->epd, backlog) == 0, "scif_listen");
		bench_must(pair, scif_get_nodeIDs(NULL, 0, &listener->address.node) > 0,
			   "scif_get_nodeIDs");
		listener->address.port = (uint16_t)port;
		pair_tell(pair, &listener->address, sizeof(listener->address));
	} else {
		pair_hear(pair, &listener->address, sizeof(listener->address));
	}
}

void scif_ends_open(const struct pair *pair, scif_epd_t *epds, unsigned count)
{
	struct scif_listener listener;
	struct scif_portID peer;
	unsigned i;

	scif_listener_open(pair, &listener, 8);
	for (i = 0; i < count; i++) {
		if (pair->partner == 0) {
			bench_must(pair,
				   scif_accept(listener.epd, &peer, &epds[i], SCIF_ACCEPT_SYNC) ==
					   0,
				   "scif_accept");
			continue;
		}
		epds[i] = scif_open();
		bench_must(pair, epds[i] != SCIF_OPEN_FAILED, "scif_open");
		bench_must(pair, scif_connect(epds[i], &listener.address) >= 0, "scif_connect");
	}
	if (pair->partner == 0)
		bench_must(pair, scif_close(listener.epd) == 0, "scif_close");
}

off_t scif_window_of_partner(const struct pair *pair, scif_epd_t epd, void *pages, size_t length)
{
	off_t offset;

	if (pair->partner == 0) {
		offset = scif_register(epd, pages, length, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
		bench_must(pair, offset != SCIF_REGISTER_FAILED, "scif_register");
		pair_tell(pair, &offset, sizeof(offset));
	} else {
		pair_hear(pair, &offset, sizeof(offset));
	}
	return offset;
}
