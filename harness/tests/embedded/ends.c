/* SPDX-License-Identifier: BSD-2-Clause */
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void must(intptr_t result, const char *what)
{
	if (result >= 0)
		return;
	printf("%s: %s\n", what, strerror(errno));
	fflush(stdout); /* a fuzzer does not let exit do it */
	exit(BROKEN);
}

void connect_ends(scif_epd_t *connected, scif_epd_t *accepted)
{
	scif_epd_t listener = scif_open(), epd = scif_open();
	struct scif_portID to, from;
	int port;

	must(scif_get_nodeIDs(NULL, 0, &to.node), "get_nodeIDs");
	port = scif_bind(listener, 0);
	must(port, "bind");
	to.port = (uint16_t)port;
	must(scif_listen(listener, 1), "listen");
	fcntl(epd, F_SETFL, O_NONBLOCK);
	scif_connect(epd, &to);
	must(scif_accept(listener, &from, accepted, SCIF_ACCEPT_SYNC), "accept");
	must(scif_connect(epd, &to), "connect");
	scif_close(listener);
	*connected = epd;
}

int ended_as(pid_t pid)
{
	int status = 0;

	must(waitpid(pid, &status, 0), "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void leave_memory(long bytes)
{
	FILE *file = fopen("/proc/self/statm", "re");
	struct rlimit limit;
	long pages = 0;

	must(file == NULL ? -1 : 0, "statm");
	must(fscanf(file, "%ld", &pages) == 1 ? 0 : -1, "statm");
	fclose(file);
	limit.rlim_cur = limit.rlim_max = (rlim_t)(pages * sysconf(_SC_PAGESIZE) + bytes);
	must(setrlimit(RLIMIT_AS, &limit), "setrlimit");
}
