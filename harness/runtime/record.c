/* SPDX-License-Identifier: BSD-2-Clause */
/* The written forms of a record: a line of JSON for the runner, a TAP line for a person. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[PASS] = "PASS",
		[FAIL] = "FAIL",
		[UNSUPPORTED] = "UNSUPPORTED",
		[UNTESTED] = "UNTESTED",
		[UNRESOLVED] = "UNRESOLVED",
	};

	return names[verdict];
}

const char *kind_name(enum kind kind)
{
	static const char *const names[] = {
		[KIND_NONE] = "",	[KIND_VALUE] = "value",
		[KIND_ERRNO] = "errno", [KIND_SIDE_EFFECT] = "side effect",
		[KIND_CRASH] = "crash", [KIND_TIMEOUT] = "timeout",
	};

	return names[kind];
}

static char *record_line(const struct record *r)
{
	json_t *object =
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:s, s:s}", "id", r->id,
			  "function", r->function, "outcome", r->outcome, "verdict",
			  verdict_name(r->verdict), "kind", kind_name(r->kind), "expected",
			  r->expected, "observed", r->observed, "reason", r->reason, "ms",
			  round(r->ms * 1000) / 1000, "profile", r->profile, "choice", r->choice);
	char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;

	json_decref(object);
	return text;
}

int record_append(const char *path, const struct record *r)
{
	char *text = record_line(r), *line = NULL;
	int fd, err = 0;

	if (!text || asprintf(&line, "%s\n", text) == -1) {
		free(text);
		return -ENOMEM;
	}
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	errno = ENOSPC; /* a part was written */
	if (fd == -1 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		err = -errno;
	if (fd != -1)
		close(fd);
	free(line);
	free(text);
	return err;
}

void record_tap(FILE *out, int number, const struct record *r)
{
	bool ok = r->verdict == PASS || r->verdict == UNTESTED || r->verdict == UNSUPPORTED;

	fprintf(out, "%s %d - %s", ok ? "ok" : "not ok", number, r->id);
	if (ok && r->verdict != PASS)
		fprintf(out, " # SKIP %s: %s", verdict_name(r->verdict), r->reason);
	putc('\n', out);
	if (ok)
		return;
	fprintf(out, "# %s%s%s: expected %s, observed %s\n", verdict_name(r->verdict),
		r->kind ? ", " : "", kind_name(r->kind), r->expected,
		*r->observed ? r->observed : "nothing");
	fprintf(out, "# %s\n", r->reason);
}
