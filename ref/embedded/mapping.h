/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mappings of remote windows: what scif_mmap made in this process. Each is told to the owner of the
 * window through the connection block, so that the window stays in existence as long as it is
 * mapped.
 */
#ifndef SCIF_EMBEDDED_MAPPING_H
#define SCIF_EMBEDDED_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;

/* Maps bytes [offset, offset + len) of the peer's space; *pa is where. */
int mapping_make(struct conn *c, uint64_t offset, size_t len, int prot, void *addr, bool fixed,
		 void **pa);
/* Unmaps whatever is mapped there. */
int mapping_remove(void *addr, size_t len);
/* Whether any byte of the range is a mapping of a remote window. */
bool mapping_covers(const void *addr, size_t len);
/* Looks after mappings that were removed behind the library's back and that an owner waits for. */
void mapping_verify_wanted(void);

void mapping_atfork_prepare(void);
void mapping_atfork_parent(void);
void mapping_atfork_child(void);

#endif
