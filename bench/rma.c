/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers between the memory of two processes: by windows, by segments, through mappings, and
 * beside them what the kernel and a plain copy do.
 */
#include <scif.h>
#include <string.h>

#include "scif_ends.h"
#include "subjects.h"
#include "timing.h"

enum { PAGE = 4096 };

static scif_epd_t epd;
static char *local;
static off_t local_window, remote_window;
static char *mapping;

/* With a page more, so that what is not aligned fits. */
static size_t memory_length(const struct pair *pair)
{
	return (pair->largest + pair->shift + PAGE - 1) / PAGE * PAGE;
}

static void show_memory(struct pair *pair)
{
	scif_ends_open(pair, &epd, 1);
	local = bench_pages(pair, memory_length(pair));
	scif_window_of_partner(pair, epd, local, memory_length(pair));
}

static void begin_plain(struct pair *pair)
{
	scif_ends_open(pair, &epd, 1);
	local = bench_pages(pair, memory_length(pair));
	remote_window = scif_window_of_partner(pair, epd, NULL, 0);
}

static void begin_windows(struct pair *pair)
{
	begin_plain(pair);
	local_window = scif_register(epd, local, memory_length(pair), 0,
				     SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	bench_must(pair, local_window != SCIF_REGISTER_FAILED, "scif_register");
}

static void begin_mapped(struct pair *pair)
{
	begin_plain(pair);
	mapping = scif_mmap(NULL, memory_length(pair), SCIF_PROT_READ | SCIF_PROT_WRITE, 0, epd,
			    remote_window);
	bench_must(pair, mapping != SCIF_MMAP_FAILED, "scif_mmap");
	memset(mapping, 1, memory_length(pair));
}

static void writeto(struct pair *pair)
{
	bench_must(pair,
		   scif_writeto(epd, local_window + (off_t)pair->shift, pair->size, remote_window,
				SCIF_RMA_SYNC) == 0,
		   "scif_writeto");
}

static void readfrom(struct pair *pair)
{
	bench_must(pair,
		   scif_readfrom(epd, local_window + (off_t)pair->shift, pair->size, remote_window,
				 SCIF_RMA_SYNC) == 0,
		   "scif_readfrom");
}

static void vwriteto(struct pair *pair)
{
	bench_must(pair,
		   scif_vwriteto(epd, local + pair->shift, pair->size, remote_window,
				 SCIF_RMA_SYNC) == 0,
		   "scif_vwriteto");
}

static void vreadfrom(struct pair *pair)
{
	bench_must(pair,
		   scif_vreadfrom(epd, local + pair->shift, pair->size, remote_window,
				  SCIF_RMA_SYNC) == 0,
		   "scif_vreadfrom");
}

static void store(struct pair *pair)
{
	memcpy(mapping, local + pair->shift, pair->size);
}

static void load(struct pair *pair)
{
	memcpy(local + pair->shift, mapping, pair->size);
}

static void fence_signal(struct pair *pair)
{
	bench_must(pair,
		   scif_fence_signal(epd, local_window, 1, remote_window, 2,
				     SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_LOCAL |
					     SCIF_SIGNAL_REMOTE) == 0,
		   "scif_fence_signal");
}

static void fence_wait(struct pair *pair)
{
	int mark;

	bench_must(pair, scif_fence_mark(epd, SCIF_FENCE_INIT_SELF, &mark) == 0, "scif_fence_mark");
	bench_must(pair, scif_fence_wait(epd, mark) == 0, "scif_fence_wait");
}

/* Some samples also of what takes long, not too many of what does not. */
struct effort copy_effort(size_t size)
{
	size_t batch = size < 64 ? 256 : size < 16384 ? 16384 / size : 1;
	size_t samples = ((size_t)128 << 20) / (batch * size);

	return (struct effort){.samples = samples < 3	  ? 3
					  : samples > 300 ? 300
							  : (unsigned)samples,
			       .batch = (unsigned)batch};
}

#define SHOWN .partner = {.begin = show_memory}

static const struct subject vwriteto_subject = {"scif_vwriteto", SHOWN,
						.driver = {.begin = begin_plain, .once = vwriteto}};
static const struct subject writeto_subject = {"scif_writeto", SHOWN,
					       .driver = {.begin = begin_windows, .once = writeto}};
static const struct subject vreadfrom_subject = {
	"scif_vreadfrom", SHOWN, .driver = {.begin = begin_plain, .once = vreadfrom}};
static const struct subject readfrom_subject = {
	"scif_readfrom", SHOWN, .driver = {.begin = begin_windows, .once = readfrom}};
static const struct subject store_subject = {"scif_mmap", SHOWN,
					     .driver = {.begin = begin_mapped, .once = store}};
static const struct subject load_subject = {"scif_mmap", SHOWN,
					    .driver = {.begin = begin_mapped, .once = load}};

#define COPY_SIZES                                                                                 \
	{                                                                                          \
		8, 64, 512, 4096, 32768, 65536, 262144, 1 << 20, 4 << 20, 16 << 20, 64 << 20,      \
			256 << 20                                                                  \
	}
#define WRITERS                                                                                    \
	(const struct subject *const[])                                                            \
	{                                                                                          \
		&writeto_subject, &vwriteto_subject, &subject_rsm_put, &subject_memcpy_out,        \
			&subject_process_writev, &subject_ucx_put, &subject_ucx_put_cma, NULL      \
	}
#define READERS                                                                                    \
	(const struct subject *const[])                                                            \
	{                                                                                          \
		&readfrom_subject, &vreadfrom_subject, &subject_rsm_get, &subject_memcpy_in,       \
			&subject_process_readv, &subject_ucx_get, &subject_ucx_get_cma, NULL       \
	}

const struct measurement measurement_write = {
	.name = "write",
	.title = "Copy to the memory of another process",
	.sizes = COPY_SIZES,
	.effort = copy_effort,
	.subjects = WRITERS,
};

const struct measurement measurement_read = {
	.name = "read",
	.title = "Copy from the memory of another process",
	.sizes = COPY_SIZES,
	.effort = copy_effort,
	.subjects = READERS,
};

const struct measurement measurement_write_unaligned = {
	.name = "write-unaligned",
	.title = "Copy to the memory of another process, from an odd address",
	.sizes = {8, 64, 512, 4096, 65536, 1 << 20, 16 << 20},
	.effort = copy_effort,
	.shift = 1,
	.subjects = WRITERS,
};

const struct measurement measurement_read_unaligned = {
	.name = "read-unaligned",
	.title = "Copy from the memory of another process, to an odd address",
	.sizes = {8, 64, 512, 4096, 65536, 1 << 20, 16 << 20},
	.effort = copy_effort,
	.shift = 1,
	.subjects = READERS,
};

const struct measurement measurement_store = {
	.name = "store",
	.title = "Stores through a mapping of another process's memory",
	.sizes = COPY_SIZES,
	.effort = copy_effort,
	.subjects =
		(const struct subject *const[]){
			&store_subject,
			&subject_rsm_store,
			&subject_memcpy_out,
			NULL,
		},
};

const struct measurement measurement_load = {
	.name = "load",
	.title = "Loads through a mapping of another process's memory",
	.sizes = COPY_SIZES,
	.effort = copy_effort,
	.subjects =
		(const struct subject *const[]){
			&load_subject,
			&subject_rsm_load,
			&subject_memcpy_in,
			NULL,
		},
};

const struct measurement measurement_fence = {
	.name = "fence",
	.title = "Fences with no transfer under way",
	.sizes = {8},
	.effort = copy_effort,
	.subjects =
		(const struct subject *const[]){
			&(const struct subject){
				"scif_fence_signal", SHOWN,
				.driver = {.begin = begin_windows, .once = fence_signal}},
			&(const struct subject){
				"scif_fence_mark, _wait", SHOWN,
				.driver = {.begin = begin_windows, .once = fence_wait}},
			NULL},
};
