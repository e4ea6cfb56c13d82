/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the cases: several programs at once, each with a few cases of one function, which saves most
 * of what starting a program costs.  Cases that such a program leaves without a record are run
 * again one by one, so that a verdict is never given for what another case did.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch.h"
#include "clock.h"
#include "format.h"
#include "launch.h"
#include "locate.h"
#include "observations.h"
#include "orphans.h"
#include "progress.h"
#include "session.h"

/*
 * The programs have time limits of their own; these only catch a program that hangs as a whole, so
 * they are far above what any case takes.
 */
#define SHORT_CASE_LIMIT_MS 120000.0
#define LONG_CASE_LIMIT_MS  1200000.0
#define ORPHANS_LIMIT_MS    5000.0
/* What is read of a program's output and of its records. */
#define READ_LIMIT 1048576
/* The raw logs of all cases of a program; each may have a few MiB. */
#define OBSERVATIONS_LIMIT (BATCH_LIMIT * (size_t)8388608)

struct job {
	struct batch batch;
	pid_t pid; /* 0: no program is running here */
	double started, deadline;
	bool lacked_room; /* for what it had to write */
	off_t recorded; /* size of the records when the deadline was set */
	bool expired;
};

struct pool {
	struct session *session;
	struct progress *progress;
	struct launch launch;
	char **programs; /* one per function of the plan; NULL where there is none */
	char folder[64]; /* records and outputs of the running cases */
	struct job *jobs;
	int job_count, running;
	struct case_run **alone; /* cases that are to be run again, each by itself */
	size_t alone_count, next_case;
	struct orphans orphans;
	int signals; /* signalfd */
	sigset_t old_mask;
};

static char *job_file(const struct pool *pool, const struct job *job, const char *kind)
{
	return format_text("%s/%zu.%s", pool->folder, (size_t)(job - pool->jobs), kind);
}

/* The first LIMIT bytes of a file; NULL where it is absent. */
static char *read_file(const char *path, size_t limit, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *bytes;
	ssize_t got;

	*length = 0;
	if (fd < 0)
		return NULL;
	bytes = zeroed_array(limit, 1);
	while (*length < limit && (got = read(fd, bytes + *length, limit - *length)) > 0)
		*length += got;
	close(fd);
	return bytes;
}

/* Stores a record that the runner made itself, and why. */
static void record_by_runner(struct pool *pool, struct case_run *run, struct record record,
			     const char *what, char *output)
{
	session_record(pool->session, run, record, output,
		       observations_of_runner(run->clause->id, what, record.reason));
	progress_case(pool->progress, run);
}

/* Verdicts that need no program; returns false where the case has to be run. */
static bool settle_without_program(struct pool *pool, struct case_run *run)
{
	const struct session *session = pool->session;
	const struct plan_clause *clause = run->clause;
	const struct plan_function *function = clause->function;
	const struct plan_errata *errata;
	struct record record;
	const char *what;

	if (clause->ruled_out) {
		what = "ruled out";
		errata = plan_errata(session->plan, clause->ruled_out);
		record = record_make(
			VERDICT_UNTESTED, NULL,
			format_text("ruled out by %s: %s", clause->ruled_out,
				    errata && errata->why ? errata->why : "see the errata"));
	} else if (clause->untestable) {
		what = "untestable";
		record = record_make(VERDICT_UNTESTED, NULL, copy_text(clause->untestable));
	} else if (function->linkage != LINKAGE_INLINE &&
		   !library_exports(&session->library, function->name)) {
		bool optional = function->linkage == LINKAGE_OPTIONAL;

		what = "not exported";
		record = record_make(optional ? VERDICT_UNSUPPORTED : VERDICT_FAIL,
				     optional ? NULL : "value",
				     format_text("the library does not export %s%s", function->name,
						 optional ? ", which is optional" : ""));
	} else if (clause->is_long && !session->settings->all) {
		what = "long";
		record = record_make(VERDICT_UNTESTED, NULL,
				     copy_text("a long case: --all runs it"));
	} else if (!pool->programs[function - session->plan->functions]) {
		what = "no program";
		record =
			record_make(VERDICT_NOTRUN, NULL,
				    format_text("there is no test program for %s", function->name));
	} else {
		return false;
	}
	record_by_runner(pool, run, record, what, NULL);
	return true;
}

static int spawn_actions(posix_spawn_file_actions_t *actions, const char *output)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;

	posix_spawn_file_actions_init(actions);
	posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, output, flags, 0600);
	posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
	/* What our caller left open (a make's job server) must not change what a case sees. */
	return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
}

static int spawn(const struct pool *pool, struct job *job, const char *output, char **arguments,
		 char **environment)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int status;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGTERM);
	sigaddset(&defaults, SIGHUP);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &pool->old_mask);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	status = spawn_actions(&actions, output);
	if (!status)
		status = posix_spawn(&job->pid, arguments[0], &actions, &attributes, arguments,
				     environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return status;
}

static void set_deadline(const struct pool *pool, struct job *job, off_t recorded)
{
	double limit = job->batch.clauses[0]->is_long ? LONG_CASE_LIMIT_MS : SHORT_CASE_LIMIT_MS;

	job->recorded = recorded;
	job->deadline = clock_ms() + limit * pool->session->settings->timeout_scale;
}

static void record_not_started(struct pool *pool, struct job *job, const char *program, int error)
{
	size_t i;

	job->pid = 0;
	for (i = 0; i < job->batch.count; i++) {
		char *reason = format_text("%s: %s", program, strerror(error));

		record_by_runner(pool, job->batch.runs[i],
				 record_make(VERDICT_NOTRUN, NULL, reason), "not started", NULL);
	}
}

static void start_batch(struct pool *pool, struct job *job, const struct batch *batch)
{
	const struct plan_function *function = batch->clauses[0]->function;
	char *records = job_file(pool, job, "ndjson");
	char *output = job_file(pool, job, "output");
	char *observations = job_file(pool, job, "observations");
	char **environment = launch_environment(&pool->launch, records, observations);
	char **arguments = launch_arguments(
		&pool->launch, pool->programs[function - pool->session->plan->functions],
		batch->clauses, batch->count, false);
	int status;

	unlink(records);
	unlink(observations);
	*job = (struct job){.batch = *batch, .started = clock_ms()};
	set_deadline(pool, job, 0);
	status = spawn(pool, job, output, arguments, environment);
	if (status) {
		record_not_started(pool, job, arguments[0], status);
	} else {
		orphans_program_started(&pool->orphans, job->pid);
		pool->running++;
	}
	launch_free_strings(environment);
	launch_free_strings(arguments);
	free(records);
	free(output);
	free(observations);
}

/* Large enough to save starts, small enough that all jobs end at about the same time. */
static size_t batch_size(const struct pool *pool)
{
	size_t left = pool->session->case_count - pool->next_case;
	size_t size = left / (4 * (size_t)pool->job_count);

	if (size > BATCH_LIMIT)
		return BATCH_LIMIT;
	return size ? size : 1;
}

/* The next cases that need a program; false where there are none left. */
static bool next_batch(struct pool *pool, struct batch *batch)
{
	struct session *session = pool->session;
	size_t size = batch_size(pool);

	batch->count = 0;
	if (pool->alone_count) {
		batch_add(batch, pool->alone[--pool->alone_count]);
		return true;
	}
	while (pool->next_case < session->case_count && batch->count < size) {
		struct case_run *run = &session->cases[pool->next_case];

		if (!batch_fits(batch, run))
			break;
		if (!settle_without_program(pool, run))
			batch_add(batch, run);
		pool->next_case++;
	}
	return batch->count > 0;
}

static void start_programs(struct pool *pool)
{
	struct batch batch;
	int i;

	for (i = 0; i < pool->job_count && !pool->session->interrupted; i++) {
		while (!pool->jobs[i].pid && next_batch(pool, &batch))
			start_batch(pool, &pool->jobs[i], &batch);
	}
}

/* A program that could not write its record could say so nowhere either. */
static bool is_full(const char *folder)
{
	struct statvfs file_system;

	return statvfs(folder, &file_system) == 0 && !file_system.f_bavail;
}

/* What it means that a program ended without having written a record. */
static struct record record_of_silence(const struct pool *pool, const struct job *job, int status,
				       const char **what)
{
	*what = "interrupted";
	if (pool->session->interrupted)
		return record_make(VERDICT_NOTRUN, NULL, copy_text("the run was interrupted"));
	*what = "hung";
	if (job->expired)
		return record_make(VERDICT_FAIL, "timeout",
				   copy_text("the program hung and was ended"));
	*what = "died";
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM)
		return record_make(VERDICT_FAIL, "crash",
				   format_text("the program died by SIG%s before it wrote a record",
					       sigabbrev_np(WTERMSIG(status))));
	*what = "killed";
	if (WIFSIGNALED(status))
		return record_make(VERDICT_NOTRUN, NULL,
				   format_text("somebody ended the program by SIG%s",
					       sigabbrev_np(WTERMSIG(status))));
	*what = "silent";
	return record_make(VERDICT_NOTRUN, NULL,
			   format_text("the program ended with status %d and wrote no record%s%s",
				       WEXITSTATUS(status),
				       job->lacked_room ? "; no space was left in " : "",
				       job->lacked_room ? pool->folder : ""));
}

/* The record of a case that was run by itself. */
static struct record record_of_single(const struct pool *pool, const struct job *job, int status,
				      char *objection, const char **what)
{
	*what = "objection";
	if (objection)
		return record_make(VERDICT_UNRESOLVED, NULL, objection);
	return record_of_silence(pool, job, status, what);
}

/* What a program left behind. */
struct remains {
	char *records, *output, *observations;
	size_t records_length, output_length, observations_length;
	int status; /* from waitpid() */
	char *objection;
};

/* The log of a case with a record; one that the runner found wanting has only the runner's word. */
static char *observations_of(const struct remains *remains, const char *id,
			     const struct record *record)
{
	char *line = observations_find(remains->observations, remains->observations_length, id);

	return line ? line : observations_of_runner(id, "no log", record->reason);
}

/* Whether the case at INDEX got its record; false where it has to run again, alone. */
static bool record_case(struct pool *pool, const struct job *job, struct remains *remains,
			size_t index)
{
	const struct batch *batch = &job->batch;
	struct case_run *run = batch->runs[index];
	const char *id = batch->ids[index], *what;
	char *output = batch_output(batch, index, remains->output, remains->output_length);
	struct record record = {0};

	if (remains->objection ||
	    !record_find(&record, remains->records, remains->records_length, id)) {
		if (batch->count > 1) {
			free(output);
			return false;
		}
		record = record_of_single(pool, job, remains->status, remains->objection, &what);
		remains->objection = NULL;
		record.ms = clock_ms() - job->started;
		record_by_runner(pool, run, record, what, output);
		return true;
	}
	if (!record.ms)
		record.ms = (clock_ms() - job->started) / (double)batch->count;
	session_record(pool->session, run, record, output, observations_of(remains, id, &record));
	progress_case(pool->progress, run);
	return true;
}

/*
 * Gives each case of an ended program its record.  Where a program with several cases has not
 * written all of them, or something else, nobody can say which case is to blame: those run again
 * alone.
 */
static void record_batch(struct pool *pool, const struct job *job, struct remains *remains)
{
	const struct batch *batch = &job->batch;
	size_t i;

	remains->objection = records_objection(remains->records, remains->records_length,
					       batch->ids, batch->count);
	for (i = 0; i < batch->count; i++) {
		if (!record_case(pool, job, remains, i))
			pool->alone[pool->alone_count++] = batch->runs[i];
	}
	free(remains->objection);
}

static char *take_file(const struct pool *pool, const struct job *job, const char *kind,
		       size_t limit, size_t *length)
{
	char *path = job_file(pool, job, kind);
	char *bytes = read_file(path, limit, length);

	unlink(path);
	free(path);
	return bytes;
}

static void finish_program(struct pool *pool, struct job *job, int status)
{
	struct remains remains = {.status = status};

	job->lacked_room = is_full(pool->folder);
	remains.records = take_file(pool, job, "ndjson", READ_LIMIT, &remains.records_length);
	remains.output = take_file(pool, job, "output", READ_LIMIT, &remains.output_length);
	remains.observations = take_file(pool, job, "observations", OBSERVATIONS_LIMIT,
					 &remains.observations_length);
	record_batch(pool, job, &remains);
	orphans_program_ended(&pool->orphans, job->pid);
	job->pid = 0;
	pool->running--;
	free(remains.records);
	free(remains.output);
	free(remains.observations);
}

static void reap(struct pool *pool)
{
	int status, i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < pool->job_count; i++) {
			if (pool->jobs[i].pid == pid)
				finish_program(pool, &pool->jobs[i], status);
		}
	}
	orphans_end(&pool->orphans);
}

static void kill_programs(struct pool *pool)
{
	int i;

	for (i = 0; i < pool->job_count; i++) {
		if (pool->jobs[i].pid)
			kill(pool->jobs[i].pid, SIGKILL);
	}
}

static void read_signals(struct pool *pool)
{
	struct signalfd_siginfo info;

	while (read(pool->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		pool->session->interrupted = true;
		kill_programs(pool);
	}
}

/* Whether a program has written a record since its deadline was set; it gets a new one then. */
static bool has_progressed(const struct pool *pool, struct job *job)
{
	char *records = job_file(pool, job, "ndjson");
	struct stat status;
	bool progressed = stat(records, &status) == 0 && status.st_size > job->recorded;

	free(records);
	if (progressed)
		set_deadline(pool, job, status.st_size);
	return progressed;
}

/* Ends programs that are over their time; returns the time until the next one will be, in ms. */
static int expire(struct pool *pool)
{
	double now = clock_ms(), next = now + 60000;
	int i;

	for (i = 0; i < pool->job_count; i++) {
		struct job *job = &pool->jobs[i];

		if (!job->pid || job->expired)
			continue;
		if (job->deadline <= now && !has_progressed(pool, job)) {
			job->expired = true;
			kill(job->pid, SIGKILL);
		} else if (job->deadline < next) {
			next = job->deadline;
		}
	}
	return (int)(next - now) + 1;
}

static void wait_for_signal(struct pool *pool, int timeout_ms)
{
	struct pollfd descriptor = {.fd = pool->signals, .events = POLLIN};

	poll(&descriptor, 1, timeout_ms);
	read_signals(pool);
}

static void run_cases(struct pool *pool)
{
	start_programs(pool);
	while (pool->running) {
		wait_for_signal(pool, expire(pool));
		reap(pool);
		start_programs(pool);
	}
}

/* After the last case nothing that the run has started may stay. */
static void end_all_orphans(struct pool *pool)
{
	double deadline = clock_ms() + ORPHANS_LIMIT_MS;

	while (orphans_end_all(&pool->orphans) && clock_ms() < deadline) {
		wait_for_signal(pool, 100);
		reap(pool);
	}
}

static void record_interrupted(struct pool *pool)
{
	struct session *session = pool->session;
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		struct case_run *run = &session->cases[i];

		if (run->finished)
			continue;
		record_by_runner(
			pool, run,
			record_make(VERDICT_NOTRUN, NULL, copy_text("the run was interrupted")),
			"interrupted", NULL);
	}
}

static void find_programs(struct pool *pool)
{
	const struct plan *plan = pool->session->plan;
	size_t f;

	pool->programs = zeroed_array(plan->function_count, sizeof(*pool->programs));
	for (f = 0; f < plan->function_count; f++)
		pool->programs[f] = locate_program(plan->functions[f].api, plan->functions[f].name);
}

static int open_folder(struct pool *pool)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || strlen(parent) > 32)
		parent = "/tmp";
	snprintf(pool->folder, sizeof(pool->folder), "%s/scif-cts-run.XXXXXX", parent);
	if (mkdtemp(pool->folder))
		return 0;
	fprintf(stderr, "scif-cts: %s: %s\n", pool->folder, strerror(errno));
	return EXIT_USAGE;
}

static void catch_signals(struct pool *pool)
{
	sigset_t caught;

	sigemptyset(&caught);
	sigaddset(&caught, SIGCHLD);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGHUP);
	/* A parent that ignores its children would have ours vanish without a status. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &caught, &pool->old_mask);
	pool->signals = signalfd(-1, &caught, SFD_NONBLOCK | SFD_CLOEXEC);
	/* A reader of our output that goes away must not leave case programs behind. */
	signal(SIGPIPE, SIG_IGN);
}

static int open_pool(struct pool *pool, struct session *session)
{
	*pool = (struct pool){.session = session, .job_count = session->settings->jobs};
	if (open_folder(pool) != 0)
		return EXIT_USAGE;
	if (launch_prepare(&pool->launch, session->settings, session->api, &session->library,
			   &session->carrier) != 0) {
		launch_release(&pool->launch);
		rmdir(pool->folder);
		return EXIT_USAGE;
	}
	find_programs(pool);
	pool->jobs = zeroed_array(pool->job_count, sizeof(*pool->jobs));
	pool->alone = zeroed_array(session->case_count, sizeof(*pool->alone));
	/* A case runs at most twice: in a batch and alone. */
	orphans_open(&pool->orphans, pool->job_count, 2 * session->case_count);
	catch_signals(pool);
	pool->progress = progress_start(session);
	return 0;
}

static void close_pool(struct pool *pool)
{
	size_t f;

	progress_finish(pool->progress);
	launch_release(&pool->launch);
	rmdir(pool->folder);
	close(pool->signals);
	for (f = 0; f < pool->session->plan->function_count; f++)
		free(pool->programs[f]);
	free(pool->programs);
	free(pool->jobs);
	free(pool->alone);
	orphans_close(&pool->orphans);
}

void session_record(struct session *session, struct case_run *run, struct record record,
		    char *output, char *observations)
{
	if (record.verdict == VERDICT_FAIL && waivers_find(&session->waivers, run->clause->id))
		record.verdict = VERDICT_WAIVED;
	run->record = record;
	run->output = output;
	run->observations = observations;
	run->finished = true;
	session->verdicts[record.verdict]++;
}

int session_run(struct session *session)
{
	struct pool pool;
	double started;

	if (open_pool(&pool, session) != 0)
		return EXIT_USAGE;
	started = clock_ms();
	session->started = time(NULL);
	waivers_prepare(&session->waivers, session->plan, &session->library,
			session->settings->label, session->started);
	run_cases(&pool);
	end_all_orphans(&pool);
	record_interrupted(&pool);
	waivers_judge(&session->waivers, session);
	session->duration_ms = clock_ms() - started;
	close_pool(&pool);
	return 0;
}
