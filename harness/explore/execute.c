/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carries steps out. What was asked and what came back is a raw log of two peers, which the model
 * reads as it reads that of a case.
 */
#include "explore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runner/clock.h"
#include "../runner/format.h"

#define LINE 1024
/* Milliseconds, times --timeout-scale; a machine with other things to do starts programs slowly. */
#define PATIENCE       10000
#define START_PATIENCE 30000

/* Its environment is that of a case, but for the node and the fabric. */
static _Noreturn void become_peer(const struct explorer *explorer, int peer, int input, int output)
{
	char **environment = launch_environment(explorer->launch, NULL, NULL);
	char *arguments[] = {explorer->launch->peer, NULL};
	size_t count = 0;

	while (environment[count])
		count++;
	environment = grown_array(environment, count + 3, sizeof(*environment));
	environment[count] = format_text("SCIF_NODE=%d", peer - 1);
	environment[count + 1] =
		format_text("SCIF_FABRIC=explore-%d-%lu", (int)getppid(), explorer->runs);
	environment[count + 2] = NULL;
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	execve(arguments[0], arguments, environment);
	_exit(127);
}

static int start_peer(struct explore_run *run, int peer)
{
	struct explore_process *process = &run->peers[peer];
	int down[2], up[2];

	if (pipe2(down, O_CLOEXEC) < 0)
		return -1;
	if (pipe2(up, O_CLOEXEC) < 0) {
		close(down[0]);
		close(down[1]);
		return -1;
	}
	process->pid = fork();
	if (!process->pid)
		become_peer(run->explorer, peer, down[0], up[1]);
	close(down[0]);
	close(up[1]);
	process->requests = down[1];
	process->replies = up[0];
	return process->pid < 0 ? -1 : 0;
}

/* A line without its end, to be freed; NULL where none comes in time. */
static char *read_reply(const struct explore_run *run, const struct explore_process *process,
			int patience)
{
	double scale = run->explorer->settings->timeout_scale;
	double end = clock_ms() + patience * scale, left;
	struct pollfd entry = {.fd = process->replies, .events = POLLIN};
	char line[LINE];
	size_t used = 0;

	while (used < sizeof(line) && (left = end - clock_ms()) > 0) {
		ssize_t got;

		if (poll(&entry, 1, (int)left + 1) <= 0)
			continue;
		got = read(process->replies, line + used, sizeof(line) - used);
		if (got <= 0)
			return NULL;
		used += (size_t)got;
		if (line[used - 1] == '\n')
			return format_text("%.*s", (int)used - 1, line);
	}
	return NULL;
}

/* The reply, to be freed, or NULL; both are in the log from then on. */
static char *exchange(struct explore_run *run, int peer, const char *request, int patience)
{
	const struct explore_process *process = &run->peers[peer];
	char *line = format_text("%s\n", request), *reply = NULL;
	json_t *event;

	if (write(process->requests, line, strlen(line)) == (ssize_t)strlen(line))
		reply = read_reply(run, process, patience);
	free(line);
	event = json_pack("[s, i, s, s?]", "peer", peer, request, reply);
	json_array_append_new(run->events, event);
	return reply;
}

static int greet(struct explore_run *run, int peer)
{
	char *reply = exchange(run, peer, "hello 1", START_PATIENCE);
	int status = reply && strncmp(reply, "ok ", 3) == 0 ? 0 : -1;

	if (status)
		fprintf(stderr, "scif-cts: explore: the peer on node %d: %s\n", peer - 1,
			reply ? reply : "it does not answer");
	free(reply);
	return status;
}

int explore_run_start(struct explore_run *run, struct explorer *explorer)
{
	int status = 0, peer;

	*run = (struct explore_run){.explorer = explorer, .events = json_array()};
	signal(SIGPIPE, SIG_IGN);
	explorer->runs++;
	for (peer = 1; peer <= EXPLORE_PEERS && !status; peer++) {
		status = start_peer(run, peer);
		if (!status)
			status = greet(run, peer);
	}
	if (!status)
		return 0;
	explorer->is_broken = true;
	explore_run_end(run);
	return -1;
}

void explore_run_end(struct explore_run *run)
{
	unsigned int i;
	int peer;

	for (peer = 1; peer <= EXPLORE_PEERS; peer++) {
		struct explore_process *process = &run->peers[peer];

		if (process->pid <= 0)
			continue;
		/* It may be inside a call that does not return. */
		kill(process->pid, SIGKILL);
		while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
			;
		close(process->requests);
		close(process->replies);
	}
	for (i = 0; i < run->told_count; i++)
		free(run->told[i]);
	free(run->told);
	json_decref(run->events);
}

static const char *reply_to(const struct explore_run *run, unsigned int id)
{
	return id < run->told_count ? run->told[id] : NULL;
}

bool explore_told(const struct explore_run *run, unsigned int id, unsigned int word,
		  intmax_t *number)
{
	const char *at = reply_to(run, id);

	if (!at || strncmp(at, "ok ", 3) != 0)
		return false;
	for (; word && at; word--) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return false;
	*number = *at == '-' ? strtoimax(at, NULL, 0) : (intmax_t)strtoumax(at, NULL, 0);
	return true;
}

static void keep_reply(struct explore_run *run, unsigned int id, char *reply)
{
	if (id >= run->told_count) {
		run->told = grown_array(run->told, id + 1, sizeof(*run->told));
		while (run->told_count <= id)
			run->told[run->told_count++] = NULL;
	}
	run->told[id] = reply;
}

/* The line of a request, to be freed; NULL where a word refers to what is not there. */
static char *request_line(const struct explore_run *run, const struct explore_step *step)
{
	char *text;
	size_t length;
	FILE *stream = text_stream(&text, &length);
	bool complete = true;
	unsigned int i;

	fputs(step->verb->name, stream);
	for (i = 0; i < step->count && complete; i++) {
		const struct explore_word *word = &step->words[i];
		intmax_t number = word->number;

		if (word->step)
			complete = explore_told(run, word->step, word->reply, &number);
		if (word->text)
			fprintf(stream, " %s", word->text);
		else
			fprintf(stream, " %" PRIdMAX, number);
	}
	fclose(stream);
	if (complete)
		return text;
	free(text);
	return NULL;
}

struct verdict {
	struct explore_fault *fault;
	bool found;
};

/* The first word that came back, or "nothing". */
static const char *outcome(const struct step *step)
{
	if (!step->came_back)
		return "nothing";
	return step->error ? step->error : "success";
}

static void tell(void *to, const struct history *history, const struct complaint *complaint)
{
	struct verdict *verdict = to;
	size_t length;
	FILE *stream;

	(void)history;
	if (verdict->found)
		return;
	verdict->found = true;
	verdict->fault->key = format_text("%s %s %s", complaint->step->function,
					  outcome(complaint->step), complaint->clauses);
	stream = text_stream(&verdict->fault->text, &length);
	complaint_print(stream, complaint);
	fclose(stream);
}

static void number_processes(struct explore_run *run, const struct history *history)
{
	size_t i;
	int peer = 1;

	for (i = 0; i < history->step_count && peer <= EXPLORE_PEERS; i++) {
		if (history->steps[i].kind == STEP_STARTED)
			run->peers[peer++].number = history->steps[i].process;
	}
}

/* Both are known to live at the end, though only one was asked last. */
static json_t *log_line(const struct explore_run *run)
{
	json_t *events = json_copy(run->events);
	int peer;

	for (peer = 1; peer <= EXPLORE_PEERS; peer++)
		json_array_append_new(events,
				      json_pack("[s, i, s, s]", "peer", peer, "alive", "ok"));
	return json_pack("{s:s, s:o}", "id", "explore", "events", events);
}

static bool is_allowed(struct explore_run *run, struct explore_fault *fault)
{
	const struct surroundings around = {.unprivileged = geteuid() != 0};
	struct verdict verdict = {.fault = fault};
	struct history history;
	json_t *line = log_line(run);

	history_read(&history, line, &run->explorer->tables, true);
	number_processes(run, &history);
	model_judge(run->explorer->model, &history, &around, tell, &verdict);
	history_free(&history);
	json_decref(line);
	return !verdict.found;
}

/* No reply: the process is gone, or in a call that none of these waits in. */
static void judge_silence(const struct explore_run *run, const struct explore_step *step,
			  struct explore_fault *fault)
{
	siginfo_t end = {.si_pid = 0};
	pid_t pid = run->peers[step->peer].pid;

	waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT);
	if (end.si_pid && end.si_code != CLD_EXITED)
		fault->text = format_text("    the process was ended by SIG%s\n",
					  sigabbrev_np(end.si_status));
	else if (end.si_pid)
		fault->text = format_text("    the process exited, status %d\n", end.si_status);
	else
		fault->text = copy_text("    the call did not return\n");
	fault->is_silence = !end.si_pid;
	fault->key = format_text("%s %s", step->verb->name, fault->text);
}

bool explore_run_step(struct explore_run *run, const struct explore_step *step,
		      struct explore_fault *fault)
{
	char *request = request_line(run, step), *reply;
	bool allowed;

	keep_reply(run, step->id, NULL);
	if (!request)
		return true;
	reply = exchange(run, step->peer, request, PATIENCE);
	free(request);
	keep_reply(run, step->id, reply);
	run->explorer->calls++;
	*fault = (struct explore_fault){0};
	allowed = reply && is_allowed(run, fault);
	if (!reply)
		judge_silence(run, step, fault);
	if (!allowed)
		fault->reply = reply ? copy_text(reply) : NULL;
	return allowed;
}

bool explore_replay(struct explorer *explorer, const struct explore_sequence *sequence,
		    struct explore_fault *fault)
{
	struct explore_run run;
	bool allowed = true;
	size_t i;

	if (explore_run_start(&run, explorer) != 0)
		return false;
	for (i = 0; i < sequence->count && allowed; i++)
		allowed = explore_run_step(&run, &sequence->steps[i], fault);
	explore_run_end(&run);
	if (!allowed)
		fault->at = i - 1;
	return !allowed;
}

void explore_fault_free(struct explore_fault *fault)
{
	free(fault->key);
	free(fault->text);
	free(fault->reply);
	*fault = (struct explore_fault){0};
}
