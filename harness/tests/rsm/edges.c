/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process at the edges: without a standard input, which the library must not become; memory that
 * ends where all memory ends, or that cannot be written; more entries than poll(2) takes; a file of
 * ids with a line that has no end; no more handles, hardly any descriptors, no fabric.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rsmapi.h>
#include <sched.h>
#include <scif.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum { ID = 0x400500, FEW = 64, LONG_LINE = 100000, PATIENCE = 100000 };
/* Where a handle says what it is of, and more than there are. */
enum { KIND_SHIFT = 12, KIND_MASK = 0xf000, HANDLES = 10000 };
/* More than a segment takes. */
enum { ROOM = 6 };

static bool failed;
static size_t page;

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	printf("does not hold: %s\n", what);
	failed = true;
}

static void *pages(int prot)
{
	void *memory = mmap(NULL, page, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pair_must(memory == MAP_FAILED, "mmap");
	return memory;
}

static void addresses(rsmapi_controller_handle_t controller, rsm_memseg_import_handle_t import)
{
	void *last = (void *)(UINTPTR_MAX - page + 1);
	rsm_memseg_export_handle_t segment;

	check(rsm_memseg_export_create(controller, &segment, last, 2 * page, 0) == RSMERR_BAD_ADDR,
	      "a segment beyond the end of memory has a bad address");
	check(rsm_memseg_import_map(import, pages(PROT_READ), RSM_MAP_NONE, RSM_PERM_RDWR, 0,
				    page) == RSMERR_BAD_ADDR,
	      "an address of a mapping that cannot be told");
	check(rsm_memseg_import_put(import, 0, (char *)last + page - 8, 64) == RSMERR_BAD_ADDR,
	      "and so has a put from there");
}

static void beyond_all(rsmapi_controller_handle_t controller)
{
	/* Behind the last mapping that the kernel makes. */
	void *nothing = (void *)(UINTPTR_MAX - 64 * page + 1);
	rsm_memseg_export_handle_t segment;

	check(rsm_memseg_export_create(controller, &segment, nothing, page, 0) == RSMERR_BAD_ADDR,
	      "a segment where no memory can be has a bad address");
}

/* --- handles --- */

static struct rlimit limit_descriptors(rlim_t most)
{
	struct rlimit before, few;

	pair_must(getrlimit(RLIMIT_NOFILE, &before), "getrlimit");
	few = (struct rlimit){.rlim_cur = most, .rlim_max = before.rlim_max};
	pair_must(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
	return before;
}

static void *of_kind(const void *handle, unsigned kind)
{
	return (void *)(((uintptr_t)handle & ~(uintptr_t)KIND_MASK) | (uintptr_t)kind
									      << KIND_SHIFT);
}

static void false_handles(rsm_memseg_export_handle_t segment, rsm_memseg_import_handle_t import)
{
	for (unsigned kind = 0; kind <= KIND_MASK >> KIND_SHIFT; kind++) {
		check(rsm_memseg_import_disconnect(of_kind(segment, kind)) == RSMERR_BAD_SEG_HNDL,
		      "an exported segment is no imported one whatever its handle says");
		check(rsm_memseg_export_destroy(of_kind(import, kind)) == RSMERR_BAD_SEG_HNDL,
		      "nor the other way round");
	}
}

static int map_anything(rsm_memseg_import_handle_t import)
{
	void *at = NULL;

	return rsm_memseg_import_map(import, &at, RSM_MAP_NONE, RSM_PERM_READ, 0, page);
}

/* Until there are no more; a handle from before stays what it was. */
static void all_handles(rsmapi_controller_handle_t controller, uint16_t self)
{
	static rsm_memseg_export_handle_t many[HANDLES];
	struct rlimit before = limit_descriptors(0), most = {before.rlim_max, before.rlim_max};
	rsm_memseg_import_handle_t import, gone;
	void *memory = pages(PROT_READ | PROT_WRITE);
	unsigned count = 0;
	int error;

	pair_must(setrlimit(RLIMIT_NOFILE, &most), "setrlimit");
	pair_must(rsm_memseg_import_connect(controller, self, ID, RSM_PERM_READ, &gone), "connect");
	pair_must(rsm_memseg_import_disconnect(gone), "disconnect");
	while (count < HANDLES &&
	       (error = rsm_memseg_export_create(controller, &many[count], memory, page, 0)) ==
		       RSM_SUCCESS)
		count++;
	check(count < HANDLES && error == RSMERR_INSUFFICIENT_RESOURCES,
	      "segments are limited in number");
	check(rsm_memseg_import_connect(controller, self, ID, RSM_PERM_READ, &import) ==
		      RSMERR_INSUFFICIENT_RESOURCES,
	      "imported ones among them");
	check(map_anything(gone) == RSMERR_SEG_NOT_CONNECTED, "one that is gone is none of them");
	while (count > 0)
		pair_must(rsm_memseg_export_destroy(many[--count]), "destroy");
	pair_must(rsm_memseg_import_connect(controller, self, ID, RSM_PERM_READ, &import),
		  "connect");
	check(map_anything(gone) == RSMERR_SEG_NOT_CONNECTED, "nor comes it back");
	pair_must(rsm_memseg_import_disconnect(import), "disconnect");
	pair_must(setrlimit(RLIMIT_NOFILE, &before), "setrlimit");
}

/* --- descriptors --- */

static bool standard_taken(bool no_stderr)
{
	return fcntl(STDIN_FILENO, F_GETFD) != -1 ||
	       (no_stderr && fcntl(STDERR_FILENO, F_GETFD) != -1);
}

/* There are so many above the standard ones, and standard input; and standard error, or not. */
static void create_with(rsmapi_controller_handle_t controller, void *memory, int room,
			bool no_stderr)
{
	rsm_memseg_export_handle_t segment;
	int filler[FEW], count = 0, apart = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FEW);
	struct rlimit before = limit_descriptors(FEW);

	while ((filler[count] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) >= 0)
		count++;
	for (int i = 0; i < room && count > 0; i++)
		close(filler[--count]);
	if (no_stderr)
		close(STDERR_FILENO);
	int error = rsm_memseg_export_create(controller, &segment, memory, page, 0);
	bool taken = standard_taken(no_stderr);

	/* A thread of the library has the lowest number, for a moment, of what it then moves up. */
	for (int tries = 0; taken && tries < PATIENCE; tries++) {
		sched_yield();
		taken = standard_taken(no_stderr);
	}
	if (error == RSM_SUCCESS)
		rsm_memseg_export_destroy(segment);
	while (count > 0)
		close(filler[--count]);
	pair_must(setrlimit(RLIMIT_NOFILE, &before), "setrlimit");
	dup2(apart, STDERR_FILENO);
	close(apart);
	check(error == RSM_SUCCESS || error == RSMERR_INSUFFICIENT_RESOURCES,
	      "few descriptors are a shortage");
	check(!taken, "none of a segment is a standard one");
}

static void few_descriptors(rsmapi_controller_handle_t controller)
{
	void *memory = pages(PROT_READ | PROT_WRITE);

	for (int room = 0; room < ROOM; room++) {
		create_with(controller, memory, room, false);
		create_with(controller, memory, room, true);
	}
}

/*
 * A child that could have no descriptors of its own for signals, when it was forked: its inherited
 * segment is connected anew, and without them.
 */
static void child_without_descriptors(rsm_memseg_import_handle_t import)
{
	struct rlimit before = limit_descriptors(0);
	struct pollfd entry;
	int status;
	pid_t pid = fork();

	pair_must(setrlimit(RLIMIT_NOFILE, &before), "setrlimit");
	if (pid == 0)
		_exit(rsm_memseg_get_pollfd(import, &entry) != RSMERR_INSUFFICIENT_RESOURCES);
	waitpid(pid, &status, 0);
	check(status == 0, "signals of a child without descriptors");
	pair_must(rsm_memseg_get_pollfd(import, &entry), "get_pollfd");
	pair_must(rsm_memseg_release_pollfd(import), "release_pollfd");
}

/* In a process that is on no fabric, and has no file of ids. */
static void no_network(void)
{
	rsmapi_controller_handle_t controller;
	rsm_topology_t *topology = NULL;
	rsm_memseg_id_t base;
	uint32_t length;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setenv("SCIF_NODE", "none", 1);
		check(rsm_get_controller("scif0", &controller) != RSM_SUCCESS,
		      "no controller without a fabric");
		check(rsm_get_interconnect_topology(&topology) == RSM_SUCCESS &&
			      topology->topology_hdr.local_cntlr_count == 0,
		      "no controller is described without a fabric");
		rsm_free_interconnect_topology(topology);
		unsetenv("RSM_SEGMENTID_FILE");
		check(rsm_get_segmentid_range("of no application", &base, &length) != RSM_SUCCESS,
		      "no range without a file");
		_exit(failed);
	}
	waitpid(pid, &status, 0);
	check(status == 0, "a process on no fabric");
}

static void waits(rsm_memseg_export_handle_t segment, rsm_memseg_import_handle_t import)
{
	static struct pollfd many[FEW + 1];
	struct pollfd *fixed = pages(PROT_READ | PROT_WRITE);
	struct rlimit limit;
	int ready;

	pair_must(rsm_memseg_get_pollfd(segment, fixed), "get_pollfd");
	pair_must(rsm_intr_signal_post(import, 0), "signal_post");
	check(rsm_intr_signal_wait_pollfd(fixed, 1, 0, pages(PROT_NONE)) == RSMERR_BAD_ADDR,
	      "a number that cannot be told");
	mprotect(fixed, page, PROT_READ);
	check(rsm_intr_signal_wait_pollfd(fixed, 1, 5000, &ready) == RSMERR_BAD_ADDR,
	      "entries that cannot be told");
	mprotect(fixed, page, PROT_READ | PROT_WRITE);
	pair_must(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	limit.rlim_cur = FEW;
	pair_must(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	for (int i = 0; i <= FEW; i++)
		many[i].fd = -1;
	check(rsm_intr_signal_wait_pollfd(many, FEW + 1, 0, &ready) == RSMERR_BAD_ARGS_ERRORS,
	      "more entries than there may be descriptors");
	pair_must(rsm_memseg_release_pollfd(segment), "release_pollfd");
}

static void ids(const char *name)
{
	rsm_memseg_id_t *base = pages(PROT_READ | PROT_WRITE);
	uint32_t length, *fixed = pages(PROT_READ);
	FILE *file = fopen(name, "we");

	pair_must(file == NULL, name);
	fprintf(file, "reserve range 0x400000 100\n");
	fclose(file);
	*base = 7;
	check(rsm_get_segmentid_range("range", base, fixed) == RSMERR_BAD_ADDR && *base == 7,
	      "a length that cannot be told leaves the base alone");
	check(rsm_get_segmentid_range("range", pages(PROT_NONE), &length) == RSMERR_BAD_ADDR,
	      "a base that cannot be told");
	check(rsm_get_segmentid_range("range", pages(PROT_READ), &length) == RSMERR_BAD_ADDR,
	      "a base that can only be read");
	file = fopen(name, "we");
	for (int i = 0; i < LONG_LINE; i++)
		fputc('x', file);
	fclose(file);
	check(rsm_get_segmentid_range("range", base, &length) != RSM_SUCCESS, "a line without end");
}

int main(void)
{
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_import_handle_t import;
	rsmapi_barrier_t barrier;
	rsm_memseg_id_t id = ID;
	char fabric[32], name[64];
	uint16_t self;

	page = (size_t)getpagesize();
	close(STDIN_FILENO);
	snprintf(fabric, sizeof(fabric), "edges-%d", (int)getpid());
	snprintf(name, sizeof(name), "%s.ids", fabric);
	setenv("SCIF_FABRIC", fabric, 1);
	setenv("RSM_BYTE_ORDER", "little", 1);
	setenv("RSM_SEGMENTID_FILE", name, 1);
	no_network();
	pair_must(rsm_get_controller("scif0", &controller), "get_controller");
	pair_must(scif_get_nodeIDs(NULL, 0, &self) < 0, "get_nodeIDs");
	pair_must(rsm_memseg_export_create(controller, &segment, pages(PROT_READ | PROT_WRITE),
					   page, 0),
		  "create");
	pair_must(rsm_memseg_export_publish(segment, &id, NULL, 0), "publish");
	pair_must(rsm_memseg_import_connect(controller, self, ID, RSM_PERM_RDWR, &import),
		  "connect");
	pair_must(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier),
		  "init_barrier");
	addresses(controller, import);
	beyond_all(controller);
	false_handles(segment, import);
	all_handles(controller, self);
	few_descriptors(controller);
	child_without_descriptors(import);
	ids(name);
	waits(segment, import);
	check(fcntl(STDIN_FILENO, F_GETFD) == -1 && errno == EBADF, "there is no standard input");
	pair_must(rsm_memseg_import_disconnect(import), "disconnect");
	pair_must(rsm_memseg_export_destroy(segment), "destroy");
	unlink(name);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
