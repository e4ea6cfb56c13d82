/* SPDX-License-Identifier: BSD-2-Clause */
/* TAP on standard output, written line by line so that a forked child never repeats a buffer. */
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int numbered;
static int failed;

static void line(const char *start, const char *format, va_list args, const char *end)
{
	char text[1024];

	vsnprintf(text, sizeof text, format, args);
	for (char *c = text; *c != '\0'; c++) {
		if (*c == '#' || *c == '\n')
			*c = ' ';
	}
	printf("%s%s%s\n", start, text, end);
	fflush(stdout);
}

bool tap_result(bool held, const char *format, ...)
{
	char start[32];
	va_list args;

	failed += !held;
	snprintf(start, sizeof start, "%s %d - ", held ? "ok" : "not ok", ++numbered);
	va_start(args, format);
	line(start, format, args, "");
	va_end(args);
	return held;
}

void tap_skip(const char *reason, const char *format, ...)
{
	char start[32];
	char end[512];
	va_list args;

	snprintf(start, sizeof start, "ok %d - ", ++numbered);
	snprintf(end, sizeof end, " # SKIP %s", reason);
	va_start(args, format);
	line(start, format, args, end);
	va_end(args);
}

void tap_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line("#   ", format, args, "");
	va_end(args);
}

void tap_bail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line("Bail out! ", format, args, "");
	va_end(args);
	_exit(1);
}

int tap_end(void)
{
	printf("1..%d\n", numbered);
	fflush(stdout);
	return failed ? 1 : 0;
}
