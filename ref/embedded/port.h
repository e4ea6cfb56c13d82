/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports: abstract socket names, kept by the kernel and freed by it when the
 * socket that holds one is gone.
 */
#ifndef SCIF_EMBEDDED_PORT_H
#define SCIF_EMBEDDED_PORT_H

#include <stdbool.h>
#include <stdint.h>

/* Binds the socket to the port; 0, -EINVAL when it is taken, or another -errno. */
int port_bind(int sock, uint16_t port);
/* Binds it to a free port of the ephemeral range; the port, or -ENOSPC. */
int port_bind_any(int sock);
/* A port of ours was freed: the next search starts there or lower. */
void port_freed(uint16_t port);

enum { PORT_PRIVILEGED_END = 1024 };
bool port_privileged_caller(void);

#endif
