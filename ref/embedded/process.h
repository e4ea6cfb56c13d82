/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process owns once in the fabric: its named datagram socket, its view of the node table and its
 * registry.  All of it is made at the first scif_open and made again in a forked child at first use.
 */
#ifndef EMBEDDED_PROCESS_H
#define EMBEDDED_PROCESS_H

/* 0, -ENXIO (bad environment, other fabric version, own node down), -ENOMEM, -EMFILE, -ENFILE. */
int process_init(void);

/*
 * The process's datagram socket, readable when the node table may have changed; -1 when there is none.
 * Whoever finds it readable calls process_refresh(), which empties it: another sleeper may not see that
 * message.  The loss of a node is therefore always visible on the connection as well, as HUP.
 */
int process_wake_fd(void);

/* Takes in what is waiting on the socket; never blocks. */
void process_refresh(void);

/* A descriptor that process_refresh() writes to when the node table changed; -1 to stop. */
void process_notify(int eventfd);

#endif
