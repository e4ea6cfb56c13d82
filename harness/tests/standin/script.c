/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads observed.rows into scenes, lines and rows, and refuses a file that leaves a row out. */
#include "script.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct script *script;
	const char *path;
	int number;
	int group_first; /* the row index of the current group's first row */
	int group_rows;
	int last_row;
	bool wrong;
};

static void complain(struct reader *reader, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", reader->path, reader->number);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	reader->wrong = true;
}

/* One more element at the end of a growing array. */
static void *one_more(void **array, int *count, size_t size)
{
	void *grown = reallocarray(*array, (size_t)*count + 1, size);

	if (grown == NULL)
		abort();
	*array = grown;
	memset((char *)grown + (size_t)*count * size, 0, size);
	return (char *)grown + (size_t)(*count)++ * size;
}

static char *trimmed(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	for (char *end = text + strlen(text); end > text && isspace((unsigned char)end[-1]);)
		*--end = '\0';
	return text;
}

static void group_line(struct reader *reader, char *text)
{
	char name[32];
	int count;

	if (sscanf(text, "%31s %d", name, &count) != 2 || count < 1) {
		complain(reader, "group NAME COUNT");
		return;
	}
	char *kept = strdup(name);

	reader->group_first = reader->script->rows;
	reader->group_rows = count;
	reader->last_row = -1;
	for (int i = 1; i <= count; i++) {
		struct row *row = one_more((void **)&reader->script->row, &reader->script->rows,
					   sizeof *row);

		row->group = kept;
		row->index = i;
	}
}

static void scene_end(struct script *script)
{
	if (script->scenes > 0)
		script->scene[script->scenes - 1].end_line = script->lines;
}

static int ulimit_of(struct reader *reader, const char *word)
{
	if (word == NULL || (strcmp(word, "0") != 0 && strcmp(word, "1") != 0)) {
		complain(reader, "ulimit is 0 or 1");
		return ULIMIT_ANY;
	}
	return *word - '0';
}

static void scene_line(struct reader *reader, char *text)
{
	struct script *script = reader->script;

	scene_end(script);
	struct scene *scene = one_more((void **)&script->scene, &script->scenes, sizeof *scene);
	char *save = NULL;

	scene->name = strdup(strtok_r(text, " \t", &save));
	scene->first_line = script->lines;
	scene->ulimit = ULIMIT_ANY;
	for (char *word; (word = strtok_r(NULL, " \t", &save)) != NULL;) {
		if (strcmp(word, "slow") == 0)
			scene->slow = true;
		else if (strcmp(word, "root") == 0)
			scene->privileged = true;
		else if (strcmp(word, "many") == 0)
			scene->many = true;
		else if (strcmp(word, "ulimit") == 0)
			scene->ulimit = ulimit_of(reader, strtok_r(NULL, " \t", &save));
		else
			complain(reader, "a scene is slow, root, many or ulimit, not %s", word);
	}
}

static struct row *row_at(struct reader *reader, int index)
{
	if (index >= 1 && index <= reader->group_rows)
		return &reader->script->row[reader->group_first + index - 1];
	complain(reader, "the group has no row %d", index);
	return NULL;
}

static void skip_line(struct reader *reader, char *text)
{
	int first, last, used = 0;

	if (sscanf(text, "%d-%d %n", &first, &last, &used) < 2 || used == 0) {
		if (sscanf(text, "%d %n", &first, &used) < 1 || used == 0) {
			complain(reader, "skip ROW[-ROW] REASON");
			return;
		}
		last = first;
	}
	if (text[used] == '\0')
		complain(reader, "a row is skipped for a reason");
	for (int i = first; i <= last; i++) {
		struct row *row = row_at(reader, i);

		if (row == NULL)
			return;
		if (row->skipped != NULL || row->lines > 0)
			complain(reader, "row %d is there twice", i);
		row->skipped = strdup(text + used);
	}
}

static void take_words(struct reader *reader, struct line *line, char *text)
{
	char *arrow = strstr(text, "->");
	char *save = NULL;

	if (arrow != NULL) {
		*arrow = '\0';
		line->expected = strdup(trimmed(arrow + 2));
	}
	char *assignment = strstr(text, ":=");

	if (assignment != NULL) {
		*assignment = '\0';
		line->assigned = strdup(trimmed(text));
		text = assignment + 2;
	}
	char *words = strdup(text);

	for (char *word = strtok_r(words, " \t", &save); word != NULL;
	     word = strtok_r(NULL, " \t", &save)) {
		if (line->words == LINE_WORDS) {
			complain(reader, "too many words");
			return;
		}
		line->word[line->words++] = word;
	}
	if (line->words == 0)
		complain(reader, "a call is missing");
}

/* "N: ..." repeats row N, "+: ..." belongs to the row before, ": ..." sets up. */
static void call_line(struct reader *reader, char *text, char *colon)
{
	struct script *script = reader->script;
	struct line *line = one_more((void **)&script->line, &script->lines, sizeof *line);
	struct row *row = NULL;

	*colon = '\0';
	line->number = reader->number;
	line->scene = script->scenes - 1;
	line->row = -1;
	line->text = strdup(trimmed(colon + 1));
	if (script->scenes == 0)
		complain(reader, "a call outside a scene");
	if (strcmp(trimmed(text), "+") == 0) {
		line->row = reader->last_row;
		if (line->row < 0)
			complain(reader, "no row before this one");
	} else if (*trimmed(text) != '\0') {
		row = row_at(reader, atoi(text));
	}
	if (row != NULL) {
		if (row->skipped != NULL || row->lines > 0)
			complain(reader, "row %d is there twice", row->index);
		line->row = reader->last_row = (int)(row - script->row);
		row->text = line->text;
	}
	if (line->row >= 0)
		script->row[line->row].lines++;
	take_words(reader, line, trimmed(colon + 1));
	if (row != NULL && line->expected == NULL)
		complain(reader, "a row has an expected result");
}

static void read_line(struct reader *reader, char *text)
{
	char *comment = strchr(text, '#');

	if (comment != NULL)
		*comment = '\0';
	text = trimmed(text);
	if (*text == '\0')
		return;
	if (strncmp(text, "group ", 6) == 0) {
		group_line(reader, text + 6);
		return;
	}
	if (strncmp(text, "scene ", 6) == 0) {
		scene_line(reader, trimmed(text + 6));
		return;
	}
	if (strncmp(text, "skip ", 5) == 0) {
		skip_line(reader, text + 5);
		return;
	}
	char *colon = strchr(text, ':');

	if (colon == NULL) {
		complain(reader, "neither group, scene, skip nor a call");
		return;
	}
	call_line(reader, text, colon);
}

static void every_row_is_there(struct reader *reader)
{
	for (int i = 0; i < reader->script->rows; i++) {
		const struct row *row = &reader->script->row[i];

		if (row->lines == 0 && row->skipped == NULL)
			complain(reader, "%s %d is left out", row->group, row->index);
	}
}

struct script *script_read(const char *path)
{
	struct script *script = calloc(1, sizeof *script);
	struct reader reader = {.script = script, .path = path, .last_row = -1};
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	if (file == NULL || script == NULL) {
		perror(path);
		free(script);
		if (file != NULL)
			fclose(file);
		return NULL;
	}
	while (getline(&text, &room, file) >= 0) {
		reader.number++;
		read_line(&reader, text);
	}
	free(text);
	fclose(file);
	scene_end(script);
	every_row_is_there(&reader);
	return reader.wrong ? NULL : script;
}
