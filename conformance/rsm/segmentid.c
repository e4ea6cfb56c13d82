/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of reserved segment identifiers: what a single call cannot show. */
#include "parties.h"

#include <stdio.h>
#include <sys/stat.h>

SCENARIO(segmentid_long_names)
{
	static char name[4001], line[4200];
	rsm_memseg_id_t base = 0;
	uint32_t length = 0;

	memset(name, 'n', sizeof name - 1);
	snprintf(line, sizeof line, "# %s\nreserve %.100s 0x500000 1\n", "a comment", name);
	snprintf(line + strlen(line), 200, "reserve x 0x500001 1\n");
	cts_fx_segmentid_file(line);
	EXPECT(rsm_get_segmentid_range("x", &base, &length), RSM_SUCCESS);
	CTS_CHECK(base == 0x500001 && length == 1, "the entry after a long one is found");
	snprintf(line, sizeof line, "reserve %s 0x600000 9\n", name);
	cts_fx_segmentid_file(line);
	EXPECT(rsm_get_segmentid_range(name, &base, &length), RSM_SUCCESS);
	CTS_CHECK(base == 0x600000 && length == 9, "the entry of a long name is found");
	name[3999] = '\0';
	CTS_CHECK(rsm_get_segmentid_range(name, &base, &length) == RSMERR_BAD_APPID,
		  "a name that is shorter by one character is another");
}

static void rewrite(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	CTS_REQUIRE(fd != -1);
	CTS_REQUIRE(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

SCENARIO(segmentid_file_changes)
{
	const char *path = cts_fx_segmentid_file("reserve app 0x500000 1\n");
	rsm_memseg_id_t base = 0;
	uint32_t length = 0;

	EXPECT(rsm_get_segmentid_range("app", &base, &length), RSM_SUCCESS);
	CTS_CHECK(base == 0x500000 && length == 1, "the range is that of the file");
	rewrite(path, "reserve app 0x700000 22\n");
	EXPECT(rsm_get_segmentid_range("app", &base, &length), RSM_SUCCESS);
	CTS_CHECK(base == 0x700000 && length == 22, "the range is that of the changed file");
}

SCENARIO(segmentid_range_is_published)
{
	rsm_memseg_export_handle_t segment = cts_fx_exported(1);
	rsm_memseg_id_t base, id;
	uint32_t length;

	cts_fx_segmentid_file("reserve app 0x600000 3\n");
	EXPECT(rsm_get_segmentid_range("app", &base, &length), RSM_SUCCESS);
	CTS_ASSERT(length == 3);
	for (uint32_t offset = 0; offset < length; offset++) {
		id = base + offset;
		CTS_ASSERT(rsm_memseg_export_publish(segment, &id, NULL, 0) == RSM_SUCCESS);
		CTS_CHECK(near_can_connect(cts_self_node(), base + offset, RSM_PERM_READ) ==
				  RSM_SUCCESS,
			  "the segment is found under the identifier of the range");
		CTS_ASSERT(rsm_memseg_export_unpublish(segment) == RSM_SUCCESS);
	}
}

#define OPEN_FILES 400

/* More than 255 is where a library that reads through old streams cannot follow. */
static void open_many_files(int *files)
{
	struct rlimit limit;

	CTS_REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	if (limit.rlim_max < 2 * OPEN_FILES)
		cts_untested("the process may not have so many files");
	if (limit.rlim_cur < 2 * OPEN_FILES) {
		limit.rlim_cur = 2 * OPEN_FILES;
		CTS_REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	}
	for (int i = 0; i < OPEN_FILES; i++) {
		files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		CTS_REQUIRE(files[i] != -1);
	}
}

SCENARIO(r03_many_open_files)
{
	int files[OPEN_FILES];
	rsm_memseg_id_t base = 0;
	uint32_t length = 0;

	open_many_files(files);
	cts_fx_segmentid_file("reserve app 0x600000 3\n");
	EXPECT(rsm_get_segmentid_range("app", &base, &length), RSM_SUCCESS);
	CTS_CHECK(base == 0x600000 && length == 3, "the range is that of the file");
	CTS_CHECK(rsm_get_segmentid_range("other", &base, &length) == RSMERR_BAD_APPID,
		  "an application that is not in it is told so");
	rsm_memseg_export_handle_t segment =
		near_create("loopback", cts_fx_pages(1), cts_page_size(), 0);
	CTS_ASSERT(rsm_memseg_export_publish(segment, &base, NULL, 0) == RSM_SUCCESS);
	CTS_CHECK(near_can_connect(cts_self_node(), base, RSM_PERM_READ) == RSM_SUCCESS,
		  "a segment is created, published and found");
	CTS_ASSERT(rsm_memseg_export_destroy(segment) == RSM_SUCCESS);
	for (int i = 0; i < OPEN_FILES; i++)
		close(files[i]);
}

SCENARIO(segmentid_file_unreadable)
{
	const char *path = cts_fx_segmentid_file("reserve app 0x600000 100\n");
	rsm_memseg_id_t base = 77;
	uint32_t length = 78;

	cts_need("root");
	CTS_REQUIRE(chmod(path, 0) == 0);
	for (int i = 0; i < 2; i++) {
		cts_drop_privilege();
		int value = rsm_get_segmentid_range("app", &base, &length);
		cts_regain_privilege();
		EXPECT(value, RSMERR_BAD_CONF);
	}
	CTS_CHECK_EFFECT(base == 77 && length == 78, "nothing is stored");
	CTS_CHECK_EFFECT(rsm_get_segmentid_range("app", &base, &length) == RSM_SUCCESS,
			 "the control, by a caller who may read it, succeeds");
}
