/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with more rights than who starts it does not do what the starter's environment says:
 * each variable that the libraries know is heeded by a plain run of this program, and by a set-uid
 * run of it as if it were not there.
 */
#include <endian.h>
#include <rsmapi.h>
#include <scif.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"

enum { NOBODY = 65534, PAGE = 4096, SKIPPED = 77, LIMIT_SECONDS = 60 };
/* What a run says by its exit status. */
enum { IGNORED, HEEDED, NOT_PRIVILEGED = SKIPPED };

static char folder[] = "/tmp/scif-environment-XXXXXX";
static char program[64], file[64];

/* --- what a variable does --- */

static bool provider(const char *value)
{
	(void)value;
	return scif_open() < 0;
}

static bool node(const char *value)
{
	uint16_t self = 0;

	must(scif_get_nodeIDs(NULL, 0, &self), "get_nodeIDs");
	return self == atoi(value);
}

static bool fabric(const char *value)
{
	scif_epd_t epd = scif_open();
	struct sockaddr_un name = {.sun_path = ""};
	socklen_t length = sizeof(name);

	must(scif_bind(epd, 0), "bind");
	must(getsockname(scif_get_fd(epd), (struct sockaddr *)&name, &length), "getsockname");
	return strstr(name.sun_path + 1, value) != NULL;
}

/* Whether it opens the file is seen from outside. */
static bool device(const char *value)
{
	(void)value;
	must(scif_open(), "open");
	return false;
}

static bool segment_ids(const char *value)
{
	rsm_memseg_id_t base;
	uint32_t length;

	(void)value;
	return rsm_get_segmentid_range("SUITE", &base, &length) == RSM_SUCCESS;
}

static void rsm_must(int error, const char *what)
{
	if (error != RSM_SUCCESS) {
		printf("%s: RSM error %d\n", what, error);
		exit(BROKEN);
	}
}

/* A word of an own segment comes swapped. */
static bool byte_order(const char *value)
{
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_import_handle_t import;
	rsmapi_barrier_t barrier;
	rsm_memseg_id_t id = 0;
	uint16_t *memory = aligned_alloc(PAGE, PAGE), word = 0, self;

	(void)value;
	must(memory == NULL ? -1 : 0, "aligned_alloc");
	memory[0] = 0x1234;
	must(scif_get_nodeIDs(NULL, 0, &self), "get_nodeIDs");
	rsm_must(rsm_get_controller("loopback", &controller), "controller");
	rsm_must(rsm_memseg_export_create(controller, &segment, memory, PAGE, 0), "create");
	rsm_must(rsm_memseg_export_publish(segment, &id, NULL, 0), "publish");
	rsm_must(rsm_memseg_import_connect(controller, self, id, RSM_PERM_READ, &import),
		 "connect");
	rsm_must(rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier), "barrier");
	rsm_must(rsm_memseg_import_get16(import, 0, &word, 1), "get16");
	rsm_must(rsm_memseg_import_destroy_barrier(&barrier), "destroy_barrier");
	rsm_must(rsm_memseg_import_disconnect(import), "disconnect");
	rsm_must(rsm_memseg_export_destroy(segment), "destroy");
	free(memory);
	return word != 0x1234;
}

static const struct variable {
	const char *name, *value;
	bool (*heeded)(const char *value);
} variables[] = {
	{"SCIF_PROVIDER", "nonsense", provider},
	{"SCIF_NODE", "1", node},
	{"SCIF_FABRIC", "of-the-starter", fabric},
	{"SCIF_HW_DEVICE", file, device},
	{"RSM_SEGMENTID_FILE", file, segment_ids},
	{"RSM_BYTE_ORDER", __BYTE_ORDER == __BIG_ENDIAN ? "little" : "big", byte_order},
};
enum { VARIABLES = sizeof(variables) / sizeof(variables[0]) };

/* --- a run --- */

static int be_run(const struct variable *v, const char *value, bool privileged)
{
	if (privileged && !getauxval(AT_SECURE))
		return NOT_PRIVILEGED;
	return v->heeded(value) ? HEEDED : IGNORED;
}

static void start(int number, bool privileged)
{
	const struct variable *v = &variables[number];
	char which[16];

	snprintf(which, sizeof(which), "%d", number);
	clearenv();
	setenv("SCIF_PROVIDER", "embedded", 1);
	/* The device is looked at where no provider is named. */
	if (v->heeded == device)
		unsetenv("SCIF_PROVIDER");
	setenv(v->name, v->value, 1);
	if (privileged)
		must(setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
	execl(program, program, which, v->value, privileged ? "p" : "", NULL);
	must(-1, program);
}

static int run(int number, bool privileged)
{
	int status = 0, watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event event;
	pid_t pid;

	must(inotify_add_watch(watch, file, IN_OPEN), "inotify_add_watch");
	pid = fork();
	if (pid == 0)
		start(number, privileged);
	must(waitpid(pid, &status, 0), "waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) == BROKEN)
		exit(BROKEN);
	status = WEXITSTATUS(status);
	if (status == IGNORED && read(watch, &event, sizeof(event)) == sizeof(event))
		status = HEEDED;
	close(watch);
	return status;
}

/* --- the program and the file --- */

static void copy_self(void)
{
	char bytes[65536];
	FILE *from = fopen("/proc/self/exe", "re"), *to = fopen(program, "we");
	size_t got;

	must(from && to ? 0 : -1, "copy");
	while ((got = fread(bytes, 1, sizeof(bytes), from)) > 0)
		fwrite(bytes, 1, got, to);
	fclose(from);
	must(fclose(to), "copy");
	must(chmod(program, 04755), "chmod");
}

static void prepare(void)
{
	FILE *ids;

	must(mkdtemp(folder) == NULL ? -1 : 0, "mkdtemp");
	must(chmod(folder, 0755), "chmod");
	snprintf(program, sizeof(program), "%s/program", folder);
	snprintf(file, sizeof(file), "%s/file", folder);
	copy_self();
	ids = fopen(file, "we");
	must(ids == NULL ? -1 : 0, "fopen");
	fputs("reserved SUITE 0x700000 10\n", ids);
	fclose(ids);
	must(chmod(file, 0666), "chmod");
}

static void tidy(void)
{
	unlink(program);
	unlink(file);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	int failed = 0;

	alarm(LIMIT_SECONDS);
	if (argc == 4)
		return be_run(&variables[atoi(argv[1])], argv[2], *argv[3] == 'p');
	setbuf(stdout, NULL);
	if (geteuid() != 0) {
		printf("SKIP: only root can make a program set-uid to another user\n");
		return SKIPPED;
	}
	prepare();
	for (int i = 0; i < VARIABLES; i++) {
		int plain = run(i, false), privileged = run(i, true);
		bool good = plain == HEEDED && privileged == IGNORED;

		if (privileged == NOT_PRIVILEGED) {
			printf("SKIP: set-uid programs get no rights in %s\n", folder);
			failed = -1;
			break;
		}
		printf("%s: %s: %s by a plain program, %s by a set-uid one\n",
		       good ? "ok" : "not ok", variables[i].name,
		       plain == HEEDED ? "heeded" : "ignored",
		       privileged == HEEDED ? "heeded" : "ignored");
		failed += !good;
	}
	tidy();
	return failed < 0 ? SKIPPED : failed != 0;
}
