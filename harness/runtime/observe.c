/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries are taken from a shared array by one atomic addition, so threads and forked children of
 * the case write to the same log, and what stood there before a crash is still there after it. No
 * entry is ever moved. Nothing here allocates memory between a case and the implementation.
 */
#include "observe_log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EVENT_BYTES 4096
#define VALUE_BYTES 2048

static struct observe_log *events;
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

void observe_attach(struct observe_log *log)
{
	static bool forgets;

	if (!forgets)
		forgets = !pthread_atfork(NULL, NULL, forget_origin);
	events = log;
}

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool observe_read(const void *at, void *into, size_t size)
{
	struct iovec here = {into, size};
	struct iovec there = {(void *)at, size};

	return syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) == (long)size;
}

/* NULL where MOST entries are taken. */
static struct observed_entry *take_entry(uint32_t most)
{
	uint32_t at = atomic_load(&events->used);

	do {
		if (at >= most)
			return NULL;
	} while (!atomic_compare_exchange_weak(&events->used, &at, at + 1));
	learn_origin();
	struct observed_entry *e = &events->entries[at];
	e->process = this_process;
	e->thread = this_thread;
	e->length = 0;
	atomic_store(&e->times, 1);
	return e;
}

static bool same_origin(const struct observed_entry *a, const struct observed_entry *b)
{
	return a->process == b->process && a->thread == b->thread;
}

static struct observed_entry *entry_of(struct observed_call *call)
{
	return (struct observed_entry *)((char *)call - offsetof(struct observed_entry, call));
}

/* A place for that many bytes of text, or OBSERVED_TEXT. */
static uint32_t take_text(uint32_t length)
{
	uint32_t at = atomic_fetch_add(&events->text_used, length);

	return at + length > OBSERVED_TEXT ? OBSERVED_TEXT : at;
}

static void read_values(struct observed_call *call, const struct observed_argument *arguments,
			bool returned)
{
	char text[VALUE_BYTES];
	uint32_t length, at;

	length = (uint32_t)observe_values(call, arguments, returned, text, sizeof text);
	at = call->values.at;
	/* What the call has changed takes the place of what it was told. */
	if (length > call->values.length)
		at = atomic_load(&events->text_used) < events->call_text ? take_text(length)
									 : OBSERVED_TEXT;
	if (at == OBSERVED_TEXT)
		return;
	memcpy(events->text + at, text, length);
	call->values = (struct observed_text){at, length};
}

struct observed_call *observe_call(const char *function, enum observed_class returns, int count,
				   const struct observed_argument *arguments)
{
	struct observed_entry *e;
	int err = errno;

	if (!events)
		return NULL;
	e = take_entry(events->call_entries);
	if (!e) {
		errno = err;
		atomic_fetch_add(&events->dropped, 1);
		return NULL;
	}
	strncpy(e->call.function, function, sizeof e->call.function - 1);
	e->call.returns = (unsigned char)returns;
	e->call.count = (unsigned char)count;
	e->call.returns_nothing = false;
	e->call.made = -1;
	e->call.has_before = false;
	for (int i = 0; i < count; i++) {
		e->call.arguments[i] = arguments[i].value;
		e->call.classes[i] = (unsigned char)arguments[i].is;
	}
	e->call.values = (struct observed_text){0, 0};
	read_values(&e->call, arguments, false);
	e->call.begun = clock_now();
	e->call.ended = 0;
	atomic_store(&e->state, ENTRY_BEGUN);
	errno = err;
	return &e->call;
}

static void read_made(struct observed_call *call)
{
	for (int i = 0; i < call->count; i++) {
		int made;

		/* Nobody has said yet that the memory is there. */
		if (call->classes[i] == OBSERVED_ENDPOINT_MADE && !call->ret &&
		    observe_read((void *)call->arguments[i], &made, sizeof made))
			call->made = made;
	}
}

static bool same_call(const struct observed_call *a, const struct observed_call *b)
{
	if (strcmp(a->function, b->function) || a->ret != b->ret || a->err != b->err ||
	    a->made != b->made)
		return false;
	for (int i = 0; i < a->count; i++)
		if (a->arguments[i] != b->arguments[i])
			return false;
	return a->values.length == b->values.length &&
	       !memcmp(events->text + a->values.at, events->text + b->values.at, a->values.length);
}

/* Gives a call's entry back when the one before it says the same and nothing came after it. */
static bool merge_call(struct observed_entry *e)
{
	uint32_t at = (uint32_t)(e - events->entries), behind = at + 1;
	struct observed_entry *before = e - 1;
	uint64_t ended = e->call.ended;

	/* What is not done may be in the hands of another thread, whole entry and all. */
	if (!at || atomic_load(&before->state) != ENTRY_DONE || before->length ||
	    !same_origin(e, before) || !same_call(&e->call, &before->call) || e->call.made != -1)
		return false;
	atomic_store(&e->state, ENTRY_EMPTY);
	/* From then on another thread may have it. */
	if (!atomic_compare_exchange_strong(&events->used, &behind, at))
		return false;
	before->call.ended = ended;
	before->call.until = at;
	atomic_fetch_add(&before->times, 1);
	return true;
}

static void complete(struct observed_call *call, const struct observed_argument *arguments,
		     intptr_t ret, bool nothing)
{
	int err = errno;
	struct observed_entry *e;

	if (!call)
		return;
	e = entry_of(call);
	call->ret = ret;
	call->err = err;
	call->returns_nothing = nothing;
	call->until = atomic_load(&events->used);
	call->ended = clock_now();
	read_made(call);
	read_values(call, arguments, true);
	if (!merge_call(e))
		atomic_store(&e->state, ENTRY_DONE);
	errno = err;
}

void observe_return(struct observed_call *call, const struct observed_argument *arguments,
		    intptr_t ret)
{
	complete(call, arguments, ret, false);
}

void observe_return_nothing(struct observed_call *call, const struct observed_argument *arguments)
{
	complete(call, arguments, 0, true);
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
	struct observed_entry *last;

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
	struct observed_entry *e;

	learn_origin();
	if (counted_before(event))
		return true;
	if (atomic_load(&events->text_used) + event->used > most_text)
		return false;
	e = take_entry(most_entries);
	if (!e)
		return false;
	at = take_text((uint32_t)event->used);
	if (at == OBSERVED_TEXT)
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
	if (!keep(&event, OBSERVED_ENTRIES, OBSERVED_TEXT))
		atomic_store(&events->full, true);
	errno = err;
}

void observe_timeout(void)
{
	uint32_t used = events ? atomic_load(&events->used) : 0;

	for (uint32_t i = 0; i < used; i++) {
		struct observed_entry *e = &events->entries[i];

		if (atomic_load(&e->state) == ENTRY_BEGUN && !e->length)
			e->call.ended = clock_now();
	}
}

static void put_request(struct event *event, int peer, const char *request, size_t length)
{
	put(event, "[\"peer\",", 8);
	put_number(event, peer);
	put(event, ",", 1);
	put_string(event, request, length);
}

void observe_pending(int peer, const char *request, long seconds)
{
	struct event event = {.used = 0};

	if (!events)
		return;
	put_request(&event, peer, request, strlen(request));
	put(&event, ",null,{\"waited\":", 16);
	put_number(&event, seconds);
	put(&event, "}]", 2);
	if (!keep(&event, OBSERVED_ENTRIES, OBSERVED_TEXT))
		atomic_store(&events->full, true);
}

void observe_exchange(int peer, const char *request, size_t length, const char *reply)
{
	struct event event = {.used = 0};

	if (!events)
		return;
	put_request(&event, peer, request, length);
	put(&event, ",", 1);
	put_text(&event, reply);
	put(&event, "]", 1);
	if (!keep(&event, events->call_entries, events->call_text))
		atomic_fetch_add(&events->dropped, 1);
}
