/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine of a run, and its environment class: results are compared only with results of the
 * same class.
 */
#ifndef CTS_RUNNER_ENVIRONMENT_H
#define CTS_RUNNER_ENVIRONMENT_H

#include <stdbool.h>

struct environment_class {
	bool root, userfaultfd, sanitizer;
};

struct platform {
	char *system, *release, *machine, *distribution, *c_library;
	int processors;
};

struct environment_class environment_class(bool sanitizer);
bool environment_class_equal(const struct environment_class *a, const struct environment_class *b);
/* For example "root, userfaultfd, plain build"; to be freed. */
char *environment_class_text(const struct environment_class *class);

struct platform platform_read(void);
void platform_free(struct platform *platform);

#endif
