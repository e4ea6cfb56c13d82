/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer's verbs that make, fill and inspect its memory, as the CPU of that side sees it. */
#include "peer.h"

#include "../runtime/held.h"
#include "../runtime/pattern.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define HELD_MAX   16
#define N(i)	   request_number(request, i)
#define CALL(name) static void name(const struct request *request, struct reply *reply)

static struct held_page held[HELD_MAX];
static int held_count;

CALL(memory_alloc)
{
	void *addr = mmap(NULL, (size_t)N(0), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (addr == MAP_FAILED)
		reply_bad(reply, "out of memory");
	else
		reply_value(reply, (intptr_t)addr);
}

CALL(memory_free)
{
	reply_result(reply, munmap(request_address(request, 0), (size_t)N(1)));
}

/* fill ADDR LEN SEED FROM */
CALL(memory_fill)
{
	cts_fill_at(request_address(request, 0), (size_t)N(1), (unsigned)N(2), (size_t)N(3));
	reply_value(reply, 0);
}

CALL(memory_set)
{
	memset(request_address(request, 0), (int)N(2), (size_t)N(1));
	reply_value(reply, 0);
}

CALL(memory_is)
{
	reply_value(reply, cts_is_pattern_at(request_address(request, 0), (size_t)N(1),
					     (unsigned)N(2), (size_t)N(3)));
}

CALL(memory_isbyte)
{
	reply_value(reply, cts_is_byte(request_address(request, 0), (size_t)N(1), (int)N(2)));
}

/* sum ADDR LEN: 0, then the hash */
CALL(memory_sum)
{
	snprintf(reply->text, sizeof reply->text, "%" PRIu64,
		 cts_hash(request_address(request, 0), (size_t)N(1)));
	reply_value(reply, 0);
}

/* One access of the asked width, as a program on that side would do it; memcpy where it is not
 * aligned. */
static bool peek(const void *at, intmax_t size, uint64_t *value)
{
	bool aligned = (uintptr_t)at % (uintmax_t)size == 0;

	*value = 0;
	if (size == 8 && aligned)
		*value = *(const volatile uint64_t *)at;
	else if (size == 4 && aligned)
		*value = *(const volatile uint32_t *)at;
	else if (size == 1)
		*value = *(const volatile uint8_t *)at;
	else if (size == 8 || size == 4)
		memcpy(value, at, (size_t)size);
	else
		return false;
	return true;
}

CALL(memory_peek)
{
	uint64_t value;

	if (N(1) != 1 && N(1) != 4 && N(1) != 8) {
		reply_bad(reply, "size is 1, 4 or 8");
		return;
	}
	peek(request_address(request, 0), N(1), &value);
	reply_value(reply, (intmax_t)value);
}

CALL(memory_poke)
{
	void *at = request_address(request, 0);
	uint64_t value = (uint64_t)N(2);

	switch (N(1)) {
	case 8:
		memcpy(at, &value, 8);
		break;
	case 4:
		memcpy(at, &value, 4);
		break;
	case 1:
		memcpy(at, &value, 1);
		break;
	default:
		reply_bad(reply, "size is 1, 4 or 8");
		return;
	}
	reply_value(reply, 0);
}

CALL(memory_add)
{
	_Atomic uint64_t *at = request_address(request, 0);

	reply_value(reply, (intmax_t)atomic_fetch_add(at, (uint64_t)N(1)));
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* wait ADDR SIZE VALUE MS: 1 once the word has the value, 0 when the time is up */
CALL(memory_wait)
{
	int64_t end = now_ms() + N(3);
	uint64_t value;

	if (N(1) != 1 && N(1) != 4 && N(1) != 8) {
		reply_bad(reply, "size is 1, 4 or 8");
		return;
	}
	while (peek(request_address(request, 0), N(1), &value) && value != (uint64_t)N(2)) {
		if (now_ms() >= end) {
			reply_value(reply, 0);
			return;
		}
		sched_yield();
	}
	reply_value(reply, 1);
}

/* hold: a page that is not there; whoever touches it sleeps until `release ADDR SEED` */
CALL(memory_hold)
{
	(void)request;
	if (held_count == HELD_MAX) {
		reply_bad(reply, "too many held pages");
		return;
	}
	int err = held_open(&held[held_count], (size_t)sysconf(_SC_PAGESIZE));
	if (err) {
		snprintf(reply->text, sizeof reply->text, "userfaultfd: %s", strerror(-err));
		reply->kind = REPLY_BAD;
		return;
	}
	reply_value(reply, (intptr_t)held[held_count++].addr);
}

CALL(memory_release)
{
	for (int i = 0; i < held_count; i++) {
		if (held[i].addr != request_address(request, 0))
			continue;
		reply_value(reply, held_release(&held[i], (unsigned)N(1)));
		return;
	}
	reply_bad(reply, "no such held page");
}

static const struct verb verbs[] = {
	{"alloc", 1, memory_alloc},	{"free", 2, memory_free}, {"fill", 4, memory_fill},
	{"set", 3, memory_set},		{"is", 4, memory_is},	  {"isbyte", 3, memory_isbyte},
	{"sum", 2, memory_sum},		{"peek", 2, memory_peek}, {"poke", 3, memory_poke},
	{"add", 2, memory_add},		{"wait", 4, memory_wait}, {"hold", 0, memory_hold},
	{"release", 2, memory_release},
};

bool run_memory(const struct request *request, struct reply *reply)
{
	return run_verb(verbs, sizeof verbs / sizeof *verbs, request, reply);
}
