/* SPDX-License-Identifier: BSD-2-Clause */
/* The names are those of /proc/net/unix. Files are looked for in a /tmp and a /dev/shm of our own, or not at all. */
#include "aftermath.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board.h"

enum { MOST_OUTPUT = 1 << 18 };

extern char **environ;
static char prefix[96], tool[4096];
static bool own_places;
static const char *const places[] = {"/tmp", "/dev/shm"};

/* scif-fabric lies beside us in the build tree. */
static void find_tool(void)
{
	const char *directory = getenv("top_builddir");

	snprintf(tool, sizeof(tool), "%s/scif-fabric", directory != NULL ? directory : ".");
}

void aftermath_begin(const char *fabric)
{
	snprintf(prefix, sizeof(prefix), "@scif/%s/", fabric);
	find_tool();
	own_places = unshare(CLONE_NEWNS) == 0 &&
		     mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	for (int i = 0; i < 2; i++)
		own_places = own_places && mount("none", places[i], "tmpfs", 0, NULL) == 0;
}

bool aftermath_sees_files(void)
{
	return own_places;
}

/* --- scif-fabric --- */

static char output[MOST_OUTPUT];

static void read_all(int fd)
{
	size_t length = 0;
	ssize_t got;

	while (length < sizeof(output) - 1 &&
	       (got = read(fd, output + length, sizeof(output) - 1 - length)) > 0)
		length += (size_t)got;
	output[length] = '\0';
}

bool aftermath_fabric(const char *a, const char *b, const char *c)
{
	const char *arguments[] = {"scif-fabric", "--json", a, b, c, NULL};
	posix_spawn_file_actions_t actions;
	int pipes[2], status = -1;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) != 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	if (posix_spawn(&pid, tool, &actions, NULL, (char **)arguments, environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	if (pid > 0) {
		read_all(pipes[0]);
		waitpid(pid, &status, 0);
	}
	close(pipes[0]);
	if (pid > 0 && status == 0)
		return true;
	complain("scif-fabric %s %s %s ends with status 0x%x", a, b == NULL ? "" : b, c == NULL ? "" : c,
		 (unsigned)status);
	return false;
}

/* --- names --- */

static char line[512];

static bool shown(const char *what)
{
	FILE *names = fopen("/proc/net/unix", "re");
	bool found = false;

	while (names != NULL && !found && fgets(line, sizeof(line), names) != NULL)
		found = strstr(line, prefix) != NULL && strstr(line, what) != NULL;
	if (names != NULL)
		fclose(names);
	return found;
}

void aftermath_of_name(pid_t pid)
{
	char text[64];

	snprintf(text, sizeof(text), "/pid/%d\n", (int)pid);
	if (shown(text))
		complain("the name of process %d is still there", (int)pid);
}

void aftermath_of(pid_t pid)
{
	char text[64];

	aftermath_of_name(pid);
	if (!aftermath_fabric("list", NULL, NULL))
		return;
	snprintf(text, sizeof(text), "\"pid\": %d,", (int)pid);
	if (strstr(output, text) != NULL)
		complain("scif-fabric lists process %d, which is dead", (int)pid);
}

static void look_for_files(const char *place)
{
	DIR *dir = opendir(place);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			complain("%s/%s is left", place, entry->d_name);
	if (dir != NULL)
		closedir(dir);
}

void aftermath_of_all(void)
{
	aftermath_fabric("reset", NULL, NULL);
	if (shown(prefix))
		complain("a name is left: %s", strstr(line, prefix));
	for (int i = 0; i < 2 && own_places; i++)
		look_for_files(places[i]);
}
