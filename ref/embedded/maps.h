/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is mapped where in this process, as the kernel tells it in /proc/self/maps: asked address by
 * address where the kernel can (6.11), otherwise read as text.
 */
#ifndef SCIF_EMBEDDED_MAPS_H
#define SCIF_EMBEDDED_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct area {
	uintptr_t start, end;
	int prot;
	bool shared;
	uint64_t offset; /* in the file, of start */
	dev_t dev;
	ino_t ino;
};

struct maps {
	int fd;
	char *text; /* NULL: the kernel answers single questions */
	size_t size;
	char *at; /* where the text is being read */
};

/* 0; negative errno when /proc is not there or memory is short. */
int maps_open(struct maps *m);
void maps_close(struct maps *m);

/* The area that contains addr, or else the next one above; false at the end. */
bool maps_next(struct maps *m, uintptr_t addr, struct area *area);

/* Name of the file mapped at addr; false when there is none or it does not fit. */
bool maps_path(struct maps *m, uintptr_t addr, char *path, size_t size);

#endif
