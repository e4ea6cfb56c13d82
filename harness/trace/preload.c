/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcts-trace.so, the preload of `scif-cts trace`: it notes every call in memory that CTS_TRACE
 * names and that all processes of the program share with the tracer, who writes it down after their
 * end. So no call of the program costs a descriptor, or fails for want of one or of a disk.
 */
#include "preload.h"

#include "../runtime/observe_log.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rsmapi.h>

/* Where the code of a librsm lies, whose calls of a libscif are its own. */
static struct code {
	_Atomic uintptr_t start, end;
} implementation;

static bool is_attached;
static int failure;
static atomic_bool told;

static void tell_process(const char *how)
{
	observe_event("siiss", "process", (intptr_t)getpid(), (intptr_t)getppid(),
		      program_invocation_short_name, how);
}

static void tell_child(void)
{
	if (atomic_load(&told))
		tell_process("fork");
}

static void *map_log(const char *path)
{
	int log = open(path, O_RDWR | O_CLOEXEC);
	void *memory;

	if (log < 0)
		return MAP_FAILED;
	memory = mmap(NULL, sizeof(struct observe_log), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_NORESERVE, log, 0);
	close(log);
	return memory;
}

__attribute__((constructor)) static void attach(void)
{
	const char *path = getenv("CTS_TRACE");
	void *memory;
	int err = errno;

	if (is_attached || failure || !path)
		return;
	memory = map_log(path);
	failure = memory == MAP_FAILED ? errno : 0;
	if (!failure) {
		is_attached = true;
		observe_attach(memory);
		pthread_atfork(NULL, NULL, tell_child);
	}
	errno = err;
}

/* Programs that make no call of ours, a shell for example, are not told of. */
static void tell_once(void)
{
	int err = errno;

	if (atomic_exchange(&told, true))
		return;
	attach();
	if (is_attached)
		tell_process("exec");
	else if (failure)
		dprintf(STDERR_FILENO,
			"scif-cts: trace: the calls of %s (%d) are not recorded: %s\n",
			program_invocation_short_name, (int)getpid(), strerror(failure));
	errno = err;
}

bool preload_records(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;

	if (at >= atomic_load(&implementation.start) && at < atomic_load(&implementation.end))
		return false;
	if (!atomic_load(&told))
		tell_once();
	return true;
}

static int note_code(struct dl_phdr_info *object, size_t size, void *function)
{
	uintptr_t at = (uintptr_t)function;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;

		if (object->dlpi_phdr[i].p_type != PT_LOAD || at < start ||
		    at >= start + object->dlpi_phdr[i].p_memsz)
			continue;
		atomic_store(&implementation.end, start + object->dlpi_phdr[i].p_memsz);
		atomic_store(&implementation.start, start);
		return 1;
	}
	return 0;
}

void *preload_find(const char *function)
{
	int err = errno;
	void *found = dlsym(RTLD_NEXT, function);

	if (found && strncmp(function, "rsm_", 4) == 0 && !atomic_load(&implementation.end))
		dl_iterate_phdr(note_code, found);
	errno = err;
	return found;
}

intptr_t preload_absent(const char *function)
{
	if (strncmp(function, "rsm_", 4) == 0)
		return RSMERR_INTERNAL_ERROR;
	errno = ENOSYS;
	return -1;
}
