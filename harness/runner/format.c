/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings and arrays that never fail. */
#include "format.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void *or_stop(void *memory)
{
	if (!memory) {
		fputs("scif-cts: out of memory\n", stderr);
		abort();
	}
	return memory;
}

char *format_text(const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return or_stop(length < 0 ? NULL : text);
}

char *copy_text(const char *text)
{
	return or_stop(strdup(text));
}

void *zeroed_array(size_t count, size_t size)
{
	return or_stop(calloc(count ? count : 1, size));
}

FILE *text_stream(char **text, size_t *length)
{
	return or_stop(open_memstream(text, length));
}

void *grown_array(void *array, size_t count, size_t size)
{
	return or_stop(reallocarray(array, count, size));
}

char *file_text(const char *path, size_t *length)
{
	FILE *file = fopen(path, "re"), *stream;
	char *text;
	int byte;

	if (!file)
		return NULL;
	stream = text_stream(&text, length);
	while ((byte = getc(file)) != EOF)
		putc(byte, stream);
	fclose(stream);
	fclose(file);
	return text;
}

bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

void print_shell_word(FILE *stream, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	if (*text && !text[strspn(text, plain)]) {
		fputs(text, stream);
		return;
	}
	putc('\'', stream);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stream);
		else
			putc(*text, stream);
	}
	putc('\'', stream);
}

/* Length of the well-formed UTF-8 sequence at BYTES, 0 where there is none. */
static size_t utf8_sequence(const unsigned char *bytes, size_t length)
{
	unsigned long code;
	size_t size, i;

	if (bytes[0] < 0x80)
		return 1;
	if (bytes[0] >= 0xc2 && bytes[0] <= 0xdf) {
		size = 2;
		code = bytes[0] & 0x1f;
	} else if (bytes[0] >= 0xe0 && bytes[0] <= 0xef) {
		size = 3;
		code = bytes[0] & 0x0f;
	} else if (bytes[0] >= 0xf0 && bytes[0] <= 0xf4) {
		size = 4;
		code = bytes[0] & 0x07;
	} else {
		return 0;
	}
	if (size > length)
		return 0;
	for (i = 1; i < size; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if ((size == 3 && code < 0x800) || (size == 4 && (code < 0x10000 || code > 0x10ffff)))
		return 0;
	if ((code >= 0xd800 && code <= 0xdfff) || code == 0xfffe || code == 0xffff)
		return 0;
	return size;
}

char *printable_text(const char *bytes, size_t length)
{
	char *text;
	size_t text_length, i = 0;
	FILE *stream = text_stream(&text, &text_length);

	while (i < length) {
		unsigned char byte = bytes[i];
		size_t size = utf8_sequence((const unsigned char *)bytes + i, length - i);

		if (!size || (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
			if (byte != '\r')
				fprintf(stream, "\\x%02x", byte);
			i++;
			continue;
		}
		fwrite(bytes + i, 1, size, stream);
		i += size;
	}
	fclose(stream);
	return or_stop(text);
}

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	const char *found = text;

	if (!text || !length)
		return false;
	while ((found = strstr(found, word))) {
		bool starts = found == text || !is_word_byte(found[-1]);

		if (starts && !is_word_byte(found[length]))
			return true;
		found++;
	}
	return false;
}
