/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The per-process socket and the node table that arrives over it.
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "node.h"
#include "registry.h"

/* How long a controller may take: it answers at once unless it is stopped or the machine is
 * overloaded. */
enum { FETCH_MS = 5000, REFETCH_MS = 200 };

/* A name may be left over in a child of a dead process that had our number. */
enum { NAME_COPIES = 64 };

/* One call takes in no more, so that a flood of strangers' messages cannot hold it. */
enum { NOTICES_AT_ONCE = 64 };

static struct {
	pthread_mutex_t lock;
	atomic_bool ready;
	atomic_int sock;
	struct fd_identity identity; /* of sock */
	const struct node_table *table;
	struct fd_identity table_identity;
	bool watching_fork;
	_Atomic(void (*)(void)) changed;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER, .sock = -1};

int fd_keep(int fd)
{
	int higher, error;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	errno = error;
	return higher;
}

bool fd_may_reach(off_t end)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       (rlim_t)end <= limit.rlim_cur;
}

int fd_set_size(int fd, off_t size)
{
	if (fd_may_reach(size))
		return ftruncate(fd, size);
	errno = ENOMEM;
	return -1;
}

bool fd_identify(int fd, struct fd_identity *identity)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return false;
	identity->device = status.st_dev;
	identity->inode = status.st_ino;
	return true;
}

bool fd_is(int fd, const struct fd_identity *identity)
{
	struct fd_identity now;

	if (fd < 0)
		return false;
	if (!fd_identify(fd, &now))
		return errno != EBADF; /* no answer is no reason to give the descriptor up */
	return now.device == identity->device && now.inode == identity->inode;
}

/* The child starts over: the lock may have been held, the socket is the parent's. */
static void forked(void)
{
	pthread_mutex_init(&process.lock, NULL);
	atomic_store(&process.ready, false);
	registry_forked();
}

static int watch_fork(void)
{
	if (process.watching_fork)
		return 0;
	if (pthread_atfork(NULL, NULL, forked) != 0)
		return -ENOMEM;
	process.watching_fork = true;
	return 0;
}

static void drop_table(void)
{
	if (process.table == NULL)
		return;
	munmap((void *)(uintptr_t)process.table, sizeof(*process.table));
	process.table = NULL;
}

/* Takes ownership of the descriptor. */
static int attach(int fd)
{
	struct fd_identity identity;
	const struct node_table *table;
	int error = -EPROTO;

	if (!fd_identify(fd, &identity))
		goto out;
	error = 0;
	if (process.table != NULL && fd_is(fd, &process.table_identity))
		goto out;
	table = ctl_map_table(fd, &error);
	if (table == NULL)
		goto out;
	drop_table();
	node_table_replaced();
	process.table = table;
	process.table_identity = identity;
out:
	close(fd);
	return error;
}

static int fetch(int timeout_ms)
{
	struct ctl_request request = {.magic = CTL_MAGIC, .version = CTL_VERSION, .op = CTL_FETCH};
	struct ucred owner;
	int table_fd = -1;
	int sock = ctl_connect(node_fabric(), &owner);
	int error;

	if (sock < 0)
		return sock;
	error = -EPERM;
	if (ctl_heeded(&owner))
		error = ctl_request(sock, &request, timeout_ms, &table_fd);
	close(sock);
	if (error < 0)
		return error;
	return attach(table_fd);
}

/* A controller that is absent, a stranger's, leaving or silent means the default state. */
static int fetch_first(void)
{
	int error = fetch(FETCH_MS);

	switch (error) {
	case -ENXIO:
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
		return error;
	case -ENOBUFS:
		return -ENOMEM;
	default:
		return 0;
	}
}

static int bind_name(int sock)
{
	for (unsigned copy = 0; copy < NAME_COPIES; copy++) {
		struct sockaddr_un name;
		socklen_t len = node_process_name(&name, node_self(), getpid(), copy);

		if (bind(sock, (struct sockaddr *)&name, len) == 0)
			return 0;
		if (errno != EADDRINUSE)
			return -errno;
	}
	return -ENXIO;
}

static int open_socket(void)
{
	const int on = 1;
	int sock = fd_keep(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	int error;

	if (sock < 0)
		return errno == ENOBUFS ? -ENOMEM : -errno;
	/* The kernel then tells with each message who sent it. */
	if (setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0) {
		error = -errno;
		goto fail;
	}
	error = bind_name(sock);
	if (error < 0)
		goto fail;
	return sock;
fail:
	close(sock);
	return error;
}

static void close_socket(void)
{
	int sock = atomic_exchange(&process.sock, -1);

	/* The program may have closed our number and use it for something of its own. */
	if (fd_is(sock, &process.identity))
		close(sock);
}

/* The socket is named before the table is fetched: a change in between is then announced to it. */
static int start(void)
{
	int error = node_init();
	int sock;

	if (error == 0)
		error = watch_fork();
	if (error < 0)
		return error;
	close_socket();
	sock = open_socket();
	if (sock < 0)
		return sock;
	fd_identify(sock, &process.identity);
	atomic_store(&process.sock, sock);
	error = fetch_first();
	if (error < 0)
		goto fail;
	if (process.table != NULL)
		node_table_read(process.table);
	if (node_state(node_self()) == NODE_DOWN) {
		error = -ENXIO;
		goto fail;
	}
	error = registry_init();
	if (error < 0)
		goto fail;
	return 0;
fail:
	close_socket();
	return error;
}

int process_init(void)
{
	int error = 0;

	/* Acquire pairs with the release below: who sees ready sees the socket. */
	if (atomic_load_explicit(&process.ready, memory_order_acquire))
		return 0;
	pthread_mutex_lock(&process.lock);
	if (!atomic_load_explicit(&process.ready, memory_order_relaxed)) {
		error = start();
		if (error == 0)
			atomic_store_explicit(&process.ready, true, memory_order_release);
	}
	pthread_mutex_unlock(&process.lock);
	return error;
}

int process_wake_fd(void)
{
	if (process_init() < 0)
		return -1;
	return atomic_load_explicit(&process.sock, memory_order_relaxed);
}

/* True when a trustworthy notice came; a new table is attached. */
static bool take_notice(int sock, bool *more)
{
	struct ctl_notice notice;
	uid_t sender;
	int fd;
	ssize_t count = ctl_recv_fd(sock, &notice, sizeof(notice), &fd, &sender);

	*more = count >= 0;
	if (count == sizeof(notice) && notice.magic == CTL_MAGIC && notice.version == CTL_VERSION &&
	    (sender == 0 || sender == geteuid())) {
		if (fd >= 0)
			attach(fd);
		return true;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

static bool refresh(void)
{
	int sock = atomic_load_explicit(&process.sock, memory_order_relaxed);
	bool noticed = false;
	bool more = true;

	if (!fd_is(sock, &process.identity)) {
		atomic_store(&process.sock, -1);
		atomic_store(&process.ready, false);
		return false;
	}
	for (int i = 0; i < NOTICES_AT_ONCE && more; i++)
		noticed |= take_notice(sock, &more);
	/* The socket's queue was full when the controller after this one announced itself. */
	if (noticed && process.table != NULL && atomic_load(&process.table->closed))
		fetch(REFETCH_MS);
	return process.table != NULL && node_table_read(process.table);
}

void process_refresh(void)
{
	void (*changed)(void);
	bool is_new;

	if (!atomic_load_explicit(&process.ready, memory_order_acquire) && process_init() < 0)
		return;
	pthread_mutex_lock(&process.lock);
	is_new = refresh();
	pthread_mutex_unlock(&process.lock);
	changed = atomic_load(&process.changed);
	if (is_new && changed != NULL)
		changed();
}

bool process_dead(pid_t pid)
{
	return pid != 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

void process_on_change(void (*changed)(void))
{
	atomic_store(&process.changed, changed);
}
