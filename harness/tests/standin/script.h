/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data file of the replay: scenes of calls, and for each row of the measurements the line that
 * repeats it or the reason why none does. The head of observed.rows describes the form.
 */
#ifndef STANDIN_SCRIPT_H
#define STANDIN_SCRIPT_H

#include <stdbool.h>

#define LINE_WORDS	 10
#define MANY_DESCRIPTORS 66000
#define ULIMIT_ANY	 (-1)

struct line {
	int number; /* in the file */
	int scene;
	int row; /* -1: part of the set-up */
	char *text;
	char *assigned; /* variable that takes the value; NULL: none */
	char *word[LINE_WORDS + 1];
	int words;
	char *expected; /* NULL: anything but -1 */
};

struct row {
	const char *group;
	int index; /* from 1, in the group */
	char *skipped; /* the reason, or NULL */
	int lines;
	char *text; /* of its first line */
};

struct scene {
	char *name;
	bool slow;	 /* waits for a time limit of the driver */
	bool privileged; /* needs root, because it goes on as another user */
	bool many;	 /* needs MANY_DESCRIPTORS of them */
	int ulimit;	 /* what the driver must have been loaded with, or ULIMIT_ANY */
	int first_line;
	int end_line;
};

struct script {
	struct line *line;
	int lines;
	struct row *row;
	int rows;
	struct scene *scene;
	int scenes;
};

/* Reads the file; NULL and a message on standard error if it is not well formed. */
struct script *script_read(const char *path);

#endif
