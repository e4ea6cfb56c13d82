/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's socket diagnosis lists the connectors in a listener's queue,
 * oldest first, by inode; a connector that is gone has none.
 */
#include "queue.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct question {
	struct nlmsghdr header;
	struct unix_diag_req request;
};

static bool ask(int netlink, ino_t listener)
{
	struct question question = {.header = {.nlmsg_len = sizeof(question),
					       .nlmsg_type = SOCK_DIAG_BY_FAMILY,
					       .nlmsg_flags = NLM_F_REQUEST},
				    .request = {.sdiag_family = AF_UNIX,
						.udiag_states = UINT32_MAX,
						.udiag_ino = (uint32_t)listener,
						.udiag_show = UDIAG_SHOW_ICONS,
						.udiag_cookie = {UINT32_MAX, UINT32_MAX}}};

	return send(netlink, &question, sizeof(question), 0) == sizeof(question);
}

static bool first_is_zero(const struct nlmsghdr *header, size_t length)
{
	const struct rtattr *attribute;
	uint32_t first;
	long rest;

	if (!NLMSG_OK(header, length) || header->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return false;
	attribute = (const struct rtattr *)((const char *)NLMSG_DATA(header) +
					    NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
	rest = (long)NLMSG_PAYLOAD(header, NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
	for (; RTA_OK(attribute, rest); attribute = RTA_NEXT(attribute, rest)) {
		if (attribute->rta_type != UNIX_DIAG_ICONS ||
		    RTA_PAYLOAD(attribute) < sizeof(first))
			continue;
		memcpy(&first, RTA_DATA(attribute), sizeof(first));
		return first == 0;
	}
	return false;
}

bool queue_head_dead(ino_t listener)
{
	_Alignas(struct nlmsghdr) char answer[8192];
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	ssize_t length = -1;

	if (netlink < 0)
		return false;
	/* The kernel answers before send returns. */
	if (ask(netlink, listener))
		length = recv(netlink, answer, sizeof(answer), MSG_DONTWAIT);
	close(netlink);
	return length > 0 && first_is_zero((const struct nlmsghdr *)answer, (size_t)length);
}
