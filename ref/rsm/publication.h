/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishing a segment and taking that back.
 */
#ifndef RSM_PUBLICATION_H
#define RSM_PUBLICATION_H

#include <stdbool.h>

#include "export.h"

/*
 * Ends all imports and frees the id. Lock held (dropped meanwhile), in the segment's operation. 0,
 * also if it is not published, or -EINTR: it stays published.
 */
int publication_end(struct export *e, bool interruptible);

#endif
