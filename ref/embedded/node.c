/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The node this process is on, its view of the others, and socket names.
 */
#include "node.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

static struct {
	pthread_mutex_t lock;
	atomic_bool ready;
	uint16_t self;
	char fabric[NODE_FABRIC_MAX + 1];
} identity = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { EVENTS = 1024 };

/*
 * The view is a private copy, a word per node like the table's, so that a reader needs no lock and
 * no mapping that could go away; the words are independent of each other, hence relaxed order.
 */
static struct {
	_Atomic uint32_t node[NODE_COUNT];
	_Atomic uint32_t ports;
	uint32_t table_incarnation[NODE_COUNT]; /* last seen in the current table */
	uint32_t table_events;			/* taken over from the current table */
	_Atomic uint32_t event_count;
	_Atomic uint32_t events[EVENTS];
} view = {
	.node = {[0] = NODE_UP, [1] = NODE_UP},
	.ports = PORTS_LOW_DEFAULT << 16 | PORTS_HIGH_DEFAULT,
};

bool node_parse_number(const char *text, unsigned low, unsigned high, unsigned *number)
{
	unsigned value = 0;

	if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0') || strlen(text) > 8)
		return false;
	for (const char *digit = text; *digit != '\0'; digit++) {
		if (*digit < '0' || *digit > '9')
			return false;
		value = value * 10 + (unsigned)(*digit - '0');
	}
	if (value < low || value > high)
		return false;
	*number = value;
	return true;
}

bool node_fabric_valid(const char *fabric)
{
	size_t len = strlen(fabric);

	/* Letters are spelt out: isalnum() would follow the locale of the program. */
	return len >= 1 && len <= NODE_FABRIC_MAX &&
	       strspn(fabric, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "abcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

static int read_environment(void)
{
	const char *node = secure_getenv("SCIF_NODE");
	const char *fabric = secure_getenv("SCIF_FABRIC");
	unsigned self = 0;

	if (fabric == NULL)
		fabric = "default";
	if (!node_fabric_valid(fabric))
		return -ENXIO;
	if (node != NULL && !node_parse_number(node, 0, NODE_MAX, &self))
		return -ENXIO;
	identity.self = (uint16_t)self;
	strcpy(identity.fabric, fabric);
	return 0;
}

int node_init(void)
{
	int error = 0;

	/* Acquire pairs with the release below: who sees ready sees the identity. */
	if (atomic_load_explicit(&identity.ready, memory_order_acquire))
		return 0;
	pthread_mutex_lock(&identity.lock);
	if (!atomic_load_explicit(&identity.ready, memory_order_relaxed)) {
		error = read_environment();
		if (error == 0)
			atomic_store_explicit(&identity.ready, true, memory_order_release);
	}
	pthread_mutex_unlock(&identity.lock);
	return error;
}

uint16_t node_self(void)
{
	return identity.self;
}

const char *node_fabric(void)
{
	return identity.fabric;
}

static uint32_t view_word(uint16_t node)
{
	if (node > NODE_MAX)
		return NODE_ABSENT;
	return atomic_load_explicit(&view.node[node], memory_order_relaxed);
}

enum node_state node_state(uint16_t node)
{
	enum node_state state = node_word_state(view_word(node));

	return state == NODE_ABSENT && node == identity.self ? NODE_UP : state;
}

bool node_online(uint16_t node)
{
	enum node_state state = node_state(node);

	return state == NODE_UP || state == NODE_ASLEEP;
}

uint32_t node_incarnation(uint16_t node)
{
	return node_word_incarnation(view_word(node));
}

void node_port_range(uint16_t *low, uint16_t *high)
{
	uint32_t ports = atomic_load_explicit(&view.ports, memory_order_relaxed);

	*low = (uint16_t)(ports >> 16);
	*high = (uint16_t)ports;
}

void node_table_replaced(void)
{
	memset(view.table_incarnation, 0, sizeof(view.table_incarnation));
	view.table_events = 0;
}

uint32_t node_event_count(void)
{
	/* Acquire pairs with the release in take_events(): the entries counted are there. */
	return atomic_load_explicit(&view.event_count, memory_order_acquire);
}

uint32_t node_event(uint32_t number)
{
	uint32_t event = atomic_load_explicit(&view.events[number % EVENTS], memory_order_acquire);

	/* Read before the count: an entry that was overwritten meanwhile is noticed. */
	return node_event_count() - number > EVENTS ? 0 : event;
}

static void take_events(const struct node_table *table)
{
	uint32_t count = atomic_load(&table->event_count);
	uint32_t next = atomic_load_explicit(&view.event_count, memory_order_relaxed);

	if (count - view.table_events > NODE_LOG)
		view.table_events = count - NODE_LOG;
	for (; view.table_events != count; view.table_events++, next++) {
		uint32_t event = atomic_load(&table->log[view.table_events % NODE_LOG]);

		atomic_store_explicit(&view.events[next % EVENTS], event, memory_order_relaxed);
		atomic_store_explicit(&view.event_count, next + 1, memory_order_release);
	}
}

static bool set(_Atomic uint32_t *word, uint32_t value)
{
	return atomic_exchange_explicit(word, value, memory_order_relaxed) != value;
}

static bool ports_valid(uint32_t ports)
{
	return ports >> 16 >= PORTS_LOW_DEFAULT && ports >> 16 <= (ports & 0xffff);
}

bool node_table_read(const struct node_table *table)
{
	uint32_t ports = atomic_load(&table->ports);
	bool changed = false;

	for (unsigned node = 0; node <= NODE_MAX; node++) {
		uint32_t word = atomic_load(&table->node[node]);
		uint32_t losses = node_word_incarnation(word) - view.table_incarnation[node];
		uint32_t incarnation = node_word_incarnation(view_word((uint16_t)node)) + losses;

		view.table_incarnation[node] = node_word_incarnation(word);
		changed |= set(&view.node[node], node_word(node_word_state(word), incarnation));
	}
	if (ports_valid(ports))
		changed |= set(&view.ports, ports);
	take_events(table);
	return changed;
}

/* An abstract name: the first byte of sun_path is zero and the length says where the name ends. */
static socklen_t name_finish(struct sockaddr_un *name, int len)
{
	name->sun_family = AF_UNIX;
	name->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

#define NAME_ROOM (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

socklen_t node_port_name(struct sockaddr_un *name, uint16_t node, uint16_t port)
{
	return name_finish(name, snprintf(name->sun_path + 1, NAME_ROOM, FABRIC_NAMES "/%s/%u/%u",
					  identity.fabric, node, port));
}

socklen_t node_process_name(struct sockaddr_un *name, uint16_t node, pid_t pid, unsigned copy)
{
	int len = snprintf(name->sun_path + 1, NAME_ROOM, FABRIC_NAMES "/%s/%u/pid/%d",
			   identity.fabric, node, (int)pid);

	if (copy > 0)
		len += snprintf(name->sun_path + 1 + len, NAME_ROOM - (size_t)len, ".%u", copy);
	return name_finish(name, len);
}

socklen_t node_ctl_name(struct sockaddr_un *name, const char *fabric)
{
	return name_finish(name,
			   snprintf(name->sun_path + 1, NAME_ROOM, FABRIC_NAMES "/%s/ctl", fabric));
}

bool node_parse_port_name(const struct sockaddr_un *name, socklen_t len, uint16_t *node,
			  uint16_t *port)
{
	char text[NAME_ROOM + 1] = "";
	size_t prefix = strlen(FABRIC_NAMES "/") + strlen(identity.fabric) + 1;
	unsigned node_number, port_number;
	char expected[sizeof(FABRIC_NAMES "//") + NODE_FABRIC_MAX];
	char *slash;

	if (len <= offsetof(struct sockaddr_un, sun_path) + 1 || len > sizeof(*name))
		return false;
	if (name->sun_family != AF_UNIX || name->sun_path[0] != '\0')
		return false;
	memcpy(text, name->sun_path + 1, len - offsetof(struct sockaddr_un, sun_path) - 1);
	snprintf(expected, sizeof(expected), FABRIC_NAMES "/%s/", identity.fabric);
	if (strncmp(text, expected, prefix) != 0)
		return false;
	slash = strchr(text + prefix, '/');
	if (slash == NULL)
		return false;
	*slash = '\0';
	if (!node_parse_number(text + prefix, 0, NODE_MAX, &node_number) ||
	    !node_parse_number(slash + 1, 1, 65535, &port_number))
		return false;
	*node = (uint16_t)node_number;
	*port = (uint16_t)port_number;
	return true;
}
