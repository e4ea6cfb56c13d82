/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes the raw log of each case from what its program wrote, and writes the file of all. */
#include "observations.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "raw_log.h"
#include "report.h"

char *observations_find(const char *text, size_t length, const char *id)
{
	char *start = format_text("{\"id\":\"%s\",", id);
	size_t start_length = strlen(start);
	const char *end = text + length, *newline;
	char *line = NULL;

	for (; text < end && !line; text = newline + 1) {
		newline = memchr(text, '\n', end - text);
		/* A line without an end was cut off. */
		if (!newline)
			break;
		if ((size_t)(newline - text) > start_length &&
		    memcmp(text, start, start_length) == 0)
			line = format_text("%.*s", (int)(newline - text), text);
	}
	free(start);
	return line;
}

char *observations_of_runner(const char *id, const char *what, const char *detail)
{
	json_t *line =
		json_pack("{s:s, s:[[s, s, s?]]}", "id", id, "events", "runner", what, detail);
	char *text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);

	json_decref(line);
	if (!text)
		abort();
	return text;
}

int report_write_observations(const struct session *session, const char *path)
{
	struct raw_log_writer *writer = raw_log_create(path);
	char *first;
	size_t i;

	if (!writer)
		return -errno;
	first = format_text("{\"format\":\"scif-cts-observations/1\",\"api\":\"%s\",\"intervals\":true}",
			    session->api);
	raw_log_line(writer, first);
	free(first);
	for (i = 0; i < session->case_count; i++)
		raw_log_line(writer, session->cases[i].observations);
	return raw_log_close(writer);
}
