/* SPDX-License-Identifier: BSD-2-Clause */
/* Registered memory, windows and transfers across fork. */
#include "far_memory.h"

#include <stdlib.h>

enum what {
	CHILD_SEES_PAGE,
	PARENT_STORES,
	CHILD_STORES,
	DONT_FORK,
	CHILD_REGISTERS,
	CHILD_ENDS,
	CHILD_TRANSFERS
};

/* Two pipes let parent and child take turns. */
struct turns {
	int to_child[2], to_parent[2];
};

static void turns_open(struct turns *t)
{
	CTS_REQUIRE(pipe(t->to_child) == 0);
	CTS_REQUIRE(pipe(t->to_parent) == 0);
}

static void pass(int fd)
{
	CTS_REQUIRE(write(fd, "", 1) == 1);
}

static void await(int fd)
{
	char byte;

	CTS_REQUIRE(read(fd, &byte, 1) == 1);
}

struct family {
	struct turns turns;
	scif_epd_t epd;
	unsigned char *mem;
	size_t len;
	struct cts_window win;
	struct cts_peer_window far;
	off_t at;
	int ending;
};

static void peer_sees(const struct family *f, unsigned seed)
{
	cts_expect_ok(cts_peer_readfrom_us(f->win, 0, f->len, SCIF_RMA_SYNC),
		      "the peer reads the window");
	CTS_ASSERT(cts_peer_scratch_is(f->epd, f->len, seed, 0));
}

/* ---- what the child does; its exit status is 0 when all is well ---- */

static int child_uses_page(void *arg)
{
	struct family *f = arg;

	if (!cts_is_pattern(f->mem, f->len, 2))
		return 1;
	memset(f->mem, 0x77, f->len);
	return cts_is_byte(f->mem, f->len, 0x77) ? 0 : 2;
}

static int child_keeps_old(void *arg)
{
	struct family *f = arg;

	await(f->turns.to_child[0]);
	return cts_is_pattern(f->mem, f->len, 2) ? 0 : 1;
}

static int child_stores(void *arg)
{
	struct family *f = arg;

	cts_fill(f->mem, f->len, 41);
	pass(f->turns.to_parent[1]);
	await(f->turns.to_child[0]);
	return cts_is_pattern(f->mem, f->len, 41) ? 0 : 1;
}

static int child_lacks_range(void *arg)
{
	struct family *f = arg;

	return cts_is_mapped(f->mem, f->len) ? 1 : 0;
}

static int child_registers(void *arg)
{
	struct family *f = arg;
	unsigned char *own =
		mmap(NULL, f->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (own == MAP_FAILED)
		return 1;
	cts_fill(own, f->len, 42);
	if (scif_register(f->epd, own, f->len, f->at, READ_WRITE, SCIF_MAP_FIXED) != f->at)
		return 2;
	pass(f->turns.to_parent[1]);
	await(f->turns.to_child[0]);
	return 0;
}

static int child_ends(void *arg)
{
	struct family *f = arg;

	if (f->ending == 1)
		_exit(0);
	if (f->ending == 2)
		raise(SIGKILL);
	return 0;
}

static int child_transfers(void *arg)
{
	struct family *f = arg;
	unsigned char own[256];

	cts_fill(own, sizeof own, 43);
	if (scif_vwriteto(f->epd, own, sizeof own, f->far.offset, SCIF_RMA_SYNC))
		return 1;
	if (scif_writeto(f->epd, f->win.offset, 256, f->far.offset + 256, SCIF_RMA_SYNC))
		return 2;
	if (scif_vreadfrom(f->epd, own, sizeof own, f->far.offset + 512, SCIF_RMA_SYNC))
		return 3;
	if (!cts_is_pattern_at(own, sizeof own, 3, 512))
		return 4;
	return scif_readfrom(f->epd, f->win.offset + 512, 256, f->far.offset + 1024, SCIF_RMA_SYNC)
		       ? 5
		       : 0;
}

/* ---- the parent's side ---- */

static void page_with_other_data(struct family *f)
{
	void *block = NULL;

	f->len = cts_page_size();
	CTS_REQUIRE(posix_memalign(&block, f->len, f->len) == 0);
	f->mem = block;
	cts_fill(block, f->len, 2);
	f->win = cts_fx_window_of(f->epd, block, f->len, READ_WRITE);
	CTS_ASSERT(cts_wait_child(cts_fork(child_uses_page, f)) == 0);
	CTS_ASSERT(cts_is_pattern(f->mem, f->len, 2));
	peer_sees(f, 2);
}

static void parent_stores(struct family *f)
{
	pid_t child = cts_fork(child_keeps_old, f);

	cts_fill(f->mem, f->len, 40);
	if (strcmp(cts_profile(), "knc"))
		peer_sees(f, 40);
	pass(f->turns.to_child[1]);
	CTS_ASSERT(cts_wait_child(child) == 0);
	CTS_ASSERT(cts_is_pattern(f->mem, f->len, 40));
}

static void child_stores_apart(struct family *f)
{
	pid_t child = cts_fork(child_stores, f);

	await(f->turns.to_parent[0]);
	CTS_ASSERT(cts_is_pattern(f->mem, f->len, 2));
	if (strcmp(cts_profile(), "knc"))
		peer_sees(f, 2);
	cts_fill(f->mem, f->len, 40);
	pass(f->turns.to_child[1]);
	CTS_ASSERT(cts_wait_child(child) == 0);
}

static void not_inherited(struct family *f)
{
	CTS_REQUIRE(madvise(f->mem, f->len, MADV_DONTFORK) == 0);
	CTS_ASSERT(cts_wait_child(cts_fork(child_lacks_range, f)) == 0);
	peer_sees(f, 2);
	cts_fill(f->mem, f->len, 40);
	peer_sees(f, 40);
}

static void window_of_child(struct family *f)
{
	f->at = cts_fx_free_offset(f->epd);
	pid_t child = cts_fork(child_registers, f);
	struct cts_window win = {.offset = f->at, .len = f->len, .epd = f->epd};

	await(f->turns.to_parent[0]);
	cts_expect_ok(cts_peer_readfrom_us(win, 0, f->len, SCIF_RMA_SYNC),
		      "the peer reads the child's window");
	CTS_ASSERT(cts_peer_scratch_is(f->epd, f->len, 42, 0));
	pass(f->turns.to_child[1]);
	CTS_ASSERT(cts_wait_child(child) == 0);
	cts_expect_ok(cts_peer_readfrom_us(win, 0, f->len, SCIF_RMA_SYNC),
		      "the peer reads it after the child ended");
	CTS_ASSERT(cts_peer_scratch_is(f->epd, f->len, 42, 0));
	CTS_ASSERT(scif_unregister(f->epd, f->at, f->len) == 0);
}

static void after_end_of_child(struct family *f)
{
	for (f->ending = 0; f->ending < 3; f->ending++) {
		int status = cts_wait_child(cts_fork(child_ends, f));

		CTS_REQUIRE(status == (f->ending == 2 ? 128 + SIGKILL : 0));
		peer_sees(f, 2);
		CTS_ASSERT(cts_far_alive(f->epd));
	}
}

static void transfers_of_child(struct family *f)
{
	f->far = cts_fx_peer_window_on(f->epd, 1, READ_WRITE);
	CTS_ASSERT(cts_wait_child(cts_fork(child_transfers, f)) == 0);
	CTS_ASSERT(cts_peer_is(f->far, 0, 256, 43, 0));
	CTS_ASSERT(cts_peer_is(f->far, 256, 256, 2, 0));
	cts_expect_ok(cts_peer_readfrom_us(f->win, 512, 256, SCIF_RMA_SYNC),
		      "the peer reads what the child had copied");
	CTS_ASSERT(cts_peer_scratch_is(f->epd, 256, 3, 1024));
}

SCENARIO(memory_fork)
{
	struct family f = {.epd = cts_fx_connected()};
	enum what what = (enum what)cts_param("what");

	turns_open(&f.turns);
	if (what == CHILD_SEES_PAGE) {
		page_with_other_data(&f);
		return;
	}
	f.win = cts_fx_window_on(f.epd, 2, READ_WRITE);
	f.mem = f.win.addr;
	f.len = f.win.len;
	switch (what) {
	case PARENT_STORES:
		parent_stores(&f);
		break;
	case CHILD_STORES:
		child_stores_apart(&f);
		break;
	case DONT_FORK:
		not_inherited(&f);
		break;
	case CHILD_REGISTERS:
		window_of_child(&f);
		break;
	case CHILD_ENDS:
		after_end_of_child(&f);
		break;
	default:
		transfers_of_child(&f);
		break;
	}
}
