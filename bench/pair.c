/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of a subject are a process group: who fails leaves a message on the board and ends
 * the group, a watchdog ends one that does not answer, and the kernel ends them when the
 * coordinator or the driver dies.
 */
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timing.h"

struct order {
	size_t size;
	struct effort effort;
};

static void note_failure(struct board *board, const char *what, int error)
{
	if (board->failure[0] == '\0')
		snprintf(board->failure, sizeof(board->failure), "%s%s%s", what, error ? ": " : "",
			 error ? strerror(error) : "");
}

void bench_fail(const struct pair *pair, const char *what)
{
	note_failure(pair->board, what, errno);
	kill(0, SIGKILL);
	_exit(EXIT_FAILURE);
}

void bench_must(const struct pair *pair, bool is_right, const char *what)
{
	if (!is_right)
		bench_fail(pair, what);
}

void pair_tell(const struct pair *pair, const void *value, size_t length)
{
	bench_must(pair, send(pair->talk, value, length, MSG_NOSIGNAL) == (ssize_t)length,
		   "the other side is gone: send");
}

void pair_hear(const struct pair *pair, void *value, size_t length)
{
	errno = 0;
	bench_must(pair, recv(pair->talk, value, length, MSG_WAITALL) == (ssize_t)length,
		   "the other side is gone: recv");
}

/* The state is the letter behind the name, which ends with the last parenthesis. */
static char state_of(const struct pair *pair, int stat)
{
	char text[256];
	ssize_t length = pread(stat, text, sizeof(text) - 1, 0);
	char *end;

	bench_must(pair, length > 0, "pread of /proc/PID/stat");
	text[length] = '\0';
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : '?';
}

void pair_await_sleep(const struct pair *pair)
{
	static int stat = -1;
	char path[64], state;

	if (stat < 0) {
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pair->partner);
		stat = open(path, O_RDONLY | O_CLOEXEC);
		bench_must(pair, stat >= 0, path);
	}
	do {
		state = state_of(pair, stat);
		errno = 0;
		bench_must(pair, state != 'Z' && state != 'X', "the partner is gone");
	} while (state != 'S');
}

static void *touched_pages(const struct pair *pair, size_t length, int flags)
{
	void *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

	bench_must(pair, pages != MAP_FAILED, "mmap");
	madvise(pages, length, MADV_NOHUGEPAGE);
	/* Not zero: pages that were only read may all be one. */
	memset(pages, 1, length);
	return pages;
}

void *bench_pages(const struct pair *pair, size_t length)
{
	return touched_pages(pair, length, MAP_PRIVATE);
}

void *bench_shared_pages(const struct pair *pair, size_t length)
{
	return touched_pages(pair, length, MAP_SHARED);
}

static void end_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
}

static void run_partner(struct pair *pair, const struct side *side)
{
	struct order order;

	timing_pin(pair, pair->cpu[1]);
	setenv("SCIF_NODE", "1", 1);
	if (side->begin)
		side->begin(pair);
	while (recv(pair->talk, &order, sizeof(order), MSG_WAITALL) == sizeof(order)) {
		pair->size = order.size;
		pair->effort = order.effort;
		side->repeat(pair);
	}
	_exit(EXIT_SUCCESS);
}

static void start_partner(struct pair *pair, const struct subject *subject)
{
	pid_t driver = getpid();
	int ends[2];

	bench_must(pair, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
		   "socketpair");
	pair->partner = fork();
	bench_must(pair, pair->partner >= 0, "fork");
	pair->talk = ends[pair->partner == 0];
	close(ends[pair->partner != 0]);
	if (pair->partner == 0) {
		end_with_parent(driver);
		run_partner(pair, &subject->partner);
	}
}

static void answer(const struct pair *pair, int answers)
{
	bench_must(pair, write(answers, "", 1) == 1, "write");
}

/* A partner whose part is memory only is asleep during the repetitions. */
static void run_driver(struct pair *pair, const struct subject *subject, int orders, int answers)
{
	struct order order;

	if (subject->partner.begin || subject->partner.repeat)
		start_partner(pair, subject);
	timing_pin(pair, pair->cpu[0]);
	setenv("SCIF_NODE", "0", 1);
	if (subject->driver.begin)
		subject->driver.begin(pair);
	answer(pair, answers);
	while (read(orders, &order, sizeof(order)) == sizeof(order)) {
		pair->size = order.size;
		pair->effort = order.effort;
		pair->board->taken = 0;
		if (subject->partner.repeat)
			pair_tell(pair, &order, sizeof(order));
		if (subject->driver.repeat)
			subject->driver.repeat(pair);
		else
			timing_loop(pair, subject->driver.once, 1);
		answer(pair, answers);
	}
	_exit(EXIT_SUCCESS);
}

/* The partner of a driver that has ended is the coordinator's child. */
static int expire(struct turns *turns)
{
	pid_t group = turns->driver;

	turns->driver = 0;
	kill(-group, SIGKILL);
	while (waitpid(-group, NULL, 0) > 0 || errno == EINTR)
		;
	return -1;
}

static int await_answer(struct turns *turns, int seconds)
{
	struct pollfd answered = {.fd = turns->answers, .events = POLLIN};
	char text[64];
	char byte;
	int found;

	do
		found = poll(&answered, 1, seconds * 1000);
	while (found < 0 && errno == EINTR);
	if (found > 0 && read(turns->answers, &byte, 1) == 1)
		return 0;
	snprintf(text, sizeof(text), found > 0 ? "ended unasked" : "no answer within %d s",
		 seconds);
	note_failure(turns->board, text, 0);
	return expire(turns);
}

static struct board *new_board(void)
{
	void *board = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (board == MAP_FAILED)
		abort();
	return board;
}

int turns_begin(struct turns *turns, const struct subject *subject,
		const struct measurement *measurement, size_t largest, const int cpu[2],
		int seconds)
{
	struct pair pair = {
		.subject = subject,
		.cpu = {cpu[0], cpu[1]},
		.talk = -1,
		.shift = measurement->shift,
		.connections = measurement->connections,
	};
	pid_t coordinator = getpid();
	int orders[2], answers[2];

	*turns = (struct turns){.subject = subject, .board = new_board()};
	pair.board = turns->board;
	pair.largest = subject->largest && subject->largest < largest ? subject->largest : largest;
	if (pipe2(orders, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
		abort();
	turns->driver = fork();
	if (turns->driver < 0)
		abort();
	if (turns->driver == 0) {
		setpgid(0, 0);
		end_with_parent(coordinator);
		close(orders[1]);
		close(answers[0]);
		run_driver(&pair, subject, orders[0], answers[1]);
	}
	setpgid(turns->driver, turns->driver);
	close(orders[0]);
	close(answers[1]);
	turns->orders = orders[1];
	turns->answers = answers[0];
	return await_answer(turns, seconds);
}

int turns_take(struct turns *turns, size_t size, struct effort effort, int seconds)
{
	struct order order = {.size = size, .effort = effort};

	if (write(turns->orders, &order, sizeof(order)) != sizeof(order)) {
		note_failure(turns->board, "ended unasked", 0);
		return expire(turns);
	}
	return await_answer(turns, seconds);
}

void turns_end(struct turns *turns)
{
	close(turns->orders);
	if (turns->driver)
		expire(turns);
	close(turns->answers);
	munmap(turns->board, sizeof(*turns->board));
}
