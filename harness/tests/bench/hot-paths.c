/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the calls that programs make all the time cost in system calls and in instructions. Both
 * ends are of this process, so that nothing depends on another one. Of many rounds the cheapest
 * counts: the others may have asked the kernel whether the peer is still there, which depends on
 * the time.
 *
 *	hot-paths		makes each as often as it takes and compares the system calls
 *	hot-paths OPERATION	the same under callgrind, which is asked for a dump after each
 */
#include <errno.h>
#include <fcntl.h>
#include <scif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness/tests/rsm/count_calls.h"

#ifdef HAVE_VALGRIND_CALLGRIND_H
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_DUMP_STATS (void)0
#define CALLGRIND_ZERO_STATS (void)0
#endif

enum { BROKEN = 99, SKIPPED = 77, ROUNDS = 2000, DUMPS = 60, WARM = 20, LENGTH = 65536 };

static scif_epd_t near, far;
static char *memory;
static off_t near_window, far_window;
static char message[64];

static void must(int is_right, const char *what)
{
	if (is_right)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(BROKEN);
}

static void connect_ends(void)
{
	scif_epd_t listener = scif_open();
	struct scif_portID address = {0}, peer;

	near = scif_open();
	must(listener >= 0 && near >= 0, "scif_open");
	address.port = (uint16_t)scif_bind(listener, 0);
	must(scif_listen(listener, 1) == 0, "scif_listen");
	must(scif_get_nodeIDs(NULL, 0, &address.node) > 0, "scif_get_nodeIDs");
	must(fcntl(near, F_SETFL, O_NONBLOCK) == 0, "fcntl");
	must(scif_connect(near, &address) < 0 && errno == EINPROGRESS, "scif_connect");
	must(scif_accept(listener, &peer, &far, SCIF_ACCEPT_SYNC) == 0, "scif_accept");
	must(scif_connect(near, &address) >= 0, "scif_connect");
	must(fcntl(near, F_SETFL, 0) == 0, "fcntl");
	scif_close(listener);
}

static void open_windows(void)
{
	memory = mmap(NULL, 3 * LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(memory != MAP_FAILED, "mmap");
	memset(memory, 1, 3 * LENGTH);
	near_window = scif_register(near, memory, LENGTH, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	far_window =
		scif_register(far, memory + LENGTH, LENGTH, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	must(near_window >= 0 && far_window >= 0, "scif_register");
}

static void send_message(void)
{
	must(scif_send(near, message, 8, SCIF_SEND_BLOCK) == 8, "scif_send");
}

static void receive_message(void)
{
	must(scif_recv(far, message, 8, SCIF_RECV_BLOCK) == 8, "scif_recv");
}

static void nothing(void)
{
}

static void vwriteto(void)
{
	must(scif_vwriteto(near, memory + 2 * LENGTH, 8, far_window, SCIF_RMA_SYNC) == 0,
	     "scif_vwriteto");
}

static void vreadfrom(void)
{
	must(scif_vreadfrom(near, memory + 2 * LENGTH, 8, far_window, SCIF_RMA_SYNC) == 0,
	     "scif_vreadfrom");
}

static void writeto(void)
{
	must(scif_writeto(near, near_window, 8, far_window, SCIF_RMA_SYNC) == 0, "scif_writeto");
}

static void readfrom(void)
{
	must(scif_readfrom(near, near_window, 8, far_window, SCIF_RMA_SYNC) == 0, "scif_readfrom");
}

static void fence_signal(void)
{
	must(scif_fence_signal(near, near_window, 1, far_window, 2,
			       SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_LOCAL | SCIF_SIGNAL_REMOTE) == 0,
	     "scif_fence_signal");
}

/* BEFORE and AFTER keep the state that is meant, and do not count. */
static const struct operation {
	const char *name;
	unsigned left; /* messages in the ring meanwhile */
	void (*before)(void), (*once)(void), (*after)(void);
	unsigned long calls;
} operations[] = {
	{"send", 1, nothing, send_message, receive_message, 0},
	{"recv", 1, send_message, receive_message, nothing, 0},
	{"send-to-empty", 0, nothing, send_message, receive_message, 1},
	{"recv-to-empty", 0, send_message, receive_message, nothing, 1},
	{"vwriteto", 0, nothing, vwriteto, nothing, 0},
	{"vreadfrom", 0, nothing, vreadfrom, nothing, 0},
	{"writeto", 0, nothing, writeto, nothing, 0},
	{"readfrom", 0, nothing, readfrom, nothing, 0},
	{"fence-signal", 0, nothing, fence_signal, nothing, 0},
};

enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static unsigned long fewest_calls(const struct operation *operation)
{
	unsigned long fewest = (unsigned long)-1;

	for (int i = 0; i < ROUNDS; i++) {
		unsigned long before;

		operation->before();
		before = calls_made_in_all;
		operation->once();
		if (calls_made_in_all - before < fewest)
			fewest = calls_made_in_all - before;
		operation->after();
	}
	return fewest;
}

static int compare_calls(void)
{
	int error = count_calls_from_now_on(), wrong = 0;

	if (error != 0) {
		printf("system calls cannot be counted here: %s\n", strerror(-error));
		return SKIPPED;
	}
	for (int i = 0; i < OPERATIONS; i++) {
		const struct operation *operation = &operations[i];
		unsigned long calls;

		if (operation->left)
			send_message();
		calls = fewest_calls(operation);
		if (operation->left)
			receive_message();
		printf("%-14s %lu system calls%s\n", operation->name, calls,
		       calls == operation->calls ? "" : " are NOT what was recorded");
		wrong += calls != operation->calls;
	}
	return wrong != 0;
}

/* A dump takes so long that the next one asks the kernel; the one behind that is counted. */
static void dump_each(const struct operation *operation)
{
	if (operation->left)
		send_message();
	for (int i = 0; i < WARM + DUMPS; i++) {
		operation->before();
		operation->once();
		operation->after();
		operation->before();
		CALLGRIND_ZERO_STATS;
		operation->once();
		if (i >= WARM)
			CALLGRIND_DUMP_STATS;
		operation->after();
	}
}

int main(int argc, char **argv)
{
	setenv("SCIF_FABRIC", "hot-paths", 1);
	connect_ends();
	open_windows();
	if (argc < 2)
		return compare_calls();
	for (int i = 0; i < OPERATIONS; i++) {
		if (strcmp(argv[1], operations[i].name) == 0) {
			dump_each(&operations[i]);
			return EXIT_SUCCESS;
		}
	}
	if (strcmp(argv[1], "list") != 0)
		return EXIT_FAILURE;
	for (int i = 0; i < OPERATIONS; i++)
		puts(operations[i].name);
	return EXIT_SUCCESS;
}
