/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Knights Corner cards on the PCI bus, by libpci.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pci/pci.h>

#include "card.h"

enum { INTEL = 0x8086 };

/* libpci does not return from an error. */
static jmp_buf on_error;
static char error_text[CARD_SENTENCE];

__attribute__((noreturn, format(printf, 1, 2))) static void fail(char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error_text, sizeof(error_text), format, args);
	va_end(args);
	longjmp(on_error, 1);
}

__attribute__((format(printf, 1, 2))) static void ignore(char *format, ...)
{
	(void)format;
}

static void read_region(struct pci_dev *dev, int bar, struct card_region *region)
{
	region->known = dev->known_fields & PCI_FILL_BASES;
	region->start = dev->base_addr[bar] & PCI_ADDR_MEM_MASK;
	region->size = dev->known_fields & PCI_FILL_SIZES ? dev->size[bar] : 0;
}

static unsigned speed_of(unsigned code)
{
	static const unsigned speeds[] = {0, 25, 50, 80, 160, 320};

	return code < sizeof(speeds) / sizeof(speeds[0]) ? speeds[code] : 0;
}

/* Only root may read that far. */
static void read_link(struct pci_dev *dev, struct card_link *link)
{
	struct pci_cap *express = pci_find_cap(dev, PCI_CAP_ID_EXP, PCI_CAP_NORMAL);
	unsigned can, is;

	if (express == NULL)
		return;
	can = pci_read_long(dev, express->addr + PCI_EXP_LNKCAP);
	is = pci_read_word(dev, express->addr + PCI_EXP_LNKSTA);
	if (can == 0xffffffff || is == 0xffff)
		return;
	link->width_max = (can & PCI_EXP_LNKCAP_WIDTH) >> 4;
	link->speed_max = speed_of(can & PCI_EXP_LNKCAP_SPEED);
	link->width = (is & PCI_EXP_LNKSTA_WIDTH) >> 4;
	link->speed = speed_of(is & PCI_EXP_LNKSTA_SPEED);
}

static void read_card(struct pci_dev *dev, struct card *card)
{
	u8 head[PCI_REVISION_ID + 1];

	card->on_bus = true;
	snprintf(card->address, sizeof(card->address), "%04x:%02x:%02x.%d",
		 (unsigned)dev->domain & 0xffffff, dev->bus, dev->dev, dev->func);
	card->device_id = dev->device_id;
	card->revision = -1;
	if (pci_read_block(dev, 0, head, sizeof(head))) {
		card->silent = head[PCI_VENDOR_ID] == 0xff && head[PCI_VENDOR_ID + 1] == 0xff;
		card->revision = head[PCI_REVISION_ID];
	}
	read_region(dev, 0, &card->aperture);
	read_region(dev, 4, &card->registers);
	if (!card->silent)
		read_link(dev, &card->link);
}

static void look(struct pci_access *access, struct machine *machine)
{
	pci_init(access);
	pci_scan_bus(access);
	for (struct pci_dev *dev = access->devices; dev != NULL; dev = dev->next) {
		struct card *card;

		pci_fill_info(dev,
			      PCI_FILL_IDENT | PCI_FILL_BASES | PCI_FILL_SIZES | PCI_FILL_CAPS);
		if (dev->vendor_id != INTEL || card_products(dev->device_id) == NULL)
			continue;
		card = machine_add(machine);
		if (card != NULL)
			read_card(dev, card);
	}
}

static int by_address(const void *one, const void *other)
{
	return strcmp(((const struct card *)one)->address, ((const struct card *)other)->address);
}

void pci_find_cards(struct machine *machine, const char *sysfs_root, const char *dump)
{
	struct pci_access *access = pci_alloc();
	char path[4096];

	snprintf(path, sizeof(path), "%s/bus/pci", sysfs_root);
	access->error = fail;
	access->warning = ignore;
	access->method = dump != NULL ? PCI_ACCESS_DUMP : PCI_ACCESS_SYS_BUS_PCI;
	if (dump != NULL)
		pci_set_param(access, "dump.name", (char *)dump);
	else
		pci_set_param(access, "sysfs.path", path);
	if (setjmp(on_error) == 0) {
		look(access, machine);
		pci_cleanup(access);
	} else {
		/* What libpci holds is left to the end of the program: it is in no known state. */
		snprintf(machine->pci_error, sizeof(machine->pci_error), "%s", error_text);
	}
	if (machine->count > 1)
		qsort(machine->cards, machine->count, sizeof(*machine->cards), by_address);
}
