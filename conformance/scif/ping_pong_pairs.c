/* SPDX-License-Identifier: BSD-2-Clause */
/* Single bytes back and forth between blocking partners, several pairs at once, each side on a
 * processor of its own or all on one, giving way at random: no wake-up is lost. */
#include "ends.h"

#include <sched.h>
#include <stdatomic.h>

#define MOST_PAIRS 8

struct side {
	scif_epd_t epd;
	long rounds;
	int cpu;
	uint32_t random;
	atomic_long done;
};

/* The n-th processor that this process may use. */
static int usable_cpu(int n)
{
	cpu_set_t usable;

	CTS_REQUIRE(sched_getaffinity(0, sizeof usable, &usable) == 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &usable) && n-- == 0)
			return cpu;
	cts_unresolved("there are too few processors");
}

static void stay_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

static void give_way(struct side *s)
{
	s->random = s->random * 1664525 + 1013904223;
	if (s->random >> 29 == 0)
		sched_yield();
}

static bool send_byte(struct side *s, long round)
{
	unsigned char byte = (unsigned char)round;

	give_way(s);
	return scif_send(s->epd, &byte, 1, SCIF_SEND_BLOCK) == 1;
}

static bool receive_byte(struct side *s, long round)
{
	unsigned char byte = (unsigned char)~round;

	give_way(s);
	return scif_recv(s->epd, &byte, 1, SCIF_RECV_BLOCK) == 1 && byte == (unsigned char)round;
}

static int answer(void *arg)
{
	struct side *s = arg;

	stay_on(s->cpu);
	for (long i = 0; i < s->rounds; i++)
		if (!receive_byte(s, i) || !send_byte(s, i))
			return 1;
	return 0;
}

static struct cts_result ask(void *arg)
{
	struct side *s = arg;

	stay_on(s->cpu);
	for (long i = 0; i < s->rounds; i++)
		if (!send_byte(s, i) || !receive_byte(s, i))
			return (struct cts_result){-1, errno};
		else
			atomic_store(&s->done, i + 1);
	return (struct cts_result){1, 0};
}

/* Until the pair is through; a stall is told from a machine that is slow by what went on lately. */
static struct cts_result end_of_pair(struct cts_thread *asking, const struct side *s, int pair)
{
	long then = -1, now = 0;

	while (!cts_thread_done(asking)) {
		if (!cts_time_left())
			cts_fail("pair %d: %ld of %ld rounds, %ld of them in the last half second",
				 pair, atomic_load(&s->done), s->rounds, now - then);
		then = now;
		for (int i = 0; i < 50 && !cts_thread_done(asking); i++)
			cts_let_pass_us(10000);
		now = atomic_load(&s->done);
	}
	return cts_join(asking);
}

SCENARIO(x30_ping_pong_pairs)
{
	int pairs = (int)cts_param("pairs"), cpus = (int)cts_param("cpus");
	struct side here[MOST_PAIRS], there[MOST_PAIRS];
	struct cts_thread *asking[MOST_PAIRS];
	pid_t answering[MOST_PAIRS];

	CTS_REQUIRE(pairs <= MOST_PAIRS);
	for (int i = 0; i < pairs; i++) {
		scif_epd_t pair[2];

		cts_pair(pair);
		here[i] =
			(struct side){pair[0], cts_param("rounds"), usable_cpu(0), (uint32_t)i, 0};
		there[i] = (struct side){pair[1], cts_param("rounds"), usable_cpu(cpus - 1),
					 (uint32_t)i + 99, 0};
	}
	for (int i = 0; i < pairs; i++)
		answering[i] = cts_fork(answer, &there[i]);
	for (int i = 0; i < pairs; i++)
		asking[i] = cts_thread_start(ask, &here[i]);
	for (int i = 0; i < pairs; i++) {
		struct cts_result r = end_of_pair(asking[i], &here[i], i);

		CTS_ASSERT(cts_observe(r.ret, r.err).ret == 1);
		CTS_ASSERT(cts_wait_child(answering[i]) == 0);
	}
}
