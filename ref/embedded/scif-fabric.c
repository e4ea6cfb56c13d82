/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-fabric: shows a fabric of the reference library and changes the state of its nodes and
 * ports.
 */
#include "config.h"

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
#include <unistd.h>

#include "controller.h"
#include "ctl.h"
#include "expel.h"
#include "fabric_list.h"
#include "node.h"

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };
enum { REPLY_MS = 10000, ATTEMPTS = 200, BETWEEN_MS = 5 };

static const char usage_text[] =
	"usage: scif-fabric [-f FABRIC] [--json] [COMMAND]\n"
	"\n"
	"  list                 nodes, processes, endpoints (the default command)\n"
	"  node add N           add node N, 0 to 256\n"
	"  node down N          mark node N lost and end its processes\n"
	"  node sleep N         put node N to sleep\n"
	"  node up N            bring node N up\n"
	"  node remove N        take back what add did, end the processes of node N\n"
	"  ports LOW-HIGH       assign ephemeral ports from this range only\n"
	"  ports default        assign them from 1088 to 65535 again\n"
	"  reset                back to nodes 0 and 1 up and all ports\n"
	"\n"
	"  -f, --fabric FABRIC  instead of SCIF_FABRIC or \"default\"\n"
	"  -j, --json           print one JSON document\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

struct options {
	const char *fabric;
	bool json;
};

__attribute__((format(printf, 2, 3))) static int complain(int status, const char *format, ...)
{
	va_list args;

	fputs("scif-fabric: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
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
	close(sock);
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

	if (verb == NULL)
		return complain(EXIT_USAGE, "node %s: the choice is add, down, sleep, up or remove",
				verb_name);
	if (!node_parse_number(number, 0, NODE_MAX, &id))
		return complain(EXIT_USAGE, "%s is no node: a node is a number from 0 to %d",
				number, NODE_MAX);
	error = ask(options->fabric, (struct ctl_request){.op = verb->op,
							  .node = (uint16_t)id,
							  .state = (uint16_t)verb->state});
	if (error < 0)
		return explain(options->fabric, error, id);
	ends = verb->state == NODE_DOWN || verb->state == NODE_ABSENT;
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

/* Nodes that the default does not have are lost, their processes with them. */
static int end_added_nodes(const struct options *options)
{
	struct expelled expelled;
	int error = 0;
	json_t *document = fabric_list(options->fabric, &error);
	json_t *entry;
	size_t i;

	if (document == NULL)
		return explain(options->fabric, error, 0);
	error = EXIT_OK;
	json_array_foreach(json_object_get(document, "nodes"), i, entry)
	{
		unsigned id = (unsigned)json_integer_value(json_object_get(entry, "id"));
		const char *state = json_string_value(json_object_get(entry, "state"));

		if (id <= 1 || strcmp(state, "absent") == 0)
			continue;
		ask(options->fabric, (struct ctl_request){.op = CTL_NODE_SET,
							  .node = (uint16_t)id,
							  .state = NODE_DOWN});
		if (end_members(options, id, &expelled) != EXIT_OK)
			error = EXIT_FAILED;
	}
	json_decref(document);
	return error;
}

static int reset(const struct options *options)
{
	int error = end_added_nodes(options);

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

static int run_command(const struct options *options, int argc, char **argv)
{
	if (argc == 0 || (argc == 1 && strcmp(argv[0], "list") == 0))
		return list(options);
	if (argc == 3 && strcmp(argv[0], "node") == 0)
		return node(options, argv[1], argv[2]);
	if (argc == 2 && strcmp(argv[0], "ports") == 0)
		return ports(options, argv[1]);
	if (argc == 1 && strcmp(argv[0], "reset") == 0)
		return reset(options);
	return complain(EXIT_USAGE, "\"%s\" is no complete command; --help lists them", argv[0]);
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
	struct options options = {.fabric = getenv("SCIF_FABRIC")};
	int option;

	open_standard();
	if (options.fabric == NULL)
		options.fabric = "default";
	while ((option = getopt_long(argc, argv, "f:jhV", long_options, NULL)) != -1) {
		switch (option) {
		case 'f':
			options.fabric = optarg;
			break;
		case 'j':
			options.json = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return EXIT_OK;
		case 'V':
			puts("scif-fabric " PACKAGE_VERSION);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (!node_fabric_valid(options.fabric))
		return complain(EXIT_USAGE, "\"%s\" is no fabric: 1 to %d letters, digits, _ and -",
				options.fabric, NODE_FABRIC_MAX);
	return run_command(&options, argc - optind, argv + optind);
}
