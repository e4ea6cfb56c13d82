/* SPDX-License-Identifier: BSD-2-Clause */
/* Scattered and gathered access: lengths and places, threads, the signal, missing barriers, and
 * handles for local memory. */
#include "parties.h"

#include <stdlib.h>

#define GUARD	  64
#define UNTOUCHED 0xee
#define WRONG	  200

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int vector_transfer(bool get, rsm_scat_gath_t *sg)
{
	return get ? rsm_memseg_import_getv(sg) : rsm_memseg_import_putv(sg);
}

struct request {
	bool get;
	rsm_memseg_import_handle_t im;
	rsm_iovec_t *vec;
	rsm_scat_gath_t sg;
	unsigned char *data;
	size_t at; /* of the segment */
	long rounds;
};

static struct request request_open(size_t pages, size_t bytes, unsigned entries)
{
	struct request r = {.get = cts_param("get"),
			    .im = cts_fx_imported(pages, RSM_PERM_RDWR),
			    .vec = cts_fx_vector(entries)};

	r.data = r.get ? cts_fx_buffer(bytes) : cts_fx_pattern(bytes, 4);
	r.sg = cts_fx_scat_gath(r.im, r.vec, entries, 0);
	return r;
}

/* Sixteen pieces of this length with gaps of `gap` bytes between them, on both sides. */
static void sixteen_pieces(struct request *r, size_t len, size_t gap, size_t misplaced)
{
	size_t step = len + gap, whole = 16 * step;

	if (r->get)
		memset(r->data, UNTOUCHED, whole + 2 * GUARD);
	else
		cts_segment_fill(r->im, 0, whole + 2 * GUARD, 3, 0);
	for (size_t i = 0; i < 16; i++)
		r->vec[i] =
			cts_va_entry(r->data, GUARD + misplaced + i * step, GUARD + i * step, len);
	int value = vector_transfer(r->get, &r->sg);
	if (value != RSM_SUCCESS || r->sg.io_residual_count)
		cts_fail("16 pieces of %zu bytes, %zu apart: %d, %lu left", len, gap, value,
			 r->sg.io_residual_count);
	for (size_t i = 0; i < 16; i++) {
		unsigned char *piece = r->data + GUARD + misplaced + i * step;
		size_t at = GUARD + i * step;

		if (r->get ? !cts_is_pattern_at(piece, len, 3, at)
			   : !cts_segment_is(r->im, at, len, 4, GUARD + misplaced + i * step))
			cts_fail("piece %zu of %zu bytes is wrong", i, len);
		if (r->get ? !cts_is_byte(piece + len, gap, UNTOUCHED)
			   : !cts_segment_is(r->im, at + len, gap, 3, at + len))
			cts_fail_effect("behind piece %zu of %zu bytes", i, len);
	}
}

SCENARIO(vector_matrix)
{
	static const size_t lengths[] = {1, 2, 3, 7, 8, 9, 15, 31, 63, 64, 65, 127, 255, 256, 1000};
	struct request r = request_open(8, 20000, 16);

	for (size_t i = 0; i < COUNT(lengths); i++) {
		sixteen_pieces(&r, lengths[i], 1, 0);
		sixteen_pieces(&r, lengths[i], 13, 3);
		sixteen_pieces(&r, lengths[i], 64, 8);
	}
	CTS_ASSERT(cts_guards_ok(r.data));
}

SCENARIO(vector_large)
{
	size_t len = (size_t)cts_param("mib") << 20, part = len / 16;
	struct request r = request_open(len / cts_page_size(), len, 16);

	for (size_t i = 0; i < 16; i++)
		r.vec[i] = cts_va_entry(r.data, i * part, i * part, part);
	CTS_ASSERT(vector_transfer(r.get, &r.sg) == RSM_SUCCESS);
	CTS_ASSERT(cts_guards_ok(r.data));
	CTS_ASSERT(r.get ? cts_is_pattern(r.data, len, 3) : cts_segment_is(r.im, 0, len, 4, 0));
}

static int request_again_and_again(void *arg)
{
	struct request *r = arg;

	for (long i = 0; i < r->rounds; i++) {
		int value = vector_transfer(r->get, &r->sg);

		if (value != RSM_SUCCESS)
			return value;
		if (r->sg.io_residual_count ||
		    (r->get && !cts_is_pattern_at(r->data, 4000, 3, r->at)))
			return WRONG;
	}
	return RSM_SUCCESS;
}

SCENARIO(vector_threads)
{
	struct request first = request_open(4, 4000, 4), all[4];
	struct cts_thread *threads[4];

	for (size_t t = 0; t < 4; t++) {
		all[t] = first;
		all[t].rounds = cts_param("rounds");
		all[t].at = t * 4000;
		all[t].vec = cts_fx_vector(4);
		all[t].data =
			first.get ? cts_fx_buffer(4000) : cts_fx_pattern(4000, 4 + (unsigned)t);
		all[t].sg = cts_fx_scat_gath(first.im, all[t].vec, 4, 0);
		for (size_t i = 0; i < 4; i++)
			all[t].vec[i] =
				cts_va_entry(all[t].data, i * 1000, all[t].at + i * 1000, 1000);
	}
	for (size_t t = 0; t < 4; t++)
		threads[t] = begin(request_again_and_again, &all[t]);
	for (size_t t = 0; t < 4; t++)
		CTS_ASSERT(end_of(threads[t]) == RSM_SUCCESS);
	for (size_t t = 0; t < 4 && !first.get; t++)
		CTS_ASSERT(cts_segment_is(first.im, t * 4000, 4000, 4 + (unsigned)t, 0));
}

static int request_once(void *arg)
{
	struct request *r = arg;

	return vector_transfer(r->get, &r->sg);
}

SCENARIO(vector_while_disconnect)
{
	struct request r = request_open(2, 4000, 2);
	struct loop l;

	r.vec[0] = cts_va_entry(r.data, 0, 0, 2000);
	r.vec[1] = cts_va_entry(r.data, 2000, 3000, 2000);
	loop_begin(&l, request_once, &r);
	loop_wait(&l, 50);
	CTS_ASSERT(rsm_memseg_import_disconnect(r.im) == RSM_SUCCESS);
	EXPECT(loop_ended(&l), RSMERR_BAD_SEG_HNDL);
	CTS_ASSERT(cts_guards_ok(r.data));
}

/* Whoever has taken the signal finds the data written, or writes without reaching data read. */
SCENARIO(vector_signal_after_data)
{
	struct request r = request_open(1, 128, 2);
	long rounds = cts_param("rounds");

	r.sg.flags = RSM_IMPLICIT_SIGPOST;
	r.vec[0] = cts_va_entry(r.data, 0, 0, 64);
	r.vec[1] = cts_va_entry(r.data, 64, 1000, 64);
	for (long i = 0; i < rounds; i++) {
		unsigned seed = (unsigned)(100 + i);

		if (r.get)
			cts_segment_fill(r.im, 0, 1100, seed, 0);
		else
			cts_fill(r.data, 128, seed);
		CTS_ASSERT(vector_transfer(r.get, &r.sg) == RSM_SUCCESS);
		CTS_ASSERT(cts_segment_wait(r.im, 5000) == RSM_SUCCESS);
		if (r.get) {
			cts_segment_fill(r.im, 0, 1100, 90, 0);
			CTS_ASSERT(cts_is_pattern(r.data, 64, seed));
			CTS_ASSERT(cts_is_pattern_at(r.data + 64, 64, seed, 1000));
		} else {
			CTS_ASSERT(cts_segment_is(r.im, 0, 64, seed, 0));
			CTS_ASSERT(cts_segment_is(r.im, 1000, 64, seed, 64));
		}
	}
}

SCENARIO(vector_without_barrier)
{
	struct request r = {.get = cts_param("get"),
			    .im = cts_fx_imported_bare(1, RSM_PERM_RDWR),
			    .vec = cts_fx_vector(1)};

	r.data = r.get ? cts_fx_buffer(64) : cts_fx_pattern(64, 4);
	r.sg = cts_fx_scat_gath(r.im, r.vec, 1, 0);
	r.vec[0] = cts_va_entry(r.data, 0, 0, 64);
	int value = vector_transfer(r.get, &r.sg);
	cts_observe(value, value);
	if (value == RSM_SUCCESS) {
		CTS_ASSERT(r.get ? cts_is_pattern(r.data, 64, 3)
				 : cts_segment_is(r.im, 0, 64, 4, 0));
		return;
	}
	CTS_ASSERT(value == RSMERR_BARRIER_UNINITIALIZED);
	CTS_ASSERT(r.get ? cts_is_byte(r.data, 64, 0) : cts_segment_is(r.im, 0, 64, 3, 0));
	rsmapi_barrier_t *barrier = cts_fx_barrier(r.im);
	CTS_ASSERT(vector_transfer(r.get, &r.sg) == RSM_SUCCESS);
	CTS_ASSERT(rsm_memseg_import_destroy_barrier(barrier) == RSM_SUCCESS);
}

static int child_lacks_descriptors(void *arg)
{
	struct request *r = arg;
	struct rlimit old, none;

	if (getrlimit(RLIMIT_NOFILE, &old))
		return WRONG;
	none = (struct rlimit){0, old.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &none))
		return WRONG;
	int value = vector_transfer(r->get, &r->sg);
	if (value != RSM_SUCCESS && r->sg.io_residual_count != 1)
		return WRONG;
	if (setrlimit(RLIMIT_NOFILE, &old) || vector_transfer(r->get, &r->sg) != RSM_SUCCESS)
		return WRONG;
	return value;
}

SCENARIO(vector_in_child_without_descriptors)
{
	struct request r = request_open(1, 64, 1);

	r.vec[0] = cts_va_entry(r.data, 0, 0, 64);
	EXPECT(cts_wait_child(cts_fork(child_lacks_descriptors, &r)),
	       RSMERR_INSUFFICIENT_RESOURCES);
}

/* ---- handles for local memory ---- */

SCENARIO(localmem_many)
{
	enum { MOST = 1000 };
	static rsm_localmemory_handle_t handles[MOST];
	size_t count = (size_t)cts_param("count"), page = cts_page_size();
	rsmapi_controller_handle_t ctl = cts_fx_controller("scif0");
	rsm_memseg_import_handle_t im = cts_fx_imported(1, RSM_PERM_RDWR);
	unsigned char *mem = cts_fx_pages(count);
	rsm_iovec_t *vec = cts_fx_vector(1);
	rsm_scat_gath_t sg = cts_fx_scat_gath(im, vec, 1, 0);

	CTS_REQUIRE(count <= MOST);
	for (size_t i = 0; i < count; i++) {
		cts_fill(mem + i * page, 8, (unsigned)i);
		CTS_ASSERT(rsm_create_localmemory_handle(ctl, &handles[i], (caddr_t)mem + i * page,
							 page) == RSM_SUCCESS);
	}
	for (size_t i = 0; i < count; i += 7) {
		vec[0] = cts_handle_entry(handles[i], 0, 0, 8);
		CTS_ASSERT(rsm_memseg_import_putv(&sg) == RSM_SUCCESS);
		CTS_ASSERT(cts_segment_is(im, 0, 8, (unsigned)i, 0));
	}
	for (size_t i = 0; i < count; i++)
		CTS_ASSERT(rsm_free_localmemory_handle(ctl, handles[i]) == RSM_SUCCESS);
}

static int child_leaves_handles(void *arg)
{
	rsmapi_controller_handle_t ctl;
	rsm_localmemory_handle_t handle;
	long count = *(long *)arg;
	unsigned char *mem = cts_fx_pages(1);

	if (rsm_get_controller("scif0", &ctl) != RSM_SUCCESS)
		return 1;
	for (long i = 0; i < count; i++)
		if (rsm_create_localmemory_handle(ctl, &handle, (caddr_t)mem, cts_page_size()) !=
		    RSM_SUCCESS)
			return 2;
	return 0;
}

SCENARIO(localmem_at_exit)
{
	long count = cts_param("count");
	struct cts_holdings before = cts_holdings();

	for (int i = 0; i < 5; i++)
		CTS_ASSERT(cts_wait_child(cts_fork(child_leaves_handles, &count)) == 0);
	nothing_left(&before);
}

static void make_and_free(rsmapi_controller_handle_t ctl, unsigned char *mem, long rounds)
{
	rsm_localmemory_handle_t handle;

	for (long i = 0; i < rounds; i++) {
		CTS_ASSERT(rsm_create_localmemory_handle(ctl, &handle, (caddr_t)mem,
							 cts_page_size()) == RSM_SUCCESS);
		CTS_ASSERT(rsm_free_localmemory_handle(ctl, handle) == RSM_SUCCESS);
	}
}

SCENARIO(localmem_cycle)
{
	rsmapi_controller_handle_t ctl = cts_fx_controller("scif0");
	unsigned char *mem = cts_fx_pages(1);

	make_and_free(ctl, mem, 10);
	struct cts_holdings before = cts_holdings();
	make_and_free(ctl, mem, cts_param("rounds"));
	nothing_left(&before);
}
