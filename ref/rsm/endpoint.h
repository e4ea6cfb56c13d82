/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCIF endpoints as this library uses them: descriptor 3 or above, closed by exec and in forked
 * children, never blocking for longer than the caller allows.
 */
#ifndef RSM_ENDPOINT_H
#define RSM_ENDPOINT_H

#include <scif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The endpoint, or -ENXIO, -ENODEV, -ENOMEM, -EMFILE. Also installs the fork handlers. */
int endpoint_open(void);

/* One request, without waiting for one: the endpoint or -EAGAIN, -ENOMEM, -EMFILE, -ENOENT. */
int endpoint_accept(scif_epd_t listener, struct scif_portID *peer);

/* Every endpoint that came from here is closed here. */
void endpoint_close(scif_epd_t epd);

/*
 * The same in two steps, because scif_close() may take long: fork must not wait for it, but a child
 * has to close its copy. The record stays until the second step is done.
 */
struct endpoint_closing {
	scif_epd_t epd; /* -1 once closed */
	ino_t inode;
};

void endpoint_close_begin(struct endpoint_closing *closing, scif_epd_t epd);
void endpoint_close_long(struct endpoint_closing *closing);
/* In a forked child, instead of the second step. */
void endpoint_close_copy(const struct endpoint_closing *closing);

/*
 * 0, -ECONNREFUSED, -ENODEV, -EINTR (only if interruptible), -ETIMEDOUT, -ENOMEM. The endpoint is
 * non-blocking afterwards.
 */
int endpoint_connect(scif_epd_t epd, uint16_t node, uint16_t port, uint64_t deadline_ns,
		     bool interruptible);

/* Whole messages: 0, -ECONNRESET, -ENODEV, -EINTR, -ETIMEDOUT, -ENOMEM. */
int endpoint_send(scif_epd_t epd, const void *bytes, size_t n, uint64_t deadline_ns,
		  bool interruptible);
int endpoint_receive(scif_epd_t epd, void *bytes, size_t n, uint64_t deadline_ns,
		     bool interruptible);

/* A forked child closes its copies of all endpoints, so that it keeps nobody's segment alive. */
void endpoint_atfork_prepare(void);
void endpoint_atfork_parent(void);
void endpoint_atfork_child(void);

#endif
