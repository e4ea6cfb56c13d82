/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a case comes to its verdict from inside: the first failure rules, later ones add to its
 * reason. A case can be ended from any thread; only the main one can unwind to the engine, another
 * one ends the process.
 */
#include "engine.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf end_of_case;
static pthread_t main_thread;
static pthread_mutex_t verdict_lock = PTHREAD_MUTEX_INITIALIZER;

void case_run_until_end(void (*body)(const struct cts_case *), const struct cts_case *c)
{
	main_thread = pthread_self();
	if (!sigsetjmp(end_of_case, 1))
		body(c);
}

_Noreturn void case_end(void)
{
	if (pthread_equal(main_thread, pthread_self()))
		siglongjmp(end_of_case, 1);
	/* The main thread may be inside the call for ever. */
	shared->finished = true;
	peers_kill();
	exit(0);
}

bool verdict_is_pass(void)
{
	return shared->record.verdict == PASS;
}

static void reason_add(const char *text)
{
	char *reason = shared->record.reason;
	size_t used = strlen(reason);

	snprintf(reason + used, sizeof shared->record.reason - used, "%s%s", used ? "; " : "",
		 text);
}

static void verdict_vset(enum verdict verdict, enum kind kind, const char *format, va_list args)
{
	char text[sizeof shared->record.reason];

	vsnprintf(text, sizeof text, format, args);
	pthread_mutex_lock(&verdict_lock);
	if (verdict_is_pass()) {
		shared->record.verdict = verdict;
		shared->record.kind = kind;
	}
	reason_add(text);
	pthread_mutex_unlock(&verdict_lock);
}

void verdict_derived(enum verdict verdict, enum kind kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	verdict_vset(verdict, kind, format, args);
	va_end(args);
}

static void finding_vset(enum verdict verdict, enum kind kind, const char *format, va_list args)
{
	char text[sizeof shared->record.reason];
	va_list again;

	va_copy(again, args);
	vsnprintf(text, sizeof text, format, again);
	va_end(again);
	observe_event("ssss", "finding", verdict_name(verdict), kind_name(kind), text);
	verdict_vset(verdict, kind, format, args);
}

void verdict_set(enum verdict verdict, enum kind kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	finding_vset(verdict, kind, format, args);
	va_end(args);
}

void cts_step(const char *text)
{
	snprintf(shared->step, sizeof shared->step, "%s", text);
}

void cts_check(bool holds, const char *text, const char *file, int line)
{
	(void)file, (void)line;
	observe_event("sbs", "check", holds, text);
	if (!holds)
		verdict_derived(FAIL, KIND_VALUE, "does not hold: %s", text);
}

void cts_check_returned(bool holds, intptr_t ret, const char *is, intptr_t value, const char *text)
{
	observe_event("sisi", "returns", ret, is, value);
	if (!holds)
		verdict_derived(FAIL, KIND_VALUE, "does not hold: %s", text);
}

void cts_check_effect(bool holds, const char *text, const char *file, int line)
{
	(void)file, (void)line;
	observe_event("sbs", "effect", holds, text);
	if (!holds)
		verdict_derived(FAIL, KIND_SIDE_EFFECT, "does not hold: %s", text);
}

void cts_assert(bool holds, const char *text, const char *file, int line)
{
	observe_event("sbs", "assert", holds, text);
	if (holds)
		return;
	verdict_derived(FAIL, KIND_VALUE, "does not hold: %s (%s:%d)", text, file, line);
	case_end();
}

void cts_require(bool holds, const char *text, const char *file, int line)
{
	observe_event("sbs", "require", holds, text);
	if (holds)
		return;
	verdict_derived(UNRESOLVED, KIND_NONE, "set-up: does not hold: %s (%s:%d)", text, file,
			line);
	case_end();
}

_Noreturn void cts_unresolved(const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	verdict_set(UNRESOLVED, KIND_NONE, "set-up%s%s: %s", *shared->step ? ", " : "",
		    shared->step, text);
	case_end();
}

#define DEFINE_ENDING(name, verdict, kind)                                                         \
	_Noreturn void name(const char *format, ...)                                               \
	{                                                                                          \
		va_list args;                                                                      \
		va_start(args, format);                                                            \
		finding_vset(verdict, kind, format, args);                                         \
		va_end(args);                                                                      \
		case_end();                                                                        \
	}

DEFINE_ENDING(cts_untested, UNTESTED, KIND_NONE)
DEFINE_ENDING(cts_fail, FAIL, KIND_VALUE)
DEFINE_ENDING(cts_fail_effect, FAIL, KIND_SIDE_EFFECT)

_Noreturn void waited_in_vain(const char *what)
{
	if (shared->phase <= PHASE_SETUP)
		cts_unresolved("waited in vain: %s", what);
	verdict_set(FAIL, KIND_TIMEOUT, "waited in vain: %s", what);
	case_end();
}

struct cts_result cts_result_of(intptr_t ret, int err)
{
	return (struct cts_result){ret, cts_api->returns_errors ? (int)ret : err};
}

struct cts_result cts_observe(intptr_t ret, int err)
{
	struct cts_result r = cts_result_of(ret, err);

	observe_event("sis", "observe", ret, result_error(&r));
	result_text(shared->record.observed, sizeof shared->record.observed, current, &r);
	return r;
}

struct cts_result cts_expect_error(struct cts_result r, int err, const char *text)
{
	observe_event("ssis", "expect", error_name(err), r.ret, result_error(&r));
	if (cts_failed_with(r, err))
		return r;
	verdict_derived(FAIL, result_failed(&r) ? KIND_ERRNO : KIND_VALUE, "does not hold: %s", text);
	case_end();
}

bool cts_failed_with(struct cts_result r, int err)
{
	return result_failed(&r) && r.err == err;
}

void cts_expect_ok(struct cts_result r, const char *text)
{
	observe_event("siss", "success", r.ret, result_error(&r), text);
	if (!result_failed(&r))
		return;
	verdict_derived(FAIL, KIND_ERRNO, "failed: %s", text);
	case_end();
}

long cts_param(const char *name)
{
	for (int i = 0; i < current->param_count; i++)
		if (!strcmp(current->params[i].name, name))
			return current->params[i].value;
	cts_unresolved("the clause has no parameter %s", name);
}

const char *cts_profile(void)
{
	return settings.profile;
}

void cts_need(const char *name)
{
	const char *why = need_missing(name);

	if (why)
		cts_untested("%s", why);
}
