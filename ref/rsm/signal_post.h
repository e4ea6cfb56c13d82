/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals from an importer to its exporter.
 */
#ifndef RSM_SIGNAL_POST_H
#define RSM_SIGNAL_POST_H

#include "import.h"

/* RSM_SUCCESS, RSMERR_REMOTE_NODE_UNREACHABLE or RSMERR_CONN_ABORTED. Lock NOT held. */
int signal_exporter(struct import *m, bool accumulate);

/* Lock held, dropped meanwhile: waits until signals that were posted are sent, but not for long. */
void signal_send_rest(struct import *m);

#endif
