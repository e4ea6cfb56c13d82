/* SPDX-License-Identifier: BSD-2-Clause */
/* What is left of processes that are dead: names, entries of scif-fabric's list, files. */
#ifndef SOAK_AFTERMATH_H
#define SOAK_AFTERMATH_H

#include <stdbool.h>
#include <sys/types.h>

/* Before any worker: the fabric, and empty places for files where the system lets us have them. */
void aftermath_begin(const char *fabric);
bool aftermath_sees_files(void);

/* Complains when the fabric shows anything of the process. */
void aftermath_of(pid_t pid);
/* The same for its name alone, which costs far less. */
void aftermath_of_name(pid_t pid);
/* Of all, once the last one has ended. */
void aftermath_of_all(void);

/* Runs scif-fabric with up to three arguments; complains when it fails, and gives false. */
bool aftermath_fabric(const char *a, const char *b, const char *c);

#endif
