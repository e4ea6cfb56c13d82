/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A filter turns every system call of the thread into a signal whose handler counts it and makes
 * it, so that the thread runs at its usual speed in between.
 */
#include "count_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { ARGUMENTS = 5 };

#if defined(__x86_64__)
static long call_of(const ucontext_t *context, long arguments[ARGUMENTS])
{
	static const int registers[ARGUMENTS] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8};

	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = (long)context->uc_mcontext.gregs[registers[i]];
	return (long)context->uc_mcontext.gregs[REG_RAX];
}

static void answer(ucontext_t *context, long result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}
#elif defined(__aarch64__)
static long call_of(const ucontext_t *context, long arguments[ARGUMENTS])
{
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = (long)context->uc_mcontext.regs[i];
	return (long)context->uc_mcontext.regs[8];
}

static void answer(ucontext_t *context, long result)
{
	context->uc_mcontext.regs[0] = (unsigned long)result;
}
#else
#error "where the arguments of a system call are has to be added for this machine"
#endif

volatile unsigned long calls_made[CALL_NUMBERS], calls_made_in_all;

/* The sixth argument of a call that the handler makes: the filter lets it pass. */
#define PASS 0x5ca1ab1e

static void on_call(int sig, siginfo_t *info, void *context)
{
	long argument[ARGUMENTS];
	long number = call_of(context, argument);
	int saved = errno;
	long result = syscall(number, argument[0], argument[1], argument[2], argument[3],
			      argument[4], (long)PASS);

	(void)sig;
	(void)info;
	if (number >= 0 && number < CALL_NUMBERS)
		calls_made[number]++;
	calls_made_in_all++;
	answer(context, result < 0 ? -errno : result);
	errno = saved;
}

int count_calls_from_now_on(void)
{
	struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 3, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PASS, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(steps) / sizeof(steps[0]), .filter = steps};

	sigaction(SIGSYS, &action, NULL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 ? 0 : -errno;
}
