/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Knights Corner cards of a machine: what the PCI bus and the driver's pages in sysfs say about
 * them, and what keeps them from working.
 */
#ifndef HW_CARD_H
#define HW_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"

enum { CARD_TEXT = 64, CARD_SENTENCE = 256, CARDS_MAX = 256, PROBLEMS_MAX = 8, MIC_NONE = -1 };

/* A line of a file: its text, or why it could not be read. */
struct card_text {
	char text[CARD_TEXT]; /* printable; empty when it could not be read */
	int error;	      /* errno, or 0 */
};

struct card_region {
	bool known;
	uint64_t start; /* 0: the firmware and the kernel gave it no address */
	uint64_t size;	/* 0: not known */
};

/* Each is 0 where it is not known.  Speeds are in tenths of GT/s. */
struct card_link {
	unsigned width, width_max;
	unsigned speed, speed_max;
};

struct problem {
	bool blocking;
	char what[CARD_SENTENCE];
	char next[CARD_SENTENCE]; /* what to do; may be empty */
};

struct problems {
	unsigned count;
	struct problem list[PROBLEMS_MAX];
};

struct card {
	bool on_bus;	  /* the members up to driver mean something */
	char address[20]; /* DDDD:BB:DD.F */
	uint16_t device_id;
	int revision;				/* -1: its configuration could not be read */
	bool silent;				/* its configuration reads as all ones */
	struct card_region aperture, registers; /* BAR 0 and BAR 4 */
	struct card_link link;
	struct card_text driver;
	int mic; /* N of micN, or MIC_NONE; its SCIF node is N + 1 */
	struct card_text state, scif_status, family, stepping, sku, flash, interface;
	struct problems problems;
};

struct machine {
	char pci_error[CARD_SENTENCE]; /* why the bus could not be looked at, or empty */
	bool driver_loaded;	       /* /sys/class/mic/ctrl is there */
	struct card_text driver_version;
	struct card_text watchdog_enabled, watchdog_timeout, watchdog_reboot;
	struct hw_device device;
	struct card *cards;
	unsigned count;
	struct problems problems; /* those of no single card */
	bool usable, loopback;
	char summary[4 * CARD_SENTENCE]; /* whether SCIF can be used, what to do next */
};

/* What the driver calls the cards of a device id; NULL when it does not know the id. */
const char *card_products(uint16_t device_id);

/* A place for one more card, or NULL. */
struct card *machine_add(struct machine *machine);

/* Looks at the bus of this machine, or at a dump of one. */
void pci_find_cards(struct machine *machine, const char *sysfs_root, const char *dump);

/* All that sysfs knows, of the cards that are there and of those that only the driver knows. */
void sysfs_read(struct machine *machine, const char *root);

/* Fills in the problems, usable, loopback and summary. */
void machine_judge(struct machine *machine);

#endif
