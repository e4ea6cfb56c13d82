/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * knc-info: which Knights Corner cards there are, in what state, and whether SCIF can be used.
 */
#include "config.h"
#include "docs/knc-info.usage.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"

enum { EXIT_USABLE, EXIT_UNUSABLE, EXIT_USAGE };

/* --- for a person --- */

static const char *shown(const struct card_text *text)
{
	if (text->error != 0)
		return strerror(text->error);
	return text->text[0] != '\0' ? text->text : "none";
}

static void print_device(const struct card *card)
{
	char revision[16] = "not known";

	if (card->revision >= 0)
		snprintf(revision, sizeof(revision), "%02x", (unsigned)card->revision & 0xff);
	printf("  %-16s 8086:%04x revision %s (%s)\n", "device", card->device_id, revision,
	       card_products(card->device_id));
}

static void print_region(const char *name, const struct card_region *region)
{
	printf("  %-16s ", name);
	if (!region->known)
		printf("not known\n");
	else if (region->start == 0)
		printf("no address\n");
	else if (region->size == 0)
		printf("at 0x%llx\n", (unsigned long long)region->start);
	else
		printf("at 0x%llx, %llu KiB\n", (unsigned long long)region->start,
		       (unsigned long long)region->size / 1024);
}

static void print_link(const struct card_link *link)
{
	if (link->width == 0 || link->speed == 0)
		printf("  %-16s not known\n", "link");
	else
		printf("  %-16s x%u at %u.%u GT/s; the card can x%u at %u.%u GT/s\n", "link",
		       link->width, link->speed / 10, link->speed % 10, link->width_max,
		       link->speed_max / 10, link->speed_max % 10);
}

static void print_problems(const char *indent, const struct problems *problems)
{
	for (unsigned i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->list[i];

		printf("%s%s: %s%s%s\n", indent, problem->blocking ? "problem" : "note",
		       problem->what, problem->next[0] != '\0' ? "; next: " : "", problem->next);
	}
}

static void print_card(const struct card *card)
{
	if (card->mic != MIC_NONE)
		printf("mic%d (SCIF node %d)\n", card->mic, card->mic + 1);
	else
		printf("card without a name\n");
	if (card->on_bus) {
		printf("  %-16s %s\n", "PCI address", card->address);
		print_device(card);
		print_region("BAR 0 (memory)", &card->aperture);
		print_region("BAR 4 (registers)", &card->registers);
		print_link(&card->link);
		printf("  %-16s %s\n", "driver", shown(&card->driver));
	}
	if (card->mic != MIC_NONE) {
		printf("  %-16s %s\n", "state", shown(&card->state));
		printf("  %-16s %s\n", "scif_status", shown(&card->scif_status));
		printf("  %-16s %s, stepping %s, SKU %s\n", "family", shown(&card->family),
		       shown(&card->stepping), shown(&card->sku));
		printf("  %-16s flash %s, interface %s\n", "versions", shown(&card->flash),
		       shown(&card->interface));
	}
	print_problems("  ", &card->problems);
}

static const char *family_name(const struct hw_device *device)
{
	if (!device->present || device->error != 0)
		return "none";
	return device->family == HW_MPSS4 ? "mpss4" : "knc";
}

static void print_machine(const struct machine *machine)
{
	for (unsigned i = 0; i < machine->count; i++)
		print_card(&machine->cards[i]);
	printf("%u card%s\n", machine->count, machine->count == 1 ? "" : "s");
	if (machine->pci_error[0] != '\0')
		printf("PCI bus           not looked at: %s\n", machine->pci_error);
	printf("driver            %s%s%s\n", machine->driver_loaded ? "loaded" : "not loaded",
	       machine->driver_loaded ? ", version " : "",
	       machine->driver_loaded ? shown(&machine->driver_version) : "");
	printf("device node       %s: %s\n", machine->device.path,
	       !machine->device.present	    ? "absent"
	       : machine->device.error != 0 ? strerror(machine->device.error)
					    : family_name(&machine->device));
	if (machine->driver_loaded)
		printf("watchdog          enabled %s, after %s s, boots again %s\n",
		       shown(&machine->watchdog_enabled), shown(&machine->watchdog_timeout),
		       shown(&machine->watchdog_reboot));
	print_problems("", &machine->problems);
	printf("%s\n", machine->summary);
}

/* --- for a program --- */

/* Null where the text could not be read. */
static json_t *json_text(const struct card_text *text)
{
	return text->error != 0 || text->text[0] == '\0' ? json_null() : json_string(text->text);
}

static json_t *json_optional(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

static json_t *json_number(unsigned long long number, bool known)
{
	return known ? json_integer((json_int_t)number) : json_null();
}

static json_t *json_region(const struct card_region *region)
{
	return json_pack("{s:b, s:o, s:o}", "assigned", region->known && region->start != 0,
			 "address", json_number(region->start, region->known && region->start != 0),
			 "size", json_number(region->size, region->size != 0));
}

static json_t *json_link(const struct card_link *link)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "width",
			 json_number(link->width, link->width != 0), "width_max",
			 json_number(link->width_max, link->width_max != 0), "speed_100mt",
			 json_number(link->speed, link->speed != 0), "speed_max_100mt",
			 json_number(link->speed_max, link->speed_max != 0));
}

static json_t *json_problems(const struct problems *problems)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->list[i];

		json_array_append_new(array,
				      json_pack("{s:b, s:s, s:s}", "blocking", problem->blocking,
						"what", problem->what, "next", problem->next));
	}
	return array;
}

static json_t *json_pci(const struct card *card)
{
	char id[8];

	if (!card->on_bus)
		return json_null();
	snprintf(id, sizeof(id), "0x%04x", card->device_id);
	return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o}", "address", card->address,
			 "device", id, "revision",
			 json_number((unsigned)card->revision, card->revision >= 0), "products",
			 card_products(card->device_id), "bar0", json_region(&card->aperture),
			 "bar4", json_region(&card->registers), "link", json_link(&card->link),
			 "driver", json_text(&card->driver));
}

static json_t *json_card(const struct card *card)
{
	bool named = card->mic != MIC_NONE;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mic",
			 json_number((unsigned)card->mic, named), "node",
			 json_number((unsigned)card->mic + 1, named), "pci", json_pci(card),
			 "state", json_text(&card->state), "scif_status",
			 json_text(&card->scif_status), "family", json_text(&card->family),
			 "stepping", json_text(&card->stepping), "sku", json_text(&card->sku),
			 "flash", json_text(&card->flash), "interface", json_text(&card->interface),
			 "problems", json_problems(&card->problems));
}

static json_t *json_device(const struct hw_device *device)
{
	return json_pack("{s:s, s:b, s:o, s:s, s:o}", "path", device->path, "present",
			 device->present, "error",
			 json_optional(device->error != 0 ? strerror(device->error) : NULL),
			 "encoding", family_name(device), "version",
			 json_number((unsigned)device->version, device->version > 0));
}

static json_t *json_machine(const struct machine *machine)
{
	json_t *cards = json_array();

	for (unsigned i = 0; i < machine->count; i++)
		json_array_append_new(cards, json_card(&machine->cards[i]));
	return json_pack("{s:s, s:b, s:b, s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "format", "knc-info/1", "usable", machine->usable, "loopback",
			 machine->loopback, "summary", machine->summary, "pci_error",
			 json_optional(machine->pci_error[0] != '\0' ? machine->pci_error : NULL),
			 "driver_loaded", machine->driver_loaded, "driver_version",
			 json_text(&machine->driver_version), "watchdog_enabled",
			 json_text(&machine->watchdog_enabled), "watchdog_timeout",
			 json_text(&machine->watchdog_timeout), "watchdog_auto_reboot",
			 json_text(&machine->watchdog_reboot), "device",
			 json_device(&machine->device), "cards", cards, "problems",
			 json_problems(&machine->problems));
}

static int print_json(const struct machine *machine)
{
	json_t *document = json_machine(machine);
	int result = document == NULL
			     ? -1
			     : json_dumpf(document, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

	json_decref(document);
	putchar('\n');
	return result;
}

static int look(const char *dump, bool json)
{
	struct machine machine = {.count = 0};
	const char *root = secure_getenv("SCIF_SYSFS_ROOT");
	int result = 0;

	/* This machine's driver has nothing to say about the cards of another. */
	pci_find_cards(&machine, root != NULL ? root : "/sys", dump);
	sysfs_read(&machine, root != NULL ? root : dump != NULL ? "/nonexistent" : "/sys");
	hw_device_find(HW_ANY, &machine.device);
	machine_judge(&machine);
	if (json)
		result = print_json(&machine);
	else
		print_machine(&machine);
	free(machine.cards);
	if (result < 0 || fflush(stdout) == EOF) {
		fprintf(stderr, "knc-info: the output could not be written\n");
		return EXIT_UNUSABLE;
	}
	return machine.usable ? EXIT_USABLE : EXIT_UNUSABLE;
}

static int complain(void)
{
	fputs("knc-info: see knc-info --help\n", stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"json", no_argument, NULL, 'j'},
		{"pci-dump", required_argument, NULL, 'F'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	const char *dump = NULL;
	bool json = false;
	int option, status;

	while ((option = getopt_long(argc, argv, "jF:hV", long_options, NULL)) != -1) {
		switch (option) {
		case 'j':
			json = true;
			break;
		case 'F':
			dump = optarg;
			break;
		case 'h':
			fputs(USAGE_TEXT, stdout);
			return EXIT_USABLE;
		case 'V':
			printf("knc-info (%s) %s\n", PACKAGE_NAME, PACKAGE_VERSION);
			return EXIT_USABLE;
		default:
			return complain();
		}
	}
	if (optind != argc)
		return complain();
	if (dump != NULL && access(dump, R_OK) != 0) {
		fprintf(stderr, "knc-info: %s: %s\n", dump, strerror(errno));
		return EXIT_USAGE;
	}
	status = look(dump, json);
	if (fflush(stdout) == EOF) {
		fprintf(stderr, "knc-info: standard output: %s\n", strerror(errno));
		return EXIT_USAGE;
	}
	return status;
}
