/* SPDX-License-Identifier: BSD-2-Clause */
/* The measurements of each group, and the subjects that stand in the measurements of other groups.
 */
#ifndef BENCH_SUBJECTS_H
#define BENCH_SUBJECTS_H

#include "bench.h"

extern const struct measurement measurement_ping_pong, measurement_wake, measurement_stream,
	measurement_stream_8;
extern const struct measurement measurement_write, measurement_read, measurement_write_unaligned,
	measurement_read_unaligned, measurement_store, measurement_load, measurement_fence;
extern const struct measurement measurement_register, measurement_unregister, measurement_windows;
extern const struct measurement measurement_connect, measurement_poll;
extern const struct measurement measurement_putv, measurement_barrier, measurement_parts;

/* Transfers and mappings of RSM segments. */
extern const struct subject subject_rsm_put, subject_rsm_get, subject_rsm_store, subject_rsm_load;

/* Copies within this process, between this process and another one. */
extern const struct subject subject_memcpy_out, subject_memcpy_in, subject_process_writev,
	subject_process_readv;

/* Programs of others. */
extern const struct subject subject_ucx_tag, subject_ucx_stream, subject_ucx_put, subject_ucx_get,
	subject_ucx_put_cma, subject_ucx_get_cma, subject_fi_pingpong;

/* How often something is copied is the same for all that copy it. */
struct effort copy_effort(size_t size);

#endif
