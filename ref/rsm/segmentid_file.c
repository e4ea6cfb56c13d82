/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the file line by line into a buffer on the stack: the documents know no shortage of memory
 * here.
 */
#include "segmentid_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEFAULT_PATH "/etc/rsm/rsm.segmentid"
#define BLANKS	     " \t"

enum { FIELDS = 4 };

const char *segmentid_path(void)
{
	const char *named = secure_getenv("RSM_SEGMENTID_FILE");

	return named != NULL ? named : DEFAULT_PATH;
}

/* --- lines --- */

struct reader {
	int fd;
	size_t used; /* bytes in the buffer */
	size_t line; /* of them, the line that was given out, with its end */
	char buffer[SEGMENTID_LINE_SIZE];
};

static int refill(struct reader *r)
{
	ssize_t got;

	do
		got = read(r->fd, r->buffer + r->used, sizeof(r->buffer) - r->used);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -EINVAL;
	r->used += (size_t)got;
	return got > 0;
}

/* Its length with the zero byte that it ends with, 0 at the end of the file, or -EINVAL. */
static int next_line(struct reader *r)
{
	char *end;
	int more = 1;

	r->used -= r->line;
	memmove(r->buffer, r->buffer + r->line, r->used);
	r->line = 0;
	end = memchr(r->buffer, '\n', r->used);
	while (end == NULL && more > 0) {
		if (r->used == sizeof(r->buffer))
			return -EINVAL;
		more = refill(r);
		end = memchr(r->buffer, '\n', r->used);
	}
	if (more < 0)
		return more;
	if (r->used == 0)
		return 0;
	/* The last line need not end; there is room, or the file would have been read on. */
	if (end == NULL)
		end = r->buffer + r->used++;
	*end = '\0';
	r->line = (size_t)(end - r->buffer) + 1;
	return (int)r->line;
}

/* --- fields --- */

static bool parse_number(const char *digits, int base, uint32_t *number)
{
	const char *known = base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
	unsigned long long value;

	if (base == 16 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		digits += 2;
	if (*digits == '\0' || digits[strspn(digits, known)] != '\0')
		return false;
	value = strtoull(digits, NULL, base);
	if (value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

/* The fields of a line and how many they are; one more is not looked at. */
static unsigned split(char *line, char *fields[FIELDS])
{
	unsigned count = 0;
	char *rest = NULL;

	for (char *field = strtok_r(line, BLANKS, &rest); field != NULL;
	     field = strtok_r(NULL, BLANKS, &rest)) {
		if (count == FIELDS)
			return FIELDS + 1;
		fields[count++] = field;
	}
	return count;
}

static bool parse_line(char *line, char **appid, struct segmentid_range *range)
{
	char *fields[FIELDS];

	if (split(line, fields) != FIELDS)
		return false;
	if (strcasecmp(fields[0], "reserve") != 0 && strcasecmp(fields[0], "reserved") != 0)
		return false;
	*appid = fields[1];
	return parse_number(fields[2], 16, &range->base) &&
	       parse_number(fields[3], 10, &range->length);
}

/* --- file --- */

static int find_in(struct reader *r, const char *appid, struct segmentid_range *range)
{
	struct segmentid_range entry;
	bool found = false;
	char *name;
	int length;

	while ((length = next_line(r)) > 0) {
		if (r->buffer[0] == '#')
			continue;
		if (strlen(r->buffer) + 1 != (size_t)length ||
		    !parse_line(r->buffer, &name, &entry))
			return -EINVAL;
		if (found || appid == NULL || strcasecmp(name, appid) != 0)
			continue;
		*range = entry;
		found = true;
	}
	if (length < 0)
		return length;
	return found ? 0 : -ENOENT;
}

int segmentid_find(const char *path, const char *appid, struct segmentid_range *range)
{
	/* Not to wait for a writer, should it be a pipe. */
	struct reader r = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
	int rc;

	if (r.fd < 0)
		return -EINVAL;
	rc = find_in(&r, appid, range);
	close(r.fd);
	return rc;
}
