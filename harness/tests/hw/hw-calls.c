/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the driver provider hands to a driver, byte by byte, and what it makes of the answers.
 *
 * The numbers and bytes are written out here from the description of the drivers' interface, little
 * endian as on the host and the card; ref/hw is not consulted.  "--" is a byte that the driver does
 * not read.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder.h"
#include "scif.h"
#include "scif_event.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int checks, failed;

static void check_number(const char *what, const char *aspect, long long expected,
			 long long observed)
{
	checks++;
	if (expected == observed)
		return;
	failed++;
	printf("%s, %s\n  expected: %lld (0x%llx)\n  observed: %lld (0x%llx)\n", what, aspect,
	       expected, (unsigned long long)expected, observed, (unsigned long long)observed);
}

/* The same text, but for what is "-" in the first. */
static bool matches(const char *expected, const char *observed)
{
	for (; *expected != '\0'; expected++, observed++)
		if (*observed == '\0' || (*expected != '-' && *expected != *observed))
			return false;
	return *observed == '\0';
}

static void check_record(const char *what, const char *expected)
{
	checks++;
	if (matches(expected, recorder_text()))
		return;
	failed++;
	printf("%s, requests\n  expected: %s\n  observed: %s\n", what, expected, recorder_text());
}

/* Pointers that only a driver would follow. */
#define POINTER	      ((void *)0x1122334455667788)
#define OTHER_POINTER ((void *)0x2132435465768798)

/* --- calls that are one request with one structure --- */

static long long call_bind(int epd)
{
	return scif_bind(epd, 0xfedc);
}

static long long call_connect(int epd)
{
	struct scif_portID dst = {.node = 0x0102, .port = 0x0304};

	return scif_connect(epd, &dst);
}

static long long call_send(int epd)
{
	return scif_send(epd, POINTER, 0x01020304, 0x11121314);
}

static long long call_recv(int epd)
{
	return scif_recv(epd, POINTER, -2, 1);
}

static long long call_register(int epd)
{
	return scif_register(epd, POINTER, 0x0102030405060708, 0x1112131415161718, 0x21222324,
			     0x31323334);
}

static long long call_unregister(int epd)
{
	return scif_unregister(epd, -2, 0x0102030405060708);
}

static long long call_readfrom(int epd)
{
	return scif_readfrom(epd, 0x0102030405060708, 0x1112131415161718, 0x2122232425262728,
			     0x31323334);
}

static long long call_writeto(int epd)
{
	return scif_writeto(epd, 0x0102030405060708, 0x1112131415161718, 0x2122232425262728,
			    0x31323334);
}

static long long call_vreadfrom(int epd)
{
	return scif_vreadfrom(epd, POINTER, 0x1112131415161718, 0x2122232425262728, 0x31323334);
}

static long long call_vwriteto(int epd)
{
	return scif_vwriteto(epd, POINTER, 0x1112131415161718, 0x2122232425262728, 0x31323334);
}

static long long call_vwriteto_null(int epd)
{
	return scif_vwriteto(epd, NULL, 0x1112131415161718, -1, -1);
}

static long long call_fence_mark(int epd)
{
	return scif_fence_mark(epd, 0x01020304, POINTER);
}

static long long call_fence_signal(int epd)
{
	return scif_fence_signal(epd, 0x0102030405060708, 0x1112131415161718, 0x2122232425262728,
				 0x3132333435363738, 0x41424344);
}

static long long call_listen(int epd)
{
	return scif_listen(epd, 0x01020304);
}

static long long call_listen_negative(int epd)
{
	return scif_listen(epd, -1);
}

static long long call_fence_wait(int epd)
{
	return scif_fence_wait(epd, 0xdead);
}

static long long call_fence_wait_negative(int epd)
{
	return scif_fence_wait(epd, (int)0x80000001);
}

static const struct row {
	const char *what;
	long long (*call)(int epd);
	unsigned knc, mpss4; /* request numbers */
	const char *argument;
	struct answer answer;
	long long result;
} rows[] = {
	{"scif_bind", call_bind, 0xc0087301, 0xc0087301, "dcfe0000", {4, 0, 0, "40040000"}, 1088},
	{"scif_bind, highest port",
	 call_bind,
	 0xc0087301,
	 0xc0087301,
	 "dcfe0000",
	 {4, 0, 0, "ffff0000"},
	 65535},
	{"scif_listen", call_listen, 0x40047302, 0x40047302, "value 01020304", {0}, 0},
	{"scif_listen, negative",
	 call_listen_negative,
	 0x40047302,
	 0x40047302,
	 "value ffffffff",
	 {0},
	 0},
	{"scif_connect",
	 call_connect,
	 0xc0087303,
	 0xc0087303,
	 "-------- 02010403",
	 {8, 0, 0, "05000904"},
	 0x0409},
	{"scif_send",
	 call_send,
	 0xc0087306,
	 0xc0187306,
	 "88776655 44332211 04030201 14131211 -------- --------",
	 {24, 0, 16, "2a000000"},
	 42},
	{"scif_send, nothing sent",
	 call_send,
	 0xc0087306,
	 0xc0187306,
	 "88776655 44332211 04030201 14131211 -------- --------",
	 {24, 0, 16, "00000000"},
	 0},
	{"scif_recv",
	 call_recv,
	 0xc0087307,
	 0xc0187307,
	 "88776655 44332211 feffffff 01000000 -------- --------",
	 {24, 0, 16, "ff0f0000"},
	 4095},
	{"scif_register",
	 call_register,
	 0xc0087308,
	 0xc0287308,
	 "88776655 44332211 08070605 04030201 18171615 14131211 24232221 34333231 "
	 "-------- --------",
	 {40, 0, 32, "0010000000000040"},
	 0x4000000000001000},
	{"scif_register, at the other end",
	 call_register,
	 0xc0087308,
	 0xc0287308,
	 "88776655 44332211 08070605 04030201 18171615 14131211 24232221 34333231 "
	 "-------- --------",
	 {40, 0, 32, "00e0ffffffffff7f"},
	 0x7fffffffffffe000},
	{"scif_unregister",
	 call_unregister,
	 0xc0087309,
	 0xc0107309,
	 "feffffff ffffffff 08070605 04030201",
	 {16, 0, 0, NULL},
	 0},
	{"scif_readfrom",
	 call_readfrom,
	 0xc008730a,
	 0xc028730a,
	 "08070605 04030201 18171615 14131211 28272625 24232221 00000000 00000000 34333231 "
	 "--------",
	 {40, 0, 0, NULL},
	 0},
	{"scif_writeto",
	 call_writeto,
	 0xc008730b,
	 0xc028730b,
	 "08070605 04030201 18171615 14131211 28272625 24232221 00000000 00000000 34333231 "
	 "--------",
	 {40, 0, 0, NULL},
	 0},
	{"scif_vreadfrom",
	 call_vreadfrom,
	 0xc008730c,
	 0xc028730c,
	 "00000000 00000000 18171615 14131211 28272625 24232221 88776655 44332211 34333231 "
	 "--------",
	 {40, 0, 0, NULL},
	 0},
	{"scif_vwriteto",
	 call_vwriteto,
	 0xc008730d,
	 0xc028730d,
	 "00000000 00000000 18171615 14131211 28272625 24232221 88776655 44332211 34333231 "
	 "--------",
	 {40, 0, 0, NULL},
	 0},
	{"scif_vwriteto, NULL",
	 call_vwriteto_null,
	 0xc008730d,
	 0xc028730d,
	 "00000000 00000000 18171615 14131211 ffffffff ffffffff 00000000 00000000 ffffffff "
	 "--------",
	 {40, 0, 0, NULL},
	 0},
	{"scif_fence_mark",
	 call_fence_mark,
	 0xc008730f,
	 0xc010730f,
	 "04030201 -------- 88776655 44332211",
	 {16, 0, 0, NULL},
	 0},
	{"scif_fence_wait", call_fence_wait, 0xc0047310, 0xc0047310, "value 0000dead", {0}, 0},
	{"scif_fence_wait, negative",
	 call_fence_wait_negative,
	 0xc0047310,
	 0xc0047310,
	 "value 80000001",
	 {0},
	 0},
	{"scif_fence_signal",
	 call_fence_signal,
	 0xc0087311,
	 0xc0287311,
	 "08070605 04030201 18171615 14131211 28272625 24232221 38373635 34333231 44434241 "
	 "--------",
	 {40, 0, 0, NULL},
	 0},
};

static void make_call(const struct row *row, bool mpss4, int epd, int error)
{
	struct answer answer = row->answer;
	char expected[512], what[128];
	long long result;

	answer.error = error;
	snprintf(what, sizeof(what), "%s (%s)%s%s", row->what, mpss4 ? "mpss4" : "knc",
		 error ? " failing with " : "", error ? strerrorname_np(error) : "");
	snprintf(expected, sizeof(expected), "ioctl #1 %08x %s\n", mpss4 ? row->mpss4 : row->knc,
		 row->argument);
	recorder_start(&answer, 1);
	errno = 77;
	result = row->call(epd);
	check_number(what, "result", error ? -1 : row->result, result);
	check_number(what, "errno", error ? error : 77, errno);
	check_record(what, expected);
}

static void try_rows(bool mpss4, int epd)
{
	static const int errors[] = {0,	      EPERM,	 ENOENT,     EINTR,	   ENXIO,
				     EBADF,   EAGAIN,	 ENOMEM,     EACCES,	   EFAULT,
				     EBUSY,   ENODEV,	 EINVAL,     EMFILE,	   ENOTTY,
				     ENOSPC,  EOVERFLOW, EOPNOTSUPP, EADDRINUSE,   ECONNRESET,
				     EISCONN, ENOTCONN,	 ETIMEDOUT,  ECONNREFUSED, EINPROGRESS};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t k = 0; k < COUNT(errors); k++)
			make_call(&rows[i], mpss4, epd, errors[k]);
}

/* --- scif_connect without a destination, scif_accept, scif_get_nodeIDs --- */

static void try_no_destination(int epd)
{
	recorder_start(NULL, 0);
	check_number("scif_connect, NULL", "result", -1, scif_connect(epd, NULL));
	check_number("scif_connect, NULL", "errno", EINVAL, errno);
	check_record("scif_connect, NULL", "");
}

static unsigned acceptreq(bool mpss4)
{
	return mpss4 ? 0xc0107304 : 0xc0087304;
}

static void try_accept(bool mpss4, int epd, const char *path)
{
	const struct answer answers[] = {{16, 0, 4, "03000708 88776655 44332211"}, {8, 0, 0, NULL}};
	struct scif_portID peer = {0};
	int newepd = -1;
	char expected[512];

	snprintf(expected, sizeof(expected),
		 "open %s rw\n"
		 "ioctl #1 %08x 14131211 -------- -------- --------\n"
		 "ioctl #2 c0087305 88776655 44332211\n",
		 path, acceptreq(mpss4));
	recorder_start(answers, 2);
	check_number("scif_accept", "result", 0, scif_accept(epd, &peer, &newepd, 0x11121314));
	check_record("scif_accept", expected);
	check_number("scif_accept", "peer node", 3, peer.node);
	check_number("scif_accept", "peer port", 0x0807, peer.port);
	check_number("scif_accept", "close-on-exec", 0, fcntl(newepd, F_GETFD));
	recorder_start(NULL, 0);
	check_number("scif_close", "result", 0, scif_close(newepd));
	check_record("scif_close", "close #2\n");
}

/* Neither result is touched, and the new descriptor is gone again. */
static void try_accept_failing(bool mpss4, int epd, const char *path, int request_error,
			       int register_error, int number)
{
	const struct answer answers[] = {{16, request_error, 4, "03000708 88776655 44332211"},
					 {8, register_error, 0, NULL}};
	struct scif_portID peer = {.node = 11, .port = 12};
	int newepd = 13;
	char expected[512], second[64] = "";

	if (request_error == 0)
		snprintf(second, sizeof(second), "ioctl #%d c0087305 88776655 44332211\n", number);
	snprintf(expected, sizeof(expected),
		 "open %s rw\n"
		 "ioctl #1 %08x 00000000 -------- -------- --------\n"
		 "%sclose #%d\n",
		 path, acceptreq(mpss4), second, number);
	recorder_start(answers, 2);
	check_number("scif_accept, failing", "result", -1, scif_accept(epd, &peer, &newepd, 0));
	check_number("scif_accept, failing", "errno", request_error + register_error, errno);
	check_record("scif_accept, failing", expected);
	check_number("scif_accept, failing", "peer node", 11, peer.node);
	check_number("scif_accept, failing", "peer port", 12, peer.port);
	check_number("scif_accept, failing", "newepd", 13, newepd);
}

static void try_accept_nowhere(int epd)
{
	struct scif_portID peer;
	int newepd;

	recorder_start(NULL, 0);
	check_number("scif_accept, no peer", "result", -1, scif_accept(epd, NULL, &newepd, 0));
	check_number("scif_accept, no peer", "errno", EINVAL, errno);
	check_number("scif_accept, no newepd", "result", -1, scif_accept(epd, &peer, NULL, 0));
	check_number("scif_accept, no newepd", "errno", EINVAL, errno);
	check_record("scif_accept, NULL", "");
}

/* The structure whose members stand in another order at the successor. */
static void try_nodes(bool mpss4, const char *path, int error, int number)
{
	const struct answer answer = {24, error, mpss4 ? 16 : 8, "03000000"};
	char expected[512];
	int result;

	snprintf(expected, sizeof(expected), "open %s rw\nioctl #%d %s\nclose #%d\n", path, number,
		 mpss4 ? "c018730e 88776655 44332211 98877665 54433221 04030201 --------"
		       : "c008730e 88776655 44332211 04030201 -------- 98877665 54433221",
		 number);
	recorder_start(&answer, 1);
	result = scif_get_nodeIDs(POINTER, 0x01020304, OTHER_POINTER);
	check_number("scif_get_nodeIDs", "result", error ? -1 : 3, result);
	if (error)
		check_number("scif_get_nodeIDs", "errno", error, errno);
	check_record("scif_get_nodeIDs", expected);
}

/* --- mmap, munmap, poll, close: system calls of their own --- */

static void try_mmap(int epd, int error)
{
	void *addr = (void *)0x7000000000000000;
	void *result;

	recorder_start(NULL, 0);
	recorder_watch(NULL, addr);
	recorder_fail(error);
	result = scif_mmap(addr, 0x3001, 7, SCIF_MAP_FIXED, epd, 0x4000000000001000);
	check_number("scif_mmap", "address", error ? -1 : (long long)(intptr_t)addr,
		     (long long)(intptr_t)result);
	if (error)
		check_number("scif_mmap", "errno", error, errno);
	check_number("scif_munmap", "result", error ? -1 : 0, scif_munmap(addr, 0x3001));
	if (error)
		check_number("scif_munmap", "errno", error, errno);
	/* MAP_SHARED is 1, MAP_FIXED 0x10. */
	check_record("scif_mmap, scif_munmap",
		     "mmap 7000000000000000 3001 7 11 #1 4000000000001000\n"
		     "munmap 7000000000000000 3001\n");
}

static void try_mmap_flags(int epd)
{
	recorder_start(NULL, 0);
	scif_mmap(NULL, 4096, 0, 0, epd, 0);
	scif_mmap(NULL, 0, -1, 0x2020, epd, -4096);
	check_record("scif_mmap, odd arguments", "mmap 0 1000 0 1 #1 0\n"
						 "mmap 0 0 ffffffff 2021 #1 fffffffffffff000\n");
}

/* Descriptors of all kinds go to poll(2) as they are. */
static void try_poll(int error)
{
	struct scif_pollepd epds[] = {{.epd = -1, .events = SCIF_POLLIN, .revents = 9},
				      {.epd = 0, .events = SCIF_POLLIN | SCIF_POLLOUT},
				      {.epd = 9999, .events = -1}};

	recorder_start(NULL, 0);
	recorder_watch(epds, NULL);
	recorder_fail(error);
	check_number("scif_poll", "result", error ? -1 : 3, scif_poll(epds, 3, 0x100000007));
	if (error)
		check_number("scif_poll", "errno", error, errno);
	check_record("scif_poll", "poll 3 7: -1=1 0=5 9999=ffff\n");
	for (int i = 0; i < 3; i++)
		check_number("scif_poll", "events shown", i + 1, epds[i].revents);
	recorder_start(NULL, 0);
	scif_poll(epds, 0, -1);
	check_record("scif_poll", "poll 0 -1:\n");
	recorder_watch(NULL, NULL);
}

static void on_event(enum scif_event event, union scif_event_data data)
{
	(void)event;
	(void)data;
}

static void try_others(void)
{
	int ends[2];

	recorder_start(NULL, 0);
	check_number("scif_get_fd", "result", -7, scif_get_fd(-7));
	check_number("scif_event_register", "result", -1, scif_event_register(on_event));
	check_number("scif_event_register", "errno", ENOSYS, errno);
	if (pipe(ends) != 0)
		abort();
	check_number("scif_close, of a pipe", "result", 0, scif_close(ends[0]));
	check_number("scif_close, of a pipe", "the other end", 0, scif_close(ends[1]));
	check_number("scif_close, again", "result", -1, scif_close(ends[1]));
	check_number("scif_close, again", "errno", EBADF, errno);
	check_record("no request", "");
}

/* Every call, in one encoding. */
static void try_calls(bool mpss4)
{
	const char *path = mpss4 ? "/dev/scif" : "/dev/mic/scif";
	int epd = scif_open();

	check_number("scif_open", "opened", 1, epd >= 0);
	check_number("scif_open", "close-on-exec", FD_CLOEXEC, fcntl(epd, F_GETFD));
	try_rows(mpss4, epd);
	try_no_destination(epd);
	try_accept(mpss4, epd, path);
	try_accept_failing(mpss4, epd, path, EAGAIN, 0, 3);
	try_accept_failing(mpss4, epd, path, 0, ENOENT, 4);
	try_accept_nowhere(epd);
	try_nodes(mpss4, path, 0, 5);
	try_nodes(mpss4, path, ENOMEM, 6);
	try_mmap(epd, 0);
	try_mmap(epd, EPERM);
	try_mmap_flags(epd);
	try_poll(0);
	try_poll(EINTR);
	try_others();
}

static void calls_knc(void)
{
	try_calls(false);
}

static void calls_mpss4(void)
{
	try_calls(true);
}

/* --- which provider, which encoding --- */

#define LOOKED_AT_KNC	"open /dev/mic/scif rw cloexec\nioctl #0 00007317\nclose #0\n"
#define LOOKED_AT_MPSS4 "open /dev/scif rw cloexec\nioctl #0 00007317\nclose #0\n"

static int epd;

static void open_expecting(int error, const char *record)
{
	recorder_start(NULL, 0);
	errno = 77;
	epd = scif_open();
	check_number("scif_open", "success", error == 0, epd >= 0);
	if (error)
		check_number("scif_open", "errno", error, errno);
	check_record("scif_open", record);
}

/* What kind of provider it is shows in the request for a port. */
static void bind_expecting(const char *record)
{
	const struct answer answer = {4, 0, 0, "40040000"};

	recorder_start(&answer, 1);
	check_number("scif_bind", "result", 1088, scif_bind(epd, 1088));
	check_record("scif_bind", record);
}

static void choose_embedded(void)
{
	open_expecting(0, "");
	bind_expecting("");
}

static void choose_knc(void)
{
	open_expecting(0, LOOKED_AT_KNC "open /dev/mic/scif rw\nsetfd #1 1\n");
	check_number("scif_open", "errno", 77, errno);
	bind_expecting("ioctl #1 c0087301 40040000\n");
	open_expecting(0, "open /dev/mic/scif rw\nsetfd #2 1\n");
}

static const struct answer sent = {24, 0, 16, "01000000"};

static void send_expecting(const char *record)
{
	recorder_start(&sent, 1);
	check_number("scif_send", "result", 1, scif_send(epd, POINTER, 1, 1));
	check_record("scif_send", record);
}

#define ONE_BYTE " 88776655 44332211 01000000 01000000 -------- --------\n"

static void choose_mpss4(void)
{
	open_expecting(0, LOOKED_AT_MPSS4 "open /dev/scif rw\nsetfd #1 1\n");
	send_expecting("ioctl #1 c0187306" ONE_BYTE);
}

/* Its node is only looked at once it is known which driver must be there. */
static void choose_mpss4_untold(void)
{
	open_expecting(0, "open /dev/scif rw cloexec\nclose #0\nopen /dev/scif rw\nsetfd #1 1\n");
	send_expecting("ioctl #1 c0187306" ONE_BYTE);
}

static void choose_mpss4_elsewhere(void)
{
	open_expecting(0, "open /x rw cloexec\nioctl #0 00007317\nclose #0\n"
			  "open /x rw\nsetfd #1 1\n");
	send_expecting("ioctl #1 c0187306" ONE_BYTE);
}

static void choose_knc_elsewhere(void)
{
	open_expecting(0, "open /x rw cloexec\nioctl #0 00007317\nclose #0\n"
			  "open /x rw\nsetfd #1 1\n");
	send_expecting("ioctl #1 c0087306" ONE_BYTE);
}

static void choose_second(void)
{
	open_expecting(0, "open /dev/mic/scif rw cloexec\n" LOOKED_AT_MPSS4
			  "open /dev/scif rw\nsetfd #1 1\n");
	send_expecting("ioctl #1 c0187306" ONE_BYTE);
}

/* Another version keeps endpoints from being opened, and nothing else. */
static void choose_mismatched(void)
{
	const struct answer nodes = {24, 0, 8, "01000000"};

	open_expecting(ENXIO, LOOKED_AT_KNC);
	open_expecting(ENXIO, "");
	recorder_start(&nodes, 1);
	check_number("scif_get_nodeIDs", "result", 1, scif_get_nodeIDs(NULL, 0, OTHER_POINTER));
	check_record("scif_get_nodeIDs",
		     "open /dev/mic/scif rw\n"
		     "ioctl #1 c008730e 00000000 00000000 00000000 -------- 98877665 54433221\n"
		     "close #1\n");
}

static void choose_absent_then_there(void)
{
	open_expecting(ENXIO, "");
	check_number("scif_close, no provider", "result", -1, scif_close(9999));
	check_number("scif_close, no provider", "errno", ENXIO, errno);
	setenv("RECORDER_NODES", "/dev/mic/scif=knc1,/dev/scif=absent", 1);
	choose_knc();
}

static void choose_denied(void)
{
	open_expecting(EACCES, "open /dev/mic/scif rw cloexec\nopen /dev/mic/scif rw\n");
	open_expecting(EACCES, "open /dev/mic/scif rw\n");
}

/* A node without a driver: on request it is used all the same, and says so itself. */
static void choose_empty_node(void)
{
	open_expecting(ENXIO, "open /dev/mic/scif rw cloexec\nopen /dev/mic/scif rw\n");
}

static void choose_embedded_for_empty_node(void)
{
	open_expecting(0, "open /dev/mic/scif rw cloexec\n");
	bind_expecting("");
}

static void choose_embedded_for_stranger(void)
{
	open_expecting(0, LOOKED_AT_KNC);
	bind_expecting("");
}

static void choose_stranger(void)
{
	open_expecting(0, LOOKED_AT_KNC "open /dev/mic/scif rw\nsetfd #1 1\n");
	recorder_start(&sent, 1);
	send_expecting("ioctl #1 c0087306" ONE_BYTE);
}

static void choose_without_descriptors(void)
{
	open_expecting(EMFILE, "open /dev/mic/scif rw cloexec\n");
	setenv("RECORDER_NODES", "/dev/mic/scif=knc1,/dev/scif=absent", 1);
	choose_knc();
}

static void choose_nothing(void)
{
	open_expecting(ENXIO, "");
}

static void cloexec_fails(void)
{
	recorder_start(NULL, 0);
	recorder_fail(ENOMEM);
	check_number("scif_open, fcntl fails", "result", -1, scif_open());
	check_number("scif_open, fcntl fails", "errno", ENOMEM, errno);
	check_record("scif_open, fcntl fails",
		     LOOKED_AT_KNC "open /dev/mic/scif rw\nsetfd #1 1\nclose #1\n");
}

static void device_lost_to_others(void)
{
	struct scif_portID peer;
	int newepd;

	choose_knc();
	setenv("RECORDER_NODES", "/dev/mic/scif=ENFILE", 1);
	recorder_start(NULL, 0);
	check_number("scif_accept, no descriptor", "result", -1,
		     scif_accept(9999, &peer, &newepd, -1));
	check_number("scif_accept, no descriptor", "errno", ENFILE, errno);
	check_record("scif_accept, no descriptor", "open /dev/mic/scif rw\n");
	recorder_start(NULL, 0);
	check_number("scif_get_nodeIDs, no descriptor", "result", -1,
		     scif_get_nodeIDs(NULL, 0, NULL));
	check_number("scif_get_nodeIDs, no descriptor", "errno", ENFILE, errno);
	check_record("scif_get_nodeIDs, no descriptor", "open /dev/mic/scif rw\n");
}

#define ABSENT "/dev/mic/scif=absent,/dev/scif=absent"
#define KNC    "/dev/mic/scif=knc1,/dev/scif=absent"
#define BOTH   "/dev/mic/scif=knc1,/dev/scif=mpss4"
#define MPSS4  "/dev/mic/scif=absent,/dev/scif=mpss4"

static const struct scenario {
	const char *what;
	const char *provider; /* SCIF_PROVIDER, or NULL */
	const char *device;   /* SCIF_HW_DEVICE, or NULL */
	const char *nodes;
	void (*run)(void);
} scenarios[] = {
	{"calls of Knights Corner", NULL, NULL, KNC, calls_knc},
	{"calls of the successor", NULL, NULL, MPSS4, calls_mpss4},
	{"calls of Knights Corner by name", "hw:knc", NULL, BOTH, calls_knc},
	{"no node", NULL, NULL, ABSENT, choose_embedded},
	{"embedded by name", "embedded", NULL, BOTH, choose_embedded},
	{"embedded by name, device named", "embedded", "/x", "/x=knc1", choose_embedded},
	{"both nodes", NULL, NULL, BOTH, choose_knc},
	{"both nodes, hw", "hw", NULL, BOTH, choose_knc},
	{"version 0", NULL, NULL, "/dev/mic/scif=knc0,/dev/scif=absent", choose_knc},
	{"successor's node", NULL, NULL, MPSS4, choose_mpss4},
	{"successor's node, hw", "hw", NULL, MPSS4, choose_mpss4},
	{"hw:mpss4", "hw:mpss4", NULL, BOTH, choose_mpss4_untold},
	{"device named, successor", NULL, "/x", "/x=mpss4", choose_mpss4_elsewhere},
	{"device named, Knights Corner", NULL, "/x", "/x=knc1", choose_knc_elsewhere},
	{"device named, hw:knc whatever it says", "hw:knc", "/x", "/x=mpss4", choose_knc_elsewhere},
	{"device named, absent", NULL, "/x", "/x=absent," KNC, choose_embedded},
	{"other version", NULL, NULL, "/dev/mic/scif=knc2,/dev/scif=absent", choose_mismatched},
	{"other version, hw", "hw", NULL, "/dev/mic/scif=knc9,/dev/scif=absent", choose_mismatched},
	{"other version, hw:knc", "hw:knc", NULL, "/dev/mic/scif=knc2", choose_mismatched},
	{"hw absent", "hw", NULL, ABSENT, choose_absent_then_there},
	{"hw:knc absent", "hw:knc", NULL, MPSS4, choose_absent_then_there},
	{"hw:mpss4 absent", "hw:mpss4", NULL, KNC, choose_nothing},
	{"hw, device named, absent", "hw", "/x", "/x=absent," KNC, choose_nothing},
	{"unknown name", "hw:", NULL, BOTH, choose_nothing},
	{"empty name", "", NULL, BOTH, choose_nothing},
	{"denied", NULL, NULL, "/dev/mic/scif=EACCES,/dev/scif=absent", choose_denied},
	{"denied, hw", "hw", NULL, "/dev/mic/scif=EACCES,/dev/scif=absent", choose_denied},
	{"no driver behind, hw", "hw", NULL, "/dev/mic/scif=ENXIO,/dev/scif=absent",
	 choose_empty_node},
	{"no driver behind", NULL, NULL, "/dev/mic/scif=ENXIO,/dev/scif=absent",
	 choose_embedded_for_empty_node},
	{"no device behind", NULL, NULL, "/dev/mic/scif=ENODEV,/dev/scif=absent",
	 choose_embedded_for_empty_node},
	{"no driver behind the first", NULL, NULL, "/dev/mic/scif=ENXIO,/dev/scif=mpss4",
	 choose_second},
	{"no SCIF driver", NULL, NULL, "/dev/mic/scif=stranger,/dev/scif=absent",
	 choose_embedded_for_stranger},
	{"no SCIF driver, hw", "hw", NULL, "/dev/mic/scif=stranger,/dev/scif=absent",
	 choose_stranger},
	{"no descriptor left", NULL, NULL, "/dev/mic/scif=EMFILE,/dev/scif=absent",
	 choose_without_descriptors},
	{"close-on-exec fails", NULL, NULL, KNC, cloexec_fails},
	{"the node does not open any more", NULL, NULL, KNC, device_lost_to_others},
};

static void set(const char *name, const char *value)
{
	if (value == NULL)
		unsetenv(name);
	else
		setenv(name, value, 1);
}

/* A process chooses once, so each scenario has its own. */
static int run_child(const struct scenario *scenario)
{
	set("SCIF_PROVIDER", scenario->provider);
	set("SCIF_HW_DEVICE", scenario->device);
	set("RECORDER_NODES", scenario->nodes);
	scenario->run();
	printf("%s: %d checks, %d failed\n", scenario->what, checks, failed);
	fflush(stdout);
	return failed != 0 || checks == 0;
}

static bool run(const struct scenario *scenario)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(run_child(scenario));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (!WIFEXITED(status))
		printf("%s: ended by signal %d\n", scenario->what, WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
	const uint16_t one = 1;
	char fabric[64];
	size_t wrong = 0;

	if (*(const unsigned char *)&one == 0) {
		puts("the bytes are those of a little-endian machine");
		return 77;
	}
	snprintf(fabric, sizeof(fabric), "hw-calls-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	unsetenv("SCIF_NODE");
	for (size_t i = 0; i < COUNT(scenarios); i++)
		wrong += !run(&scenarios[i]);
	printf("%zu scenarios, %zu failed\n", COUNT(scenarios), wrong);
	return wrong != 0;
}
