/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's fences.  Within the host every transfer is a copy by the CPU that is finished when
 * its call returns, so there is one mark for all and signals are written at once.  A connection
 * with a card has the marks of a DMA channel.
 */
#include "../embedded/fence.c"

#include "libc.h"
#include "standin.h"

enum { LOOPBACK_MARK = 0xdead, PEER_BIT = 1 << 30 };

static bool is_loopback(const struct conn *c)
{
	return c->node == c->peer_node && c->node == 0;
}

static int mark_of_channel(struct conn *c, int side)
{
	uint64_t number;

	conn_lock_mem(c);
	number = new_mark(&c->mem->own->marks[side], atomic_load(&c->block->mem[side].started));
	conn_unlock_mem(c);
	return (int)(number & (PEER_BIT - 1)) | (side == c->side ? 0 : PEER_BIT);
}

int driver_fence_mark(struct ep *ep, int flags, int *mark)
{
	struct conn *c;
	int side, value, error = driver_ready(ep, &c);

	if (error != 0)
		return error;
	side = flags & ~INIT_FLAGS ? -EINVAL : marked_side(c, flags);
	if (side < 0)
		return side;
	value = is_loopback(c) ? LOOPBACK_MARK : mark_of_channel(c, side);
	return safe_copy(mark, &value, sizeof(value));
}

/* A mark that the channel never gave is as good as one that has passed. */
static int wait_for_channel(struct conn *c, int mark)
{
	int side = mark & PEER_BIT ? !c->side : c->side, error;
	uint64_t seq;
	bool known;

	conn_lock_mem(c);
	known = find_mark(&c->mem->own->marks[side], (mark & (PEER_BIT - 1)) << 1, &seq);
	conn_unlock_mem(c);
	error = known ? wait_finished(c, side, seq) : 0;
	return error == -ENODEV ? -ECONNRESET : error;
}

int driver_fence_wait(struct ep *ep, int mark)
{
	struct conn *c;
	int error = driver_ready(ep, &c);

	if (error != 0)
		return error;
	if (is_loopback(c))
		return mark == LOOPBACK_MARK ? 0 : -EINVAL;
	return wait_for_channel(c, mark);
}

static int check_signal(off_t loff, off_t roff, int flags)
{
	bool local = flags & SCIF_SIGNAL_LOCAL, remote = flags & SCIF_SIGNAL_REMOTE;
	int init = flags & INIT_FLAGS;

	if (flags & ~(INIT_FLAGS | SIGNAL_FLAGS) || init == 0 || init == INIT_FLAGS)
		return -EINVAL;
	if ((!local && !remote) || (local && loff % 4) || (remote && roff % 4))
		return -EINVAL;
	return 0;
}

static int write_after(struct conn *c, int side, const struct signal_target *target)
{
	struct signal_target targets[2] = {*target};
	int error;

	if (!is_loopback(c))
		return signal_after(c, side, targets);
	error = check_target(c, target);
	if (error == 0)
		write_value(c, target);
	return error;
}

/* One after the other: the first value is written even if the second has nowhere to go. */
static int signal_both(struct conn *c, int side, const struct signal_target targets[2])
{
	int error = 0;

	for (int i = 0; i < 2 && error == 0; i++)
		if (targets[i].wanted)
			error = write_after(c, side, &targets[i]);
	return error == -EACCES ? -EPERM : error;
}

int driver_fence_signal(struct ep *ep, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
			int flags)
{
	struct conn *c;
	int error = driver_ready(ep, &c);
	bool local = flags & SCIF_SIGNAL_LOCAL, remote = flags & SCIF_SIGNAL_REMOTE;
	bool peer = flags & SCIF_FENCE_INIT_PEER;

	if (error == 0)
		error = check_signal(loff, roff, flags);
	if (error != 0)
		return error;
	/* The peer reads the flags as its own: what is local to it is remote here. */
	struct signal_target targets[2] = {
		{.wanted = peer ? remote : local, .side = c->side, .offset = loff, .value = lval},
		{.wanted = peer ? local : remote, .side = !c->side, .offset = roff, .value = rval},
	};
	error = signal_both(c, marked_side(c, flags), targets);
	/* Whatever the peer finds wrong is one error here. */
	return peer && error == -EPERM ? -ENXIO : error;
}
