/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * put and get. Data moves straight between the caller's memory and the exporter's window, without a
 * lock and without a system call except the question whether the exporter is still there. It is
 * staged, a piece at a time, where that is not possible: the exporter's byte order differs, the
 * transfer is relayed, or libscif does not take the caller's memory as it is (a mapping of a
 * segment).
 */
#include "transfer.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caller_memory.h"

enum { STAGE_BYTES = 4096 };

static size_t bytes_of(const struct transfer *t)
{
	return t->count * t->width;
}

/* --- checks --- */

static int check(const struct import *m, const struct transfer *t)
{
	rsm_permission_t needed = t->put ? RSM_PERM_WRITE : RSM_PERM_READ;
	uint64_t offset = (uint64_t)t->offset;

	if (t->data == NULL)
		return RSMERR_BAD_ADDR;
	if ((uintptr_t)t->data % t->width != 0 || offset % t->width != 0)
		return RSMERR_BAD_MEM_ALIGNMENT;
	if (t->offset < 0 || offset > m->size || (offset == m->size && t->count > 0))
		return RSMERR_BAD_OFFSET;
	if (t->count > (m->size - offset) / t->width)
		return RSMERR_BAD_LENGTH;
	if (bytes_of(t) > UINTPTR_MAX - (uintptr_t)t->data)
		return RSMERR_BAD_ADDR;
	return m->permission & needed ? RSM_SUCCESS : RSMERR_PERM_DENIED;
}

/* A byte in every page of it: whether it can be read, or be written with what is there. */
static bool accessible(const struct transfer *t)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = t->data, *end = at + bytes_of(t), byte;

	for (; at < end; at += page - (uintptr_t)at % page) {
		if (caller_fetch(&byte, at, 1) != 0)
			return false;
		if (!t->put && caller_store(at, &byte, 1) != 0)
			return false;
	}
	return true;
}

/* --- moving --- */

/* 0 or -errno. The window may move while we look for it. */
static int move_once(struct import *m, off_t offset, void *data, size_t n, bool put)
{
	off_t window = atomic_load(&m->window), before;
	scif_epd_t epd = m->channel.epd;
	int failed;

	do {
		before = window;
		failed = put ? scif_vwriteto(epd, data, n, window + offset, SCIF_RMA_SYNC)
			     : scif_vreadfrom(epd, data, n, window + offset, SCIF_RMA_SYNC);
		if (failed == 0)
			return 0;
		window = atomic_load(&m->window);
	} while (errno == ENXIO && window != before);
	return -errno;
}

static void swap(void *data, size_t n, unsigned width)
{
	uint16_t *half = data;
	uint32_t *word = data;
	uint64_t *giant = data;

	for (size_t i = 0; i < n / width; i++) {
		if (width == sizeof(*half))
			half[i] = bswap_16(half[i]);
		else if (width == sizeof(*word))
			word[i] = bswap_32(word[i]);
		else if (width == sizeof(*giant))
			giant[i] = bswap_64(giant[i]);
	}
}

/* Between the stage and the segment. */
static int move_stage(struct import *m, const struct transfer *t, off_t offset, void *stage,
		      size_t n)
{
	if (!m->relay)
		return move_once(m, offset, stage, n, t->put);
	return t->put ? relay_put(m, offset, stage, n, t->interruptible)
		      : relay_get(m, offset, stage, n, t->interruptible);
}

static int move_piece(struct import *m, const struct transfer *t, size_t done, void *stage,
		      size_t n)
{
	char *user = (char *)t->data + done;
	int error = t->put ? caller_fetch(stage, user, n) : 0;

	if (error == 0 && t->put && m->swapped)
		swap(stage, n, t->width);
	if (error == 0)
		error = move_stage(m, t, t->offset + (off_t)done, stage, n);
	if (error == 0 && !t->put && m->swapped)
		swap(stage, n, t->width);
	if (error == 0 && !t->put)
		error = caller_store(user, stage, n);
	return error;
}

/* *begun: some of it has been moved. */
static int move_pieces(struct import *m, const struct transfer *t, void *stage, size_t room,
		       bool *begun)
{
	size_t bytes = bytes_of(t), done = 0;
	int error = 0;

	while (done < bytes && error == 0) {
		size_t n = bytes - done < room ? bytes - done : room;

		*begun = m->relay || done > 0;
		error = move_piece(m, t, done, stage, n);
		done += n;
	}
	return error;
}

/* The caller's memory first: a transfer with a wrong address moves nothing. */
static int move_staged(struct import *m, const struct transfer *t, bool *begun)
{
	_Alignas(uint64_t) char small[STAGE_BYTES];
	void *stage;
	int error;

	if (!accessible(t))
		return -EFAULT;
	if (!m->relay || bytes_of(t) <= sizeof(small))
		return move_pieces(m, t, small, sizeof(small), begun);
	stage = malloc(WIRE_PAYLOAD_MAX);
	if (stage == NULL)
		return -ENOMEM;
	error = move_pieces(m, t, stage, WIRE_PAYLOAD_MAX, begun);
	free(stage);
	return error;
}

static int move(struct import *m, const struct transfer *t, bool *begun)
{
	int error;

	if (t->count == 0)
		return 0;
	if (m->relay || (m->swapped && t->width > 1))
		return move_staged(m, t, begun);
	error = move_once(m, t->offset, t->data, bytes_of(t), t->put);
	return error == -EFAULT ? move_staged(m, t, begun) : error;
}

/* --- the connection --- */

/* How a transfer went: what the move said, and the connection before it and after. */
struct course {
	unsigned before, after;
	int error;
};

/*
 * libscif itself asks whether the exporter is still there, and refuses the transfer before it moves
 * anything if not. What happened meanwhile is asked afterwards: the caller's memory may keep a
 * transfer waiting for any time.
 */
static void run(struct import *m, const struct transfer *t, struct course *c)
{
	unsigned place = transfer_begin(m);
	bool begun = false;

	c->error = -ECONNRESET;
	c->before = c->after = channel_last_state(&m->channel);
	if (c->before == CHANNEL_UP) {
		c->error = move(m, t, &begun);
		/* The move may know more than the last answer. */
		c->after =
			c->error == 0 ? channel_state(&m->channel) : channel_state_now(&m->channel);
		if (c->error != 0 && !begun)
			c->before = c->after;
	}
	transfer_end(m, place);
}

/* Within a span of the program's own the end of the connection is told when it closes. */
static int judge_loss(struct import *m, const struct transfer *t, const struct course *c,
		      bool implicit)
{
	if (!implicit && barrier_open(&m->barriers))
		return accessible(t) ? RSM_SUCCESS : RSMERR_BAD_ADDR;
	return import_loss(m, c->after, implicit && c->before == CHANNEL_UP);
}

static int judge(struct import *m, const struct transfer *t, const struct course *c, bool implicit)
{
	switch (c->error) {
	case 0:
		return c->after == CHANNEL_UP ? RSM_SUCCESS : judge_loss(m, t, c, implicit);
	case -EFAULT:
		return RSMERR_BAD_ADDR;
	case -EACCES:
		return RSMERR_PERM_DENIED;
	case -ENOMEM:
	case -EAGAIN:
		return RSMERR_INSUFFICIENT_RESOURCES;
	case -EINTR:
		return RSMERR_INTERRUPTED;
	case -ECANCELED:
		return RSMERR_BAD_SEG_HNDL;
	default:
		return judge_loss(m, t, c, implicit);
	}
}

int transfer_run(struct import *m, const struct transfer *t)
{
	bool implicit =
		atomic_load_explicit(&m->mode, memory_order_relaxed) == RSM_BARRIER_MODE_IMPLICIT;
	struct course course;
	int result = check(m, t);

	if (result != RSM_SUCCESS)
		return result;
	if (implicit && !barrier_initialized(&m->barriers))
		return RSMERR_BARRIER_UNINITIALIZED;
	if (import_attach(m) != 0)
		return RSMERR_INSUFFICIENT_RESOURCES;
	run(m, t, &course);
	return judge(m, t, &course, implicit);
}

int transfer_call(rsm_memseg_import_handle_t handle, const struct transfer *t)
{
	struct import *m = import_enter(handle);
	int result;

	if (m == NULL)
		return RSMERR_BAD_SEG_HNDL;
	result = transfer_run(m, t);
	import_leave(m);
	return result;
}
