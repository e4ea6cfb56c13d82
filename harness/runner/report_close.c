/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of every file of a report: nothing of it is lost unnoticed. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "report.h"

/* Some file systems report a full disk only when the data is flushed. */
int report_close(FILE *file)
{
	int status = 0;

	if (fflush(file) != 0 || fsync(fileno(file)) < 0)
		status = -errno;
	else if (ferror(file))
		status = -EIO;
	if (fclose(file) != 0 && !status)
		status = -errno;
	return status;
}
