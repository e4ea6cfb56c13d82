/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCIF endpoints as this library uses them: descriptor 3 or above, closed by exec, never blocking
 * for longer than the caller allows.
 */
#ifndef RSM_ENDPOINT_H
#define RSM_ENDPOINT_H

#include <scif.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The endpoint, or -ENXIO, -ENODEV, -ENOMEM, -EMFILE. Also installs the fork handlers. */
int endpoint_open(void);

/* Moves a fresh endpoint to 3 or above and sets FD_CLOEXEC; -errno closes it. */
int endpoint_settle(scif_epd_t epd);

/*
 * 0, -ECONNREFUSED, -ENODEV, -EINTR (only if interruptible), -ETIMEDOUT, -ENOMEM, -EMFILE. The
 * endpoint is non-blocking afterwards.
 */
int endpoint_connect(scif_epd_t epd, uint16_t node, uint16_t port, uint64_t deadline_ns,
		     bool interruptible);

/* Whole messages: 0, -ECONNRESET, -ENODEV, -EINTR, -ETIMEDOUT, -ENOMEM. */
int endpoint_send(scif_epd_t epd, const void *bytes, size_t n, uint64_t deadline_ns,
		  bool interruptible);
int endpoint_receive(scif_epd_t epd, void *bytes, size_t n, uint64_t deadline_ns,
		     bool interruptible);

#endif
