/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Importers that hold things up hold up nobody but themselves: some that take a place in the
 * listener's queue and go no further, and many that say they are done while their transfers go on.
 * An exporter whose memory comes slowly says that it is at work.
 */
#include <endian.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "by_hand.h"
#include "pair.h"

/*
 * libscif drops a connector that stalls after two seconds, and an importer waits for five: behind
 * so many, one after the other, it would give up. There are as many liars as exporters have
 * threads for errands.
 */
enum { STALLED = 64, LIARS = 64, SKIPPED = 77, LONGEST = 120 };
enum { QUIET_ID = 0x400100, LIED_TO_ID = 0x400200, SLOW_ID = 0x400300, DEAF_ID = 0x400400 };

static size_t page;

static void *pages(void)
{
	void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pair_must(memory == MAP_FAILED, "mmap");
	return memory;
}

static rsm_memseg_export_handle_t published(rsmapi_controller_handle_t controller,
					    rsm_memseg_id_t id)
{
	rsm_memseg_export_handle_t segment;

	pair_must(rsm_memseg_export_create(controller, &segment, pages(), page, RSM_ALLOW_REBIND),
		  "create");
	pair_must(rsm_memseg_export_publish(segment, &id, NULL, 0), "publish");
	return segment;
}

static void serves(rsmapi_controller_handle_t controller, const char *when)
{
	rsm_memseg_import_handle_t import;

	pair_must(rsm_memseg_import_connect(controller, 0, QUIET_ID, RSM_PERM_RDWR, &import), when);
	pair_must(rsm_memseg_import_disconnect(import), "disconnect");
}

/* --- connectors that stall --- */

/* A port of the embedded fabric is a socket of this name; a connection begins with a greeting. */
static int stalled_connector(const char *fabric)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int length = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "scif/%s/0/%u", fabric,
			      by_hand_first_port(QUIET_ID));

	pair_must(fd < 0 || connect(fd, (struct sockaddr *)&name,
				    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
						(size_t)length)) != 0,
		  "connect");
	return fd;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* That connector would be waited for longer than this. */
#define STALL_NS 1500000000u

static void fork_meanwhile(int descriptors)
{
	uint64_t began;
	int status;
	pid_t pid;

	/* Until a thread is in scif_accept(). */
	while (pair_descriptors() == descriptors)
		sched_yield();
	began = now();
	pid = fork();
	pair_must(pid < 0, "fork");
	if (pid == 0)
		_exit(EXIT_SUCCESS);
	pair_must(now() - began > STALL_NS, "a fork behind a connector that stalls");
	pair_must(waitpid(pid, &status, 0) != pid || status != 0, "the child");
}

static void stalled_connectors(rsmapi_controller_handle_t controller, const char *fabric)
{
	int fds[STALLED], before = pair_descriptors();

	for (int i = 0; i < STALLED; i++)
		fds[i] = stalled_connector(fabric);
	fork_meanwhile(before + STALLED);
	serves(controller, "connect behind connectors that stall");
	for (int i = 0; i < STALLED; i++)
		close(fds[i]);
}

/* --- importers that lie --- */

/* From now on a page that is not there comes when it is brought; -1 where that is not possible. */
static int withhold(void *memory)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	reg.range = (struct uffdio_range){.start = (uintptr_t)memory, .len = page};
	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &reg) == 0)
		return fd;
	close(fd);
	return -1;
}

static void *withheld_page(void)
{
	void *memory = pages();

	if (withhold(memory) < 0)
		exit(SKIPPED);
	return memory;
}

static struct liar {
	scif_epd_t epd;
	off_t window;
	void *from;
	pid_t tid;
} liars[LIARS];

static void *writer(void *arg)
{
	struct liar *l = arg;

	__atomic_store_n(&l->tid, gettid(), __ATOMIC_RELEASE);
	scif_vwriteto(l->epd, l->from, page, l->window, SCIF_RMA_SYNC);
	return NULL;
}

static bool answer_order(const struct liar *l, uint16_t type)
{
	struct message order, done = by_hand(DONE, 0);

	if (!by_hand_hears(l->epd, &order) || by_hand_type(&order) != type)
		return false;
	done.word[3] = order.word[3];
	return scif_send(l->epd, &done, HEADER, SCIF_SEND_BLOCK) == HEADER;
}

/* Sleeps in the fault: then the transfer is under way. */
static void await_fault(pid_t tid)
{
	char path[64], state[4096];

	snprintf(path, sizeof(path), "/proc/self/task/%d/wchan", (int)tid);
	do {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, state, sizeof(state) - 1);

		pair_must(n < 0, path);
		close(fd);
		state[n] = '\0';
		sched_yield();
	} while (strcmp(state, "handle_userfault") != 0);
}

static void begin_writing(struct liar *l)
{
	struct message hello = by_hand_connect(LIED_TO_ID, RSM_PERM_RDWR), answer;
	pthread_t thread;

	l->from = withheld_page();
	l->epd = by_hand_says(LIED_TO_ID, &hello, HEADER);
	pair_must(!by_hand_hears(l->epd, &answer) || by_hand_type(&answer) != ANSWER ||
			  answer.word[4] != 0,
		  "the answer to CONNECT");
	l->window = (off_t)(le32toh(answer.word[12]) | (uint64_t)le32toh(answer.word[13]) << 32);
	pair_must(pthread_create(&thread, NULL, writer, l), "pthread_create");
	while (__atomic_load_n(&l->tid, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	await_fault(l->tid);
}

/* Ends only when it is killed, with its transfers still going on. */
static void lie(int told)
{
	static const uint16_t orders[] = {REBIND, ABORT};

	for (int i = 0; i < LIARS; i++)
		begin_writing(&liars[i]);
	pair_must(write(told, "", 1) != 1, "write");
	for (unsigned o = 0; o < sizeof(orders) / sizeof(orders[0]); o++)
		for (int i = 0; i < LIARS; i++)
			pair_must(!answer_order(&liars[i], orders[o]), "an order");
	for (;;)
		pause();
}

/* The liar is forked before there is a segment: it is a process like any other. */
static pid_t start_liar(int begin[2], int told[2])
{
	pid_t pid;
	char byte;

	pair_must(pipe(begin) | pipe(told), "pipe");
	pid = fork();
	pair_must(pid < 0, "fork");
	if (pid != 0) {
		close(told[1]);
		close(begin[0]);
		return pid;
	}
	close(begin[1]);
	alarm(LONGEST);
	if (read(begin[0], &byte, 1) == 1)
		lie(told[1]);
	exit(EXIT_SUCCESS);
}

/* False where pages cannot be withheld. */
static bool liar_is_writing(int begin[2], int told[2])
{
	char byte;

	pair_must(write(begin[1], "", 1) != 1, "write");
	return read(told[0], &byte, 1) == 1;
}

static int end_liar(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	pair_must(waitpid(pid, &status, 0) != pid, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SUCCESS;
}

/* --- an importer that does not answer --- */

/* Unpublishing waits for it for a while, then its connection is ended. */
static void deaf_importer(rsmapi_controller_handle_t controller)
{
	struct message hello = by_hand_connect(DEAF_ID, RSM_PERM_READ), m;
	rsm_memseg_export_handle_t segment = published(controller, DEAF_ID);
	scif_epd_t epd = by_hand_says(DEAF_ID, &hello, HEADER);

	pair_must(!by_hand_hears(epd, &m) || by_hand_type(&m) != ANSWER, "ANSWER");
	pair_must(rsm_memseg_export_unpublish(segment),
		  "unpublish before one that does not answer");
	pair_must(!by_hand_hears(epd, &m) || by_hand_type(&m) != ABORT, "ABORT");
	pair_must(by_hand_hears(epd, &m), "the connection is still there");
	scif_close(epd);
	pair_must(rsm_memseg_export_destroy(segment), "destroy");
}

/* --- an exporter whose memory comes slowly --- */

static void slow_memory(rsmapi_controller_handle_t controller)
{
	struct message hello = by_hand_connect(SLOW_ID, RSM_PERM_READ), answer,
		       done = by_hand(DONE, 0);
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = SLOW_ID;
	void *memory = pages();
	struct uffdio_zeropage zero = {.range = {.start = (uintptr_t)memory, .len = page}};
	int fd;

	pair_must(rsm_memseg_export_create(controller, &segment, memory, page, 0), "create");
	pair_must(rsm_memseg_export_publish(segment, &id, NULL, 0), "publish");
	fd = withhold(memory);
	if (fd >= 0 && madvise(memory, page, MADV_REMOVE) == 0) {
		scif_epd_t epd = by_hand_says(SLOW_ID, &hello, HEADER);
		scif_epd_t hasty = by_hand_says(SLOW_ID, &hello, HEADER);

		/* Whoever says more before the answer gets none. */
		pair_must(scif_send(hasty, &done, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
		pair_must(!by_hand_hears(epd, &answer) || by_hand_type(&answer) != WORKING,
			  "WORKING");
		pair_must(ioctl(fd, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE");
		while (by_hand_hears(epd, &answer) && by_hand_type(&answer) == WORKING)
			;
		pair_must(by_hand_type(&answer) != ANSWER || answer.word[4] != 0, "ANSWER");
		scif_close(epd);
		while (by_hand_hears(hasty, &answer))
			pair_must(by_hand_type(&answer) != WORKING, "no answer to more than asked");
		scif_close(hasty);
	}
	close(fd);
	pair_must(rsm_memseg_export_destroy(segment), "destroy");
}

int main(void)
{
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t quiet, lied_to;
	int begin[2], told[2], result;
	char fabric[32];
	bool writing;
	pid_t liar;

	page = (size_t)getpagesize();
	alarm(LONGEST);
	snprintf(fabric, sizeof(fabric), "holdups-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setenv("SCIF_NODE", "0", 1);
	liar = start_liar(begin, told);
	pair_must(rsm_get_controller("scif0", &controller), "get_controller");
	quiet = published(controller, QUIET_ID);
	stalled_connectors(controller, fabric);
	slow_memory(controller);
	deaf_importer(controller);
	lied_to = published(controller, LIED_TO_ID);
	writing = liar_is_writing(begin, told);
	if (writing) {
		pair_must(rsm_memseg_export_rebind(lied_to, pages(), 0, page), "rebind");
		serves(controller, "connect after a rebind that one has lied about");
		pair_must(rsm_memseg_export_unpublish(lied_to), "unpublish");
		serves(controller, "connect after an unpublish that one has lied about");
	}
	result = end_liar(liar);
	pair_must(rsm_memseg_export_destroy(lied_to), "destroy");
	pair_must(rsm_memseg_export_destroy(quiet), "destroy");
	return result;
}
