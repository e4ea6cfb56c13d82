/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts together the view of a fabric from the controller's table, the socket names and the
 * registries of the processes we may look into.  Whatever another process wrote is copied first and
 * then checked.
 */
#include "fabric_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "census.h"
#include "ctl.h"
#include "node.h"
#include "protection.h"
#include "registry.h"

enum { CONTROLLER_MS = 5000, CAPACITY_MAX = 1 << 20, SLOTS_AT_ONCE = 256 };

static const char *const node_states[] = {"absent", "up", "asleep", "down"};
static const char *const endpoint_states[] = {"unbound",    "bound",	 "listening",
					      "connecting", "connected", "disconnected"};

struct view {
	uint32_t node[NODE_COUNT];
	uint32_t ports;
	struct ucred controller; /* pid 0: none */
	bool heeded;		 /* by the processes of this user */
};

struct gather {
	struct census census;
	json_t *nodes; /* by id, as decimal text */
	pid_t last_pid;
	ino_t last_inode;
};

static void view_default(struct view *view)
{
	*view = (struct view){
		.node = {[0] = NODE_UP, [1] = NODE_UP},
		.ports = PORTS_LOW_DEFAULT << 16 | PORTS_HIGH_DEFAULT,
	};
}

static int view_from_table(struct view *view, int table_fd)
{
	int error;
	const struct node_table *table = ctl_map_table(table_fd, &error);

	close(table_fd);
	if (table == NULL)
		return error;
	for (unsigned node = 0; node <= NODE_MAX; node++)
		view->node[node] = atomic_load(&table->node[node]);
	view->ports = atomic_load(&table->ports);
	munmap((void *)(uintptr_t)table, sizeof(*table));
	return 0;
}

static int view_take(struct view *view, const char *fabric)
{
	struct ctl_request request = {.magic = CTL_MAGIC, .version = CTL_VERSION, .op = CTL_FETCH};
	struct ucred owner = {0};
	int table_fd = -1;
	int sock = ctl_connect(fabric, &owner);
	int error;

	view_default(view);
	if (sock == -ECONNREFUSED)
		return 0;
	if (sock < 0)
		return sock;
	view->controller = owner;
	view->heeded = ctl_heeded(&owner);
	if (!view->heeded) {
		close(sock);
		return 0;
	}
	error = ctl_request(sock, &request, CONTROLLER_MS, &table_fd);
	close(sock);
	if (error == -ECONNRESET) {
		view->controller.pid = 0; /* it was just leaving: the state is the default */
		return 0;
	}
	if (error < 0)
		return error;
	return view_from_table(view, table_fd);
}

static json_t *node_entry(struct gather *gather, uint16_t node)
{
	char key[8];

	snprintf(key, sizeof(key), "%u", node);
	return json_object_get(gather->nodes, key);
}

static json_t *add_node(struct gather *gather, uint16_t node, uint32_t word)
{
	char key[8];
	json_t *entry = json_pack("{s:i, s:s, s:I, s:[]}", "id", node, "state",
				  node_states[node_word_state(word)], "incarnation",
				  (json_int_t)node_word_incarnation(word), "processes");

	snprintf(key, sizeof(key), "%u", node);
	json_object_set_new(gather->nodes, key, entry);
	return entry;
}

static json_t *endpoint_json(int fd, const struct registry_entry *entry)
{
	json_t *endpoint =
		json_pack("{s:i, s:s, s:i, s:o, s:n, s:I, s:I}", "fd", fd, "state",
			  endpoint_states[entry->state], "node", entry->node, "port",
			  entry->port != 0 ? json_integer(entry->port) : json_null(), "peer",
			  "windows", (json_int_t)entry->windows, "bytes", (json_int_t)entry->bytes);

	if (entry->peer_port != 0)
		json_object_set_new(endpoint, "peer",
				    json_pack("{s:i, s:i}", "node", entry->peer_node, "port",
					      entry->peer_port));
	return endpoint;
}

static off_t slot_at(uint32_t index)
{
	return (off_t)(sizeof(struct registry_header) + index * sizeof(struct registry_slot));
}

/* Copies a slot and accepts it only if nobody wrote it meanwhile and its values make sense. */
static bool read_slot(int registry, uint32_t index, struct registry_slot *slot)
{
	for (int attempt = 0; attempt < 100; attempt++) {
		struct registry_slot again;

		if (pread(registry, slot, sizeof(*slot), slot_at(index)) != sizeof(*slot) ||
		    pread(registry, &again, sizeof(again), slot_at(index)) != sizeof(again))
			return false;
		if ((slot->sequence & 1) == 0 && memcmp(slot, &again, sizeof(again)) == 0)
			return slot->used == 1 &&
			       slot->entry.state < sizeof(endpoint_states) / sizeof(char *);
	}
	return false;
}

static void read_endpoint(struct gather *gather, pid_t pid, int registry, uint32_t index,
			  json_t *endpoints)
{
	struct registry_slot slot;
	struct census_name *name;

	if (!read_slot(registry, index, &slot))
		return;
	/* A number that was closed or reused is no endpoint any more. */
	if (census_socket_of(pid, (int)index) != slot.entry.inode)
		return;
	name = census_find(&gather->census, slot.entry.inode);
	if (name != NULL)
		name->claimed = true;
	json_array_append_new(endpoints, endpoint_json((int)index, &slot.entry));
}

/* Most slots are free, and pass by many at a time. */
static void read_registry(struct gather *gather, pid_t pid, int registry, json_t *endpoints)
{
	struct registry_header header;
	struct registry_slot slots[SLOTS_AT_ONCE];

	if (pread(registry, &header, sizeof(header), 0) != sizeof(header) ||
	    header.magic != REGISTRY_MAGIC || header.version != REGISTRY_VERSION ||
	    header.capacity > CAPACITY_MAX)
		return;
	for (uint32_t i = 0; i < header.capacity; i += SLOTS_AT_ONCE) {
		ssize_t got = pread(registry, slots, sizeof(slots), slot_at(i));

		if (got <= 0)
			return;
		for (uint32_t k = 0; (ssize_t)((k + 1) * sizeof(slots[0])) <= got; k++)
			if (slots[k].used != 0 || (slots[k].sequence & 1) != 0)
				read_endpoint(gather, pid, registry, i + k, endpoints);
	}
}

static int open_registry(pid_t pid)
{
	static const char wanted[] = "/memfd:" REGISTRY_NAME " ";
	char path[64], link[64];
	struct dirent *entry;
	int registry = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (dir == NULL)
		return -1;
	while (registry < 0 && (entry = readdir(dir)) != NULL) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link));

		if (len >= (ssize_t)strlen(wanted) && memcmp(link, wanted, strlen(wanted)) == 0)
			registry = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
	}
	closedir(dir);
	return registry;
}

/* The first name of the command, in characters that any document can hold. */
static void read_command(pid_t pid, char *command, size_t size)
{
	char path[64];
	FILE *file;

	command[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fgets(command, (int)size, file) == NULL)
		command[0] = '\0';
	fclose(file);
	command[strcspn(command, "\n")] = '\0';
	for (char *letter = command; *letter != '\0'; letter++)
		if (*letter < ' ' || *letter > '~')
			*letter = '?';
}

static json_t *process_json(struct gather *gather, pid_t pid)
{
	char path[64], command[32];
	struct stat status = {.st_uid = (uid_t)-1};
	json_t *endpoints = json_array();
	int registry = open_registry(pid);

	read_command(pid, command, sizeof(command));
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	stat(path, &status);
	if (registry >= 0) {
		read_registry(gather, pid, registry, endpoints);
		close(registry);
	}
	return json_pack("{s:i, s:I, s:s, s:o}", "pid", (int)pid, "uid", (json_int_t)status.st_uid,
			 "command", command, "endpoints", endpoints);
}

static void visit(void *arg, pid_t pid, int fd, ino_t inode)
{
	struct gather *gather = arg;
	struct census_name *name = census_find(&gather->census, inode);
	json_t *node;

	(void)fd;
	if (name == NULL || !name->is_process || pid == gather->last_pid)
		return;
	gather->last_pid = pid;
	name->claimed = true;
	node = node_entry(gather, name->node);
	if (node == NULL)
		node = add_node(gather, name->node, node_word(NODE_ABSENT, 0));
	json_array_append_new(json_object_get(node, "processes"), process_json(gather, pid));
}

/* Names of processes we may not look into. */
static json_t *others_json(const struct gather *gather)
{
	json_t *others = json_array();

	for (size_t i = 0; i < gather->census.count; i++) {
		const struct census_name *name = &gather->census.names[i];

		if (name->claimed)
			continue;
		if (name->is_process)
			json_array_append_new(others, json_pack("{s:s, s:i}", "kind", "process",
								"node", name->node));
		else
			json_array_append_new(others,
					      json_pack("{s:s, s:i, s:i}", "kind", "port", "node",
							name->node, "port", name->port));
	}
	return others;
}

static json_t *nodes_in_order(const json_t *nodes)
{
	json_t *array = json_array();

	for (unsigned node = 0; node <= NODE_MAX; node++) {
		char key[8];
		json_t *entry;

		snprintf(key, sizeof(key), "%u", node);
		entry = json_object_get(nodes, key);
		if (entry != NULL)
			json_array_append(array, entry);
	}
	return array;
}

static json_t *controller_json(const struct view *view)
{
	if (view->controller.pid == 0)
		return json_null();
	return json_pack("{s:i, s:I, s:b}", "pid", (int)view->controller.pid, "uid",
			 (json_int_t)view->controller.uid, "heeded", view->heeded);
}

json_t *fabric_list(const char *fabric, int *error)
{
	struct gather gather = {.nodes = json_object()};
	json_t *list = NULL;
	struct view view;

	*error = view_take(&view, fabric);
	if (*error == 0)
		*error = census_take(&gather.census, fabric);
	if (*error < 0)
		goto out;
	for (unsigned node = 0; node <= NODE_MAX; node++)
		if (node_word_state(view.node[node]) != NODE_ABSENT)
			add_node(&gather, (uint16_t)node, view.node[node]);
	*error = census_each_socket(visit, &gather);
	if (*error < 0)
		goto out;
	list = json_pack("{s:s, s:s, s:o, s:{s:i, s:i}, s:o, s:o, s:o}", "format", "scif-fabric/1",
			 "fabric", fabric, "controller", controller_json(&view), "ports", "low",
			 (int)(view.ports >> 16), "high", (int)(view.ports & 0xffff), "userfaultfd",
			 protection_json(), "nodes", nodes_in_order(gather.nodes), "others",
			 others_json(&gather));
	if (list == NULL)
		*error = -ENOMEM;
out:
	census_free(&gather.census);
	json_decref(gather.nodes);
	return list;
}

static const char *text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *address(char *room, size_t size, json_int_t node, const json_t *port)
{
	if (json_is_null(port))
		return "-";
	snprintf(room, size, "%d:%d", (int)node, (int)json_integer_value(port));
	return room;
}

static void print_endpoint(FILE *out, const json_t *process, const json_t *endpoint)
{
	char local[32], remote[32];
	const json_t *peer = json_object_get(endpoint, "peer");

	fprintf(out, "%-8d %4d  %-12s  %-10s  %-10s  %7d  %12" PRIdMAX "\n",
		(int)number(process, "pid"), (int)number(endpoint, "fd"), text(endpoint, "state"),
		address(local, sizeof(local), number(endpoint, "node"),
			json_object_get(endpoint, "port")),
		json_is_null(peer) ? "-"
				   : address(remote, sizeof(remote), number(peer, "node"),
					     json_object_get(peer, "port")),
		(int)number(endpoint, "windows"), (intmax_t)number(endpoint, "bytes"));
}

static void print_nodes(FILE *out, const json_t *nodes)
{
	size_t i, j;
	json_t *node, *process;

	fprintf(out, "%-4s  %-6s  %s\n", "NODE", "STATE", "PROCESSES");
	json_array_foreach(nodes, i, node)
	{
		fprintf(out, "%-4d  %-6s ", (int)number(node, "id"), text(node, "state"));
		json_array_foreach(json_object_get(node, "processes"), j, process) fprintf(
			out, " %d(%s)", (int)number(process, "pid"), text(process, "command"));
		fputc('\n', out);
	}
}

static void print_endpoints(FILE *out, const json_t *nodes)
{
	size_t i, j, k;
	json_t *node, *process, *endpoint;

	fprintf(out, "\n%-8s %4s  %-12s  %-10s  %-10s  %7s  %12s\n", "PID", "EPD", "STATE", "LOCAL",
		"PEER", "WINDOWS", "BYTES");
	json_array_foreach(nodes, i, node)
		json_array_foreach(json_object_get(node, "processes"), j, process)
			json_array_foreach(json_object_get(process, "endpoints"), k, endpoint)
				print_endpoint(out, process, endpoint);
}

void fabric_print(FILE *out, const json_t *list)
{
	const json_t *ports = json_object_get(list, "ports");
	const json_t *controller = json_object_get(list, "controller");
	const json_t *protection = json_object_get(list, "userfaultfd");
	const json_t *nodes = json_object_get(list, "nodes");
	size_t others = json_array_size(json_object_get(list, "others"));

	fprintf(out, "fabric %s, ephemeral ports %d-%d, ", text(list, "fabric"),
		(int)number(ports, "low"), (int)number(ports, "high"));
	if (json_is_null(controller))
		fprintf(out, "default state\n");
	else
		fprintf(out, "controller %d%s\n", (int)number(controller, "pid"),
			json_is_true(json_object_get(controller, "heeded"))
				? ""
				: " of another user, not heeded by yours");
	fprintf(out, "write protection while memory is registered (userfaultfd): %s, %s\n\n",
		text(protection, "mode"), text(protection, "detail"));
	print_nodes(out, nodes);
	print_endpoints(out, nodes);
	if (others > 0)
		fprintf(out, "\n%zu more socket names belong to processes of other users\n",
			others);
}
