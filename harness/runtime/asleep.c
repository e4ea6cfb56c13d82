/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a thread sleeps, from /proc/self/task/TID/stat. The file is opened beforehand, because a
 * test may have used up the descriptors or given up its privilege by the time of the question.
 */
#include "asleep.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int asleep_open(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static char state_letter(int fd)
{
	char text[256];
	ssize_t got = pread(fd, text, sizeof text - 1, 0);

	if (got <= 0)
		return 'X';
	text[got] = '\0';
	const char *end = strrchr(text, ')'); /* the name may hold spaces and parentheses */
	return end && end[1] == ' ' ? end[2] : 'X';
}

bool asleep_now(int fd)
{
	if (state_letter(fd) != 'S')
		return false;
	sched_yield();
	return state_letter(fd) == 'S';
}

void asleep_pace(void)
{
	sched_yield();
}
