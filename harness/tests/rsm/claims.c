/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes publish segments under one id at the same moment, again and again: exactly one of them
 * gets it each time, the others are told that it is in use.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

/* A claimer that fails leaves the others at the barrier. */
enum { CLAIMERS = 4, ROUNDS = 200, LONGEST = 300 };

struct board {
	pthread_barrier_t barrier; /* of all claimers */
	int results[CLAIMERS];
};

static struct board *board_new(void)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t attr;

	pair_must(board == MAP_FAILED, "mmap");
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pair_must(pthread_barrier_init(&board->barrier, &attr, CLAIMERS), "barrier");
	return board;
}

static int winners(const struct board *board)
{
	int count = 0;

	for (int i = 0; i < CLAIMERS; i++)
		count += board->results[i] == RSM_SUCCESS;
	return count;
}

/* False when the round had another end than one winner and losers who know it. */
static bool round_is_right(struct board *board, int self, rsm_memseg_export_handle_t segment,
			   rsm_memseg_id_t id)
{
	bool right;
	int result;

	pthread_barrier_wait(&board->barrier);
	result = rsm_memseg_export_publish(segment, &id, NULL, 0);
	board->results[self] = result;
	pthread_barrier_wait(&board->barrier);
	right = winners(board) == 1 && (result == RSM_SUCCESS || result == RSMERR_SEGID_IN_USE);
	if (!right)
		printf("id %#x: result %d of claimer %d, %d winners\n", id, result, self,
		       winners(board));
	pthread_barrier_wait(&board->barrier);
	if (result == RSM_SUCCESS)
		pair_must(rsm_memseg_export_unpublish(segment), "unpublish");
	return right;
}

static int claim(struct board *board, int self)
{
	void *memory = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t segment;
	bool right = true;

	alarm(LONGEST);
	pair_must(memory == MAP_FAILED, "mmap");
	pair_must(rsm_get_controller("scif0", &controller), "get_controller");
	pair_must(rsm_memseg_export_create(controller, &segment, memory, (size_t)getpagesize(), 0),
		  "create");
	for (rsm_memseg_id_t i = 0; i < ROUNDS; i++)
		right &= round_is_right(board, self, segment, RSM_HPC_ID_BASE + i);
	pair_must(rsm_memseg_export_destroy(segment), "destroy");
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
	struct board *board = board_new();
	int status, worst = EXIT_SUCCESS;
	char fabric[32];

	snprintf(fabric, sizeof(fabric), "claims-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	for (int i = 0; i < CLAIMERS; i++) {
		pid_t pid = fork();

		pair_must(pid < 0, "fork");
		if (pid == 0)
			exit(claim(board, i));
	}
	for (int i = 0; i < CLAIMERS; i++) {
		pair_must(wait(&status) < 0, "wait");
		if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
			worst = EXIT_FAILURE;
	}
	return worst;
}
