/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a worker, apart from what its client and its server do. */
#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "documented.h"

struct self self;

void calling(enum part part, const char *function)
{
	atomic_store_explicit(&board->slot[self.slot].doing[part], function, memory_order_relaxed);
}

static void hear(const char *function, int error)
{
	if (!documented(function, error))
		complain("%s failed with %s, which is not documented for it", function,
			 documented_name(function, error));
}

long heard_scif(const char *function, long result)
{
	int error = errno;

	if (result == -1)
		hear(function, error);
	errno = error;
	return result;
}

int heard_rsm(const char *function, int error)
{
	if (error != RSM_SUCCESS)
		hear(function, error);
	return error;
}

void step_done(enum part part)
{
	atomic_fetch_add(&board->slot[self.slot].steps[part], 1);
}

void *pages_new(size_t bytes)
{
	void *at =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		complain("mmap: %s", strerror(errno));
		_exit(EXIT_FAILURE);
	}
	return at;
}

static void publish(void)
{
	rsm_memseg_id_t id = FIRST_SEGMENT + self.slot;
	int error = RSM_CALL(SERVER, rsm_get_controller, "scif0", &self.controller);

	self.segment_memory = pages_new(AREAS * PAGE);
	if (error == RSM_SUCCESS)
		error = RSM_CALL(SERVER, rsm_memseg_export_create, self.controller, &self.segment,
				 self.segment_memory, AREAS * PAGE, 0);
	if (error == RSM_SUCCESS)
		error = RSM_CALL(SERVER, rsm_memseg_export_publish, self.segment, &id, NULL, 0);
	if (error != RSM_SUCCESS)
		complain("publishing the segment of a dead worker again: %s",
			 documented_name("rsm_memseg_export_publish", error));
}

static void withdraw(void)
{
	int error = RSM_CALL(SERVER, rsm_memseg_export_destroy, self.segment);

	if (error == RSM_SUCCESS)
		error = RSM_CALL(SERVER, rsm_release_controller, self.controller);
	if (error != RSM_SUCCESS)
		complain("a segment cannot be destroyed: %s",
			 documented_name("rsm_memseg_export_destroy", error));
}

_Noreturn void worker_live(int slot, uint32_t life)
{
	pthread_t server;
	char node[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(node, sizeof(node), "%d", slot_node(slot));
	setenv("SCIF_NODE", node, 1);
	self = (struct self){.slot = slot, .life = life};
	server_begin();
	publish();
	atomic_store(&board->slot[slot].ready, life);
	if (pthread_create(&server, NULL, server_run, NULL) != 0) {
		complain("no thread");
		_exit(EXIT_FAILURE);
	}
	client_run();
	pthread_join(server, NULL);
	withdraw();
	exit(EXIT_SUCCESS);
}
