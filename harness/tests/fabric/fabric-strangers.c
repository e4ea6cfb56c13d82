/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that speak to those of a fabric past the library and the tool: to its controller with
 * requests that nobody makes, as its controller with answers that none gives, as a member whose
 * description is not to be believed. They change nothing, leave no descriptor, and hold nobody up.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <scif.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "ends.h"
#include "hand_made.h"
#include "registry.h"

enum {
	CROWD = 70, /* more than a controller keeps */
	OPENED = 200,
	EVENTS = 1000,
	MISSING = 1000, /* endpoints, of a description that ends before them */
	TEXT = 8192,
	LIMIT_SECONDS = 60
};

#define CONTROLLER "scif/%s/ctl"
#define PROCESS	   "scif/%s/0/pid/%d"

static char fabric[40];
static int failed;

static void say(bool good, const char *about, const char *what)
{
	printf("%s: %s%s\n", good ? "ok" : "not ok", about, what);
	failed += !good;
}

/* The tool's output, both streams; ended by closing the returned stream. */
static FILE *tool(const char *arguments)
{
	char command[100];
	FILE *output;

	snprintf(command, sizeof(command), "./scif-fabric %s 2>&1", arguments);
	output = popen(command, "r");
	must(output == NULL ? -1 : 0, "popen");
	return output;
}

/* Its exit status. */
static int finish(FILE *output, char text[TEXT])
{
	size_t length = fread(text, 1, TEXT - 1, output);

	text[length] = '\0';
	return WEXITSTATUS(pclose(output));
}

static int descriptors_of(pid_t pid)
{
	char path[40];
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	must(dir == NULL ? -1 : 0, path);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

/* --- requests --- */

static int reach_controller(struct ucred *owner)
{
	struct sockaddr_un name;
	socklen_t length = hand_made_name(&name, CONTROLLER, fabric, 0), size = sizeof(*owner);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(connect(fd, (struct sockaddr *)&name, length), "connect");
	if (owner != NULL)
		must(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, owner, &size), "SO_PEERCRED");
	return fd;
}

static const struct {
	const char *name;
	struct ctl_request request;
	size_t length;
	size_t files;
	int error; /* 1: no answer */
} requests[] = {
	{"a right one",
	 {CTL_MAGIC, CTL_VERSION, CTL_FETCH, 0, 0, 0, 0},
	 sizeof(struct ctl_request),
	 0,
	 0},
	{"one with files",
	 {CTL_MAGIC, CTL_VERSION, CTL_FETCH, 0, 0, 0, 0},
	 sizeof(struct ctl_request),
	 3,
	 0},
	{"half a request", {CTL_MAGIC, CTL_VERSION, CTL_FETCH, 0, 0, 0, 0}, 8, 0, 1},
	{"another magic",
	 {1, CTL_VERSION, CTL_FETCH, 0, 0, 0, 0},
	 sizeof(struct ctl_request),
	 0,
	 1},
	{"another version",
	 {CTL_MAGIC, 99, CTL_FETCH, 0, 0, 0, 0},
	 sizeof(struct ctl_request),
	 0,
	 -ENXIO},
	{"no operation",
	 {CTL_MAGIC, CTL_VERSION, 99, 0, 0, 0, 0},
	 sizeof(struct ctl_request),
	 0,
	 -EINVAL},
	{"a node beyond all",
	 {CTL_MAGIC, CTL_VERSION, CTL_NODE_ADD, NODE_MAX + 1, NODE_UP, 0, 0},
	 sizeof(struct ctl_request),
	 0,
	 -EINVAL},
	{"a state beyond all",
	 {CTL_MAGIC, CTL_VERSION, CTL_NODE_SET, 0, NODE_DOWN + 1, 0, 0},
	 sizeof(struct ctl_request),
	 0,
	 -EINVAL},
	{"ports that are bound by number",
	 {CTL_MAGIC, CTL_VERSION, CTL_PORTS, 0, 0, 5, 2000},
	 sizeof(struct ctl_request),
	 0,
	 -EINVAL},
	{"a range that ends before it begins",
	 {CTL_MAGIC, CTL_VERSION, CTL_PORTS, 0, 0, 3000, 2000},
	 sizeof(struct ctl_request),
	 0,
	 -EINVAL},
};
enum { REQUESTS = sizeof(requests) / sizeof(requests[0]), WITH_FILES = 1, AGAIN = 12 };

static int answer_to(int number)
{
	struct ctl_reply reply = {.error = 1};
	int fd = reach_controller(NULL), files[HAND_MADE_FDS] = {0};

	must(hand_made_send(fd, &requests[number].request, requests[number].length, files,
			    requests[number].files, 0),
	     "sendmsg");
	/* The descriptor that comes with it goes, as there is no room for it. */
	ssize_t got = recv(fd, &reply, sizeof(reply), MSG_WAITALL);
	close(fd);
	return got == sizeof(reply) ? reply.error : 1;
}

static void ask_for_nonsense(pid_t controller)
{
	int before = descriptors_of(controller);

	for (int i = 0; i < REQUESTS; i++)
		say(answer_to(i) == requests[i].error, "a request: ", requests[i].name);
	for (int i = 0; i < AGAIN; i++)
		answer_to(WITH_FILES);
	/* The last ones may not have been seen to leave. */
	say(descriptors_of(controller) < before + AGAIN / 2, "a controller ",
	    "keeps nothing of them");
}

/* Who keeps a connection longest gives way. */
static void crowd(void)
{
	int fds[CROWD];
	char byte;

	for (int i = 0; i < CROWD; i++)
		fds[i] = reach_controller(NULL);
	say(answer_to(0) == 0, "a controller ", "answers though many keep a connection");
	say(recv(fds[0], &byte, 1, 0) == 0, "a controller ", "drops the oldest of too many");
	say(recv(fds[CROWD - 1], &byte, 1, MSG_DONTWAIT) < 0, "a controller ", "keeps the newest");
	for (int i = 0; i < CROWD; i++)
		close(fds[i]);
}

static void disturb_controller(void)
{
	struct ucred owner;
	char text[TEXT];

	must(finish(tool("node sleep 1"), text) == 0 ? 0 : -1, "scif-fabric node sleep 1");
	int fd = reach_controller(&owner);
	ask_for_nonsense(owner.pid);
	crowd();
	close(fd);
	finish(tool("list"), text);
	say(strstr(text, "\n1     asleep") != NULL, "the fabric ", "is as it was");
	must(finish(tool("reset"), text) == 0 ? 0 : -1, "scif-fabric reset");
}

/* From here on every such call is refused. */
static void refuse(int call, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp");
}

/*
 * A controller whose starter never comes to ask, as if it never listened, leaves by itself: it
 * becomes a child of ours, and ends.
 */
static void leave_controller_alone(void)
{
	int status, ended = 0;
	pid_t pid;

	must(prctl(PR_SET_CHILD_SUBREAPER, 1), "PR_SET_CHILD_SUBREAPER");
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		refuse(SYS_connect, ECONNREFUSED);
		dup2(null, STDERR_FILENO);
		execl("./scif-fabric", "scif-fabric", "node", "add", "5", NULL);
		_exit(BROKEN);
	}
	while (wait(&status) > 0)
		ended++;
	say(ended == 2, "a controller ", "that nobody asks anything leaves");
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* --- answers --- */

enum file { NONE, A_TABLE, UNSEALED, SHORT, ANOTHER_MAGIC, ANOTHER_VERSION, NOT_TO_BE_READ };

static const struct answer {
	const char *name;
	struct ctl_reply reply;
	size_t length; /* 0: hangs up */
	enum file file;
	int result; /* of a program that opens an endpoint: its errno, or OPENED and how many nodes
		       it sees */
	const char *said; /* by the tool */
} answers[] = {
	{"a right one",
	 {CTL_MAGIC, CTL_VERSION, 0, 1},
	 sizeof(struct ctl_reply),
	 A_TABLE,
	 OPENED + 3,
	 "\n5     up"},
	{"it leaves", {0, 0, 0, 0}, 0, NONE, OPENED + 2, "default state"},
	{"half an answer",
	 {CTL_MAGIC, CTL_VERSION, 0, 1},
	 8,
	 A_TABLE,
	 OPENED + 2,
	 "Protocol error"},
	{"another magic",
	 {1, CTL_VERSION, 0, 1},
	 sizeof(struct ctl_reply),
	 A_TABLE,
	 OPENED + 2,
	 "Protocol error"},
	{"an error that is none",
	 {CTL_MAGIC, CTL_VERSION, 5, 1},
	 sizeof(struct ctl_reply),
	 A_TABLE,
	 OPENED + 2,
	 "Protocol error"},
	{"no table",
	 {CTL_MAGIC, CTL_VERSION, 0, 1},
	 sizeof(struct ctl_reply),
	 NONE,
	 OPENED + 2,
	 "Protocol error"},
	{"a table that may shrink",
	 {CTL_MAGIC, CTL_VERSION, 0, 1},
	 sizeof(struct ctl_reply),
	 UNSEALED,
	 OPENED + 2,
	 "Protocol error"},
	{"half a table",
	 {CTL_MAGIC, CTL_VERSION, 0, 1},
	 sizeof(struct ctl_reply),
	 SHORT,
	 OPENED + 2,
	 "Protocol error"},
	{"a table of another magic",
	 {CTL_MAGIC, CTL_VERSION, 0, 1},
	 sizeof(struct ctl_reply),
	 ANOTHER_MAGIC,
	 OPENED + 2,
	 "Protocol error"},
	{"a table of another version",
	 {CTL_MAGIC, CTL_VERSION, 0, 1},
	 sizeof(struct ctl_reply),
	 ANOTHER_VERSION,
	 ENXIO,
	 "is of another version"},
	{"a table that cannot be read",
	 {CTL_MAGIC, CTL_VERSION, 0, 1},
	 sizeof(struct ctl_reply),
	 NOT_TO_BE_READ,
	 OPENED + 2,
	 "Permission denied"},
};
enum { ANSWERS = sizeof(answers) / sizeof(answers[0]) };

/* With more events behind it than it keeps. */
static void write_table(int fd, uint32_t magic, uint32_t version)
{
	static struct node_table table;

	table = (struct node_table){.magic = magic, .version = version, .event_count = EVENTS};
	table.ports = PORTS_LOW_DEFAULT << 16 | PORTS_HIGH_DEFAULT;
	table.node[0] = table.node[1] = table.node[5] = NODE_UP;
	must(pwrite(fd, &table, sizeof(table), 0), "pwrite");
}

static int make_file(enum file kind)
{
	size_t size = kind == SHORT ? 16 : sizeof(struct node_table);
	int fd;

	if (kind == NONE)
		return -1;
	fd = hand_made_memory(size, 0);
	if (kind != SHORT)
		write_table(fd, kind == ANOTHER_MAGIC ? 1 : CTL_MAGIC,
			    kind == ANOTHER_VERSION ? 99 : CTL_VERSION);
	if (kind != UNSEALED)
		must(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), "F_ADD_SEALS");
	return kind == NOT_TO_BE_READ ? hand_made_reopened(fd, O_WRONLY) : fd;
}

static void give(int listener, const struct answer *a)
{
	struct ctl_request request;
	int sock = accept(listener, NULL, NULL), file = make_file(a->file);

	must(sock, "accept");
	must(recv(sock, &request, sizeof(request), MSG_WAITALL), "recv");
	if (a->length > 0)
		must(hand_made_send(sock, &a->reply, a->length, &file, file >= 0, 0), "sendmsg");
	close(sock);
	if (file >= 0)
		close(file);
}

static int nodes_seen(void)
{
	uint16_t ids[NODE_COUNT], self;

	return scif_get_nodeIDs(ids, NODE_COUNT, &self);
}

static bool is_taken(int listener, const struct answer *a)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(scif_open() == SCIF_OPEN_FAILED ? errno : OPENED + nodes_seen());
	give(listener, a);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != a->result)
		printf("  %#x\n", (unsigned)status);
	return WIFEXITED(status) && WEXITSTATUS(status) == a->result;
}

static bool is_explained(int listener, const struct answer *a)
{
	char text[TEXT];
	FILE *output = tool("list");

	give(listener, a);
	finish(output, text);
	if (strstr(text, a->said) == NULL)
		printf("  %s\n", text);
	return strstr(text, a->said) != NULL;
}

/* Memory for the question is not memory for an endpoint. */
static bool cannot_be_asked(int listener)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		refuse(SYS_sendmsg, ENOBUFS);
		_exit(scif_open() == SCIF_OPEN_FAILED ? errno : OPENED);
	}
	waitpid(pid, &status, 0);
	close(accept(listener, NULL, NULL));
	return WIFEXITED(status) && WEXITSTATUS(status) == ENOMEM;
}

static void be_the_controller(void)
{
	int listener = hand_made_socket(0, CONTROLLER, fabric, 0);

	must(listen(listener, 4), "listen");
	say(cannot_be_asked(listener), "a program ", "that has no memory to ask");
	for (int i = 0; i < ANSWERS; i++) {
		say(is_taken(listener, &answers[i]), "answered to a program: ", answers[i].name);
		say(is_explained(listener, &answers[i]), "answered to the tool: ", answers[i].name);
	}
	close(listener);
}

/* --- notices --- */

/* A member whose notices come from us; it looks at them when it asks for the nodes. */
static int await_notice(int told, int go)
{
	char byte = 'o';
	int before;

	scif_open();
	before = descriptors_of(getpid());
	must(write(told, &byte, 1), "write");
	must(read(go, &byte, 1), "read");
	return nodes_seen() == 2 && descriptors_of(getpid()) == before ? 0 : 1;
}

static void notify_falsely(void)
{
	struct ctl_notice notice = {1, CTL_VERSION, 1};
	struct sockaddr_un name;
	int told[2], go[2], status, files[3], sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char byte;

	must(pipe2(told, O_CLOEXEC) | pipe2(go, O_CLOEXEC), "pipe2");
	pid_t pid = fork();
	if (pid == 0)
		_exit(await_notice(told[1], go[0]));
	must(read(told[0], &byte, 1), "read");
	socklen_t length = hand_made_name(&name, PROCESS, fabric, (int)pid);
	must(connect(sock, (struct sockaddr *)&name, length), "connect");
	for (int i = 0; i < 3; i++)
		files[i] = make_file(A_TABLE);
	must(hand_made_send(sock, &notice, sizeof(notice), files, 3, 0), "sendmsg");
	must(write(go[1], "g", 1), "write");
	waitpid(pid, &status, 0);
	say(status == 0, "a notice of another magic ", "is dropped with its files");
	for (int i = 0; i < 3; i++)
		close(files[i]);
	close(sock);
}

/* --- members --- */

static int named(const char *format, int number)
{
	struct sockaddr_un name;
	socklen_t length = hand_made_name(&name, format, fabric, number);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	must(bind(fd, (struct sockaddr *)&name, length), "bind");
	return fd;
}

/* One endpoint that is, with no port; one being written for ever, one of another socket, and half
 * of one. */
static void describe_falsely(int fd, int sock)
{
	struct registry_header header = {.magic = REGISTRY_MAGIC,
					 .version = REGISTRY_VERSION,
					 .capacity = (uint32_t)sock + MISSING};
	struct registry_slot slot[4] = {
		{.used = 1}, {.used = 1, .sequence = 1}, {.used = 1}, {.used = 1}};
	struct stat status;

	must(fstat(sock, &status), "fstat");
	slot[0].entry.inode = status.st_ino;
	slot[2].entry.inode = status.st_ino;
	must(pwrite(fd, &header, sizeof(header), 0), "pwrite");
	must(pwrite(fd, slot, sizeof(slot) - sizeof(slot[0]) / 2,
		    (off_t)(sizeof(header) + (size_t)sock * sizeof(slot[0]))),
	     "pwrite");
}

static int lines_with(const char *text, const char *word)
{
	int count = 0;

	for (; (text = strstr(text, word)) != NULL; text++)
		count++;
	return count;
}

/* As a process of a node that is not there, under a name that no terminal should be sent. */
static void be_a_member(void)
{
	int sock = named("scif/%s/200/pid/%d", (int)getpid());
	int no_node = named("scif/%s/999/%d", 5), no_port = named("scif/%s/0/%d", 99999);
	int fd = memfd_create(REGISTRY_NAME, MFD_CLOEXEC);
	char text[TEXT], number[20];

	must(fd, "memfd_create");
	describe_falsely(fd, sock);
	prctl(PR_SET_NAME, "odd\tname");
	must(finish(tool("list"), text) == 0 ? 0 : -1, "scif-fabric list");
	snprintf(number, sizeof(number), "\n%d ", (int)getpid());
	say(strstr(text, "\n200   absent") && strstr(text, "(odd?name)"), "a false member ",
	    "is shown with what it is");
	say(lines_with(text, number) == 1, "a false member ", "has the one endpoint that is there");
	say(!strstr(text, "999"), "names ", "of no node and no port are not shown");
	close(sock);
	close(no_node);
	close(no_port);
	close(fd);
}

int main(void)
{
	alarm(LIMIT_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	snprintf(fabric, sizeof(fabric), "strangers-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setenv("SCIF_PROVIDER", "embedded", 1);
	unsetenv("SCIF_NODE");
	setbuf(stdout, NULL);
	disturb_controller();
	be_the_controller();
	notify_falsely();
	be_a_member();
	leave_controller_alone();
	return failed != 0;
}
