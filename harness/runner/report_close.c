/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of every file of a report: nothing of it is lost unnoticed. */
#include <errno.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "report.h"

/* Of a write that failed before the last one the reason is not known any more. */
static int likely_reason(FILE *file)
{
	struct statvfs file_system;

	return fstatvfs(fileno(file), &file_system) == 0 && !file_system.f_bavail ? -ENOSPC : -EIO;
}

/* Some file systems report a full disk only when the data is flushed. */
int report_close(FILE *file)
{
	int status = 0;

	if (fflush(file) != 0 || fsync(fileno(file)) < 0)
		status = -errno;
	else if (ferror(file))
		status = likely_reason(file);
	if (fclose(file) != 0 && !status)
		status = -errno;
	return status;
}
