/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * without-calls userfaultfd|containers|yama COMMAND...: runs it under a filter of system calls. The
 * first refuses userfaultfd(2) alone; the second what the filters of common containers refuse and a
 * program might try; the third what Yama's ptrace_scope 2 does: to look into other processes. A
 * file /proc/PID/mem cannot be told by a filter, and is left out.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_REFUSALS = 40 };

static const struct refusal {
	const char *set;
	int number, error;
	bool of_others; /* a process may do it to itself */
} refusals[] = {
	{"userfaultfd", SYS_userfaultfd, EPERM, false},
	{"containers", SYS_userfaultfd, EPERM, false},
	{"containers", SYS_process_vm_readv, EPERM, false},
	{"containers", SYS_process_vm_writev, EPERM, false},
	{"containers", SYS_ptrace, EPERM, false},
	{"containers", SYS_kcmp, EPERM, false},
	{"containers", SYS_pidfd_getfd, EPERM, false},
	{"containers", SYS_bpf, EPERM, false},
	{"containers", SYS_perf_event_open, EPERM, false},
	{"containers", SYS_unshare, EPERM, false},
	{"containers", SYS_setns, EPERM, false},
	{"containers", SYS_mount, EPERM, false},
	{"containers", SYS_open_by_handle_at, EPERM, false},
	{"containers", SYS_keyctl, EPERM, false},
	{"containers", SYS_io_uring_setup, EPERM, false},
	{"containers", SYS_move_pages, EPERM, false},
	{"containers", SYS_clone3, ENOSYS, false},
	{"yama", SYS_ptrace, EPERM, false},
	{"yama", SYS_pidfd_getfd, EPERM, false},
	{"yama", SYS_process_vm_readv, EPERM, true},
	{"yama", SYS_process_vm_writev, EPERM, true},
};

static struct sock_filter code[4 + 4 * MOST_REFUSALS];
static unsigned short length;

static void add(struct sock_filter step)
{
	code[length++] = step;
}

/* The number of the call is in the accumulator before and after. */
static void add_refusal(const struct refusal *r)
{
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)r->number, 0,
					 r->of_others ? 4 : 1));
	if (r->of_others) {
		add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, args[0])));
		add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)getpid(), 0,
						 1));
		add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)r->error));
}

static int install(const char *set)
{
	add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					 offsetof(struct seccomp_data, nr)));
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (strcmp(refusals[i].set, set) == 0)
			add_refusal(&refusals[i]);
	if (length == 1) {
		errno = EINVAL;
		return -1;
	}
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	struct sock_fprog program = {length, code};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* Whether the filter does what it is there for: the last refusal of the set. */
static int try(const char *set)
{
	if (strcmp(set, "containers") == 0)
		return syscall(SYS_clone3, NULL, 0) == -1 && errno == ENOSYS ? 0 : -1;
	if (strcmp(set, "yama") == 0)
		return syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0) == -1 &&
				       errno == EPERM
			       ? 0
			       : -1;
	return syscall(SYS_userfaultfd, 0) == -1 && errno == EPERM ? 0 : -1;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (install(argv[1]) != 0 || try(argv[1]) != 0) {
		perror("a filter of system calls");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
