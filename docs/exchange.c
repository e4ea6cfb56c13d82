/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two processes exchange lines of text through a segment.
 *
 *	exchange -e -n NODE	exports a segment to NODE and prints what arrives in it
 *	exchange -i -n NODE	imports it from NODE and sends the lines of its standard input
 *
 * On one machine: start `SCIF_NODE=1 ./exchange -e -n 0`, and then `./exchange -i -n 1`.
 */
#include <rsmapi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENT_ID   RSM_HPC_ID_BASE
#define SEGMENT_SIZE 8192

/* What the segment holds: bytes sent so far, bytes printed so far, and the text, a ring. */
struct message {
	uint32_t in, out;
	char data[1];
};

#define RING_SIZE (SEGMENT_SIZE - offsetof(struct message, data))

static void must(int error, const char *what)
{
	if (error == RSM_SUCCESS)
		return;
	fprintf(stderr, "%s: RSM error %d\n", what, error);
	exit(1);
}

static int export_lines(rsmapi_controller_handle_t controller, rsm_node_id_t importer)
{
	rsmapi_access_entry_t access[] = {{importer, RSM_PERM_RDWR}};
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = SEGMENT_ID;
	struct message *message = valloc(SEGMENT_SIZE);

	if (message == NULL)
		return 1;
	memset(message, 0, SEGMENT_SIZE);
	must(rsm_memseg_export_create(controller, &segment, message, SEGMENT_SIZE, 0), "create");
	must(rsm_memseg_export_publish(segment, &id, access, 1), "publish");
	printf("segment %#x is published\n", id);
	fflush(stdout);
	for (;;) {
		must(rsm_intr_signal_wait(segment, -1), "wait");
		if (message->out == message->in)
			break; /* a signal without text is the end */
		while (message->out != message->in)
			putchar(message->data[message->out++ % RING_SIZE]);
		fflush(stdout);
		must(rsm_intr_signal_post(segment, 0), "post");
	}
	must(rsm_memseg_export_unpublish(segment), "unpublish");
	must(rsm_memseg_export_destroy(segment), "destroy");
	free(message);
	return 0;
}

/* The ring may wrap anywhere in the text. */
static void send_text(rsm_memseg_import_handle_t segment, uint32_t *in, char *text, size_t length)
{
	while (length > 0) {
		size_t at = *in % RING_SIZE;
		size_t part = length < RING_SIZE - at ? length : RING_SIZE - at;

		must(rsm_memseg_import_put(segment, offsetof(struct message, data) + at, text,
					   part),
		     "put");
		text += part;
		length -= part;
		*in += part;
	}
	must(rsm_memseg_import_put32(segment, offsetof(struct message, in), in, 1), "put32");
	must(rsm_intr_signal_post(segment, 0), "post");
	must(rsm_intr_signal_wait(segment, -1), "wait");
}

static int import_lines(rsmapi_controller_handle_t controller, rsm_node_id_t exporter)
{
	rsm_memseg_import_handle_t segment;
	rsmapi_barrier_t barrier = {NULL, 0, NULL};
	char line[256];
	uint32_t in;

	must(rsm_memseg_import_connect(controller, exporter, SEGMENT_ID, RSM_PERM_RDWR, &segment),
	     "connect");
	must(rsm_memseg_import_init_barrier(segment, RSM_BAR_DEFAULT, &barrier), "init_barrier");
	must(rsm_memseg_import_get32(segment, offsetof(struct message, in), &in, 1), "get32");
	while (fgets(line, sizeof(line), stdin) != NULL)
		send_text(segment, &in, line, strlen(line));
	must(rsm_intr_signal_post(segment, 0), "post");
	must(rsm_memseg_import_destroy_barrier(&barrier), "destroy_barrier");
	must(rsm_memseg_import_disconnect(segment), "disconnect");
	return 0;
}

int main(int argc, char **argv)
{
	int (*work)(rsmapi_controller_handle_t, rsm_node_id_t) = NULL;
	rsmapi_controller_handle_t controller;
	rsm_node_id_t peer = 0;
	int option, status;

	while ((option = getopt(argc, argv, "ein:")) != -1) {
		if (option == 'e')
			work = export_lines;
		else if (option == 'i')
			work = import_lines;
		else if (option == 'n')
			peer = strtoul(optarg, NULL, 0);
	}
	if (work == NULL) {
		fprintf(stderr, "usage: %s -e|-i -n NODE\n", argv[0]);
		return 2;
	}
	must(rsm_get_controller("scif0", &controller), "get_controller");
	status = work(controller, peer);
	must(rsm_release_controller(controller), "release_controller");
	return status;
}
