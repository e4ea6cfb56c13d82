/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_open: many endpoints, from threads and children, and at the limit of descriptors. */
#include "ends.h"

#include <stdlib.h>

#define THREADS		   4
#define PER_THREAD	   20
#define OUT_OF_DESCRIPTORS 40

static bool all_different(const scif_epd_t *epds, int count)
{
	for (int i = 0; i < count; i++)
		for (int j = 0; j < i; j++)
			if (epds[i] == epds[j])
				return false;
	return true;
}

static void close_all(const scif_epd_t *epds, int count)
{
	for (int i = 0; i < count; i++)
		CTS_ASSERT(scif_close(epds[i]) == 0);
}

SCENARIO(open_many_endpoints)
{
	int count = (int)cts_param("count");
	scif_epd_t *epds = calloc((size_t)count, sizeof *epds);

	CTS_REQUIRE(epds);
	/* What an implementation keeps per process is there from the first endpoint on. */
	CTS_ASSERT(scif_close(scif_open()) == 0);
	int before = cts_descriptor_count();
	for (int i = 0; i < count; i++) {
		epds[i] = scif_open();
		CTS_ASSERT(epds[i] >= 0);
	}
	CTS_ASSERT(all_different(epds, count));
	CTS_OBSERVE(epds[count - 1]);
	close_all(epds, count);
	CTS_CHECK_EFFECT(cts_descriptor_count() == before, "all descriptors came back");
	free(epds);
}

static int open_as_child(void *arg)
{
	const uint16_t *port = arg;
	scif_epd_t epd = scif_open();

	if (epd < 0)
		return 1;
	if (scif_bind(epd, *port) != *port)
		return 2;
	return scif_listen(epd, 1) == 0 ? 0 : 3;
}

SCENARIO(open_in_forked_child)
{
	scif_epd_t own = cts_fx_bound();
	uint16_t port = cts_fx_free_port();

	CTS_ASSERT(cts_wait_child(cts_fork(open_as_child, &port)) == 0);
	CTS_CHECK(cts_port_is_free(port), "the endpoint of the child ended with it");
	CTS_CHECK(scif_listen(own, 1) == 0, "the endpoint of the parent is still bound");
	CTS_CHECK(cts_port_is_free(port), "no port changed hands");
}

static struct cts_result open_and_bind(void *arg)
{
	scif_epd_t *epds = arg;
	struct cts_result r = {0, 0};

	for (int i = 0; i < PER_THREAD && r.ret != -1; i++) {
		r = CTS_RESULT(epds[i] = scif_open());
		if (r.ret != -1)
			r = CTS_RESULT(scif_bind(epds[i], 0));
	}
	return r;
}

SCENARIO(open_from_threads)
{
	scif_epd_t epds[THREADS * PER_THREAD];
	struct cts_thread *threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		threads[i] = cts_thread_start(open_and_bind, epds + i * PER_THREAD);
	for (int i = 0; i < THREADS; i++) {
		struct cts_result r = cts_join(threads[i]);

		cts_expect_ok(cts_observe(r.ret, r.err), "open and bind in a thread");
	}
	CTS_ASSERT(all_different(epds, THREADS * PER_THREAD));
	close_all(epds, THREADS * PER_THREAD);
}

static bool says_none_left(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM;
}

SCENARIO(open_without_descriptors)
{
	scif_epd_t epds[OUT_OF_DESCRIPTORS];
	struct cts_result r = {0, 0};
	int count = 0;

	cts_limit(RLIMIT_NOFILE, "40");
	while (count < OUT_OF_DESCRIPTORS && (r = CTS_RESULT(scif_open())).ret >= 0)
		epds[count++] = (scif_epd_t)r.ret;
	CTS_ASSERT(r.ret == SCIF_OPEN_FAILED);
	CTS_ASSERT(says_none_left(r.err));
	CTS_REQUIRE(count > 0);
	for (int i = 0; i < 3; i++)
		CTS_ASSERT(scif_open() == SCIF_OPEN_FAILED);
	CTS_ASSERT(scif_close(epds[--count]) == 0);
	r = CTS_OBSERVE(scif_open());
	CTS_ASSERT(r.ret >= 0);
	CTS_ASSERT(scif_close((scif_epd_t)r.ret) == 0);
	close_all(epds, count);
}

/* None of the classes of the fault preload takes more calls than this in one open. */
#define MOST_FAULTS 64

static bool says_cannot_start(int err)
{
	return err == ENOMEM || err == ENXIO;
}

static bool opens(void)
{
	scif_epd_t epd = scif_open();

	return epd >= 0 && scif_bind(epd, 0) > 0 && scif_close(epd) == 0;
}

/* In a process that has not called the library yet: the status it is to end with, 0. */
static int first_open_without_descriptors(void *arg)
{
	(void)arg;
	cts_limit(RLIMIT_NOFILE, "current");
	for (int i = 0; i < 3; i++) {
		struct cts_result r = CTS_RESULT(scif_open());

		if (r.ret != SCIF_OPEN_FAILED || !says_none_left(r.err))
			return 1;
	}
	cts_limit_restore(RLIMIT_NOFILE);
	return opens() ? 0 : 2;
}

SCENARIO(b08_first_open_without_descriptors)
{
	CTS_ASSERT(cts_wait_child(cts_fork(first_open_without_descriptors, NULL)) == 0);
	cts_limit(RLIMIT_NOFILE, "current");
	struct cts_result r = CTS_OBSERVE(scif_open());
	cts_limit_restore(RLIMIT_NOFILE);
	CTS_ASSERT(r.ret == SCIF_OPEN_FAILED && says_none_left(r.err));
	CTS_ASSERT(opens());
}

/* The nth call inside each of three opens fails. 10: there is no nth call. */
static int first_open_with_faults(void *arg)
{
	bool failed = false;

	for (int i = 0; i < 3; i++) {
		cts_fault_arm("any", *(int *)arg, ENOMEM);
		struct cts_result r = CTS_RESULT(scif_open());
		failed |= cts_fault_disarm(NULL);

		if (r.ret == SCIF_OPEN_FAILED && !says_cannot_start(r.err))
			return 1;
		if (r.ret != SCIF_OPEN_FAILED && scif_close((scif_epd_t)r.ret) != 0)
			return 2;
	}
	if (!opens())
		return 3;
	return failed ? 0 : 10;
}

SCENARIO(b08_first_open_with_faults)
{
	int nth = 1, status;

	while ((status = cts_wait_child(cts_fork(first_open_with_faults, &nth))) == 0) {
		CTS_ASSERT(nth < MOST_FAULTS);
		nth++;
	}
	CTS_ASSERT(status == 10);
	CTS_REQUIRE(nth > 1);
	cts_fault_arm("any", 1, ENOMEM);
	CTS_OBSERVE(scif_open());
	cts_fault_disarm(NULL);
	CTS_ASSERT(opens());
}

static int open_once(void *arg)
{
	scif_epd_t epd = scif_open();

	(void)arg;
	return epd >= 0 && scif_close(epd) == 0 ? 0 : 1;
}

/* A library may look at the version once only, so each answer is that of a process of its own. */
SCENARIO(open_version_mismatch)
{
	CTS_ASSERT(cts_wait_child(cts_fork(open_once, NULL)) == 0);
	cts_other_version(true);
	for (int i = 0; i < 3; i++)
		CTS_OBSERVE_ERROR(scif_open(), ENXIO);
	CTS_CHECK_EFFECT(cts_wait_child(cts_fork(open_once, NULL)) == 1,
			 "another process is refused too");
	cts_other_version(false);
	CTS_CHECK_EFFECT(cts_wait_child(cts_fork(open_once, NULL)) == 0,
			 "the control, with the versions equal again, succeeds");
}
