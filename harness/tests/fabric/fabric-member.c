/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process on a fabric, for fabric-tool.sh.  It prints what it gets and lives until its input
 *ends.
 *
 *	open		opens an endpoint
 *	bind N		opens N endpoints, each bound to a port of the library's choice, and listens
 *	pair		an endpoint connected to another one of this process, both with a number above 5000
 *	watch		prints the events of the nodes
 *	watch-fork	the same, with a forked child that must stay silent
 *	watch-closed	the same, after the program closed what the library is woken by
 *	watch-forking	the same, with a handler that forks; tells how the child ended
 *	nodes		prints the nodes that are online
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scif.h"
#include "scif_event.h"

static void say(const char *what, int number)
{
	printf("%s %d\n", what, number);
	fflush(stdout);
}

static int fail(const char *what)
{
	printf("%s %s\n", what, strerrorname_np(errno));
	fflush(stdout);
	return 1;
}

static void live(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
}

static int bind_some(int count)
{
	for (int i = 0; i < count; i++) {
		scif_epd_t epd = scif_open();
		int port = epd == SCIF_OPEN_FAILED ? -1 : scif_bind(epd, 0);

		if (port < 0 || scif_listen(epd, 1) < 0)
			return fail("bind");
		say("port", port);
	}
	live();
	return 0;
}

/* Its own peer; endpoints with high numbers, since whoever looks on has a table by number. */
static int pair(void)
{
	struct rlimit most;
	struct scif_portID to = {0, 0}, from;
	scif_epd_t ends[2], accepted;
	uint16_t self;

	getrlimit(RLIMIT_NOFILE, &most);
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
	while (dup(STDIN_FILENO) < 5000)
		continue;
	for (int i = 0; i < 2; i++)
		ends[i] = scif_open();
	int port = scif_bind(ends[0], 0);
	if (port < 0 || scif_listen(ends[0], 1) < 0 || scif_get_nodeIDs(NULL, 0, &self) < 0)
		return fail("bind");
	to = (struct scif_portID){self, (uint16_t)port};
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	if (scif_connect(ends[1], &to) == 0 || errno != EINPROGRESS ||
	    scif_accept(ends[0], &from, &accepted, SCIF_ACCEPT_SYNC) < 0 ||
	    scif_connect(ends[1], &to) < 0)
		return fail("connect");
	say("pair", port);
	live();
	return 0;
}

static void on_event(enum scif_event event, union scif_event_data data)
{
	if (event == SCIF_NODE_ADDED)
		say("added", data.scif_node_added);
	else
		say("removed", data.scif_node_removed);
}

static int watch(int with_child)
{
	if (scif_event_register(on_event) < 0)
		return fail("watch");
	if (with_child) {
		uint16_t self;
		pid_t child = fork();

		if (child < 0)
			return fail("fork");
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (scif_get_nodeIDs(NULL, 0, &self) < 0)
				return fail("nodes");
			say("child", self);
			pause();
		}
	} else {
		say("watching", 0);
	}
	live();
	return 0;
}

/* The descriptors on which its threads wake each other. */
static void close_events(void)
{
	char path[40], link[40];

	for (int fd = 3; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t length = readlink(path, link, sizeof(link) - 1);

		link[length < 0 ? 0 : length] = '\0';
		if (strstr(link, "[eventfd"))
			close(fd);
	}
}

static int watch_closed(void)
{
	if (scif_event_register(on_event) < 0)
		return fail("watch");
	close_events();
	say("watching", 0);
	live();
	return 0;
}

static _Atomic pid_t handlers_child;

/* The child has the copy of a thread that has nobody to tell of anything. */
static void fork_once(enum scif_event event, union scif_event_data data)
{
	pid_t pid = handlers_child == 0 ? fork() : 0;

	if (pid == 0 && handlers_child == 0)
		return;
	if (pid > 0)
		handlers_child = pid;
	on_event(event, data);
}

static int watch_forking(void)
{
	int status = -1;

	if (scif_event_register(fork_once) < 0 || scif_event_register(on_event) < 0)
		return fail("watch");
	say("watching", 0);
	live();
	waitpid(handlers_child, &status, 0);
	say("child ended", status);
	return 0;
}

static int nodes(void)
{
	uint16_t ids[257], self;
	int count = scif_get_nodeIDs(ids, 257, &self);

	if (count < 0)
		return fail("nodes");
	printf("self %d:", self);
	for (int i = 0; i < count; i++)
		printf(" %d", ids[i]);
	putchar('\n');
	return 0;
}

int main(int argc, char **argv)
{
	const char *task = argc > 1 ? argv[1] : "";

	if (strcmp(task, "open") == 0)
		return scif_open() == SCIF_OPEN_FAILED ? fail("open") : (puts("open"), 0);
	if (strcmp(task, "bind") == 0 && argc > 2)
		return bind_some(atoi(argv[2]));
	if (strcmp(task, "pair") == 0)
		return pair();
	if (strcmp(task, "watch") == 0)
		return watch(0);
	if (strcmp(task, "watch-fork") == 0)
		return watch(1);
	if (strcmp(task, "watch-closed") == 0)
		return watch_closed();
	if (strcmp(task, "watch-forking") == 0)
		return watch_forking();
	if (strcmp(task, "nodes") == 0)
		return nodes();
	return 2;
}
