/* SPDX-License-Identifier: BSD-2-Clause */
/* How a connection ends: by close, exit, death or exec of the other side, and behind the library's
 * back. */
#include "ends.h"

#include <sys/wait.h>

#define MOST_OTHERS 64

static void check_ended(scif_epd_t epd)
{
	unsigned char byte = 0;

	CTS_CHECK(cts_poll(epd, POLLIN | POLLOUT) == POLLHUP,
		  "poll shows the hang-up and nothing else");
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_send(epd, "x", 1, 0)), ECONNRESET),
		  "nothing can be sent");
	CTS_CHECK(
		cts_failed_with(CTS_RESULT(scif_recv(epd, &byte, 1, SCIF_RECV_BLOCK)), ECONNRESET),
		"nothing is left to receive");
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_register(epd, cts_fx_pages(1), cts_page_size(), 0,
							   SCIF_PROT_READ, 0)),
				  ECONNRESET),
		  "nothing can be registered");
}

static scif_epd_t connected_by_hand(void)
{
	scif_epd_t epd = cts_fx_unbound();

	CTS_OBSERVE(ends_connect(epd, ends_far_listen(cts_peer(), 1)));
	return epd;
}

SCENARIO(connection_ends_on_close)
{
	scif_epd_t epd = connected_by_hand();

	cts_far_close(epd);
	check_ended(epd);
}

SCENARIO(connection_ends_on_exit)
{
	scif_epd_t epd = connected_by_hand();

	cts_far_exit(epd);
	check_ended(epd);
}

SCENARIO(connection_ends_on_kill)
{
	scif_epd_t epd = connected_by_hand();

	cts_far_kill(epd);
	check_ended(epd);
}

struct exec_plan {
	scif_epd_t *pair;
	struct turns *turns;
};

/* The program that the child becomes waits for its input to end, so the child outlives the exec. */
static int become_another_program(void *arg)
{
	const struct exec_plan *plan = arg;

	if (!turn_of_child(plan->turns) || dup2(plan->turns->to_child[0], STDIN_FILENO) == -1)
		return 1;
	close(plan->turns->to_child[1]);
	execl("/bin/sh", "sh", "-c", "read word", (char *)NULL);
	return 2;
}

SCENARIO(exec_ends_connection)
{
	struct turns turns = turns_open();
	scif_epd_t pair[2];
	int status;

	cts_pair(pair);
	/* Only what scif_open returned is sure to be closed by exec; the other end is closed here.
	 */
	CTS_REQUIRE(cts_has_cloexec(pair[0]));
	pid_t child = cts_fork(become_another_program, &(struct exec_plan){pair, &turns});
	CTS_ASSERT(scif_close(pair[0]) == 0);
	CTS_CHECK(cts_poll(pair[1], POLLIN) == 0, "the child still holds the connection");
	turn_to_child(&turns);
	if (cts_has_cloexec(pair[1])) {
		cts_wait_hup(pair[1]);
		check_ended(pair[1]);
	}
	CTS_CHECK(waitpid(child, &status, WNOHANG) == 0, "the program that was executed runs");
	turns_close(&turns);
	cts_wait_child(child);
	cts_wait_hup(pair[1]);
	check_ended(pair[1]);
}

SCENARIO(descriptor_closed_behind_library)
{
	scif_epd_t pair[2];

	cts_pair(pair);
	CTS_REQUIRE(ends_talk(pair[0], pair[1]));
	CTS_REQUIRE(close(pair[0]) == 0);
	cts_wait_hup(pair[1]);
	check_ended(pair[1]);
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_send(pair[0], "x", 1, 0)), EBADF),
		  "the number is no endpoint");
	CTS_CHECK(cts_failed_with(CTS_OBSERVE(scif_close(pair[0])), EBADF),
		  "the number cannot be closed again");
}

/* Opens endpoints until one has that number; the others are closed again. */
static void reopen(scif_epd_t number)
{
	scif_epd_t others[MOST_OTHERS];
	int count = 0;

	while (count < MOST_OTHERS && (others[count] = scif_open()) != number)
		count++;
	CTS_REQUIRE(count < MOST_OTHERS);
	while (count--)
		CTS_REQUIRE(scif_close(others[count]) == 0);
}

SCENARIO(number_reused_by_endpoint)
{
	unsigned char byte = 0;
	scif_epd_t pair[2];

	cts_pair(pair);
	CTS_REQUIRE(ends_talk(pair[0], pair[1]));
	CTS_REQUIRE(close(pair[0]) == 0);
	reopen(pair[0]);
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_send(pair[0], "x", 1, 0)), ENOTCONN),
		  "it is not connected");
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_recv(pair[0], &byte, 1, 0)), ENOTCONN),
		  "it is not connected");
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_listen(pair[0], 1)), EINVAL), "it is not bound");
	CTS_CHECK(scif_bind(pair[0], 0) >= SCIF_PORT_RSVD, "it can be bound");
	cts_wait_hup(pair[1]);
	check_ended(pair[1]);
	CTS_ASSERT(CTS_OBSERVE(scif_close(pair[0])).ret == 0);
}
