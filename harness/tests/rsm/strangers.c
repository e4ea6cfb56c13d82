/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that do not keep to docs/rsm-protocol.md lose their connections and nothing else happens.
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

#include "by_hand.h"
#include "pair.h"

enum { ID = 0x400321, SILENT = 100 };

static bool failed;

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	printf("does not hold: %s\n", what);
	failed = true;
}

/* Waits for a message or the end; the status of a message of that type, or -1 for the end. */
static int answer(scif_epd_t epd, uint16_t type)
{
	struct message m;

	if (!by_hand_hears(epd, &m))
		return -1;
	check(by_hand_type(&m) == type, "the answer is of the type due");
	return (int)le32toh(m.word[4]);
}

static void is_turned_away(const struct message *m, int length, const char *what)
{
	scif_epd_t epd = by_hand_says(ID, m, length);
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
	m = by_hand_connect(ID, RSM_PERM_READ);
	m.word[1] = htole32(CONNECT << 16 | 2);
	is_turned_away(&m, HEADER, "another version ends the connection");
	m = by_hand_connect(ID, RSM_PERM_READ);
	m.word[2] = htole32(UINT32_MAX);
	is_turned_away(&m, HEADER, "a length beyond the limit ends the connection");
	m = by_hand(GET, ID);
	is_turned_away(&m, HEADER, "a transfer before CONNECT ends the connection");
	m = by_hand(99, ID);
	is_turned_away(&m, HEADER, "an unknown type ends the connection");
}

static void requests(void)
{
	struct message m = by_hand_connect(ID, 0777), get = by_hand(GET, ID),
		       put = by_hand(PUT, ID);
	scif_epd_t epd = by_hand_says(ID, &m, HEADER);

	check(answer(epd, ANSWER) == RSMERR_PERM_DENIED, "a permission that is none is denied");
	check(answer(epd, ANSWER) == -1, "and the connection ends");
	scif_close(epd);
	m = by_hand_connect(ID, RSM_PERM_READ);
	m.word[6] = htole32(ID + 1);
	epd = by_hand_says(ID, &m, HEADER);
	check(answer(epd, ANSWER) == RSMERR_SEG_NOT_PUBLISHED, "another id is not published here");
	scif_close(epd);
	m = by_hand_connect(ID, RSM_PERM_READ);
	epd = by_hand_says(ID, &m, HEADER);
	check(answer(epd, ANSWER) == RSM_SUCCESS, "what is right is granted");
	get.word[14] = htole32(8);
	pair_must(scif_send(epd, &get, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
	check(answer(epd, ANSWER) == -1, "GET without a relay ends the connection");
	scif_close(epd);
	epd = by_hand_says(ID, &m, HEADER);
	check(answer(epd, ANSWER) == RSM_SUCCESS, "what is right is granted");
	put.word[2] = htole32(8);
	pair_must(scif_send(epd, &put, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
	check(answer(epd, ANSWER) == -1, "PUT without a relay ends the connection");
	scif_close(epd);
}

/* Of those that were let in. */
static void admitted(void)
{
	struct message m = by_hand_connect(ID, RSM_PERM_READ), done = by_hand(DONE, ID),
		       other = by_hand(99, ID);
	scif_epd_t epd = by_hand_says(ID, &m, HEADER);

	check(answer(epd, ANSWER) == RSM_SUCCESS, "what is right is granted");
	done.word[3] = htole32(4711);
	pair_must(scif_send(epd, &done, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
	pair_must(scif_send(epd, &other, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
	check(answer(epd, ANSWER) == -1,
	      "an unknown type ends the connection, an answer to nothing did not");
	scif_close(epd);
}

static void questions(void)
{
	struct message m = by_hand(ASK, ID);
	scif_epd_t epd = by_hand_says(ID, &m, HEADER);

	check(answer(epd, HOLDER) == RSMERR_SEGID_IN_USE, "the holder of an id says so");
	scif_close(epd);
	m.word[6] = htole32(ID + 1);
	epd = by_hand_says(ID, &m, HEADER);
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
	struct message half = by_hand_connect(ID, RSM_PERM_READ);
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
	slow = by_hand_says(ID, &half, HEADER / 2);
	nonsense();
	requests();
	admitted();
	questions();
	segment_is_well(controller, memory);
	for (int i = 0; i < SILENT; i++)
		silent[i] = by_hand_meet(ID);
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
