/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_get_segmentid_range: the segment ids that are reserved for an application.
 */
#include <errno.h>
#include <rsmapi.h>

#include "caller_memory.h"
#include "segmentid_file.h"

/* Both or none. */
static int store_range(rsm_memseg_id_t *baseid, uint32_t *length,
		       const struct segmentid_range *range)
{
	rsm_memseg_id_t before;

	if (caller_fetch(&before, baseid, sizeof(before)) < 0)
		return RSMERR_BAD_ADDR;
	if (caller_store(baseid, &range->base, sizeof(range->base)) < 0)
		return RSMERR_BAD_ADDR;
	if (caller_store(length, &range->length, sizeof(range->length)) < 0) {
		caller_store(baseid, &before, sizeof(before));
		return RSMERR_BAD_ADDR;
	}
	return RSM_SUCCESS;
}

int rsm_get_segmentid_range(const char *appid, rsm_memseg_id_t *baseid, uint32_t *length)
{
	char name[SEGMENTID_LINE_SIZE];
	struct segmentid_range range;
	int rc;

	if (appid == NULL || baseid == NULL || length == NULL)
		return RSMERR_BAD_ADDR;
	rc = caller_fetch_string(name, sizeof(name), appid);
	if (rc == -EFAULT)
		return RSMERR_BAD_ADDR;
	/* A name that is longer than any line can hold is in no line. */
	rc = segmentid_find(segmentid_path(), rc < 0 ? NULL : name, &range);
	if (rc == -ENOENT)
		return RSMERR_BAD_APPID;
	if (rc < 0)
		return RSMERR_BAD_CONF;
	return store_range(baseid, length, &range);
}
