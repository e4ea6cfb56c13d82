/* SPDX-License-Identifier: BSD-2-Clause */
/* Transfers across windows, over scattered places, over memory that changed, and transfers that are
 * refused. */
#include "rma_ends.h"

#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Local windows of two and two pages, remote ones of one and three. */
SCENARIO(rma_windows_shifted)
{
	size_t page = cts_page_size();
	struct rma_ends e = {.call = (enum rma_call)cts_param("call"), .epd = cts_fx_connected()};
	struct cts_peer_window one = cts_fx_peer_window_at(1, READ_WRITE, 0x100000);
	struct cts_peer_window three = cts_fx_peer_window_at(3, READ_WRITE, 0x100000 + (off_t)page);
	struct cts_window win = cts_fx_window_pair(2, READ_WRITE);

	e.local = win.addr;
	e.loffset = win.offset;
	e.far = one;
	CTS_ASSERT(rma_transfer(&e, 100, 100, 4 * page - 200, SCIF_RMA_SYNC).ret == 0);
	if (rma_reads(e.call)) {
		CTS_ASSERT(cts_is_pattern_at(e.local + 100, page - 100, 3, 100));
		CTS_ASSERT(cts_is_pattern(e.local + page, 3 * page - 100, 3));
		CTS_ASSERT(cts_is_pattern_at(e.local + 4 * page - 100, 100, 2, 4 * page - 100));
	} else {
		CTS_ASSERT(cts_peer_is(one, 100, page - 100, 2, 100));
		CTS_ASSERT(cts_peer_is(three, 0, 3 * page - 100, 2, page));
		CTS_ASSERT(cts_peer_is(three, 3 * page - 100, 100, 3, 3 * page - 100));
	}
}

SCENARIO(rma_reverse_registration)
{
	size_t page = cts_page_size();
	struct rma_ends e = {.call = (enum rma_call)cts_param("call"), .epd = cts_fx_connected()};
	struct cts_peer_window part[3];

	for (int i = 2; i >= 0; i--)
		part[i] = cts_fx_peer_window_at(1, READ_WRITE, 0x100000 + i * (off_t)page);
	e.far = part[0];
	e.local = cts_fx_pages(3);
	e.loffset = 0x100000;
	for (int i = 2; i >= 0 && rma_is_registered(e.call); i--)
		CTS_REQUIRE(scif_register(e.epd, e.local + (size_t)i * page, page,
					  0x100000 + i * (off_t)page, READ_WRITE,
					  SCIF_MAP_FIXED) != SCIF_REGISTER_FAILED);
	CTS_ASSERT(rma_transfer(&e, 0, 0, 3 * page, SCIF_RMA_SYNC).ret == 0);
	for (size_t i = 0; i < 3; i++)
		CTS_ASSERT(rma_reads(e.call) ? cts_is_pattern(e.local + i * page, page, 3)
					     : cts_peer_is(part[i], 0, page, 2, i * page));
}

/* A small generator, so that a failure comes back with the same places. */
static size_t next_place(uint32_t *state, size_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

SCENARIO(rma_random_places)
{
	size_t pages = (size_t)cts_param("pages"), page = cts_page_size();
	struct rma_ends e = rma_ends_open(pages);
	uint32_t state = 1;

	for (int i = 0; i < 200; i++) {
		size_t local = next_place(&state, pages * page - 16), n = i % 2 ? 1 : 16;
		size_t remote = i % 2 ? next_place(&state, pages * page - 16)
				      : (next_place(&state, pages - 1) + 1) * page - 8;
		size_t target = rma_reads(e.call) ? local : remote,
		       source = rma_reads(e.call) ? remote : local;

		rma_source_fill(&e, source, n, 50, (size_t)i);
		CTS_ASSERT(rma_transfer(&e, local, remote, n, SCIF_RMA_SYNC).ret == 0);
		CTS_ASSERT(rma_target_is(&e, target, n, 50, (size_t)i));
	}
}

/* ---- more than 2 GiB: the same 16 MiB again and again, with pages of their own where 2 GiB are
 * full and at the end ---- */

#define BLOCK	    ((size_t)16 << 20)
#define BLOCKS	    128
#define HUGE_OFFSET 0x100000

/* One part of the range: what memory it shows, from the start of the block and the two pages
 * behind. */
struct part {
	size_t at, from, len;
};

/* The parts of 2 GiB and a page, or of `more` blocks and a page beyond that: their number. */
static size_t huge_parts(struct part *parts, size_t more)
{
	size_t page = cts_page_size(), count = 0, at = 0;

	for (size_t i = 0; i < BLOCKS + more + (more ? 2 : 1); i++) {
		struct part p = {.at = at, .len = BLOCK};

		if (i == BLOCKS)
			p = (struct part){at, BLOCK, page};
		else if (i > BLOCKS + more)
			p = (struct part){at, BLOCK + page, page};
		at += p.len;
		parts[count++] = p;
	}
	return count;
}

#define MOST_PARTS (2 * BLOCKS)

/* Plain memory that shows the parts: the same file mapped again and again. */
static unsigned char *huge_memory(const struct part *parts, size_t count, unsigned char **block)
{
	size_t kept = BLOCK + 2 * cts_page_size(), all = parts[count - 1].at + cts_page_size();
	int fd = memfd_create("cts-blocks", MFD_CLOEXEC);

	CTS_REQUIRE(fd != -1 && ftruncate(fd, (off_t)kept) == 0);
	*block = mmap(NULL, kept, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *memory =
		mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CTS_REQUIRE(*block != MAP_FAILED && memory != MAP_FAILED);
	for (size_t i = 0; i < count; i++)
		CTS_REQUIRE(mmap(memory + parts[i].at, parts[i].len, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd,
				 (off_t)parts[i].from) != MAP_FAILED);
	close(fd);
	return memory;
}

/* Windows over the parts on both sides, or plain memory on ours; the memory behind ours. */
static unsigned char *huge_ends(struct rma_ends *e, const struct part *parts, size_t count)
{
	size_t kept = BLOCK + 2 * cts_page_size();
	unsigned char *block;

	e->far = (struct cts_peer_window){.offset = HUGE_OFFSET,
					  .len = kept,
					  .there = far_alloc(e->epd, kept),
					  .epd = e->epd};
	for (size_t i = 0; i < count; i++) {
		off_t at = HUGE_OFFSET + (off_t)parts[i].at;

		CTS_REQUIRE(far_register(e->epd, e->far.there + parts[i].from, parts[i].len, at,
					 READ_WRITE)
				    .ret == at);
	}
	if (!rma_is_registered(e->call)) {
		e->local = huge_memory(parts, count, &block);
		return block;
	}
	block = e->local =
		mmap(NULL, kept, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CTS_REQUIRE(block != MAP_FAILED);
	for (size_t i = 0; i < count; i++) {
		off_t at = HUGE_OFFSET + (off_t)parts[i].at;

		CTS_ASSERT(scif_register(e->epd, block + parts[i].from, parts[i].len, at,
					 READ_WRITE, SCIF_MAP_FIXED) == at);
	}
	return block;
}

/* One transfer of all parts but the very last byte. */
static void huge_transfer(size_t more)
{
	struct part parts[MOST_PARTS];
	size_t count = huge_parts(parts, more);
	struct rma_ends e = {.call = (enum rma_call)cts_param("call"),
			     .epd = cts_fx_connected(),
			     .loffset = HUGE_OFFSET};
	unsigned char *block = huge_ends(&e, parts, count);
	size_t len = parts[count - 1].at + parts[count - 1].len - 1;
	size_t moved = parts[count - 1].from + parts[count - 1].len - 1;
	unsigned char untouched = cts_pattern(rma_reads(e.call) ? 60 : 61, moved);

	cts_fill(block, e.far.len, 60);
	cts_peer_fill_at(e.far, 0, e.far.len, 61, 0);
	CTS_ASSERT(rma_transfer(&e, 0, 0, len, SCIF_RMA_SYNC).ret == 0);
	CTS_ASSERT(rma_reads(e.call) ? cts_is_pattern(block, moved, 61)
				     : cts_peer_is(e.far, 0, moved, 60, 0));
	CTS_ASSERT(rma_reads(e.call) ? block[moved] == untouched
				     : cts_peer_is_byte(e.far, moved, 1, untouched));
}

SCENARIO(rma_huge)
{
	huge_transfer(0);
}

SCENARIO(x10_three_gib)
{
	huge_transfer(BLOCKS / 2);
}

SCENARIO(rma_after_owner_unmap)
{
	struct rma_ends e = rma_ends_open(2);
	size_t len = e.far.len;
	unsigned char *check = cts_fx_buffer(len);

	CTS_REQUIRE(
		cts_peer_call(cts_peer_of(e.epd), "free %" PRIu64 " %zu", e.far.there, len).ret ==
		0);
	if (rma_is_registered(e.call))
		CTS_REQUIRE(munmap(e.local, len) == 0);
	CTS_ASSERT(rma_transfer(&e, 0, 0, len, SCIF_RMA_SYNC).ret == 0);
	if (rma_reads(e.call) && !rma_is_registered(e.call)) {
		CTS_ASSERT(cts_is_pattern(e.local, len, 3));
		return;
	}
	CTS_ASSERT(scif_vreadfrom(e.epd, check, len, e.far.offset, SCIF_RMA_SYNC) == 0);
	CTS_ASSERT(cts_is_pattern(check, len, rma_reads(e.call) ? 3 : 2));
}

static void transfers_work(void)
{
	struct rma_ends e = rma_ends_open(2);
	struct cts_window win = cts_fx_window_on(e.epd, 1, READ_WRITE);

	CTS_ASSERT(rma_transfer(&e, 5, 9, 5000, SCIF_RMA_SYNC).ret == 0);
	CTS_ASSERT(rma_target_is(&e, rma_reads(e.call) ? 5 : 9, 5000, rma_reads(e.call) ? 3 : 2,
				 rma_reads(e.call) ? 9 : 5));
	cts_expect_ok(cts_peer_readfrom_us(win, 0, 256, SCIF_RMA_SYNC),
		      "the peer reads from a process that it may not trace");
	CTS_ASSERT(cts_peer_scratch_is(e.epd, 256, 2, 0));
	cts_expect_ok(cts_peer_writeto_us(win, 0, 256, 9, SCIF_RMA_SYNC), "the peer writes to it");
	CTS_ASSERT(cts_is_pattern(win.addr, 256, 9));
}

SCENARIO(rma_undumpable)
{
	CTS_REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
	transfers_work();
}

/* As where Yama or a container allows nobody to look into another process; the peer, which is
 * started later, inherits it. */
static void forbid_looking_into_others(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_getfd, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		cts_untested("this system has no filter of system calls: %s", strerror(errno));
	CTS_REQUIRE(syscall(SYS_process_vm_readv, getppid(), NULL, 0UL, NULL, 0UL, 0UL) == -1 &&
		    errno == EPERM);
}

SCENARIO(x08_no_looking_into_others)
{
	forbid_looking_into_others();
	transfers_work();
}

/* Half of the target lies behind its window. */
SCENARIO(rma_rejected_then_fence)
{
	struct rma_ends e = rma_ends_open(1);
	size_t len = e.far.len;
	int mark;

	CTS_OBSERVE_ERROR(rma_transfer(&e, 0, len / 2, len, 0).ret, ENXIO);
	CTS_ASSERT(cts_is_pattern(e.local, len, 2));
	CTS_ASSERT(cts_peer_is(e.far, 0, len, 3, 0));
	CTS_ASSERT(scif_fence_mark(e.epd, SCIF_FENCE_INIT_SELF, &mark) == 0);
	CTS_ASSERT(scif_fence_wait(e.epd, mark) == 0);
	CTS_ASSERT(rma_transfer(&e, 0, 0, len, SCIF_RMA_SYNC).ret == 0);
}

static void map_anew(unsigned char *addr, size_t len, unsigned seed)
{
	CTS_REQUIRE(munmap(addr, len) == 0);
	CTS_REQUIRE(mmap(addr, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			 -1, 0) == addr);
	cts_fill(addr, len, seed);
}

SCENARIO(rma_usecache_remap)
{
	struct rma_ends e = rma_ends_open(4);
	int flags = SCIF_RMA_USECACHE | SCIF_RMA_SYNC;
	size_t len = e.far.len;

	for (unsigned seed = 70; seed < 75; seed++) {
		CTS_ASSERT(rma_transfer(&e, 0, 0, len, flags).ret == 0);
		map_anew(e.local, len, seed);
		CTS_ASSERT(rma_transfer(&e, 0, 0, len, flags).ret == 0);
		CTS_ASSERT(rma_reads(e.call) ? cts_is_pattern(e.local, len, 3)
					     : cts_peer_is(e.far, 0, len, seed, 0));
	}
	CTS_REQUIRE(munmap(e.local, len) == 0);
}
