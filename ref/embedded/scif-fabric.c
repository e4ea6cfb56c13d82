/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-fabric: shows a fabric of the reference library and changes the state of its nodes and
 * ports.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "controller.h"
#include "ctl.h"
#include "expel.h"
#include "fabric_list.h"
#include "node.h"
#include "../hw/device.h"
#include "docs/scif-fabric.usage.h"

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };
enum { REPLY_MS = 10000, ATTEMPTS = 200, BETWEEN_MS = 5 };

struct options {
	const char *fabric;
	bool json;
};

/* One line, whatever control characters a quoted value has. */
__attribute__((format(printf, 2, 3))) static int complain(int status, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	for (char *at = line; *at != '\0'; at++)
		if (iscntrl((unsigned char)*at))
			*at = '?';
	fprintf(stderr, "scif-fabric: %s\n", line);
	return status;
}

static int print_json(json_t *document)
{
	int result = document == NULL
			     ? -1
			     : json_dumpf(document, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

	json_decref(document);
	if (result < 0 || putchar('\n') == EOF || fflush(stdout) == EOF)
		return complain(EXIT_FAILED, "the document could not be written");
	return EXIT_OK;
}

/*
 * Waits until the controller has done with a connection. One that leaves, because the state is the default, has then
 * gone with its name.
 */
static void part(int sock)
{
	struct pollfd entry = {.fd = sock};

	shutdown(sock, SHUT_WR);
	poll(&entry, 1, REPLY_MS);
	close(sock);
}

/* One attempt: with the controller that is there, or with one started for the purpose. */
static int ask_once(const char *fabric, const struct ctl_request *request)
{
	struct ucred owner;
	int table_fd = -1;
	int sock = ctl_connect(fabric, &owner);
	int error;

	if (sock == -ECONNREFUSED) {
		error = controller_start(fabric);
		if (error < 0)
			return error;
		sock = ctl_connect(fabric, &owner);
	}
	if (sock < 0)
		return sock;
	error = ctl_request(sock, request, REPLY_MS, &table_fd);
	if (table_fd >= 0)
		close(table_fd);
	part(sock);
	return error;
}

/*
 * A controller that leaves because its state became the default drops whoever came too late, and
 * one that is starting has a name before it listens: both pass within moments.
 */
static int ask(const char *fabric, struct ctl_request request)
{
	int error = 0;

	request.magic = CTL_MAGIC;
	request.version = CTL_VERSION;
	for (int i = 0; i < ATTEMPTS; i++) {
		error = ask_once(fabric, &request);
		if (error != -ECONNRESET && error != -ECONNREFUSED && error != -EPIPE &&
		    error != -EAGAIN)
			return error;
		poll(NULL, 0, BETWEEN_MS);
	}
	return error;
}

static int explain(const char *fabric, int error, unsigned node)
{
	switch (error) {
	case -EPERM:
		return complain(EXIT_FAILED, "the controller of fabric %s belongs to another user",
				fabric);
	case -ENXIO:
		return complain(EXIT_FAILED, "the controller of fabric %s is of another version",
				fabric);
	case -ENOENT:
		return complain(EXIT_FAILED, "there is no node %u; add it first", node);
	case -EEXIST:
		return complain(EXIT_FAILED, "node %u exists already", node);
	case -EBUSY:
		return complain(EXIT_FAILED, "node %u is part of every fabric", node);
	case -EHOSTDOWN:
		return complain(EXIT_FAILED, "node %u is down; bring it up first", node);
	case -ETIMEDOUT:
		return complain(EXIT_FAILED, "the controller of fabric %s does not answer", fabric);
	default:
		return complain(EXIT_FAILED, "the controller of fabric %s: %s", fabric,
				strerror(-error));
	}
}

static int list(const struct options *options)
{
	int error;
	json_t *document = fabric_list(options->fabric, &error);

	if (document == NULL)
		return explain(options->fabric, error, 0);
	if (options->json)
		return print_json(document);
	fabric_print(stdout, document);
	json_decref(document);
	return fflush(stdout) == EOF ? EXIT_FAILED : EXIT_OK;
}

/* Asked before a node is marked lost: it must not be lost to its processes and yet keep them. */
static int may_end_members(const struct options *options, unsigned node)
{
	int error = expel_permitted(options->fabric, (uint16_t)node);

	if (error == 0)
		return EXIT_OK;
	if (error == -EPERM)
		return complain(EXIT_FAILED,
				"a process on node %u is not ours to end; nothing was changed",
				node);
	return complain(EXIT_FAILED, "the processes on node %u cannot be looked at: %s", node,
			strerror(-error));
}

static int end_members(const struct options *options, unsigned node, struct expelled *expelled)
{
	int error = expel(options->fabric, (uint16_t)node, expelled);

	if (error == 0)
		return EXIT_OK;
	if (expelled->stuck == 0)
		return complain(EXIT_FAILED, "node %u is lost, but a process on it is not ours",
				node);
	return complain(EXIT_FAILED, "node %u is lost, but process %d could not be ended: %s", node,
			(int)expelled->stuck, strerror(-error));
}

struct verb {
	const char *name;
	enum ctl_op op;
	enum node_state state;
	const char *result;
};

static const struct verb verbs[] = {
	{"add", CTL_NODE_ADD, NODE_UP, "up"},
	{"down", CTL_NODE_SET, NODE_DOWN, "down"},
	{"sleep", CTL_NODE_SET, NODE_ASLEEP, "asleep"},
	{"up", CTL_NODE_SET, NODE_UP, "up"},
	{"remove", CTL_NODE_SET, NODE_ABSENT, "removed"},
};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static int node(const struct options *options, const char *verb_name, const char *number)
{
	const struct verb *verb = find_verb(verb_name);
	struct expelled expelled = {0};
	unsigned id;
	bool ends;
	int error;

	if (!node_parse_number(number, 0, NODE_MAX, &id))
		return complain(EXIT_USAGE, "%s is no node: a node is a number from 0 to %d",
				number, NODE_MAX);
	ends = verb->state == NODE_DOWN || verb->state == NODE_ABSENT;
	if (ends && may_end_members(options, id) != EXIT_OK)
		return EXIT_FAILED;
	error = ask(options->fabric, (struct ctl_request){.op = verb->op,
							  .node = (uint16_t)id,
							  .state = (uint16_t)verb->state});
	if (error < 0)
		return explain(options->fabric, error, id);
	if (ends && end_members(options, id, &expelled) != EXIT_OK)
		return EXIT_FAILED;
	if (options->json)
		return print_json(json_pack("{s:s, s:s, s:i, s:s, s:i}", "format", "scif-fabric/1",
					    "fabric", options->fabric, "node", (int)id, "state",
					    verb->result, "ended", (int)expelled.count));
	printf("node %u is %s", id, verb->result);
	if (ends)
		printf(", %u process%s ended", expelled.count, expelled.count == 1 ? "" : "es");
	putchar('\n');
	return EXIT_OK;
}

static bool parse_range(const char *range, unsigned *low, unsigned *high)
{
	char first[8];
	const char *dash = strchr(range, '-');

	if (strcmp(range, "default") == 0) {
		*low = PORTS_LOW_DEFAULT;
		*high = PORTS_HIGH_DEFAULT;
		return true;
	}
	if (dash == NULL || (size_t)(dash - range) >= sizeof(first))
		return false;
	memcpy(first, range, (size_t)(dash - range));
	first[dash - range] = '\0';
	return node_parse_number(first, PORTS_LOW_DEFAULT, PORTS_HIGH_DEFAULT, low) &&
	       node_parse_number(dash + 1, *low, PORTS_HIGH_DEFAULT, high);
}

static int ports(const struct options *options, const char *range)
{
	unsigned low, high;
	int error;

	if (!parse_range(range, &low, &high))
		return complain(EXIT_USAGE,
				"%s is no range of ports: use LOW-HIGH within %d-%d, or default",
				range, PORTS_LOW_DEFAULT, PORTS_HIGH_DEFAULT);
	error = ask(options->fabric, (struct ctl_request){.op = CTL_PORTS,
							  .low = (uint16_t)low,
							  .high = (uint16_t)high});
	if (error < 0)
		return explain(options->fabric, error, 0);
	if (options->json)
		return print_json(json_pack("{s:s, s:s, s:{s:i, s:i}}", "format", "scif-fabric/1",
					    "fabric", options->fabric, "ports", "low", (int)low,
					    "high", (int)high));
	printf("ephemeral ports are %u-%u\n", low, high);
	return EXIT_OK;
}

static int lose_node(const struct options *options, unsigned node)
{
	struct expelled expelled;

	ask(options->fabric,
	    (struct ctl_request){.op = CTL_NODE_SET, .node = (uint16_t)node, .state = NODE_DOWN});
	return end_members(options, node, &expelled);
}

/* Calls `act` for every node that the default does not have until one call fails. */
static int each_added_node(const struct options *options,
			   int (*act)(const struct options *options, unsigned node))
{
	int status = EXIT_OK, error = 0;
	json_t *document = fabric_list(options->fabric, &error);
	json_t *entry;
	size_t i;

	if (document == NULL)
		return explain(options->fabric, error, 0);
	json_array_foreach(json_object_get(document, "nodes"), i, entry)
	{
		unsigned id = (unsigned)json_integer_value(json_object_get(entry, "id"));
		const char *state = json_string_value(json_object_get(entry, "state"));

		if (id > 1 && strcmp(state, "absent") != 0 && status == EXIT_OK)
			status = act(options, id);
	}
	json_decref(document);
	return status;
}

static int reset(const struct options *options)
{
	int error = each_added_node(options, may_end_members);

	if (error == EXIT_OK)
		error = each_added_node(options, lose_node);
	if (error != EXIT_OK)
		return error;
	error = ask(options->fabric, (struct ctl_request){.op = CTL_RESET});
	if (error < 0)
		return explain(options->fabric, error, 0);
	if (options->json)
		return print_json(json_pack("{s:s, s:s, s:b}", "format", "scif-fabric/1", "fabric",
					    options->fabric, "default", 1));
	puts("the state is the default");
	return EXIT_OK;
}

struct command {
	const char *name;
	int arguments;
	const char *form; /* how it is typed */
};

static const struct command commands[] = {
	{"list", 0, "list"},
	{"node", 2, "node add|down|sleep|up|remove N"},
	{"ports", 1, "ports LOW-HIGH"},
	{"reset", 0, "reset"},
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* EXIT_OK when the words are a command with as many arguments as it takes. */
static int check_words(int argc, char **argv)
{
	const struct command *command = find_command(argv[0]);
	char form[64];

	if (command == NULL)
		return complain(EXIT_USAGE,
				"\"%s\" is no command: the choice is list, node, ports or reset",
				argv[0]);
	snprintf(form, sizeof(form), "%s", command->form);
	if (argc > 1 && strcmp(command->name, "node") == 0) {
		if (find_verb(argv[1]) == NULL)
			return complain(
				EXIT_USAGE,
				"node %s: the choice is add, down, sleep, up or remove, then N",
				argv[1]);
		snprintf(form, sizeof(form), "node %s N", argv[1]);
	}
	if (argc - 1 < command->arguments)
		return complain(EXIT_USAGE, "\"%s%s%s\" lacks an argument: use \"%s\"", argv[0],
				argc > 1 ? " " : "", argc > 1 ? argv[1] : "", form);
	if (argc - 1 > command->arguments)
		return complain(EXIT_USAGE, "\"%s\" is one argument too many for \"%s\"",
				argv[1 + command->arguments], form);
	return EXIT_OK;
}

static int run_command(const struct options *options, int argc, char **argv)
{
	int status = argc == 0 ? EXIT_OK : check_words(argc, argv);

	if (status != EXIT_OK)
		return status;
	if (argc == 0 || strcmp(argv[0], "list") == 0)
		return list(options);
	if (strcmp(argv[0], "node") == 0)
		return node(options, argv[1], argv[2]);
	if (strcmp(argv[0], "ports") == 0)
		return ports(options, argv[1]);
	return reset(options);
}

/* A card's driver has nodes of its own, which this tool neither sees nor changes. */
static int check_provider(const char *name)
{
	enum hw_family family;
	struct hw_device device;

	if (name == NULL || strcmp(name, "embedded") == 0)
		return EXIT_OK;
	if (!hw_family_named(name, &family))
		return complain(
			EXIT_USAGE,
			"SCIF_PROVIDER is \"%s\": embedded, hw, hw:knc or hw:mpss4 is needed",
			name);
	hw_device_find(family, &device);
	if (!device.present)
		return complain(EXIT_USAGE, "SCIF_PROVIDER is \"%s\", but there is no %s", name,
				device.path);
	return complain(EXIT_USAGE,
			"SCIF_PROVIDER is \"%s\": fabrics belong to the embedded provider", name);
}

/* What the library would refuse the tool does not take for a default either. */
static int check_environment(const char *fabric)
{
	const char *node_text = secure_getenv("SCIF_NODE");
	int provider = check_provider(secure_getenv("SCIF_PROVIDER"));
	unsigned id;

	if (provider != EXIT_OK)
		return provider;
	if (node_text != NULL && !node_parse_number(node_text, 0, NODE_MAX, &id))
		return complain(EXIT_USAGE, "SCIF_NODE is \"%s\": a number from 0 to %d is needed",
				node_text, NODE_MAX);
	if (fabric != NULL && !node_fabric_valid(fabric))
		return complain(
			EXIT_USAGE,
			"SCIF_FABRIC is \"%s\": 1 to %d letters, digits, _ and - are needed",
			fabric, NODE_FABRIC_MAX);
	return EXIT_OK;
}

/* So that no descriptor opened later gets a standard number. */
static void open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"fabric", required_argument, NULL, 'f'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	struct options options = {0};
	const char *environment = secure_getenv("SCIF_FABRIC");
	int option, status;

	open_standard();
	while ((option = getopt_long(argc, argv, "f:jhV", long_options, NULL)) != -1) {
		switch (option) {
		case 'f':
			options.fabric = optarg;
			break;
		case 'j':
			options.json = true;
			break;
		case 'h':
			fputs(USAGE_TEXT, stdout);
			return EXIT_OK;
		case 'V':
			puts("scif-fabric " PACKAGE_VERSION);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (check_environment(options.fabric != NULL ? NULL : environment) != EXIT_OK)
		return EXIT_USAGE;
	if (options.fabric == NULL)
		options.fabric = environment != NULL ? environment : "default";
	if (!node_fabric_valid(options.fabric))
		return complain(EXIT_USAGE, "\"%s\" is no fabric: 1 to %d letters, digits, _ and -",
				options.fabric, NODE_FABRIC_MAX);
	status = run_command(&options, argc - optind, argv + optind);
	if (fflush(stdout) == EOF)
		return complain(EXIT_FAILED, "standard output: %s", strerror(errno));
	return status;
}
