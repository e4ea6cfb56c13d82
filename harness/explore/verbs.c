/* SPDX-License-Identifier: BSD-2-Clause */
/* The requests that sequences are made of. */
#include "explore.h"

#include <string.h>

/*
 * Objects: e endpoint, t port, o offset of a window, m mark, p mapping; c controller, x export,
 * i import, s segment id, b barrier, d descriptor of signals; a memory of four pages. n is the
 * number of the other's node, of a port the node that it is on. Sets of numbers, in capitals:
 * generate.c.
 */
const struct explore_verb explore_verbs[] = {
	{"open", "scif", 4, "", "e", "r = scif_open();"},
	{"nonblock", "scif", 0, "e 1", "", "r = fcntl($1, F_SETFL, O_NONBLOCK);"},
	{"bind", "scif", 6, "e:unbound|bound P", "t", "r = scif_bind($1, $2);"},
	{"listen", "scif", 4, "e:bound|bound|listening B", "", "r = scif_listen($1, $2);"},
	{"listener", "scif", 2, "P B", "et",
	 "r = scif_open();\n\to[1] = scif_bind(r, $1);\n\tif (o[1] == -1 || scif_listen(r, $2) == "
	 "-1)\n"
	 "\t\tr = -1;"},
	{"connect", "scif", 6, "e:bound|unbound|connecting|connected t", ".",
	 "struct scif_portID to = {$2, $3};\n\n\tr = scif_connect($1, &to);"},
	{"accept", "scif", 5, "e:listening F", "e..",
	 "struct scif_portID from = {0};\n\tint made = -1;\n\n\tr = scif_accept($1, &from, &made, "
	 "$2);\n"
	 "\tif (r != -1)\n\t\tr = made;\n\to[1] = from.node;\n\to[2] = from.port;"},
	{"close", "scif", 5, "e", ".", "r = scif_close($1);"},
	{"send", "scif", 12, "e:connected L F S 0", ".",
	 "r = scif_send($1, bytes($2, $4), $2, $3);"},
	{"recv", "scif", 12, "e:connected L F", ".", "r = scif_recv($1, bytes($2, 0), $2, $3);"},
	{"window", "scif", 8, "e:connected Z O R M S", "o",
	 "r = scif_register($1, bytes($2, $6), $2, $3, $4, $5);"},
	{"poll", "scif", 8, "e:connected V 0", ".",
	 "struct scif_pollepd entry = {.epd = $1, .events = $2};\n\n\tr = scif_poll(&entry, 1, "
	 "$3);\n"
	 "\tif (r != -1)\n\t\tr = (unsigned short)entry.revents;"},
	{"unregister", "scif", 4, "e:connected o Z", ".", "r = scif_unregister($1, $2, $3);"},
	{"mmap", "scif", 4, "e:connected 0 Z R M ^o", "p",
	 "r = (intptr_t)scif_mmap((void *)$2, $3, $4, $5, $1, $6);"},
	{"munmap", "scif", 2, "p 4096", ".", "r = scif_munmap((void *)$1, $2);"},
	{"readfrom", "scif", 4, "e:connected o Z ^o G", ".",
	 "r = scif_readfrom($1, $2, $3, $4, $5);"},
	{"writeto", "scif", 4, "e:connected o Z ^o G", ".",
	 "r = scif_writeto($1, $2, $3, $4, $5);"},
	{"vreadfrom", "scif", 4, "e:connected a Z ^o G", ".",
	 "r = scif_vreadfrom($1, (void *)$2, $3, $4, $5);"},
	{"vwriteto", "scif", 4, "e:connected a Z ^o G", ".",
	 "r = scif_vwriteto($1, (void *)$2, $3, $4, $5);"},
	{"fence_mark", "scif", 3, "e:connected N", "m",
	 "int mark = 0;\n\n\tr = scif_fence_mark($1, $2, &mark);\n\tif (r != -1)\n\t\tr = mark;"},
	{"fence_wait", "scif", 3, "e:connected m", ".", "r = scif_fence_wait($1, $2);"},
	{"fence_signal", "scif", 3, "e:connected o 5 ^o 6 H", ".",
	 "r = scif_fence_signal($1, $2, $3, $4, $5, $6);"},
	{"nodes", "scif", 1, "", "..",
	 "uint16_t self = 0;\n\n\tr = scif_get_nodeIDs(NULL, 0, &self);\n\to[1] = self;"},

	{"alloc", "", 2, "16384", "a", "r = (intptr_t)bytes($1, 0);"},

	{"rsm_controller", "rsm", 2, "C", "c",
	 "rsmapi_controller_handle_t made = NULL;\n\n\te = rsm_get_controller($1, &made);\n"
	 "\tr = (intptr_t)made;"},
	{"rsm_release", "rsm", 1, "c", "", "e = rsm_release_controller((void *)$1);"},
	{"rsm_create", "rsm", 4, "c a Z Y", "x",
	 "rsm_memseg_export_handle_t made = NULL;\n\n\te = rsm_memseg_export_create((void *)$1, "
	 "&made, "
	 "(void *)$2, $3, $4);\n\tr = (intptr_t)made;"},
	{"rsm_publish", "rsm", 6, "x:new I n U", "s",
	 "rsm_memseg_id_t id = $2;\n\trsmapi_access_entry_t entry = {.ae_node = $3, .ae_permission "
	 "= $4};"
	 "\n\n\te = rsm_memseg_export_publish((void *)$1, &id, &entry, 1);\n\tr = id;"},
	{"rsm_republish", "rsm", 3, "x:published n U", "",
	 "rsmapi_access_entry_t entry = {.ae_node = $2, .ae_permission = $3};\n\n"
	 "\te = rsm_memseg_export_republish((void *)$1, &entry, 1);"},
	{"rsm_unpublish", "rsm", 2, "x:published", "",
	 "e = rsm_memseg_export_unpublish((void *)$1);"},
	{"rsm_destroy", "rsm", 2, "x", "", "e = rsm_memseg_export_destroy((void *)$1);"},
	{"rsm_rebind", "rsm", 3, "x a 0 Z", "",
	 "e = rsm_memseg_export_rebind((void *)$1, (void *)$2, $3, $4);"},
	{"rsm_connect", "rsm", 10, "c n ^s Q", "i",
	 "rsm_memseg_import_handle_t made = NULL;\n\n\te = rsm_memseg_import_connect((void *)$1, "
	 "$2, $3, "
	 "$4, &made);\n\tr = (intptr_t)made;"},
	{"rsm_disconnect", "rsm", 2, "i", "", "e = rsm_memseg_import_disconnect((void *)$1);"},
	{"rsm_map", "rsm", 6, "i:import_connected Q 0 Z", "p",
	 "void *at = NULL;\n\n\te = rsm_memseg_import_map((void *)$1, &at, RSM_MAP_NONE, $2, $3, "
	 "$4);\n"
	 "\tr = (intptr_t)at;"},
	{"rsm_unmap", "rsm", 2, "i:with_map|connected", "",
	 "e = rsm_memseg_import_unmap((void *)$1);"},
	{"rsm_get", "rsm", 6, "i D Z a", "",
	 "e = rsm_memseg_import_get((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_put", "rsm", 6, "i D Z a", "",
	 "e = rsm_memseg_import_put((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_get8", "rsm", 1, "i D J a", "",
	 "e = rsm_memseg_import_get8((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_get16", "rsm", 1, "i D J a", "",
	 "e = rsm_memseg_import_get16((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_get32", "rsm", 1, "i D J a", "",
	 "e = rsm_memseg_import_get32((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_get64", "rsm", 1, "i D J a", "",
	 "e = rsm_memseg_import_get64((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_put8", "rsm", 1, "i D J a", "",
	 "e = rsm_memseg_import_put8((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_put16", "rsm", 1, "i D J a", "",
	 "e = rsm_memseg_import_put16((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_put32", "rsm", 1, "i D J a", "",
	 "e = rsm_memseg_import_put32((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_put64", "rsm", 1, "i D J a", "",
	 "e = rsm_memseg_import_put64((void *)$1, $2, (void *)$4, $3);"},
	{"rsm_barrier", "rsm", 4, "i", "b",
	 "rsmapi_barrier_t *made = calloc(1, sizeof(*made));\n\n"
	 "\te = rsm_memseg_import_init_barrier((void *)$1, RSM_BAR_DEFAULT, made);\n"
	 "\tr = (intptr_t)made;"},
	{"rsm_open_barrier", "rsm", 3, "b:closed", "",
	 "e = rsm_memseg_import_open_barrier((void *)$1);"},
	{"rsm_order_barrier", "rsm", 3, "b:open", "",
	 "e = rsm_memseg_import_order_barrier((void *)$1);"},
	{"rsm_close_barrier", "rsm", 3, "b:open|open|open|closed", "",
	 "e = rsm_memseg_import_close_barrier((void *)$1);"},
	{"rsm_destroy_barrier", "rsm", 2, "b", "",
	 "e = rsm_memseg_import_destroy_barrier((void *)$1);"},
	{"rsm_get_mode", "rsm", 2, "i", ".",
	 "rsm_barrier_mode_t mode = 0;\n\n\te = rsm_memseg_import_get_mode((void *)$1, &mode);\n"
	 "\tr = mode;"},
	{"rsm_mode", "rsm", 2, "i X", "", "e = rsm_memseg_import_set_mode((void *)$1, $2);"},
	{"rsm_post", "rsm", 6, "xi W", "", "e = rsm_intr_signal_post((void *)$1, $2);"},
	{"rsm_wait", "rsm", 4, "xi 0", "", "e = rsm_intr_signal_wait((void *)$1, $2);"},
	{"rsm_pollfd", "rsm", 4, "xi", "d.",
	 "struct pollfd entry = {.fd = -1};\n\n\te = rsm_memseg_get_pollfd((void *)$1, &entry);\n"
	 "\tr = entry.fd;\n\to[1] = entry.events;"},
	{"rsm_wait_pollfd", "rsm", 5, "d 64 0", "..",
	 "struct pollfd entry = {.fd = $1, .events = $2};\n\tint count = 0;\n\n"
	 "\te = rsm_intr_signal_wait_pollfd(&entry, 1, $3, &count);\n\tr = count;\n"
	 "\to[1] = entry.revents;"},
	{"rsm_release_pollfd", "rsm", 2, "xi", "", "e = rsm_memseg_release_pollfd((void *)$1);"},
};
const size_t explore_verb_count = sizeof(explore_verbs) / sizeof(*explore_verbs);

const struct explore_verb *explore_verb(const char *name)
{
	size_t i;

	for (i = 0; i < explore_verb_count; i++) {
		if (strcmp(explore_verbs[i].name, name) == 0)
			return &explore_verbs[i];
	}
	return NULL;
}
