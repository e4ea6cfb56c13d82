/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that are programs: ucx_perftest and fi_pingpong.  Their server runs where the partner
 * would, their client where the driver does; what they print is taken as it is, and what was run is
 * told.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subjects.h"
#include "timing.h"

enum { MOST_WORDS = 24, MOST_COLUMNS = 12 };

/* A figure is the column of the last line that is all numbers; a rate is turned into a time. */
struct tool {
	const char *environment; /* NAME=VALUE or NULL */
	const char *server, *client;
	unsigned column;
	bool is_rate;
	double unit_ns;
};

static bool is_in_path(const char *program)
{
	char *path = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = path, *folder;
	char file[4096];
	bool is_found = false;

	while ((folder = strsep(&rest, ":")) && !is_found) {
		snprintf(file, sizeof(file), "%s/%s", folder, program);
		is_found = access(file, X_OK) == 0;
	}
	free(path);
	return is_found;
}

/* Free a moment ago; the programs want a number beforehand. */
static unsigned free_port(const struct pair *pair)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	bench_must(pair, fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0, "bind");
	bench_must(pair, getsockname(fd, (struct sockaddr *)&address, &length) == 0, "getsockname");
	close(fd);
	return ntohs(address.sin_port);
}

static bool is_listening_in(const char *table, unsigned port)
{
	char line[512], wanted[16];
	FILE *file = fopen(table, "re");
	bool is_found = false;

	if (!file)
		return false;
	snprintf(wanted, sizeof(wanted), ":%04X ", port);
	while (!is_found && fgets(line, sizeof(line), file)) {
		char *local = strstr(line, wanted);

		/* Local address, remote address, state: 0A listens. */
		is_found = local && strstr(local, ":0000 0A ");
	}
	fclose(file);
	return is_found;
}

static void await_listener(const struct pair *pair, unsigned port, pid_t server)
{
	while (!is_listening_in("/proc/net/tcp", port) &&
	       !is_listening_in("/proc/net/tcp6", port)) {
		errno = 0;
		bench_must(pair, waitpid(server, NULL, WNOHANG) == 0, "its server ended");
		sched_yield();
	}
}

static void split(char *command, char *words[MOST_WORDS])
{
	char *rest = command, *word;
	unsigned count = 0;

	while ((word = strsep(&rest, " ")) && count < MOST_WORDS - 1)
		if (*word)
			words[count++] = word;
	words[count] = NULL;
}

static pid_t start(struct pair *pair, const struct tool *tool, const char *command, int cpu,
		   int output)
{
	char *words[MOST_WORDS], text[TEXT_LENGTH];
	pid_t child = fork();

	bench_must(pair, child >= 0, "fork");
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	timing_pin(pair, cpu);
	if (tool->environment)
		putenv((char *)tool->environment);
	snprintf(text, sizeof(text), "%s", command);
	split(text, words);
	dup2(output, STDOUT_FILENO);
	dup2(open("/dev/null", O_RDWR | O_CLOEXEC), STDERR_FILENO);
	execvp(words[0], words);
	_exit(127);
}

/* Whether a line is numbers only; a unit may follow one ("1k", "0.01s"). */
static unsigned columns_of(const char *line, double column[MOST_COLUMNS])
{
	unsigned count = 0;

	while (count < MOST_COLUMNS) {
		char *end;

		line += strspn(line, " \t\n=");
		if (!*line)
			return count;
		column[count] = strtod(line, &end);
		if (end == line)
			return 0;
		count++;
		line = end + strcspn(end, " \t\n");
	}
	return count;
}

static double figure_in(const struct pair *pair, const struct tool *tool, FILE *output)
{
	double column[MOST_COLUMNS], figure = 0;
	char line[1024];

	while (fgets(line, sizeof(line), output))
		if (columns_of(line, column) > tool->column)
			figure = column[tool->column];
	errno = 0;
	bench_must(pair, figure > 0, "its output has no figure");
	return tool->is_rate ? 1e9 / figure : figure * tool->unit_ns;
}

/* As often as 64 MiB allow; the programs need some rounds to find their pace. */
static unsigned rounds_for(size_t size)
{
	size_t rounds = ((size_t)64 << 20) / size;

	return rounds > 10000 ? 10000 : rounds < 10 ? 10 : (unsigned)rounds;
}

static void run_tool(struct pair *pair)
{
	const struct tool *tool = pair->subject->way;
	unsigned port = free_port(pair), rounds = rounds_for(pair->size);
	char server_command[TEXT_LENGTH], client_command[TEXT_LENGTH];
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), output[2], status;
	pid_t server, client;
	FILE *lines;

	snprintf(server_command, sizeof(server_command), tool->server, port, pair->size, rounds);
	snprintf(client_command, sizeof(client_command), tool->client, port, pair->size, rounds);
	snprintf(pair->board->command, sizeof(pair->board->command), "%s%s%.200s & %.200s",
		 tool->environment ? tool->environment : "", tool->environment ? " " : "",
		 server_command, client_command);
	bench_must(pair, pipe2(output, O_CLOEXEC) == 0, "pipe2");
	server = start(pair, tool, server_command, pair->cpu[1], nowhere);
	await_listener(pair, port, server);
	client = start(pair, tool, client_command, pair->cpu[0], output[1]);
	close(output[1]);
	close(nowhere);
	lines = fdopen(output[0], "r");
	timing_note(pair, figure_in(pair, tool, lines));
	fclose(lines);
	waitpid(client, &status, 0);
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	errno = 0;
	bench_must(pair, status == 0, "its client failed");
}

static const char *ucx_absent(void)
{
	return is_in_path("ucx_perftest") ? NULL : "ucx_perftest is not installed (ucx-utils)";
}

static const char *fi_absent(void)
{
	return is_in_path("fi_pingpong") ? NULL : "fi_pingpong is not installed (libfabric-bin)";
}

/* Columns: iterations, latency of a percentile, average and overall, bandwidths, rates. */
enum { UCX_TYPICAL = 1, UCX_OVERALL_RATE = 7 };
#define UCX(NAME, TRANSPORT, TEST, COLUMN, IS_RATE)                                                \
	static const struct tool NAME = {"UCX_TLS=" TRANSPORT,                                     \
					 "ucx_perftest -p %u",                                     \
					 "ucx_perftest -p %u -t " TEST                             \
					 " -s %zu -n %u -f 127.0.0.1",                             \
					 COLUMN,                                                   \
					 IS_RATE,                                                  \
					 1e3}
UCX(ucx_tag, "posix", "tag_lat", UCX_TYPICAL, false);
UCX(ucx_stream, "posix", "tag_bw", UCX_OVERALL_RATE, true);
UCX(ucx_put, "posix", "ucp_put_bw", UCX_OVERALL_RATE, true);
UCX(ucx_get, "posix", "ucp_get", UCX_OVERALL_RATE, true);
UCX(ucx_put_cma, "posix,cma", "ucp_put_bw", UCX_OVERALL_RATE, true);
UCX(ucx_get_cma, "posix,cma", "ucp_get", UCX_OVERALL_RATE, true);

/* bytes, #sent, #ack, total, time, MB/sec, usec/xfer, Mxfers/sec */
static const struct tool fi_shm = {NULL,
				   "fi_pingpong -p shm -e rdm -B %u -S %zu -I %u",
				   "fi_pingpong -p shm -e rdm -P %u -S %zu -I %u 127.0.0.1",
				   6,
				   false,
				   1e3};

#define RUN .driver = {.repeat = run_tool}

const struct subject subject_ucx_tag = {"UCX posix", true, RUN, .absent = ucx_absent,
					.way = &ucx_tag};
const struct subject subject_ucx_stream = {"UCX posix", true, RUN, .absent = ucx_absent,
					   .way = &ucx_stream};
const struct subject subject_ucx_put = {
	"UCX posix", true, RUN, .absent = ucx_absent, .way = &ucx_put, .largest = 64 << 20};
const struct subject subject_ucx_get = {
	"UCX posix", true, RUN, .absent = ucx_absent, .way = &ucx_get, .largest = 64 << 20};
const struct subject subject_ucx_put_cma = {
	"UCX cma", true, RUN, .absent = ucx_absent, .way = &ucx_put_cma, .largest = 64 << 20};
const struct subject subject_ucx_get_cma = {
	"UCX cma", true, RUN, .absent = ucx_absent, .way = &ucx_get_cma, .largest = 64 << 20};
const struct subject subject_fi_pingpong = {"libfabric shm", true, RUN, .absent = fi_absent,
					    .way = &fi_shm};
