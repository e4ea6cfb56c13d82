/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that are none of the library's go where they would go without it: to the handler that was there before, in the
 * way it asked for, or to the system.
 */
#include <scif.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ends.h"

enum { CAUGHT = 3 };

static char *hole;
static volatile sig_atomic_t nested_blocked;

static void look_at_mask(void)
{
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	nested_blocked = sigismember(&mask, SIGSEGV) == 1 && sigismember(&mask, SIGUSR1) == 1;
}

static void end_plainly(int sig)
{
	look_at_mask();
	_exit(sig == SIGSEGV && nested_blocked ? CAUGHT : 1);
}

static void end_with_address(int sig, siginfo_t *info, void *context)
{
	look_at_mask();
	_exit(sig == SIGSEGV && context && info->si_addr == hole && nested_blocked ? CAUGHT : 1);
}

static void ignore_once(int sig)
{
	(void)sig; /* the instruction is tried again, and this handler is gone then */
}

static void take(struct sigaction action)
{
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(SIGSEGV, &action, NULL);
}

static void plain(void)
{
	take((struct sigaction){.sa_handler = end_plainly});
}

static void informed(void)
{
	take((struct sigaction){.sa_sigaction = end_with_address, .sa_flags = SA_SIGINFO});
}

static void reset(void)
{
	take((struct sigaction){.sa_handler = ignore_once, .sa_flags = SA_RESETHAND});
}

static void ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
}

static void untouched(void)
{
}

static void touch(void)
{
	*(volatile char *)hole = 1;
}

static void send(void)
{
	raise(SIGSEGV);
}

static void send_and_live(void)
{
	raise(SIGSEGV);
	_exit(CAUGHT);
}

static int how_it_ends(void (*before)(void), void (*then)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		char byte;
		scif_epd_t epd;

		before();
		epd = scif_open();
		/* A bad buffer, so that the library has its handler. */
		scif_send(epd, hole, 1, 0);
		scif_recv(epd, &byte, 1, 0);
		then();
		_exit(0);
	}
	return ended_as(pid);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*before)(void), (*then)(void);
		int end;
	} cases[] = {
		{"a fault reaches a handler, with its mask", plain, touch, CAUGHT},
		{"a fault reaches a handler, with its address", informed, touch, CAUGHT},
		{"a handler for one fault is gone after it", reset, touch, -SIGSEGV},
		{"a fault ends a process without a handler", untouched, touch, -SIGSEGV},
		{"a signal that was sent ends it as well", untouched, send, -SIGSEGV},
		{"a fault cannot be ignored", ignored, touch, -SIGSEGV},
		{"a signal that was sent can", ignored, send_and_live, CAUGHT},
	};
	int failed = 0;

	hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int end = how_it_ends(cases[i].before, cases[i].then);

		printf("%s: %s\n", end == cases[i].end ? "ok" : "not ok", cases[i].name);
		if (end != cases[i].end)
			printf("  it ended with %d instead of %d\n", end, cases[i].end);
		failed += end != cases[i].end;
	}
	return failed != 0;
}
