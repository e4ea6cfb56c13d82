/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fork handlers. Registered memory is shared memory, so right after fork both processes see the
 * same pages: the child copies them before it runs anything else, and the parent waits for it.
 */
#include "fork.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "endpoint.h"
#include "mapping.h"
#include "pin.h"
#include "quota.h"
#include "relocate.h"
#include "rma.h"
#include "safe_copy.h"
#include "store.h"
#include "window.h"

/* Its write end is open in the child until the copies are made, or the child is dead. */
static int done[2] = {-1, -1};

static void prepare(void)
{
	mapping_atfork_prepare();
	pin_atfork_prepare();
	window_atfork_prepare();
	store_atfork_prepare();
	/* Last: a mapping that goes may be the last user of a connection. */
	ep_atfork_prepare();
	safe_copy_atfork_prepare();
	if (store_any() && pipe2(done, O_CLOEXEC))
		done[0] = done[1] = -1;
}

static void close_end(int which)
{
	if (done[which] >= 0)
		close(done[which]);
	done[which] = -1;
}

static void wait_child(void)
{
	char byte;
	close_end(1);
	while (done[0] >= 0 && read(done[0], &byte, 1) < 0 && errno == EINTR)
		;
	close_end(0);
}

static void parent(void)
{
	wait_child();
	safe_copy_atfork_parent();
	ep_atfork_parent();
	store_atfork_parent();
	window_atfork_parent();
	pin_atfork_parent();
	mapping_atfork_parent();
}

/* Memory first: everything else may write to a heap that is still shared with the parent. */
static void child(void)
{
	pin_copy_all();
	close_end(0);
	close_end(1);
	safe_copy_atfork_child();
	ep_atfork_child();
	store_atfork_child();
	relocate_atfork_child();
	quota_atfork_child();
	rma_atfork_child();
	window_atfork_child();
	pin_atfork_child();
	mapping_atfork_child();
	ep_atfork_child_last();
}

static int install_error;

static void install(void)
{
	install_error = -pthread_atfork(prepare, parent, child);
}

int mem_fork_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, install);
	return install_error;
}
