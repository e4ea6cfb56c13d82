/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An exporter, or an importer, is killed before the first, the second, ... library call that can
 * fail inside an operation, until the operation comes to its end. Each time the other side goes on:
 * an importer loses the connection and no more, the id is free again, an exporter serves the next
 * importer, and no descriptor is left. Run by deaths.sh with libcts-inject.so preloaded.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum { ID = 0x400777, PAGES = 2, MOST_STEPS = 1000 };
enum { TO_THE_END = 42 };

static bool failed;

static void check(bool holds, const char *operation, int step, const char *what)
{
	if (holds)
		return;
	printf("%s, step %d, does not hold: %s\n", operation, step, what);
	failed = true;
}

static void *memory_new(void)
{
	void *memory = mmap(NULL, PAGES * (size_t)getpagesize(), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pair_must(memory == MAP_FAILED, "mmap");
	return memory;
}

static size_t size(void)
{
	return PAGES * (size_t)getpagesize();
}

/* --- those who die --- */

static void die(void *unused)
{
	(void)unused;
	kill(getpid(), SIGKILL);
}

static void die_at(int step)
{
	int (*before)(const char *, int, void (*)(void *), void *) =
		(int (*)(const char *, int, void (*)(void *), void *))dlsym(RTLD_DEFAULT,
									    "cts_inject_before");

	pair_must(before == NULL || before("any", step, die, NULL) != 0, "cts_inject_before");
}

struct party {
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t export;
	rsm_memseg_import_handle_t import;
	void *address;
};

static int create(struct party *p)
{
	return rsm_memseg_export_create(p->controller, &p->export, memory_new(), size(),
					RSM_ALLOW_REBIND);
}

static int publish(struct party *p)
{
	rsm_memseg_id_t id = ID;

	return rsm_memseg_export_publish(p->export, &id, NULL, 0);
}

static int rebind(struct party *p)
{
	return rsm_memseg_export_rebind(p->export, memory_new(), 0, size());
}

static int unpublish(struct party *p)
{
	return rsm_memseg_export_unpublish(p->export);
}

static int destroy(struct party *p)
{
	return rsm_memseg_export_destroy(p->export);
}

static int connect_there(struct party *p)
{
	return rsm_memseg_import_connect(p->controller, 0, ID, RSM_PERM_RDWR, &p->import);
}

static int map(struct party *p)
{
	return rsm_memseg_import_map(p->import, &p->address, RSM_MAP_NONE, RSM_PERM_RDWR, 0,
				     size());
}

static int disconnect(struct party *p)
{
	return rsm_memseg_import_disconnect(p->import);
}

typedef int step_fn(struct party *p);

/* What is called before, and whether an importer has to be there, or an exporter. */
static const struct operation {
	const char *name;
	step_fn *before[2], *call;
	bool has_importer, needs_exporter;
} operations[] = {
	{"create", {NULL}, create, false, false},
	{"publish", {create}, publish, false, false},
	{"rebind", {create, publish}, rebind, true, false},
	{"unpublish", {create, publish}, unpublish, true, false},
	{"destroy", {create, publish}, destroy, true, false},
	{"connect", {NULL}, connect_there, false, true},
	{"map", {connect_there}, map, false, true},
	{"disconnect", {connect_there}, disconnect, false, true},
};

enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static void wait_for(int fd)
{
	char byte;

	pair_must(read(fd, &byte, 1) != 1, "the other process");
}

static void tell(int fd)
{
	pair_must(write(fd, "", 1) != 1, "write");
}

static void carry_out(const struct operation *o, int step, int ready, int go)
{
	struct party p = {NULL};

	pair_must(rsm_get_controller("scif0", &p.controller), "get_controller");
	for (int i = 0; i < 2 && o->before[i] != NULL; i++)
		pair_must(o->before[i](&p), o->name);
	if (o->has_importer) {
		tell(ready);
		wait_for(go);
	}
	die_at(step);
	pair_must(o->call(&p), o->name);
	_exit(TO_THE_END);
}

/* --- those who see it --- */

static void importer_loses_no_more(struct party *p, const char *name, int step)
{
	rsmapi_barrier_t barrier;
	uint64_t value = 1;
	int result;

	pair_must(rsm_memseg_import_init_barrier(p->import, RSM_BAR_DEFAULT, &barrier), "barrier");
	*(volatile char *)p->address = 1;
	result = rsm_memseg_import_put64(p->import, 0, &value, 1);
	/* One may be the last that the loss was noticed in. */
	if (result == RSMERR_BARRIER_FAILURE)
		result = rsm_memseg_import_put64(p->import, 0, &value, 1);
	check(result == RSMERR_CONN_ABORTED, name, step, "the importer's connection is lost");
	*(volatile char *)p->address = 1;
	pair_must(rsm_memseg_import_unmap(p->import), "unmap");
	pair_must(disconnect(p), "disconnect");
}

static pid_t start(int number, int step, const int ready[2], const int go[2])
{
	char arguments[4][16];
	pid_t pid;

	snprintf(arguments[0], sizeof(arguments[0]), "%d", number);
	snprintf(arguments[1], sizeof(arguments[1]), "%d", step);
	snprintf(arguments[2], sizeof(arguments[2]), "%d", ready[1]);
	snprintf(arguments[3], sizeof(arguments[3]), "%d", go[0]);
	pid = fork();
	pair_must(pid < 0, "fork");
	if (pid == 0) {
		execl("/proc/self/exe", "rsm-deaths", arguments[0], arguments[1], arguments[2],
		      arguments[3], (char *)NULL);
		_exit(EXIT_FAILURE);
	}
	return pid;
}

/* False when the operation came to its end before the step. */
static bool one_death(struct party *p, int number, int step)
{
	const struct operation *o = &operations[number];
	int ready[2], go[2], status;
	pid_t pid;

	pair_must(pipe(ready) | pipe(go), "pipe");
	pid = start(number, step, ready, go);
	close(ready[1]);
	close(go[0]);
	if (o->has_importer) {
		wait_for(ready[0]);
		pair_must(connect_there(p), "connect");
		pair_must(map(p), "map");
		tell(go[1]);
	}
	pair_must(waitpid(pid, &status, 0) != pid, "waitpid");
	close(ready[0]);
	close(go[1]);
	if (o->has_importer)
		importer_loses_no_more(p, o->name, step);
	if (!o->needs_exporter)
		check(publish(p) == RSM_SUCCESS, o->name, step, "the id is free again");
	else
		check(connect_there(p) == RSM_SUCCESS && disconnect(p) == RSM_SUCCESS, o->name,
		      step, "the exporter serves the next importer");
	if (!o->needs_exporter)
		pair_must(unpublish(p), "unpublish");
	if (WIFEXITED(status))
		check(WEXITSTATUS(status) == TO_THE_END, o->name, step, "it ends well");
	return WIFSIGNALED(status);
}

static void deaths(struct party *p, int number)
{
	const struct operation *o = &operations[number];
	int step = 1, before = pair_descriptors();

	if (o->needs_exporter)
		pair_must(publish(p), "publish");
	while (step < MOST_STEPS && one_death(p, number, step))
		step++;
	if (o->needs_exporter)
		pair_must(unpublish(p), "unpublish");
	check(step > 1 && step < MOST_STEPS, o->name, step, "there are steps, and an end");
	check(pair_descriptors() == before, o->name, step, "no descriptor is left");
	printf("%s: %d deaths\n", o->name, step - 1);
}

int main(int argc, char **argv)
{
	struct party p = {NULL};

	if (argc == 5)
		carry_out(&operations[atoi(argv[1])], atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	pair_must(rsm_get_controller("scif0", &p.controller), "get_controller");
	pair_must(create(&p), "create");
	pair_must(publish(&p), "publish");
	pair_must(unpublish(&p), "unpublish");
	for (int i = 0; i < OPERATIONS; i++)
		deaths(&p, i);
	pair_must(destroy(&p), "destroy");
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
