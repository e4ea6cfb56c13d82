/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What keeps a card from working, in the order of cause and effect, and what to do about it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"

__attribute__((format(printf, 4, 5))) static void add(struct problems *problems, bool blocking,
						      const char *next, const char *format, ...)
{
	struct problem *problem = &problems->list[problems->count];
	va_list args;

	if (problems->count == PROBLEMS_MAX)
		return;
	problems->count++;
	problem->blocking = blocking;
	snprintf(problem->next, sizeof(problem->next), "%s", next);
	va_start(args, format);
	vsnprintf(problem->what, sizeof(problem->what), format, args);
	va_end(args);
}

static const struct problem *first_blocking(const struct problems *problems)
{
	for (unsigned i = 0; i < problems->count; i++)
		if (problems->list[i].blocking)
			return &problems->list[i];
	return NULL;
}

/* --- one card --- */

static void judge_bus(struct card *card)
{
	const struct {
		int number;
		const struct card_region *region;
	} bars[] = {{0, &card->aperture}, {4, &card->registers}};

	if (card->silent)
		add(&card->problems, true, "switch the machine off and on again",
		    "it does not answer on the PCI bus");
	for (int i = 0; i < 2 && !card->silent; i++)
		if (bars[i].region->known && bars[i].region->start == 0)
			add(&card->problems, true,
			    "switch on \"above 4G decoding\" in the machine's firmware set-up",
			    "BAR %d has no address", bars[i].number);
}

static void judge_driver(const struct machine *machine, struct card *card)
{
	const char *driver = card->driver.text;

	if (card->driver.error != 0) {
		add(&card->problems, false, "", "which driver has it could not be read: %s",
		    strerror(card->driver.error));
	} else if (driver[0] == '\0') {
		add(&card->problems, true, "load Intel's driver: modprobe mic",
		    "no driver has taken it");
	} else if (strcmp(driver, "mic_host") == 0) {
		if (machine->device.family != HW_MPSS4 || machine->device.error != 0)
			add(&card->problems, true,
			    "keep mic_host from being loaded (blacklist it), then: modprobe -r "
			    "mic_host; modprobe mic",
			    "the kernel's own mic_host has taken it; Intel's driver mic is needed");
	} else if (strcmp(driver, "mic") != 0) {
		add(&card->problems, true, "unbind it from that driver, then: modprobe mic",
		    "driver %s has taken it; Intel's driver mic is needed", driver);
	}
}

static const char *remedy_of_state(const char *state)
{
	static const struct {
		const char *state, *next;
	} remedies[] = {
		{"ready", "boot it as root: micctrl -b"},
		{"booting", "wait until its state is online"},
		{"no response", "reset it as root (micctrl -r), then boot it (micctrl -b)"},
		{"boot failed", "look at its boot image and its log, then boot it: micctrl -b"},
		{"shutdown", "wait until it is ready, then boot it as root: micctrl -b"},
		{"shutting_down", "wait until it is ready, then boot it"},
		{"lost", "reset it as root (micctrl -r), then boot it (micctrl -b)"},
		{"resetting", "wait until it is ready, then boot it as root: micctrl -b"},
		{"reset failed", "switch the machine off and on again"},
		{"reset_failed", "switch the machine off and on again"},
	};

	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (strcmp(remedies[i].state, state) == 0)
			return remedies[i].next;
	return "look at the driver's messages in dmesg";
}

static const char *remedy_of_scif(const char *status)
{
	if (strcmp(status, "initializing") == 0 || strcmp(status, "stopping") == 0)
		return "wait a moment and look again";
	if (strcmp(status, "sleeping") == 0)
		return "wake it by using it, or switch its power management off";
	return "restart the card as root: micctrl -r, then micctrl -b";
}

/* A page that is there but may not be read leaves open whether the card works. */
static void judge_page(struct card *card, const char *name, const struct card_text *page)
{
	add(&card->problems, true,
	    page->error == EACCES || page->error == EPERM
		    ? "run knc-info as root"
		    : "look at the driver's messages in dmesg",
	    "its %s could not be read: %s", name, strerror(page->error));
}

static void judge_state(struct card *card)
{
	const char *state = card->state.text, *scif = card->scif_status.text;

	if (card->state.error != 0)
		judge_page(card, "state", &card->state);
	else if (strcmp(state, "online") != 0)
		add(&card->problems, true, remedy_of_state(state), "its state is \"%s\"", state);
	if (card->scif_status.error != 0 && card->scif_status.error != ENOENT)
		judge_page(card, "scif_status", &card->scif_status);
	else if (card->scif_status.error == 0 && strcmp(scif, "online") != 0)
		add(&card->problems, true, remedy_of_scif(scif), "its scif_status is \"%s\"", scif);
}

static void judge_link(struct card *card)
{
	const struct card_link *link = &card->link;

	if (link->width == 0 || link->speed == 0)
		add(&card->problems, false, "", "its link could not be read (root may)");
	if (link->width != 0 && link->width < link->width_max)
		add(&card->problems, false, "use a slot with more lanes, or seat the card anew",
		    "its link has %u lanes of %u", link->width, link->width_max);
	if (link->speed != 0 && link->speed < link->speed_max)
		add(&card->problems, false, "look for a faster slot or a firmware setting",
		    "its link runs at %u.%u of %u.%u GT/s", link->speed / 10, link->speed % 10,
		    link->speed_max / 10, link->speed_max % 10);
}

static void judge_card(const struct machine *machine, struct card *card)
{
	bool bound = !card->on_bus || card->driver.error != 0 ||
		     strncmp(card->driver.text, "mic", 3) == 0;

	if (card->on_bus) {
		judge_bus(card);
		judge_driver(machine, card);
	}
	if (card->mic != MIC_NONE)
		judge_state(card);
	else if (bound && machine->driver_loaded)
		add(&card->problems, true, "look at the driver's messages in dmesg",
		    "the driver does not know it");
	else if (bound)
		add(&card->problems, true, "load Intel's driver: modprobe mic",
		    "the driver is not loaded");
	if (card->on_bus)
		judge_link(card);
}

/* --- the machine --- */

static void judge_device(struct machine *machine)
{
	const struct hw_device *device = &machine->device;
	struct problems *problems = &machine->problems;

	if (!device->present)
		add(problems, true,
		    machine->driver_loaded
			    ? "install the driver's udev rule and run udevadm trigger"
			    : "load Intel's driver: modprobe mic",
		    "there is no %s", device->path);
	else if (device->error == EACCES || device->error == EPERM)
		add(problems, true,
		    "install the driver's udev rule (mode 0666), or run programs as root",
		    "%s may not be opened by this user", device->path);
	else if (device->error == ENOTTY)
		add(problems, true, "remove it and load Intel's driver: modprobe mic",
		    "%s is not the device of a SCIF driver", device->path);
	else if (device->error != 0)
		add(problems, true, "load Intel's driver: modprobe mic", "%s: %s", device->path,
		    strerror(device->error));
	else if (hw_device_mismatched(device))
		add(problems, true, "install driver and libscif of one release",
		    "the driver speaks version %d of the interface, libscif speaks version %d",
		    device->version, HW_VERSION);
}

static void judge_watchdog(struct machine *machine)
{
	const char *enabled = machine->watchdog_enabled.text;
	const char *reboot = machine->watchdog_reboot.text;

	if (enabled[0] != '\0' && atoi(enabled) == 0)
		add(&machine->problems, false, "load the driver with watchdog=1",
		    "the watchdog is off: the loss of a card is not noticed");
	else if (reboot[0] != '\0' && atoi(reboot) == 0)
		add(&machine->problems, false, "load the driver with watchdog_auto_reboot=1",
		    "a card that the watchdog finds lost stays lost until it is booted by hand");
}

static bool differ(const struct card_text *one, const struct card_text *other)
{
	return one->text[0] != '\0' && other->text[0] != '\0' &&
	       strcmp(one->text, other->text) != 0;
}

static void judge_versions(struct machine *machine)
{
	bool flash = false, interface = false;

	for (unsigned i = 1; i < machine->count; i++) {
		flash |= differ(&machine->cards[0].flash, &machine->cards[i].flash);
		interface |= differ(&machine->cards[0].interface, &machine->cards[i].interface);
	}
	if (flash)
		add(&machine->problems, false, "flash the cards from one release",
		    "the cards have different flash versions");
	if (interface)
		add(&machine->problems, false, "boot the cards with images of one release",
		    "the cards have different interface versions");
}

/* --- the last line --- */

static const char *name_of(const struct card *card, char name[CARD_TEXT])
{
	if (card->mic != MIC_NONE)
		snprintf(name, CARD_TEXT, "mic%d", card->mic);
	else
		snprintf(name, CARD_TEXT, "the card at %s", card->address);
	return name;
}

static void sum_up(struct machine *machine, const char *subject, const struct problem *problem)
{
	snprintf(machine->summary, sizeof(machine->summary),
		 "SCIF cannot be used: %s%s%s; next: %s.", subject, subject[0] != '\0' ? ": " : "",
		 problem->what, problem->next);
}

static const char *what_programs_do(void)
{
	const char *provider = secure_getenv("SCIF_PROVIDER");
	enum hw_family family;

	return provider != NULL && hw_family_named(provider, &family)
		       ? "programs get ENXIO, because SCIF_PROVIDER asks for a driver"
		       : "programs then use the embedded provider, which needs none";
}

static void sum_up_no_card(struct machine *machine)
{
	const char *without = what_programs_do();

	machine->problems.count = 0;
	if (machine->pci_error[0] != '\0')
		snprintf(machine->summary, sizeof(machine->summary),
			 "SCIF cannot be used with a card: there is no driver, and whether there "
			 "is a "
			 "card is not known (%s); next: load Intel's driver (modprobe mic); %s.",
			 machine->pci_error, without);
	else
		snprintf(machine->summary, sizeof(machine->summary),
			 "SCIF cannot be used with a card: there is no Knights Corner card in this "
			 "machine; %s.",
			 without);
}

/* The nodes that can be reached, and the first card that cannot. */
static void sum_up_usable(struct machine *machine)
{
	const struct card *bad = NULL;
	char nodes[CARD_SENTENCE] = "", name[CARD_TEXT];
	size_t used = 0;

	for (unsigned i = 0; i < machine->count; i++) {
		const struct card *card = &machine->cards[i];

		if (first_blocking(&card->problems) != NULL) {
			bad = bad == NULL ? card : bad;
			continue;
		}
		used += (size_t)snprintf(nodes + used, sizeof(nodes) - used, "%snode %d (%s)",
					 used > 0 ? ", " : "", card->mic + 1, name_of(card, name));
		if (used >= sizeof(nodes))
			break;
	}
	snprintf(machine->summary, sizeof(machine->summary), "SCIF can be used with %.200s.",
		 nodes);
	if (bad != NULL)
		snprintf(machine->summary, sizeof(machine->summary),
			 "SCIF can be used with %.200s, not with %s: %s; next: %s.", nodes,
			 name_of(bad, name), first_blocking(&bad->problems)->what,
			 first_blocking(&bad->problems)->next);
}

static void conclude(struct machine *machine)
{
	const struct problem *device = first_blocking(&machine->problems);
	char name[CARD_TEXT];
	unsigned good = 0;

	for (unsigned i = 0; i < machine->count; i++)
		good += first_blocking(&machine->cards[i].problems) == NULL;
	machine->usable = device == NULL && (good > 0 || machine->count == 0);
	machine->loopback = machine->usable && machine->count == 0;
	if (machine->loopback)
		snprintf(machine->summary, sizeof(machine->summary),
			 "SCIF can be used in loopback only (node 0 with itself): the driver "
			 "answers, "
			 "but there is no card.");
	else if (machine->usable)
		sum_up_usable(machine);
	else if (machine->count == 0 && !machine->driver_loaded && !machine->device.present)
		sum_up_no_card(machine);
	else if (machine->count > 0 && good == 0)
		sum_up(machine, name_of(&machine->cards[0], name),
		       first_blocking(&machine->cards[0].problems));
	else
		sum_up(machine, "", device);
}

void machine_judge(struct machine *machine)
{
	for (unsigned i = 0; i < machine->count; i++)
		judge_card(machine, &machine->cards[i]);
	judge_device(machine);
	judge_watchdog(machine);
	judge_versions(machine);
	conclude(machine);
}
