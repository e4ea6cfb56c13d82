/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The raw log as it lies in memory that several processes share. Nothing in it is an address of one
 * of them, so that a program that was started anew, or the one that started them all, may go on
 * with it.
 */
#ifndef CTS_OBSERVE_LOG_H
#define CTS_OBSERVE_LOG_H

#include "observe.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

/* Room for the longest case; what no case uses costs nothing. */
#define OBSERVED_ENTRIES (1 << 20)
#define OBSERVED_TEXT	 (64 << 20)

enum observed_state { ENTRY_EMPTY, ENTRY_BEGUN, ENTRY_DONE };

struct observed_text {
	uint32_t at, length;
};

struct observed_call {
	char function[40];
	intptr_t arguments[OBSERVED_ARGUMENTS];
	unsigned char classes[OBSERVED_ARGUMENTS];
	unsigned char count, returns;
	bool returns_nothing;
	int err;
	intptr_t ret, made; /* made: the endpoint left behind, or -1; the id it was told */
	intptr_t
		before; /* what was in the place for a handle, an address, the events of an entry */
	bool has_before;
	uint32_t until;	       /* the first entry that was taken after its return */
	uint64_t begun, ended; /* nanoseconds; ended: also when its time was up */
	struct observed_text values;
};

struct observed_entry {
	_Atomic enum observed_state state;
	pid_t process, thread;
	_Atomic unsigned times;
	uint32_t length; /* of its text; 0: a call */
	union {
		struct observed_call call;
		uint32_t at; /* of its text */
	};
};

struct observe_log {
	_Atomic uint32_t used, text_used, dropped;
	atomic_bool full;
	/* Calls and exchanges with peers have the first of them, the other events all. */
	uint32_t call_entries, call_text;
	bool has_clock;
	uint64_t start;	       /* of the clock */
	pid_t process, thread; /* where the case runs */
	struct observed_entry entries[OBSERVED_ENTRIES];
	char text[OBSERVED_TEXT];
};

/* From here on the process writes to LOG. */
void observe_attach(struct observe_log *log);

/*
 * observe_values.c: what lies behind the pointers of a call, asked before it and after its return:
 * it writes the items of a JSON object and returns their length.
 */
size_t observe_values(struct observed_call *call, const struct observed_argument *arguments,
		      bool returned, char *out, size_t size);
/* Copies from memory that may not be there. */
bool observe_read(const void *at, void *into, size_t size);

/* observe_write.c: the events, with commas between; returns how many calls are among them. */
unsigned long observe_write_events(FILE *out, struct observe_log *log);

#endif
