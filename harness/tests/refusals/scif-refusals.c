/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A life of libscif: an endpoint that connects, and one that accepts, each with a party on another
 * node that does the other half over and over, whatever becomes of a connection. Both sides send,
 * open windows, copy, map, fence and poll. And one of the tool that changes the fabric, with what
 * it leaves behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <scif.h>
#include <scif_event.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "refuse.h"

enum { PORT = 2000, PAGES = 4, PAGE = 4096, SIZE = PAGES * PAGE, BULK = 200000, MOST_CALLS = 1000, MOST_CALLS_OF_TOOL = 80 };

/* What the text has for each call of a party that did nothing wrong itself. */
static const struct {
	const char *call;
	int errors[8];
} documented[] = {
	{"open", {ENOMEM}},
	{"get_nodeIDs", {ENOMEM}},
	{"event_register", {ENOMEM}},
	{"bind", {ENOSPC}},
	{"listen", {ENOMEM}},
	{"connect", {ECONNREFUSED, EINTR, ENOBUFS, ENODEV, ENOSPC}},
	{"accept", {EAGAIN, EINTR, ENOBUFS, ENODEV, ENOMEM, ENOENT}},
	{"send", {ECONNRESET, ENODEV, ENOMEM, ENOTCONN}},
	{"recv", {ECONNRESET, ENODEV, ENOMEM, ENOTCONN}},
	{"register", {EAGAIN, ECONNRESET, ENODEV, ENOMEM, ENOTCONN}},
	{"unregister", {ECONNRESET, ENODEV, ENOTCONN}},
	{"mmap", {ECONNRESET, ENOMEM, ENODEV, ENOTCONN, ENXIO}},
	{"munmap", {0}},
	{"transfer", {ECONNRESET, ENODEV, ENOTCONN, ENXIO}},
	{"fence", {ECONNRESET, ENODEV, ENOTCONN, ENOMEM, ENXIO}},
	{"poll", {EINTR, ENOMEM}},
	{"close", {0}},
};

static bool tolerant;

static bool is_documented(const char *call, int error)
{
	for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++)
		for (int k = 0; !strcmp(documented[i].call, call) && k < 8; k++)
			if (documented[i].errors[k] == error && error)
				return true;
	return false;
}

/* Whether the call came out well; a failure that is not documented, or not due, is told. */
static bool well(const char *call, intptr_t result)
{
	if (result >= 0)
		return true;
	if (!tolerant || !is_documented(call, errno))
		refuse_say(" %s gave %s%s;", call, strerrorname_np(errno),
			   tolerant ? "" : " although nothing was refused");
	return false;
}

static bool pass(scif_epd_t epd, void *bytes, int len, bool out)
{
	const char *call = out ? "send" : "recv";
	int done = out ? scif_send(epd, bytes, len, SCIF_SEND_BLOCK)
		       : scif_recv(epd, bytes, len, SCIF_RECV_BLOCK);

	if (!well(call, done))
		return false;
	if (done != len && !tolerant)
		refuse_say(" %s passed %d of %d bytes;", call, done, len);
	return done == len;
}

/* First one way, then the other, so that neither waits for room. */
static bool exchange(scif_epd_t epd, void *bytes, void *into, int len, bool first)
{
	return first ? pass(epd, bytes, len, true) && pass(epd, into, len, false)
		     : pass(epd, into, len, false) && pass(epd, bytes, len, true);
}

static bool meet(scif_epd_t epd, bool first)
{
	char byte = 'm', got = 0;

	return exchange(epd, &byte, &got, 1, first);
}

static bool send_much(scif_epd_t epd, bool first)
{
	static char out[BULK], in[BULK];
	struct scif_pollepd entry = {.epd = epd, .events = SCIF_POLLOUT};

	memset(out, first ? 'f' : 's', BULK);
	if (!well("poll", scif_poll(&entry, 1, 5000)) || !exchange(epd, out, in, BULK, first))
		return false;
	if (in[0] != (first ? 's' : 'f') || memcmp(in, in + 1, BULK - 1) != 0)
		refuse_say(" other bytes arrived;");
	return true;
}

struct windows {
	char *own;
	off_t here, there;
};

static bool transfer(scif_epd_t epd, const struct windows *w)
{
	static char far[SIZE];

	return well("transfer", scif_writeto(epd, w->here, PAGE, w->there + PAGE, 0)) &&
	       well("transfer",
		    scif_readfrom(epd, w->here + PAGE, PAGE, w->there, SCIF_RMA_SYNC)) &&
	       well("transfer", scif_vreadfrom(epd, far, SIZE, w->there, SCIF_RMA_USECPU)) &&
	       well("transfer", scif_vwriteto(epd, far, 2 * PAGE, w->there + 2 * PAGE,
					      SCIF_RMA_SYNC | SCIF_RMA_ORDERED));
}

static bool fence(scif_epd_t epd, const struct windows *w)
{
	int mark = 0;

	return well("fence", scif_fence_mark(epd, SCIF_FENCE_INIT_SELF, &mark)) &&
	       well("fence", scif_fence_wait(epd, mark)) &&
	       well("fence", scif_fence_signal(epd, w->here + 8, 7, w->there + 16, 8,
					       SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_LOCAL |
						       SCIF_SIGNAL_REMOTE));
}

/* The far memory is changed through the mapping and looked at through a copy. */
static bool map(scif_epd_t epd, const struct windows *w)
{
	char copy[PAGE];
	char *far = scif_mmap(NULL, PAGE, SCIF_PROT_READ | SCIF_PROT_WRITE, 0, epd, w->there);

	if (!well("mmap", far == SCIF_MMAP_FAILED ? -1 : 0))
		return false;
	far[100] = 'x';
	bool good = well("transfer", scif_vreadfrom(epd, copy, PAGE, w->there, SCIF_RMA_SYNC));
	return well("munmap", scif_munmap(far, PAGE)) && good;
}

/* What the process has registered is put apart for the child. */
static bool fork_beside(const struct windows *w)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(w->own[0] == 0);
	if (child > 0)
		waitpid(child, &status, 0);
	if (child < 0 && !tolerant)
		refuse_say(" fork gave %s;", strerrorname_np(errno));
	return status == 0;
}

static bool with_windows(scif_epd_t epd, struct windows *w, bool first)
{
	w->here = scif_register(epd, w->own, SIZE, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
	if (!well("register", w->here))
		return false;
	bool good = exchange(epd, &w->here, &w->there, sizeof(w->here), first) &&
		    transfer(epd, w) && fence(epd, w) && map(epd, w) && fork_beside(w) &&
		    transfer(epd, w) && meet(epd, first);
	return well("unregister", scif_unregister(epd, w->here, SIZE)) && good;
}

/* Memory that is a file's already; the peer gets the file. */
static bool with_file(scif_epd_t epd, char *memory, bool first)
{
	char page[PAGE];
	off_t here = scif_register(epd, memory, PAGE, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0),
	      there;

	if (!well("register", here))
		return false;
	bool good = exchange(epd, &here, &there, sizeof(here), first) &&
		    well("transfer", scif_vreadfrom(epd, page, PAGE, there, 0)) && meet(epd, first);
	return well("unregister", scif_unregister(epd, here, PAGE)) && good;
}

static bool share_file(scif_epd_t epd, bool first)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	bool good = false;

	if (fd >= 0 && ftruncate(fd, PAGE) == 0) {
		char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		good = memory != MAP_FAILED && with_file(epd, memory, first);
		if (memory != MAP_FAILED)
			munmap(memory, PAGE);
	}
	if (fd >= 0)
		close(fd);
	return good;
}

static bool talk(scif_epd_t epd, bool first)
{
	struct windows w = {.own = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
	bool good;

	if (w.own == MAP_FAILED)
		return false;
	memset(w.own, 'o', SIZE / 2);
	good = send_much(epd, first) && with_windows(epd, &w, first) && share_file(epd, first) &&
	       meet(epd, first);
	munmap(w.own, SIZE);
	return good;
}

static bool connected(scif_epd_t epd, uint16_t node)
{
	struct scif_portID to = {node, PORT};
	int result;

	/* The other party may not be there yet, or not any more. */
	while ((result = scif_connect(epd, &to)) == -1 && errno == ECONNREFUSED)
		sched_yield();
	return well("connect", result);
}

static bool connect_round(uint16_t node)
{
	scif_epd_t epd = scif_open();
	bool good;

	if (!well("open", epd))
		return false;
	good = connected(epd, node) && talk(epd, true);
	return well("close", scif_close(epd)) && good;
}

static bool serve(scif_epd_t listener)
{
	struct scif_portID who;
	scif_epd_t epd = -1;
	bool good;

	if (!well("accept", scif_accept(listener, &who, &epd, SCIF_ACCEPT_SYNC)))
		return false;
	good = talk(epd, false);
	return well("close", scif_close(epd)) && good;
}

static bool accept_round(void)
{
	scif_epd_t epd = scif_open();
	bool good;

	if (!well("open", epd))
		return false;
	good = well("bind", scif_bind(epd, PORT)) && well("listen", scif_listen(epd, 4)) &&
	       serve(epd);
	return well("close", scif_close(epd)) && good;
}

/* Of the other party its own failures are its own affair. */
static void connect_tolerantly(void)
{
	tolerant = true;
	connect_round(0);
}

static void accept_tolerantly(void)
{
	tolerant = true;
	accept_round();
}

static void start_acceptor(void)
{
	refuse_start_party(accept_tolerantly);
}

static void start_connector(void)
{
	refuse_start_party(connect_tolerantly);
}

static void on_event(enum scif_event event, union scif_event_data data)
{
	(void)event, (void)data;
}

static bool begin_round(bool may_fail)
{
	uint16_t nodes[8], self;

	tolerant = may_fail;
	return well("event_register", scif_event_register(on_event)) &&
	       well("get_nodeIDs", scif_get_nodeIDs(nodes, 8, &self));
}

static bool connecting_life(bool may_fail)
{
	return begin_round(may_fail) && connect_round(1);
}

static bool accepting_life(bool may_fail)
{
	return begin_round(may_fail) && accept_round();
}

/* --- the tool --- */

static bool run(const char *const arguments[])
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execv("./scif-fabric", (char **)(uintptr_t)arguments);
		_exit(1);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	/* What is refused may be something of its loader's. */
	if (pid > 0 && (WIFSIGNALED(status) || (status != 0 && !tolerant)))
		refuse_say(" scif-fabric %s %s ended with %#x;", arguments[1],
			   arguments[2] ? arguments[2] : "", (unsigned)status);
	return pid > 0 && status == 0;
}

static bool change_fabric(bool may_fail)
{
	static const char *const commands[][5] = {
		{"scif-fabric", "reset"},
		{"scif-fabric", "node", "add", "5"},
		{"scif-fabric", "reset"},
		/* These two look at all processes of the machine. */
		{"scif-fabric", "node", "down", "1"},
		{"scif-fabric", "list", "--json"},
		{"scif-fabric", "reset"},
	};
	bool good = true;

	tolerant = may_fail;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		good &= run(commands[i]);
	return good;
}

static void listen_only(void)
{
	scif_epd_t epd = scif_open();

	scif_bind(epd, PORT);
	scif_listen(epd, 1);
	for (;;)
		pause();
}

static void start_member(void)
{
	refuse_start_party(listen_only);
}

/* A controller that was refused something may be left, which cannot take anybody any more. */
static void end_controller(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int length = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "scif/%s/ctl",
			      getenv("SCIF_FABRIC"));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred owner = {.pid = 0};
	socklen_t size = sizeof(owner);

	if (connect(fd, (struct sockaddr *)&name,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) ==
		    0 &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0 && owner.pid > 0)
		kill(owner.pid, SIGKILL);
	close(fd);
	refuse_end_party();
}

int main(void)
{
	static const struct refuse_life lives[] = {
		{"connecting", MOST_CALLS, start_acceptor, connecting_life, refuse_end_party},
		{"accepting", MOST_CALLS, start_connector, accepting_life, refuse_end_party},
		{"changing the fabric", MOST_CALLS_OF_TOOL, start_member, change_fabric, end_controller},
	};

	return refuse_all(lives, sizeof(lives) / sizeof(lives[0]));
}
