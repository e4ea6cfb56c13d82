/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call of a case with its provoker around it. What has to happen while the call sleeps is done
 * by a second thread, which learns that the first one sleeps from the kernel.
 */
#include "engine.h"

#include "asleep.h"
#include "errname.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#define SIGNAL_MS 100
/* A call may spin instead of sleeping; when it has had the processor for so long it counts as waiting. */
#define BUSY_MS	  500

struct meanwhile {
	const struct cts_case *c;
	void *v;
	pthread_t caller;
	int stat;	 /* of the caller */
	clockid_t clock; /* of its processor time */
	atomic_bool in_call, returned;
	bool early; /* the call returned before it waited */
	pthread_t thread;
};

bool fault_fired;

static void on_signal(int sig)
{
	(void)sig;
}

const char *provoke_value(const struct cts_case *c, const char *key)
{
	for (int i = 0; i < c->provoke.key_count; i++)
		if (!strcmp(c->provoke.keys[i].key, key))
			return c->provoke.keys[i].value;
	cts_unresolved("the provoker has no key %s", key);
}

static bool provoked_by(const struct cts_case *c, const char *kind)
{
	return c->provoke.kind && !strcmp(c->provoke.kind, kind);
}

static int signal_number(const char *name)
{
	for (int sig = 1; sig < NSIG; sig++) {
		const char *abbreviation = sigabbrev_np(sig);

		if (abbreviation && !strcmp(abbreviation, name + 3))
			return sig;
	}
	cts_unresolved("no signal is named %s", name);
}

static int64_t processor_ms(const struct meanwhile *m)
{
	struct timespec spent = {0};

	clock_gettime(m->clock, &spent);
	return spent.tv_sec * 1000 + spent.tv_nsec / 1000000;
}

static bool wait_until_it_waits(struct meanwhile *m)
{
	while (!atomic_load(&m->in_call))
		asleep_pace();
	int64_t busy_end = processor_ms(m) + BUSY_MS;
	while (!atomic_load(&m->returned)) {
		if (asleep_now(m->stat) || processor_ms(m) > busy_end)
			return true;
		asleep_pace();
	}
	return false;
}

/* What looked like the call's sleep may have been a lock before it, so the signal comes until it
 * has told. */
static void signal_caller(struct meanwhile *m)
{
	int sig = signal_number(provoke_value(m->c, "signal"));

	while (wait_until_it_waits(m)) {
		int64_t next = now_ms() + SIGNAL_MS;

		pthread_kill(m->caller, sig);
		while (!atomic_load(&m->returned) && now_ms() < next)
			asleep_pace();
	}
}

static void *meanwhile_main(void *arg)
{
	struct meanwhile *m = arg;

	if (!wait_until_it_waits(m)) {
		m->early = true;
		return NULL;
	}
	if (m->c->during)
		m->c->during(m->v);
	if (provoked_by(m->c, "node"))
		cts_node(cts_peer_node(cts_peer()), provoke_value(m->c, "node"));
	if (provoked_by(m->c, "signal"))
		signal_caller(m);
	return NULL;
}

static bool needs_meanwhile(const struct cts_case *c)
{
	return c->during || provoked_by(c, "signal") || provoked_by(c, "node");
}

static void meanwhile_start(struct meanwhile *m)
{
	struct sigaction action = {.sa_handler = on_signal};

	if (provoked_by(m->c, "signal"))
		sigaction(signal_number(provoke_value(m->c, "signal")), &action, NULL);
	m->caller = pthread_self();
	m->stat = asleep_open(gettid());
	if (m->stat == -1 || pthread_getcpuclockid(m->caller, &m->clock) ||
	    pthread_create(&m->thread, NULL, meanwhile_main, m))
		cts_unresolved("no thread for what happens during the call");
}

static void meanwhile_end(struct meanwhile *m)
{
	atomic_store(&m->returned, true);
	pthread_join(m->thread, NULL);
	close(m->stat);
	/* What a profile expects instead may need no waiting. */
	if (m->early && m->c->during && !profile_deviates(m->c))
		verdict_set(FAIL, KIND_VALUE, "the call returned before it waited");
}

static int limit_resource(const char *name)
{
	static const struct {
		const char *name;
		int resource;
	} limits[] = {
		{"RLIMIT_NOFILE", RLIMIT_NOFILE},   {"RLIMIT_AS", RLIMIT_AS},
		{"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK}, {"RLIMIT_DATA", RLIMIT_DATA},
		{"RLIMIT_NPROC", RLIMIT_NPROC},	    {"RLIMIT_FSIZE", RLIMIT_FSIZE},
		{"RLIMIT_STACK", RLIMIT_STACK},
	};

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (!strcmp(limits[i].name, name))
			return limits[i].resource;
	cts_unresolved("no limit is named %s", name);
}

static void fault_arm(const struct cts_case *c)
{
	int err = cts_errnumber(provoke_value(c, "errno"));

	if (!err)
		cts_unresolved("no error is named %s", provoke_value(c, "errno"));
	if (inject_arm(provoke_value(c, "fault"), fault_round, err) == -1)
		cts_unresolved("the fault preload does not know the class %s",
			       provoke_value(c, "fault"));
}

void provoked_call(const struct cts_case *c, void *v, struct cts_result *r)
{
	struct meanwhile m = {.c = c, .v = v};
	bool limited = provoked_by(c, "limit");
	int seen;

	if (needs_meanwhile(c))
		meanwhile_start(&m);
	if (c->as)
		cts_drop_privilege();
	if (limited)
		cts_limit(limit_resource(provoke_value(c, "limit")), provoke_value(c, "to"));
	if (fault_round)
		fault_arm(c);
	if (shortage_name())
		shortage_begin();
	atomic_store(&m.in_call, true);
	c->call(v, r);
	if (shortage_name())
		shortage_end();
	if (fault_round)
		fault_fired = inject_disarm(&seen);
	if (limited)
		cts_limit_restore(limit_resource(provoke_value(c, "limit")));
	if (c->as)
		cts_regain_privilege();
	if (needs_meanwhile(c))
		meanwhile_end(&m);
}

typedef int arm_function(const char *klass, int nth, int err);
typedef bool disarm_function(int *seen);

bool inject_present(void)
{
	return dlsym(RTLD_DEFAULT, "cts_inject_arm") && dlsym(RTLD_DEFAULT, "cts_inject_disarm");
}

int inject_arm(const char *klass, int nth, int err)
{
	arm_function *arm = (arm_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "cts_inject_arm");

	return arm ? arm(klass, nth, err) : -1;
}

bool inject_disarm(int *seen)
{
	disarm_function *disarm =
		(disarm_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "cts_inject_disarm");

	*seen = 0;
	return disarm && disarm(seen);
}

void cts_fault_arm(const char *klass, int nth, int err)
{
	cts_need("inject");
	if (inject_arm(klass, nth, err) == -1)
		cts_unresolved("the fault preload does not know the class %s", klass);
}

typedef int before_function(const char *klass, int nth, void (*act)(void *arg), void *arg);

void cts_before_call(const char *klass, int nth, void (*act)(void *arg), void *arg)
{
	cts_need("inject");
	before_function *before =
		(before_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "cts_inject_before");
	if (!before || before(klass, nth, act, arg) == -1)
		cts_unresolved("the fault preload cannot act before a call of the class %s", klass);
}

bool cts_fault_disarm(int *seen)
{
	int count;
	bool fired = inject_disarm(&count);

	if (seen)
		*seen = count;
	return fired;
}
