/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may import a segment: access lists, and who an importer is.
 */
#ifndef RSM_ACCESS_H
#define RSM_ACCESS_H

#include <rsmapi.h>
#include <scif.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* An empty list lets every node in with the default mode. */
struct access_list {
	unsigned count;
	mode_t default_mode;
	rsmapi_access_entry_t *entries; /* NULL if empty */
};

struct rsm_controller;

/* 0666 less the umask of the process: what a file that it creates now would get. */
mode_t access_default_mode(void);

/*
 * Copies a caller's list for access_list_free(): RSM_SUCCESS, RSMERR_BAD_ACL, RSMERR_BAD_ADDR or
 * RSMERR_INSUFFICIENT_MEM; *out is written on success only.
 */
int access_list_copy(struct access_list *out, const rsmapi_access_entry_t *user, unsigned count,
		     const struct rsm_controller *controller, mode_t default_mode);
void access_list_free(struct access_list *list);

/* The three permissions that a connection may ask for. */
bool access_permission_known(rsm_permission_t perm);

struct access_caller {
	uint16_t node;
	uid_t uid;
	gid_t gid;
	unsigned group_count; /* supplementary groups */
	gid_t *groups;
};

/*
 * Who is at the other end of a connection that was accepted: who the kernel says where the
 * descriptor is a local socket, otherwise who the importer claims to be, without supplementary
 * groups. RSM_SUCCESS, for access_caller_free(), or RSMERR_INSUFFICIENT_MEM.
 */
int access_caller_of(scif_epd_t epd, uint16_t node, uint32_t claimed_uid, uint32_t claimed_gid,
		     struct access_caller *who);
void access_caller_free(struct access_caller *who);

/* RSM_SUCCESS, RSMERR_SEG_NOT_PUBLISHED_TO_NODE or RSMERR_PERM_DENIED. */
int access_allows(const struct access_list *list, uid_t owner, gid_t group,
		  const struct access_caller *who, rsm_permission_t perm);

#endif
