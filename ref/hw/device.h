/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device nodes of a SCIF driver: which one is there, whether it answers, and in which of the two
 * encodings.
 */
#ifndef HW_DEVICE_H
#define HW_DEVICE_H

#include <stdbool.h>

enum hw_family { HW_ANY, HW_KNC, HW_MPSS4 };

/* The version of the driver's interface that this library speaks. */
enum { HW_VERSION = 1 };

struct hw_device {
	const char *path;
	enum hw_family family; /* HW_ANY while there is no node */
	bool present;	       /* there is a node */
	int error;	       /* why it does not answer, or 0 */
	int version;	       /* what a Knights Corner driver says, or 0 */
};

/* False when @name is no SCIF_PROVIDER value of a driver: "hw", "hw:knc", "hw:mpss4". */
bool hw_family_named(const char *name, enum hw_family *family);

/*
 * Opens and closes each node that may belong to the family: SCIF_HW_DEVICE where it is set (it does
 * not count in a privileged program), otherwise /dev/mic/scif and /dev/scif.  Takes the first one
 * that answers, or else the first one that is there; path is the first looked for if none is.
 */
void hw_device_find(enum hw_family family, struct hw_device *device);

/* A driver of another version, with which an endpoint must not be opened. */
bool hw_device_mismatched(const struct hw_device *device);

#endif
