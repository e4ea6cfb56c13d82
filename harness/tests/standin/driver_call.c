/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests by number. Standard error is a file in memory for the whole run, so that one can tell
 * which request made the stand-in speak; a result of the program itself goes to standard output.
 */
#include "driver_call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

#define CANARY	     0xc3
#define CANARY_BYTES 64

const struct encoding *driver = &encoding_knc;
bool refusals_are_logged = true;

static int said_before; /* what has been read of standard error so far */
static int unasked;	/* lines that nobody had a reason to write */

void driver_call_begin(void)
{
	int log = memfd_create("standard-error", 0);

	if (log < 0 || dup2(log, STDERR_FILENO) < 0)
		tap_bail("standard error cannot be caught: %m");
	if (log != STDERR_FILENO)
		close(log);
}

static int lines_said(char *text, size_t size)
{
	ssize_t got = pread(STDERR_FILENO, text, size - 1, said_before);
	int lines = 0;

	if (got < 0)
		got = 0;
	text[got] = '\0';
	said_before += (int)got;
	for (char *c = text; *c != '\0'; c++)
		lines += *c == '\n';
	return lines;
}

static void silence_expected(const char *what)
{
	char text[1024];

	if (lines_said(text, sizeof text) == 0 && text[0] == '\0')
		return;
	unasked++;
	tap_note("%s: standard error says: %s", what, text);
}

bool nothing_else_was_said(void)
{
	silence_expected("at the end");
	return unasked == 0;
}

unsigned char *memory_before_guard(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (size + CANARY_BYTES + page - 1) / page * page;
	unsigned char *base = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED || mprotect(base + room, page, PROT_NONE) != 0)
		tap_bail("no guarded memory: %m");
	memset(base, CANARY, room);
	return base + room - size;
}

static void forget(unsigned char *memory, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (size + CANARY_BYTES + page - 1) / page * page;

	munmap(memory + size - room, room + page);
}

static bool canary_lives(const unsigned char *memory)
{
	for (size_t i = 1; i <= CANARY_BYTES; i++) {
		if (memory[-(ptrdiff_t)i] != CANARY)
			return false;
	}
	return true;
}

struct answer {
	int result;
	int error;
	bool tidy; /* nothing before the structure was touched */
	struct image after;
};

static struct answer ask(int fd, enum request request, const struct image *in)
{
	struct answer answer = {.after = {.size = in->size}};
	unsigned char *memory = memory_before_guard(in->size);

	memcpy(memory, in->byte, in->size);
	errno = 0;
	answer.result = ioctl(fd, driver->code[request], memory);
	answer.error = answer.result < 0 ? errno : 0;
	answer.tidy = canary_lives(memory);
	memcpy(answer.after.byte, memory, in->size);
	forget(memory, in->size);
	return answer;
}

static void show(const char *name, const struct image *image)
{
	char text[3 * sizeof image->byte + 1] = "";

	for (size_t i = 0; i < image->size; i++)
		snprintf(text + 3 * i, 4, " %02x", image->byte[i]);
	tap_note("%s%s", name, text);
}

static bool result_is(const char *what, enum request request, const struct answer *answer,
		      int result, int error)
{
	bool held = answer->result == result && answer->error == error && answer->tidy;

	tap_result(held, "%s: %s", request_shape[request].name, what);
	if (!held)
		tap_note("expected %d %s, observed %d %s%s", result,
			 error ? strerrorname_np(error) : "-", answer->result,
			 answer->error ? strerrorname_np(answer->error) : "-",
			 answer->tidy ? "" : ", and bytes before the structure were written");
	silence_expected(what);
	return held;
}

bool call_gives(const char *what, int fd, enum request request, const struct image *in,
		const struct image *after)
{
	struct answer answer = ask(fd, request, in);
	bool same = memcmp(answer.after.byte, after->byte, after->size) == 0;
	bool held = answer.result == 0 && answer.tidy && same;

	tap_result(held, "%s: %s", request_shape[request].name, what);
	if (!held) {
		tap_note("expected 0, observed %d %s%s", answer.result,
			 answer.error ? strerrorname_np(answer.error) : "-",
			 answer.tidy ? "" : ", and bytes before the structure were written");
		show("before  ", in);
		show("expected", after);
		show("observed", &answer.after);
	}
	silence_expected(what);
	return held;
}

bool call_done(const char *what, int fd, enum request request, const struct image *in,
	       struct image *after)
{
	struct answer answer = ask(fd, request, in);

	*after = answer.after;
	return result_is(what, request, &answer, 0, 0);
}

bool call_fails(const char *what, int fd, enum request request, const struct image *in, int error)
{
	struct answer answer = ask(fd, request, in);

	return result_is(what, request, &answer, -1, error);
}

static struct answer ask_value(int fd, enum request request, unsigned long value)
{
	struct answer answer = {.tidy = true};

	errno = 0;
	answer.result = ioctl(fd, driver->code[request], value);
	answer.error = answer.result < 0 ? errno : 0;
	return answer;
}

bool value_gives(const char *what, int fd, enum request request, unsigned long value, int result)
{
	struct answer answer = ask_value(fd, request, value);

	return result_is(what, request, &answer, result, 0);
}

bool value_fails(const char *what, int fd, enum request request, unsigned long value, int error)
{
	struct answer answer = ask_value(fd, request, value);

	return result_is(what, request, &answer, -1, error);
}

bool code_is_refused(const char *what, int fd, uint32_t code, void *argument)
{
	char text[1024];
	char number[16];

	silence_expected(what);
	errno = 0;
	int result = ioctl(fd, code, argument);
	int error = errno;
	int lines = lines_said(text, sizeof text);

	snprintf(number, sizeof number, "0x%08x", code);
	bool refused = result == -1 && error == EINVAL;
	bool told = lines == 1 && strstr(text, number) != NULL;
	bool held = refused && (told || !refusals_are_logged);

	tap_result(held, "%s is refused: %s", number, what);
	if (!refused)
		tap_note("expected -1 EINVAL, observed %d %s", result,
			 result < 0 ? strerrorname_np(error) : "-");
	if (!told && refusals_are_logged)
		tap_note("expected one line with %s, got %d: %s", number, lines, text);
	return held;
}

void call_must(int fd, enum request request, struct image *image)
{
	struct answer answer = ask(fd, request, image);

	if (answer.result < 0)
		tap_bail("set-up: %s: %s", request_shape[request].name,
			 strerrorname_np(answer.error));
	*image = answer.after;
}

void value_must(int fd, enum request request, unsigned long value)
{
	if (ioctl(fd, driver->code[request], value) < 0)
		tap_bail("set-up: %s: %m", request_shape[request].name);
}
