/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's calls of RSMAPI. The first segment of a slot stays as long as its life, so that what was put behind a
 * barrier can be compared; the second comes and goes, and its importers are told so at any time.
 */
#include "worker.h"

#include <string.h>
#include <time.h>

#include "documented.h"
#include "pattern.h"

enum { OFFSETS = AREAS };
/* Who does not answer for so long counts as unreachable, also where the machine has no time for it. */
enum { PATIENCE_S = 5 };

struct import {
	uint32_t life; /* 0: not connected */
	rsm_memseg_import_handle_t handle;
	rsmapi_barrier_t barrier;
};

static struct import imports[SLOTS];
static struct {
	bool created, published;
	rsm_memseg_export_handle_t handle;
	unsigned char *memory[2];
	int bound;
} second;
static uint32_t patterns;

static struct account *account(const struct import *i)
{
	return account_of(self.life, (int)(i - imports));
}

/* --- connections --- */

static void disconnect(struct import *i)
{
	if (i->life == 0)
		return;
	if (RSM_CALL(CLIENT, rsm_memseg_import_destroy_barrier, &i->barrier) != RSM_SUCCESS ||
	    RSM_CALL(CLIENT, rsm_memseg_import_disconnect, i->handle) != RSM_SUCCESS)
		complain("a connection to slot %d cannot be ended", (int)(i - imports));
	*i = (struct import){.life = 0};
}

static bool connect_to(struct import *i, uint32_t life)
{
	int slot = (int)(i - imports);

	memset(account(i)->segment, 0, sizeof(account(i)->segment));
	atomic_store(&account(i)->exporter, life);
	if (RSM_CALL(CLIENT, rsm_memseg_import_connect, self.controller,
		     (rsm_node_id_t)slot_node(slot), (rsm_memseg_id_t)(FIRST_SEGMENT + slot),
		     RSM_PERM_RDWR, &i->handle) != RSM_SUCCESS)
		return false;
	i->life = life;
	memset(&i->barrier, 0, sizeof(i->barrier));
	return RSM_CALL(CLIENT, rsm_memseg_import_init_barrier, i->handle, RSM_BAR_DEFAULT,
			&i->barrier) == RSM_SUCCESS &&
	       RSM_CALL(CLIENT, rsm_memseg_import_set_mode, i->handle,
			RSM_BARRIER_MODE_EXPLICIT) == RSM_SUCCESS;
}

/* --- steps on a connection --- */

static int put_some(struct import *i, off_t at, uint32_t *words, struct dice *dice)
{
	rsm_iovec_t piece = {.io_type = RSM_VA_TYPE,
			     .local.vaddr = (caddr_t)words,
			     .remote_offset = (size_t)at,
			     .transfer_length = PLACE};
	rsm_scat_gath_t all = {.io_request_count = 1,
			       .remote_handle = i->handle,
			       .iovec = &piece};

	switch (dice_throw(dice, 4)) {
	case 0:
		return RSM_CALL(CLIENT, rsm_memseg_import_put, i->handle, at, words, PLACE);
	case 1:
		return RSM_CALL(CLIENT, rsm_memseg_import_put32, i->handle, at, words, PLACE / 4);
	case 2:
		return RSM_CALL(CLIENT, rsm_memseg_import_put8, i->handle, at, (uint8_t *)words,
				PLACE);
	default:
		return RSM_CALL(CLIENT, rsm_memseg_import_putv, &all);
	}
}

static bool put_and_close(struct import *i, struct dice *dice)
{
	uint32_t area = dice_throw(dice, OFFSETS), pattern = ++patterns, words[PLACE / 4];
	off_t at = (off_t)(area * PAGE + place_of(self.life));

	cts_fill_at(words, PLACE, pattern, 0);
	atomic_store(&account(i)->segment[area], 0);
	if (RSM_CALL(CLIENT, rsm_memseg_import_open_barrier, &i->barrier) != RSM_SUCCESS ||
	    put_some(i, at, words, dice) != RSM_SUCCESS ||
	    RSM_CALL(CLIENT, rsm_memseg_import_order_barrier, &i->barrier) != RSM_SUCCESS ||
	    RSM_CALL(CLIENT, rsm_memseg_import_close_barrier, &i->barrier) != RSM_SUCCESS)
		return false;
	atomic_store(&account(i)->segment[area], pattern);
	return true;
}

static bool get_and_compare(struct import *i, struct dice *dice)
{
	uint32_t area = dice_throw(dice, OFFSETS), words[PLACE / 4];
	uint32_t pattern = atomic_load(&account(i)->segment[area]);
	off_t at = (off_t)(area * PAGE + place_of(self.life));

	if (RSM_CALL(CLIENT, rsm_memseg_import_open_barrier, &i->barrier) != RSM_SUCCESS ||
	    RSM_CALL(CLIENT, rsm_memseg_import_get, i->handle, at, words, PLACE) != RSM_SUCCESS ||
	    RSM_CALL(CLIENT, rsm_memseg_import_close_barrier, &i->barrier) != RSM_SUCCESS)
		return false;
	if (pattern != 0 && !cts_is_pattern_at(words, PLACE, pattern, 0))
		complain("what was put is got as something else");
	return true;
}

static bool store_mapped(struct import *i, struct dice *dice)
{
	uint32_t area = dice_throw(dice, OFFSETS), pattern = ++patterns;
	void *there;

	atomic_store(&account(i)->segment[area], 0);
	if (RSM_CALL(CLIENT, rsm_memseg_import_map, i->handle, &there, RSM_MAP_NONE, RSM_PERM_RDWR,
		     0, AREAS * PAGE) != RSM_SUCCESS)
		return false;
	cts_fill_at((unsigned char *)there + area * PAGE + place_of(self.life), PLACE,
		     pattern, 0);
	/* A lost connection's mapping is scrap memory. */
	if (RSM_CALL(CLIENT, rsm_memseg_import_open_barrier, &i->barrier) == RSM_SUCCESS &&
	    RSM_CALL(CLIENT, rsm_memseg_import_close_barrier, &i->barrier) == RSM_SUCCESS)
		atomic_store(&account(i)->segment[area], pattern);
	return RSM_CALL(CLIENT, rsm_memseg_import_unmap, i->handle) == RSM_SUCCESS &&
	       atomic_load(&account(i)->segment[area]) == pattern;
}

static bool post(struct import *i, struct dice *dice)
{
	return RSM_CALL(CLIENT, rsm_intr_signal_post, i->handle,
			dice_throw(dice, 2) ? RSM_SIGPOST_NO_ACCUMULATE : 0) == RSM_SUCCESS;
}

static time_t second_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static void import_step(struct dice *dice, int slot)
{
	static bool (*const steps[])(struct import *, struct dice *) = {
		put_and_close, get_and_compare, store_mapped, post};
	struct import *i = &imports[slot];
	uint32_t life = atomic_load(&board->slot[slot].ready);
	time_t began = second_now();
	bool well = true;

	if (i->life != 0 && (i->life != life || dice_throw(dice, 20) == 0))
		disconnect(i);
	else if (i->life == 0)
		well = connect_to(i, life);
	else
		well = steps[dice_throw(dice, 4)](i, dice);
	if (well)
		return;
	if (!may_be_gone(slot, life) && second_now() - began < PATIENCE_S)
		complain("%s failed, though slot %d lives", board->slot[self.slot].doing[CLIENT],
			 slot);
	disconnect(i);
}

/* --- the second segment --- */

static int create(void)
{
	for (int i = 0; i < 2; i++)
		if (second.memory[i] == NULL)
			second.memory[i] = pages_new(PAGE);
	second.bound = 0;
	second.created = true;
	return RSM_CALL(CLIENT, rsm_memseg_export_create, self.controller, &second.handle,
			second.memory[0], PAGE, RSM_ALLOW_REBIND);
}

static int publish(void)
{
	rsm_memseg_id_t id = (rsm_memseg_id_t)(FIRST_CHURN + self.slot);

	second.published = true;
	return RSM_CALL(CLIENT, rsm_memseg_export_publish, second.handle, &id, NULL, 0);
}

static int destroy(void)
{
	second.created = second.published = false;
	return RSM_CALL(CLIENT, rsm_memseg_export_destroy, second.handle);
}

static int change(struct dice *dice)
{
	switch (dice_throw(dice, 5)) {
	case 0:
		return destroy();
	case 1:
		second.published = false;
		return RSM_CALL(CLIENT, rsm_memseg_export_unpublish, second.handle);
	case 2:
		second.bound = !second.bound;
		return RSM_CALL(CLIENT, rsm_memseg_export_rebind, second.handle,
				second.memory[second.bound], 0, PAGE);
	case 3:
		return RSM_CALL(CLIENT, rsm_memseg_export_republish, second.handle, NULL, 0);
	default:
		return RSM_CALL(CLIENT, rsm_intr_signal_post, second.handle, 0);
	}
}

static void second_step(struct dice *dice)
{
	int error = !second.created ? create() : !second.published ? publish() : change(dice);

	if (error != RSM_SUCCESS)
		complain("%s failed with %s", board->slot[self.slot].doing[CLIENT],
			 documented_name("rsm_", error));
}

/* It may be withdrawn in between. */
static void visit_second(int slot)
{
	rsm_memseg_import_handle_t handle;
	rsmapi_barrier_t barrier = {.seg = NULL};
	uint8_t byte;

	if (RSM_CALL(CLIENT, rsm_memseg_import_connect, self.controller,
		     (rsm_node_id_t)slot_node(slot), (rsm_memseg_id_t)(FIRST_CHURN + slot),
		     RSM_PERM_READ, &handle) != RSM_SUCCESS)
		return;
	if (RSM_CALL(CLIENT, rsm_memseg_import_init_barrier, handle, RSM_BAR_DEFAULT, &barrier) ==
	    RSM_SUCCESS) {
		RSM_CALL(CLIENT, rsm_memseg_import_get8, handle, 0, &byte, 1);
		RSM_CALL(CLIENT, rsm_intr_signal_wait, handle, 0);
		RSM_CALL(CLIENT, rsm_memseg_import_destroy_barrier, &barrier);
	}
	if (RSM_CALL(CLIENT, rsm_memseg_import_disconnect, handle) != RSM_SUCCESS)
		complain("a connection to a segment that comes and goes cannot be ended");
}

void segments_step(struct dice *dice, int slot)
{
	uint32_t kind = dice_throw(dice, 4);

	if (kind == 0)
		second_step(dice);
	else if (kind == 1)
		visit_second(slot);
	else
		import_step(dice, slot);
}

void segments_rest(void)
{
	for (int i = 0; i < SLOTS; i++)
		disconnect(&imports[i]);
	if (second.created && destroy() != RSM_SUCCESS)
		complain("the second segment cannot be destroyed");
}
