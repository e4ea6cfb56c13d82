/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-cts trace: runs any program with a preload that notes its calls, those of its children and
 * threads too, in memory that this process shares with them; writes them down as a raw log
 * (docs/certificate.md) after the last of them has ended, and ends as the program did.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/observe_log.h"
#include "clock.h"
#include "commands.h"
#include "format.h"
#include "judge_log.h"
#include "locate.h"
#include "raw_log.h"

/* What a shell says of a program that it does not find, or cannot start. */
enum { EXIT_CANNOT_START = 126, EXIT_NOT_FOUND = 127 };

struct trace {
	const char *path; /* of the log */
	char *preload;
	int memory;
	struct observe_log *log;
	struct raw_log_writer *writer; /* NULL: the file cannot be written */
	bool is_kept;
};

static volatile sig_atomic_t program;

static void pass_on(int number)
{
	if (program > 0)
		kill(program, number);
}

/* What the terminal sends comes to the program by itself; what somebody sends us is meant for it.
 */
static void arrange_signals(void)
{
	struct sigaction forward = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigaction(SIGTERM, &forward, NULL);
	sigaction(SIGHUP, &forward, NULL);
	sigaction(SIGUSR1, &forward, NULL);
	sigaction(SIGUSR2, &forward, NULL);
}

static int make_log(struct trace *trace)
{
	trace->memory = memfd_create("scif-cts-trace", MFD_CLOEXEC);
	if (trace->memory < 0 || ftruncate(trace->memory, sizeof(*trace->log)) < 0)
		return -errno;
	trace->log = mmap(NULL, sizeof(*trace->log), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_NORESERVE, trace->memory, 0);
	if (trace->log == MAP_FAILED)
		return -errno;
	trace->log->call_entries = OBSERVED_ENTRIES;
	trace->log->call_text = OBSERVED_TEXT;
	trace->log->has_clock = true;
	trace->log->start = clock_ns();
	return 0;
}

static _Noreturn void become_program(const struct trace *trace, pid_t tracer, char **arguments)
{
	const char *present = getenv("LD_PRELOAD");
	char *preload = present && *present ? format_text("%s:%s", trace->preload, present)
					    : copy_text(trace->preload);
	char *memory = format_text("/proc/%d/fd/%d", (int)tracer, trace->memory);

	setenv("LD_PRELOAD", preload, 1);
	setenv("CTS_TRACE", memory, 1);
	execvp(arguments[0], arguments);
	fprintf(stderr, "scif-cts: trace: %s: %s\n", arguments[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_START);
}

/* Orphans of the program become our children, so that the last of them is waited for. */
static int run(struct trace *trace, char **arguments, int *status)
{
	pid_t tracer = getpid(), child, ended;
	sigset_t all, before;
	int how;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	child = fork();
	if (child < 0)
		return -errno;
	if (!child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		become_program(trace, tracer, arguments);
	}
	program = child;
	trace->log->process = trace->log->thread = child;
	arrange_signals();
	sigprocmask(SIG_SETMASK, &before, NULL);
	while ((ended = wait(&how)) > 0 || errno == EINTR) {
		if (ended != child)
			continue;
		*status = how;
		program = 0;
	}
	return 0;
}

static char *end_text(int status)
{
	if (WIFSIGNALED(status))
		return format_text("[\"end\",\"killed\",\"SIG%s\"]",
				   sigabbrev_np(WTERMSIG(status)));
	return format_text("[\"end\",\"exited\",\"%d\"]", WEXITSTATUS(status));
}

static bool has_rsm_call(const struct observe_log *log)
{
	uint32_t i;

	for (i = 0; i < log->used; i++) {
		const struct observed_entry *entry = &log->entries[i];

		if (entry->state != ENTRY_EMPTY && !entry->length &&
		    strncmp(entry->call.function, "rsm_", 4) == 0)
			return true;
	}
	return false;
}

/* The line of the whole trace, to be freed; counts its calls. */
static char *trace_line(struct observe_log *log, int status, unsigned long *calls)
{
	char *text, *end = end_text(status);
	size_t length;
	FILE *stream = text_stream(&text, &length);

	fputs("{\"id\":\"trace\",\"events\":[", stream);
	*calls = observe_write_events(stream, log);
	fprintf(stream, "%s%s]}", log->used ? "," : "", end);
	fclose(stream);
	free(end);
	return text;
}

static void tell_failure(const char *path, int error)
{
	fprintf(stderr, "scif-cts: trace: %s: %s: the calls are not kept\n", path, strerror(error));
}

static char *first_line(const struct trace *trace)
{
	return format_text(
		"{\"format\":\"scif-cts-observations/1\",\"api\":\"%s\",\"intervals\":true}",
		has_rsm_call(trace->log) ? "rsm" : "scif");
}

static void write_log(struct trace *trace, const char *first, const char *line)
{
	int status;

	raw_log_line(trace->writer, first);
	raw_log_line(trace->writer, line);
	status = raw_log_close(trace->writer);
	trace->is_kept = !status;
	if (status)
		tell_failure(trace->path, -status);
}

static void tell(const struct trace *trace, unsigned long calls)
{
	unsigned int dropped = trace->log->dropped;

	if (trace->is_kept)
		fprintf(stderr, "scif-cts: trace: %lu calls recorded in %s\n", calls, trace->path);
	else
		fprintf(stderr, "scif-cts: trace: %lu calls seen\n", calls);
	if (dropped)
		fprintf(stderr, "scif-cts: trace: %u calls more had no room in the log\n", dropped);
}

/* The program's own end: its status, or the signal, without a core of ours. */
static int end_as(int status)
{
	const struct rlimit none = {0, 0};

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static int prepare(struct trace *trace)
{
	int status;

	trace->preload = locate_trace_preload();
	if (!trace->preload) {
		fputs("scif-cts: trace: libcts-trace.so is not there; CTS_TRACE_PRELOAD names it\n",
		      stderr);
		return EXIT_USAGE;
	}
	status = make_log(trace);
	if (status) {
		fprintf(stderr, "scif-cts: trace: no memory for the log: %s\n", strerror(-status));
		return EXIT_USAGE;
	}
	trace->writer = raw_log_create(trace->path);
	if (!trace->writer)
		tell_failure(trace->path, errno);
	return 0;
}

/* The program is over, and the standard output was its own: what is said now goes where errors go.
 */
static void judge(const struct trace *trace, const struct settings *settings,
		  const struct plan *plan, const char *first, const char *line)
{
	char *text = format_text("%s\n%s\n", first, line);

	fflush(stdout);
	if (trace->log->used && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		judge_log(plan, trace->is_kept ? trace->path : "trace", settings->profile, text,
			  strlen(text));
	free(text);
}

int command_trace(const struct settings *settings, const struct plan *plan)
{
	struct trace trace = {.path = settings->output ? settings->output : RAW_LOG_NAME};
	unsigned long calls;
	int status = prepare(&trace), error;
	char *first, *line;

	if (status)
		return status;
	error = run(&trace, settings->operands, &status);
	if (error) {
		fprintf(stderr, "scif-cts: trace: no process: %s\n", strerror(-error));
		return EXIT_USAGE;
	}
	first = first_line(&trace);
	line = trace_line(trace.log, status, &calls);
	if (trace.writer)
		write_log(&trace, first, line);
	tell(&trace, calls);
	judge(&trace, settings, plan, first, line);
	free(first);
	free(line);
	free(trace.preload);
	fflush(stdout);
	return end_as(status);
}
