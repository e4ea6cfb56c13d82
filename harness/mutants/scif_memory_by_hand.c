/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutants of libscif that were written by hand: windows, mappings, transfers, fences; by_hand.tsv
 * says what each gets wrong.
 */
#include "scif_by_hand.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wrapped.h"

#define PAGE	   4096L
#define CACHE_LINE 64

static struct wrapped real;

/* What a mutant does on the side shall not show in errno. */
static int keep_errno(int result, int error)
{
	errno = error;
	return result;
}

/* --- windows and mappings --- */

/* A window that nobody sees yet. */
static struct {
	pthread_mutex_t lock;
	scif_epd_t epd;
	void *addr;
	size_t len; /* 0: there is none */
	off_t offset;
	int prot, map;
} late = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void show_late_window(void)
{
	int error = errno;

	pthread_mutex_lock(&late.lock);
	if (late.len)
		real.reg(late.epd, late.addr, late.len, late.offset, late.prot,
			 late.map | SCIF_MAP_FIXED);
	late.len = 0;
	pthread_mutex_unlock(&late.lock);
	errno = error;
}

static off_t register_is_seen_late(scif_epd_t epd, void *addr, size_t len, off_t offset,
				   int prot_flags, int map_flags)
{
	off_t at;

	show_late_window();
	at = real.reg(epd, addr, len, offset, prot_flags, map_flags);
	if (at < 0)
		return at;
	real.unreg(epd, at, len);
	pthread_mutex_lock(&late.lock);
	late.epd = epd;
	late.addr = addr;
	late.len = len;
	late.offset = at;
	late.prot = prot_flags;
	late.map = map_flags;
	pthread_mutex_unlock(&late.lock);
	return at;
}

static int unregister_shows_late_window(scif_epd_t epd, off_t offset, size_t len)
{
	show_late_window();
	return real.unreg(epd, offset, len);
}

static int close_shows_late_window(scif_epd_t epd)
{
	show_late_window();
	return real.close(epd);
}

static off_t register_copies(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot_flags,
			     int map_flags)
{
	off_t at = real.reg(epd, addr, len, offset, prot_flags, map_flags);
	void *copy;

	if (at < 0)
		return at;
	copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return at;
	if (prot_flags & SCIF_PROT_READ)
		memcpy(copy, addr, len);
	real.unreg(epd, at, len);
	return real.reg(epd, copy, len, offset, prot_flags, map_flags);
}

static off_t register_fixed_elsewhere(scif_epd_t epd, void *addr, size_t len, off_t offset,
				      int prot_flags, int map_flags)
{
	off_t at = real.reg(epd, addr, len, offset, prot_flags, map_flags);

	if (at < 0 || map_flags != SCIF_MAP_FIXED)
		return at;
	real.unreg(epd, at, len);
	return real.reg(epd, addr, len, offset, prot_flags, 0);
}

static off_t register_without_prot_reads(scif_epd_t epd, void *addr, size_t len, off_t offset,
					 int prot_flags, int map_flags)
{
	return real.reg(epd, addr, len, offset, prot_flags ? prot_flags : SCIF_PROT_READ,
			map_flags);
}

static struct {
	void *addr;
	size_t len;
	scif_epd_t epd;
} mappings[64];

static void *mmap_noted(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd,
			off_t offset)
{
	void *at = real.mmap(addr, len, prot_flags, map_flags, epd, offset);
	size_t i;

	for (i = 0; at != SCIF_MMAP_FAILED && i < 64; i++) {
		if (mappings[i].addr)
			continue;
		mappings[i].addr = at;
		mappings[i].len = len;
		mappings[i].epd = epd;
		break;
	}
	return at;
}

static int close_unmaps(scif_epd_t epd)
{
	int result = real.close(epd), error = errno;
	size_t i;

	for (i = 0; result == 0 && i < 64; i++) {
		if (!mappings[i].addr || mappings[i].epd != epd)
			continue;
		real.munmap(mappings[i].addr, mappings[i].len);
		mappings[i].addr = NULL;
	}
	return keep_errno(result, error);
}

static void *mmap_ignores_prot(void *addr, size_t len, int prot_flags, int map_flags,
			       scif_epd_t epd, off_t offset)
{
	void *at = real.mmap(addr, len, prot_flags, map_flags, epd, offset);

	if (at != SCIF_MMAP_FAILED)
		mprotect(at, len, PROT_READ | PROT_WRITE);
	return at;
}

static void *mmap_is_private(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd,
			     off_t offset)
{
	void *at = real.mmap(addr, len, prot_flags, map_flags, epd, offset), *copy;

	if (at == SCIF_MMAP_FAILED || prot_flags != (SCIF_PROT_READ | SCIF_PROT_WRITE))
		return at;
	copy = malloc(len);
	memcpy(copy, at, len);
	real.munmap(at, len);
	mmap(at, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(at, copy, len);
	free(copy);
	return at;
}

static int munmap_all_but_last_page(void *addr, size_t len)
{
	return real.munmap(addr, len > (size_t)PAGE && len % PAGE == 0 ? len - PAGE : len);
}

static int munmap_leaves_it(void *addr, size_t len)
{
	if (!len || (uintptr_t)addr % PAGE)
		return real.munmap(addr, len);
	return 0;
}

/* --- transfers --- */

static size_t short_at_page_end(off_t offset, size_t len)
{
	return len > 1 && (offset + (off_t)len) % PAGE == 0 ? len - 1 : len;
}

static int readfrom_short_at_page_end(scif_epd_t epd, off_t loffset, size_t len, off_t roffset,
				      int rma_flags)
{
	return real.readfrom(epd, loffset, short_at_page_end(roffset, len), roffset, rma_flags);
}

static int writeto_short_at_page_end(scif_epd_t epd, off_t loffset, size_t len, off_t roffset,
				     int rma_flags)
{
	return real.writeto(epd, loffset, short_at_page_end(roffset, len), roffset, rma_flags);
}

static int vreadfrom_short_at_page_end(scif_epd_t epd, void *addr, size_t len, off_t roffset,
				       int rma_flags)
{
	return real.vreadfrom(epd, addr, short_at_page_end(roffset, len), roffset, rma_flags);
}

static int vwriteto_short_at_page_end(scif_epd_t epd, void *addr, size_t len, off_t roffset,
				      int rma_flags)
{
	return real.vwriteto(epd, addr, short_at_page_end(roffset, len), roffset, rma_flags);
}

/* Both calls with an address look alike. */
static int ordered_tail_first(__typeof__(&scif_vwriteto) transfer, scif_epd_t epd, void *addr,
			      size_t len, off_t roffset, int rma_flags)
{
	size_t head = len - CACHE_LINE;

	if (rma_flags & SCIF_RMA_ORDERED && len > CACHE_LINE &&
	    transfer(epd, (char *)addr + head, CACHE_LINE, roffset + head, rma_flags) < 0)
		return -1;
	return transfer(epd, addr, len, roffset, rma_flags);
}

static int vwriteto_ordered_tail_first(scif_epd_t epd, void *addr, size_t len, off_t roffset,
				       int rma_flags)
{
	return ordered_tail_first(real.vwriteto, epd, addr, len, roffset, rma_flags);
}

static int vreadfrom_ordered_tail_first(scif_epd_t epd, void *addr, size_t len, off_t roffset,
					int rma_flags)
{
	return ordered_tail_first(real.vreadfrom, epd, addr, len, roffset, rma_flags);
}

static int vreadfrom_one_byte_more(scif_epd_t epd, void *addr, size_t len, off_t roffset,
				   int rma_flags)
{
	int result = real.vreadfrom(epd, addr, len, roffset, rma_flags), error = errno;

	if (result == 0 && len > 0)
		real.vreadfrom(epd, addr, len + 1, roffset, rma_flags);
	return keep_errno(result, error);
}

static int readfrom_leaks_mapping(scif_epd_t epd, off_t loffset, size_t len, off_t roffset,
				  int rma_flags)
{
	mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return real.readfrom(epd, loffset, len, roffset, rma_flags);
}

static int writeto_leaks_mapping(scif_epd_t epd, off_t loffset, size_t len, off_t roffset,
				 int rma_flags)
{
	mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return real.writeto(epd, loffset, len, roffset, rma_flags);
}

static int vreadfrom_leaks_mapping(scif_epd_t epd, void *addr, size_t len, off_t roffset,
				   int rma_flags)
{
	mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return real.vreadfrom(epd, addr, len, roffset, rma_flags);
}

static int vwriteto_leaks_mapping(scif_epd_t epd, void *addr, size_t len, off_t roffset,
				  int rma_flags)
{
	mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return real.vwriteto(epd, addr, len, roffset, rma_flags);
}

/* --- fences --- */

static int fence_mark_other_side(scif_epd_t epd, int flags, int *mark)
{
	if (flags == SCIF_FENCE_INIT_SELF)
		flags = SCIF_FENCE_INIT_PEER;
	else if (flags == SCIF_FENCE_INIT_PEER)
		flags = SCIF_FENCE_INIT_SELF;
	return real.fence_mark(epd, flags, mark);
}

static int fence_mark_waits(scif_epd_t epd, int flags, int *mark)
{
	int result = real.fence_mark(epd, flags, mark);

	if (result == 0)
		real.fence_wait(epd, *mark);
	return result;
}

static int fence_mark_writes_on_failure(scif_epd_t epd, int flags, int *mark)
{
	int result = real.fence_mark(epd, flags, mark), error = errno;

	if (result < 0 && error != EFAULT && mark)
		*mark = -1;
	return keep_errno(result, error);
}

static int fence_signal_32_bits(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff,
				uint64_t rval, int flags)
{
	return real.fence_signal(epd, loff, (uint32_t)lval, roff, (uint32_t)rval, flags);
}

static int fence_signal_wrong_side(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff,
				   uint64_t rval, int flags)
{
	int both = SCIF_SIGNAL_LOCAL | SCIF_SIGNAL_REMOTE;

	if ((flags & both) == both || !(flags & both))
		return real.fence_signal(epd, loff, lval, roff, rval, flags);
	if (flags & SCIF_SIGNAL_LOCAL)
		roff = loff, rval = lval;
	else
		loff = roff, lval = rval;
	return real.fence_signal(epd, loff, lval, roff, rval, flags ^ both);
}

static int fence_signal_values_swapped(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff,
				       uint64_t rval, int flags)
{
	return real.fence_signal(epd, loff, rval, roff, lval, flags);
}

#define MUTATIONS(MUTATION)                                                                        \
	MUTATION("scif-register-copies", reg, register_copies)                                     \
	MUTATION("scif-register-fixed-elsewhere", reg, register_fixed_elsewhere)                   \
	MUTATION("scif-register-no-prot-reads", reg, register_without_prot_reads)                  \
	MUTATION("scif-mmap-ignores-prot", mmap, mmap_ignores_prot)                                \
	MUTATION("scif-mmap-is-a-copy", mmap, mmap_is_private)                                     \
	MUTATION("scif-munmap-leaves-last-page", munmap, munmap_all_but_last_page)                 \
	MUTATION("scif-munmap-leaves-it", munmap, munmap_leaves_it)                                \
	MUTATION("scif-readfrom-short-at-page-end", readfrom, readfrom_short_at_page_end)          \
	MUTATION("scif-writeto-short-at-page-end", writeto, writeto_short_at_page_end)             \
	MUTATION("scif-vreadfrom-short-at-page-end", vreadfrom, vreadfrom_short_at_page_end)       \
	MUTATION("scif-vwriteto-short-at-page-end", vwriteto, vwriteto_short_at_page_end)          \
	MUTATION("scif-vwriteto-ordered-tail-first", vwriteto, vwriteto_ordered_tail_first)        \
	MUTATION("scif-vreadfrom-ordered-tail-first", vreadfrom, vreadfrom_ordered_tail_first)     \
	MUTATION("scif-vreadfrom-one-byte-more", vreadfrom, vreadfrom_one_byte_more)               \
	MUTATION("scif-readfrom-leaks-mapping", readfrom, readfrom_leaks_mapping)                  \
	MUTATION("scif-writeto-leaks-mapping", writeto, writeto_leaks_mapping)                     \
	MUTATION("scif-vreadfrom-leaks-mapping", vreadfrom, vreadfrom_leaks_mapping)               \
	MUTATION("scif-vwriteto-leaks-mapping", vwriteto, vwriteto_leaks_mapping)                  \
	MUTATION("scif-fence-mark-other-side", fence_mark, fence_mark_other_side)                  \
	MUTATION("scif-fence-mark-waits", fence_mark, fence_mark_waits)                            \
	MUTATION("scif-fence-mark-writes-on-failure", fence_mark, fence_mark_writes_on_failure)    \
	MUTATION("scif-fence-signal-32-bits", fence_signal, fence_signal_32_bits)                  \
	MUTATION("scif-fence-signal-wrong-side", fence_signal, fence_signal_wrong_side)            \
	MUTATION("scif-fence-signal-values-swapped", fence_signal, fence_signal_values_swapped)

MUTATIONS(SCIF_INSTALLER)

/* Those that take more than one call. */
static void install_register_is_seen_late(void)
{
	real = wrapped;
	wrapped.reg = register_is_seen_late;
	wrapped.unreg = unregister_shows_late_window;
	wrapped.close = close_shows_late_window;
}

static void install_mapping_dies(void)
{
	real = wrapped;
	wrapped.mmap = mmap_noted;
	wrapped.close = close_unmaps;
}

const struct mutation scif_memory_by_hand[] = {
	MUTATIONS(MUTATION_ENTRY)
	MUTATION_ENTRY("scif-register-seen-late", reg, register_is_seen_late)
	MUTATION_ENTRY("scif-mapping-dies-with-endpoint", mmap, mapping_dies)
};
const size_t scif_memory_by_hand_count = sizeof(scif_memory_by_hand) / sizeof(*scif_memory_by_hand);
