/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A results folder appears whole or not at all: it is written under another name beside its place,
 * flushed, and exchanged with what was there.  The folder is made before the run, so that a place
 * that cannot be written is known before any case has run.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format.h"
#include "raw_log.h"
#include "report.h"

struct publication {
	char *folder; /* where the files are written */
	char *place;  /* where they will be seen */
};

/* mkdir -p */
static int make_folders(const char *path)
{
	char *copy = copy_text(path), *slash = copy;
	int status = 0;

	while (!status && (slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			status = -errno;
		*slash = '/';
	}
	if (!status && mkdir(copy, 0777) < 0 && errno != EEXIST)
		status = -errno;
	free(copy);
	return status;
}

/* Removes a folder that this program has written: files, and folders of files. */
static void remove_folder(const char *path)
{
	struct dirent *entry;
	DIR *folder = opendir(path);

	while (folder && (entry = readdir(folder))) {
		char *name;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		name = format_text("%s/%s", path, entry->d_name);
		if (unlink(name) < 0 && errno == EISDIR)
			remove_folder(name);
		free(name);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

static int complain(const char *path, int error)
{
	fprintf(stderr, "scif-cts: %s: %s; no results were written\n", path, strerror(error));
	return EXIT_USAGE;
}

static void free_publication(struct publication *publication)
{
	free(publication->folder);
	free(publication->place);
	free(publication);
}

/* Whether a folder may be replaced: it is absent, empty or holds the results of an earlier run. */
static bool may_replace(const char *place)
{
	char *results = format_text("%s/results.json", place);
	bool ours = access(results, F_OK) == 0;

	free(results);
	return ours || access(place, F_OK) < 0 || rmdir(place) == 0;
}

static int open_folder(const struct publication *publication, const char *root)
{
	int status = make_folders(root);

	if (status)
		return complain(root, -status);
	if (!may_replace(publication->place)) {
		fprintf(stderr,
			"scif-cts: %s: it holds something else than results; "
			"name another place with --results or --label\n",
			publication->place);
		return EXIT_USAGE;
	}
	if (!mkdtemp(publication->folder))
		return complain(root, errno);
	return 0;
}

struct publication *report_open(const char *root, const char *label)
{
	struct publication *publication = zeroed_array(1, sizeof(*publication));
	mode_t mask = umask(0);

	umask(mask);
	publication->place = format_text("%s/%s", root, label);
	publication->folder = format_text("%s/.%s.XXXXXX", root, label);
	if (open_folder(publication, root) != 0) {
		free_publication(publication);
		return NULL;
	}
	chmod(publication->folder, 0777 & ~mask);
	return publication;
}

void report_abandon(struct publication *publication)
{
	if (!publication)
		return;
	remove_folder(publication->folder);
	free_publication(publication);
}

/* Of a case that was never started there is nothing to tell. */
static bool has_something_to_tell(const struct case_run *run)
{
	enum verdict verdict = run->record.verdict;

	return verdict == VERDICT_FAIL || verdict == VERDICT_WAIVED ||
	       verdict == VERDICT_UNRESOLVED || (verdict == VERDICT_NOTRUN && run->output);
}

static int write_failures(const struct session *session, const char *folder)
{
	size_t i;
	int status = 0;

	for (i = 0; i < session->case_count && !status; i++) {
		const struct case_run *run = &session->cases[i];
		char *path;

		if (!has_something_to_tell(run))
			continue;
		if (mkdir(folder, 0777) < 0 && errno != EEXIST)
			return -errno;
		path = format_text("%s/%s.txt", folder, run->clause->id);
		status = report_write_failure(session, run, path);
		free(path);
	}
	return status;
}

/* NAME becomes that of the file under way, which is the one that could not be written. */
static int write_files(const struct session *session, const char *folder, const char **name)
{
	static const struct {
		const char *name;
		int (*write)(const struct session *session, const char *path);
	} files[] = {
		{"results.json", report_write_json},
		{"junit.xml", report_write_junit},
		{"results.tap", report_write_tap},
		{"summary.txt", report_write_summary},
		{"failures", write_failures},
		{RAW_LOG_NAME, report_write_observations},
		{"waivers.yaml", report_write_waivers},
		{"report.html", report_write_html},
	};
	int status = 0;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files) && !status; i++) {
		char *path = format_text("%s/%s", folder, *name = files[i].name);

		status = files[i].write(session, path);
		free(path);
	}
	/* Last, since it has the hashes of all others. */
	if (!status) {
		*name = "certificate.json";
		status = report_write_certificate(session, folder);
	}
	return status;
}

/* For file systems that cannot exchange two names. */
static int swap_by_steps(const char *folder, const char *place)
{
	char *old = format_text("%s.old", folder);
	int status = rename(place, old) < 0 ? -errno : 0;

	if (!status && rename(folder, place) < 0) {
		status = -errno;
		rename(old, place);
	} else if (!status) {
		remove_folder(old);
	}
	free(old);
	return status;
}

/* Puts FOLDER in PLACE; what was there is gone only when the new one is in its place. */
static int put_in_place(const char *folder, const char *place)
{
	if (renameat2(AT_FDCWD, folder, AT_FDCWD, place, RENAME_EXCHANGE) == 0) {
		remove_folder(folder);
		return 0;
	}
	if (rename(folder, place) == 0)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	return swap_by_steps(folder, place);
}

int report_publish(struct publication *publication, const struct session *session)
{
	const char *name = "";
	int status = write_files(session, publication->folder, &name);
	char *path = format_text("%s%s%s", publication->place, status ? "/" : "", status ? name : "");

	if (!status)
		status = put_in_place(publication->folder, publication->place);
	if (status) {
		complain(path, -status);
		report_abandon(publication);
	} else {
		free_publication(publication);
	}
	free(path);
	return status ? EXIT_USAGE : 0;
}
