/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access lists are checked like the modes of files: one class of the three applies, and its digit
 * has to grant everything that is asked for.
 */
#include "access.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "caller_memory.h"
#include "controller.h"

enum { ALL_MAY = 0666, NODE_MOST = 0xffff, ENTRIES_MOST = NODE_MOST + 1 };

/* --- lists --- */

/* /proc tells without changing it; umask(2) cannot, and a file made meanwhile must not be too open.
 */
static mode_t current_umask(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned mask;
	char line[256];
	bool known = false;

	while (status != NULL && !known && fgets(line, sizeof(line), status) != NULL)
		known = sscanf(line, "Umask: %o", &mask) == 1;
	if (status != NULL)
		fclose(status);
	if (!known) {
		mask = umask(0777);
		umask(mask);
	}
	return mask;
}

mode_t access_default_mode(void)
{
	return ALL_MAY & ~current_umask();
}

static bool entry_is_right(const rsmapi_access_entry_t *entry, const uint16_t *only_node)
{
	if ((entry->ae_permission & ~(rsm_permission_t)ALL_MAY) != 0)
		return false;
	if (only_node != NULL)
		return entry->ae_node == *only_node;
	return entry->ae_node <= NODE_MOST;
}

static bool entries_are_right(const rsmapi_access_entry_t *entries, unsigned count,
			      const struct rsm_controller *controller)
{
	bool local = controller->kind == CONTROLLER_LOOPBACK;
	uint16_t self;

	if (local && controller_own_node(&self) != RSM_SUCCESS)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (!entry_is_right(&entries[i], local ? &self : NULL))
			return false;
	return true;
}

int access_list_copy(struct access_list *out, const rsmapi_access_entry_t *user, unsigned count,
		     const struct rsm_controller *controller, mode_t default_mode)
{
	struct access_list list = {.count = count, .default_mode = default_mode};
	int rc = RSM_SUCCESS;

	if (count == 0) {
		*out = list;
		return RSM_SUCCESS;
	}
	if (user == NULL || count > ENTRIES_MOST)
		return RSMERR_BAD_ACL;
	list.entries = calloc(count, sizeof(list.entries[0]));
	if (list.entries == NULL)
		return RSMERR_INSUFFICIENT_MEM;
	if (caller_fetch(list.entries, user, count * sizeof(list.entries[0])) < 0)
		rc = RSMERR_BAD_ADDR;
	else if (!entries_are_right(list.entries, count, controller))
		rc = RSMERR_BAD_ACL;
	if (rc == RSM_SUCCESS)
		*out = list;
	else
		access_list_free(&list);
	return rc;
}

void access_list_free(struct access_list *list)
{
	free(list->entries);
	list->entries = NULL;
	list->count = 0;
}

bool access_permission_known(rsm_permission_t perm)
{
	return perm == RSM_PERM_READ || perm == RSM_PERM_WRITE || perm == RSM_PERM_RDWR;
}

/* --- importers --- */

static bool is_local_socket(int fd)
{
	socklen_t length = sizeof(int);
	int domain;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

/* RSMERR_INSUFFICIENT_MEM rather than too few groups: another class may be allowed more. */
static int fetch_groups(int fd, struct access_caller *who)
{
	socklen_t length = 0;
	gid_t *groups;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &length) == 0)
		return RSM_SUCCESS;
	if (errno != ERANGE)
		return RSM_SUCCESS;
	groups = malloc(length);
	if (groups == NULL)
		return RSMERR_INSUFFICIENT_MEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &length) != 0)
		length = 0;
	who->groups = groups;
	who->group_count = length / sizeof(groups[0]);
	return RSM_SUCCESS;
}

int access_caller_of(scif_epd_t epd, uint16_t node, uint32_t claimed_uid, uint32_t claimed_gid,
		     struct access_caller *who)
{
	int fd = scif_get_fd(epd);
	socklen_t length = sizeof(struct ucred);
	struct ucred peer;

	*who = (struct access_caller){.node = node, .uid = claimed_uid, .gid = claimed_gid};
	if (!is_local_socket(fd) || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
		return RSM_SUCCESS;
	who->uid = peer.uid;
	who->gid = peer.gid;
	return fetch_groups(fd, who);
}

void access_caller_free(struct access_caller *who)
{
	free(who->groups);
	who->groups = NULL;
	who->group_count = 0;
}

static bool is_member(const struct access_caller *who, gid_t group)
{
	if (who->gid == group)
		return true;
	for (unsigned i = 0; i < who->group_count; i++)
		if (who->groups[i] == group)
			return true;
	return false;
}

/* --- decision --- */

/* The first entry of a node counts. */
static bool mode_for(const struct access_list *list, uint16_t node, mode_t *mode)
{
	if (list->count == 0) {
		*mode = list->default_mode;
		return true;
	}
	for (unsigned i = 0; i < list->count; i++) {
		if (list->entries[i].ae_node == node) {
			*mode = list->entries[i].ae_permission;
			return true;
		}
	}
	return false;
}

int access_allows(const struct access_list *list, uid_t owner, gid_t group,
		  const struct access_caller *who, rsm_permission_t perm)
{
	const mode_t wanted = perm >> 6;
	mode_t mode;
	mode_t digit;

	if (!mode_for(list, who->node, &mode))
		return RSMERR_SEG_NOT_PUBLISHED_TO_NODE;
	if (who->uid == 0)
		return RSM_SUCCESS;
	if (who->uid == owner)
		digit = mode >> 6;
	else if (is_member(who, group))
		digit = mode >> 3;
	else
		digit = mode;
	return (wanted & ~digit) == 0 ? RSM_SUCCESS : RSMERR_PERM_DENIED;
}
