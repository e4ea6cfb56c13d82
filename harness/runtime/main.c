/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program around one function's case table: chooses cases, runs each under Check in a process
 * group of its own with a time limit, and writes one record per case, whatever became of it.
 */
#include "engine.h"

#include "errname.h"
#include "symbols.h"

#include <check.h>
#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

struct settings settings = {.profile = "documented", .timeout_scale = 1, .fork = true};

static const struct cts_case *running;

START_TEST(check_case)
{
	/* The alarm that Check's parent sets is inherited as a handler, not as a timer; the case
	 * starts clean. */
	signal(SIGALRM, SIG_DFL);
	run_case(running);
	ck_assert_msg(shared->record.verdict != FAIL, "%s", shared->record.reason);
}
END_TEST

struct selection {
	const char **ids;
	int count;
	bool list, open;
	const char *shortage; /* a name, or "any" */
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: %s [--list] [--open] [--case ID]... [--no-fork] [--profile NAME] "
		"[--timeout-scale X] [--all] [--shortage NAME|any]\n",
		cts_function);
}

static bool parse(int argc, char **argv, struct selection *s)
{
	static const struct option options[] = {
		{"list", no_argument, NULL, 'l'},
		{"open", no_argument, NULL, 'o'},
		{"case", required_argument, NULL, 'c'},
		{"no-fork", no_argument, NULL, 'n'},
		{"profile", required_argument, NULL, 'p'},
		{"timeout-scale", required_argument, NULL, 't'},
		{"all", no_argument, NULL, 'a'},
		{"shortage", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	char *end;
	int option;

	s->ids = calloc((size_t)argc, sizeof *s->ids);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'l':
			s->list = true;
			break;
		case 'o':
			s->open = true;
			break;
		case 'c':
			s->ids[s->count++] = optarg;
			break;
		case 'n':
			settings.fork = false;
			break;
		case 'p':
			settings.profile = optarg;
			break;
		case 't':
			settings.timeout_scale = strtod(optarg, &end);
			if (*end || !(settings.timeout_scale > 0))
				return false;
			break;
		case 'a':
			settings.all = true;
			break;
		case 's':
			s->shortage = optarg;
			if (strcmp(optarg, "any") && !shortage_named(optarg))
				return false;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			return false;
		}
	}
	return optind == argc;
}

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static void read_environment(void)
{
	settings.records = setting("CTS_RECORDS");
	settings.observations = settings.records ? setting("CTS_OBSERVATIONS") : NULL;
	settings.impl = setting("CTS_IMPL");
	settings.substrate = cts_api->substrate ? setting("CTS_SCIF") : NULL;
	settings.peer = setting("CTS_PEER");
	settings.peer_launch = setting("SCIF_CTS_PEER_LAUNCH");
	settings.inject = setting("CTS_INJECT");
	settings.node_adapter = setting("CTS_NODE_ADAPTER");
	settings.port_adapter = setting("CTS_PORT_ADAPTER");
	settings.version_adapter = setting("CTS_VERSION_ADAPTER");
	/* Check would choose among the cases by these. */
	unsetenv("CK_RUN_CASE");
	unsetenv("CK_RUN_SUITE");
	unsetenv("CK_INCLUDE_TAGS");
	unsetenv("CK_EXCLUDE_TAGS");
	setenv("SCIF_NODE", "0", 1);
}

static bool chosen(const struct cts_case *c, const struct selection *s)
{
	if (!s->count)
		return settings.all || !c->is_long;
	for (int i = 0; i < s->count; i++)
		if (!strcmp(s->ids[i], c->id))
			return true;
	return false;
}

/* The verdict of a case that need not or must not run; false when it has to run. */
static bool decided_without_running(const struct cts_case *c)
{
	char where[PATH_MAX], why[PATH_MAX * 3];

	if (c->untestable) {
		verdict_set(UNTESTED, KIND_NONE, "%s", c->untestable);
		return true;
	}
	if (c->ruled_out) {
		verdict_set(UNTESTED, KIND_NONE, "ruled out by %s", c->ruled_out);
		return true;
	}
	if (!settings.impl)
		return false;
	/* First: a library that is not in use offers nothing, and that says nothing about it. */
	if (!symbols_proven(cts_api->functions, settings.impl, why, sizeof why) ||
	    (settings.substrate &&
	     !symbols_proven(cts_api->substrate, settings.substrate, why, sizeof why))) {
		verdict_set(UNRESOLVED, KIND_NONE, "%.400s", why);
		return true;
	}
	if (symbol_origin(c->function, settings.impl, where, sizeof where) != SYMBOL_ABSENT &&
	    (!cts_api->offers || cts_api->offers(c->function)))
		return false;
	verdict_set(UNSUPPORTED, KIND_NONE, "the implementation does not offer %s", c->function);
	return true;
}

/* What became of a case that did not come to its end, from what Check saw of its process. */
static void judge_unfinished(const char *message)
{
	bool in_setup = shared->phase <= PHASE_SETUP;
	const char *step = *shared->step ? shared->step : "";
	bool timeout = message && strstr(message, "timeout expired");
	const char *text = message ? message : "the process ended by itself";

	/* A verdict that the case had already come to stands, with what happened then added. */
	if (timeout) {
		observe_timeout();
		peers_tell_pending();
	}
	observe_event("sss", "end", timeout ? "timeout" : "crash", text);
	if (in_setup)
		verdict_derived(UNRESOLVED, KIND_NONE, "set-up%s%s: %s", *step ? ", " : "", step,
				text);
	else
		verdict_derived(FAIL, timeout ? KIND_TIMEOUT : KIND_CRASH, "%s", text);
}

static void run_under_check(const struct cts_case *c)
{
	Suite *suite = suite_create(c->function);
	TCase *tcase = tcase_create(c->id);
	SRunner *runner = srunner_create(suite);
	TestResult **results;

	running = c;
	tcase_set_timeout(tcase, case_timeout(c));
	tcase_add_test(tcase, check_case);
	suite_add_tcase(suite, tcase);
	srunner_set_fork_status(runner, settings.fork ? CK_FORK : CK_NOFORK);
	srunner_run_all(runner, CK_SILENT);
	if (shared->finished)
		observe_event("sss", "end", "finished", (char *)NULL);
	if (!shared->finished) {
		results = srunner_failures(runner);
		judge_unfinished(srunner_ntests_failed(runner) ? tr_msg(results[0]) : NULL);
		free(results);
		adapters_undo(shared);
	}
	srunner_free(runner);
}

static void written_or_exit(const char *file, int err)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s: %s\n", cts_function, file, strerror(-err));
	exit(3);
}

static void run_and_record(const struct cts_case *c, int number)
{
	uint64_t start_us = cts_now_us();
	char short_id[160];

	memset(shared, 0, sizeof *shared);
	observe_case();
	observe_process();
	if (shortage_name())
		snprintf(short_id, sizeof short_id, "%s, short of %s", c->id, shortage_name());
	shared->record = (struct record){.id = shortage_name() ? short_id : c->id,
					 .function = c->function,
					 .outcome = c->outcome,
					 .profile = settings.profile};
	/* A library may read the fabric's name once per process, so cases in one process share it.
	 */
	snprintf(shared->fabric, sizeof shared->fabric, "cts-%d-%d", (int)getpid(),
		 settings.fork ? number : 0);
	setenv("SCIF_FABRIC", shared->fabric, 1);
	/* The runner tells by these lines which case the output belongs to. */
	if (settings.records)
		fprintf(stderr, "== %s\n", c->id);
	fflush(NULL);
	if (!decided_without_running(c))
		run_under_check(c);
	if (observe_is_full())
		verdict_derived(UNRESOLVED, KIND_NONE, "the case made more observations than its "
						       "log can hold");
	shared->record.ms = (double)(cts_now_us() - start_us) / 1000;
	if (!settings.records) {
		record_tap(stdout, number, &shared->record);
		return;
	}
	/* Before the record, so that one is never without the other. */
	written_or_exit(settings.observations, observe_write(c->id));
	written_or_exit(settings.records, record_append(settings.records, &shared->record));
}

/* With a shortage: the first clause that it fits, or with --all every one. */
static bool chosen_short(const struct cts_case *c, const struct selection *s)
{
	const struct cts_case *first = cts_cases;

	while (first < c && !shortage_fits(first))
		first++;
	return shortage_fits(c) && (settings.all || s->count ? chosen(c, s) : c == first);
}

static void run_short(const struct cts_case *c, int number)
{
	run_and_record(c, number);
	if (!settings.records)
		printf("# %s\n", *shared->came ? shared->came : "it succeeds without");
}

/* Every chosen clause once for each shortage that is asked for. */
static int run_short_of(const struct selection *s)
{
	int number = 0, failed = 0, unresolved = 0;
	bool any = !strcmp(s->shortage, "any");

	for (int nth = 0; any ? shortage_choose(nth) : !nth; nth++) {
		for (int i = 0; i < cts_case_count; i++) {
			if (!chosen_short(&cts_cases[i], s))
				continue;
			run_short(&cts_cases[i], ++number);
			failed += shared->record.verdict == FAIL;
			unresolved += shared->record.verdict == UNRESOLVED;
		}
	}
	printf("1..%d\n", number);
	return failed ? 1 : unresolved ? 3 : 0;
}

static int run_chosen(const struct selection *s)
{
	int number = 0, failed = 0, unresolved = 0, total = 0;

	for (int i = 0; i < cts_case_count; i++)
		total += chosen(&cts_cases[i], s);
	if (!settings.records)
		printf("1..%d\n", total);
	for (int i = 0; i < cts_case_count; i++) {
		if (!chosen(&cts_cases[i], s))
			continue;
		run_and_record(&cts_cases[i], ++number);
		failed += shared->record.verdict == FAIL;
		unresolved += shared->record.verdict == UNRESOLVED;
	}
	return failed ? 1 : unresolved ? 3 : 0;
}

static bool known(const char *id)
{
	for (int i = 0; i < cts_case_count; i++)
		if (!strcmp(cts_cases[i].id, id))
			return true;
	fprintf(stderr, "%s: no case is named %s\n", cts_function, id);
	return false;
}

/* What scif_open says to the environment as the caller has it: "0" or the name of its error. */
static int say_whether_it_opens(void)
{
	int (*opener)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "scif_open");
	bool failed = opener && opener() < 0;

	puts(cts_errname(failed ? errno : 0));
	return 0;
}

/*
 * The C library keeps freed blocks at hand for each thread and counts them as in use, which would
 * look like growth. It can be told not to, but only before the program starts. Memcheck counts by
 * itself, and would not follow.
 */
static void start_without_block_cache(char **argv)
{
	const char *given = getenv("GLIBC_TUNABLES"), *preloads = getenv("LD_PRELOAD");
	char tunables[1024];

	if ((given && strstr(given, "tcache_count")) ||
	    (preloads && strstr(preloads, "/vgpreload_")))
		return;
	snprintf(tunables, sizeof tunables, "%s%sglibc.malloc.tcache_count=0", given ? given : "",
		 given && *given ? ":" : "");
	setenv("GLIBC_TUNABLES", tunables, 1);
	execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	static struct selection s;

	start_without_block_cache(argv);

	if (!parse(argc, argv, &s)) {
		usage(stderr);
		return 2;
	}
	for (int i = 0; i < s.count; i++)
		if (!known(s.ids[i]))
			return 2;
	for (int i = 0; s.list && i < cts_case_count; i++)
		puts(cts_cases[i].id);
	if (s.list)
		return 0;
	if (s.open)
		return say_whether_it_opens();
	read_environment();
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED) {
		perror(cts_function);
		return 3;
	}
	observe_open(settings.observations);
	return s.shortage ? run_short_of(&s) : run_chosen(&s);
}
