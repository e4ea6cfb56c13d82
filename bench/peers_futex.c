/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two words in shared memory, one each way: whoever waits for one sleeps on it (a futex pair) or
 * looks at it again and again (the limit of what two CPUs can tell each other).
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channel.h"
#include "timing.h"

static uint32_t seen;

static _Atomic uint32_t *word(const struct pair *pair, bool is_to_partner)
{
	return is_to_partner ? &pair->board->to_partner : &pair->board->to_driver;
}

static void open_words(struct pair *pair, unsigned connections)
{
	(void)pair;
	(void)connections;
}

static void wake(const struct pair *pair, unsigned connection, size_t length)
{
	_Atomic uint32_t *sent = word(pair, pair->partner != 0);

	(void)connection;
	(void)length;
	atomic_fetch_add(sent, 1);
	bench_must(pair, syscall(SYS_futex, sent, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0, "futex");
}

static void wait_for_wake(const struct pair *pair, unsigned connection, size_t length)
{
	_Atomic uint32_t *got = word(pair, pair->partner == 0);

	(void)connection;
	(void)length;
	while (atomic_load(got) == seen)
		bench_must(pair,
			   syscall(SYS_futex, got, FUTEX_WAIT, seen, NULL, NULL, 0) == 0 ||
				   errno == EAGAIN || errno == EINTR,
			   "futex");
	seen++;
}

/* Each word has one writer. */
static void set_word(const struct pair *pair, unsigned connection, size_t length)
{
	_Atomic uint32_t *sent = word(pair, pair->partner != 0);

	(void)connection;
	(void)length;
	atomic_store_explicit(sent, atomic_load_explicit(sent, memory_order_relaxed) + 1,
			      memory_order_release);
}

static void watch_word(const struct pair *pair, unsigned connection, size_t length)
{
	_Atomic uint32_t *got = word(pair, pair->partner == 0);

	(void)connection;
	(void)length;
	while (atomic_load_explicit(got, memory_order_acquire) == seen)
		await_other(pair);
	seen++;
}

const struct channel channel_futex = {open_words, wake, wait_for_wake};
const struct channel channel_word = {open_words, set_word, watch_word};
