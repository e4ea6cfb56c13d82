/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of a copy, memcpy between private and shared memory, and the kernel's copy. */
#include <string.h>
#include <sys/uio.h>

#include "subjects.h"
#include "timing.h"

static char *local, *shared;
static char *remote; /* as the partner sees it */

static void begin_memcpy(struct pair *pair)
{
	local = bench_pages(pair, pair->largest + pair->shift);
	shared = bench_shared_pages(pair, pair->largest);
}

static void copy_out(struct pair *pair)
{
	memcpy(shared, local + pair->shift, pair->size);
}

static void copy_in(struct pair *pair)
{
	memcpy(local + pair->shift, shared, pair->size);
}

static void show_memory(struct pair *pair)
{
	remote = bench_pages(pair, pair->largest);
	pair_tell(pair, &remote, sizeof(remote));
}

static void begin_process(struct pair *pair)
{
	local = bench_pages(pair, pair->largest + pair->shift);
	pair_hear(pair, &remote, sizeof(remote));
}

static void writev_process(struct pair *pair)
{
	struct iovec from = {.iov_base = local + pair->shift, .iov_len = pair->size};
	struct iovec to = {.iov_base = remote, .iov_len = pair->size};

	bench_must(pair,
		   process_vm_writev(pair->partner, &from, 1, &to, 1, 0) == (ssize_t)pair->size,
		   "process_vm_writev");
}

static void readv_process(struct pair *pair)
{
	struct iovec to = {.iov_base = local + pair->shift, .iov_len = pair->size};
	struct iovec from = {.iov_base = remote, .iov_len = pair->size};

	bench_must(pair,
		   process_vm_readv(pair->partner, &to, 1, &from, 1, 0) == (ssize_t)pair->size,
		   "process_vm_readv");
}

const struct subject subject_memcpy_out = {"memcpy", true,
					   .driver = {.begin = begin_memcpy, .once = copy_out}};
const struct subject subject_memcpy_in = {"memcpy", true,
					  .driver = {.begin = begin_memcpy, .once = copy_in}};
const struct subject subject_process_writev = {
	"process_vm_writev", true, .driver = {.begin = begin_process, .once = writev_process},
	.partner = {.begin = show_memory}};
const struct subject subject_process_readv = {
	"process_vm_readv", true, .driver = {.begin = begin_process, .once = readv_process},
	.partner = {.begin = show_memory}};
