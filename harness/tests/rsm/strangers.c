/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that do not keep to docs/rsm-protocol.md lose their connections and nothing else happens.
 * Ports and messages are made here from the document, not by the library.
 */
#include <endian.h>
#include <scif.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pair.h"

enum { ID = 0x400321, HEADER = 64, SILENT = 100 };
enum { ASK = 1, HOLDER = 2, CONNECT = 3, ANSWER = 4, GET = 7, PUT = 8, SIGNAL = 10 };

static bool failed;

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	printf("does not hold: %s\n", what);
	failed = true;
}

/* --- the protocol, from its description --- */

static uint16_t first_port(uint32_t id)
{
	uint64_t z = id + UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return (uint16_t)(0x4000 + z % 0xc000);
}

struct message {
	uint32_t word[HEADER / 4];
};

static struct message message(uint16_t type)
{
	struct message m = {{htole32(0x314d5352), htole32((uint32_t)type << 16 | 1)}};

	m.word[6] = htole32(ID);
	return m;
}

static struct message connect_as(uint32_t permission)
{
	struct message m = message(CONNECT);

	m.word[7] = htole32(permission);
	return m;
}

static scif_epd_t stranger(void)
{
	struct scif_portID to = {.port = first_port(ID)};
	scif_epd_t epd = scif_open();
	uint16_t self;

	pair_must(epd < 0 || scif_get_nodeIDs(NULL, 0, &self) < 0, "scif_open");
	to.node = self;
	pair_must(scif_connect(epd, &to) < 0, "scif_connect");
	return epd;
}

static scif_epd_t stranger_says(const void *bytes, int length)
{
	scif_epd_t epd = stranger();

	pair_must(scif_send(epd, (void *)(uintptr_t)bytes, length, SCIF_SEND_BLOCK) != length,
		  "scif_send");
	return epd;
}

/* Waits for a message or the end; the status of a message of that type, or -1 for the end. */
static int answer(scif_epd_t epd, uint16_t type)
{
	struct message m;

	if (scif_recv(epd, &m, HEADER, SCIF_RECV_BLOCK) != HEADER)
		return -1;
	check(le32toh(m.word[1]) == ((uint32_t)type << 16 | 1), "the answer is of the type due");
	return (int)le32toh(m.word[4]);
}

static void is_turned_away(const struct message *m, int length, const char *what)
{
	scif_epd_t epd = stranger_says(m, length);
	char byte;

	check(scif_recv(epd, &byte, 1, SCIF_RECV_BLOCK) < 0, what);
	scif_close(epd);
}

/* --- what strangers try --- */

static void nonsense(void)
{
	struct message m;

	memset(&m, 0x5a, sizeof(m));
	is_turned_away(&m, HEADER, "nonsense ends the connection");
	m = connect_as(RSM_PERM_READ);
	m.word[1] = htole32(CONNECT << 16 | 2);
	is_turned_away(&m, HEADER, "another version ends the connection");
	m = connect_as(RSM_PERM_READ);
	m.word[2] = htole32(UINT32_MAX);
	is_turned_away(&m, HEADER, "a length beyond the limit ends the connection");
	m = message(GET);
	is_turned_away(&m, HEADER, "a transfer before CONNECT ends the connection");
	m = message(99);
	is_turned_away(&m, HEADER, "an unknown type ends the connection");
}

static void requests(void)
{
	struct message m = connect_as(0777), get = message(GET), put = message(PUT);
	scif_epd_t epd = stranger_says(&m, HEADER);

	check(answer(epd, ANSWER) == RSMERR_PERM_DENIED, "a permission that is none is denied");
	check(answer(epd, ANSWER) == -1, "and the connection ends");
	scif_close(epd);
	m = connect_as(RSM_PERM_READ);
	m.word[6] = htole32(ID + 1);
	epd = stranger_says(&m, HEADER);
	check(answer(epd, ANSWER) == RSMERR_SEG_NOT_PUBLISHED, "another id is not published here");
	scif_close(epd);
	m = connect_as(RSM_PERM_READ);
	epd = stranger_says(&m, HEADER);
	check(answer(epd, ANSWER) == RSM_SUCCESS, "what is right is granted");
	get.word[14] = htole32(8);
	pair_must(scif_send(epd, &get, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
	check(answer(epd, ANSWER) == -1, "GET without a relay ends the connection");
	scif_close(epd);
	epd = stranger_says(&m, HEADER);
	check(answer(epd, ANSWER) == RSM_SUCCESS, "what is right is granted");
	put.word[2] = htole32(8);
	pair_must(scif_send(epd, &put, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
	check(answer(epd, ANSWER) == -1, "PUT without a relay ends the connection");
	scif_close(epd);
}

static void questions(void)
{
	struct message m = message(ASK);
	scif_epd_t epd = stranger_says(&m, HEADER);

	check(answer(epd, HOLDER) == RSMERR_SEGID_IN_USE, "the holder of an id says so");
	scif_close(epd);
	m.word[6] = htole32(ID + 1);
	epd = stranger_says(&m, HEADER);
	check(answer(epd, HOLDER) == RSM_SUCCESS, "another id is not his");
	scif_close(epd);
}

/* --- the segment meanwhile --- */

static void segment_is_well(rsmapi_controller_handle_t controller, volatile uint64_t *memory)
{
	static uint64_t value;
	rsm_memseg_import_handle_t import;
	rsmapi_barrier_t barrier;
	uint16_t self;

	value++;
	pair_must(scif_get_nodeIDs(NULL, 0, &self) < 0, "scif_get_nodeIDs");
	check(rsm_memseg_import_connect(controller, self, ID, RSM_PERM_RDWR, &import) ==
		      RSM_SUCCESS,
	      "an importer connects");
	pair_must(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier), "barrier");
	check(rsm_memseg_import_put64(import, 0, &value, 1) == RSM_SUCCESS && *memory == value,
	      "and writes");
	pair_must(rsm_memseg_import_disconnect(import), "disconnect");
}

int main(void)
{
	size_t size = (size_t)getpagesize();
	uint64_t *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct message half = connect_as(RSM_PERM_READ);
	scif_epd_t silent[SILENT], slow;
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = ID;
	char fabric[32];
	int before;

	snprintf(fabric, sizeof(fabric), "strangers-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	pair_must(memory == MAP_FAILED, "mmap");
	pair_must(rsm_get_controller("scif0", &controller), "get_controller");
	pair_must(rsm_memseg_export_create(controller, &segment, memory, size, 0), "create");
	before = pair_descriptors();
	pair_must(rsm_memseg_export_publish(segment, &id, NULL, 0), "publish");
	slow = stranger_says(&half, HEADER / 2);
	nonsense();
	requests();
	questions();
	segment_is_well(controller, memory);
	for (int i = 0; i < SILENT; i++)
		silent[i] = stranger();
	segment_is_well(controller, memory);
	check(answer(slow, ANSWER) == -1, "half a message is not waited for without end");
	for (int i = 0; i < SILENT; i++) {
		check(answer(silent[i], ANSWER) == -1, "silence is not waited for without end");
		scif_close(silent[i]);
	}
	scif_close(slow);
	segment_is_well(controller, memory);
	pair_must(rsm_memseg_export_unpublish(segment), "unpublish");
	check(pair_descriptors() == before, "no descriptor is left");
	pair_must(rsm_memseg_export_destroy(segment), "destroy");
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
