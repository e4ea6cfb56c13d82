/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may import: lists of nodes, digits of the three classes, and who the importer is. */
#include "parties.h"

#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>

#define OWNER	   3001
#define SAME_GROUP 3002
#define STRANGER   3003

/* An importer as the kernel sees it. */
struct importer {
	uid_t real, effective;
	gid_t group, supplementary;
};
static const struct importer as_owner = {OWNER, OWNER, STRANGER, STRANGER},
			     as_member = {SAME_GROUP, SAME_GROUP, OWNER, STRANGER},
			     as_stranger = {STRANGER, STRANGER, STRANGER, STRANGER};

/* ---- an exporter that is no privileged user: a child, told by words what to do ---- */

#define EMPTY_LIST 01000

struct exporter {
	struct turns turns;
	void *mem;
	mode_t mask_at_create, mask_at_publish;
	rsm_memseg_id_t id;
	pid_t pid;
};

static void become(uid_t real, uid_t effective, gid_t group, gid_t supplementary)
{
	CTS_REQUIRE(setgroups(1, &supplementary) == 0);
	CTS_REQUIRE(setresgid(group, group, group) == 0);
	CTS_REQUIRE(setresuid(real, effective, real) == 0);
}

static int exporter_main(void *arg)
{
	struct exporter *e = arg;
	rsmapi_controller_handle_t c;
	rsm_memseg_export_handle_t segment;
	uint64_t digits;

	become(OWNER, OWNER, OWNER, OWNER);
	umask(e->mask_at_create);
	if (rsm_get_controller("scif0", &c) != RSM_SUCCESS)
		return 1;
	if (rsm_memseg_export_create(c, &segment, e->mem, cts_page_size(), 0) != RSM_SUCCESS)
		return 2;
	umask(e->mask_at_publish);
	if (rsm_memseg_export_publish(segment, &e->id, NULL, 0) != RSM_SUCCESS)
		return 3;
	say(e->turns.to_parent[1], e->id);
	close(e->turns.to_child[1]);
	while (heard(e->turns.to_child[0], &digits)) {
		struct list l = list_of(cts_self_node(), (rsm_permission_t)digits);

		if (digits == EMPTY_LIST)
			l.count = 0;
		say(e->turns.to_parent[1],
		    (uint64_t)rsm_memseg_export_republish(segment, l.entries, l.count));
	}
	return 0;
}

static void exporter_start(struct exporter *e, mode_t mask_at_create, mode_t mask_at_publish)
{
	*e = (struct exporter){.turns = turns_open(),
			       .mem = cts_fx_pages(1),
			       .mask_at_create = mask_at_create,
			       .mask_at_publish = mask_at_publish};
	cts_need("root");
	e->pid = cts_fork(exporter_main, e);
	turns_of_parent(&e->turns);
	e->id = (rsm_memseg_id_t)hear(e->turns.to_parent[0]);
}

static void exporter_grants(struct exporter *e, unsigned digits)
{
	say(e->turns.to_child[1], digits);
	CTS_ASSERT((int)hear(e->turns.to_parent[0]) == RSM_SUCCESS);
}

static void exporter_stop(struct exporter *e)
{
	turns_close(&e->turns);
	CTS_ASSERT(cts_wait_child(e->pid) == 0);
}

/* ---- importers: children that try the three modes ---- */

/* Which modes connect: a digit, 8 for RSM_PERM_RDWR apart; anything but PERM_DENIED for the others
 * is STRANGE. */
#define BOTH	8
#define STRANGE 64

struct attempt {
	const struct importer *who;
	rsm_memseg_id_t id;
};

static int allowed(rsm_memseg_id_t id, rsm_permission_t perm, int bit)
{
	int value = near_can_connect(cts_self_node(), id, perm);

	return value == RSM_SUCCESS ? bit : value == RSMERR_PERM_DENIED ? 0 : STRANGE;
}

static int attempt_main(void *arg)
{
	const struct attempt *a = arg;

	if (a->who)
		become(a->who->real, a->who->effective, a->who->group, a->who->supplementary);
	return allowed(a->id, RSM_PERM_READ, 4) | allowed(a->id, RSM_PERM_WRITE, 2) |
	       allowed(a->id, RSM_PERM_RDWR, BOTH);
}

static int modes_of(const struct importer *who, rsm_memseg_id_t id)
{
	struct attempt a = {who, id};

	return cts_wait_child(cts_fork(attempt_main, &a));
}

static int modes_for(unsigned digit)
{
	return (int)digit | (digit == 6 ? BOTH : 0);
}

static void classes_have(struct exporter *e, unsigned digits)
{
	CTS_CHECK(modes_of(&as_owner, e->id) == modes_for(digits >> 6 & 7),
		  "the owner has what the first digit says");
	CTS_CHECK(modes_of(&as_member, e->id) == modes_for(digits >> 3 & 7),
		  "a member of the group has what the second digit says");
	CTS_CHECK(modes_of(&as_stranger, e->id) == modes_for(digits & 7),
		  "any other has what the third digit says");
}

static void grants_are(unsigned digits)
{
	struct exporter e;

	exporter_start(&e, 0, 0);
	exporter_grants(&e, digits);
	classes_have(&e, digits);
	exporter_stop(&e);
	cts_observe(RSM_SUCCESS, 0);
}

SCENARIO(access_by_class)
{
	grants_are((unsigned)cts_param("digits"));
}

SCENARIO(access_truth_table)
{
	unsigned place = (unsigned)cts_param("place");
	struct exporter e;

	exporter_start(&e, 0, 0);
	for (unsigned digit = 0; digit <= 6; digit += 2) {
		unsigned others = 0666 & ~(7u << place);

		exporter_grants(&e, others | digit << place);
		classes_have(&e, others | digit << place);
		exporter_grants(&e, digit << place);
		classes_have(&e, digit << place);
	}
	exporter_stop(&e);
	cts_observe(RSM_SUCCESS, 0);
}

SCENARIO(access_of_privileged)
{
	struct exporter e;

	exporter_start(&e, 0, 0);
	exporter_grants(&e, 0);
	CTS_CHECK(modes_of(NULL, e.id) == modes_for(6), "a privileged process passes the digits");
	CTS_CHECK(modes_of(&as_owner, e.id) == 0, "the owner does not");
	exporter_stop(&e);
	cts_observe(RSM_SUCCESS, 0);
}

SCENARIO(access_by_supplementary_group)
{
	static const struct importer member = {STRANGER, STRANGER, STRANGER, OWNER};
	struct exporter e;

	exporter_start(&e, 0, 0);
	exporter_grants(&e, 0042);
	CTS_CHECK(modes_of(&member, e.id) == modes_for(4),
		  "a supplementary group makes a member of the group");
	CTS_CHECK(modes_of(&as_stranger, e.id) == modes_for(2), "no such group, no member");
	exporter_stop(&e);
	cts_observe(RSM_SUCCESS, 0);
}

SCENARIO(access_by_effective_user)
{
	static const struct importer disguised = {STRANGER, OWNER, STRANGER, STRANGER},
				     hidden = {OWNER, STRANGER, STRANGER, STRANGER};
	struct exporter e;

	exporter_start(&e, 0, 0);
	exporter_grants(&e, 0402);
	CTS_CHECK(modes_of(&disguised, e.id) == modes_for(4), "the effective user is the owner");
	CTS_CHECK(modes_of(&hidden, e.id) == modes_for(2), "the real user does not count");
	exporter_stop(&e);
	cts_observe(RSM_SUCCESS, 0);
}

static void mask_gives(mode_t at_create, mode_t at_publish, unsigned digits)
{
	struct exporter e;

	exporter_start(&e, at_create, at_publish);
	classes_have(&e, digits);
	exporter_grants(&e, 0);
	exporter_grants(&e, EMPTY_LIST);
	classes_have(&e, digits);
	exporter_stop(&e);
	cts_observe(RSM_SUCCESS, 0);
}

SCENARIO(empty_list_has_file_permission)
{
	mask_gives(022, 022, 0644);
	mask_gives(027, 027, 0640);
	mask_gives(0, 0, 0666);
	mask_gives(0251, 0251, 0426);
}

SCENARIO(empty_list_mask_of_creation)
{
	mask_gives(077, 0, 0600);
	mask_gives(0, 077, 0666);
}

/* ---- lists of nodes ---- */

static int publish_to(rsm_memseg_export_handle_t segment, rsm_memseg_id_t *id, struct list l)
{
	return rsm_memseg_export_publish(segment, id, l.entries, l.count);
}

SCENARIO(empty_list_admits_all)
{
	rsmapi_access_entry_t *nowhere = (rsmapi_access_entry_t *)(void *)cts_fx_unmapped(64);
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	rsm_memseg_id_t id = 0;

	EXPECT(rsm_memseg_export_publish(segment, &id, nowhere, 0), RSM_SUCCESS);
	CTS_CHECK(far_can_connect(cts_peer(), cts_self_node(), id, RSM_PERM_READ) == RSM_SUCCESS,
		  "another node can import");
	CTS_CHECK(near_can_connect(cts_self_node(), id, RSM_PERM_READ) == RSM_SUCCESS,
		  "the own one can");
}

SCENARIO(list_excludes_nodes)
{
	struct cts_peer *listed = cts_peer();
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	rsm_memseg_id_t id = 0;

	EXPECT(publish_to(segment, &id, list_of(cts_peer_node(listed), EVERYTHING)), RSM_SUCCESS);
	CTS_CHECK(far_can_connect(listed, cts_self_node(), id, RSM_PERM_RDWR) == RSM_SUCCESS,
		  "the node of the list can import");
	CTS_CHECK(near_can_connect(cts_self_node(), id, RSM_PERM_READ) ==
			  RSMERR_SEG_NOT_PUBLISHED_TO_NODE,
		  "the own one, which is not of the list, cannot");
}

/* Peers of an unprivileged user, whom digits bind. */
static struct cts_peer *bound_peer(rsm_node_id_t node)
{
	cts_need("root");
	return cts_peer_start_as((int)node, STRANGER);
}

SCENARIO(list_by_node)
{
	rsm_node_id_t far = cts_peer_node(cts_peer()), near = cts_self_node();
	struct cts_peer *one = bound_peer(far), *two = bound_peer(near);
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	rsm_memseg_id_t id = 0;

	EXPECT(publish_to(segment, &id, list_and(list_of(far, 0004), near, 0002)), RSM_SUCCESS);
	CTS_CHECK(far_can_connect(one, cts_self_node(), id, RSM_PERM_READ) == RSM_SUCCESS,
		  "the first node reads");
	CTS_CHECK(far_can_connect(one, cts_self_node(), id, RSM_PERM_WRITE) == RSMERR_PERM_DENIED,
		  "and does not write");
	CTS_CHECK(far_can_connect(two, cts_self_node(), id, RSM_PERM_WRITE) == RSM_SUCCESS,
		  "the second node writes");
	CTS_CHECK(far_can_connect(two, cts_self_node(), id, RSM_PERM_READ) == RSMERR_PERM_DENIED,
		  "and does not read");
}

SCENARIO(list_first_entry_holds)
{
	rsm_node_id_t far = cts_peer_node(cts_peer());
	struct cts_peer *peer = bound_peer(far);
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	rsm_memseg_id_t id = 0;

	EXPECT(publish_to(segment, &id, list_and(list_of(far, 0444), far, 0222)), RSM_SUCCESS);
	CTS_CHECK(far_can_connect(peer, cts_self_node(), id, RSM_PERM_READ) == RSM_SUCCESS,
		  "the first entry grants");
	CTS_CHECK(far_can_connect(peer, cts_self_node(), id, RSM_PERM_WRITE) == RSMERR_PERM_DENIED,
		  "the second does not");
}

SCENARIO(list_long)
{
	unsigned count = (unsigned)cts_param("entries");
	rsmapi_access_entry_t *entries = calloc(count, sizeof *entries);
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	rsm_memseg_id_t id = 0;

	for (unsigned i = 0; i < count; i++)
		entries[i] = (rsmapi_access_entry_t){1000 + i, EVERYTHING};
	entries[count - 1].ae_node = cts_peer_node(cts_peer());
	EXPECT(rsm_memseg_export_publish(segment, &id, entries, count), RSM_SUCCESS);
	memset(entries, 0, count * sizeof *entries);
	free(entries);
	CTS_CHECK(far_can_connect(cts_peer(), cts_self_node(), id, RSM_PERM_RDWR) == RSM_SUCCESS,
		  "the node of the last entry can import");
	CTS_CHECK(near_can_connect(cts_self_node(), id, RSM_PERM_READ) ==
			  RSMERR_SEG_NOT_PUBLISHED_TO_NODE,
		  "a node that is not listed cannot");
}

/* ---- what is denied ---- */

struct
try {
	const struct importer *who;
	rsm_memseg_id_t id;
	rsm_permission_t perm;
};

static int try_main(void *arg)
{
	const struct try *t = arg;

	become(t->who->real, t->who->effective, t->who->group, t->who->supplementary);
	int first = near_can_connect(cts_self_node(), t->id, t->perm);
	return near_can_connect(cts_self_node(), t->id, t->perm) == first ? first : 100;
}

static int try_as(const struct importer *who, rsm_memseg_id_t id, rsm_permission_t perm)
{
	struct try t = {who, id, perm};

	return cts_wait_child(cts_fork(try_main, &t));
}

SCENARIO(connect_denied_by_digit)
{
	struct exporter e;

	exporter_start(&e, 0, 0);
	exporter_grants(&e, 0624);
	EXPECT(try_as(&as_stranger, e.id, RSM_PERM_WRITE), RSMERR_PERM_DENIED);
	EXPECT(try_as(&as_stranger, e.id, RSM_PERM_RDWR), RSMERR_PERM_DENIED);
	EXPECT(try_as(&as_member, e.id, RSM_PERM_READ), RSMERR_PERM_DENIED);
	EXPECT(try_as(&as_member, e.id, RSM_PERM_RDWR), RSMERR_PERM_DENIED);
	CTS_CHECK_EFFECT(try_as(&as_stranger, e.id, RSM_PERM_READ) == RSM_SUCCESS &&
				 try_as(&as_member, e.id, RSM_PERM_WRITE) == RSM_SUCCESS &&
				 try_as(&as_owner, e.id, RSM_PERM_RDWR) == RSM_SUCCESS,
			 "the control, with what is granted, succeeds");
	exporter_stop(&e);
}

SCENARIO(connect_denied_by_zero)
{
	struct exporter e;

	exporter_start(&e, 0, 0);
	exporter_grants(&e, 0);
	EXPECT(try_as(&as_owner, e.id, RSM_PERM_READ), RSMERR_PERM_DENIED);
	EXPECT(try_as(&as_member, e.id, RSM_PERM_READ), RSMERR_PERM_DENIED);
	EXPECT(try_as(&as_stranger, e.id, RSM_PERM_READ), RSMERR_PERM_DENIED);
	exporter_grants(&e, 0444);
	CTS_CHECK_EFFECT(try_as(&as_stranger, e.id, RSM_PERM_READ) == RSM_SUCCESS,
			 "the control, with a digit, succeeds");
	exporter_stop(&e);
}

SCENARIO(republish_changes_digits)
{
	static const unsigned lists[] = {0600, 0060, 0006, 0424, 0242, 0};
	struct exporter e;

	exporter_start(&e, 0, 0);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		exporter_grants(&e, lists[i]);
		cts_observe(RSM_SUCCESS, 0);
		classes_have(&e, lists[i]);
	}
	exporter_stop(&e);
}
