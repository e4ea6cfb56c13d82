/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In place of pci.c where libpci is not there.
 */
#include <stdio.h>

#include "card.h"

void pci_find_cards(struct machine *machine, const char *sysfs_root, const char *dump)
{
	(void)sysfs_root;
	(void)dump;
	snprintf(machine->pci_error, sizeof(machine->pci_error), "built without libpci");
}
