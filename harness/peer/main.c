/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second party of a conformance case: scif-cts-peer, rsm-cts-peer. It obeys the line protocol
 * of docs/peer-protocol.md on standard input and output, using nothing but the public interface of
 * its API, and ends by handshake (stop), at the end of its input, or with its parent.
 */
#include "peer.h"

#include "../runtime/symbols.h"
#include "docs/scif-cts-peer.usage.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct input {
	char bytes[PEER_LINE * 4];
	size_t used;
};

/* 1: a line; 0: end of input; -1: a line that is too long. */
static int input_line(struct input *in, char *line)
{
	for (;;) {
		char *end = memchr(in->bytes, '\n', in->used);

		if (end) {
			size_t len = (size_t)(end - in->bytes);

			if (len >= PEER_LINE)
				return -1;
			memcpy(line, in->bytes, len);
			line[len] = '\0';
			in->used -= len + 1;
			memmove(in->bytes, end + 1, in->used);
			return 1;
		}
		if (in->used == sizeof in->bytes)
			return -1;
		ssize_t got = read(STDIN_FILENO, in->bytes + in->used, sizeof in->bytes - in->used);
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		in->used += (size_t)got;
	}
}

static void put(const struct reply *reply)
{
	char line[PEER_LINE];
	size_t len = reply_format(reply, line, sizeof line), done = 0;

	while (done < len) {
		ssize_t put = write(STDOUT_FILENO, line + done, len - done);

		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1)
			exit(0);
		done += (size_t)put;
	}
}

static bool proven(const char *const *functions, const char *impl, struct reply *reply)
{
	if (!functions || !impl || !*impl ||
	    symbols_proven(functions, impl, reply->text, sizeof reply->text))
		return true;
	reply->kind = REPLY_BAD;
	return false;
}

/* hello VERSION: the protocol spoken, then pid, node (-1: the library does not tell) and library.
 */
static void hello(const struct request *request, struct reply *reply)
{
	const char *impl = getenv("CTS_IMPL"), *substrate = getenv("CTS_SCIF");
	char path[PATH_MAX];

	if (request->argc != 1 || request_number(request, 0) != PEER_PROTOCOL) {
		reply_bad(reply, "protocol version differs");
		return;
	}
	if (!proven(peer_functions, impl, reply) || !proven(peer_substrate, substrate, reply))
		return;
	int node = peer_node();
	symbols_library(peer_functions[0], path, sizeof path);
	reply_value(reply, PEER_PROTOCOL);
	snprintf(reply->text, sizeof reply->text, "%d %d %.512s", (int)getpid(), node, path);
}

static bool run_process(const struct request *request, struct reply *reply)
{
	if (!strcmp(request->verb, "hello")) {
		hello(request, reply);
	} else if (!strcmp(request->verb, "stop")) {
		reply_value(reply, 0);
		put(reply);
		exit(0);
	} else if (!strcmp(request->verb, "exit")) {
		exit(0);
	} else if (!strcmp(request->verb, "die")) {
		raise(SIGKILL);
	} else {
		return false;
	}
	return true;
}

static void run(const char *line, struct reply *reply)
{
	struct request request;

	if (!request_parse(&request, line)) {
		reply_bad(reply, "malformed line");
		return;
	}
	errno = 0;
	if (request.verb[0] == '&') {
		task_begin(&request, reply);
		return;
	}
	if (run_call(&request, reply) || run_memory(&request, reply) || run_task(&request, reply) ||
	    run_process(&request, reply))
		return;
	reply_bad(reply, "no such verb");
}

static void become(uid_t uid)
{
	if (setresgid(uid, uid, uid) == -1 || setresuid(uid, uid, uid) == -1) {
		fprintf(stderr, "%s: cannot change user: %s\n", peer_program, strerror(errno));
		exit(3);
	}
	/* An ordinary process of that user, which the change of user alone would not make it. */
	prctl(PR_SET_DUMPABLE, 1);
}

static bool options(int argc, char **argv, const char **uid, bool *outlive)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--outlive-thread")) {
			*outlive = true;
		} else if (!strcmp(argv[i], "--uid") && i + 1 < argc) {
			*uid = argv[++i];
		} else {
			fputs(USAGE_TEXT, stderr);
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	struct input in = {.used = 0};
	char line[PEER_LINE];
	const char *uid = NULL;
	bool outlive = false;
	int more;

	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))) {
		fputs(USAGE_TEXT, stdout);
		return 0;
	}
	if (!options(argc, argv, &uid, &outlive))
		return 2;
	if (uid)
		become((uid_t)strtoul(uid, NULL, 10));
	/* After the change of user, which would clear it; a parent that is gone already shows as
	 * end of input. */
	if (!outlive)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	tasks_init();
	while ((more = input_line(&in, line)) != 0) {
		struct reply reply = {.kind = REPLY_NONE};

		if (more == -1) {
			reply_bad(&reply, "line too long");
			put(&reply);
			return 2;
		}
		run(line, &reply);
		put(&reply);
	}
	return 0;
}
