/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows on both sides of a connection, mappings of them, and the peer's view of its memory. */
#include "scif_endpoints.h"

#include "pattern.h"

#include <inttypes.h>
#include <stdlib.h>

#define OUR_SEED  2
#define PEER_SEED 3
#define FIXED_BASE                                                                                 \
	0x20000000 /* pairs and gaps are placed here, apart from what implementations choose */
#define FIXED_STEP 0x10000000

static off_t next_fixed(void)
{
	static off_t next = FIXED_BASE;
	off_t offset = next;

	next += FIXED_STEP;
	return offset;
}

static off_t must_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot,
			   int flags)
{
	off_t po = scif_register(epd, addr, len, offset, prot, flags);

	if (po == SCIF_REGISTER_FAILED)
		cts_unresolved("scif_register: %s", strerror(errno));
	return po;
}

static struct cts_window window(scif_epd_t epd, size_t pages, int prot, off_t offset, int flags)
{
	struct cts_window w = {
		.addr = cts_fx_pages(pages),
		.len = pages * cts_page_size(),
		.pages = pages,
		.prot = prot,
		.parts = 1,
		.part_len = pages * cts_page_size(),
		.epd = epd,
	};

	w.offset = must_register(epd, w.addr, w.len, offset, prot, flags);
	return w;
}

struct cts_window cts_fx_window(size_t pages, int prot)
{
	return window(endpoint_latest_connected(), pages, prot, 0, 0);
}

struct cts_window cts_fx_window_at(size_t pages, int prot, off_t offset)
{
	return window(endpoint_latest_connected(), pages, prot, offset, SCIF_MAP_FIXED);
}

struct cts_window cts_fx_window_on(scif_epd_t epd, size_t pages, int prot)
{
	return window(epd, pages, prot, 0, 0);
}

struct cts_window cts_fx_window_of(scif_epd_t epd, void *addr, size_t len, int prot)
{
	return (struct cts_window){
		.addr = addr,
		.len = len,
		.offset = must_register(epd, addr, len, 0, prot, 0),
		.pages = len / cts_page_size(),
		.prot = prot,
		.parts = 1,
		.part_len = len,
		.epd = epd,
	};
}

/* Two windows of `pages` each, `hole` pages apart, over one range of memory that spans the hole
 * too. */
static struct cts_window two_windows(size_t pages, int prot_first, int prot_second, size_t hole)
{
	size_t part = pages * cts_page_size(), second = part + hole * cts_page_size();
	struct cts_window w = {
		.addr = cts_fx_pages(2 * pages + hole),
		.len = second + part,
		.offset = next_fixed(),
		.pages = 2 * pages + hole,
		.prot = prot_first,
		.parts = 2,
		.part_len = part,
		.epd = endpoint_latest_connected(),
	};

	must_register(w.epd, w.addr, part, w.offset, prot_first, SCIF_MAP_FIXED);
	must_register(w.epd, (unsigned char *)w.addr + second, part, w.offset + (off_t)second,
		      prot_second, SCIF_MAP_FIXED);
	return w;
}

struct cts_window cts_fx_window_pair(size_t pages, int prot)
{
	return two_windows(pages, prot, prot, 0);
}

struct cts_window cts_fx_window_pair_prot(size_t pages, int prot_first, int prot_second)
{
	return two_windows(pages, prot_first, prot_second, 0);
}

struct cts_window cts_fx_window_gap(size_t pages, int prot)
{
	return two_windows(pages, prot, prot, pages);
}

struct cts_window cts_fx_window_mapped(size_t pages, int prot)
{
	struct cts_window w = cts_fx_window(pages, prot);

	cts_fx_peer_mapping(w, prot);
	return w;
}

/* The peer's windows. */

static struct cts_result must_peer(struct cts_result r, const char *what)
{
	if (r.ret == -1)
		cts_unresolved("%s of the peer: %s", what, strerror(r.err));
	return r;
}

static struct cts_peer_window peer_window(scif_epd_t epd, size_t pages, int prot, off_t offset,
					  int flags)
{
	size_t len = pages * cts_page_size();
	struct cts_peer_window w = {
		.len = len, .pages = pages, .prot = prot, .parts = 1, .part_len = len, .epd = epd};

	w.offset = must_peer(cts_peer_call(cts_peer_of(epd), "window %d %zu %jd %d %d %d",
					   cts_far(epd), len, (intmax_t)offset, prot, flags,
					   PEER_SEED),
			     "scif_register")
			   .ret;
	w.there = strtoumax(cts_peer_text(cts_peer_of(epd)), NULL, 10);
	return w;
}

struct cts_peer_window cts_fx_peer_window(size_t pages, int prot)
{
	return peer_window(endpoint_latest_connected(), pages, prot, 0, 0);
}

struct cts_peer_window cts_fx_peer_window_at(size_t pages, int prot, off_t offset)
{
	return peer_window(endpoint_latest_connected(), pages, prot, offset, SCIF_MAP_FIXED);
}

struct cts_peer_window cts_fx_peer_window_on(scif_epd_t epd, size_t pages, int prot)
{
	return peer_window(epd, pages, prot, 0, 0);
}

static void peer_register(const struct cts_peer_window *w, size_t at, size_t len, int prot)
{
	must_peer(cts_peer_call(cts_peer_of(w->epd), "register %d %" PRIu64 " %zu %jd %d %d",
				cts_far(w->epd), w->there + at, len,
				(intmax_t)w->offset + (intmax_t)at, prot, SCIF_MAP_FIXED),
		  "scif_register");
}

static struct cts_peer_window two_peer_windows(size_t pages, int prot_first, int prot_second,
					       size_t hole)
{
	size_t part = pages * cts_page_size(), second = part + hole * cts_page_size();
	struct cts_peer_window w = {
		.offset = next_fixed(),
		.len = second + part,
		.pages = 2 * pages + hole,
		.prot = prot_first,
		.parts = 2,
		.part_len = part,
		.epd = endpoint_latest_connected(),
	};

	w.there =
		(uint64_t)must_peer(cts_peer_call(cts_peer_of(w.epd), "alloc %zu", w.len), "memory")
			.ret;
	cts_peer_fill(w, PEER_SEED);
	peer_register(&w, 0, part, prot_first);
	peer_register(&w, second, part, prot_second);
	return w;
}

struct cts_peer_window cts_fx_peer_window_pair(size_t pages, int prot)
{
	return two_peer_windows(pages, prot, prot, 0);
}

struct cts_peer_window cts_fx_peer_window_pair_prot(size_t pages, int prot_first, int prot_second)
{
	return two_peer_windows(pages, prot_first, prot_second, 0);
}

struct cts_peer_window cts_fx_peer_window_gap(size_t pages, int prot)
{
	return two_peer_windows(pages, prot, prot, pages);
}

struct cts_peer_window cts_fx_peer_window_closed(size_t pages, int prot)
{
	struct cts_peer_window w = cts_fx_peer_window(pages, prot);

	must_peer(cts_peer_unregister(w), "scif_unregister");
	return w;
}

struct cts_result cts_peer_unregister(struct cts_peer_window w)
{
	return cts_peer_call(cts_peer_of(w.epd), "unregister %d %jd %zu", cts_far(w.epd),
			     (intmax_t)w.offset, w.len);
}

/* Memory of the peer. The peer outlives its endpoint, so only the peer is asked for. */

void cts_peer_fill_at(struct cts_peer_window w, size_t at, size_t n, unsigned seed, size_t from)
{
	cts_peer_call(cts_peer_of(w.epd), "fill %" PRIu64 " %zu %u %zu", w.there + at, n, seed,
		      from);
}

void cts_peer_fill(struct cts_peer_window w, unsigned seed)
{
	cts_peer_fill_at(w, 0, w.len, seed, 0);
}

void cts_peer_set(struct cts_peer_window w, size_t at, size_t n, int byte)
{
	cts_peer_call(cts_peer_of(w.epd), "set %" PRIu64 " %zu %d", w.there + at, n, byte);
}

bool cts_peer_is(struct cts_peer_window w, size_t at, size_t n, unsigned seed, size_t from)
{
	return cts_peer_call(cts_peer_of(w.epd), "is %" PRIu64 " %zu %u %zu", w.there + at, n, seed,
			     from)
		.ret;
}

bool cts_peer_is_byte(struct cts_peer_window w, size_t at, size_t n, int byte)
{
	return cts_peer_call(cts_peer_of(w.epd), "isbyte %" PRIu64 " %zu %d", w.there + at, n, byte)
		.ret;
}

uint64_t cts_peer_peek64(struct cts_peer_window w, size_t at)
{
	return (uint64_t)cts_peer_call(cts_peer_of(w.epd), "peek %" PRIu64 " 8", w.there + at).ret;
}

void cts_peer_poke64(struct cts_peer_window w, size_t at, uint64_t value)
{
	cts_peer_call(cts_peer_of(w.epd), "poke %" PRIu64 " 8 %" PRIu64, w.there + at, value);
}

bool cts_peer_wait64(struct cts_peer_window w, size_t at, uint64_t value)
{
	int ms = (int)(case_timeout(current) * 500);

	return cts_peer_call(cts_peer_of(w.epd), "wait %" PRIu64 " 8 %" PRIu64 " %d", w.there + at,
			     value, ms)
		.ret;
}

/* A scratch buffer in the peer that one transfer after the other may use. */
static uint64_t scratch(scif_epd_t epd, size_t n)
{
	static struct cts_peer *peer;
	static uint64_t there;
	static size_t len;

	if (peer == cts_peer_of(epd) && len >= n)
		return there;
	peer = cts_peer_of(epd);
	len = (n / cts_page_size() + 1) * cts_page_size();
	there = (uint64_t)must_peer(cts_peer_call(peer, "alloc %zu", len), "memory").ret;
	return there;
}

struct cts_result cts_peer_writeto_us(struct cts_window w, size_t at, size_t n, unsigned seed,
				      int flags)
{
	uint64_t from = scratch(w.epd, n);

	cts_peer_call(cts_peer_of(w.epd), "fill %" PRIu64 " %zu %u 0", from, n, seed);
	return cts_peer_call(cts_peer_of(w.epd), "vwriteto %d %" PRIu64 " %zu %jd %d",
			     cts_far(w.epd), from, n, (intmax_t)w.offset + (intmax_t)at, flags);
}

struct cts_result cts_peer_readfrom_us(struct cts_window w, size_t at, size_t n, int flags)
{
	return cts_peer_call(cts_peer_of(w.epd), "vreadfrom %d %" PRIu64 " %zu %jd %d",
			     cts_far(w.epd), scratch(w.epd, n), n,
			     (intmax_t)w.offset + (intmax_t)at, flags);
}

bool cts_peer_scratch_is(scif_epd_t epd, size_t n, unsigned seed, size_t from)
{
	return cts_peer_call(cts_peer_of(epd), "is %" PRIu64 " %zu %u %zu", scratch(epd, n), n,
			     seed, from)
		.ret;
}

bool cts_window_is_open(struct cts_window w)
{
	if (w.prot & SCIF_PROT_READ)
		return cts_peer_readfrom_us(w, 0, 1, SCIF_RMA_SYNC).ret == 0;
	uint64_t from = scratch(w.epd, 1);
	cts_peer_call(cts_peer_of(w.epd), "poke %" PRIu64 " 1 %u", from, *(unsigned char *)w.addr);
	return cts_peer_call(cts_peer_of(w.epd), "vwriteto %d %" PRIu64 " 1 %jd %d", cts_far(w.epd),
			     from, (intmax_t)w.offset, SCIF_RMA_SYNC)
		       .ret == 0;
}

bool cts_offset_is_free(scif_epd_t epd, off_t offset, size_t len)
{
	void *addr = cts_fx_pages(len / cts_page_size());
	bool free_range =
		scif_register(epd, addr, len, offset, SCIF_PROT_READ, SCIF_MAP_FIXED) == offset;

	if (free_range && scif_unregister(epd, offset, len) == -1)
		cts_unresolved("scif_unregister: %s", strerror(errno));
	munmap(addr, len);
	return free_range;
}

off_t cts_fx_free_offset(scif_epd_t epd)
{
	off_t offset = next_fixed();

	if (!cts_offset_is_free(epd, offset, 16 * cts_page_size()))
		cts_unresolved("offset %#jx is not free", (uintmax_t)offset);
	return offset;
}

/* Mappings. */

struct cts_mapping cts_fx_mapping(struct cts_peer_window w, int prot)
{
	void *addr = scif_mmap(NULL, w.len, prot, 0, w.epd, w.offset);

	if (addr == SCIF_MMAP_FAILED)
		cts_unresolved("scif_mmap: %s", strerror(errno));
	return (struct cts_mapping){.addr = addr, .len = w.len, .offset = w.offset};
}

struct cts_peer_mapping cts_fx_peer_mapping(struct cts_window w, int prot)
{
	struct cts_result r =
		must_peer(cts_peer_call(cts_peer_of(w.epd), "mmap %d 0 %zu %d 0 %jd",
					cts_far(w.epd), w.len, prot, (intmax_t)w.offset),
			  "scif_mmap");

	return (struct cts_peer_mapping){
		.there = (uint64_t)r.ret, .len = w.len, .offset = w.offset, .epd = w.epd};
}

uint64_t cts_peer_mapping_peek64(struct cts_peer_mapping m, size_t at)
{
	return (uint64_t)cts_peer_call(cts_peer_of(m.epd), "peek %" PRIu64 " 8", m.there + at).ret;
}

void cts_peer_mapping_poke64(struct cts_peer_mapping m, size_t at, uint64_t value)
{
	cts_peer_call(cts_peer_of(m.epd), "poke %" PRIu64 " 8 %" PRIu64, m.there + at, value);
}

struct cts_result cts_peer_mapping_unmap(struct cts_peer_mapping m)
{
	return cts_peer_call(cts_peer_of(m.epd), "munmap %" PRIu64 " %zu", m.there, m.len);
}
