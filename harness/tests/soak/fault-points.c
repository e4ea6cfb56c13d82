/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library, in this program, with its fault points: a process is killed at each of them in turn, once while it
 * shares both ends of a connection with this process, once while it has a connection of its own to it. Then this
 * process goes on with the shared one, loses the other one and nothing else, and a newcomer connects. Arguments are the
 * points there are, as fault-points.sh finds them in the source; one that nobody comes by is a failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <scif.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "ends.h"

enum { PAGE = 4096, FULL = 4095, SECONDS = 60, MANY = 200 };
/* More than there are places for transfers, or for signals, on one side of a connection. */
enum { DEATHS = 70 };

static const char *armed; /* where this process dies */
static bool stops;	  /* and stops before */
static const char *now;	  /* what is tried, for messages */
static bool failed;

void fault_point(const char *name);

void fault_point(const char *name)
{
	if (armed == NULL || strcmp(armed, name) != 0)
		return;
	if (stops)
		raise(SIGSTOP);
	kill(getpid(), SIGKILL);
}

static bool holds(bool is_so, const char *what)
{
	if (is_so)
		return true;
	printf("%s: does not hold: %s (%s)\n", now, what, strerror(errno));
	failed = true;
	return false;
}

static void too_long(int sig)
{
	(void)sig;
	if (write(STDOUT_FILENO, now, strlen(now)) < 0 ||
	    write(STDOUT_FILENO, ": somebody waits for ever\n", 26) < 0)
		_exit(2);
	_exit(EXIT_FAILURE);
}

static unsigned char *pages(int count)
{
	void *at = mmap(NULL, (size_t)count * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(at == MAP_FAILED ? -1 : 0, "mmap");
	memset(at, 1, (size_t)count * PAGE);
	return at;
}

/* --- everything that two ends can do; both are here --- */

static char out[FULL], in[FULL];

static bool messages(scif_epd_t a, scif_epd_t b)
{
	static const int sizes[] = {1, FULL, 100};
	bool well = true;

	for (int i = 0; i < 3; i++) {
		memset(out, 'a' + i, sizeof(out));
		memset(in, 0, sizeof(in));
		well = well && scif_send(a, out, sizes[i], 0) == sizes[i] &&
		       scif_recv(b, in, sizes[i], SCIF_RECV_BLOCK) == sizes[i] &&
		       memcmp(out, in, (size_t)sizes[i]) == 0;
	}
	return holds(well, "messages arrive");
}

static off_t window(scif_epd_t epd, void *at, int count)
{
	return scif_register(epd, at, (size_t)count * PAGE, 0, SCIF_PROT_READ | SCIF_PROT_WRITE,
			     0);
}

static bool fences(scif_epd_t a, off_t own, unsigned char *memory)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(void *)memory;
	int mark;

	atomic_store(word, 0);
	return holds(scif_fence_mark(a, SCIF_FENCE_INIT_SELF, &mark) == 0 &&
			     scif_fence_wait(a, mark) == 0,
		     "a fence can be waited for") &&
	       holds(scif_fence_signal(a, own, 7, 0, 0, SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_LOCAL) ==
			     0 && atomic_load(word) == 7,
		     "a signal is written");
}

static bool transfers(scif_epd_t a, scif_epd_t b)
{
	unsigned char *mine = pages(2), *theirs = pages(3);
	off_t own = window(a, mine, 2), far = window(b, theirs, 3);
	unsigned char *mapped;
	bool well = holds(own >= 0 && far >= 0, "windows can be registered");

	memset(mine, 'm', PAGE);
	well = well && holds(scif_writeto(a, own, PAGE, far, 0) == 0 && theirs[PAGE - 1] == 'm',
			     "writeto writes");
	memset(out, 'v', 64);
	well = well && holds(scif_vwriteto(a, out, 64, far + PAGE, 0) == 0 && theirs[PAGE] == 'v',
			     "vwriteto writes");
	well = well && fences(a, own + PAGE, mine + PAGE);
	mapped = well ? scif_mmap(NULL, 3 * PAGE, SCIF_PROT_READ | SCIF_PROT_WRITE, 0, a, far)
		      : SCIF_MMAP_FAILED;
	well = well && holds(mapped != SCIF_MMAP_FAILED && mapped[0] == 'm', "a window is mapped");
	if (well) {
		holds(scif_munmap(mapped + PAGE, PAGE) == 0, "its middle is unmapped");
		holds(scif_unregister(b, far, 3 * PAGE) == 0, "a mapped window is unregistered");
		holds(scif_munmap(mapped, PAGE) == 0 && scif_munmap(mapped + 2 * PAGE, PAGE) == 0,
		      "the rest is unmapped");
		holds(scif_unregister(a, own, 2 * PAGE) == 0, "a window is unregistered");
	}
	munmap(mine, 2 * PAGE);
	munmap(theirs, 3 * PAGE);
	return well;
}

/* The same file twice: the pages of the second window are there already. */
static bool shared_file(scif_epd_t a)
{
	int fd = memfd_create("shared", MFD_CLOEXEC);
	void *at;
	off_t first, second;
	bool well;

	must(ftruncate(fd, PAGE), "ftruncate");
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	first = window(a, at, 1);
	second = window(a, at, 1);
	well = holds(first >= 0 && second >= 0, "shared memory is registered, twice") &&
	       holds(scif_unregister(a, first, PAGE) == 0 && scif_unregister(a, second, PAGE) == 0,
		     "and unregistered");
	munmap(at, PAGE);
	close(fd);
	return well;
}

/* Private memory in two windows, and more windows than fit into the block. */
static bool many_windows(scif_epd_t a)
{
	unsigned char *at = pages(1);
	off_t offset[MANY];
	bool well = true;

	for (int i = 0; i < MANY; i++)
		well = (offset[i] = window(a, at, 1)) >= 0 && well;
	for (int i = 0; i < MANY && well; i++)
		well = scif_unregister(a, offset[i], PAGE) == 0;
	well = well && scif_unregister(a, window(a, at, 1), PAGE) == 0;
	munmap(at, PAGE);
	return holds(well, "many windows can be opened and closed");
}

static bool fixed_window(scif_epd_t a)
{
	unsigned char *at = pages(1);
	off_t offset = 0x40000000 + (off_t)getpid() * PAGE;
	bool well = scif_register(a, at, PAGE, offset, SCIF_PROT_READ, SCIF_MAP_FIXED) == offset &&
		    scif_unregister(a, offset, PAGE) == 0;

	munmap(at, PAGE);
	return holds(well, "a window is opened where it is wanted");
}

static bool mistake(scif_epd_t a)
{
	return holds(scif_mmap(NULL, PAGE, SCIF_PROT_READ, 0, a, 0x7000000) == SCIF_MMAP_FAILED &&
			     errno == ENXIO,
		     "what is no window cannot be mapped");
}

static bool everything(scif_epd_t a, scif_epd_t b)
{
	return messages(a, b) && messages(b, a) && transfers(a, b) && transfers(b, a) &&
	       shared_file(a) && many_windows(a) && fixed_window(a) &&
	       mistake(a);
}

/* --- those that die --- */

static scif_epd_t mine, theirs; /* both ends; theirs is -1 where they are another's */

static void relative(void)
{
	everything(mine, theirs);
}

/* Closes an endpoint while a child still has it, which then dies. */
static void leave_to_child(scif_epd_t epd)
{
	int gate[2];
	char nothing;
	pid_t child;

	must(pipe(gate), "pipe");
	child = fork();
	if (child == 0) {
		armed = NULL;
		close(gate[1]);
		_exit(read(gate[0], &nothing, 1) != 0);
	}
	scif_close(epd);
	close(gate[1]);
	waitpid(child, NULL, 0);
	scif_close(scif_open());
}

/* Both ends of new connections are its own. */
static void stranger(void)
{
	scif_epd_t a, b;

	connect_ends(&a, &b);
	everything(a, b);
	window(b, pages(1), 1);
	scif_close(a);
	scif_close(b);
	connect_ends(&a, &b);
	window(a, pages(1), 1);
	leave_to_child(a);
	window(b, pages(1), 1);
	scif_close(b);
}

/* Whether it was killed there; otherwise it went all the way. */
static bool dies(const char *point, void (*life)(void))
{
	pid_t pid = fork();
	int status = 0;

	must(pid, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		armed = point;
		failed = false;
		life();
		_exit(failed ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	must(waitpid(pid, &status, 0), "waitpid");
	holds(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "who does not die does well");
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* What the dead one had sent, wholly or in part. */
static void drain(scif_epd_t epd)
{
	while (scif_recv(epd, in, sizeof(in), 0) > 0)
		;
}

static bool relatives_die(const char *point)
{
	bool many = strncmp(point, "signal", 6) == 0 || strncmp(point, "transfer", 8) == 0;
	bool died = true;

	for (int i = many ? DEATHS : 1; i > 0 && died; i--) {
		died = dies(point, relative);
		drain(mine);
		drain(theirs);
	}
	return died;
}

static void newcomer(void)
{
	scif_epd_t a, b;

	connect_ends(&a, &b);
	everything(a, b);
	holds(scif_close(a) == 0 && scif_close(b) == 0, "a newcomer closes");
}

static bool one_point(const char *point)
{
	char text[128];
	bool died;

	snprintf(text, sizeof(text), "a relative killed at %s", point);
	now = text;
	alarm(SECONDS);
	connect_ends(&mine, &theirs);
	died = relatives_die(point);
	everything(mine, theirs);
	holds(scif_close(mine) == 0 && scif_close(theirs) == 0, "the shared ends are closed");
	newcomer();
	snprintf(text, sizeof(text), "a stranger killed at %s", point);
	died |= dies(point, stranger);
	newcomer();
	return died;
}

/* --- who waits for one that dies --- */

static _Atomic pid_t waiting;

static void *wait_for_fence(void *result)
{
	int mark;
	bool *well = result;

	atomic_store(&waiting, gettid());
	*well = scif_fence_mark(mine, SCIF_FENCE_INIT_SELF, &mark) == 0 &&
		scif_fence_wait(mine, mark) == 0;
	return NULL;
}

static void await_sleep(void)
{
	int state;

	while (atomic_load(&waiting) == 0)
		asleep_pace();
	state = asleep_open(waiting);
	must(state, "asleep_open");
	while (!asleep_now(state))
		asleep_pace();
	close(state);
}

/* A relative is in the middle of a transfer when it is killed, and a fence waits for that. */
static void fence_after_death(void)
{
	pthread_t waiter;
	bool well = false;
	pid_t pid;

	now = "a fence that waits for the transfer of a relative";
	alarm(SECONDS);
	connect_ends(&mine, &theirs);
	pid = fork();
	must(pid, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		armed = "transfer-begun";
		stops = true;
		relative();
		_exit(EXIT_SUCCESS);
	}
	must(waitpid(pid, NULL, WUNTRACED), "waitpid");
	must(-pthread_create(&waiter, NULL, wait_for_fence, &well), "thread");
	await_sleep();
	holds(!well, "a fence waits for a transfer that is under way");
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0), "waitpid");
	pthread_join(waiter, NULL);
	holds(well, "the fence ends");
	scif_close(mine);
	scif_close(theirs);
}

static int descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

int main(int argc, char **argv)
{
	char fabric[32];
	int before, killed = 0;

	snprintf(fabric, sizeof(fabric), "points-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setenv("SCIF_PROVIDER", "embedded", 1);
	signal(SIGALRM, too_long);
	setvbuf(stdout, NULL, _IOLBF, 0);
	now = "at first";
	newcomer();
	before = descriptors();
	for (int i = 1; i < argc; i++) {
		if (one_point(argv[i])) {
			killed++;
			continue;
		}
		printf("%s: nobody comes by\n", argv[i]);
		failed = true;
	}
	fence_after_death();
	now = "in the end";
	holds(descriptors() == before, "no descriptor is left");
	printf("killed at %d of %d fault points\n", killed, argc - 1);
	return failed || argc == 1 ? EXIT_FAILURE : EXIT_SUCCESS;
}
