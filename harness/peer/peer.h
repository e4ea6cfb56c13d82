/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests and replies of the peer programs: see docs/peer-protocol.md. */
#ifndef CTS_PEER_H
#define CTS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_LINE     1024
#define PEER_ARGS     80
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
	const char *error;	   /* of REPLY_ERR */
	char text[PEER_LINE - 64]; /* after the value, or the reason of REPLY_BAD */
};

bool request_parse(struct request *r, const char *line);
intmax_t request_number(const struct request *r, int i);
void *request_address(const struct request *r, int i);

void reply_bad(struct reply *reply, const char *reason);
void reply_value(struct reply *reply, intmax_t ret);
void reply_error(struct reply *reply, const char *name);
/* The result of a call: its value, or the errno of this thread when it is -1. */
void reply_result(struct reply *reply, intmax_t ret);
size_t reply_format(const struct reply *reply, char *out, size_t size);

/* Verbs that make calls of the API and verbs that touch memory; false: no such verb there. */
bool run_call(const struct request *request, struct reply *reply);
bool run_memory(const struct request *request, struct reply *reply);

/* What else a peer program of one API says: scif_calls.c, rsm_calls.c. */
extern const char *const peer_program;
extern const char *const *const peer_functions; /* proven to come from CTS_IMPL */
extern const char *const *const peer_substrate; /* proven to come from CTS_SCIF; or NULL */
int peer_node(void);				/* -1: the library does not tell */

/* Verbs that run in threads of their own. */
void task_begin(const struct request *request, struct reply *reply);
bool run_task(const struct request *request, struct reply *reply);
void tasks_init(void);

struct verb {
	const char *name;
	int args; /* below 0: at least so many, counted from -1 for none */
	void (*run)(const struct request *request, struct reply *reply);
};
bool run_verb(const struct verb *table, size_t count, const struct request *request,
	      struct reply *reply);

#endif
