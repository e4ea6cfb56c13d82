/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program to be traced, which does what traces have to stand: traced WHAT. It sees to it that its
 * results are what they are without a trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rsmapi.h>
#include <scif.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define THREADS 4

/* The first call that goes wrong is the status. */
#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "traced: line %d: %s (%s)\n", __LINE__, #what,             \
				strerror(errno));                                                  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static int open_listener(int *port)
{
	int epd = scif_open();

	MUST(epd >= 0);
	*port = scif_bind(epd, 0);
	MUST(*port > 0 && scif_listen(epd, 5) == 0);
	return epd;
}

static int connect_to(int port)
{
	struct scif_portID to = {.node = 0, .port = (uint16_t)port};
	int epd = scif_open();

	MUST(epd >= 0 && scif_connect(epd, &to) > 0);
	return epd;
}

/* A child that connects, and a program of its own that does. */
static int children(char **argv)
{
	int port, listener = open_listener(&port), status, i;
	char text[16];

	snprintf(text, sizeof text, "%d", port);
	for (i = 0; i < 2; i++) {
		struct scif_portID from;
		int epd;
		pid_t child = fork();

		if (!child && i) {
			execl(argv[0], argv[0], "connector", text, (char *)NULL);
			_exit(1);
		}
		if (!child) {
			MUST(scif_close(connect_to(port)) == 0);
			_exit(0);
		}
		MUST(scif_accept(listener, &from, &epd, SCIF_ACCEPT_SYNC) == 0);
		MUST(scif_close(epd) == 0 && waitpid(child, &status, 0) == child && !status);
	}
	MUST(scif_close(listener) == 0);
	return 42;
}

static void *open_and_close(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 50; i++) {
		int epd = scif_open();

		MUST(epd >= 0 && scif_bind(epd, 0) > 0 && scif_close(epd) == 0);
	}
	return NULL;
}

static int threads(void)
{
	pthread_t thread[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		MUST(!pthread_create(&thread[i], NULL, open_and_close, NULL));
	for (i = 0; i < THREADS; i++)
		MUST(!pthread_join(thread[i], NULL));
	return 0;
}

static int errors(void)
{
	struct scif_portID from;
	int port, listener = open_listener(&port), epd = -7;

	errno = 0;
	MUST(scif_accept(listener, &from, &epd, 0) == -1 && errno == EAGAIN && epd == -7);
	MUST(scif_close(1000) == -1 && errno == EBADF);
	MUST(scif_connect(scif_open(), (void *)8) == -1 && errno == EFAULT);
	errno = ENOTTY;
	MUST(scif_close(listener) == 0 && errno == ENOTTY);
	return 0;
}

/* The descriptors of a trace cannot be closed, because it has none. */
static int descriptors(void)
{
	int port, listener = open_listener(&port), copy;

	MUST(syscall(SYS_close_range, 3, ~0U, 0) == 0);
	copy = scif_open();
	MUST(copy >= 3 && copy <= listener && scif_bind(copy, 0) > 0);
	return 0;
}

static void on_alarm(int number)
{
	(void)number;
}

static int interrupted(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct scif_portID from;
	int port, listener = open_listener(&port), epd;
	const struct timespec soon = {0, 50000000};
	struct itimerspec once = {.it_value = soon, .it_interval = soon};
	timer_t timer;

	sigaction(SIGALRM, &action, NULL);
	MUST(!timer_create(CLOCK_MONOTONIC, NULL, &timer) && !timer_settime(timer, 0, &once, NULL));
	MUST(scif_accept(listener, &from, &epd, SCIF_ACCEPT_SYNC) == -1 && errno == EINTR);
	return 0;
}

/* Ends inside a call, by a signal. */
static int death(void)
{
	struct scif_portID from;
	int port, listener = open_listener(&port), epd;

	alarm(1);
	scif_accept(listener, &from, &epd, SCIF_ACCEPT_SYNC);
	return 0;
}

static int segments(void)
{
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = 0;
	void *memory = aligned_alloc(4096, 4096);

	MUST(rsm_get_controller((char *)"scif0", &controller) == RSM_SUCCESS);
	MUST(rsm_memseg_export_create(controller, &segment, memory, 4096, 0) == RSM_SUCCESS);
	MUST(rsm_memseg_export_publish(segment, &id, NULL, 0) == RSM_SUCCESS && id);
	MUST(rsm_memseg_export_destroy(segment) == RSM_SUCCESS);
	MUST(rsm_memseg_export_destroy(segment) == RSMERR_BAD_SEG_HNDL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "children"))
		return children(argv);
	if (!strcmp(what, "connector"))
		return scif_close(connect_to(atoi(argv[2])));
	if (!strcmp(what, "threads"))
		return threads();
	if (!strcmp(what, "errors"))
		return errors();
	if (!strcmp(what, "descriptors"))
		return descriptors();
	if (!strcmp(what, "interrupted"))
		return interrupted();
	if (!strcmp(what, "death"))
		return death();
	if (!strcmp(what, "segments"))
		return segments();
	return 2;
}
