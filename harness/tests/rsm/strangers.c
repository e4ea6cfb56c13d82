/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that do not keep to docs/rsm-protocol.md lose their connections and nothing else happens.
 */
#include <endian.h>
#include <scif.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "by_hand.h"
#include "pair.h"

enum { ID = 0x400321, OTHER_ID = 0x400331, SIZE = 32768, UNREAD = 12, SILENT = 100 };

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

/* --- a segment that goes through messages --- */

static uint32_t read_status(scif_epd_t epd, uint32_t length)
{
	static unsigned char bytes[SIZE];
	struct message get = by_hand(GET, OTHER_ID), m;

	get.word[14] = htole32(length);
	pair_must(scif_send(epd, &get, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
	if (!by_hand_hears(epd, &m) || by_hand_type(&m) != DONE)
		return UINT32_MAX;
	length = le32toh(m.word[2]);
	pair_must(length > 0 && scif_recv(epd, bytes, (int)length, SCIF_RECV_BLOCK) != (int)length,
		  "scif_recv");
	return le32toh(m.word[4]);
}

static scif_epd_t relayed(uint32_t permission)
{
	struct message m = by_hand_connect(OTHER_ID, permission);
	scif_epd_t epd = by_hand_says(OTHER_ID, &m, HEADER);

	check(answer(epd, ANSWER) == RSM_SUCCESS, "what is right is granted");
	return epd;
}

/* Within the permission, and no more of it unread than there is room for. */
static void relay_strangers(void)
{
	struct message put = by_hand(PUT, OTHER_ID), get = by_hand(GET, OTHER_ID);
	unsigned char both[HEADER + 8] = {0};
	scif_epd_t epd = relayed(RSM_PERM_READ);

	check(read_status(epd, SIZE) == RSM_SUCCESS, "a transfer that is granted");
	put.word[2] = htole32(8);
	memcpy(both, &put, HEADER);
	pair_must(scif_send(epd, both, sizeof(both), SCIF_SEND_BLOCK) != sizeof(both), "scif_send");
	check(answer(epd, DONE) == -1, "PUT without the permission ends the connection");
	scif_close(epd);
	epd = relayed(RSM_PERM_READ);
	get.word[14] = htole32(SIZE);
	for (int i = 0; i < UNREAD; i++)
		pair_must(scif_send(epd, &get, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
	check(answer(epd, DONE) == RSM_SUCCESS, "answers that nobody reads wait");
	scif_close(epd);
}

/* Memory that cannot be registered, and that the program takes away in the end. */
static void through_messages(rsmapi_controller_handle_t controller)
{
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = OTHER_ID;

	pair_must(memory == MAP_FAILED, "mmap");
	pair_must(rsm_memseg_export_create(controller, &segment, memory, SIZE, 0), "create");
	pair_must(rsm_memseg_export_publish(segment, &id, NULL, 0), "publish");
	relay_strangers();
	scif_epd_t epd = relayed(RSM_PERM_READ);
	check(read_status(epd, SIZE) == RSM_SUCCESS, "a transfer while the memory is there");
	munmap(memory, SIZE);
	check(read_status(epd, SIZE) == RSMERR_BARRIER_FAILURE, "a transfer when it is not");
	scif_close(epd);
	pair_must(rsm_memseg_export_unpublish(segment), "unpublish");
	pair_must(rsm_memseg_export_destroy(segment), "destroy");
}

/* --- a segment of this node only --- */

/* On another node, from the beginning on; ends with the status that the holder of ID answers. */
static int ask_from_afar(int go)
{
	struct message m = by_hand_connect(ID, RSM_PERM_READ);
	struct scif_portID to = {.node = 0, .port = by_hand_first_port(ID)};
	char byte;

	setenv("SCIF_NODE", "1", 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pair_must(read(go, &byte, 1) != 1, "read");
	scif_epd_t epd = scif_open();
	pair_must(scif_connect(epd, &to) < 0, "scif_connect");
	pair_must(scif_send(epd, &m, HEADER, SCIF_SEND_BLOCK) != HEADER, "scif_send");
	return answer(epd, ANSWER) == RSMERR_SEG_NOT_PUBLISHED_TO_NODE ? 0 : 1;
}

static void on_loopback(pid_t afar, int go, void *memory, size_t size)
{
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = ID;
	int status;

	pair_must(rsm_get_controller("loopback", &controller), "get_controller");
	pair_must(rsm_memseg_export_create(controller, &segment, memory, size, 0), "create");
	pair_must(rsm_memseg_export_publish(segment, &id, NULL, 0), "publish");
	pair_must(write(go, "", 1) != 1, "write");
	waitpid(afar, &status, 0);
	check(status == 0, "a segment of loopback is not there for another node");
	pair_must(rsm_memseg_export_unpublish(segment), "unpublish");
	pair_must(rsm_memseg_export_destroy(segment), "destroy");
	pair_must(rsm_release_controller(controller), "release_controller");
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
	int before, go[2];

	snprintf(fabric, sizeof(fabric), "strangers-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	pair_must(pipe(go), "pipe");
	pid_t afar = fork();
	if (afar == 0)
		_exit(ask_from_afar(go[0]));
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
	through_messages(controller);
	on_loopback(afar, go[1], memory, size);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
