/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that reserves segment ids for applications; its form is described in <rsmapi.h>.
 */
#ifndef RSM_SEGMENTID_FILE_H
#define RSM_SEGMENTID_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum { SEGMENTID_LINE_SIZE = 8192 }; /* longest line with its end */

struct segmentid_range {
	uint32_t base, length;
};

/* Where the file is. */
const char *segmentid_path(void);

/*
 * 0 with the range of an application, -ENOENT if the file has none for it, or -EINVAL if the file
 * cannot be read or has a malformed line anywhere. An appid of NULL is nobody's.
 */
int segmentid_find(const char *path, const char *appid, struct segmentid_range *range);

#endif
