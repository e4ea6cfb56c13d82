/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of one case: needs, set-up, snapshot, call, verdict, and for an error the oracle:
 * nothing changed, the same again without growth, and the control that succeeds. See
 * docs/clauses.md for what each part means.
 */
#include "engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SHORT_SECONDS 5
#define LONG_SECONDS  60
#define ENDING_DEPTH  (256 << 10) /* of the stack */

struct shared_case *shared;
const struct cts_case *current;
static int64_t deadline_ms;

int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool by_fault(const struct cts_case *c)
{
	return c->provoke.kind && !strcmp(c->provoke.kind, "fault");
}

static const struct cts_expect *expect_chosen(const struct cts_case *c);

double case_timeout(const struct cts_case *c)
{
	const struct cts_expect *e = expect_chosen(c);
	bool is_long = c->is_long || by_fault(c) || shortage_name() || (e && e->is_slow);

	return (is_long ? LONG_SECONDS : SHORT_SECONDS) * settings.timeout_scale;
}

bool cts_time_left(void)
{
	return now_ms() < deadline_ms;
}

void phase_enter(enum phase phase)
{
	static const char *const names[] = {
		[PHASE_NEEDS] = "needs",       [PHASE_SETUP] = "setup",
		[PHASE_CALL] = "call",	       [PHASE_CHECK] = "check",
		[PHASE_REPEAT] = "repeat",     [PHASE_CONTROL] = "control",
		[PHASE_TEARDOWN] = "teardown",
	};

	shared->phase = phase;
	shared->step[0] = '\0';
	observe_event("ss", "phase", names[phase]);
}

const char *error_name(int err)
{
	return cts_api->error_name(err);
}

bool result_failed(const struct cts_result *r)
{
	return cts_api->returns_errors ? r->ret != 0 : r->ret == -1;
}

const char *result_error(const struct cts_result *r)
{
	return cts_api->returns_errors || r->ret == -1 ? error_name(r->err) : NULL;
}

static bool returns_address(const struct cts_case *c)
{
	return cts_api->returns_address && cts_api->returns_address(c->function);
}

void result_text(char *out, size_t size, const struct cts_case *c, const struct cts_result *r)
{
	if (cts_api->returns_errors)
		snprintf(out, size, "%s", error_name((int)r->ret));
	else if (r->ret == -1)
		snprintf(out, size, "-1 %s", error_name(r->err));
	else if (returns_address(c))
		snprintf(out, size, "%#" PRIxPTR, (uintptr_t)r->ret);
	else
		snprintf(out, size, "%" PRIdPTR, r->ret);
}

static const struct cts_expect *expect_of(const struct cts_case *c, const char *profile)
{
	for (int i = 0; i < c->expect_count; i++)
		if (!strcmp(c->expects[i].profile, profile))
			return &c->expects[i];
	return NULL;
}

/* The expectation of the chosen profile; a clause without one of its own has that of the text. */
static const struct cts_expect *expect_chosen(const struct cts_case *c)
{
	const struct cts_expect *e = expect_of(c, settings.profile);

	return e ? e : expect_of(c, "documented");
}

static bool errno_allowed(const struct cts_expect *e, int err)
{
	for (int i = 0; i < e->errno_count; i++)
		if (e->errnos[i] == err)
			return true;
	return false;
}

bool profile_deviates(const struct cts_case *c)
{
	const struct cts_expect *e = expect_chosen(c);

	return e && e->tag;
}

bool error_expected(const struct cts_case *c, int err)
{
	const struct cts_expect *e = expect_chosen(c);

	return e && errno_allowed(e, err);
}

static void expected_text(const struct cts_expect *e)
{
	const char *returns = e->returns_text ? e->returns_text : "any", *errnos = e->errno_text;

	snprintf(shared->record.expected, sizeof shared->record.expected, "%s%s%s", returns,
		 *returns && errnos && *errnos ? " " : "", errnos ? errnos : "");
}

/* The choice that the text leaves, when it leaves one: which of the allowed answers came. */
static void note_choice(const struct cts_case *c, const struct cts_expect *e)
{
	const char *name = c->choice ? c->choice : e->errno_count > 1 ? c->id : NULL;

	if (name)
		snprintf(shared->record.choice, sizeof shared->record.choice, "%.112s=%.40s", name,
			 shared->record.observed);
}

static void judge_against(const struct cts_case *c, const struct cts_expect *e, void *v,
			  const struct cts_result *r)
{
	bool failed = c->failed && c->failed(r);

	observe_event("ss", "judge", e->profile);
	if (e->errno_count && !failed)
		verdict_derived(FAIL, KIND_VALUE, "the call succeeded");
	else if (e->errno_count && !errno_allowed(e, r->err))
		verdict_derived(FAIL, KIND_ERRNO, "%s%s",
				cts_api->returns_errors ? "it is " : "errno is ",
				error_name(r->err));
	else if (!e->errno_count && failed)
		verdict_derived(FAIL, KIND_VALUE, "the call failed with %s", error_name(r->err));
	else if (e->check)
		e->check(v, r);
}

static void judge(const struct cts_case *c, void *v, const struct cts_result *r)
{
	const struct cts_expect *e = expect_chosen(c), *text = expect_of(c, "documented");

	if (!e)
		cts_unresolved("the clause has no expectation for profile %s", settings.profile);
	judge_against(c, e, v, r);
	if (!verdict_is_pass() && e->accepts_text && text && text != e) {
		shared->record.verdict = PASS;
		shared->record.kind = KIND_NONE;
		shared->record.reason[0] = '\0';
		judge_against(c, text, v, r);
	}
	note_choice(c, e);
}

struct snapshot {
	unsigned char *bytes;
	size_t len;
};

static struct snapshot *snapshot_take(const struct cts_case *c, void *v)
{
	/* Lives until the case ends, and with it its process; a leak checker finds it here. */
	static struct snapshot *all;

	all = calloc((size_t)c->unchanged_count + 1, sizeof *all);
	for (int i = 0; i < c->unchanged_count; i++) {
		all[i].len = c->unchanged[i].copy(v, NULL);
		all[i].bytes = malloc(all[i].len + 1);
		c->unchanged[i].copy(v, all[i].bytes);
	}
	return all;
}

static void snapshot_compare(const struct cts_case *c, void *v, const struct snapshot *before,
			     const char *when)
{
	for (int i = 0; i < c->unchanged_count; i++) {
		unsigned char *now = malloc(before[i].len + 1);

		c->unchanged[i].copy(v, now);
		bool same = !memcmp(now, before[i].bytes, before[i].len);
		observe_event("sbss", "unchanged", same, when, c->unchanged[i].text);
		if (!same)
			verdict_derived(FAIL, KIND_SIDE_EFFECT, "%s changed by the %s",
					c->unchanged[i].text, when);
		free(now);
	}
}

static bool waits_for_event(const struct cts_case *c)
{
	return c->during || (c->provoke.kind && (!strcmp(c->provoke.kind, "signal") ||
						 !strcmp(c->provoke.kind, "node")));
}

static void probe_compare(const void *before, const char *when)
{
	void *now;
	char why[200] = "";
	bool same;

	if (!before)
		return;
	now = cts_api->probe_take();
	same = cts_api->probe_same(before, now, why, sizeof why);
	free(now);
	observe_event("sbss", "probe", same, when, why);
	if (!same)
		verdict_derived(FAIL, KIND_SIDE_EFFECT, "state changed by the %s: %s", when, why);
}

/* Whether the call gave the first result again; what that one had set up already shifts the count
 * of a fault. */
static bool same_again(const struct cts_case *c, void *v, const struct cts_result *first, int nth)
{
	struct cts_result again = {0, 0};

	provoked_call(c, v, &again);
	observe_event("siis", "again", (intptr_t)nth, again.ret, result_error(&again));
	if (c->failed(&again) && again.err == first->err)
		return true;
	if (!fault_round)
		verdict_derived(FAIL, KIND_SIDE_EFFECT, "call %d gave %" PRIdPTR " %s", nth,
				again.ret, error_name(again.err));
	return false;
}

/*
 * The error is stable when repeated, and repeating costs nothing. Growth counts when it goes on:
 * the C library keeps up to seven freed blocks of a size at hand, counts them as in use, and calloc
 * does not take from there.
 */
#define MOST_CALLS 12

static void repeat_calls(const struct cts_case *c, void *v, const struct cts_result *first)
{
	struct cts_holdings before, after;
	bool grew = true;
	char why[160];

	if (!same_again(c, v, first, 2))
		return;
	for (int nth = 3; grew && nth <= MOST_CALLS; nth++) {
		holdings_settle();
		before = cts_holdings();
		if (!same_again(c, v, first, nth))
			return;
		holdings_settle();
		after = cts_holdings();
		grew = !growth_allowed() && holdings_grew(&before, &after, why, sizeof why);
	}
	observe_event("sbs", "growth", !grew, grew ? why : "");
	if (grew)
		verdict_derived(FAIL, KIND_SIDE_EFFECT, "%s with every repeated call", why);
}

static void run_control(const struct cts_case *c, void *v)
{
	struct cts_result r = {0, 0};

	phase_enter(PHASE_SETUP);
	cts_step("before the control");
	if (c->control_setup)
		c->control_setup(v);
	phase_enter(PHASE_CONTROL);
	if (c->control_as)
		cts_drop_privilege();
	c->control(v, &r);
	if (c->control_as)
		cts_regain_privilege();
	bool ok = c->control_ok(&r);
	observe_event("sbis", "control", ok, r.ret, result_error(&r));
	if (!ok)
		verdict_derived(FAIL, KIND_SIDE_EFFECT, "the control %s gave %" PRIdPTR " %s",
				c->control_text ? c->control_text : "", r.ret, error_name(r.err));
}

static void error_oracle(const struct cts_case *c, void *v, const struct cts_result *r,
			 const struct snapshot *before, const void *state)
{
	snapshot_compare(c, v, before, "call");
	probe_compare(state, "call");
	if (!verdict_is_pass())
		return;
	phase_enter(PHASE_REPEAT);
	if (c->repeat) {
		repeat_calls(c, v, r);
		snapshot_compare(c, v, before, "repeated call");
		probe_compare(state, "repeated call");
	}
	if (c->control && !fault_round && verdict_is_pass())
		run_control(c, v);
}

static void call_while_short(const struct cts_case *c, void *v, struct cts_result *r,
			     const struct snapshot *before, const void *state)
{
	while (!shortage_call(c, v, r) && verdict_is_pass()) {
		snapshot_compare(c, v, before, "call that failed");
		probe_compare(state, "call that failed");
	}
}

static void run_call(const struct cts_case *c)
{
	static void *v; /* as the snapshots */
	struct cts_result r = {0, 0};
	const struct snapshot *before;
	static const void *state;

	v = calloc(1, c->vars_size + 1);
	phase_enter(PHASE_SETUP);
	if (c->given)
		c->given(v);
	cts_step("before the call");
	before = snapshot_take(c, v);
	if ((c->is_error || shortage_name()) && !waits_for_event(c))
		state = cts_api->probe_take();
	phase_enter(PHASE_CALL);
	if (shortage_name())
		call_while_short(c, v, &r, before, state);
	else
		provoked_call(c, v, &r);
	if (shortage_name() && !verdict_is_pass())
		return;
	bool fired = fault_fired;
	result_text(shared->record.observed, sizeof shared->record.observed, c, &r);
	if (!cts_api->returns_errors && c->failed && c->failed(&r) && r.ret != -1)
		snprintf(shared->record.observed, sizeof shared->record.observed, "%" PRIdPTR " %s",
			 r.ret, error_name(r.err));
	shared->call_failed = c->failed && c->failed(&r);
	shared->call_err = r.err;
	shared->fault_fired = fired;
	observe_event("sisb", "result", r.ret, result_error(&r), shared->call_failed);
	phase_enter(PHASE_CHECK);
	/* The last round of a fault case is the call that no fault reached. An implementation may
	 * also do without what was refused. Either way the call has to succeed as ever. */
	if (fault_round && !(fired && shared->call_failed)) {
		if (shared->call_failed)
			verdict_derived(FAIL, KIND_ERRNO, "%s without any fault",
					error_name(r.err));
		return;
	}
	judge(c, v, &r);
	/* The oracle belongs to the text: where a profile accepts something else, that may well
	 * leave traces. */
	if (c->is_error && shared->call_failed && !expect_chosen(c)->tag && verdict_is_pass())
		error_oracle(c, v, &r, before, state);
}

static void run_scenario(const struct cts_case *c)
{
	phase_enter(PHASE_CALL);
	c->scenario();
	/* An error has been observed only where the scenario shows the call that gave it. */
	if (!*shared->record.observed)
		snprintf(shared->record.observed, sizeof shared->record.observed, "%s",
			 verdict_is_pass() && !c->is_error ? c->outcome : "");
}

/*
 * A case that ends early may leave threads behind that use what it has on the stack. What runs
 * after it has less than this depth, and leaves that alone.
 */
static void run_body(const struct cts_case *c)
{
	volatile char depth[ENDING_DEPTH];

	depth[0] = 0;
	if (c->scenario)
		run_scenario(c);
	else
		run_call(c);
	(void)depth[0];
}

/* A fault case asks in its rounds: an answer may come from the implementation, which must not have
 * been used before the processes of the rounds are forked, each with a fabric of its own. */
static void check_needs(const struct cts_case *c)
{
	phase_enter(PHASE_NEEDS);
	if (by_fault(c))
		cts_need("inject");
	if (by_fault(c) && !fault_round)
		return;
	for (const char *const *need = c->needs; need && *need; need++)
		cts_need(*need);
}

static void teardown(void)
{
	phase_enter(PHASE_TEARDOWN);
	cts_regain_privilege();
	for (int resource = 0; resource < RLIMIT_NLIMITS; resource++)
		cts_limit_restore(resource);
	peers_stop();
	adapters_undo(shared);
}

static void teardown_of(const struct cts_case *c)
{
	(void)c;
	teardown();
}

void run_case(const struct cts_case *c)
{
	const struct cts_expect *e = expect_chosen(c);
	int64_t start = now_ms();

	current = c;
	observe_process();
	deadline_ms = start + (int64_t)(case_timeout(c) * 900);
	if (c->scenario)
		snprintf(shared->record.expected, sizeof shared->record.expected, "%s", c->outcome);
	else if (e)
		expected_text(e);
	case_run_until_end(check_needs, c);
	if (verdict_is_pass() && by_fault(c) && !fault_round)
		run_fault_case(c);
	else if (verdict_is_pass())
		case_run_until_end(run_body, c);
	case_run_until_end(teardown_of, c);
	shared->finished = true;
}
