/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes and port ranges are changed by commands that the implementation's owner names, never by the
 * suite itself. Whatever a case changed is undone when it ends, by itself or by the process that
 * watches over it.
 */
#include "engine.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define EPHEMERAL_LOW  1088
#define EPHEMERAL_HIGH 65535
/* How an adapter ends that is unable to do what it is told, its reason being what it has printed.
 */
#define ADAPTER_UNABLE 77

extern char **environ;

/* Ours without what is preloaded: an adapter is no part of the test, and the implementation under
 * test, or a fault in it, has no business there. NULL without memory; to be freed. */
static char **adapter_environment(void)
{
	static const char preload[] = "LD_PRELOAD=";
	size_t count = 0, used = 0;

	while (environ[count])
		count++;
	char **copy = calloc(count + 1, sizeof *copy);
	for (size_t i = 0; copy && i < count; i++)
		if (strncmp(environ[i], preload, strlen(preload)))
			copy[used++] = environ[i];
	return copy;
}

/* The exit status of `command words`; its output goes to a file, because what it leaves running
 * would keep a pipe open. */
static int spawn_adapter(const char *command, const char *words, int output)
{
	char line[1024];
	char *argv[] = {"sh", "-c", line, NULL};
	posix_spawn_file_actions_t actions;
	int status = -1;
	char **environment = adapter_environment();
	pid_t pid;

	if (!environment)
		return -1;
	snprintf(line, sizeof line, "%s %s", command, words);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (output == -1)
		posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	else
		posix_spawn_file_actions_adddup2(&actions, output, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	int err = posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	if (err)
		return -1;
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The same, with the first line that it prints. */
static int ask_adapter(const char *command, const char *words, char *said, size_t size)
{
	int output = memfd_create("adapter", MFD_CLOEXEC);
	int status = spawn_adapter(command, words, output);
	ssize_t got = output == -1 ? -1 : pread(output, said, size - 1, 0);

	if (output != -1)
		close(output);
	said[got > 0 ? got : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	return status;
}

static int run_adapter(const char *command, const char *words)
{
	return spawn_adapter(command, words, -1);
}

static void note_node(int node, bool added)
{
	for (int i = 0; i < shared->changed_node_count; i++)
		if (shared->changed_nodes[i] == node)
			return;
	if (shared->changed_node_count == CHANGED_NODES)
		cts_unresolved("too many nodes changed");
	shared->added_nodes[shared->changed_node_count] = added;
	shared->changed_nodes[shared->changed_node_count++] = node;
}

void cts_node(int node, const char *state)
{
	char words[64], said[200];
	int noted = shared->changed_node_count;

	cts_need("node_adapter");
	note_node(node, strcmp(state, "add") == 0);
	observe_event("sis", "node", (intptr_t)node, state);
	snprintf(words, sizeof words, "%s %d", state, node);
	int status = ask_adapter(settings.node_adapter, words, said, sizeof said);
	if (status == ADAPTER_UNABLE) {
		shared->changed_node_count = noted;
		cts_untested("node adapter: %s", *said ? said : "it is unable to do that");
	}
	if (status)
		cts_unresolved("node adapter: %s ended with status %d", words, status);
	if (!strcmp(state, "down"))
		peers_forget_node(node);
}

void cts_ports(unsigned low, unsigned high)
{
	char words[64];

	cts_need("port_adapter");
	shared->changed_ports = true;
	snprintf(words, sizeof words, "%u-%u", low, high);
	int status = run_adapter(settings.port_adapter, words);
	if (status)
		cts_unresolved("port adapter: %s ended with status %d", words, status);
}

void cts_other_version(bool on)
{
	cts_need("version_adapter");
	shared->changed_version = on;
	int status = run_adapter(settings.version_adapter, on ? "on" : "off");
	if (status)
		cts_unresolved("version adapter: it ended with status %d", status);
}

void ports_restore(struct shared_case *s)
{
	char words[64];

	s->changed_ports = false;
	snprintf(words, sizeof words, "%d-%d", EPHEMERAL_LOW, EPHEMERAL_HIGH);
	if (run_adapter(settings.port_adapter, words))
		verdict_set(UNRESOLVED, KIND_NONE, "port adapter: %s failed", words);
}

void adapters_undo(struct shared_case *s)
{
	char words[64];

	if (s->changed_node_count || s->changed_ports || s->changed_version)
		setenv("SCIF_FABRIC", s->fabric, 1);
	if (s->changed_version && run_adapter(settings.version_adapter, "off"))
		verdict_set(UNRESOLVED, KIND_NONE, "version adapter: off failed");
	s->changed_version = false;
	while (s->changed_node_count) {
		int last = --s->changed_node_count;

		snprintf(words, sizeof words, "%s %d", s->added_nodes[last] ? "remove" : "up",
			 s->changed_nodes[last]);
		if (run_adapter(settings.node_adapter, words))
			verdict_set(UNRESOLVED, KIND_NONE, "node adapter: %s failed", words);
	}
	if (s->changed_ports)
		ports_restore(s);
}

uint16_t cts_self_node(void)
{
	return (uint16_t)cts_api->self_node();
}

int cts_node_count(void)
{
	return cts_api->node_count();
}
