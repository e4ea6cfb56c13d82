/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and writes the file of the raw log.  Reading goes through inflate() and not gzread(), which
 * takes a file that is not compressed for its content and does not see what follows the end.
 */
#include "raw_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "format.h"

/* A window of 32 KiB; 16: with gzip's header and trailer. */
#define GZIP_WINDOW_BITS (15 + 16)
/* Far above the log of any run; a file that is made to fill the memory ends here. */
#define TEXT_LIMIT ((size_t)1 << 30)

struct raw_log_writer {
	int descriptor;
	gzFile file;
	int error; /* of the first line that could not be written */
};

static size_t count_lines(const struct raw_log *log)
{
	const char *at = log->text, *end = log->text + log->length;
	size_t count = 0;

	while ((at = memchr(at, '\n', end - at))) {
		count++;
		at++;
	}
	return count;
}

/* Appends what the next bytes of the file give; returns inflate()'s word on the last of them. */
static int inflate_block(z_stream *stream, FILE *text, size_t *length)
{
	unsigned char out[65536];
	int status = Z_OK;

	while (status == Z_OK && *length < TEXT_LIMIT) {
		stream->next_out = out;
		stream->avail_out = sizeof(out);
		status = inflate(stream, Z_NO_FLUSH);
		*length += fwrite(out, 1, sizeof(out) - stream->avail_out, text);
	}
	return status;
}

/* Z_BUF_ERROR: the file ends before the log does. */
static int inflate_file(z_stream *stream, FILE *file, FILE *text)
{
	unsigned char block[65536];
	size_t length = 0;
	int status = Z_BUF_ERROR;

	while (status == Z_BUF_ERROR && (stream->avail_in = fread(block, 1, sizeof(block), file))) {
		stream->next_in = block;
		status = inflate_block(stream, text, &length);
	}
	stream->next_in = NULL;
	return status;
}

static char *damage_of(const struct raw_log *log, int status, const z_stream *stream, FILE *file)
{
	size_t lines = count_lines(log);

	if (status == Z_BUF_ERROR)
		return format_text("the file was cut off behind line %zu of the log", lines);
	if (status == Z_OK)
		return format_text("the log is longer than %zu bytes", TEXT_LIMIT);
	if (status != Z_STREAM_END && !stream->total_out && stream->total_in <= 2)
		return copy_text("the file is not compressed as gzip does");
	if (status != Z_STREAM_END)
		return format_text("the file is damaged behind line %zu of the log: %s", lines,
				   stream->msg ? stream->msg : zError(status));
	if (stream->avail_in || getc(file) != EOF)
		return copy_text("something follows the end of the log");
	return NULL;
}

static int read_stream(struct raw_log *log, FILE *file)
{
	z_stream stream = {0};
	FILE *text;
	int status = inflateInit2(&stream, GZIP_WINDOW_BITS);

	if (status != Z_OK)
		return -ENOMEM;
	text = text_stream(&log->text, &log->length);
	status = inflate_file(&stream, file, text);
	fclose(text);
	if (!ferror(file))
		log->damage = damage_of(log, status, &stream, file);
	inflateEnd(&stream);
	return ferror(file) ? -EIO : 0;
}

int raw_log_read(struct raw_log *log, const char *path)
{
	FILE *file = fopen(path, "re");
	int status;

	*log = (struct raw_log){0};
	if (!file)
		return -errno;
	status = read_stream(log, file);
	fclose(file);
	return status;
}

/* The descriptor stays ours, for fsync() after gzclose() has written the last bytes. */
static int open_files(struct raw_log_writer *writer, const char *path)
{
	int copy;

	writer->descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (writer->descriptor < 0)
		return -errno;
	copy = fcntl(writer->descriptor, F_DUPFD_CLOEXEC, 0);
	if (copy >= 0) {
		/* Its header has neither name nor time. */
		writer->file = gzdopen(copy, "w9");
		if (writer->file)
			return 0;
		close(copy);
		errno = ENOMEM;
	}
	copy = -errno;
	close(writer->descriptor);
	return copy;
}

struct raw_log_writer *raw_log_create(const char *path)
{
	struct raw_log_writer *writer = zeroed_array(1, sizeof(*writer));
	int status = open_files(writer, path);

	if (!status)
		return writer;
	free(writer);
	errno = -status;
	return NULL;
}

void raw_log_line(struct raw_log_writer *writer, const char *line)
{
	size_t length = strlen(line);

	if (writer->error)
		return;
	errno = 0;
	if (gzfwrite(line, 1, length, writer->file) != length || gzputc(writer->file, '\n') != '\n')
		writer->error = errno ? errno : EIO;
}

int raw_log_close(struct raw_log_writer *writer)
{
	int status = -writer->error;

	errno = 0;
	if (gzclose(writer->file) != Z_OK && !status)
		status = errno ? -errno : -EIO;
	if (!status && fsync(writer->descriptor) < 0)
		status = -errno;
	if (close(writer->descriptor) < 0 && !status)
		status = -errno;
	free(writer);
	return status;
}
