/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client side of the peer protocol (docs/peer-protocol.md). A peer hangs on a socket pair, so
 * that a dead one shows as end of file and writing to it raises no signal. It is started by
 * posix_spawn and not by fork: the implementation's fork handlers are part of what is tested, not
 * of the test.
 */
#include "engine.h"

#include <inttypes.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LINE_MAX_BYTES 1024
#define STOP_MS	       2000
#define DEFAULT_NODE   1

extern char **environ;

struct cts_peer {
	int fd;		  /* -1: gone */
	pid_t pid;	  /* what was started: the peer, or its launcher */
	pid_t remote_pid; /* as the peer itself says */
	uint16_t node;
	bool expected_end; /* somebody asked for its death */
	pthread_mutex_t lock;
	char text[LINE_MAX_BYTES]; /* after the value of the last reply */
	char bytes[LINE_MAX_BYTES * 2];
	size_t used;
};

static struct cts_peer peers[PEERS_MOST];
static int peer_count;
static struct cts_peer *default_peer;
static bool node_lost[CHANGED_NODES];
static char *extra_setting;

void peers_setting(const char *setting)
{
	free(extra_setting);
	extra_setting = setting ? strdup(setting) : NULL;
}

/* The environment of the peer: ours with another node. */
static char **peer_environment(char *node_setting)
{
	size_t count = 0, used = 0;

	while (environ[count])
		count++;
	char **copy = calloc(count + 3, sizeof *copy);
	for (size_t i = 0; copy && i < count; i++)
		if (strncmp(environ[i], "SCIF_NODE=", 10))
			copy[used++] = environ[i];
	if (!copy)
		cts_unresolved("no memory for a peer");
	copy[used++] = node_setting;
	copy[used] = extra_setting;
	return copy;
}

static int spawn_on(int fd, char *const argv[], const char *program, char **environment, pid_t *pid)
{
	posix_spawn_file_actions_t actions;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	int err = posix_spawn(pid, program, &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

static int spawn_peer(struct cts_peer *p, int fd, int node, char *uid)
{
	char node_setting[32], command[1024];
	char *direct[] = {(char *)(uintptr_t)settings.peer, NULL, NULL, NULL, NULL};
	char *shell[] = {"sh", "-c", command, NULL};
	int words = 1;

	snprintf(node_setting, sizeof node_setting, "SCIF_NODE=%d", node);
	char **environment = peer_environment(node_setting);
	if (*uid) {
		direct[words++] = "--uid";
		direct[words++] = uid;
	}
	/* The death signal follows the thread that started the peer, and this one may be
	 * short-lived. */
	if (gettid() != getpid())
		direct[words++] = "--outlive-thread";
	snprintf(command, sizeof command, "%s %s%s%s",
		 settings.peer_launch ? settings.peer_launch : "", settings.peer,
		 *uid ? " --uid " : "", uid);
	int err = settings.peer_launch ? spawn_on(fd, shell, "/bin/sh", environment, &p->pid)
				       : spawn_on(fd, direct, settings.peer, environment, &p->pid);
	free(environment);
	return err;
}

static void reap(struct cts_peer *p, int *status)
{
	close(p->fd);
	p->fd = -1;
	while (waitpid(p->pid, status, 0) == -1 && errno == EINTR)
		;
}

/* The signal that ended a peer, or 0. A launch command that waits for it tells by its own status,
 * as a shell does. */
static int ending_signal(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	if (settings.peer_launch && WEXITSTATUS(status) > 128 &&
	    WEXITSTATUS(status) <= 128 + SIGRTMAX)
		return WEXITSTATUS(status) - 128;
	return 0;
}

static void status_text(int status, char *out, size_t size)
{
	const char *name = ending_signal(status) ? sigabbrev_np(ending_signal(status)) : NULL;

	if (name)
		snprintf(out, size, "signal %s", name);
	else if (ending_signal(status))
		snprintf(out, size, "signal %d", ending_signal(status));
	else
		snprintf(out, size, "status %d", WEXITSTATUS(status));
}

/* A peer that ends unasked: during the call that is the implementation's doing, before it the
 * set-up's. */
_Noreturn static void peer_ended(struct cts_peer *p, const char *doing)
{
	int status = 0;
	char text[64];

	reap(p, &status);
	status_text(status, text, sizeof text);
	if (ending_signal(status) && shared->phase > PHASE_SETUP)
		verdict_set(FAIL, KIND_CRASH, "the peer ended with %s during %s", text, doing);
	else
		verdict_set(UNRESOLVED, KIND_NONE, "the peer ended with %s during %s", text, doing);
	case_end();
}

/* One reply line without its end; NULL when the peer is gone or, `end` having passed, silent. */
static char *read_line(struct cts_peer *p, char *line, int64_t end)
{
	for (;;) {
		char *newline = memchr(p->bytes, '\n', p->used);

		if (newline) {
			size_t len = (size_t)(newline - p->bytes);

			memcpy(line, p->bytes, len);
			line[len] = '\0';
			p->used -= len + 1;
			memmove(p->bytes, newline + 1, p->used);
			return line;
		}
		struct pollfd entry = {.fd = p->fd, .events = POLLIN};
		int64_t left = end - now_ms();
		if (left <= 0 || p->used >= LINE_MAX_BYTES)
			return NULL;
		if (poll(&entry, 1, (int)left) <= 0)
			continue;
		ssize_t got = read(p->fd, p->bytes + p->used, sizeof p->bytes - p->used);
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			return NULL;
		p->used += (size_t)got;
	}
}

static bool write_line(struct cts_peer *p, const char *line, size_t len)
{
	while (len) {
		ssize_t put = send(p->fd, line, len, MSG_NOSIGNAL);

		if (put == -1 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		line += put;
		len -= (size_t)put;
	}
	return true;
}

/* When a peer that is told to end must have done so. */
static int64_t end_of_stop(void)
{
	return now_ms() + (int64_t)(STOP_MS * settings.timeout_scale);
}

static int64_t patience(void)
{
	return cts_time_left() ? now_ms() + (int64_t)(case_timeout(current) * 1000) : end_of_stop();
}

enum exchange { EXCHANGED, PEER_GONE, PEER_SILENT };

static void note_pending(const struct cts_peer *p, const char *request, size_t length)
{
	if (length >= sizeof shared->pending->request)
		length = 0;
	memcpy(shared->pending[p - peers].request, request, length);
	shared->pending[p - peers].request[length] = '\0';
	shared->pending[p - peers].since = now_ms();
}

void peers_tell_pending(void)
{
	for (int i = 0; i < PEERS_MOST; i++) {
		if (*shared->pending[i].request)
			observe_pending(i + 1, shared->pending[i].request,
					(long)(now_ms() - shared->pending[i].since) / 1000);
	}
}

static enum exchange exchange(struct cts_peer *p, const char *request, char *reply)
{
	enum exchange how = EXCHANGED;
	size_t length = strcspn(request, "\n");

	pthread_mutex_lock(&p->lock);
	int64_t end = patience();
	note_pending(p, request, length);
	if (!write_line(p, request, strlen(request)) || !read_line(p, reply, end))
		how = now_ms() >= end ? PEER_SILENT : PEER_GONE;
	observe_exchange((int)(p - peers) + 1, request, length,
			 how == EXCHANGED ? reply : NULL);
	*shared->pending[p - peers].request = '\0';
	pthread_mutex_unlock(&p->lock);
	return how;
}

static struct cts_result parse_reply(struct cts_peer *p, const char *request, const char *reply)
{
	struct cts_result r = {0, 0};
	char *rest;

	p->text[0] = '\0';
	if (!strncmp(reply, "ok ", 3)) {
		r.ret = (intptr_t)strtoimax(reply + 3, &rest, 10);
		snprintf(p->text, sizeof p->text, "%s", *rest ? rest + 1 : "");
		return r;
	}
	if (!strncmp(reply, "err ", 4)) {
		r.ret = -1;
		r.err = cts_api->error_number(reply + 4);
		return r;
	}
	if (!strncmp(reply, "bad userfaultfd", 15))
		cts_untested("in the peer, %s", reply + 4);
	cts_unresolved("the peer answered \"%s\" to \"%.*s\"", reply, (int)strcspn(request, "\n"),
		       request);
}

static struct cts_result call_peer(struct cts_peer *p, const char *request)
{
	char reply[LINE_MAX_BYTES + 1];

	if (p->fd == -1)
		cts_unresolved("the peer is gone, so it cannot do \"%.*s\"",
			       (int)strcspn(request, "\n"), request);
	switch (exchange(p, request, reply)) {
	case EXCHANGED:
		return parse_reply(p, request, reply);
	case PEER_SILENT:
		waited_in_vain("the peer does not answer");
	default:
		peer_ended(p, request);
	}
}

static size_t format_request(char *out, const char *prefix, const char *format, va_list args)
{
	size_t used = (size_t)(stpcpy(out, prefix) - out);
	int n = vsnprintf(out + used, LINE_MAX_BYTES - used - 1, format, args);

	if (n < 0 || used + (size_t)n + 1 >= LINE_MAX_BYTES)
		cts_unresolved("a request to the peer is too long");
	strcpy(out + used + n, "\n");
	return used + (size_t)n + 1;
}

struct cts_result cts_peer_call(struct cts_peer *p, const char *format, ...)
{
	char request[LINE_MAX_BYTES];
	va_list args;

	va_start(args, format);
	format_request(request, "", format, args);
	va_end(args);
	return call_peer(p, request);
}

const char *cts_peer_text(struct cts_peer *p)
{
	return p->text;
}

int cts_peer_begin(struct cts_peer *p, const char *format, ...)
{
	char request[LINE_MAX_BYTES];
	va_list args;

	va_start(args, format);
	format_request(request, "&", format, args);
	va_end(args);
	return (int)call_peer(p, request).ret;
}

void cts_peer_asleep(struct cts_peer *p, int tag)
{
	if (!cts_peer_call(p, "asleep %d", tag).ret)
		cts_unresolved("a call of the peer returned instead of waiting");
}

void cts_peer_interrupt(struct cts_peer *p, int tag)
{
	cts_peer_call(p, "interrupt %d", tag);
}

struct cts_result cts_peer_end(struct cts_peer *p, int tag)
{
	return cts_peer_call(p, "end %d", tag);
}

static void greet(struct cts_peer *p, int node)
{
	int pid = 0, told = -1;

	if (cts_peer_call(p, "hello 1").ret != 1 || sscanf(p->text, "%d %d", &pid, &told) != 2)
		cts_unresolved("the peer's greeting is not understood: %s", p->text);
	p->remote_pid = pid;
	p->node = (uint16_t)(told == -1 ? node : told);
}

static struct cts_peer *start(int node, const char *uid)
{
	struct cts_peer *p = &peers[peer_count];
	char uid_text[16];
	int pair[2];

	if (!settings.peer)
		cts_unresolved("no peer program was named (CTS_PEER)");
	if (peer_count == PEERS_MOST)
		cts_unresolved("too many peers");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		cts_unresolved("socketpair: %s", strerror(errno));
	memset(p, 0, sizeof *p);
	pthread_mutex_init(&p->lock, NULL);
	snprintf(uid_text, sizeof uid_text, "%s", uid);
	int err = spawn_peer(p, pair[1], node, uid_text);
	close(pair[1]);
	p->fd = pair[0];
	if (err) {
		close(p->fd);
		cts_unresolved("cannot start %s: %s", settings.peer, strerror(err));
	}
	peer_count++;
	greet(p, node);
	return p;
}

struct cts_peer *cts_peer_start(int node)
{
	return start(node, "");
}

struct cts_peer *cts_peer_start_as(int node, uid_t uid)
{
	char text[16];

	cts_need("root");
	cts_need("other_user");
	snprintf(text, sizeof text, "%u", (unsigned)uid);
	return start(node, text);
}

struct cts_peer *cts_peer(void)
{
	if (!default_peer || default_peer->fd == -1)
		default_peer =
			cts_peer_start(node_lost[DEFAULT_NODE] ? cts_self_node() : DEFAULT_NODE);
	return default_peer;
}

uint16_t cts_peer_node(struct cts_peer *p)
{
	return p->node;
}

pid_t cts_peer_pid(struct cts_peer *p)
{
	return p->remote_pid;
}

/* Waits until the process itself is gone, so that what the kernel does at its end has been done. */
static void await_end(struct cts_peer *p)
{
	char line[LINE_MAX_BYTES + 1];
	int status;
	int64_t end = patience();

	while (read_line(p, line, end))
		;
	if (now_ms() >= end)
		waited_in_vain("a peer does not end");
	reap(p, &status);
	p->expected_end = true;
	cts_api->peer_ended(p);
}

static void tell_to_end(struct cts_peer *p, const char *verb)
{
	if (p->fd == -1)
		cts_unresolved("the peer is gone already");
	observe_event("si", "peer-end", (intptr_t)(p - peers) + 1);
	if (!write_line(p, verb, strlen(verb)))
		peer_ended(p, verb);
	await_end(p);
}

void cts_peer_die(struct cts_peer *p)
{
	tell_to_end(p, "die\n");
}

void cts_peer_exit(struct cts_peer *p)
{
	tell_to_end(p, "exit\n");
}

void cts_peer_kill(struct cts_peer *p)
{
	if (settings.peer_launch) {
		cts_peer_die(p);
		return;
	}
	observe_event("si", "peer-end", (intptr_t)(p - peers) + 1);
	kill(p->pid, SIGKILL);
	await_end(p);
}

/* A signal to stop is only asked for by kill; what comes after must find the peer stopped. */
void cts_peer_stall_process(struct cts_peer *p, bool stopped)
{
	siginfo_t info;

	if (settings.peer_launch)
		cts_untested("a peer behind a launch command cannot be stopped");
	if (kill(p->pid, stopped ? SIGSTOP : SIGCONT) == -1)
		cts_unresolved("signal to the peer: %s", strerror(errno));
	while (stopped && waitid(P_PID, (id_t)p->pid, &info, WSTOPPED | WEXITED | WNOWAIT) == -1 &&
	       errno == EINTR)
		;
}

void cts_peer_stop(struct cts_peer *p)
{
	cts_peer_call(p, "stop");
	await_end(p);
}

/* The peer gets its own time to end: an exit handler of the implementation may have something to
 * do. */
static void stop_at_end(struct cts_peer *p)
{
	char line[LINE_MAX_BYTES + 1], text[64];
	int status = 0;
	int64_t end = end_of_stop();

	if (pthread_mutex_trylock(&p->lock)) {
		kill(p->pid, SIGKILL);
		reap(p, &status);
		return;
	}
	while (read_line(p, line, end))
		;
	bool in_time = now_ms() < end;
	if (!in_time)
		kill(p->pid, SIGKILL);
	reap(p, &status);
	status_text(status, text, sizeof text);
	if (!in_time)
		verdict_set(UNRESOLVED, KIND_NONE, "the peer did not end by the handshake");
	else if (ending_signal(status))
		verdict_set(FAIL, KIND_CRASH, "the peer ended with %s", text);
	else if (status)
		verdict_set(UNRESOLVED, KIND_NONE, "the peer ended with %s", text);
	pthread_mutex_unlock(&p->lock);
}

void peers_stop(void)
{
	for (int i = 0; i < peer_count; i++) {
		if (peers[i].fd == -1)
			continue;
		if (!settings.peer_launch)
			kill(peers[i].pid, SIGCONT);
		write_line(&peers[i], "stop\n", 5);
	}
	for (int i = 0; i < peer_count; i++)
		if (peers[i].fd != -1)
			stop_at_end(&peers[i]);
	peers_forget();
}

void peers_kill(void)
{
	int status;

	for (int i = 0; i < peer_count; i++) {
		if (peers[i].fd == -1)
			continue;
		kill(peers[i].pid, SIGKILL);
		reap(&peers[i], &status);
	}
}

void peers_forget_node(int node)
{
	if (node >= 0 && node < CHANGED_NODES)
		node_lost[node] = true;
	for (int i = 0; i < peer_count; i++)
		if (peers[i].fd != -1 && peers[i].node == node)
			await_end(&peers[i]);
}

/* A child closes its copies of the sockets, so that the peers see the end of the parent and not its
 * own. */
void peers_forget(void)
{
	for (int i = 0; i < peer_count; i++)
		if (peers[i].fd != -1)
			close(peers[i].fd);
	peer_count = 0;
	default_peer = NULL;
	cts_api->forget();
	memset(node_lost, 0, sizeof node_lost);
}
