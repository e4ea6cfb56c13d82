/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's door, without the library: every request with its number and bytes written by hand,
 * every answer's bytes and errno compared, both encodings; wrong encodings refused; and what a
 * descriptor of the device must do in open, fcntl, dup, fork, exec, poll, select and epoll.
 *
 *	raw knc|mpss4 [--driver]
 *
 * On the stand-in it is run with the stand-in preloaded. On a machine with the driver itself, card
 * or loopback, run `raw knc --driver` without a preload; only the lines on standard error that the
 * stand-in writes when it refuses a request are not asked for then.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver_call.h"
#include "encoding.h"
#include "raw_endpoint.h"
#include "tap.h"

#define PAGE 4096

static bool is_knc(void)
{
	return driver == &encoding_knc;
}

static unsigned char *pages(size_t count)
{
	unsigned char *memory = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		tap_bail("no memory: %m");
	return memory;
}

static void fill(unsigned char *memory, size_t size, unsigned int seed)
{
	for (size_t i = 0; i < size; i++)
		memory[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

/* The literals agree with their own fields: direction, size, magic, number. */
static void codes_are_consistent(void)
{
	for (int r = 0; r < REQUESTS; r++) {
		const struct request_shape *shape = &request_shape[r];
		uint32_t code = driver->code[r];
		size_t size = shape->size;

		if (code == 0)
			continue;
		if (r == REQUEST_LISTEN || r == REQUEST_FENCE_WAIT)
			size = 4;
		else if (r == REQUEST_BIND || (is_knc() && r != REQUEST_GET_VERSION))
			size = 8;
		uint32_t direction = r == REQUEST_GET_VERSION ? 0 : r == REQUEST_LISTEN ? 1 : 3;
		uint32_t wanted = direction << 30 | (uint32_t)size << 16 | 0x7300 | shape->number;

		if (code != wanted)
			tap_bail("%s: 0x%08x is not what its row of the table says", shape->name,
				 code);
	}
	tap_result(true, "the numbers agree with direction, size, type and number");
}

static void open_descriptors(void)
{
	int fd = open(driver->device, O_RDWR);

	tap_result(fd >= 0, "open(%s, O_RDWR)", driver->device);
	if (fd < 0)
		tap_bail("%s cannot be opened: %m", driver->device);
	tap_result(fcntl(fd, F_GETFD) == 0, "open: no close-on-exec unless asked for");
	tap_result((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR, "F_GETFL: O_RDWR");
	tap_result((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0, "F_GETFL: blocking");
	tap_result(fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC,
		   "F_SETFD: close-on-exec is kept");
	tap_result(fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0,
		   "F_SETFL: O_NONBLOCK is kept");
	tap_result(fcntl(fd, F_SETFL, 0) == 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0,
		   "F_SETFL: O_NONBLOCK is taken back");

	struct stat status;

	tap_result(fstat(fd, &status) == 0 && S_ISCHR(status.st_mode),
		   "fstat: a character device");
	tap_result(stat(driver->device, &status) == 0 && S_ISCHR(status.st_mode),
		   "stat of the node: a character device");
	tap_result(access(driver->device, R_OK | W_OK) == 0, "access of the node: may be used");

	char byte[8] = "";

	tap_result(read(fd, byte, sizeof byte) == -1 && errno == EINVAL, "read(2): EINVAL");
	tap_result(write(fd, byte, sizeof byte) == -1 && errno == EINVAL, "write(2): EINVAL");
	tap_result(lseek(fd, 0, SEEK_SET) == -1 && errno == ESPIPE, "lseek: ESPIPE");
	tap_result(close(fd) == 0, "close");
	tap_result(close(fd) == -1 && errno == EBADF, "close again: EBADF");

	fd = open(driver->device, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	tap_result(fd >= 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0, "open with O_NONBLOCK");
	tap_result(fcntl(fd, F_GETFD) == FD_CLOEXEC, "open with O_CLOEXEC");
	close(fd);
	fd = openat(AT_FDCWD, driver->device, O_RDWR | O_CLOEXEC);
	tap_result(fd >= 0, "openat(AT_FDCWD)");
	close(fd);
	fd = open64(driver->device, O_RDWR | O_CLOEXEC);
	tap_result(fd >= 0, "open64");
	close(fd);

	struct image number = image_of(4);

	fd = open(driver->device, O_RDONLY | O_CLOEXEC);
	image_put(&number, 0, 4, 0);
	call_done("a descriptor opened O_RDONLY can be bound", fd, REQUEST_BIND, &number, &number);
	close(fd);

	int first = endpoint();
	int second = endpoint();
	int lowest = first;

	close(first);
	first = endpoint();
	tap_result(first == lowest, "open takes the lowest free number");
	close(first);
	close(second);
}

static void version(void)
{
	int fd = endpoint();

	if (is_knc())
		value_gives("the return value is the version, 1", fd, REQUEST_GET_VERSION, 0, 1);
	else
		code_is_refused("the successor has no version request", fd, 0x00007317, NULL);
	close(fd);
}

static void bind_requests(void)
{
	uint16_t free_port;
	int fd = endpoint_bound(&free_port);
	struct image in = image_of(4);
	struct image out;

	tap_result(free_port >= 1088, "SCIF_BIND: port 0 gets one from 1088 upward");
	image_put(&in, 0, 4, 0);
	call_fails("bound already", fd, REQUEST_BIND, &in, EINVAL);
	close(fd);

	fd = endpoint();
	image_put(&in, 0, 4, free_port);
	call_gives("the port of a closed endpoint, four bytes in and out", fd, REQUEST_BIND, &in,
		   &in);

	int other = endpoint();

	call_fails("port in use", other, REQUEST_BIND, &in, EINVAL);
	close(fd);
	image_put(&in, 0, 4, 0x10000u | free_port);
	out = in;
	image_put(&out, 0, 4, free_port);
	call_gives("only the low 16 bits count", other, REQUEST_BIND, &in, &out);
	close(other);
}

static void bind_without_privilege(void)
{
	pid_t child = fork();

	if (child == 0) {
		unsigned char *number = memory_before_guard(4);

		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(2);
		int fd = endpoint();

		memcpy(number, "\xff\x03\x00\x00", 4);
		int result = ioctl(fd, driver->code[REQUEST_BIND], number);
		int error = errno;

		memcpy(number, "\x00\x04\x00\x00", 4);
		_exit(result != -1 || error != EACCES ? 1
		      : ioctl(fd, driver->code[REQUEST_BIND], number) != 0 ? 3 : 0);
	}
	int status;

	waitpid(child, &status, 0);
	tap_result(WIFEXITED(status) && WEXITSTATUS(status) != 1,
		   "SCIF_BIND: 1023 without privilege is EACCES");
	tap_result(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		   "SCIF_BIND: 1024 needs no privilege");
}

static void listen_requests(void)
{
	uint16_t port;
	int fd = endpoint();

	value_fails("unbound", fd, REQUEST_LISTEN, 5, EINVAL);
	close(fd);
	fd = endpoint_bound(&port);
	value_gives("the backlog is the argument itself", fd, REQUEST_LISTEN, 5, 0);
	value_fails("listening already", fd, REQUEST_LISTEN, 5, EISCONN);
	close(fd);
}

static void connect_images(uint16_t port, struct image *in)
{
	*in = image_of(8);
	image_put(in, 4, 2, 0);
	image_put(in, 6, 2, port);
}

static void connect_requests(void)
{
	struct image in, out;
	uint16_t port, own_port, unused;
	int listener = endpoint_listening(&port);
	int fd = endpoint_bound(&unused);

	close(fd);
	fd = endpoint();
	connect_images(unused, &in);
	call_fails("nobody listens there", fd, REQUEST_CONNECT, &in, ECONNREFUSED);
	image_put(&in, 4, 2, 300);
	call_fails("node 300, a number beyond every node", fd, REQUEST_CONNECT, &in, ENODEV);
	image_put(&in, 4, 2, 0);
	image_put(&in, 6, 2, port);
	call_fails("a listening endpoint cannot connect", listener, REQUEST_CONNECT, &in,
		   EOPNOTSUPP);
	close(fd);

	fd = endpoint_bound(&own_port);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	connect_images(port, &in);
	call_fails("non-blocking, first call", fd, REQUEST_CONNECT, &in, EINPROGRESS);
	call_fails("non-blocking, again", fd, REQUEST_CONNECT, &in, EINPROGRESS);

	int accepted = accept_on_new_descriptor(listener);
	struct pollfd done = {.fd = fd, .events = POLLOUT};

	tap_result(poll(&done, 1, 10000) == 1 && done.revents == POLLOUT,
		   "poll: POLLOUT once the connect is complete");
	out = in;
	image_put(&out, 0, 2, 0);
	image_put(&out, 2, 2, own_port);
	call_gives("the collecting call fills in own node and port, two bytes each", fd,
		   REQUEST_CONNECT, &in, &out);
	call_fails("connected", fd, REQUEST_CONNECT, &in, EISCONN);
	close(accepted);
	close(fd);
	close(listener);
}

struct blocking_connect {
	int fd;
	uint16_t port;
	int result;
	unsigned char after[8];
};

static void *connect_and_wait(void *argument)
{
	struct blocking_connect *connect = argument;
	unsigned char *bytes = memory_before_guard(8);
	struct image image;

	connect_images(connect->port, &image);
	memcpy(bytes, image.byte, 8);
	connect->result = ioctl(connect->fd, driver->code[REQUEST_CONNECT], bytes);
	memcpy(connect->after, bytes, 8);
	return NULL;
}

static void accept_requests(void)
{
	struct image in = image_of(16);
	struct image handle = image_of(8);
	struct image out;
	uint16_t port, connector_port;
	int listener = endpoint_listening(&port);
	int stranger = endpoint();

	image_put(&in, 0, 4, 0);
	call_fails("nobody waits", listener, REQUEST_ACCEPTREQ, &in, EAGAIN);
	call_fails("not listening", stranger, REQUEST_ACCEPTREQ, &in, EINVAL);
	image_put(&in, 0, 4, 2);
	call_fails("flags 2", listener, REQUEST_ACCEPTREQ, &in, EINVAL);
	image_put(&handle, 0, 8, 0x1234567890);
	call_fails("a handle that nobody gave out", stranger, REQUEST_ACCEPTREG, &handle, ENOENT);

	struct blocking_connect connect = {.fd = endpoint_bound(&connector_port), .port = port};
	pthread_t thread;

	if (pthread_create(&thread, NULL, connect_and_wait, &connect) != 0)
		tap_bail("no thread");
	image_put(&in, 0, 4, 1);
	call_done("SYNC waits for a request", listener, REQUEST_ACCEPTREQ, &in, &out);
	tap_result(image_get(&out, 0, 4) == 1 && image_get(&out, 4, 2) == 0 &&
			   image_get(&out, 6, 2) == connector_port,
		   "SCIF_ACCEPTREQ: flags unchanged, peer node at 4, peer port at 6");
	tap_result(image_get(&out, 8, 8) != 0x5a5a5a5a5a5a5a5a && image_get(&out, 8, 8) != 0,
		   "SCIF_ACCEPTREQ: a handle of eight bytes at 8");
	image_put(&handle, 0, 8, image_get(&out, 8, 8));
	call_done("the handle goes to a new descriptor", stranger, REQUEST_ACCEPTREG, &handle,
		  &out);
	pthread_join(thread, NULL);

	struct image expected;

	connect_images(port, &expected);
	image_put(&expected, 0, 2, 0);
	image_put(&expected, 2, 2, connector_port);
	tap_result(connect.result == 0 && memcmp(connect.after, expected.byte, 8) == 0,
		   "SCIF_CONNECT: a blocking one returns once accepted, own node and port written");
	call_fails("the same handle again", endpoint(), REQUEST_ACCEPTREG, &handle, ENOENT);
	close(connect.fd);
	close(stranger);
	close(listener);
}

/* Between its halves an accept dies with the listener. */
static void accept_halves(void)
{
	struct image in = image_of(16);
	struct image handle = image_of(8);
	uint16_t port;
	int listener = endpoint_listening(&port);
	int connector = connector_pending(port);
	int fd = endpoint();

	image_put(&in, 0, 4, 1);
	call_must(listener, REQUEST_ACCEPTREQ, &in);
	image_put(&handle, 0, 8, image_get(&in, 8, 8));
	close(listener);
	call_fails("the listener was closed between the halves", fd, REQUEST_ACCEPTREG, &handle,
		   ENOENT);
	close(connector);
	close(fd);
}

static struct image message(const void *bytes, int length, int flags)
{
	struct image image = image_of(24);

	image_put(&image, 0, 8, (uintptr_t)bytes);
	image_put(&image, 8, 4, (uint64_t)length);
	image_put(&image, 12, 4, (uint64_t)flags);
	return image;
}

static struct image with_length(struct image image, int length)
{
	image_put(&image, 16, 4, (uint64_t)length);
	return image;
}

static void message_requests(void)
{
	struct raw_pair pair = raw_pair();
	unsigned char *text = memory_before_guard(5);
	unsigned char *got = memory_before_guard(5);
	unsigned char *much = pages(2);
	int unbound = endpoint();
	struct image in, out;

	memcpy(text, "hello", 5);
	memset(got, 0, 5);
	in = message(text, 5, 0);
	out = with_length(in, 5);
	call_gives("5 bytes: only out_len at 16 changes", pair.connector, REQUEST_SEND, &in, &out);
	in = message(got, 3, 1);
	out = with_length(in, 3);
	call_gives("3 of 5 bytes, BLOCK", pair.acceptor, REQUEST_RECV, &in, &out);
	tap_result(memcmp(got, "hel\0\0", 5) == 0, "SCIF_RECV: three bytes and no more");
	in = message(got, 5, 0);
	out = with_length(in, 2);
	call_gives("what is there, without BLOCK", pair.acceptor, REQUEST_RECV, &in, &out);
	tap_result(memcmp(got, "lol\0\0", 5) == 0, "SCIF_RECV: the rest of the message");
	out = with_length(in, 0);
	call_gives("an empty queue: 0", pair.acceptor, REQUEST_RECV, &in, &out);
	in = message(NULL, 0, 0);
	out = with_length(in, 0);
	call_gives("no bytes", pair.connector, REQUEST_SEND, &in, &out);
	in = message(text, -1, 0);
	call_fails("a negative length", pair.connector, REQUEST_SEND, &in, EINVAL);
	in = message(text, 5, 2);
	call_fails("flags 2", pair.connector, REQUEST_SEND, &in, EINVAL);
	call_fails("flags 2", pair.acceptor, REQUEST_RECV, &in, EINVAL);
	in = message(text, 5, 3);
	out = with_length(in, 5);
	call_gives("flags 3 count as 1", pair.connector, REQUEST_SEND, &in, &out);
	in = message(NULL, 5, 0);
	call_fails("no buffer", pair.connector, REQUEST_SEND, &in, EFAULT);
	in = message(text + 1, 5, 0);
	call_fails("a buffer that ends too early", pair.connector, REQUEST_SEND, &in, EFAULT);
	in = message(got, 5, 1);
	out = with_length(in, 5);
	call_gives("nothing of the failed ones arrived", pair.acceptor, REQUEST_RECV, &in, &out);
	in = message(got, 5, 0);
	out = with_length(in, 0);
	call_gives("and the queue is empty", pair.acceptor, REQUEST_RECV, &in, &out);
	fill(much, 2 * PAGE, 3);
	in = message(much, 2 * PAGE, 0);
	out = with_length(in, 4095);
	call_gives("4095 bytes fit", pair.acceptor, REQUEST_SEND, &in, &out);
	out = with_length(in, 0);
	call_gives("a full queue: 0", pair.acceptor, REQUEST_SEND, &in, &out);
	call_fails("not connected", unbound, REQUEST_SEND, &in, ENOTCONN);
	call_fails("not connected", unbound, REQUEST_RECV, &in, ENOTCONN);
	close(pair.acceptor);
	in = message(text, 5, 0);
	call_fails("the peer has closed", pair.connector, REQUEST_SEND, &in, ECONNRESET);
	in = message(much, 2 * PAGE, 0);
	out = with_length(in, 4095);
	memset(much, 0, 2 * PAGE);
	call_gives("what a closed peer had sent", pair.connector, REQUEST_RECV, &in, &out);
	call_fails("and nothing after it", pair.connector, REQUEST_RECV, &in, ECONNRESET);
	close(pair.connector);
	close(pair.listener);
	close(unbound);
}

static struct image registration(void *memory, uint64_t length, uint64_t offset, int protection,
				 int flags)
{
	struct image image = image_of(40);

	image_put(&image, 0, 8, (uintptr_t)memory);
	image_put(&image, 8, 8, length);
	image_put(&image, 16, 8, offset);
	image_put(&image, 24, 4, (uint64_t)protection);
	image_put(&image, 28, 4, (uint64_t)flags);
	return image;
}

static struct image range(uint64_t offset, uint64_t length)
{
	struct image image = image_of(16);

	image_put(&image, 0, 8, offset);
	image_put(&image, 8, 8, length);
	return image;
}

static void register_requests(void)
{
	struct raw_pair pair = raw_pair();
	unsigned char *memory = pages(4);
	int unbound = endpoint();
	struct image in, out;

	in = registration(memory, 2 * PAGE, 0x10000, 3, 0x10);
	out = in;
	image_put(&out, 32, 8, 0x10000);
	call_gives("FIXED: only out_offset at 32 changes", pair.connector, REQUEST_REG, &in, &out);
	call_fails("FIXED on a window", pair.connector, REQUEST_REG, &in, EADDRINUSE);
	in = registration(memory, PAGE, 0, 3, 0x10);
	out = in;
	image_put(&out, 32, 8, 0);
	call_gives("FIXED at 0", pair.connector, REQUEST_REG, &in, &out);
	in = registration(memory + 2 * PAGE, PAGE, 0x123, 3, 0);
	if (is_knc()) {
		out = in;
		image_put(&out, 32, 8, 0x4000000000000000);
		call_gives("not FIXED: the first offset is 2^62, the hint is ignored",
			   pair.connector, REQUEST_REG, &in, &out);
		image_put(&out, 32, 8, 0x4000000000001000);
		call_gives("the next follows it", pair.connector, REQUEST_REG, &in, &out);
	} else {
		call_done("not FIXED: an offset of the driver's choice", pair.connector,
			  REQUEST_REG, &in, &out);
		tap_result((image_get(&out, 32, 8) & 0x8000000000000fff) == 0,
			   "SCIF_REG: it is aligned and not negative");
	}
	in = registration(memory, PAGE, 0x20000, 4, 0x10);
	call_fails("protection 4", pair.connector, REQUEST_REG, &in, EINVAL);
	in = registration(memory, PAGE, 0x20000, 3, 0x20);
	call_fails("flags 0x20", pair.connector, REQUEST_REG, &in, EINVAL);
	in = registration(memory, PAGE, 0x20000, 3, 1);
	call_fails("flags 1", pair.connector, REQUEST_REG, &in, EINVAL);
	in = registration(memory, 100, 0x20000, 3, 0x10);
	call_fails("length 100", pair.connector, REQUEST_REG, &in, EINVAL);
	in = registration(memory + 1, PAGE, 0x20000, 3, 0x10);
	call_fails("address + 1", pair.connector, REQUEST_REG, &in, EINVAL);
	in = registration(memory, PAGE, 0x20001, 3, 0x10);
	call_fails("FIXED at an odd offset", pair.connector, REQUEST_REG, &in, EINVAL);
	in = registration(NULL, PAGE, 0x20000, 3, 0x10);
	call_fails("no memory there", pair.connector, REQUEST_REG, &in, EFAULT);
	in = registration(memory, PAGE, 0x20000, 3, 0x10);
	call_fails("not connected", unbound, REQUEST_REG, &in, ENOTCONN);

	in = range(0x10000, 2 * PAGE);
	call_gives("a whole window, nothing is written", pair.connector, REQUEST_UNREG, &in, &in);
	if (is_knc())
		call_fails("the same again", pair.connector, REQUEST_UNREG, &in, ENXIO);
	in = range(0x10000, 100);
	call_fails("length 100", pair.connector, REQUEST_UNREG, &in, EINVAL);
	in = range(0x10001, PAGE);
	call_fails("an odd offset", pair.connector, REQUEST_UNREG, &in, EINVAL);
	in = range(0x10000, PAGE);
	call_fails("not connected", unbound, REQUEST_UNREG, &in, ENOTCONN);
	close(unbound);
	raw_pair_close(&pair);
}

static bool mmap_fails(int fd, size_t length, int protection, off_t offset, int error)
{
	errno = 0;
	void *at = mmap(NULL, length, protection, MAP_SHARED, fd, offset);

	if (at == MAP_FAILED && errno == error)
		return true;
	tap_note("expected %s, observed %s", strerrorname_np(error),
		 at == MAP_FAILED ? strerrorname_np(errno) : "a mapping");
	if (at != MAP_FAILED)
		munmap(at, length);
	return false;
}

static void mappings(void)
{
	struct raw_pair pair = raw_pair();
	unsigned char *memory = pages(4);
	uint16_t port;
	int bound = endpoint_bound(&port);

	fill(memory, 4 * PAGE, 9);
	window_open(pair.acceptor, memory, 2 * PAGE, 0x30000, 3);
	window_open(pair.acceptor, memory + 2 * PAGE, PAGE, 0x32000, 1);

	unsigned char *seen = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
				   pair.connector, 0x30000);

	if (tap_result(seen != MAP_FAILED, "mmap: the offset is the one in the peer's space")) {
		tap_result(memcmp(seen, memory, 2 * PAGE) == 0, "mmap: the peer's bytes");
		seen[PAGE + 5] = 0xee;
		tap_result(memory[PAGE + 5] == 0xee, "mmap: a store is the peer's");
		tap_result(munmap(seen, 2 * PAGE) == 0, "munmap");
	}
	unsigned char *second = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, pair.connector, 0x31000);

	if (tap_result(second != MAP_FAILED, "mmap: from inside a window")) {
		tap_result(memcmp(second, memory + PAGE, PAGE) == 0, "mmap: its second page");
		munmap(second, PAGE);
	}
	tap_result(mmap_fails(pair.connector, PAGE, 3, 0x32000, EPERM),
		   "mmap: more than the window's protection: EPERM");
	tap_result(mmap_fails(pair.connector, PAGE, 3, 0x40000, ENXIO), "mmap: no window: ENXIO");
	tap_result(mmap_fails(pair.acceptor, PAGE, 3, 0x30000, ENXIO),
		   "mmap: the own window is not the peer's: ENXIO");
	tap_result(mmap_fails(pair.connector, PAGE, 3, 0x30001, EINVAL),
		   "mmap: an odd offset: EINVAL");
	tap_result(mmap_fails(bound, PAGE, 3, 0x30000, ENOTCONN), "mmap: not connected: ENOTCONN");
	close(bound);
	close(pair.acceptor);
	tap_result(mmap_fails(pair.connector, PAGE, 3, 0x30000, ECONNRESET),
		   "mmap: the peer has closed: ECONNRESET");
	close(pair.connector);
	close(pair.listener);
}

static struct image copy(uint64_t local, uint64_t length, uint64_t remote, void *address, int flags)
{
	struct image image = image_of(40);

	image_put(&image, 0, 8, local);
	image_put(&image, 8, 8, length);
	image_put(&image, 16, 8, remote);
	image_put(&image, 24, 8, (uintptr_t)address);
	image_put(&image, 32, 4, (uint64_t)flags);
	return image;
}

/* Exactly the bytes [to, to + length) of `target` became those at `source`. */
static bool moved(const unsigned char *target, const unsigned char *before, size_t size, size_t to,
		  const unsigned char *source, size_t length)
{
	return memcmp(target, before, to) == 0 && memcmp(target + to, source, length) == 0 &&
	       memcmp(target + to + length, before + to + length, size - to - length) == 0;
}

static void transfers(void)
{
	struct raw_pair pair = raw_pair();
	unsigned char *mine = pages(2);
	unsigned char *theirs = pages(2);
	unsigned char *plain = pages(2);
	unsigned char *before = pages(2);
	unsigned char *source = pages(2);
	int unbound = endpoint();
	struct image in;

	window_open(pair.connector, mine, 2 * PAGE, 0x50000, 3);
	window_open(pair.acceptor, theirs, 2 * PAGE, 0x80000, 3);
	fill(mine, 2 * PAGE, 1);
	fill(theirs, 2 * PAGE, 101);
	fill(plain, 2 * PAGE, 201);

	memcpy(before, mine, 2 * PAGE);
	memcpy(source, theirs, 2 * PAGE);
	in = copy(0x50011, 300, 0x80123, NULL, 4);
	call_gives("loffset at 0, len at 8, roffset at 16, flags at 32", pair.connector,
		   REQUEST_READFROM, &in, &in);
	tap_result(moved(mine, before, 2 * PAGE, 0x11, source + 0x123, 300),
		   "SCIF_READFROM: those bytes and no others");

	memcpy(before, theirs, 2 * PAGE);
	memcpy(source, mine, 2 * PAGE);
	in = copy(0x50ff0, 64, 0x80ff8, NULL, 4);
	call_gives("across a page on both sides", pair.connector, REQUEST_WRITETO, &in, &in);
	tap_result(moved(theirs, before, 2 * PAGE, 0xff8, source + 0xff0, 64),
		   "SCIF_WRITETO: those bytes and no others");

	memcpy(before, plain, 2 * PAGE);
	memcpy(source, theirs, 2 * PAGE);
	in = copy(0, 77, 0x80201, plain + 0x33, 4);
	call_gives("addr at 24", pair.connector, REQUEST_VREADFROM, &in, &in);
	tap_result(moved(plain, before, 2 * PAGE, 0x33, source + 0x201, 77),
		   "SCIF_VREADFROM: those bytes and no others");

	memcpy(before, theirs, 2 * PAGE);
	memcpy(source, plain, 2 * PAGE);
	in = copy(0, 99, 0x80402, plain + 0x401, 4);
	call_gives("addr at 24", pair.connector, REQUEST_VWRITETO, &in, &in);
	tap_result(moved(theirs, before, 2 * PAGE, 0x402, source + 0x401, 99),
		   "SCIF_VWRITETO: those bytes and no others");

	static const enum request four[] = {REQUEST_READFROM, REQUEST_WRITETO, REQUEST_VREADFROM,
					    REQUEST_VWRITETO};

	for (size_t i = 0; i < 4; i++) {
		void *address = i < 2 ? NULL : plain;

		in = copy(0x50000, 8, 0x80000, address, 0x10);
		call_fails("flags 0x10", pair.connector, four[i], &in, EINVAL);
		in = copy(0x50000, 8, 0x80000, address, 0x11);
		call_gives("flags 0x11", pair.connector, four[i], &in, &in);
		in = copy(0x50000, 0, 0x80000, address, 4);
		call_fails("no bytes", pair.connector, four[i], &in, EINVAL);
		in = copy(0x50000, 8, 0x81ffc, address, 4);
		call_fails("beyond the peer's window", pair.connector, four[i], &in, ENXIO);
		in = copy(0x50000, 8, 0x80000, address, 4);
		call_fails("not connected", unbound, four[i], &in, ENOTCONN);
	}
	in = copy(0x51ffc, 8, 0x80000, NULL, 4);
	call_fails("beyond the own window", pair.connector, REQUEST_READFROM, &in, ENXIO);
	in = copy(0, 8, 0x80000, NULL, 4);
	call_fails("no address and no window at 0", pair.connector, REQUEST_VREADFROM, &in, ENXIO);
	close(unbound);
	raw_pair_close(&pair);
}

static void transfer_protection(void)
{
	struct raw_pair pair = raw_pair();
	unsigned char *memory = pages(2);
	struct image in;

	window_open(pair.connector, memory, PAGE, 0x50000, 3);
	window_open(pair.acceptor, memory + PAGE, PAGE, 0x80000, 1);
	in = copy(0x50000, 8, 0x80000, NULL, 4);
	call_fails("the peer's window is for reading", pair.connector, REQUEST_WRITETO, &in, EPERM);
	call_gives("the peer's window is for reading", pair.connector, REQUEST_READFROM, &in, &in);
	raw_pair_close(&pair);
}

static void fence_marks(void)
{
	struct raw_pair pair = raw_pair();
	int unbound = endpoint();
	unsigned char *mark = memory_before_guard(4);

	for (int flags = 1; flags <= 2; flags++) {
		struct image in = image_of(16);

		memset(mark, 0x77, 4);
		image_put(&in, 0, 4, (uint64_t)flags);
		image_put(&in, 8, 8, (uintptr_t)mark);
		call_gives(flags == 1 ? "INIT_SELF: the structure stays" : "INIT_PEER", pair.connector,
			   REQUEST_FENCE_MARK, &in, &in);
		tap_result(memcmp(mark, "\xad\xde\0\0", 4) == 0 && mark[-1] == 0xc3,
			   "SCIF_FENCE_MARK: four bytes, 57005 in loopback");
		image_put(&in, 0, 4, (uint64_t)(flags == 1 ? 0 : 3));
		call_fails("flags 0 or 3", pair.connector, REQUEST_FENCE_MARK, &in, EINVAL);
		image_put(&in, 0, 4, (uint64_t)flags);
		call_fails("not connected", unbound, REQUEST_FENCE_MARK, &in, ENOTCONN);
		image_put(&in, 8, 8, 0);
		call_fails("nowhere to write", pair.connector, REQUEST_FENCE_MARK, &in, EFAULT);
	}
	value_gives("the mark is the argument itself", pair.connector, REQUEST_FENCE_WAIT, 0xdead, 0);
	value_fails("another mark", pair.connector, REQUEST_FENCE_WAIT, 1, EINVAL);
	value_fails("not connected", unbound, REQUEST_FENCE_WAIT, 0xdead, ENOTCONN);
	close(unbound);
	raw_pair_close(&pair);
}

static struct image signalling(uint64_t local, uint64_t remote, int flags)
{
	struct image image = image_of(40);

	image_put(&image, 0, 8, local);
	image_put(&image, 8, 8, 0x1111222233334444);
	image_put(&image, 16, 8, remote);
	image_put(&image, 24, 8, 0x5555666677778888);
	image_put(&image, 32, 4, (uint64_t)flags);
	return image;
}

static bool words_are(const unsigned char *mine, uint64_t local, const unsigned char *theirs,
		      uint64_t remote)
{
	uint64_t have_local, have_remote;

	memcpy(&have_local, mine + 0x10, 8);
	memcpy(&have_remote, theirs + 0x20, 8);
	if (have_local == local && have_remote == remote)
		return true;
	tap_note("own word %016llx, peer's word %016llx", (unsigned long long)have_local,
		 (unsigned long long)have_remote);
	return false;
}

static void fence_signals(void)
{
	struct raw_pair pair = raw_pair();
	unsigned char *mine = pages(1);
	unsigned char *theirs = pages(1);
	int unbound = endpoint();
	struct {
		int flags;
		uint64_t local, remote;
		const char *what;
	} cases[] = {
		{0x11, 0x1111222233334444, 0, "SELF, LOCAL: lval at 8 goes to loff at 0"},
		{0x21, 0, 0x5555666677778888, "SELF, REMOTE: rval at 24 goes to roff at 16"},
		{0x31, 0x1111222233334444, 0x5555666677778888, "SELF, both"},
		{0x12, 0, 0x5555666677778888, "PEER, LOCAL: the exchange, rval at roff"},
		{0x22, 0x1111222233334444, 0, "PEER, REMOTE: the exchange, lval at loff"},
		{0x32, 0x1111222233334444, 0x5555666677778888, "PEER, both"},
	};
	struct image in;

	window_open(pair.connector, mine, PAGE, 0x50000, 3);
	window_open(pair.acceptor, theirs, PAGE, 0x80000, 3);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		memset(mine, 0, PAGE);
		memset(theirs, 0, PAGE);
		in = signalling(0x50010, 0x80020, cases[i].flags);
		call_gives(cases[i].what, pair.connector, REQUEST_FENCE_SIGNAL, &in, &in);
		tap_result(words_are(mine, cases[i].local, theirs, cases[i].remote),
			   "SCIF_FENCE_SIGNAL: flags 0x%x, the words", cases[i].flags);
	}
	in = signalling(0x50010, 0x80020, 0x33);
	call_fails("both INIT flags", pair.connector, REQUEST_FENCE_SIGNAL, &in, EINVAL);
	in = signalling(0x50011, 0x80020, 0x11);
	call_fails("an odd loff", pair.connector, REQUEST_FENCE_SIGNAL, &in, EINVAL);
	in = signalling(0x50011, 0x80020, 0x21);
	call_gives("an odd loff that is not used", pair.connector, REQUEST_FENCE_SIGNAL, &in, &in);
	in = signalling(0x60010, 0x80020, 0x11);
	call_fails("loff in no window", pair.connector, REQUEST_FENCE_SIGNAL, &in, ENXIO);
	in = signalling(0x50010, 0x90020, 0x21);
	call_fails("roff in no window", pair.connector, REQUEST_FENCE_SIGNAL, &in, ENXIO);
	call_fails("not connected", unbound, REQUEST_FENCE_SIGNAL, &in, ENOTCONN);
	close(unbound);
	raw_pair_close(&pair);
}

static struct image nodes_of(void *nodes, int length, void *self)
{
	struct image image = image_of(24);

	image_put(&image, driver->nodeids_nodes, 8, (uintptr_t)nodes);
	image_put(&image, driver->nodeids_len, 4, (uint64_t)length);
	image_put(&image, driver->nodeids_self, 8, (uintptr_t)self);
	return image;
}

static void node_ids(void)
{
	enum { ROOM = 300 }; /* more than there are nodes */
	unsigned char *nodes = memory_before_guard(2 * ROOM);
	unsigned char *self = memory_before_guard(2);
	int fd = endpoint();
	struct image in, out;

	memset(nodes, 0xff, 2 * ROOM);
	memset(self, 0xff, 2);
	in = nodes_of(nodes, ROOM, self);
	if (call_done("any endpoint will do", fd, REQUEST_GET_NODEIDS, &in, &out)) {
		uint64_t count = image_get(&out, driver->nodeids_len, 4);
		struct image expected = in;

		image_put(&expected, driver->nodeids_len, 4, count);
		tap_result(count >= 1 && count < ROOM &&
				   memcmp(out.byte, expected.byte, 24) == 0,
			   "SCIF_GET_NODEIDS: only len changes, to the number of nodes");
		tap_result(nodes[0] == 0 && nodes[1] == 0 && self[0] == 0 && self[1] == 0 &&
				   nodes[-1] == 0xc3 && self[-1] == 0xc3,
			   "SCIF_GET_NODEIDS: ids and own id are two bytes each, node 0 first");
	}
	in = nodes_of(NULL, 0, self);
	call_done("no room for ids", fd, REQUEST_GET_NODEIDS, &in, &out);
	in = nodes_of(nodes, 4, NULL);
	call_fails("nowhere for the own id", fd, REQUEST_GET_NODEIDS, &in, EFAULT);
	in = nodes_of(NULL, 4, self);
	call_fails("nowhere for the ids", fd, REQUEST_GET_NODEIDS, &in, EFAULT);
	in = nodes_of(nodes, -1, self);
	call_fails("a negative length", fd, REQUEST_GET_NODEIDS, &in, ENOMEM);
	close(fd);
}

/* Every structure by a pointer that is bad, or good but for the last byte. */
static void bad_pointers(void)
{
	int fd = endpoint();

	for (int r = 0; r < REQUESTS; r++) {
		size_t size = request_shape[r].size;

		if (size == 0)
			continue;
		unsigned char *cut = memory_before_guard(size) + 1;

		errno = 0;
		int result = ioctl(fd, driver->code[r], NULL);

		tap_result(result == -1 && errno == EFAULT, "%s: no structure: EFAULT",
			   request_shape[r].name);
		errno = 0;
		result = ioctl(fd, driver->code[r], cut);
		tap_result(result == -1 && errno == EFAULT,
			   "%s: a structure without its last byte: EFAULT", request_shape[r].name);
	}
	close(fd);
}

static void wrong_encodings(void)
{
	const struct encoding *other = is_knc() ? &encoding_mpss4 : &encoding_knc;
	unsigned char *argument = pages(1);
	int fd = endpoint();

	for (int r = 0; r < REQUESTS; r++) {
		const char *name = request_shape[r].name;
		uint32_t code = driver->code[r];

		if (other->code[r] != 0 && other->code[r] != code && code != 0)
			code_is_refused("the size of the other driver", fd, other->code[r], argument);
		if (code == 0)
			continue;
		code_is_refused(name, fd, code ^ 0x80000000, argument);
		code_is_refused(name, fd, code ^ 0x00010000, argument);
		code_is_refused(name, fd, code ^ 0x00000100, argument);
	}
	code_is_refused("number 0", fd, 0xc0087300, argument);
	code_is_refused("number 18", fd, 0xc0087312, argument);
	code_is_refused("number 99", fd, 0x00007363, argument);
	code_is_refused("FIONREAD", fd, 0x0000541b, argument);
	close(fd);
}

static void other_descriptors(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int ends[2];
	struct image in;

	if (null < 0 || pipe2(ends, O_CLOEXEC) != 0)
		tap_bail("no other descriptors: %m");
	for (int r = 0; r < REQUESTS; r++) {
		if (driver->code[r] == 0)
			continue;
		in = image_of(request_shape[r].size ? request_shape[r].size : 4);
		call_fails("on /dev/null", null, (enum request)r, &in, ENOTTY);
		call_fails("on a pipe", ends[0], (enum request)r, &in, ENOTTY);
		call_fails("on a number that is not open", 999, (enum request)r, &in, EBADF);
	}
	close(null);
	close(ends[0]);
	close(ends[1]);
}

static int polled(int fd, int events, int timeout)
{
	struct pollfd wanted = {.fd = fd, .events = (short)events};
	int ready = poll(&wanted, 1, timeout);

	return ready < 0 ? -1 : ready == (wanted.revents != 0) ? wanted.revents : -2;
}

static int ppolled(int fd, int events)
{
	struct pollfd wanted = {.fd = fd, .events = (short)events};
	struct timespec at_once = {0};
	int ready = ppoll(&wanted, 1, &at_once, NULL);

	return ready < 0 ? -1 : ready == (wanted.revents != 0) ? wanted.revents : -2;
}

static int selected(int fd, bool with_mask)
{
	fd_set in, out, exceptional;
	struct timeval at_once = {0};
	struct timespec at_once_too = {0};

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&exceptional);
	FD_SET(fd, &in);
	FD_SET(fd, &out);
	FD_SET(fd, &exceptional);
	int ready = with_mask ? pselect(fd + 1, &in, &out, &exceptional, &at_once_too, NULL)
			      : select(fd + 1, &in, &out, &exceptional, &at_once);

	if (ready < 0)
		return -1;
	return (FD_ISSET(fd, &in) ? 1 : 0) | (FD_ISSET(fd, &out) ? 2 : 0) |
	       (FD_ISSET(fd, &exceptional) ? 4 : 0);
}

/* The sets that poll, ppoll, select and pselect must agree on. */
static void ready_as(const char *what, int fd, int bits, int sets)
{
	int got = polled(fd, POLLIN | POLLOUT, 0);

	if (!tap_result(got == bits, "poll for IN and OUT: %s", what))
		tap_note("expected 0x%x, observed 0x%x", bits, got);
	got = ppolled(fd, POLLIN | POLLOUT);
	if (!tap_result(got == bits, "ppoll for IN and OUT: %s", what))
		tap_note("expected 0x%x, observed 0x%x", bits, got);
	if (sets < 0)
		return;
	got = selected(fd, false);
	if (!tap_result(got == sets, "select: %s", what))
		tap_note("expected 0x%x, observed 0x%x", sets, got);
	got = selected(fd, true);
	if (!tap_result(got == sets, "pselect: %s", what))
		tap_note("expected 0x%x, observed 0x%x", sets, got);
}

static void send_bytes(int fd, int count)
{
	static unsigned char bytes[PAGE];
	struct image image = message(bytes, count, 1);

	call_must(fd, REQUEST_SEND, &image);
}

static void readiness(void)
{
	uint16_t port;
	int unbound = endpoint();
	int bound = endpoint_bound(&port);
	struct raw_pair pair = raw_pair();
	int bits = POLLERR;

	ready_as("unbound", unbound, bits, 3);
	ready_as("bound", bound, bits, 3);
	ready_as("listening, nobody waits", pair.listener, 0, -1);
	ready_as("connected, idle", pair.connector, POLLOUT, 2);
	ready_as("accepted, idle", pair.acceptor, POLLOUT, 2);
	if (is_knc())
		tap_result(polled(unbound, 0, 0) == 0 && polled(unbound, POLLPRI, 0) == 0,
			   "poll for nothing that counts: unbound is quiet");
	int late = connector_pending(pair.listener_port);

	tap_result(polled(pair.listener, POLLIN, 10000) == POLLIN,
		   "poll waits for a request on a listener");
	ready_as("listening, one waits", pair.listener, POLLIN, -1);
	ready_as("connecting", late, 0, -1);
	close(accept_on_new_descriptor(pair.listener));
	close(late);

	send_bytes(pair.connector, 1);
	ready_as("one byte there", pair.acceptor, POLLIN | POLLOUT, 3);
	send_bytes(pair.connector, 4094);
	ready_as("the peer's queue is full", pair.connector, 0, 0);
	close(pair.connector);
	tap_result((polled(pair.acceptor, POLLIN, 10000) & ~POLLOUT) == (POLLIN | POLLHUP),
		   "poll: bytes left and the peer gone");
	struct image drained = message(pages(1), 4096, 0);

	call_must(pair.acceptor, REQUEST_RECV, &drained);
	tap_result(polled(pair.acceptor, POLLIN, 10000) == POLLHUP, "poll: the peer gone");
	if (is_knc())
		ready_as("the peer gone, nothing left", pair.acceptor, POLLHUP, 1);
	tap_result(polled(999, POLLIN, 0) == POLLNVAL, "poll: not open is POLLNVAL");
	close(unbound);
	close(bound);
	close(pair.acceptor);
	close(pair.listener);
}

static void *send_after_start(void *argument)
{
	send_bytes(*(int *)argument, 1);
	return NULL;
}

static void epoll_sets(void)
{
	struct raw_pair pair = raw_pair();
	int set = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = 42};
	struct epoll_event got = {0};
	pthread_t sender;

	tap_result(epoll_ctl(set, EPOLL_CTL_ADD, pair.acceptor, &wanted) == 0, "epoll takes it");
	tap_result(epoll_ctl(set, EPOLL_CTL_ADD, pair.acceptor, &wanted) == -1 && errno == EEXIST,
		   "epoll: twice is EEXIST");
	tap_result(epoll_wait(set, &got, 1, 0) == 0, "epoll: nothing to read");
	if (pthread_create(&sender, NULL, send_after_start, &pair.connector) != 0)
		tap_bail("no thread");
	tap_result(epoll_wait(set, &got, 1, 10000) == 1 && got.data.u64 == 42 &&
			   got.events == EPOLLIN,
		   "epoll wakes for a byte, with its data");
	pthread_join(sender, NULL);
	wanted.events = EPOLLOUT;
	tap_result(epoll_ctl(set, EPOLL_CTL_MOD, pair.acceptor, &wanted) == 0, "epoll: changed");
	tap_result(epoll_wait(set, &got, 1, 0) == 1 && got.events == EPOLLOUT,
		   "epoll: room to send");
	tap_result(epoll_ctl(set, EPOLL_CTL_DEL, pair.acceptor, NULL) == 0, "epoll: taken out");
	tap_result(epoll_wait(set, &got, 1, 0) == 0, "epoll: quiet then");
	close(set);
	raw_pair_close(&pair);
}

static bool one_byte_arrives(int from, int to)
{
	struct image in = message(pages(1), 1, 0);

	if (ioctl(from, driver->code[REQUEST_SEND], in.byte) != 0)
		return false;
	in = message(pages(1), 1, 1);
	return ioctl(to, driver->code[REQUEST_RECV], in.byte) == 0 && image_get(&in, 16, 4) == 1;
}

static void duplicates(void)
{
	struct raw_pair pair = raw_pair();
	int copies[5];

	copies[0] = dup(pair.connector);
	copies[1] = fcntl(pair.connector, F_DUPFD, 100);
	copies[2] = fcntl(pair.connector, F_DUPFD_CLOEXEC, 100);
	copies[3] = dup2(pair.connector, 200);
	copies[4] = dup3(pair.connector, 201, O_CLOEXEC);
	tap_result(copies[0] >= 0 && copies[3] == 200 && copies[4] == 201 && copies[1] >= 100 &&
			   copies[2] >= 100,
		   "dup, F_DUPFD, F_DUPFD_CLOEXEC, dup2, dup3");
	tap_result(fcntl(copies[1], F_GETFD) == 0 && fcntl(copies[2], F_GETFD) == FD_CLOEXEC &&
			   fcntl(copies[4], F_GETFD) == FD_CLOEXEC,
		   "close-on-exec of duplicates");
	close(pair.connector);
	for (int i = 0; i < 5; i++)
		tap_result(one_byte_arrives(copies[i], pair.acceptor),
			   "duplicate %d sends after the original is closed", i + 1);
	for (int i = 0; i < 4; i++)
		close(copies[i]);
	tap_result(polled(pair.acceptor, POLLIN | POLLOUT, 0) == POLLOUT,
		   "the connection lives as long as one duplicate");
	close(copies[4]);
	tap_result((polled(pair.acceptor, POLLIN, 10000) & POLLHUP) != 0,
		   "and ends with the last one");
	close(pair.acceptor);
	close(pair.listener);
}

static bool child_succeeds(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

static void forks(void)
{
	struct raw_pair pair = raw_pair();
	int go[2];

	if (pipe2(go, O_CLOEXEC) != 0)
		tap_bail("no pipe: %m");
	pid_t child = fork();

	if (child == 0) {
		char byte;

		close(go[1]);
		bool sent = one_byte_arrives(pair.connector, pair.acceptor);

		while (read(go[0], &byte, 1) < 0)
			;
		_exit(sent ? 0 : 1);
	}
	close(go[0]);
	close(pair.connector);
	tap_result(polled(pair.acceptor, POLLOUT, 0) == POLLOUT,
		   "fork: closed by the parent, alive in the child");
	close(go[1]);
	tap_result(child_succeeds(child), "fork: the child sends and receives on both ends");
	tap_result((polled(pair.acceptor, POLLIN, 10000) & POLLHUP) != 0,
		   "fork: the child's end ends the connection");
	close(pair.acceptor);
	close(pair.listener);
}

static bool after_exec(const char *program, int fd, const char *what)
{
	char number[16];
	pid_t child = fork();

	if (child == 0) {
		snprintf(number, sizeof number, "%d", fd);
		execl(program, program, driver->name, what, number, (char *)NULL);
		_exit(9);
	}
	return child_succeeds(child);
}

static void execs(const char *program)
{
	struct raw_pair pair = raw_pair();

	fcntl(pair.connector, F_SETFD, FD_CLOEXEC);
	tap_result(after_exec(program, pair.connector, "--is-closed"),
		   "exec: a descriptor with close-on-exec is gone");
	fcntl(pair.connector, F_SETFD, 0);
	tap_result(after_exec(program, pair.connector, "--is-open"),
		   "exec: one without it is still open");

	uint16_t port;
	int bound = endpoint_bound(&port);

	fcntl(bound, F_SETFD, 0);
	tap_result(after_exec(program, bound, "--listens"), "exec: a bound one can listen");
	if (refusals_are_logged)
		tap_skip("what a connection of the stand-in lives by ends with the program",
			 "exec: a connected one still sends");
	else
		tap_result(after_exec(program, pair.connector, "--sends"),
			   "exec: a connected one still sends");
	raw_pair_close(&pair);
	close(bound);
}

/* The other program of the exec cases. */
static int exec_role(const char *role, int fd)
{
	bool open_here = fcntl(fd, F_GETFD) >= 0;

	if (strcmp(role, "--is-closed") == 0)
		return open_here;
	if (strcmp(role, "--is-open") == 0)
		return !open_here;
	if (strcmp(role, "--listens") == 0)
		return ioctl(fd, driver->code[REQUEST_LISTEN], 1) != 0;
	struct image in = message("exec", 4, 1);

	return ioctl(fd, driver->code[REQUEST_SEND], in.byte) == 0 && image_get(&in, 16, 4) == 4
		       ? 0
		       : 1;
}

static int usage(void)
{
	fprintf(stderr, "usage: raw knc|mpss4 [--driver]\n");
	return 2;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return usage();
	if (strcmp(argv[1], "mpss4") == 0)
		driver = &encoding_mpss4;
	else if (strcmp(argv[1], "knc") != 0)
		return usage();
	if (argc == 4)
		return exec_role(argv[2], atoi(argv[3]));
	if (argc == 3 && strcmp(argv[2], "--driver") != 0)
		return usage();
	refusals_are_logged = argc == 2;
	driver_call_begin();

	codes_are_consistent();
	open_descriptors();
	version();
	bind_requests();
	bind_without_privilege();
	listen_requests();
	connect_requests();
	accept_requests();
	accept_halves();
	message_requests();
	register_requests();
	mappings();
	transfers();
	transfer_protection();
	fence_marks();
	fence_signals();
	node_ids();
	bad_pointers();
	wrong_encodings();
	other_descriptors();
	readiness();
	epoll_sets();
	duplicates();
	forks();
	execs("/proc/self/exe");
	tap_result(nothing_else_was_said(), "nothing but the refusals was written to standard error");
	return tap_end();
}
