/* SPDX-License-Identifier: BSD-2-Clause */
/* The raw log of a case: where its memory comes from, and the line that it becomes. */
#include "engine.h"
#include "observe_log.h"

#include <stdio.h>
#include <stdlib.h>

#define CALL_ENTRIES 14336
#define CALL_TEXT    (3 << 20)

static struct observe_log *events;
static const char *file_name;

void observe_open(const char *file)
{
	void *memory;

	if (!file)
		return;
	memory = mmap(NULL, sizeof *events, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED) {
		perror(cts_function);
		exit(3);
	}
	events = memory;
	events->call_entries = CALL_ENTRIES;
	events->call_text = CALL_TEXT;
	observe_attach(events);
	file_name = file;
}

void observe_case(void)
{
	uint32_t used;

	if (!events)
		return;
	used = atomic_load(&events->used);
	for (uint32_t i = 0; i < used && i < OBSERVED_ENTRIES; i++)
		atomic_store(&events->entries[i].state, ENTRY_EMPTY);
	atomic_store(&events->used, 0);
	atomic_store(&events->text_used, 0);
	atomic_store(&events->dropped, 0);
	atomic_store(&events->full, false);
}

void observe_process(void)
{
	if (!events)
		return;
	events->process = getpid();
	events->thread = gettid();
}

bool observe_is_full(void)
{
	return events && atomic_load(&events->full);
}

/* With one write, as a record. */
static int append(const char *text, size_t length)
{
	int fd = open(file_name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644), err = 0;

	if (fd == -1)
		return -errno;
	if (write(fd, text, length) != (ssize_t)length)
		err = -EIO;
	close(fd);
	return err;
}

int observe_write(const char *case_id)
{
	char *text = NULL;
	size_t length;
	FILE *out;
	int err;

	if (!events)
		return 0;
	out = open_memstream(&text, &length);
	if (!out)
		return -errno;
	fprintf(out, "{\"id\":\"%s\",\"events\":[", case_id);
	observe_write_events(out, events);
	fputs("]}\n", out);
	err = fclose(out) ? -ENOMEM : append(text, length);
	free(text);
	return err;
}
