/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The supervisor of a life. It gets the descriptor of the filter out of the other process by number, since that one
 * cannot make a call any more that is not asked about.
 */
#include "refuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, LIFE_SECONDS = 120, SAID = 4096 };

/*
 * The calls that are refused, and with what. Those that only give back are not among them, nor those that tell what is
 * known anyhow and have nothing to fail for. Of fcntl it is the duplicating that is refused.
 */
static const struct refusal {
	const char *name;
	int number, error;
} refusals[] = {
	{"socket", SYS_socket, EMFILE},
	{"socketpair", SYS_socketpair, EMFILE},
	{"connect", SYS_connect, ENOMEM},
	{"bind", SYS_bind, ENOMEM},
	{"listen", SYS_listen, ENOBUFS},
	{"accept4", SYS_accept4, EMFILE},
	{"sendto", SYS_sendto, ENOBUFS},
	{"recvfrom", SYS_recvfrom, ENOMEM},
	{"sendmsg", SYS_sendmsg, ENOBUFS},
	{"recvmsg", SYS_recvmsg, ENOMEM},
	{"sendmmsg", SYS_sendmmsg, ENOBUFS},
	{"setsockopt", SYS_setsockopt, ENOBUFS},
	{"getsockopt", SYS_getsockopt, ENOBUFS},
	{"mmap", SYS_mmap, ENOMEM},
	{"mremap", SYS_mremap, ENOMEM},
	{"mprotect", SYS_mprotect, ENOMEM},
	{"madvise", SYS_madvise, ENOMEM},
	{"memfd_create", SYS_memfd_create, EMFILE},
	{"ftruncate", SYS_ftruncate, ENOSPC},
	{"fallocate", SYS_fallocate, ENOSPC},
	{"openat", SYS_openat, EMFILE},
	{"read", SYS_read, EIO},
	{"pread64", SYS_pread64, EIO},
	{"pwrite64", SYS_pwrite64, ENOSPC},
	{"getdents64", SYS_getdents64, ENOENT},
	{"userfaultfd", SYS_userfaultfd, EPERM},
	{"ioctl", SYS_ioctl, ENOTTY},
	{"fcntl", SYS_fcntl, EMFILE},
	{"dup3", SYS_dup3, EMFILE},
	{"eventfd2", SYS_eventfd2, EMFILE},
	{"epoll_create1", SYS_epoll_create1, EMFILE},
	{"epoll_ctl", SYS_epoll_ctl, ENOMEM},
	{"pipe2", SYS_pipe2, EMFILE},
	{"ppoll", SYS_ppoll, ENOMEM},
	{"clone", SYS_clone, EAGAIN},
	{"clone3", SYS_clone3, EAGAIN},
	{"process_vm_readv", SYS_process_vm_readv, EPERM},
	{"pidfd_open", SYS_pidfd_open, EMFILE},
};
enum { REFUSALS = sizeof(refusals) / sizeof(refusals[0]) };

/* Of a life; in memory that the processes share. */
static struct {
	_Atomic int filter;   /* its number there; 0: not yet */
	_Atomic bool refusing; /* the first round goes on */
	_Atomic size_t length;
	char said[SAID];
} *shared;

void refuse_say(const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	int length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length >= (int)sizeof(text))
		length = sizeof(text) - 1;
	size_t at = atomic_fetch_add(&shared->length, (size_t)length);
	if (at + (size_t)length < SAID)
		memcpy(shared->said + at, text, (size_t)length);
}

static int install_filter(void)
{
	struct sock_filter code[REFUSALS + 4];
	unsigned short n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (int i = 0; i < REFUSALS; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)refusals[i].number,
							 (unsigned char)(REFUSALS - i + 1), 0);
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	struct sock_fprog program = {n, code};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* Which call of which kind is refused: the nth of all; or, where nth is 0, all of a kind. */
struct choice {
	int nth, kind;
};

static void live(const struct refuse_life *life)
{
	alarm(LIFE_SECONDS);
	int filter = install_filter();
	atomic_store(&shared->filter, filter < 0 ? -errno : filter);
	if (filter < 0)
		exit(SKIPPED);
	life->round(true);
	atomic_store(&shared->refusing, false);
	if (!life->round(false))
		refuse_say(" it does not work afterwards;");
	_exit(0);
}

/* REFUSALS: it is none of them. */
static int kind_of(const struct seccomp_data *call)
{
	int i = 0;

	while (i < REFUSALS && refusals[i].number != call->nr)
		i++;
	return call->nr == SYS_fcntl && call->args[1] != F_DUPFD && call->args[1] != F_DUPFD_CLOEXEC
		       ? REFUSALS
		       : i;
}

static int take_filter(int process)
{
	int number;

	while ((number = atomic_load(&shared->filter)) == 0)
		sched_yield();
	return number > 0 ? (int)syscall(SYS_pidfd_getfd, process, number, 0) : -1;
}

static bool is_chosen(struct choice choice, int kind, int *asked)
{
	if (choice.nth == 0)
		return choice.kind == kind;
	/* A kernel knows a request or does not. */
	return refusals[kind].number != SYS_ioctl && ++*asked == choice.nth;
}

/* Answers until the process has ended; what it leaves running goes on unasked then. */
static void supervise(int filter, int process, struct choice choice, const char **refused)
{
	struct pollfd entries[] = {{.fd = filter, .events = POLLIN}, {.fd = process, .events = POLLIN}};
	bool begun = false;
	pid_t loading = 0;
	int asked = 0;

	for (;;) {
		struct seccomp_notif question = {.id = 0};
		struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

		poll(entries, 2, -1);
		if (!(entries[0].revents & POLLIN) && entries[1].revents)
			return;
		if (ioctl(filter, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0)
			continue;
		int kind = kind_of(&question.data);
		/* A program that is started has a loader, which makes other calls before the first socket. */
		if (question.data.nr == SYS_execve)
			loading = (pid_t)question.pid;
		if (question.data.nr == SYS_socket) {
			begun = true;
			loading = (pid_t)question.pid == loading ? 0 : loading;
		}
		if (begun && (pid_t)question.pid != loading && atomic_load(&shared->refusing) && kind != REFUSALS &&
		    is_chosen(choice, kind, &asked)) {
			answer.flags = 0;
			answer.error = -refusals[kind].error;
			*refused = refusals[kind].name;
		}
		answer.id = question.id;
		ioctl(filter, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

/* False: there are no such filters here. */
static bool live_once(const struct refuse_life *life, struct choice choice, const char **refused)
{
	int status = 0;

	memset(shared, 0, sizeof(*shared));
	atomic_store(&shared->refusing, true);
	*refused = NULL;
	life->prepare();
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		live(life);
	int process = (int)syscall(SYS_pidfd_open, pid, 0), filter = take_filter(process);
	if (filter >= 0)
		supervise(filter, process, choice, refused);
	close(filter);
	close(process);
	waitpid(pid, &status, 0);
	life->clean_up();
	if (WIFSIGNALED(status))
		refuse_say(" it ended with SIG%s;", sigabbrev_np(WTERMSIG(status)));
	else if (filter >= 0 && WEXITSTATUS(status) != 0)
		refuse_say(" it ended with status %d;", WEXITSTATUS(status));
	return filter >= 0;
}

static int told;

static void tell(const struct refuse_life *life, struct choice choice, const char *refused)
{
	if (shared->length == 0)
		return;
	if (choice.nth)
		printf("# %s, call %d (%s):%s\n", life->name, choice.nth,
		       refused ? refused : "not reached", shared->said);
	else
		printf("# %s, every %s:%s\n", life->name, refusals[choice.kind].name, shared->said);
	told++;
}

/* False where it cannot be tried. */
static bool refuse_life(const struct refuse_life *life, int number)
{
	const char *refused = "";
	int calls = 0, kinds = 0;

	told = 0;
	for (int nth = 1; nth <= life->most && refused; nth++) {
		if (!live_once(life, (struct choice){.nth = nth}, &refused))
			return false;
		calls += refused != NULL;
		tell(life, (struct choice){.nth = nth}, refused);
	}
	for (int kind = 0; kind < REFUSALS; kind++) {
		live_once(life, (struct choice){.kind = kind}, &refused);
		kinds += refused != NULL;
		tell(life, (struct choice){.kind = kind}, refused);
	}
	printf("%sok %d - %s: %d calls refused one by one, %d kinds of call as a whole\n",
	       told ? "not " : "", number, life->name, calls, kinds);
	return true;
}

int refuse_all(const struct refuse_life *lives, int count)
{
	bool failed = false;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 99;
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		if (!refuse_life(&lives[i], i + 1))
			printf("ok %d - %s # SKIP the kernel has no filters that ask here: %s\n",
			       i + 1, lives[i].name, strerror(-atomic_load(&shared->filter)));
		failed |= told != 0;
	}
	return failed;
}

/* --- the other party --- */

static pid_t party;

void refuse_start_party(void (*round)(void))
{
	static int count;
	char fabric[40];

	snprintf(fabric, sizeof(fabric), "refusals-%d-%d", (int)getpid(), count++);
	setenv("SCIF_FABRIC", fabric, 1);
	setenv("SCIF_NODE", "1", 1);
	fflush(stdout);
	party = fork();
	if (party == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			round();
	}
	setenv("SCIF_NODE", "0", 1);
}

void refuse_end_party(void)
{
	kill(party, SIGKILL);
	waitpid(party, NULL, 0);
}
