/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that share an endpoint by fork, one of which is killed in the middle of a call: those
 * that are left go on with it. Where it is killed, or stopped for a while, is at a system call that
 * it makes there, by a filter on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <scif.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "ends.h"

enum { PAGE = 4096, SIZE = 4 * PAGE, FULL = 4095, MARKS = 600, SKIPPED = 77, LIMIT_SECONDS = 60 };

/* Both ends of a connection, in this process. */
static struct {
	scif_epd_t a, b;
} pair;

static void close_pair(void)
{
	scif_close(pair.a);
	scif_close(pair.b);
}

static void put(int bytes)
{
	static char out[FULL];

	if (scif_send(pair.a, out, bytes, 0) != bytes)
		must(-1, "send");
}

static void take(int bytes)
{
	static char in[FULL];

	if (scif_recv(pair.b, in, bytes, SCIF_RECV_BLOCK) != bytes)
		must(-1, "recv");
}

/* --- a relative and its end --- */

/* From here on the process gets ACTION instead of a system call. */
static void filter(int call, unsigned action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		_exit(SKIPPED);
}

static void stop_here(int sig)
{
	(void)sig;
	raise(SIGSTOP);
}

static pid_t relative(void (*act)(void), int call, unsigned action)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGSYS, action == SECCOMP_RET_TRAP ? stop_here : SIG_DFL);
	filter(call, action);
	act();
	_exit(0);
}

static int end_of(pid_t pid, int options)
{
	int status = 0;

	must(waitpid(pid, &status, options), "waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		printf("the kernel has no filters of system calls here\n");
		exit(SKIPPED);
	}
	return status;
}

/* Whether a relative was killed at the first such system call of what it did. */
static bool dies_at(int call, void (*act)(void))
{
	int status = end_of(relative(act, call, SECCOMP_RET_KILL_PROCESS), 0);

	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

/* --- messages --- */

/* musl sends several messages one after the other. */
#ifdef __GLIBC__
#define RING_BELLS SYS_sendmmsg
#else
#define RING_BELLS SYS_sendmsg
#endif

static void send_one(void)
{
	put(1);
}

static void send_full(void)
{
	put(FULL);
}

static void send_patiently(void)
{
	char byte = 0;

	scif_send(pair.a, &byte, 1, SCIF_SEND_BLOCK);
}

static void take_one(void)
{
	take(1);
}

static void take_all(void)
{
	take(FULL);
}

static bool shows(scif_epd_t epd, short events)
{
	struct scif_pollepd entry = {.epd = epd, .events = events};

	return scif_poll(&entry, 1, 0) == 1 && (entry.revents & events);
}

/* Messages go through, and the descriptors show what there is: nothing, something, as much as fits.
 */
static bool works(void)
{
	struct pollfd in = {.fd = pair.b, .events = POLLIN},
		      out = {.fd = pair.a, .events = POLLOUT};
	bool good = poll(&in, 1, 0) == 0 && poll(&out, 1, 0) == 1 && !shows(pair.b, SCIF_POLLIN);

	put(1);
	good &= poll(&in, 1, 0) == 1 && shows(pair.b, SCIF_POLLIN);
	put(FULL - 1);
	good &= poll(&out, 1, 0) == 0 && !shows(pair.a, SCIF_POLLOUT);
	take(1);
	good &= poll(&out, 1, 0) == 1;
	take(FULL - 1);
	return good && poll(&in, 1, 0) == 0;
}

/* The byte is there, nobody was told. */
static bool sender_before_bell(void)
{
	bool died = dies_at(SYS_sendmsg, send_one);

	put(1);
	take(2);
	return died && works();
}

static bool sender_before_bells(void)
{
	bool died = dies_at(RING_BELLS, send_full);
	char byte = 0;

	if (scif_send(pair.a, &byte, 1, 0) != 0)
		return false;
	take(FULL);
	return died && works();
}

/* The bytes are taken, the descriptor still says that they are there. */
static bool reader_before_silence(void)
{
	char byte;

	put(1);
	bool died = dies_at(SYS_recvmsg, take_one);
	return scif_recv(pair.b, &byte, 1, 0) == 0 && died && works();
}

static bool reader_before_room(void)
{
	char byte;

	put(FULL);
	bool died = dies_at(SYS_recvmsg, take_all);
	return scif_recv(pair.b, &byte, 1, 0) == 0 && died && works();
}

/* scif_poll is the first to notice: it must not wake for what is not there, nor leave others
 * asleep. */
static bool poll_after_sender(void)
{
	struct pollfd in = {.fd = pair.b, .events = POLLIN};
	bool died = dies_at(RING_BELLS, send_full);
	bool room = shows(pair.a, SCIF_POLLOUT), told = poll(&in, 1, 0) == 1;

	take(FULL);
	return died && !room && told && works();
}

static bool poll_after_reader(void)
{
	struct pollfd in = {.fd = pair.b, .events = POLLIN};

	put(1);
	bool died = dies_at(SYS_recvmsg, take_one);
	return died && !shows(pair.b, SCIF_POLLIN) && poll(&in, 1, 0) == 0 && works();
}

static bool asleep_reader(void)
{
	char byte;
	bool died = dies_at(SYS_ppoll, take_one);

	return died && scif_recv(pair.b, &byte, 1, 0) == 0 && works();
}

static bool asleep_sender(void)
{
	char more = 0;

	put(FULL);
	bool died = dies_at(SYS_ppoll, send_patiently);
	if (scif_send(pair.a, &more, 1, 0) != 0)
		return false;
	take(FULL);
	return died && works();
}

static struct {
	_Atomic pid_t thread;
	int result;
} other;

static void *send_without_blocking(void *unused)
{
	static char byte;

	(void)unused;
	atomic_store(&other.thread, gettid());
	other.result = scif_send(pair.a, &byte, 1, 0);
	return NULL;
}

static void await_asleep(const _Atomic pid_t *thread)
{
	int state;

	while (!atomic_load(thread))
		asleep_pace();
	state = asleep_open(atomic_load(thread));
	while (!asleep_now(state))
		asleep_pace();
	close(state);
}

/* One that is at work is waited for, even by a call that does not block; one that sleeps is not. */
static bool stopped_sender(void)
{
	pthread_t thread;
	pid_t pid = relative(send_one, SYS_sendmsg, SECCOMP_RET_TRAP);
	bool stopped = WIFSTOPPED(end_of(pid, WUNTRACED));

	atomic_store(&other.thread, 0);
	pthread_create(&thread, NULL, send_without_blocking, NULL);
	await_asleep(&other.thread);
	kill(pid, SIGKILL);
	end_of(pid, 0);
	pthread_join(thread, NULL);
	take(2);
	return stopped && other.result == 1 && works();
}

/* Two threads of one process: a call that does not block comes back while another one waits. */
static void *receive_one(void *unused)
{
	static char byte;

	(void)unused;
	atomic_store(&other.thread, gettid());
	other.result = scif_recv(pair.b, &byte, 1, SCIF_RECV_BLOCK);
	return NULL;
}

static void *send_one_more(void *unused)
{
	static char byte;

	(void)unused;
	atomic_store(&other.thread, gettid());
	other.result = scif_send(pair.a, &byte, 1, SCIF_SEND_BLOCK);
	return NULL;
}

static pthread_t start_waiting(void *(*call)(void *))
{
	pthread_t thread;

	atomic_store(&other.thread, 0);
	pthread_create(&thread, NULL, call, NULL);
	await_asleep(&other.thread);
	return thread;
}

static bool beside_a_receiver(void)
{
	pthread_t thread = start_waiting(receive_one);
	char byte;
	int got = scif_recv(pair.b, &byte, 1, 0);

	put(1);
	pthread_join(thread, NULL);
	return got == 0 && other.result == 1 && works();
}

static bool beside_a_sender(void)
{
	char byte = 0;
	int sent;

	put(FULL);
	pthread_t thread = start_waiting(send_one_more);
	sent = scif_send(pair.a, &byte, 1, 0);
	take(FULL);
	pthread_join(thread, NULL);
	take(1);
	return sent == 0 && other.result == 1 && works();
}

static void close_in_handler(int sig)
{
	(void)sig;
	scif_close(pair.b);
}

/* The call that it interrupts cannot be waited for, and comes back afterwards. */
static bool closed_by_a_handler(void)
{
	struct sigaction action = {.sa_handler = close_in_handler};

	sigaction(SIGUSR1, &action, NULL);
	pthread_t thread = start_waiting(receive_one);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	signal(SIGUSR1, SIG_DFL);
	return other.result == -1 && scif_send(pair.a, "x", 1, 0) == -1 && errno == ECONNRESET;
}

/* --- what the descriptors show meanwhile --- */

static pid_t stopped_at(int call, void (*act)(void))
{
	pid_t pid = relative(act, call, SECCOMP_RET_TRAP);

	if (!WIFSTOPPED(end_of(pid, WUNTRACED)))
		must(-1, "stop");
	return pid;
}

static void end_stopped(pid_t pid)
{
	kill(pid, SIGKILL);
	end_of(pid, 0);
}

/* All that is on the way to the other end: nothing of it is a message. */
static void empty_socket(scif_epd_t epd)
{
	char noise[SIZE];

	while (recv(epd, noise, sizeof(noise), MSG_DONTWAIT) > 0)
		;
}

/* The byte is taken before its bell rings: the debt stays, and the bell wakes nobody when it comes.
 */
static bool late_bell(void)
{
	char byte;
	pid_t pid = stopped_at(SYS_sendmsg, send_one);

	take(1);
	bool none = scif_recv(pair.b, &byte, 1, 0) == 0;
	must(send(pair.a, "T", 1, 0), "ring");
	bool quiet = !shows(pair.b, SCIF_POLLIN);
	struct pollfd in = {.fd = pair.b, .events = POLLIN};
	quiet &= poll(&in, 1, 0) == 0;
	end_stopped(pid);
	return none && quiet && works();
}

/* What is none of the protocol's, while a relative sleeps that would put it right. */
static bool noise_beside_a_receiver(void)
{
	char byte;
	pid_t pid = stopped_at(SYS_ppoll, take_one);

	must(send(pair.a, "N", 1, 0), "noise");
	bool quiet = !shows(pair.b, SCIF_POLLIN);
	end_stopped(pid);
	return quiet && scif_recv(pair.b, &byte, 1, 0) == 0 && works();
}

static bool room_beside_a_sender(void)
{
	char byte = 0;

	put(FULL);
	pid_t pid = stopped_at(SYS_ppoll, send_patiently);
	empty_socket(pair.b);
	bool quiet = !shows(pair.a, SCIF_POLLOUT);
	end_stopped(pid);
	bool none = scif_send(pair.a, &byte, 1, 0) == 0;
	take(FULL);
	return quiet && none && works();
}

/* Bells that there was no room for are rung as soon as there is. */
static bool bells_without_room(void)
{
	static char noise[SIZE];
	struct pollfd in = {.fd = pair.b, .events = POLLIN};

	while (send(pair.a, noise, sizeof(noise), MSG_DONTWAIT) > 0)
		;
	put(1);
	put(FULL - 1);
	empty_socket(pair.b);
	bool full = !shows(pair.a, SCIF_POLLOUT), rung = poll(&in, 1, 0) == 1;
	take(FULL);
	return full && rung && works();
}

/* --- windows --- */

static struct {
	char *memory, *shared;
	off_t window;
} own;

static off_t opened(char *memory)
{
	return scif_register(pair.a, memory, SIZE, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
}

static void register_private(void)
{
	opened(own.memory);
}

static void register_shared(void)
{
	opened(own.shared);
}

static void read_window(void)
{
	static char bytes[SIZE];

	scif_vreadfrom(pair.b, bytes, SIZE, own.window, 0);
}

static void *anonymous(void)
{
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	memset(memory, 'o', SIZE);
	return memory;
}

static bool windows_work(void)
{
	char *memory = anonymous(), byte = 0;
	off_t window = opened(memory);
	bool good = window >= 0 && scif_vreadfrom(pair.b, &byte, 1, window, 0) == 0 &&
		    byte == 'o' && scif_unregister(pair.a, window, SIZE) == 0;

	munmap(memory, SIZE);
	return good;
}

/* While it tells the peer of a file, and holds what keeps windows together. */
static bool at_sharing(void)
{
	int fd = memfd_create("shared", MFD_CLOEXEC);

	must(ftruncate(fd, SIZE), "ftruncate");
	own.shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return dies_at(SYS_sendmsg, register_shared) && opened(own.shared) >= 0 && windows_work();
}

static bool at_moving(void)
{
	own.memory = anonymous();
	return dies_at(SYS_pwrite64, register_private) && opened(own.memory) >= 0 && windows_work();
}

enum { MUCH = 24 << 20, PLACE = 1 << 30 };

/* Its window goes on without it. */
static void register_much(void)
{
	void *memory = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	scif_register(pair.a, memory, MUCH, PLACE, SCIF_PROT_READ, SCIF_MAP_FIXED);
}

/* While it looks through frames that nobody has any more, and holds what keeps them apart. */
static bool at_looking(void)
{
	if (dies_at(SYS_swapoff, register_much) || scif_unregister(pair.a, PLACE, MUCH) != 0)
		return false;
	own.memory = anonymous();
	return dies_at(SYS_fallocate, register_private) && opened(own.memory) >= 0 &&
	       windows_work();
}

/* In the middle of a transfer, which is then none that anybody waits for. */
static bool at_copying(void)
{
	char *memory = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int mark;

	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	off_t window = scif_register(pair.a, memory, MUCH, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	must(window, "register");
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		void *from = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		memset(from, 'x', MUCH);
		for (;;)
			scif_vwriteto(pair.b, from, MUCH, window, 0);
	}
	while (*(volatile char *)memory != 'x')
		asleep_pace();
	end_stopped(pid);
	must(scif_fence_mark(pair.b, SCIF_FENCE_INIT_SELF, &mark), "fence_mark");
	return scif_fence_wait(pair.b, mark) == 0 && scif_unregister(pair.a, window, MUCH) == 0 &&
	       windows_work();
}

/* A mark stands for what was before it however many there are since. */
static bool old_mark(void)
{
	off_t window = opened(anonymous());
	int first, last;
	char byte;

	must(scif_fence_mark(pair.b, SCIF_FENCE_INIT_SELF, &first), "fence_mark");
	for (int i = 0; i < MARKS; i++) {
		must(scif_vreadfrom(pair.b, &byte, 1, window, 0), "vreadfrom");
		must(scif_fence_mark(pair.b, SCIF_FENCE_INIT_SELF, &last), "fence_mark");
	}
	return first != last && scif_fence_wait(pair.b, first) == 0 &&
	       scif_fence_wait(pair.b, last) == 0;
}

/* Without such an end nothing would have been tried. */
static bool nobody(void)
{
	own.window = opened(anonymous());
	return !dies_at(SYS_swapoff, read_window) && works() && windows_work();
}

int main(void)
{
	static const struct {
		const char *name;
		bool (*holds)(void);
	} cases[] = {
		{"nobody is killed", nobody},
		{"a sender before it rings", sender_before_bell},
		{"a sender that fills the ring, before it rings", sender_before_bells},
		{"a reader before it takes the token off", reader_before_silence},
		{"a reader that makes room, before it takes the tokens off", reader_before_room},
		{"a sender before it rings, and scif_poll comes next", poll_after_sender},
		{"a reader before it takes the token off, and scif_poll comes next",
		 poll_after_reader},
		{"a reader that sleeps", asleep_reader},
		{"a sender that sleeps", asleep_sender},
		{"a sender that is stopped, then killed", stopped_sender},
		{"nobody, and a call that does not block beside a receiver that sleeps",
		 beside_a_receiver},
		{"nobody, and a call that does not block beside a sender that sleeps",
		 beside_a_sender},
		{"nobody, and a handler closes what its thread waits on", closed_by_a_handler},
		{"a sender that is stopped before it rings", late_bell},
		{"a receiver that sleeps, while there is noise", noise_beside_a_receiver},
		{"a sender that sleeps, while there seems to be room", room_beside_a_sender},
		{"nobody, and the bells have no room", bells_without_room},
		{"one that tells of a file", at_sharing},
		{"one that moves memory", at_moving},
		{"one that looks for free memory", at_looking},
		{"one that copies", at_copying},
		{"nobody, and a mark is old", old_mark},
	};
	char fabric[40];
	int failed = 0;

	snprintf(fabric, sizeof(fabric), "siblings-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setbuf(stdout, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		alarm(LIMIT_SECONDS);
		connect_ends(&pair.a, &pair.b);
		fcntl(pair.a, F_SETFL, 0);
		bool holds = cases[i].holds();
		printf("%s: %s\n", holds ? "ok" : "not ok", cases[i].name);
		failed += !holds;
		close_pair();
	}
	return failed != 0;
}
