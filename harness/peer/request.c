/* SPDX-License-Identifier: BSD-2-Clause */
/* One line in, one line out: parsing of requests and formatting of replies. */
#include "peer.h"

#include "../runtime/errname.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool request_parse(struct request *r, const char *line)
{
	char *rest;

	if (strlen(line) >= sizeof r->line)
		return false;
	strcpy(r->line, line);
	r->argc = 0;
	r->verb = strtok_r(r->line, " ", &rest);
	if (!r->verb)
		return false;
	for (char *word; (word = strtok_r(NULL, " ", &rest)); r->argv[r->argc++] = word)
		if (r->argc == PEER_ARGS)
			return false;
	return true;
}

intmax_t request_number(const struct request *r, int i)
{
	const char *text = r->argv[i];

	return *text == '-' ? strtoimax(text, NULL, 0) : (intmax_t)strtoumax(text, NULL, 0);
}

void *request_address(const struct request *r, int i)
{
	return (void *)(uintptr_t)strtoumax(r->argv[i], NULL, 0);
}

void reply_bad(struct reply *reply, const char *reason)
{
	reply->kind = REPLY_BAD;
	snprintf(reply->text, sizeof reply->text, "%s", reason);
}

void reply_value(struct reply *reply, intmax_t ret)
{
	reply->kind = REPLY_OK;
	reply->ret = ret;
}

void reply_error(struct reply *reply, const char *name)
{
	reply->kind = REPLY_ERR;
	reply->error = name;
}

void reply_result(struct reply *reply, intmax_t ret)
{
	if (ret == -1)
		reply_error(reply, cts_errname(errno));
	else
		reply_value(reply, ret);
}

size_t reply_format(const struct reply *reply, char *out, size_t size)
{
	int n = 0;

	switch (reply->kind) {
	case REPLY_OK:
		n = snprintf(out, size, "ok %" PRIdMAX "%s%s\n", reply->ret,
			     *reply->text ? " " : "", reply->text);
		break;
	case REPLY_ERR:
		n = snprintf(out, size, "err %s\n", reply->error);
		break;
	case REPLY_BAD:
		n = snprintf(out, size, "bad %s\n", reply->text);
		break;
	case REPLY_NONE:
		break;
	}
	return (size_t)n;
}

bool run_verb(const struct verb *table, size_t count, const struct request *request,
	      struct reply *reply)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(table[i].name, request->verb))
			continue;
		int args = table[i].args;

		if (args < 0 ? request->argc >= -1 - args : request->argc == args)
			table[i].run(request, reply);
		else
			reply_bad(reply, "wrong number of arguments");
		return true;
	}
	return false;
}
