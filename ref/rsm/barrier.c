/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Barriers: initialise, open, order, close, destroy. A transfer is complete when its call returns,
 * so what is left to a barrier is to order plain stores into mappings and to tell whether the
 * connection was there all the time.
 */
#include "barrier.h"

#include <rsmapi.h>
#include <stdlib.h>
#include <string.h>

#include "caller_memory.h"
#include "handle.h"
#include "import.h"

enum barrier_state {
	READY,
	OPEN,
	OPEN_IN_VAIN /* the connection was gone before */
};

struct barrier {
	struct barrier *next;
	uint64_t number;
	enum barrier_state state;
	const void *object; /* the program's */
};

void barrier_set_init(struct barrier_set *set)
{
	pthread_mutex_init(&set->lock, NULL);
	set->first = NULL;
	atomic_init(&set->current, 0);
	atomic_init(&set->open, 0);
}

void barrier_set_free(struct barrier_set *set)
{
	while (set->first != NULL) {
		struct barrier *b = set->first;

		set->first = b->next;
		free(b);
	}
	pthread_mutex_destroy(&set->lock);
}

/* The spans are the parent's. Whoever held the lock held it between two whole steps. */
void barrier_set_atfork_child(struct barrier_set *set)
{
	pthread_mutex_init(&set->lock, NULL);
	for (struct barrier *b = set->first; b != NULL; b = b->next)
		b->state = READY;
	atomic_store(&set->open, 0);
}

static struct barrier *find(struct barrier_set *set, uint64_t number)
{
	struct barrier *b = set->first;

	while (b != NULL && b->number != number)
		b = b->next;
	return b;
}

static void set_state(struct barrier_set *set, struct barrier *b, enum barrier_state state)
{
	if (b->state == READY && state != READY)
		atomic_fetch_add(&set->open, 1);
	if (b->state != READY && state == READY)
		atomic_fetch_sub(&set->open, 1);
	b->state = state;
}

static void unlink_barrier(struct barrier_set *set, struct barrier *b)
{
	struct barrier **link = &set->first;
	uint64_t number = b->number;

	while (*link != b)
		link = &(*link)->next;
	*link = b->next;
	set_state(set, b, READY);
	atomic_compare_exchange_strong(&set->current, &number, 0);
}

/* --- the program's object --- */

/* The numbers start where no program's garbage does, and never come again. */
static _Atomic uint64_t last_number = 0x52534d00;

static int write_object(rsmapi_barrier_t *object, const struct import *m, uint64_t number)
{
	rsmapi_barrier_t content;

	/* Its padding, too, goes to the program. */
	memset(&content, 0, sizeof(content));
	content.seg = m->segment.handle;
	content.gnum = (uint16_t)number;
	content.privdata = (void *)(uintptr_t)number;
	return caller_store(object, &content, sizeof(content));
}

/* Enters the import of an initialised barrier: 0, or the RSMERR value. */
static int enter(const rsmapi_barrier_t *object, struct import **m, uint64_t *number)
{
	rsmapi_barrier_t content;

	if (object == NULL || caller_fetch(&content, object, sizeof(content)) != 0)
		return RSMERR_BAD_BARRIER_PTR;
	*number = (uintptr_t)content.privdata;
	*m = import_enter(content.seg);
	if (*m != NULL)
		return 0;
	return handle_was(content.seg, SEGMENT_IMPORT) ? RSMERR_BAD_SEG_HNDL
						       : RSMERR_BARRIER_UNINITIALIZED;
}

/* --- initialise and destroy --- */

/* A barrier initialised again stays the same one, and is closed. */
static struct barrier *find_object(struct barrier_set *set, const rsmapi_barrier_t *object,
				   uint64_t number)
{
	struct barrier *b = find(set, number);

	return b != NULL && b->object == object ? b : NULL;
}

static int init_again(struct barrier_set *set, const rsmapi_barrier_t *object, uint64_t number)
{
	struct barrier *b;

	pthread_mutex_lock(&set->lock);
	b = find_object(set, object, number);
	if (b != NULL) {
		set_state(set, b, READY);
		atomic_store(&set->current, number);
	}
	pthread_mutex_unlock(&set->lock);
	return b != NULL;
}

static int init_new(struct import *m, rsmapi_barrier_t *object)
{
	struct barrier_set *set = &m->barriers;
	struct barrier *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return RSMERR_INSUFFICIENT_MEM;
	b->number = atomic_fetch_add(&last_number, 1) + 1;
	b->object = object;
	if (write_object(object, m, b->number) != 0) {
		free(b);
		return RSMERR_BAD_BARRIER_PTR;
	}
	pthread_mutex_lock(&set->lock);
	b->next = set->first;
	set->first = b;
	/* Release: who finds it current finds all of it. */
	atomic_store_explicit(&set->current, b->number, memory_order_release);
	pthread_mutex_unlock(&set->lock);
	return RSM_SUCCESS;
}

static int init(struct import *m, rsmapi_barrier_t *object)
{
	rsmapi_barrier_t before;

	if (object == NULL || caller_fetch(&before, object, sizeof(before)) != 0)
		return RSMERR_BAD_BARRIER_PTR;
	if (before.seg == m->segment.handle &&
	    init_again(&m->barriers, object, (uintptr_t)before.privdata))
		return RSM_SUCCESS;
	return init_new(m, object);
}

int rsm_memseg_import_init_barrier(rsm_memseg_import_handle_t im_memseg, rsm_barrier_type_t type,
				   rsmapi_barrier_t *barrier)
{
	struct import *m = import_enter(im_memseg);
	int result;

	(void)type; /* every type covers one segment */
	if (m == NULL)
		return RSMERR_BAD_SEG_HNDL;
	result = init(m, barrier);
	import_leave(m);
	return result;
}

/* The barrier, taken out of the set, or NULL. */
static struct barrier *take_out(struct barrier_set *set, uint64_t number)
{
	struct barrier *b;

	pthread_mutex_lock(&set->lock);
	b = find(set, number);
	if (b != NULL)
		unlink_barrier(set, b);
	pthread_mutex_unlock(&set->lock);
	return b;
}

static bool is_known(struct barrier_set *set, uint64_t number)
{
	bool known;

	pthread_mutex_lock(&set->lock);
	known = find(set, number) != NULL;
	pthread_mutex_unlock(&set->lock);
	return known;
}

static int destroy(struct import *m, rsmapi_barrier_t *object, uint64_t number)
{
	const rsmapi_barrier_t zeros = {0};
	struct barrier *b;

	if (!is_known(&m->barriers, number))
		return RSMERR_BARRIER_UNINITIALIZED;
	if (caller_store(object, &zeros, sizeof(zeros)) != 0)
		return RSMERR_BAD_BARRIER_PTR;
	b = take_out(&m->barriers, number);
	free(b);
	return b == NULL ? RSMERR_BARRIER_UNINITIALIZED : RSM_SUCCESS;
}

int rsm_memseg_import_destroy_barrier(rsmapi_barrier_t *barrier)
{
	struct import *m;
	uint64_t number;
	int result = enter(barrier, &m, &number);

	if (result != 0)
		return result;
	result = destroy(m, barrier, number);
	import_leave(m);
	return result;
}

/* --- open, order, close --- */

static int open_one(struct import *m, uint64_t number)
{
	struct barrier_set *set = &m->barriers;
	bool up = import_state(m) == CHANNEL_UP;
	struct barrier *b;

	pthread_mutex_lock(&set->lock);
	b = find(set, number);
	if (b != NULL)
		set_state(set, b, up ? OPEN : OPEN_IN_VAIN);
	pthread_mutex_unlock(&set->lock);
	return b == NULL ? RSMERR_BARRIER_UNINITIALIZED : RSM_SUCCESS;
}

int rsm_memseg_import_open_barrier(rsmapi_barrier_t *barrier)
{
	struct import *m;
	uint64_t number;
	int result = enter(barrier, &m, &number);

	if (result != 0)
		return result;
	result = open_one(m, number);
	import_leave(m);
	return result;
}

/* Finds an open barrier, and closes it if told to; *before is what it was. 0 or the RSMERR value.
 */
static int find_open(struct barrier_set *set, uint64_t number, bool close,
		     enum barrier_state *before)
{
	int result = RSM_SUCCESS;
	struct barrier *b;

	pthread_mutex_lock(&set->lock);
	b = find(set, number);
	if (b == NULL)
		result = RSMERR_BARRIER_UNINITIALIZED;
	else if (b->state == READY)
		result = RSMERR_BARRIER_NOT_OPENED;
	else
		*before = b->state;
	if (result == RSM_SUCCESS && close)
		set_state(set, b, READY);
	pthread_mutex_unlock(&set->lock);
	return result;
}

static int settle(struct import *m, uint64_t number, bool close)
{
	enum barrier_state before;
	unsigned state;
	int result = find_open(&m->barriers, number, close, &before);

	if (result != RSM_SUCCESS)
		return result;
	/* Stores into the mapping are visible to the exporter before what the caller does next. */
	atomic_thread_fence(memory_order_seq_cst);
	state = import_state_now(m);
	if (state == CHANNEL_UP)
		return RSM_SUCCESS;
	return import_loss(m, state, before == OPEN);
}

static int settle_object(const rsmapi_barrier_t *barrier, bool close)
{
	struct import *m;
	uint64_t number;
	int result = enter(barrier, &m, &number);

	if (result != 0)
		return result;
	result = settle(m, number, close);
	import_leave(m);
	return result;
}

int rsm_memseg_import_order_barrier(rsmapi_barrier_t *barrier)
{
	return settle_object(barrier, false);
}

int rsm_memseg_import_close_barrier(rsmapi_barrier_t *barrier)
{
	return settle_object(barrier, true);
}
