/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds a fabric's node table, changes it on request, announces every change and leaves as soon as
 * the state is the default again.
 */
#include "controller.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "census.h"
#include "ctl.h"
#include "scif_event.h"

enum { CLIENTS = 64, QUEUE = 256, FIRST_CLIENT_MS = 10000, RETRY_MS = 100 };

struct controller {
	const char *fabric;
	struct node_table *table;
	int table_fd;
	int notifier;
	int clients;
	bool asked;   /* to change something */
	bool refused; /* the latest who knocked could not be taken */
	struct pollfd fds[1 + CLIENTS]; /* the listener, then the clients from oldest to newest */
};

static bool online(enum node_state state)
{
	return state == NODE_UP || state == NODE_ASLEEP;
}

static void log_event(struct node_table *table, enum scif_event event, unsigned node)
{
	uint32_t count = atomic_load(&table->event_count);

	atomic_store(&table->log[count % NODE_LOG], (uint32_t)event << 16 | node);
	atomic_store(&table->event_count, count + 1);
}

static void change_node(struct node_table *table, unsigned node, enum node_state state)
{
	uint32_t before = atomic_load(&table->node[node]);
	bool was_online = online(node_word_state(before));
	uint32_t incarnation = node_word_incarnation(before);

	if (was_online && !online(state))
		incarnation++;
	atomic_store(&table->node[node], node_word(state, incarnation));
	if (was_online != online(state))
		log_event(table, was_online ? SCIF_NODE_REMOVED : SCIF_NODE_ADDED, node);
}

static void set_default(struct node_table *table)
{
	for (unsigned node = 0; node <= NODE_MAX; node++)
		change_node(table, node, node <= 1 ? NODE_UP : NODE_ABSENT);
	atomic_store(&table->ports, PORTS_LOW_DEFAULT << 16 | PORTS_HIGH_DEFAULT);
}

static bool is_default(const struct node_table *table)
{
	for (unsigned node = 0; node <= NODE_MAX; node++)
		if (node_word_state(atomic_load(&table->node[node])) !=
		    (node <= 1 ? NODE_UP : NODE_ABSENT))
			return false;
	return atomic_load(&table->ports) == (PORTS_LOW_DEFAULT << 16 | PORTS_HIGH_DEFAULT);
}

static int make_table(struct controller *self)
{
	self->table_fd = memfd_create("scif-nodes", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (self->table_fd < 0)
		return -errno;
	if (ftruncate(self->table_fd, sizeof(*self->table)) < 0)
		return -errno;
	self->table = mmap(NULL, sizeof(*self->table), PROT_READ | PROT_WRITE, MAP_SHARED,
			   self->table_fd, 0);
	if (self->table == MAP_FAILED)
		return -errno;
	self->table->magic = CTL_MAGIC;
	self->table->version = CTL_VERSION;
	set_default(self->table);
	atomic_store(&self->table->event_count, 0);
	/* From here on our mapping is the only way to write it. */
	if (fcntl(self->table_fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	return 0;
}

static void announce_to(const struct controller *self, const struct census_name *process)
{
	struct ctl_notice notice = {
		.magic = CTL_MAGIC,
		.version = CTL_VERSION,
		.generation = atomic_load(&self->table->generation),
	};
	ssize_t sent = ctl_send_fd(self->notifier, &process->name, process->name_len, &notice,
				   sizeof(notice), self->table_fd);

	/* Too many tables in flight: an earlier one is still in this process's queue. */
	if (sent == -ETOOMANYREFS)
		ctl_send_fd(self->notifier, &process->name, process->name_len, &notice,
			    sizeof(notice), -1);
}

static void announce(const struct controller *self)
{
	struct census census;

	atomic_fetch_add(&self->table->generation, 1);
	if (census_take(&census, self->fabric) == 0)
		for (size_t i = 0; i < census.count; i++)
			if (census.names[i].is_process)
				announce_to(self, &census.names[i]);
	census_free(&census);
}

static int allowed(unsigned node, enum node_state from, enum node_state to, bool add)
{
	if (add)
		return from == NODE_ABSENT ? 0 : -EEXIST;
	if (to == NODE_ABSENT && node <= 1)
		return -EBUSY;
	if (from == NODE_ABSENT)
		return -ENOENT;
	if (from == NODE_DOWN && to == NODE_ASLEEP)
		return -EHOSTDOWN;
	return 0;
}

static int set_node(struct controller *self, const struct ctl_request *request)
{
	uint32_t word;
	int error;

	if (request->node > NODE_MAX || request->state > NODE_DOWN)
		return -EINVAL;
	word = atomic_load(&self->table->node[request->node]);
	error = allowed(request->node, node_word_state(word), (enum node_state)request->state,
			request->op == CTL_NODE_ADD);
	if (error < 0)
		return error;
	if (node_word_state(word) == request->state)
		return 0;
	change_node(self->table, request->node, (enum node_state)request->state);
	announce(self);
	return 0;
}

static int set_ports(struct controller *self, const struct ctl_request *request)
{
	if (request->low < PORTS_LOW_DEFAULT || request->low > request->high)
		return -EINVAL;
	atomic_store(&self->table->ports, (uint32_t)request->low << 16 | request->high);
	announce(self);
	return 0;
}

static int reset(struct controller *self)
{
	set_default(self->table);
	announce(self);
	return 0;
}

static bool may_change(int client)
{
	struct ucred owner;
	socklen_t len = sizeof(owner);

	if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &owner, &len) < 0)
		return false;
	return owner.uid == 0 || owner.uid == geteuid();
}

static int perform(struct controller *self, int client, const struct ctl_request *request)
{
	if (request->version != CTL_VERSION)
		return -ENXIO;
	if (request->op == CTL_FETCH)
		return 0;
	if (!may_change(client))
		return -EPERM;
	self->asked = true;
	switch (request->op) {
	case CTL_NODE_SET:
	case CTL_NODE_ADD:
		return set_node(self, request);
	case CTL_PORTS:
		return set_ports(self, request);
	case CTL_RESET:
		return reset(self);
	default:
		return -EINVAL;
	}
}

static bool is_needless(const struct controller *self, bool served)
{
	return is_default(self->table) && (self->asked || (served && self->clients == 0));
}

static bool is_there(const struct controller *self)
{
	return self->fds[0].fd >= 0;
}

/* From the door, and from all but one: a connection shows our name as long as we have it. Who is turned away asks again. */
static void withdraw(struct controller *self, int last)
{
	atomic_store(&self->table->closed, 1);
	for (int i = 0; i <= self->clients; i++) {
		if (self->fds[i].fd == last)
			continue;
		close(self->fds[i].fd);
		self->fds[i].fd = -1;
	}
}

/* False when the client is to be dropped: it left, sent half a request or does not take its reply.
 */
static bool serve(struct controller *self, int client)
{
	struct ctl_request request;
	struct ctl_reply reply = {.magic = CTL_MAGIC, .version = CTL_VERSION};
	int stray;
	ssize_t count = ctl_recv_fd(client, &request, sizeof(request), &stray, NULL);

	if (stray >= 0)
		close(stray);
	if (count != sizeof(request) || request.magic != CTL_MAGIC)
		return false;
	reply.error = perform(self, client, &request);
	if (is_needless(self, false))
		withdraw(self, client);
	reply.generation = atomic_load(&self->table->generation);
	return ctl_send_fd(client, NULL, 0, &reply, sizeof(reply), self->table_fd) == sizeof(reply);
}

static void drop(struct controller *self, int index)
{
	close(self->fds[index].fd);
	memmove(&self->fds[index], &self->fds[index + 1],
		(size_t)(self->clients - index) * sizeof(self->fds[0]));
	self->clients--;
}

static void take_client(struct controller *self)
{
	int client = accept4(self->fds[0].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (client < 0) {
		self->refused = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
		return;
	}
	/* Whoever keeps a connection longest without need gives way. */
	if (self->clients == CLIENTS)
		drop(self, 1);
	self->fds[++self->clients] = (struct pollfd){.fd = client, .events = POLLIN};
}

static void serve_ready(struct controller *self)
{
	for (int i = self->clients; i >= 1 && is_there(self); i--)
		if (self->fds[i].revents != 0 && !serve(self, self->fds[i].fd))
			drop(self, i);
}

/* Where nobody could be taken, for lack of a descriptor, say, those who wait at the door wait a little. */
static int poll_some(struct controller *self, int ms)
{
	self->fds[0].events = self->refused ? 0 : POLLIN;
	return poll(self->fds, (nfds_t)(1 + self->clients), ms);
}

static void run(struct controller *self)
{
	bool served = false;

	while (!is_needless(self, served)) {
		int patience = served ? -1 : FIRST_CLIENT_MS;
		int ready = poll_some(self, self->refused ? RETRY_MS : patience);

		if (ready == 0 && self->refused) {
			self->refused = false;
			continue;
		}
		if (ready == 0)
			break; /* whoever started us died before asking for anything */
		if (ready < 0)
			continue;
		serve_ready(self);
		if (is_there(self) && self->fds[0].revents != 0)
			take_client(self);
		served |= self->clients > 0;
	}
	if (is_there(self))
		withdraw(self, -1);
}

static void close_between(int low, int high)
{
	if (high - low > 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
}

/* The three descriptors we keep were opened one after the other, so their numbers ascend. */
static void detach(struct controller *self)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* Again, so that the socket's credentials name this process, not the one that started it.
	 */
	listen(self->fds[0].fd, QUEUE);
	setsid();
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "scif-fabric-ctl");
	if (chdir("/") < 0)
		return; /* it merely keeps a directory busy */
	/* Whoever reads our output must see its end when scif-fabric ends. */
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	close_between(2, self->fds[0].fd);
	close_between(self->fds[0].fd, self->table_fd);
	close_between(self->table_fd, self->notifier);
	close_between(self->notifier, INT_MAX);
}

/* 1 and the bound socket, 0 when another controller has the name, or a negative errno. */
static int take_name(const char *fabric, int *listener)
{
	struct sockaddr_un name;
	socklen_t len = node_ctl_name(&name, fabric);
	int error = 0;

	*listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*listener < 0)
		return -errno;
	if (bind(*listener, (struct sockaddr *)&name, len) < 0)
		error = -errno;
	else if (listen(*listener, QUEUE) < 0)
		error = -errno;
	if (error == 0)
		return 1;
	close(*listener);
	return error == -EADDRINUSE ? 0 : error;
}

int controller_start(const char *fabric)
{
	struct controller self = {.fabric = fabric, .table_fd = -1, .notifier = -1};
	int listener;
	int result = take_name(fabric, &listener);
	pid_t child;

	if (result <= 0)
		return result;
	self.fds[0] = (struct pollfd){.fd = listener, .events = POLLIN};
	result = make_table(&self);
	if (result < 0)
		goto out;
	self.notifier = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (self.notifier < 0) {
		result = -errno;
		goto out;
	}
	child = fork();
	if (child < 0)
		result = -errno;
	if (child == 0) {
		detach(&self);
		run(&self);
		_exit(0);
	}
out:
	if (self.notifier >= 0)
		close(self.notifier);
	if (self.table_fd >= 0)
		close(self.table_fd);
	close(listener);
	return result;
}
