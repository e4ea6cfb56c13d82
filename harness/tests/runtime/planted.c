/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hand-made case table whose "implementation" is the planted functions below, right ones and
 * wrong ones. verdicts.tap knows what verdict and kind each case must get from the engine.
 */
#include "cts_scif.h"

#include <stdlib.h>

const struct cts_api *const cts_api = &cts_api_scif;
const char cts_function[] = "planted";

struct vars {
	scif_epd_t epd;
	int out;
	unsigned char *bytes;
	int calls;
};

/* The planted implementation: each refuses EPD, most of them in a wrong way. */

static int refuse(int err)
{
	errno = err;
	return -1;
}

static int refuse_unstably(int *calls)
{
	return refuse(++*calls < 2 ? EBADF : EINVAL);
}

static int refuse_and_leak_descriptor(void)
{
	return dup(0) == -1 ? refuse(EMFILE) : refuse(EBADF);
}

static int refuse_and_leak_heap(void)
{
	static void *volatile leak;

	leak = malloc(3000);
	return refuse(leak ? EBADF : ENOMEM);
}

static int refuse_and_leak_mapping(void)
{
	if (mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return refuse(ENOMEM);
	return refuse(EBADF);
}

static int refuse_and_write(int *out)
{
	*out = 0;
	return refuse(EBADF);
}

static int crash(void)
{
	raise(SIGSEGV);
	return 0;
}

static int hang(void)
{
	while (pause() == -1)
		;
	return 0;
}

static int wait_for_signal(void)
{
	return pause() == -1 ? refuse(errno) : 0;
}

static int allocate_twice(void)
{
	void *first = malloc(100), *second = first ? malloc(200) : NULL;
	int ret = second ? 0 : refuse(ENOMEM);

	free(second);
	free(first);
	return ret;
}

static int allocate_wrongly(void)
{
	void *first = malloc(100);

	if (!first)
		return refuse(ENOMEM);
	void *second = malloc(200);
	int ret = second ? 0 : refuse(EIO);
	free(second);
	free(first);
	return ret;
}

static int allocate_and_crash(void)
{
	int *first = malloc(sizeof *first);

	*(volatile int *)first = 1;
	free(first);
	return 0;
}

static int survive_without_memory(void)
{
	free(malloc(100));
	return 0;
}

static int open_something(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return -1;
	close(fd);
	return 0;
}

static int only_for_root(void)
{
	return geteuid() == 0 ? 0 : refuse(EACCES);
}

/* The calls, as the spec compiler would write them. */

#define CALL(name, expression)                                                                     \
	static void call_##name(void *p, struct cts_result *r)                                     \
	{                                                                                          \
		struct vars *v = p;                                                                \
		(void)v;                                                                           \
		errno = 0;                                                                         \
		r->ret = (intptr_t)(expression);                                                   \
		r->err = errno;                                                                    \
	}

CALL(success, 7)
CALL(ebadf, refuse(EBADF))
CALL(einval, refuse(EINVAL))
CALL(unstable, refuse_unstably(&v->calls))
CALL(leak_descriptor, refuse_and_leak_descriptor())
CALL(leak_heap, refuse_and_leak_heap())
CALL(leak_mapping, refuse_and_leak_mapping())
CALL(out, refuse_and_write(&v->out))
CALL(crash, crash())
CALL(hang, hang())
CALL(exit, (exit(0), 0))
CALL(wait, wait_for_signal())
CALL(overrun, (v->bytes[16] = 1, 16))
CALL(allocate, allocate_twice())
CALL(allocate_wrongly, allocate_wrongly())
CALL(allocate_crash, allocate_and_crash())
CALL(survive, survive_without_memory())
CALL(open, open_something())
CALL(privilege, only_for_root())

static void given_out(void *p)
{
	((struct vars *)p)->out = cts_fx_integer(5);
}

static void given_bytes(void *p)
{
	((struct vars *)p)->bytes = cts_fx_guarded(16);
}

static void given_broken(void *p)
{
	(void)p;
	CTS_REQUIRE(1 == 2);
}

static void given_crash(void *p)
{
	(void)p;
	cts_step("epd: crashing");
	crash();
}

static void given_need(void *p)
{
	(void)p;
	cts_untested("nothing here provokes it");
}

static void during_signal(void *p)
{
	(void)p;
	kill(getpid(), SIGUSR2);
}

static void on_signal(int sig)
{
	(void)sig;
}

static void given_handler(void *p)
{
	(void)p;
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGUSR2, &action, NULL);
}

static size_t copy_out(void *p, void *out)
{
	struct vars *v = p;

	if (out)
		memcpy(out, &v->out, sizeof v->out);
	return sizeof v->out;
}

static bool minus_one(const struct cts_result *r)
{
	return (int)r->ret == -1;
}

static bool not_minus_one(const struct cts_result *r)
{
	return (int)r->ret != -1;
}

static void check_seven(void *p, const struct cts_result *r)
{
	int ret = (int)r->ret;

	(void)p;
	CTS_CHECK(ret == 7, "returns 7");
}

static void check_eight(void *p, const struct cts_result *r)
{
	int ret = (int)r->ret;

	(void)p;
	CTS_CHECK(ret == 8, "returns 8");
}

static void scenario_good(void)
{
	struct cts_result r = CTS_OBSERVE_ERROR(refuse(EBADF), EBADF);

	CTS_ASSERT(r.err == EBADF);
}

static void scenario_bad(void)
{
	CTS_OBSERVE_ERROR(refuse(EINVAL), EBADF);
}

static void scenario_param(void)
{
	CTS_ASSERT(cts_param("len") == 4096);
}

static void *end_from_thread(void *arg)
{
	(void)arg;
	cts_fail("from another thread");
}

static struct cts_result end_thread(void *arg)
{
	end_from_thread(arg);
	return (struct cts_result){0, 0};
}

static void scenario_thread(void)
{
	cts_join(cts_thread_start(end_thread, NULL));
}

static struct cts_result sleep_for_ever(void *arg)
{
	(void)arg;
	hang();
	return (struct cts_result){0, 0};
}

static void scenario_join(void)
{
	struct cts_thread *t = cts_thread_start(sleep_for_ever, NULL);

	cts_wait_asleep(t);
	cts_join(t);
}

static void scenario_memory(void)
{
	unsigned char *p = cts_fx_straddling(100), *b = cts_fx_buffer(33), *u = cts_fx_unmapped(10);

	CTS_ASSERT(!cts_faults_on_read(p + 49) && cts_faults_on_read(p + 50));
	CTS_ASSERT(cts_is_pattern(p, 50, 1) && !cts_is_pattern(p, 50, 2));
	CTS_ASSERT(!cts_is_mapped(u, 10) && cts_is_mapped(b, 33));
	CTS_ASSERT(cts_faults_on_write(cts_fx_readonly(5)) &&
		   !cts_faults_on_read(cts_fx_readonly(5)));
	CTS_ASSERT(cts_faults_on_read(cts_fx_guarded(7) + 7) &&
		   cts_faults_on_read(cts_fx_guarded_before(7) - 1));
	CTS_ASSERT(cts_guards_ok(b));
	b[33] ^= 1;
	CTS_ASSERT(!cts_guards_ok(b));
}

static void scenario_limit(void)
{
	cts_limit(RLIMIT_NOFILE, "current");
	CTS_ASSERT(dup(0) == -1 && errno == EMFILE);
	cts_limit_restore(RLIMIT_NOFILE);
	int copy = dup(0);
	CTS_ASSERT(copy != -1 && cts_is_open(copy) && !cts_has_cloexec(copy));
}

#define DOCUMENTED(...)                                                                            \
	(const struct cts_expect[])                                                                \
	{                                                                                          \
		{                                                                                  \
			.profile = "documented", __VA_ARGS__                                       \
		}                                                                                  \
	}
#define SUCCESS(name, ...)                                                                         \
	{                                                                                          \
		.id = name, .function = "scif_bind", .outcome = "port",                            \
		.vars_size = sizeof(struct vars), .failed = minus_one, .expect_count = 1,          \
		__VA_ARGS__                                                                        \
	}
#define SCENARIO(name, fn, ...)                                                                    \
	{                                                                                          \
		.id = name, .function = "scif_bind", .outcome = "port", .scenario = fn,            \
		.scenario_name = #fn, __VA_ARGS__                                                  \
	}
#define FAILING(name, wanted, ...)                                                                 \
	{                                                                                          \
		.id = name, .function = "scif_bind", .outcome = "EBADF",                           \
		.vars_size = sizeof(struct vars), .failed = minus_one, .is_error = true,           \
		.expect_count = 1, .expects = wanted, __VA_ARGS__                                  \
	}
#define KEYS(kind_, ...)                                                                           \
	.provoke = {.kind = kind_,                                                                 \
		    .keys = (const struct cts_key[]){__VA_ARGS__},                                 \
		    .key_count = sizeof((struct cts_key[]){__VA_ARGS__}) / sizeof(struct cts_key)}

#define ONE_ERRNO(name)                                                                            \
	static const struct cts_expect just_##name[] = {                                           \
		{.profile = "documented",                                                          \
		 .returns_text = "-1",                                                             \
		 .errno_text = #name,                                                              \
		 .errnos = (const int[]){name},                                                    \
		 .errno_count = 1},                                                                \
	};

ONE_ERRNO(EBADF)
ONE_ERRNO(EINTR)
ONE_ERRNO(EACCES)
ONE_ERRNO(EMFILE)
ONE_ERRNO(ENOMEM)

static const struct cts_expect ebadf_or_einval[] = {
	{.profile = "documented",
	 .returns_text = "-1",
	 .errno_text = "EBADF EINVAL",
	 .errnos = (const int[]){EBADF, EINVAL},
	 .errno_count = 2},
};
static const struct cts_snapshot out_snapshot[] = {{"out", copy_out}};
static const char *const root_need[] = {"root", NULL};
static const char *const unknown_need[] = {"moon", NULL};
static const struct cts_param len_param[] = {{"len", 4096}};

const struct cts_case cts_cases[] = {
	SUCCESS("RIGHT-VALUE", .call = call_success,
		.expects = DOCUMENTED(.returns_text = "7", .check = check_seven)),
	SUCCESS("WRONG-VALUE", .call = call_success,
		.expects = DOCUMENTED(.returns_text = "8", .check = check_eight)),
	SUCCESS("FAILS-INSTEAD", .call = call_ebadf,
		.expects = DOCUMENTED(.returns_text = "7", .check = check_seven)),
	FAILING("RIGHT-ERROR", just_EBADF, .call = call_ebadf, .repeat = true,
		.control = call_success, .control_ok = not_minus_one),
	FAILING("ONE-OF-TWO", ebadf_or_einval, .call = call_einval, .repeat = true,
		.choice = "which"),
	FAILING("WRONG-ERRNO", just_EBADF, .call = call_einval),
	FAILING("SUCCEEDS-INSTEAD", just_EBADF, .call = call_success),
	FAILING("UNSTABLE", just_EBADF, .call = call_unstable, .repeat = true),
	FAILING("LEAKS-DESCRIPTOR", just_EBADF, .call = call_leak_descriptor, .repeat = true),
	FAILING("LEAKS-HEAP", just_EBADF, .call = call_leak_heap, .repeat = true),
	FAILING("LEAKS-MAPPING", just_EBADF, .call = call_leak_mapping, .repeat = true),
	FAILING("WRITES-OUT", just_EBADF, .call = call_out, .given = given_out,
		.unchanged = out_snapshot, .unchanged_count = 1),
	FAILING("CONTROL-FAILS", just_EBADF, .call = call_ebadf, .control = call_ebadf,
		.control_ok = not_minus_one),
	SUCCESS("CRASHES", .call = call_crash, .expects = DOCUMENTED(.returns_text = "0")),
	SUCCESS("HANGS", .call = call_hang, .expects = DOCUMENTED(.returns_text = "0")),
	SUCCESS("EXITS", .call = call_exit, .expects = DOCUMENTED(.returns_text = "0")),
	SUCCESS("OVERRUNS", .call = call_overrun, .given = given_bytes,
		.expects = DOCUMENTED(.returns_text = "16")),
	SUCCESS("SETUP-BREAKS", .call = call_success, .given = given_broken,
		.expects = DOCUMENTED(.returns_text = "7")),
	SUCCESS("SETUP-CRASHES", .call = call_success, .given = given_crash,
		.expects = DOCUMENTED(.returns_text = "7")),
	SUCCESS("NEEDS-ROOT", .call = call_success, .needs = root_need,
		.expects = DOCUMENTED(.returns_text = "7", .check = check_seven)),
	SUCCESS("NEEDS-THE-MOON", .call = call_success, .needs = unknown_need,
		.expects = DOCUMENTED(.returns_text = "7")),
	SUCCESS("CANNOT-PROVOKE", .call = call_success, .given = given_need,
		.expects = DOCUMENTED(.returns_text = "7")),
	SUCCESS("UNTESTABLE", .untestable = "by nobody"),
	SUCCESS("RULED-OUT", .ruled_out = "SE-999"),
	FAILING("SIGNALLED", just_EINTR, .call = call_wait, KEYS("signal", {"signal", "SIGUSR1"})),
	FAILING("DURING", just_EINTR, .call = call_wait, .given = given_handler,
		.during = during_signal),
	SUCCESS("DOES-NOT-WAIT", .call = call_success, .during = during_signal,
		.given = given_handler,
		.expects = DOCUMENTED(.returns_text = "7", .check = check_seven)),
	FAILING("UNPRIVILEGED", just_EACCES, .call = call_privilege, .as = "unprivileged",
		.needs = root_need, .control = call_privilege, .control_ok = not_minus_one,
		.repeat = true),
	FAILING("AT-THE-LIMIT", just_EMFILE, .call = call_open, .repeat = true,
		.control = call_open, .control_ok = not_minus_one,
		KEYS("limit", {"limit", "RLIMIT_NOFILE"}, {"to", "current"})),
	FAILING("FAULTS", just_ENOMEM, .call = call_allocate, .repeat = true,
		KEYS("fault", {"fault", "heap"}, {"errno", "ENOMEM"})),
	FAILING("FAULT-WRONG-ERRNO", just_ENOMEM, .call = call_allocate_wrongly, .repeat = true,
		KEYS("fault", {"fault", "heap"}, {"errno", "ENOMEM"})),
	FAILING("FAULT-CRASHES", just_ENOMEM, .call = call_allocate_crash, .repeat = true,
		KEYS("fault", {"fault", "memory"}, {"errno", "ENOMEM"})),
	FAILING("FAULT-NEVER-SHOWS", just_ENOMEM, .call = call_survive, .repeat = true,
		KEYS("fault", {"fault", "heap"}, {"errno", "ENOMEM"})),
	FAILING("FAULT-NO-CALLS", just_ENOMEM, .call = call_success, .repeat = true,
		KEYS("fault", {"fault", "any"}, {"errno", "ENOMEM"})),
	FAILING("FAULT-DESCRIPTOR", just_EMFILE, .call = call_open, .repeat = true,
		KEYS("fault", {"fault", "descriptor"}, {"errno", "EMFILE"})),
	SCENARIO("SCENARIO-RIGHT", scenario_good, .line = __LINE__),
	SCENARIO("SCENARIO-WRONG", scenario_bad, .line = __LINE__),
	SCENARIO("SCENARIO-PARAM", scenario_param, .params = len_param, .param_count = 1),
	SCENARIO("SCENARIO-ENDS-IN-THREAD", scenario_thread, .line = __LINE__),
	SCENARIO("SCENARIO-JOINS-IN-VAIN", scenario_join, .line = __LINE__),
	SCENARIO("SCENARIO-MEMORY", scenario_memory, .line = __LINE__),
	SCENARIO("SCENARIO-LIMIT", scenario_limit, .line = __LINE__),
};
const int cts_case_count = sizeof cts_cases / sizeof *cts_cases;
