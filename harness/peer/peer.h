/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests and replies of scif-cts-peer: see docs/peer-protocol.md. */
#ifndef CTS_PEER_H
#define CTS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_LINE     1024
#define PEER_ARGS     12
#define PEER_PROTOCOL 1

struct request {
	char line[PEER_LINE];
	int argc; /* without the verb */
	const char *verb;
	const char *argv[PEER_ARGS];
};

enum reply_kind { REPLY_OK, REPLY_ERR, REPLY_BAD, REPLY_NONE };

struct reply {
	enum reply_kind kind;
	intmax_t ret;
	int err;
	char text[PEER_LINE - 64]; /* after the value, or the reason of REPLY_BAD */
};

bool request_parse(struct request *r, const char *line);
intmax_t request_number(const struct request *r, int i);
void *request_address(const struct request *r, int i);

void reply_bad(struct reply *reply, const char *reason);
void reply_value(struct reply *reply, intmax_t ret);
/* The result of a SCIF call: its value, or the errno of this thread when it is -1. */
void reply_result(struct reply *reply, intmax_t ret);
size_t reply_format(const struct reply *reply, char *out, size_t size);

/* Verbs that make SCIF calls (calls.c) and verbs that touch memory (memory.c); false: no such verb
 * there. */
bool run_call(const struct request *request, struct reply *reply);
bool run_memory(const struct request *request, struct reply *reply);

/* Verbs that run in threads of their own. */
void task_begin(const struct request *request, struct reply *reply);
bool run_task(const struct request *request, struct reply *reply);
void tasks_init(void);

struct verb {
	const char *name;
	int args;
	void (*run)(const struct request *request, struct reply *reply);
};
bool run_verb(const struct verb *table, size_t count, const struct request *request,
	      struct reply *reply);

#endif
