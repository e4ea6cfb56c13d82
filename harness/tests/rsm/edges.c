/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process at the edges: without a standard input, which the library must not become; memory that
 * ends where all memory ends, or that cannot be written; more entries than poll(2) takes; a file of
 * ids with a line that has no end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rsmapi.h>
#include <scif.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pair.h"

enum { ID = 0x400500, FEW = 64, LONG_LINE = 100000 };

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
	ids(name);
	waits(segment, import);
	check(fcntl(STDIN_FILENO, F_GETFD) == -1 && errno == EBADF, "there is no standard input");
	pair_must(rsm_memseg_import_disconnect(import), "disconnect");
	pair_must(rsm_memseg_export_destroy(segment), "destroy");
	unlink(name);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
