/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A channel moves messages of the same size both ways between driver and partner.  Whatever its
 * kind, the loops around it are the same.
 */
#ifndef BENCH_CHANNEL_H
#define BENCH_CHANNEL_H

#include "bench.h"

enum { MOST_CONNECTIONS = 8, MESSAGE_LENGTH = 65536 };

struct channel {
	void (*open)(struct pair *pair, unsigned connections);
	void (*send)(const struct pair *pair, unsigned connection, size_t length);
	void (*receive)(const struct pair *pair, unsigned connection, size_t length);
};

extern char channel_message[MESSAGE_LENGTH];

extern const struct channel channel_scif, channel_scif_polling;
extern const struct channel channel_unix, channel_unix_polling, channel_pipe, channel_eventfd;
extern const struct channel channel_rsm_signal;
extern const struct channel channel_futex, channel_word;

#endif
