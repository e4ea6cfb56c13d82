/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The barriers of an import. The program's rsmapi_barrier_t holds the handle of the import and a
 * number; everything that matters is kept here, so nonsense in the program's memory is only a
 * barrier that does not exist.
 */
#ifndef RSM_BARRIER_H
#define RSM_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct barrier;

struct barrier_set {
	pthread_mutex_t lock; /* never held while sleeping */
	struct barrier *first;
	_Atomic uint64_t current; /* number of the one that implicit mode uses, 0 none */
	_Atomic uint32_t open;	  /* how many are open */
};

void barrier_set_init(struct barrier_set *set);
void barrier_set_free(struct barrier_set *set);
void barrier_set_atfork_child(struct barrier_set *set);

/* For transfers; no lock. */
static inline bool barrier_initialized(struct barrier_set *set)
{
	return atomic_load_explicit(&set->current, memory_order_acquire) != 0;
}

static inline bool barrier_open(struct barrier_set *set)
{
	return atomic_load_explicit(&set->open, memory_order_acquire) != 0;
}

#endif
