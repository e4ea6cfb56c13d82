/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries are taken from a shared array by one atomic addition, so threads and forked children of
 * the case write to the same log, and what stood there before a crash is still there after it. No
 * entry is ever moved. Nothing here allocates memory between a case and the implementation.
 */
#include "engine.h"

#include "observe.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* Room for the longest case; what no case uses costs nothing. */
#define ENTRIES	   (1 << 20)
#define TEXT_BYTES (64 << 20)
/* Calls and exchanges with peers have the first of them, the other events all. */
#define CALL_ENTRIES 14336
#define CALL_TEXT    (3 << 19)
#define EVENT_BYTES  4096
#define ORIGINS	     64

enum entry_state { ENTRY_EMPTY, ENTRY_BEGUN, ENTRY_DONE };

struct observed_call {
	const char *function;
	intptr_t arguments[OBSERVED_ARGUMENTS];
	unsigned char classes[OBSERVED_ARGUMENTS];
	unsigned char count, returns;
	bool returns_nothing;
	int err;
	intptr_t ret, made; /* made: the endpoint left behind, or -1 */
};

struct entry {
	_Atomic enum entry_state state;
	pid_t process, thread;
	_Atomic unsigned times;
	uint32_t length; /* of its text; 0: a call */
	union {
		struct observed_call call;
		uint32_t at; /* of its text */
	};
};

struct log {
	_Atomic uint32_t used, text_used, dropped;
	atomic_bool full;
	pid_t process, thread; /* where the case runs */
	struct entry entries[ENTRIES];
	char text[TEXT_BYTES];
};

static struct log *events;
static const char *file_name;
static _Thread_local pid_t this_thread, this_process;

/* Runs in the only thread that a child has. */
static void forget_origin(void)
{
	this_thread = this_process = 0;
}

static void learn_origin(void)
{
	if (this_thread)
		return;
	this_thread = gettid();
	this_process = getpid();
}

void observe_open(const char *file)
{
	void *memory;

	if (!file)
		return;
	memory = mmap(NULL, sizeof *events, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED || pthread_atfork(NULL, NULL, forget_origin)) {
		perror(cts_function);
		exit(3);
	}
	events = memory;
	file_name = file;
}

void observe_case(void)
{
	uint32_t used;

	if (!events)
		return;
	used = atomic_load(&events->used);
	for (uint32_t i = 0; i < used && i < ENTRIES; i++)
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
	learn_origin();
	events->process = this_process;
	events->thread = this_thread;
}

bool observe_is_full(void)
{
	return events && atomic_load(&events->full);
}

/* NULL where MOST entries are taken. */
static struct entry *take_entry(uint32_t most)
{
	uint32_t at = atomic_load(&events->used);

	do {
		if (at >= most)
			return NULL;
	} while (!atomic_compare_exchange_weak(&events->used, &at, at + 1));
	learn_origin();
	struct entry *e = &events->entries[at];
	e->process = this_process;
	e->thread = this_thread;
	e->length = 0;
	atomic_store(&e->times, 1);
	return e;
}

static bool same_origin(const struct entry *a, const struct entry *b)
{
	return a->process == b->process && a->thread == b->thread;
}

static struct entry *entry_of(struct observed_call *call)
{
	return (struct entry *)((char *)call - offsetof(struct entry, call));
}

struct observed_call *observe_call(const char *function, enum observed_class returns, int count,
				   const struct observed_argument *arguments)
{
	struct entry *e;
	int err = errno;

	if (!events)
		return NULL;
	e = take_entry(CALL_ENTRIES);
	errno = err;
	if (!e) {
		atomic_fetch_add(&events->dropped, 1);
		return NULL;
	}
	e->call.function = function;
	e->call.returns = (unsigned char)returns;
	e->call.count = (unsigned char)count;
	e->call.returns_nothing = false;
	e->call.made = -1;
	for (int i = 0; i < count; i++) {
		e->call.arguments[i] = arguments[i].value;
		e->call.classes[i] = (unsigned char)arguments[i].is;
	}
	atomic_store(&e->state, ENTRY_BEGUN);
	return &e->call;
}

/* The kernel reads it, since nobody has said yet that the memory is there. */
static void read_made(struct observed_call *call)
{
	for (int i = 0; i < call->count; i++) {
		int made;
		struct iovec here = {&made, sizeof made};
		struct iovec there = {(void *)call->arguments[i], sizeof made};

		if (call->classes[i] != OBSERVED_ENDPOINT_MADE || call->ret ||
		    syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) != sizeof made)
			continue;
		call->made = made;
	}
}

static bool same_call(const struct observed_call *a, const struct observed_call *b)
{
	if (a->function != b->function || a->ret != b->ret || a->err != b->err ||
	    a->made != b->made)
		return false;
	for (int i = 0; i < a->count; i++)
		if (a->arguments[i] != b->arguments[i])
			return false;
	return true;
}

/* Gives a call's entry back when the one before it says the same and nothing came after it. */
static bool merge_call(struct entry *e)
{
	uint32_t at = (uint32_t)(e - events->entries), behind = at + 1;
	struct entry *before = e - 1;

	/* What is not done may be in the hands of another thread, whole entry and all. */
	if (!at || atomic_load(&before->state) != ENTRY_DONE || before->length ||
	    !same_origin(e, before) || !same_call(&e->call, &before->call) || e->call.made != -1)
		return false;
	atomic_store(&e->state, ENTRY_EMPTY);
	if (!atomic_compare_exchange_strong(&events->used, &behind, at))
		return false;
	atomic_fetch_add(&before->times, 1);
	return true;
}

static void complete(struct observed_call *call, intptr_t ret, bool nothing)
{
	int err = errno;
	struct entry *e;

	if (!call)
		return;
	e = entry_of(call);
	call->ret = ret;
	call->err = err;
	call->returns_nothing = nothing;
	read_made(call);
	if (!merge_call(e))
		atomic_store(&e->state, ENTRY_DONE);
	errno = err;
}

void observe_return(struct observed_call *call, intptr_t ret)
{
	complete(call, ret, false);
}

void observe_return_nothing(struct observed_call *call)
{
	complete(call, 0, true);
}

/* The text of an event under way. */
struct event {
	char text[EVENT_BYTES];
	size_t used;
};

static void put(struct event *event, const char *text, size_t length)
{
	/* One item more always fits behind the longest string. */
	if (event->used + length >= sizeof event->text)
		return;
	memcpy(event->text + event->used, text, length);
	event->used += length;
}

static void put_string(struct event *event, const char *text, size_t length)
{
	size_t most = sizeof event->text - 256;

	put(event, "\"", 1);
	for (size_t i = 0; i < length && event->used < most; i++) {
		unsigned char byte = (unsigned char)text[i];
		char escaped[8];

		if (byte == '"' || byte == '\\') {
			escaped[0] = '\\';
			escaped[1] = (char)byte;
			put(event, escaped, 2);
		} else if (byte < 0x20 || byte >= 0x7f) {
			/* Names and conditions of the suite are ASCII; anything else only shows. */
			put(event, escaped,
			    (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", byte));
		} else {
			put(event, (const char *)&byte, 1);
		}
	}
	put(event, "\"", 1);
}

static void put_number(struct event *event, intptr_t number)
{
	char text[32];

	put(event, text, (size_t)snprintf(text, sizeof text, "%" PRIdPTR, number));
}

static void put_text(struct event *event, const char *text)
{
	if (text)
		put_string(event, text, strlen(text));
	else
		put(event, "null", 4);
}

static void put_truth(struct event *event, bool truth)
{
	if (truth)
		put(event, "true", 4);
	else
		put(event, "false", 5);
}

/* The latest entry, when it holds the same event; that one counts it then. */
static bool counted_before(const struct event *event)
{
	uint32_t used = atomic_load(&events->used);
	struct entry *last;

	if (!used)
		return false;
	last = &events->entries[used - 1];
	if (atomic_load(&last->state) != ENTRY_DONE || last->length != event->used ||
	    last->process != this_process || last->thread != this_thread ||
	    memcmp(events->text + last->at, event->text, event->used))
		return false;
	atomic_fetch_add(&last->times, 1);
	return true;
}

/* False where so many entries or bytes are taken. */
static bool keep(const struct event *event, uint32_t most_entries, uint32_t most_text)
{
	uint32_t at;
	struct entry *e;

	learn_origin();
	if (counted_before(event))
		return true;
	if (atomic_load(&events->text_used) + event->used > most_text)
		return false;
	e = take_entry(most_entries);
	if (!e)
		return false;
	at = atomic_fetch_add(&events->text_used, (uint32_t)event->used);
	if (at + event->used > TEXT_BYTES)
		return false;
	memcpy(events->text + at, event->text, event->used);
	e->at = at;
	e->length = (uint32_t)event->used;
	atomic_store(&e->state, ENTRY_DONE);
	return true;
}

void observe_event(const char *what, ...)
{
	struct event event = {.used = 0};
	va_list args;
	int err = errno;

	if (!events)
		return;
	va_start(args, what);
	for (const char *item = what; *item; item++) {
		put(&event, item == what ? "[" : ",", 1);
		if (*item == 's')
			put_text(&event, va_arg(args, const char *));
		else if (*item == 'b')
			put_truth(&event, va_arg(args, int));
		else
			put_number(&event, va_arg(args, intptr_t));
	}
	va_end(args);
	put(&event, "]", 1);
	if (!keep(&event, ENTRIES, TEXT_BYTES))
		atomic_store(&events->full, true);
	errno = err;
}

void observe_exchange(int peer, const char *request, size_t length, const char *reply)
{
	struct event event = {.used = 0};

	if (!events)
		return;
	put(&event, "[\"peer\",", 8);
	put_number(&event, peer);
	put(&event, ",", 1);
	put_string(&event, request, length);
	put(&event, ",", 1);
	put_text(&event, reply);
	put(&event, "]", 1);
	if (!keep(&event, CALL_ENTRIES, CALL_TEXT))
		atomic_fetch_add(&events->dropped, 1);
}

/* Who else wrote to the log, in the order of appearance. */
struct origins {
	struct {
		pid_t process, thread;
		int ordinal;
	} of[ORIGINS];
	int count, threads, processes;
};

static void write_origin(FILE *out, struct origins *origins, const struct entry *e, bool comma)
{
	bool is_thread = e->process == events->process;
	int i = 0;

	while (i < origins->count &&
	       (origins->of[i].process != e->process || origins->of[i].thread != e->thread))
		i++;
	if (i == ORIGINS)
		i--;
	if (i == origins->count) {
		origins->of[i].process = e->process;
		origins->of[i].thread = e->thread;
		origins->of[i].ordinal =
			1 + (is_thread ? ++origins->threads : ++origins->processes);
		origins->count++;
	}
	fprintf(out, "%s\"by\":\"%s %d\"", comma ? "," : "", is_thread ? "thread" : "process",
		origins->of[i].ordinal);
}

static void write_extras(FILE *out, struct origins *origins, struct entry *e)
{
	unsigned times = atomic_load(&e->times);
	bool is_first = (e->process == events->process && e->thread == events->thread) ||
			e->process == getpid(); /* the one that watches over the case */

	if (times == 1 && is_first)
		return;
	fputs(",{", out);
	if (times > 1)
		fprintf(out, "\"times\":%u", times);
	if (!is_first)
		write_origin(out, origins, e, times > 1);
	putc('}', out);
}

static void write_argument(FILE *out, const struct observed_call *call, int i)
{
	intptr_t value = call->arguments[i];

	switch ((enum observed_class)call->classes[i]) {
	case OBSERVED_NUMBER:
		fprintf(out, "%" PRIdPTR, value);
		break;
	case OBSERVED_POINTER:
	case OBSERVED_ENDPOINT_MADE:
		fputs(value ? "\"pointer\"" : "null", out);
		break;
	case OBSERVED_ENDPOINT:
		fprintf(out, "\"%d %s\"", (int)value, cts_api->endpoint_state((int)value));
		break;
	}
}

static void write_result(FILE *out, struct entry *e)
{
	const struct observed_call *call = &e->call;
	const char *error = NULL;

	if (atomic_load(&e->state) != ENTRY_DONE) {
		fputs("null,null", out);
		return;
	}
	if (cts_api->returns_errors && !call->returns_nothing)
		error = error_name((int)call->ret);
	else if (!cts_api->returns_errors && call->ret == -1)
		error = error_name(call->err);
	if (call->returns == OBSERVED_POINTER && call->ret && call->ret != -1)
		fputs("\"pointer\"", out);
	else
		fprintf(out, "%" PRIdPTR, call->ret);
	fprintf(out, error ? ",\"%s\"" : ",null", error);
}

static void write_call(FILE *out, struct origins *origins, struct entry *e)
{
	const struct observed_call *call = &e->call;

	fprintf(out, "[\"call\",\"%s\",[", call->function);
	for (int i = 0; i < call->count; i++) {
		if (i)
			putc(',', out);
		write_argument(out, call, i);
	}
	fputs("],", out);
	write_result(out, e);
	write_extras(out, origins, e);
	putc(']', out);
	if (cts_api->endpoint_observed && atomic_load(&e->state) == ENTRY_DONE)
		cts_api->endpoint_observed(call->function, (int)call->arguments[0], (int)call->ret,
					   call->err, (int)call->made);
}

static void write_event(FILE *out, struct origins *origins, struct entry *e)
{
	/* Behind its last item, before the bracket that closes it. */
	fwrite(events->text + e->at, 1, e->length - 1, out);
	write_extras(out, origins, e);
	putc(']', out);
}

static void write_entries(FILE *out)
{
	static struct origins origins;
	uint32_t used = atomic_load(&events->used), dropped = atomic_load(&events->dropped);
	bool any = false;

	memset(&origins, 0, sizeof origins);
	for (uint32_t i = 0; i < used; i++) {
		struct entry *e = &events->entries[i];

		if (atomic_load(&e->state) == ENTRY_EMPTY)
			continue;
		if (any)
			putc(',', out);
		any = true;
		if (e->length)
			write_event(out, &origins, e);
		else
			write_call(out, &origins, e);
	}
	if (observe_is_full())
		fprintf(out, "%s[\"full\"]", any ? "," : "");
	any |= observe_is_full();
	if (dropped)
		fprintf(out, "%s[\"dropped\",%u]", any ? "," : "", dropped);
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
	if (cts_api->endpoint_observed)
		cts_api->endpoint_observed(NULL, 0, 0, 0, 0);
	fprintf(out, "{\"id\":\"%s\",\"events\":[", case_id);
	write_entries(out);
	fputs("]}\n", out);
	err = fclose(out) ? -ENOMEM : append(text, length);
	free(text);
	return err;
}
