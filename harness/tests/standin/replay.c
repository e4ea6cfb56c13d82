/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The measurements of the Knights Corner driver, repeated through the public API: every row of
 * observed.rows is played, and its result and errno must be the measured ones. A row that cannot
 * be played is reported as skipped, with the reason.
 *
 *	replay [--fabric NAME] [--watchdog SECONDS] [--ulimit] [--only GROUP|SCENE] FILE
 *
 * --fabric gives every scene a fabric of its own (SCIF_FABRIC=NAME-number), which the stand-in keeps
 * apart and a real driver does not know; scenes that wait for a time limit then run side by side.
 * --watchdog says after how many seconds a connect that nobody accepts ends (default 30, as the
 * driver is shipped).
 *
 * --ulimit says that the driver was loaded with ulimit=1; the stand-in is told by each scene.
 *
 * On the stand-in: LD_PRELOAD=libscif-standin.so SCIF_PROVIDER=hw:knc SCIF_STANDIN_NODES=1.
 *
 * On a machine with the driver itself, loaded without a card (loopback): no preload, as root,
 *	SCIF_PROVIDER=hw:knc ./replay harness/tests/standin/observed.rows
 * with nothing else using SCIF, since automatic port numbers are compared; it takes some minutes,
 * because the time limits are the driver's. On a machine with a card the rows that say that only
 * node 0 exists fail, and so may those of fences, which then really wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "scene.h"
#include "script.h"
#include "tap.h"

#define SCENE_SECONDS 60 /* beyond the driver's own limits */

static const char *fabric;
static const char *only;
static int watchdog = 30;
static bool loaded_with_ulimit;
static const char *path;

struct running {
	pid_t pid;
	int pidfd;
};

static struct stage *stage_map(int fd, size_t rows)
{
	size_t size = sizeof(struct stage) + rows * sizeof(struct row_result);

	if (ftruncate(fd, (off_t)size) != 0)
		return NULL;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool descriptors_raise(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = MANY_DESCRIPTORS;
	if (limit.rlim_max < MANY_DESCRIPTORS)
		limit.rlim_max = MANY_DESCRIPTORS;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static bool descriptors_suffice(void)
{
	struct rlimit before;

	getrlimit(RLIMIT_NOFILE, &before);
	bool suffice = descriptors_raise();

	if (suffice)
		setrlimit(RLIMIT_NOFILE, &before);
	return suffice;
}

/* A fresh program per scene, so that nothing is left over from the one before. */
static struct running scene_start(const struct scene *played, int scene, int stage_fd)
{
	struct running running = {.pid = fork()};

	if (running.pid == 0) {
		char number[16], descriptor[16], seconds[16], name[80];

		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(number, sizeof number, "%d", scene);
		snprintf(descriptor, sizeof descriptor, "%d", stage_fd);
		snprintf(seconds, sizeof seconds, "%d", watchdog);
		snprintf(name, sizeof name, "%s-%d", fabric ? fabric : "", scene);
		if (fabric != NULL)
			setenv("SCIF_FABRIC", name, 1);
		if (fabric != NULL && played->ulimit == 1)
			setenv("SCIF_STANDIN_ULIMIT", "1", 1);
		if (played->many)
			descriptors_raise();
		fcntl(stage_fd, F_SETFD, 0);
		execl("/proc/self/exe", "replay", "--scene", number, "--stage", descriptor,
		      "--watchdog", seconds, path, (char *)NULL);
		_exit(127);
	}
	if (running.pid < 0)
		tap_bail("no process: %m");
	setpgid(running.pid, running.pid);
	running.pidfd = (int)syscall(SYS_pidfd_open, running.pid, 0);
	return running;
}

/* Ends what is left of it; the text says how it went. */
static void scene_finish(struct running *running, char *how, size_t size)
{
	struct pollfd ended = {.fd = running->pidfd, .events = POLLIN};
	int ready = poll(&ended, 1, (SCENE_SECONDS + 2 * watchdog) * 1000);
	int status = 0;

	kill(-running->pid, SIGKILL);
	waitpid(running->pid, &status, 0);
	close(running->pidfd);
	if (ready == 0)
		snprintf(how, size, "it did not end");
	else if (WIFSIGNALED(status))
		snprintf(how, size, "it died of %s", strsignal(WTERMSIG(status)));
	else
		snprintf(how, size, "it ended with %d", WEXITSTATUS(status));
}

static void scene_report(const struct script *script, int scene, const struct stage *stage,
			 const char *how)
{
	const struct scene *played = &script->scene[scene];
	int last = -1;

	for (int i = played->first_line; i < played->end_line; i++) {
		int row = script->line[i].row;

		if (row < 0 || row == last)
			continue;
		last = row;
		const struct row *what = &script->row[row];
		const struct row_result *result = &stage->row[row];
		bool held = result->failed == 0 && result->held == what->lines;

		tap_result(held, "%s %d: %s", what->group, what->index, what->text);
		if (held)
			continue;
		if (result->note[0] != '\0')
			tap_note("%s", result->note);
		else if (stage->broken[0] != '\0')
			tap_note("the scene %s broke off: %s", played->name, stage->broken);
		else
			tap_note("the scene %s did not come that far: %s", played->name, how);
	}
}

static void scene_skip(const struct script *script, int scene, const char *reason)
{
	int last = -1;

	for (int i = script->scene[scene].first_line; i < script->scene[scene].end_line; i++) {
		int row = script->line[i].row;

		if (row < 0 || row == last)
			continue;
		last = row;
		tap_skip(reason, "%s %d: %s", script->row[row].group, script->row[row].index,
			 script->row[row].text);
	}
}

static bool scene_wanted(const struct script *script, int scene)
{
	const struct scene *played = &script->scene[scene];

	if (only == NULL || strcmp(only, played->name) == 0)
		return true;
	for (int i = played->first_line; i < played->end_line; i++) {
		int row = script->line[i].row;

		if (row >= 0)
			return strcmp(script->row[row].group, only) == 0;
	}
	return false;
}

struct performance {
	struct running running;
	struct stage *stage;
	bool started;
};

static void perform(const struct script *script, int scene, struct performance *performance)
{
	int fd = memfd_create("replay-stage", MFD_CLOEXEC);

	performance->stage = fd < 0 ? NULL : stage_map(fd, (size_t)script->rows);
	if (performance->stage == NULL)
		tap_bail("no shared memory: %m");
	performance->running = scene_start(&script->scene[scene], scene, fd);
	performance->started = true;
	close(fd);
}

static void conclude(const struct script *script, int scene, struct performance *performance)
{
	char how[64];

	scene_finish(&performance->running, how, sizeof how);
	scene_report(script, scene, performance->stage, how);
	munmap(performance->stage,
	       sizeof(struct stage) + (size_t)script->rows * sizeof(struct row_result));
}

static void rows_skipped(const struct script *script)
{
	for (int i = 0; i < script->rows; i++) {
		const struct row *row = &script->row[i];

		if (row->skipped != NULL)
			tap_skip(row->skipped, "%s %d", row->group, row->index);
	}
}

/* Why it cannot be played here; NULL: it can. */
static const char *scene_hindrance(const struct scene *scene)
{
	if (scene->privileged && geteuid() != 0)
		return "goes on as another user, which only root can";
	if (scene->many && !descriptors_suffice())
		return "needs 66000 descriptors in one process";
	if (fabric == NULL && scene->ulimit != ULIMIT_ANY && scene->ulimit != loaded_with_ulimit)
		return scene->ulimit ? "needs a driver that was loaded with ulimit=1"
				     : "needs a driver that was loaded with ulimit=0";
	return NULL;
}

static int play_all(const struct script *script)
{
	struct performance *all = calloc((size_t)script->scenes, sizeof *all);

	if (all == NULL)
		tap_bail("no memory");
	for (int i = 0; fabric != NULL && i < script->scenes; i++) {
		if (script->scene[i].slow && scene_wanted(script, i) &&
		    scene_hindrance(&script->scene[i]) == NULL)
			perform(script, i, &all[i]);
	}
	for (int i = 0; i < script->scenes; i++) {
		if (all[i].started || !scene_wanted(script, i))
			continue;
		const char *hindrance = scene_hindrance(&script->scene[i]);

		if (hindrance != NULL) {
			scene_skip(script, i, hindrance);
			continue;
		}
		perform(script, i, &all[i]);
		conclude(script, i, &all[i]);
	}
	for (int i = 0; fabric != NULL && i < script->scenes; i++) {
		if (script->scene[i].slow && all[i].started)
			conclude(script, i, &all[i]);
	}
	free(all);
	if (only == NULL)
		rows_skipped(script);
	return tap_end();
}

static int usage(void)
{
	fprintf(stderr, "usage: replay [--fabric NAME] [--watchdog SECONDS] [--ulimit] "
			"[--only GROUP|SCENE] FILE\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"fabric", required_argument, NULL, 'f'}, {"watchdog", required_argument, NULL, 'w'},
		{"only", required_argument, NULL, 'o'},	  {"scene", required_argument, NULL, 's'},
		{"stage", required_argument, NULL, 'g'},  {"ulimit", no_argument, NULL, 'u'},
		{0},
	};
	int scene = -1, stage_fd = -1, option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			fabric = optarg;
			break;
		case 'w':
			watchdog = atoi(optarg);
			break;
		case 'u':
			loaded_with_ulimit = true;
			break;
		case 'o':
			only = optarg;
			break;
		case 's':
			scene = atoi(optarg);
			break;
		case 'g':
			stage_fd = atoi(optarg);
			break;
		default:
			return usage();
		}
	}
	if (optind != argc - 1 || watchdog < 1)
		return usage();
	path = argv[optind];
	struct script *script = script_read(path);

	if (script == NULL)
		return 2;
	if (scene < 0)
		return play_all(script);

	struct stage *stage = stage_map(stage_fd, (size_t)script->rows);

	close(stage_fd);
	variable_set("watchdog_ms", watchdog * 1000);
	if (stage == NULL || scene >= script->scenes)
		return 2;
	scene_play(script, scene, stage);
}
