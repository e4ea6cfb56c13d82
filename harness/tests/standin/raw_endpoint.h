/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints in the states that the cases start from, made with raw requests. */
#ifndef STANDIN_RAW_ENDPOINT_H
#define STANDIN_RAW_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

int endpoint(void);
int endpoint_bound(uint16_t *port); /* to a port that the driver chose */
int endpoint_listening(uint16_t *port);

struct raw_pair {
	int listener;
	int connector;
	int acceptor;
	uint16_t listener_port;
	uint16_t connector_port;
};

/* Connects and accepts; the listener stays open. */
struct raw_pair raw_pair(void);
void raw_pair_close(struct raw_pair *pair);

/* Starts a connect that completes once `pair_accept` has run. */
int connector_pending(uint16_t port);
void connector_collect(int fd, uint16_t port);
int accept_on_new_descriptor(int listener);

/* A window at a fixed offset; bails out if it cannot be had. */
void window_open(int fd, void *memory, size_t length, uint64_t offset, int protection);

#endif
