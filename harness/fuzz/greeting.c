/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An input is what somebody sends who keeps to no rule while a connection is made: a hello, a
 * welcome, notices on the control socket, datagrams to the process, each with whatever descriptors.
 * The first byte says which. While it is there, an honest connector is served.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <scif.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl.h"
#include "ends.h"
#include "hostile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGES = 4, MESSAGE_MOST = 64, THERE = 0x100 };

/* What the stranger has, -1: not that. */
static _Atomic int sock = -1, talk = -1;

static void drop(_Atomic int *fd)
{
	int number = atomic_exchange(fd, -1);

	if (number >= 0)
		close(number);
}

static void leave(void)
{
	drop(&sock);
	drop(&talk);
}

/* --- parts of an input --- */

/* Descriptors in the order that the input has, those of an honest hello if it says so. */
static size_t take_files(struct input *in, int *fds)
{
	static const enum file_kind honest[] = {FILE_BLOCK, FILE_STORE, FILE_SOCKET};
	uint8_t shape = take8(in);
	size_t count = shape & 0x80 ? HELLO_FDS : shape % (FDS_MOST + 1);

	for (size_t i = 0; i < count; i++) {
		enum file_kind kind =
			shape & 0x80 && !(shape >> i & 1) ? honest[i] : take8(in) % FILE_KINDS;
		int other = -1;

		fds[i] = file_of_kind(kind, &other);
		if (other >= 0 && (talk >= 0 || kind != FILE_SOCKET))
			close(other);
		else if (other >= 0)
			atomic_store(&talk, other);
	}
	return count;
}

static void close_files(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

/* Words of the input in the place of some of what an honest message has. */
static void spoil(struct input *in, void *message, size_t words)
{
	uint32_t *word = message;
	uint8_t which = take8(in);

	for (size_t i = 0; i < words && i < 8; i++)
		if (which >> i & 1)
			word[i] = (uint32_t)take_number(in);
}

static void send_notices(struct input *in)
{
	uint32_t message[MESSAGE_MOST / 4] = {0x53544f52, 1, 1, 0, 0, 1};
	int fds[FDS_MOST];

	for (unsigned i = take8(in) % (MESSAGES + 1); i > 0; i--) {
		size_t length = take8(in);

		length = length < 128 ? 24 : length % MESSAGE_MOST;
		spoil(in, message, 6);
		int to = atomic_load(&talk);
		size_t count = take_files(in, fds);
		send_with(to, message, length, fds, count);
		close_files(fds, count);
	}
}

/* --- afterwards --- */

static void use(scif_epd_t epd)
{
	call_begins(leave);
	scif_recv(epd, buffer, 16, 0);
	scif_send(epd, buffer, 16, 0);
	scif_vreadfrom(epd, buffer, PAGE, (off_t)THERE * PAGE, 0);
	scif_vreadfrom(epd, buffer, PAGE, (off_t)(THERE + 1) * PAGE, 0);
	scif_close(epd);
	call_ends();
}

static void next_is_served(void)
{
	struct peer next;

	call_begins(leave);
	peer_connects(&next);
	scif_close(next.victim);
	call_ends();
	peer_end(&next);
}

/* --- a connector --- */

/* Windows in stores that notices tell of. */
static void promise(int block_fd)
{
	struct tree_node node = {.page = THERE,
				 .pages = 1,
				 .id = 1,
				 .first = THERE,
				 .end = THERE + 2,
				 .right = 2,
				 .prot = 3};
	size_t at = offsetof(struct block, mem[SIDE_CONNECTOR]);
	uint64_t root = 1;

	pwrite(block_fd, &root, 8, (off_t)(at + offsetof(struct block_mem, windows)));
	pwrite(block_fd, &node, sizeof(node), (off_t)(at + offsetof(struct block_mem, node[0])));
	node.page = node.first = THERE + 1;
	node.store = 1;
	node.right = 0;
	pwrite(block_fd, &node, sizeof(node), (off_t)(at + offsetof(struct block_mem, node[1])));
}

static void say_hello(struct input *in)
{
	static char bytes[FILLER];
	struct hello hello = {HELLO_MAGIC, BLOCK_VERSION, FILLER, FILLER};
	uint8_t shape = take8(in);
	int fds[FDS_MOST];
	size_t count = take_files(in, fds), length = shape & 1 ? take(in, 2) % FILLER : FILLER;

	spoil(in, &hello, 4);
	memcpy(bytes, &hello, sizeof(hello));
	if (count > 0)
		promise(fds[0]);
	send_with(sock, bytes, length, fds, count);
	close_files(fds, count);
}

static void connect_as(struct input *in)
{
	static const char *const names[] = {
		"scif/%s/0/%d",	 "other/%s/0/%d",  "scif/%s/%d",       "scif/%s/0/x%d",
		"scif/%s/77/%d", "scif/%s/256/%d", "scif/%s/1/%d",     "scif/%s/0/%d/",
		"scif/%s/0/0%d", "scif/%s/300/%d", "scif/%s/0/9999%d", "%s%d",
	};
	enum { NAMES = sizeof(names) / sizeof(names[0]) };
	uint8_t shape = take8(in);
	struct scif_portID who;
	scif_epd_t epd;

	atomic_store(&sock, socket_named(names[shape % 16 < NAMES ? shape % 16 : 0],
					 shape & 16 ? 700 : PEER_PORT + 1));
	if (!(shape & 32))
		as_another();
	must(reach(sock, "scif/%s/0/%d", LISTENER_PORT), "connect");
	as_ourselves();
	if (!(shape & 64))
		say_hello(in);
	send_notices(in);
	call_begins(leave);
	int result = accept_next(&who, &epd);
	call_ends();
	if (result == 0) {
		send_notices(in);
		use(epd);
	} else if (errno != EAGAIN && errno != ENODEV) {
		broken("a connector that keeps to no rule is passed over");
	}
	next_is_served();
}

/* --- a listener --- */

static void answer(struct input *in)
{
	struct welcome welcome = {HELLO_MAGIC, FILLER};
	struct block *block = NULL;
	uint8_t shape = take8(in);
	int fds[FDS_MOST];
	size_t count;

	receive_with(sock, buffer, sizeof(struct hello), fds, &count);
	if (count != HELLO_FDS)
		broken("a hello has three descriptors");
	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED, fds[HELLO_BLOCK], 0);
	atomic_store(&talk, fds[HELLO_CTL]);
	close(fds[HELLO_BLOCK]);
	close(fds[HELLO_STORE]);
	if (shape & 1) {
		count = take_files(in, fds);
		spoil(in, &welcome, 2);
		send_with(talk, &welcome, shape & 2 ? take8(in) % sizeof(welcome) : sizeof(welcome),
			  fds, count);
		close_files(fds, count);
	}
	send_notices(in);
	atomic_store(&block->side[SIDE_ACCEPTOR].state,
		     shape & 4 ? (uint32_t)take_number(in) : BLOCK_SIDE_JOINED);
	if (!(shape & 8))
		while (recv(sock, buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
			;
	munmap(block, sizeof(*block));
}

static void be_reached(struct input *in)
{
	struct scif_portID to = {0, FALSE_PORT};
	int listener = socket_named("scif/%s/0/%d", FALSE_PORT);
	scif_epd_t epd = scif_open();

	as_another();
	must(listen(listener, 1), "listen");
	as_ourselves();
	fcntl(epd, F_SETFL, O_NONBLOCK);
	scif_connect(epd, &to);
	atomic_store(&sock, accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
	close(listener);
	answer(in);
	call_begins(leave);
	scif_connect(epd, &to);
	call_ends();
	use(epd);
}

/* --- datagrams --- */

static void announce(struct input *in)
{
	struct ctl_notice notice = {CTL_MAGIC, CTL_VERSION, 1};
	uint16_t nodes[4] = {0}, self;
	int fds[FDS_MOST];

	atomic_store(&sock, socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	as_another();
	must(reach(sock, "scif/%s/0/pid/%d", getpid()), "connect");
	for (unsigned i = take8(in) % 100; i > 0; i--) {
		size_t count = take_files(in, fds);

		spoil(in, &notice, 3);
		send_with(sock, &notice, sizeof(notice), fds, count);
		close_files(fds, count);
	}
	as_ourselves();
	call_begins(leave);
	scif_epd_t epd = scif_open();
	if (scif_get_nodeIDs(nodes, 4, &self) != 2 || self != 0 || nodes[1] != 1)
		broken("nodes are what they are, whatever a stranger says");
	scif_close(epd);
	call_ends();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const roles[])(struct input *) = {connect_as, be_reached, announce};
	struct input in = {data, data + size};

	begin();
	roles[take8(&in) % 3](&in);
	leave();
	finish();
	return 0;
}
