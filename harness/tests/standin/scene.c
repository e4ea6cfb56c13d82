/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a scene one after the other; calls in threads of their own, calls in forked
 * children, signals. Nothing here waits for a time: a blocked call is one whose thread sleeps in
 * the kernel, and a scene that hangs is ended by the runner.
 */
#include "scene.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

#define TASKS	      8
#define STEADY	      10 /* looks in a row that find a thread asleep before it counts as blocked */
#define INTERRUPTIONS 100

struct task {
	char name[16];
	pthread_t thread;
	_Atomic pid_t tid;
	atomic_bool entered, done;
	const struct command *command;
	int64_t values[LINE_WORDS];
	char **word;
	struct outcome outcome;
};

struct child {
	char name[16];
	pid_t pid;
	int hold; /* its closing lets the child end */
	int last_line;
};

static const struct script *playing;
static struct stage *stage;
static struct task task[TASKS];
static int tasks;
static struct child child[SCENE_CHILDREN];
static int children;
static int own_child = -1;
static atomic_int handler_ran;

static void broken(const struct line *line, const char *why) __attribute__((noreturn));

static void broken(const struct line *line, const char *why)
{
	snprintf(stage->broken, sizeof stage->broken, "line %d, %s: %s", line->number, line->text,
		 why);
	calls_end();
	_exit(1);
}

static void describe(const struct outcome *outcome, char *text, size_t size)
{
	char bits[48] = "";
	bool large = outcome->result > 1000000 || outcome->result < -1000000;

	if (outcome->bits >= 0)
		snprintf(bits, sizeof bits, " bits 0x%x", (unsigned int)outcome->bits);
	snprintf(text, size, large ? "0x%llx%s%s%s" : "%lld%s%s%s",
		 (long long)outcome->result, outcome->name ? " " : "",
		 outcome->name ? outcome->name : "", bits);
}

static bool second_word_matches(const char *word, const struct outcome *outcome)
{
	int64_t bits;

	if (word == NULL)
		return outcome->result != -1 || outcome->name == NULL;
	if (outcome->bits >= 0)
		return evaluate(word, &bits) && bits == outcome->bits;
	return outcome->name != NULL && strcmp(word, outcome->name) == 0;
}

/* any, fd, port, mapped, blocked, or a number; then an errno, a signal or the bits of poll. */
static bool matches(const struct line *line, const struct outcome *outcome)
{
	char expected[128];
	char *save = NULL;
	int64_t value;

	snprintf(expected, sizeof expected, "%s", line->expected);
	char *first = strtok_r(expected, " ", &save);
	char *second = strtok_r(NULL, " ", &save);

	if (first == NULL)
		broken(line, "nothing is expected");
	if (strcmp(first, "any") == 0)
		return true;
	if (strcmp(first, "blocked") == 0)
		return outcome->name != NULL && strcmp(outcome->name, "blocked") == 0;
	if (strcmp(first, "fd") == 0)
		return outcome->result >= 0;
	if (strcmp(first, "port") == 0)
		return outcome->result >= 1 && outcome->result <= 65535;
	if (strcmp(first, "mapped") == 0)
		return outcome->result != -1;
	if (!evaluate(first, &value))
		broken(line, "the expected result makes no sense");
	return outcome->result == value && second_word_matches(second, outcome);
}

static void judge(const struct line *line, const struct outcome *outcome)
{
	char observed[80];

	if (line->assigned != NULL)
		variable_set(line->assigned, outcome->value);
	describe(outcome, observed, sizeof observed);
	if (line->row < 0) {
		bool good = line->expected ? matches(line, outcome) : outcome->result != -1;

		if (!good)
			broken(line, observed);
		return;
	}
	struct row_result *row = &stage->row[line->row];

	if (matches(line, outcome)) {
		row->held++;
		return;
	}
	row->failed++;
	if (row->note[0] == '\0')
		snprintf(row->note, sizeof row->note, "line %d: %.100s: observed %s", line->number,
			 line->text, observed);
}

static bool asleep_once(const char *path)
{
	char text[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	const char *end = strrchr(text, ')');

	return end != NULL && end[1] == ' ' && end[2] == 'S';
}

static struct task *task_named(const struct line *line, const char *name)
{
	for (int i = tasks - 1; name != NULL && i >= 0; i--) {
		if (strcmp(task[i].name, name) == 0)
			return &task[i];
	}
	broken(line, "no thread of that name");
}

static void *task_run(void *argument)
{
	struct task *self = argument;

	self->tid = gettid();
	self->entered = true;
	command_run(self->command, self->values, self->word, &self->outcome);
	self->done = true;
	return NULL;
}

static void task_start(const struct line *line)
{
	struct task *self = &task[tasks];

	if (tasks == TASKS || line->words < 3)
		broken(line, "start NAME CALL, not too many");
	self->command = command_find(line->word[2]);
	self->word = (char **)&line->word[3];
	if (self->command == NULL ||
	    !command_values(self->command, self->word, line->words - 3, self->values))
		broken(line, "no such call");
	snprintf(self->name, sizeof self->name, "%s", line->word[1]);
	tasks++;
	if (pthread_create(&self->thread, NULL, task_run, self) != 0)
		broken(line, "no thread");
}

/* Until the thread has ended or sleeps steadily. */
static void task_settle(struct task *self)
{
	char path[64];
	int steady = 0;

	while (!self->entered)
		sched_yield();
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)self->tid);
	while (!self->done && steady < STEADY) {
		steady = asleep_once(path) ? steady + 1 : 0;
		sched_yield();
	}
}

static void task_outcome(struct task *self, struct outcome *outcome)
{
	if (self->done) {
		*outcome = self->outcome;
		return;
	}
	*outcome = (struct outcome){.result = -1, .name = "blocked", .bits = -1};
}

static void handler(int number)
{
	(void)number;
	handler_ran++;
}

static void handler_install(const struct line *line)
{
	struct sigaction action = {.sa_handler = handler};

	if (line->words == 2 && strcmp(line->word[1], "restart") == 0)
		action.sa_flags = SA_RESTART;
	else if (line->words == 2 && strcmp(line->word[1], "ignore") == 0)
		action.sa_handler = SIG_IGN;
	sigaction(SIGUSR1, &action, NULL);
}

/* One signal, when the thread sleeps; back when its handler has run. */
static void task_kick(struct task *self, bool handled)
{
	int before = handler_ran;

	task_settle(self);
	if (self->done)
		return;
	pthread_kill(self->thread, SIGUSR1);
	while (handled && handler_ran == before && !self->done)
		sched_yield();
	task_settle(self);
}

/*
 * Signals until the call ends: a thread may sleep on something else than what the call is about when
 * the first one comes, and a call that no signal ever ends still shows as blocked.
 */
static void task_interrupt(struct task *self)
{
	for (int i = 0; i < INTERRUPTIONS && !self->done; i++)
		task_kick(self, true);
}

static struct child *child_named(const struct line *line, const char *name)
{
	for (int i = children - 1; name != NULL && i >= 0; i--) {
		if (strcmp(child[i].name, name) == 0)
			return &child[i];
	}
	broken(line, "no child of that name");
}

static int play(int first, int end);

static int matching_end(const struct line *line, int from, int end)
{
	for (int i = from; i < end; i++) {
		if (strcmp(playing->line[i].word[0], "end") == 0)
			return i;
	}
	broken(line, "a child without an end");
}

/* Forks; the child plays its lines and lives on until it is let go. Returns the line of `end`. */
static int child_start(const struct line *line, int at, int end)
{
	int last = matching_end(line, at + 1, end);
	struct child *self = &child[children];
	int hold[2];

	if (children == SCENE_CHILDREN || line->words < 2 || pipe2(hold, O_CLOEXEC) != 0)
		broken(line, "no child");
	snprintf(self->name, sizeof self->name, "%s", line->word[1]);
	self->last_line = last - 1;
	self->hold = hold[1];
	self->pid = fork();
	if (self->pid == 0) {
		char byte;

		own_child = children;
		close(hold[1]);
		play(at + 1, last);
		__atomic_store_n(&stage->child[own_child].done, 1, __ATOMIC_SEQ_CST);
		while (read(hold[0], &byte, 1) < 0 && errno == EINTR)
			;
		calls_end();
		_exit(0);
	}
	close(hold[0]);
	children++;
	return last;
}

static bool child_ended(const struct child *self)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)self->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

static void child_reached(const struct line *line, struct child *self)
{
	int *done = &stage->child[self - child].done;

	while (!__atomic_load_n(done, __ATOMIC_SEQ_CST)) {
		if (child_ended(self))
			broken(line, stage->broken[0] ? stage->broken : "the child has died");
		sched_yield();
	}
}

/* Until the child's last line sleeps, or is through. */
static void child_settle(const struct line *line, struct child *self, struct outcome *outcome)
{
	int *at = &stage->child[self - child].line;
	int *done = &stage->child[self - child].done;
	char path[64];
	int steady = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)self->pid);
	while (steady < STEADY && !__atomic_load_n(done, __ATOMIC_SEQ_CST)) {
		bool there = __atomic_load_n(at, __ATOMIC_SEQ_CST) == self->last_line;

		steady = there && asleep_once(path) ? steady + 1 : 0;
		if (child_ended(self))
			broken(line, "the child has died");
		sched_yield();
	}
	if (!__atomic_load_n(done, __ATOMIC_SEQ_CST))
		outcome->name = "blocked";
}

/* The result is the exit status or the signal that ended it. */
static void child_end(struct child *self, bool kill_it, struct outcome *outcome)
{
	int status = 0;

	if (kill_it)
		kill(self->pid, SIGKILL);
	close(self->hold);
	while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR)
		;
	outcome->result = WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

/* Whether the line was one of those that are not calls. */
static bool play_directive(const struct line *line)
{
	const char *what = line->word[0];
	const char *name = line->words > 1 ? line->word[1] : NULL;
	struct outcome outcome = {.bits = -1};

	if (strcmp(what, "start") == 0) {
		task_start(line);
	} else if (strcmp(what, "asleep") == 0) {
		task_settle(task_named(line, name));
	} else if (strcmp(what, "still") == 0) {
		task_settle(task_named(line, name));
		task_outcome(task_named(line, name), &outcome);
		judge(line, &outcome);
	} else if (strcmp(what, "join") == 0) {
		struct task *self = task_named(line, name);

		pthread_join(self->thread, NULL);
		variable_set("took", self->outcome.took_ms);
		judge(line, &self->outcome);
	} else if (strcmp(what, "handler") == 0) {
		handler_install(line);
	} else if (strcmp(what, "kick") == 0) {
		task_kick(task_named(line, name), true);
	} else if (strcmp(what, "kick_ignored") == 0) {
		task_kick(task_named(line, name), false);
	} else if (strcmp(what, "interrupt") == 0) {
		task_interrupt(task_named(line, name));
		task_outcome(task_named(line, name), &outcome);
		judge(line, &outcome);
	} else if (strcmp(what, "reached") == 0) {
		child_reached(line, child_named(line, name));
	} else if (strcmp(what, "child_asleep") == 0) {
		child_settle(line, child_named(line, name), &outcome);
		judge(line, &outcome);
	} else if (strcmp(what, "exit") == 0) {
		child_reached(line, child_named(line, name));
		child_end(child_named(line, name), false, &outcome);
		judge(line, &outcome);
	} else if (strcmp(what, "kill") == 0) {
		child_end(child_named(line, name), true, &outcome);
		judge(line, &outcome);
	} else {
		return false;
	}
	return true;
}

static void play_call(const struct line *line)
{
	const struct command *command = command_find(line->word[0]);
	char **word = (char **)&line->word[1];
	int64_t values[LINE_WORDS];
	struct outcome outcome;

	if (command == NULL || !command_values(command, word, line->words - 1, values))
		broken(line, "no such call");
	command_run(command, values, word, &outcome);
	variable_set("took", outcome.took_ms);
	judge(line, &outcome);
}

static int play(int first, int end)
{
	for (int i = first; i < end; i++) {
		const struct line *line = &playing->line[i];

		if (own_child >= 0)
			__atomic_store_n(&stage->child[own_child].line, i, __ATOMIC_SEQ_CST);
		if (strcmp(line->word[0], "child") == 0)
			i = child_start(line, i, end);
		else if (!play_directive(line))
			play_call(line);
	}
	return end;
}

void scene_play(const struct script *script, int scene, struct stage *where)
{
	playing = script;
	stage = where;
	play(script->scene[scene].first_line, script->scene[scene].end_line);
	stage->through = 1;
	calls_end();
	_exit(0);
}
