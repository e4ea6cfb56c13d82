/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fault provoker: the case is run in a fresh process for n = 1, 2, ..., and in each the n-th
 * library call of the class that the implementation makes inside the call fails. It ends with the
 * round whose call no fault reached. Every failure must be an allowed one, and the clause's own
 * error must have come out at least once.
 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#define MOST_ROUNDS 200

int fault_round;

static void round_main(const struct cts_case *c, int n)
{
	fault_round = n;
	peers_forget();
	run_case(c);
	exit(0);
}

/* False when the round ended the case: its verdict stands in the shared record. */
static bool round_run(const struct cts_case *c, int n)
{
	int status;

	shared->finished = false;
	shared->fault_fired = false;
	shared->call_failed = false;
	snprintf(shared->fabric, sizeof shared->fabric, "cts-%d-%d", (int)getpid(), n);
	setenv("SCIF_FABRIC", shared->fabric, 1);
	observe_event("si", "round", (intptr_t)n);
	pid_t pid = fork();
	if (pid == -1)
		cts_unresolved("no process for round %d", n);
	if (!pid)
		round_main(c, n);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	observe_event("sibbss", "round-end", (intptr_t)n, shared->fault_fired, shared->call_failed,
		      error_name(shared->call_err),
		      WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status))
		      : shared->finished  ? "finished"
					  : "exited");
	if (WIFSIGNALED(status))
		verdict_derived(FAIL, KIND_CRASH, "signal %s with call %d of the class failing",
			    sigabbrev_np(WTERMSIG(status)), n);
	else if (!shared->finished)
		verdict_derived(FAIL, KIND_CRASH,
			    "the process ended inside the call with call %d of the class failing",
			    n);
	else if (shared->record.verdict == FAIL)
		verdict_derived(FAIL, shared->record.kind, "with call %d of the class failing", n);
	return verdict_is_pass();
}

static void fault_rounds(const struct cts_case *c)
{
	const struct cts_expect *e = &c->expects[0]; /* of the text */
	int wanted = e->errno_count == 1 ? e->errnos[0] : cts_api->error_number(c->outcome);
	int seen = 0, came = 0, n;
	char observed[sizeof shared->record.observed] = "";

	for (n = 1; n <= MOST_ROUNDS; n++) {
		if (!round_run(c, n))
			return;
		if (!shared->fault_fired)
			break;
		seen++;
		if (shared->call_failed &&
		    (shared->call_err == wanted ||
		     (profile_deviates(c) && error_expected(c, shared->call_err))) &&
		    !came++)
			snprintf(observed, sizeof observed, "%s", shared->record.observed);
	}
	if (came)
		snprintf(shared->record.observed, sizeof shared->record.observed, "%s", observed);
	if (n > MOST_ROUNDS)
		verdict_derived(UNRESOLVED, KIND_NONE, "the call still met faults after %d rounds",
			    MOST_ROUNDS);
	else if (!seen)
		verdict_derived(UNTESTED, KIND_NONE, "the call makes no library call of the class %s",
			    provoke_value(c, "fault"));
	else if (!came)
		verdict_derived(FAIL, KIND_ERRNO,
			    "%d library calls were made to fail in turn, and %s never came out",
			    seen, error_name(wanted));
}

void run_fault_case(const struct cts_case *c)
{
	case_run_until_end(fault_rounds, c);
}
