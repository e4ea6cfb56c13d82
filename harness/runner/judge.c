/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks through the events of a case in their order; the first failure rules. */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"

#define MOST_ROUNDS 200
#define TEXT_LIMIT  159 /* what a record of the runtime holds of a text */

struct walk {
	const struct plan_clause *clause;
	const struct judge_rules *rules;
	const json_t *expect; /* of the profile that is being applied; NULL: nothing is yet */
	bool returns_codes;   /* the call returns its error code */
	enum verdict verdict;
	const char *kind;
	char *observed, *problem;

	const char *phase;
	bool has_expected, has_choice, is_finished, by_runner;
	size_t activities; /* calls and exchanges with a peer */
	bool dropped;

	/* The clause's own call. */
	bool has_result, failed, call_is_logged;
	json_int_t ret, called_ret;
	const char *err;
	const char *profile;
	json_t *held;	   /* the conditions since the latest `judge` */
	bool compared;	   /* the returned value, likewise */
	json_t *unchanged; /* values that were compared after the call */
	size_t again;
	bool controlled;

	/* Fault cases. */
	json_int_t round;
	bool in_round, rounds_judged;
	size_t fired, came;
	bool last_fired;
	char *came_observed;
};

static void problem(struct walk *walk, const char *format, const char *about)
{
	if (!walk->problem)
		walk->problem = format_text(format, about);
}

static void contribute(struct walk *walk, enum verdict verdict, const char *kind)
{
	if (walk->verdict != VERDICT_PASS)
		return;
	walk->verdict = verdict;
	walk->kind = kind;
}

static const char *word(const json_t *event, size_t index)
{
	return json_string_value(json_array_get(event, index));
}

static json_int_t number(const json_t *event, size_t index)
{
	return json_integer_value(json_array_get(event, index));
}

static bool truth(const json_t *event, size_t index)
{
	return json_is_true(json_array_get(event, index));
}

static bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool has_string(const json_t *array, const char *text)
{
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	{
		if (same(json_string_value(item), text))
			return true;
	}
	return false;
}

static const json_t *expectations(const struct walk *walk)
{
	return json_object_get(walk->clause->json, "expect");
}

/* The expectation that the profile of the run picks first. */
static const json_t *chosen(const struct walk *walk)
{
	const json_t *own = json_object_get(expectations(walk), walk->rules->profile);

	return own ? own : json_object_get(expectations(walk), "documented");
}

static bool is_fault_case(const struct walk *walk)
{
	return same(json_string_value(json_object_get(walk->clause->json, "provoker")), "fault");
}

static bool is_success(const struct walk *walk, json_int_t ret)
{
	return walk->returns_codes ? ret == 0 : ret != -1;
}

/* A result as the record shows it. */
static char *result_text(const struct walk *walk, json_int_t ret, const char *err, bool failed)
{
	const char *prototype = walk->clause->function->prototype;

	if (walk->returns_codes)
		return copy_text(err ? err : "");
	if (ret == -1 || failed)
		return format_text("%lld %s", (long long)ret, err ? err : "");
	if (prototype && strncmp(prototype, "void *", 6) == 0)
		return format_text(ret ? "%#llx" : "0", (unsigned long long)ret);
	return format_text("%lld", (long long)ret);
}

static void observe(struct walk *walk, char *text)
{
	free(walk->observed);
	walk->observed = text;
}

static void on_phase(struct walk *walk, const json_t *event)
{
	const struct plan_clause *clause = walk->clause;

	walk->phase = word(event, 1);
	walk->has_expected = true;
	/* A scenario that came to its end and noted nothing has shown its outcome. */
	if (same(walk->phase, "teardown") && clause->scenario && !walk->in_round &&
	    walk->verdict == VERDICT_PASS && !walk->observed &&
	    !json_is_true(json_object_get(clause->json, "is_error")))
		observe(walk, copy_text(clause->outcome));
}

static bool by_first_thread(const json_t *event)
{
	return !json_object_get(json_array_get(event, json_array_size(event) - 1), "by");
}

static void on_call(struct walk *walk, const json_t *event)
{
	const json_t *ret = json_array_get(event, 3);

	walk->activities++;
	/* A round of a fault case has a process of its own. */
	if (!same(word(event, 1), walk->clause->function->name) ||
	    (!walk->in_round && !by_first_thread(event)))
		return;
	walk->call_is_logged = !json_is_null(ret);
	/* Of an address only that there is one. */
	walk->called_ret = json_is_string(ret) ? 1 : json_integer_value(ret);
}

static bool returns_address(const struct walk *walk)
{
	const char *prototype = walk->clause->function->prototype;

	return prototype && strncmp(prototype, "void *", 6) == 0;
}

/* The result must be that of a call which the log has. */
static void check_call(struct walk *walk)
{
	bool alike = walk->called_ret == walk->ret;

	if (walk->dropped || walk->clause->function->linkage == LINKAGE_INLINE)
		return;
	if (returns_address(walk) && walk->ret != -1)
		alike = (walk->called_ret != 0) == (walk->ret != 0) && walk->called_ret != -1;
	if (!walk->call_is_logged || !alike)
		problem(walk, "the result is not that of a call of %s in the log",
			walk->clause->function->name);
}

static void on_result(struct walk *walk, const json_t *event)
{
	const char *failure = json_string_value(json_object_get(expectations(walk), "failure"));
	bool can_fail = failure && *failure;

	walk->has_result = true;
	walk->ret = number(event, 1);
	walk->err = word(event, 2);
	walk->failed = can_fail && !is_success(walk, walk->ret);
	if (walk->failed != truth(event, 3))
		problem(walk, "whether the call failed does not follow from what it returned%s",
			"");
	check_call(walk);
	observe(walk, result_text(walk, walk->ret, walk->err, walk->failed));
}

static void on_judge(struct walk *walk, const json_t *event)
{
	const json_t *first = chosen(walk), *errors;
	const char *profile = word(event, 1);
	const json_t *expect = profile ? json_object_get(expectations(walk), profile) : NULL;

	if (!expect || !walk->has_result) {
		problem(walk, "it was judged by what the clause does not expect: %s",
			profile ? profile : "nothing");
		return;
	}
	if (walk->expect && !walk->in_round && expect != walk->expect) {
		/* The text is asked where the profile was not met. */
		if (!json_is_true(json_object_get(first, "accepts_text")) ||
		    walk->verdict == VERDICT_PASS)
			problem(walk, "it was judged by a second profile, %s", profile);
		walk->verdict = VERDICT_PASS;
		walk->kind = NULL;
	} else if (expect != first && !walk->in_round) {
		problem(walk, "it was judged by the profile %s", profile);
	}
	walk->expect = expect;
	walk->profile = profile;
	walk->has_choice = true;
	walk->compared = false;
	json_array_clear(walk->held);
	errors = json_object_get(expect, "errors");
	if (json_array_size(errors) && !walk->failed)
		contribute(walk, VERDICT_FAIL, "value");
	else if (json_array_size(errors) && !has_string(errors, walk->err))
		contribute(walk, VERDICT_FAIL, "errno");
	else if (!json_array_size(errors) && walk->failed)
		contribute(walk, VERDICT_FAIL, "value");
}

static bool compare(json_int_t a, const char *is, json_int_t b)
{
	if (same(is, "=="))
		return a == b;
	if (same(is, "!="))
		return a != b;
	if (same(is, ">="))
		return a >= b;
	if (same(is, "<="))
		return a <= b;
	return same(is, ">") ? a > b : a < b;
}

/* Whether the comparison is the one of the clause: its operator, and its value where that is a
 * numeral. */
static bool is_of_clause(const char *condition, const char *is, json_int_t value)
{
	size_t length = is ? strlen(is) : 0;
	char *end;
	long long numeral;

	if (!condition || !length)
		return false;
	condition += strspn(condition, " ");
	if (strncmp(condition, is, length) == 0)
		condition += length;
	else if (strcmp(is, "==") != 0 || strchr("<>!=", *condition))
		return false;
	numeral = strtoll(condition, &end, 0);
	return end == condition || *end || numeral == value;
}

static void on_returns(struct walk *walk, const json_t *event)
{
	const char *condition = json_string_value(json_object_get(walk->expect, "returns"));

	if (!walk->expect || number(event, 1) != walk->ret ||
	    !is_of_clause(condition, word(event, 2), number(event, 3)))
		problem(walk, "the returned value was compared otherwise than the clause says%s",
			"");
	walk->compared = true;
	if (!compare(number(event, 1), word(event, 2), number(event, 3)))
		contribute(walk, VERDICT_FAIL, "value");
}

static void on_condition(struct walk *walk, const json_t *event)
{
	const char *what = word(event, 0);

	if (word(event, 2))
		json_array_append(walk->held, json_array_get(event, 2));
	if (truth(event, 1))
		return;
	if (same(what, "require"))
		contribute(walk, VERDICT_UNRESOLVED, NULL);
	else
		contribute(walk, VERDICT_FAIL, same(what, "effect") ? "side effect" : "value");
}

static void on_observe(struct walk *walk, const json_t *event)
{
	observe(walk, result_text(walk, number(event, 1), word(event, 2), false));
}

static void on_expect(struct walk *walk, const json_t *event)
{
	bool failed = !is_success(walk, number(event, 2));

	if (!same(word(event, 1), word(event, 3)) || (!failed && !walk->returns_codes))
		contribute(walk, VERDICT_FAIL, failed ? "errno" : "value");
}

static void on_success(struct walk *walk, const json_t *event)
{
	if (!is_success(walk, number(event, 1)))
		contribute(walk, VERDICT_FAIL, "errno");
}

static void on_state(struct walk *walk, const json_t *event)
{
	if (same(word(event, 0), "unchanged") && word(event, 3))
		json_array_append(walk->unchanged, json_array_get(event, 3));
	if (!truth(event, 1))
		contribute(walk, VERDICT_FAIL, "side effect");
}

static void on_again(struct walk *walk, const json_t *event)
{
	bool failed = !is_success(walk, number(event, 2));

	walk->again++;
	if (!walk->in_round && (!failed || !same(word(event, 3), walk->err)))
		contribute(walk, VERDICT_FAIL, "side effect");
}

static void on_growth(struct walk *walk, const json_t *event)
{
	if (!truth(event, 1))
		contribute(walk, VERDICT_FAIL, "side effect");
}

static void on_control(struct walk *walk, const json_t *event)
{
	bool held = truth(event, 1);

	walk->controlled = true;
	if (json_is_null(json_object_get(expectations(walk), "control_returns")) &&
	    held != is_success(walk, number(event, 2)))
		problem(walk,
			"whether the control succeeded does not follow from what it returned%s",
			"");
	if (!held)
		contribute(walk, VERDICT_FAIL, "side effect");
}

static void on_round(struct walk *walk, const json_t *event)
{
	if (!is_fault_case(walk) || number(event, 1) != walk->round + 1 || walk->in_round)
		problem(walk, "the rounds of the fault are not in order%s", "");
	walk->round = number(event, 1);
	walk->in_round = true;
	walk->has_result = false;
	walk->expect = NULL;
}

/* Whether an error is one that a fault must bring out at least once: the text's, or one of those
 * that the profile expects in its place. */
static bool is_wanted(const struct walk *walk, const char *err)
{
	const json_t *errors =
		json_object_get(json_object_get(expectations(walk), "documented"), "errors");

	if (same(err, json_array_size(errors) == 1 ? json_string_value(json_array_get(errors, 0))
						   : walk->clause->outcome))
		return true;
	return !json_is_true(json_object_get(chosen(walk), "oracle")) &&
	       has_string(json_object_get(chosen(walk), "errors"), err);
}

static void on_round_end(struct walk *walk, const json_t *event)
{
	bool fired = truth(event, 2), failed = truth(event, 3);
	const char *how = word(event, 5);

	walk->in_round = false;
	if (same(how, "finished") && walk->has_result &&
	    (failed != walk->failed || (failed && !same(word(event, 4), walk->err))))
		problem(walk, "the end of a round contradicts its result%s", "");
	if (same(how, "finished") && !fired && failed)
		contribute(walk, VERDICT_FAIL, "errno");
	if (!same(how, "finished"))
		contribute(walk, VERDICT_FAIL, "crash");
	walk->last_fired = fired;
	if (!fired || walk->verdict != VERDICT_PASS)
		return;
	walk->fired++;
	if (failed && is_wanted(walk, word(event, 4)) && !walk->came++)
		walk->came_observed = copy_text(walk->observed ? walk->observed : "");
}

/* When the last round is over. */
static void judge_rounds(struct walk *walk)
{
	walk->rounds_judged = true;
	if (walk->verdict != VERDICT_PASS)
		return;
	if (walk->came)
		observe(walk, copy_text(walk->came_observed));
	if (walk->last_fired && walk->round < MOST_ROUNDS)
		problem(walk, "the rounds of the fault end before one that meets no fault%s", "");
	if (walk->last_fired)
		contribute(walk, VERDICT_UNRESOLVED, NULL);
	else if (!walk->fired)
		contribute(walk, VERDICT_UNTESTED, NULL);
	else if (!walk->came)
		contribute(walk, VERDICT_FAIL, "errno");
}

static void on_finding(struct walk *walk, const json_t *event)
{
	enum verdict verdict = verdict_by_name(word(event, 1));
	const char *kind = word(event, 2);

	if (verdict == VERDICT_COUNT || verdict == VERDICT_PASS)
		problem(walk, "a finding has no known verdict%s", "");
	else
		contribute(walk, verdict, kind && *kind ? kind : NULL);
}

static bool before_the_call(const struct walk *walk)
{
	return !walk->phase || same(walk->phase, "needs") || same(walk->phase, "setup");
}

static void on_end(struct walk *walk, const json_t *event)
{
	const char *how = word(event, 1);

	walk->is_finished = same(how, "finished");
	if (walk->is_finished)
		return;
	if (!same(how, "timeout") && !same(how, "crash"))
		problem(walk, "the case ended in no known way: %s", how ? how : "none");
	if (before_the_call(walk))
		contribute(walk, VERDICT_UNRESOLVED, NULL);
	else
		contribute(walk, VERDICT_FAIL, same(how, "timeout") ? "timeout" : "crash");
}

static void on_full(struct walk *walk, const json_t *event)
{
	(void)event;
	contribute(walk, VERDICT_UNRESOLVED, NULL);
}

static void on_dropped(struct walk *walk, const json_t *event)
{
	(void)event;
	walk->dropped = true;
}

/* Told for a model of the API: no verdict follows from it. */
static void on_surroundings(struct walk *walk, const json_t *event)
{
	(void)walk;
	(void)event;
}

/* The runner's own words, checked against the plan where it has something to say about them. */
static void on_runner(struct walk *walk, const json_t *event)
{
	static const struct {
		const char *what;
		enum verdict verdict;
		const char *kind;
	} words[] = {
		{"ruled out", VERDICT_UNTESTED, NULL},	 {"untestable", VERDICT_UNTESTED, NULL},
		{"long", VERDICT_UNTESTED, NULL},	 {"no program", VERDICT_NOTRUN, NULL},
		{"not started", VERDICT_NOTRUN, NULL},	 {"hung", VERDICT_FAIL, "timeout"},
		{"died", VERDICT_FAIL, "crash"},	 {"killed", VERDICT_NOTRUN, NULL},
		{"silent", VERDICT_NOTRUN, NULL},	 {"interrupted", VERDICT_NOTRUN, NULL},
		{"objection", VERDICT_UNRESOLVED, NULL},
	};
	const struct plan_clause *clause = walk->clause;
	bool optional = clause->function->linkage == LINKAGE_OPTIONAL;
	const char *what = word(event, 1);
	size_t i;

	walk->by_runner = true;
	if (same(what, "no log"))
		problem(walk, "its program wrote no log, so the verdict cannot be recomputed%s",
			"");
	if ((same(what, "ruled out") && !clause->ruled_out) ||
	    (same(what, "untestable") && !clause->untestable) ||
	    (same(what, "long") && (!clause->is_long || walk->rules->runs_long)) ||
	    (same(what, "not exported") &&
	     has_string(walk->rules->exports, clause->function->name)))
		problem(walk, "it was not run for a reason that does not hold: %s", what);
	if (same(what, "not exported"))
		contribute(walk, optional ? VERDICT_UNSUPPORTED : VERDICT_FAIL,
			   optional ? NULL : "value");
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (same(what, words[i].what))
			contribute(walk, words[i].verdict, words[i].kind);
	}
}

static void on_peer(struct walk *walk, const json_t *event)
{
	(void)event;
	walk->activities++;
}

static const struct {
	const char *what;
	void (*take)(struct walk *walk, const json_t *event);
	size_t least; /* items */
} kinds[] = {
	{"phase", on_phase, 2},	      {"call", on_call, 5},
	{"peer", on_peer, 4},	      {"judge", on_judge, 2},
	{"result", on_result, 4},     {"returns", on_returns, 4},
	{"check", on_condition, 3},   {"effect", on_condition, 3},
	{"assert", on_condition, 3},  {"require", on_condition, 3},
	{"observe", on_observe, 3},   {"expect", on_expect, 4},
	{"success", on_success, 4},   {"unchanged", on_state, 4},
	{"probe", on_state, 4},	      {"again", on_again, 4},
	{"growth", on_growth, 3},     {"control", on_control, 4},
	{"round", on_round, 2},	      {"round-end", on_round_end, 6},
	{"finding", on_finding, 4},   {"end", on_end, 3},
	{"runner", on_runner, 3},     {"dropped", on_dropped, 2},
	{"full", on_full, 1},	      {"fork", on_surroundings, 1},
	{"node", on_surroundings, 3}, {"peer-end", on_surroundings, 2},
	{"held", on_surroundings, 2}, {"stalled", on_surroundings, 2},
	{"released", on_surroundings, 2},
	{"privilege", on_surroundings, 2},
};

static void take(struct walk *walk, const json_t *event)
{
	const char *what = word(event, 0);
	size_t i;

	if (walk->round && !walk->in_round && !walk->rounds_judged && !same(what, "round"))
		judge_rounds(walk);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!same(what, kinds[i].what))
			continue;
		if (json_array_size(event) < kinds[i].least)
			problem(walk, "an event is too short: %s", what);
		else
			kinds[i].take(walk, event);
		return;
	}
	problem(walk, "an event is not known: %s", what ? what : "it has no name");
}

static void require_strings(struct walk *walk, const json_t *wanted, const json_t *seen,
			    const char *format)
{
	json_t *item;
	size_t i;

	json_array_foreach(wanted, i, item)
	{
		if (!has_string(seen, json_string_value(item)))
			problem(walk, format, json_string_value(item));
	}
}

/* What the oracle of an error must have done. */
static void require_oracle(struct walk *walk)
{
	const json_t *expect = expectations(walk), *clause = walk->clause->json;

	if (!walk->failed || !json_is_true(json_object_get(clause, "is_error")) ||
	    !json_is_true(json_object_get(chosen(walk), "oracle")) || is_fault_case(walk))
		return;
	require_strings(walk, json_object_get(expect, "unchanged"), walk->unchanged,
			"the log lacks that this was compared: %s");
	if (json_is_true(json_object_get(expect, "repeat")) && walk->again < 2)
		problem(walk, "the log lacks the repeated calls%s", "");
	if (json_is_string(json_object_get(clause, "control")) && !walk->controlled)
		problem(walk, "the log lacks the control%s", "");
}

/* What the log of a case that passed must have. */
static void require_whole(struct walk *walk)
{
	const char *returns = json_string_value(json_object_get(walk->expect, "returns"));

	if (!walk->is_finished)
		problem(walk, "the log has no end%s", "");
	if (!walk->clause->call) {
		if (!walk->activities)
			problem(walk, "the log has no call%s", "");
		return;
	}
	if (is_fault_case(walk))
		return;
	if (!walk->has_result || !walk->expect) {
		problem(walk, "the log has no result that was judged%s", "");
		return;
	}
	if (returns && strcmp(returns, "any") != 0 && !walk->compared)
		problem(walk, "the log lacks the comparison of the returned value: %s", returns);
	require_strings(walk, json_object_get(walk->expect, "check"), walk->held,
			"the log lacks a check of the clause: %s");
	require_oracle(walk);
}

/* A clause that the plan excuses from running, or the library's lack of the function. */
static void require_reason(struct walk *walk)
{
	const struct plan_clause *clause = walk->clause;

	if ((clause->ruled_out || clause->untestable) && walk->verdict != VERDICT_UNTESTED)
		problem(walk, "nobody can test it, so it cannot have run%s", "");
}

static char *expected_text(const struct walk *walk)
{
	const json_t *expect = chosen(walk), *item;
	size_t length, i;
	char *text;
	FILE *stream;

	if (!walk->has_expected)
		return NULL;
	if (walk->clause->scenario)
		return copy_text(walk->clause->outcome);
	stream = text_stream(&text, &length);
	fputs(json_string_value(json_object_get(expect, "shown")), stream);
	json_array_foreach(json_object_get(expect, "errors"), i, item)
		fprintf(stream, "%s%s", ftell(stream) ? " " : "", json_string_value(item));
	fclose(stream);
	if (length > TEXT_LIMIT)
		text[TEXT_LIMIT] = '\0';
	return text;
}

static char *choice_name(const struct walk *walk)
{
	const char *choice = json_string_value(json_object_get(walk->clause->json, "choice"));

	if (!walk->has_choice)
		return NULL;
	if (choice)
		return copy_text(choice);
	return json_array_size(json_object_get(chosen(walk), "errors")) > 1
		       ? copy_text(walk->clause->id)
		       : NULL;
}

/* A text that is empty is none. */
static char *or_none(char *text)
{
	if (text && *text)
		return text;
	free(text);
	return NULL;
}

struct judgement judge(const struct plan_clause *clause, const struct judge_rules *rules,
		       const json_t *events)
{
	const char *style =
		json_string_value(json_object_get(clause->function->document->root, "error_style"));
	struct walk walk = {
		.clause = clause,
		.rules = rules,
		.returns_codes = same(style, "value"),
		.verdict = VERDICT_PASS,
		.held = json_array(),
		.unchanged = json_array(),
	};
	struct judgement judgement;
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event) take(&walk, event);
	if (walk.round && !walk.rounds_judged)
		judge_rounds(&walk);
	if (walk.verdict == VERDICT_PASS)
		require_whole(&walk);
	require_reason(&walk);
	judgement = (struct judgement){
		.record =
			{
				.verdict = walk.verdict,
				.kind = walk.verdict == VERDICT_FAIL && walk.kind
						? copy_text(walk.kind)
						: NULL,
				.expected = or_none(expected_text(&walk)),
				.observed = or_none(walk.observed),
				.choice = or_none(choice_name(&walk)),
			},
		.problem = walk.problem,
	};
	free(walk.came_observed);
	json_decref(walk.held);
	json_decref(walk.unchanged);
	return judgement;
}

void judgement_free(struct judgement *judgement)
{
	record_free(&judgement->record);
	free(judgement->problem);
}
