/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a node's processes by the sockets they hold, not by the number in the name: a name can be
 * taken by anyone, and a forked child holds its parent's until it uses the library.
 */
#include "expel.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "census.h"

enum { GONE_MS = 10000, ROUNDS = 100 };

struct round {
	const struct census *census;
	uint16_t node;
	struct expelled *result;
	unsigned ended;
	int error;
};

static bool is_member_socket(const struct round *round, ino_t inode)
{
	const struct census_name *name = census_find(round->census, inode);

	return name != NULL && name->is_process && name->node == round->node;
}

/* The pidfd is taken first and the socket looked at again, so that a reused number is not hit. */
static int end_process(const struct round *round, pid_t pid, int fd)
{
	struct pollfd gone = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int error = 0;

	if (gone.fd < 0)
		return errno == ESRCH ? 0 : -errno;
	if (!is_member_socket(round, census_socket_of(pid, fd)))
		goto out;
	if (syscall(SYS_pidfd_send_signal, gone.fd, SIGKILL, NULL, 0) < 0)
		error = errno == ESRCH ? 0 : -errno;
	else if (poll(&gone, 1, GONE_MS) == 0)
		error = -ETIMEDOUT;
out:
	close(gone.fd);
	return error;
}

static void visit(void *arg, pid_t pid, int fd, ino_t inode)
{
	struct round *round = arg;
	int error;

	if (pid == getpid() || !is_member_socket(round, inode))
		return;
	error = end_process(round, pid, fd);
	if (error == 0) {
		round->ended++;
	} else {
		round->error = error;
		round->result->stuck = pid;
	}
}

static bool has_members(const struct census *census, uint16_t node)
{
	for (size_t i = 0; i < census->count; i++)
		if (census->names[i].is_process && census->names[i].node == node)
			return true;
	return false;
}

/* One look at everybody; *left tells whether names of the node were there to begin with. */
static int expel_once(const char *fabric, struct round *round, bool *left)
{
	struct census census;
	int error = census_take(&census, fabric);

	if (error == 0) {
		*left = has_members(&census, round->node);
		round->census = &census;
		if (*left)
			error = census_each_socket(visit, round);
	}
	census_free(&census);
	return error;
}

static bool may_signal(pid_t pid)
{
	return kill(pid, 0) == 0 || errno == ESRCH;
}

static void claim(void *arg, pid_t pid, int fd, ino_t inode)
{
	struct census *census = arg;
	struct census_name *name = census_find(census, inode);

	(void)fd;
	if (name != NULL && may_signal(pid))
		name->claimed = true;
}

/* Whether a name of the first look that nobody claimed is still there. */
static bool has_unclaimed(const struct census *before, const struct census *now, uint16_t node)
{
	for (size_t i = 0; i < before->count; i++) {
		const struct census_name *name = &before->names[i];

		if (name->is_process && name->node == node && !name->claimed &&
		    census_find(now, name->inode) != NULL)
			return true;
	}
	return false;
}

/* A name whose holder is not to be seen, or not to be signalled, is one that expel() cannot end. */
int expel_permitted(const char *fabric, uint16_t node)
{
	struct census before, now = {0};
	int error = census_take(&before, fabric);

	if (error == 0)
		error = census_each_socket(claim, &before);
	if (error == 0)
		error = census_take(&now, fabric);
	if (error == 0 && has_unclaimed(&before, &now, node))
		error = -EPERM;
	census_free(&before);
	census_free(&now);
	return error;
}

int expel(const char *fabric, uint16_t node, struct expelled *result)
{
	*result = (struct expelled){0};
	/* Again after success: a process may have forked before it was hit. */
	for (int i = 0; i < ROUNDS; i++) {
		struct round round = {.node = node, .result = result};
		bool left = false;
		int error = expel_once(fabric, &round, &left);

		if (error < 0)
			return error;
		result->count += round.ended;
		if (round.error < 0)
			return round.error;
		if (!left)
			return 0;
		if (round.ended == 0)
			return -EPERM;
	}
	return -ETIMEDOUT;
}
