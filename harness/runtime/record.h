/* SPDX-License-Identifier: BSD-2-Clause */
/* One result: verdict, kind and texts, and its two written forms. */
#ifndef CTS_RECORD_H
#define CTS_RECORD_H

#include <stdbool.h>
#include <stdio.h>

enum verdict { PASS, FAIL, UNSUPPORTED, UNTESTED, UNRESOLVED };
enum kind { KIND_NONE, KIND_VALUE, KIND_ERRNO, KIND_SIDE_EFFECT, KIND_CRASH, KIND_TIMEOUT };

struct record {
	const char *id, *function, *outcome, *profile;
	enum verdict verdict;
	enum kind kind;
	double ms;
	char expected[160];
	char observed[160];
	char choice[160];
	char reason[512];
};

const char *verdict_name(enum verdict verdict);
const char *kind_name(enum kind kind); /* "" for KIND_NONE */
/* Appends the record as one line with one write, so that programs may share the file. 0 or -errno.
 */
int record_append(const char *path, const struct record *r);
void record_tap(FILE *out, int number, const struct record *r);

#endif
