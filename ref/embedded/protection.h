/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether this machine lets a process protect memory by userfaultfd while it is being registered.
 */
#ifndef EMBEDDED_PROTECTION_H
#define EMBEDDED_PROTECTION_H

#include <jansson.h>

/* {"available": bool, "mode": "full" | "user-mode-only" | "none", "detail": text} */
json_t *protection_json(void);

#endif
