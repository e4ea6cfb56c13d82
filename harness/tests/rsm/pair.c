/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exporter gets its id from the library and tells it through a pipe once the segment is
 * published.
 */
#include "pair.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BROKEN = 99 };

void pair_must(int error, const char *what)
{
	if (error == RSM_SUCCESS)
		return;
	printf("%s: %d\n", what, error);
	exit(BROKEN);
}

int pair_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	pair_must(dir == NULL, "opendir");
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static void export_until_end(size_t bytes, int answer, int end)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = 0;
	char nothing;

	setenv("SCIF_NODE", "1", 1);
	pair_must(memory == MAP_FAILED, "mmap");
	pair_must(rsm_get_controller("scif0", &controller), "get_controller");
	pair_must(rsm_memseg_export_create(controller, &segment, memory, bytes, 0), "create");
	pair_must(rsm_memseg_export_publish(segment, &id, NULL, 0), "publish");
	pair_must(write(answer, &id, sizeof(id)) != sizeof(id), "write");
	pair_must(read(end, &nothing, 1) != 0, "read");
	pair_must(rsm_memseg_export_destroy(segment), "destroy");
	exit(EXIT_SUCCESS);
}

void pair_begin(struct pair *pair, size_t bytes)
{
	char fabric[32];
	int answer[2], end[2];

	snprintf(fabric, sizeof(fabric), "pair-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setenv("SCIF_NODE", "0", 1);
	memset(pair, 0, sizeof(*pair));
	pair_must(pipe(answer) | pipe(end), "pipe");
	fflush(stdout);
	pair->exporter = fork();
	pair_must(pair->exporter < 0, "fork");
	if (pair->exporter == 0) {
		close(end[1]);
		export_until_end(bytes, answer[1], end[0]);
	}
	close(answer[1]);
	close(end[0]);
	pair->end = end[1];
	pair_must(read(answer[0], &pair->id, sizeof(pair->id)) != sizeof(pair->id), "the exporter");
	close(answer[0]);
}

void pair_connect(struct pair *pair)
{
	pair_must(rsm_get_controller("scif0", &pair->controller), "get_controller");
	pair_must(rsm_memseg_import_connect(pair->controller, 1, pair->id, RSM_PERM_RDWR,
					    &pair->segment),
		  "connect");
	pair_must(rsm_memseg_import_init_barrier(pair->segment, RSM_BAR_DEFAULT, &pair->barrier),
		  "init_barrier");
}

void pair_end(struct pair *pair)
{
	int status = -1;

	close(pair->end);
	waitpid(pair->exporter, &status, 0);
	pair_must(status, "the exporter's end");
}
