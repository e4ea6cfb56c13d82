/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials before a run: a library that the loader refuses, an environment that it refuses and an
 * adapter that is not there would otherwise show only as the same reason on every clause.
 */
#include "trial.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format.h"
#include "launch.h"
#include "locate.h"

#define LOAD_LIMIT_MS 30000
#define MESSAGE_SIZE  1024

extern char **environ;

struct trial {
	pid_t pid;
	int output, errors; /* what the program prints, in memory */
	int status;
	bool hung;
};

static int start(struct trial *trial, char **arguments, char **environment)
{
	posix_spawn_file_actions_t actions;
	int error;

	/* A parent that ignores its children would have ours vanish without a status. */
	signal(SIGCHLD, SIG_DFL);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, trial->output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, trial->errors, STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	error = posix_spawn(&trial->pid, arguments[0], &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static void finish(struct trial *trial)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, trial->pid, 0), .events = POLLIN};

	if (ended.fd >= 0) {
		trial->hung = poll(&ended, 1, LOAD_LIMIT_MS) == 0;
		close(ended.fd);
	}
	if (trial->hung)
		kill(trial->pid, SIGKILL);
	waitpid(trial->pid, &trial->status, 0);
}

/* The first line that the program wrote as an error, or how it ended without one; to be freed. */
static char *what_went_wrong(const struct trial *trial)
{
	char message[MESSAGE_SIZE];
	ssize_t length = pread(trial->errors, message, sizeof(message), 0);

	if (trial->hung)
		return copy_text("a program that loads it does not get to its first function");
	if (length > 0) {
		const char *end = memchr(message, '\n', length);

		return printable_text(message, end ? (size_t)(end - message) : (size_t)length);
	}
	if (WIFSIGNALED(trial->status))
		return format_text("a program that loads it dies by SIG%s",
				   sigabbrev_np(WTERMSIG(trial->status)));
	return format_text("a program that loads it ends with status %d before its first function",
			   WEXITSTATUS(trial->status));
}

/* 0, or the errno of the start. */
static int run_trial(struct trial *trial, char *program, char *option, char **environment)
{
	char *arguments[] = {program, option, NULL};
	int error;

	*trial = (struct trial){.output = memfd_create("output", MFD_CLOEXEC),
				.errors = memfd_create("errors", MFD_CLOEXEC)};
	error = start(trial, arguments, environment);
	if (!error)
		finish(trial);
	return error;
}

static void end_trial(struct trial *trial)
{
	close(trial->output);
	close(trial->errors);
}

/* Whether the program got as far as listing its cases; how it ended after that says nothing. */
static char *try_program(const struct launch *launch, char *program)
{
	char **environment = launch_environment(launch, NULL, NULL);
	struct trial trial;
	char *wrong = NULL;
	int error = run_trial(&trial, program, (char[]){"--list"}, environment);

	if (error)
		wrong = format_text("%s: %s", program, strerror(error));
	else if (lseek(trial.output, 0, SEEK_END) == 0)
		wrong = what_went_wrong(&trial);
	end_trial(&trial);
	launch_free_strings(environment);
	return wrong;
}

/* What the reference library reads.  The first two are the cases' own, whatever the caller has. */
static const char *const variables[] = {"SCIF_NODE", "SCIF_FABRIC", "SCIF_PROVIDER",
					"SCIF_HW_DEVICE"};
#define VARIABLES (sizeof(variables) / sizeof(*variables))

static bool is_variable(const char *setting)
{
	size_t i;

	for (i = 0; i < VARIABLES; i++) {
		size_t length = strlen(variables[i]);

		if (strncmp(setting, variables[i], length) == 0 && setting[length] == '=')
			return true;
	}
	return false;
}

/* The settings of the caller as one text, one after the other; to be freed. */
static char *caller_settings(void)
{
	size_t length, i;
	char *text;
	FILE *stream = text_stream(&text, &length);

	for (i = 0; environ[i]; i++) {
		char *setting = is_variable(environ[i])
					? printable_text(environ[i], strcspn(environ[i], "\n"))
					: NULL;

		if (setting)
			fprintf(stream, " %s", setting);
		free(setting);
	}
	fclose(stream);
	return text;
}

/* Whether scif_open says ENXIO, in the caller's environment or in one without the variables. */
static bool opens_with_enxio(const struct launch *launch, char *program, bool with_variables)
{
	char **prepared = launch_environment(launch, NULL, NULL), **environment;
	size_t count = 0, used = 0, i;
	char answer[sizeof("ENXIO")] = "";
	struct trial trial;
	bool said;

	while (prepared[count])
		count++;
	for (i = 0; environ[i]; i++)
		count++;
	environment = zeroed_array(count + 1, sizeof(*environment));
	for (i = 0; prepared[i]; i++) {
		if (!is_variable(prepared[i]))
			environment[used++] = prepared[i];
	}
	for (i = 0; with_variables && environ[i]; i++) {
		if (is_variable(environ[i]))
			environment[used++] = environ[i];
	}
	said = run_trial(&trial, program, (char[]){"--open"}, environment) == 0 &&
	       pread(trial.output, answer, sizeof(answer), 0) == sizeof(answer) &&
	       memcmp(answer, "ENXIO\n", sizeof(answer)) == 0;
	end_trial(&trial);
	free(environment);
	launch_free_strings(prepared);
	return said;
}

/*
 * The settings that keep scif_open from working, NULL where they do not; to be freed.  Where it
 * fails without them as well, it is the cases that say so.
 */
static char *refused_settings(const struct launch *launch, char *program)
{
	char *settings = caller_settings();

	if (*settings && opens_with_enxio(launch, program, true) &&
	    !opens_with_enxio(launch, program, false))
		return settings;
	free(settings);
	return NULL;
}

static char *any_program(const struct session *session)
{
	char *program = NULL;
	size_t i;

	for (i = 0; i < session->case_count && !program; i++) {
		const struct plan_function *function = session->cases[i].clause->function;

		if (i && session->cases[i - 1].clause->function == function)
			continue;
		program = locate_program(function->api, function->name);
	}
	return program;
}

int trial_load(const struct session *session)
{
	struct launch launch;
	char *program, *wrong = NULL, *settings = NULL;
	int status;

	/* What is put in front of the program may be what makes it load. */
	if (session->settings->wrapper)
		return 0;
	status = launch_prepare(&launch, session->settings, session->api, &session->library,
				&session->carrier);
	program = status ? NULL : any_program(session);
	if (program)
		wrong = try_program(&launch, program);
	if (wrong) {
		fprintf(stderr, "scif-cts: %s: it cannot be loaded: %s\n", session->library.path,
			wrong);
		status = EXIT_USAGE;
	}
	if (program && !wrong)
		settings = refused_settings(&launch, program);
	if (settings) {
		fprintf(stderr,
			"scif-cts: scif_open fails with ENXIO because of the environment:%s\n",
			settings);
		status = EXIT_USAGE;
	}
	free(settings);
	free(wrong);
	free(program);
	launch_release(&launch);
	return status;
}

bool trial_finds_command(const char *line)
{
	size_t blank = strspn(line, " \t\n"), length = strcspn(line + blank, " \t\n");
	char *word = format_text("%.*s", (int)length, line + blank);
	char *arguments[] = {
		(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"command -v \"$1\" >/dev/null 2>&1"},
		(char[]){"sh"},	     word,	     NULL};
	int status = 0;
	pid_t pid;

	signal(SIGCHLD, SIG_DFL);
	/* Only the shell itself can tell what a word stands for that is more than a name. */
	if (!strpbrk(word, "'\"\\$`=(){}<>|&;*?[]~#!") &&
	    posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ) == 0)
		waitpid(pid, &status, 0);
	free(word);
	return status == 0;
}
