/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device nodes that are not there, and a record of everything that is done with them.
 *
 * RECORDER_NODES says what the nodes are, as PATH=ANSWER,PATH=ANSWER...:
 *	absent		there is none
 *	EACCES, ...	it is there and open(2) fails so
 *	stranger	it opens and knows no request (ENOTTY)
 *	knc0 to knc9	it opens and tells this version
 *	mpss4		it opens and refuses the version request (EINVAL)
 *
 * The record has one line per call.  Descriptors of the nodes appear as #0, #1, ... in the order in
 * which they were opened.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stddef.h>

/* How one ioctl that is not the version request is answered. */
struct answer {
	unsigned size;	    /* bytes of the argument to record; 0: it is recorded as a number */
	int error;	    /* what it fails with, or 0 */
	unsigned at;	    /* where in the argument the result goes */
	const char *result; /* in hexadecimal digits, or NULL */
};

/* Forgets the record and sets the answers of the requests to come. */
void recorder_start(const struct answer *answers, size_t count);
const char *recorder_text(void);

/* The calls that have no descriptor of a node: they are recorded for these arguments. */
void recorder_watch(const void *poll_array, const void *munmap_address);
/* What fcntl and mmap of a node, and the watched poll and munmap, fail with from now on; 0: not. */
void recorder_fail(int error);

#endif
