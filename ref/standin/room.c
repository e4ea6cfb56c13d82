/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A driver's work takes no descriptors of the process that asks for it.  The fabric's does, so the
 * process's soft limit is out of force while the fabric is at it.
 */
#include <pthread.h>
#include <sys/resource.h>

#include "standin.h"

static struct {
	pthread_mutex_t lock;
	unsigned users;
	struct rlimit limit; /* the process's own, while there are users */
} room = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_soft(rlim_t soft)
{
	struct rlimit limit = {.rlim_cur = soft, .rlim_max = room.limit.rlim_max};

	setrlimit(RLIMIT_NOFILE, &limit);
}

void room_enter(void)
{
	pthread_mutex_lock(&room.lock);
	if (room.users++ == 0 && getrlimit(RLIMIT_NOFILE, &room.limit) == 0)
		set_soft(room.limit.rlim_max);
	pthread_mutex_unlock(&room.lock);
}

void room_leave(void)
{
	pthread_mutex_lock(&room.lock);
	if (--room.users == 0)
		set_soft(room.limit.rlim_cur);
	pthread_mutex_unlock(&room.lock);
}

void room_atfork_prepare(void)
{
	pthread_mutex_lock(&room.lock);
}

void room_atfork_parent(void)
{
	pthread_mutex_unlock(&room.lock);
}

/* Whoever was at work is a thread of the parent. */
void room_atfork_child(void)
{
	pthread_mutex_init(&room.lock, NULL);
	if (room.users > 0)
		set_soft(room.limit.rlim_cur);
	room.users = 0;
}
