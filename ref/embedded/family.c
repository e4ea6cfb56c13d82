/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A shared page of process ids, passed on by fork; each child enters itself.
 */
#include "family.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process.h"
#include "wait.h"

enum { MEMBERS = 512 };

/* A fork whose child has not entered itself after this long has failed. */
#define FORK_NS 10000000000ull

static struct family {
	_Atomic int32_t member[MEMBERS];
	_Atomic uint32_t crowded; /* there were more members than places */
	_Atomic uint32_t forking; /* children that have not entered themselves yet */
	_Atomic uint64_t forked;  /* time of the last fork */
} * family;			  /* there before the handlers of fork are, and any endpoint */

static void enter_self(void)
{
	for (int i = 0; i < MEMBERS; i++) {
		int32_t member = atomic_load(&family->member[i]);

		if ((member == 0 || process_dead(member)) &&
		    atomic_compare_exchange_strong(&family->member[i], &member, getpid()))
			return;
	}
	atomic_store(&family->crowded, 1);
}

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

int family_init(void)
{
	struct family *page;
	int error = 0;

	pthread_mutex_lock(&init_lock);
	if (family == NULL) {
		page = mmap(NULL, sizeof(*family), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (page != MAP_FAILED) {
			family = page;
			enter_self();
		} else {
			error = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&init_lock);
	return error;
}

/* Alive, but /proc does not show it. */
static bool hidden(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return !process_dead(pid) && access(path, F_OK) != 0;
}

static bool holds(pid_t pid, int number, ino_t inode)
{
	char path[64], link[64], wanted[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
	snprintf(wanted, sizeof(wanted), "socket:[%llu]", (unsigned long long)inode);
	length = readlink(path, link, sizeof(link) - 1);
	if (length < 0)
		return (errno != ENOENT && errno != ESRCH) || hidden(pid);
	link[length] = '\0';
	return strcmp(link, wanted) == 0;
}

static bool fork_in_progress(void)
{
	return atomic_load(&family->forking) > 0 &&
	       wait_now() - atomic_load(&family->forked) < FORK_NS;
}

bool family_holds(int number, ino_t inode)
{
	pid_t self = getpid();

	if (fork_in_progress() || atomic_load(&family->crowded))
		return true;
	for (int i = 0; i < MEMBERS; i++) {
		pid_t pid = atomic_load(&family->member[i]);

		if (pid != 0 && pid != self && holds(pid, number, inode))
			return true;
	}
	return false;
}

void family_atfork_prepare(void)
{
	if (!fork_in_progress())
		atomic_store(&family->forking, 0);
	atomic_store(&family->forked, wait_now());
	atomic_fetch_add(&family->forking, 1);
}

void family_atfork_child(void)
{
	pthread_mutex_init(&init_lock, NULL);
	enter_self();
	atomic_fetch_sub(&family->forking, 1);
}
