/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel's files say: the PCI device's own, and the driver's class "mic".
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"

enum { PATH_ROOM = 4096 };

__attribute__((format(printf, 2, 3))) static void path_of(char path[PATH_ROOM], const char *format,
							  ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(path, PATH_ROOM, format, args);
	va_end(args);
}

/* Whatever is in the file, the text can be shown on a terminal. */
static void make_printable(char *text)
{
	text[strcspn(text, "\r\n")] = '\0';
	for (; *text != '\0'; text++)
		if (!isascii((unsigned char)*text) || !isprint((unsigned char)*text))
			*text = '?';
}

static void read_text(struct card_text *text, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, text->text, sizeof(text->text) - 1);

	text->error = length < 0 ? errno : 0;
	text->text[length < 0 ? 0 : length] = '\0';
	if (fd >= 0)
		close(fd);
	make_printable(text->text);
}

static void read_driver(struct card_text *driver, const char *device)
{
	char path[PATH_ROOM], target[PATH_ROOM];
	ssize_t length;
	const char *name;

	path_of(path, "%s/driver", device);
	length = readlink(path, target, sizeof(target) - 1);
	driver->error = length < 0 ? errno : 0;
	target[length < 0 ? 0 : length] = '\0';
	name = strrchr(target, '/');
	snprintf(driver->text, sizeof(driver->text), "%.*s", CARD_TEXT - 1,
		 name == NULL ? target : name + 1);
	make_printable(driver->text);
}

/* The lines of the file "resource": start, end, flags. */
static void read_regions(struct card *card, const char *device)
{
	char path[PATH_ROOM], line[128];
	unsigned long long start, end;
	FILE *file;

	path_of(path, "%s/resource", device);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	for (int bar = 0; bar <= 4 && fgets(line, sizeof(line), file) != NULL; bar++) {
		struct card_region region = {.known = true};

		if ((bar != 0 && bar != 4) || sscanf(line, "%llx %llx", &start, &end) != 2)
			continue;
		region.start = start;
		region.size = end > start ? end - start + 1 : 0;
		*(bar == 0 ? &card->aperture : &card->registers) = region;
	}
	fclose(file);
}

static void read_number(unsigned *number, unsigned factor, const char *device, const char *name)
{
	char path[PATH_ROOM];
	struct card_text text;
	double value;

	path_of(path, "%s/%s", device, name);
	read_text(&text, path);
	value = strtod(text.text, NULL) * factor;
	if (*number == 0 && value > 0 && value < 1000)
		*number = (unsigned)value;
}

static void read_bus(struct card *card, const char *root)
{
	char device[PATH_ROOM - CARD_TEXT];

	snprintf(device, sizeof(device), "%s/bus/pci/devices/%s", root, card->address);
	if (access(device, F_OK) != 0) {
		card->driver.error = errno;
		return;
	}
	read_driver(&card->driver, device);
	/* No link: no driver has the device. */
	if (card->driver.error == ENOENT)
		card->driver.error = 0;
	read_regions(card, device);
	read_number(&card->link.width, 1, device, "current_link_width");
	read_number(&card->link.width_max, 1, device, "max_link_width");
	read_number(&card->link.speed, 10, device, "current_link_speed");
	read_number(&card->link.speed_max, 10, device, "max_link_speed");
}

static void read_mic(struct card *card, const char *root)
{
	const struct {
		const char *name;
		struct card_text *text;
	} files[] = {
		{"state", &card->state},
		{"scif_status", &card->scif_status},
		{"family", &card->family},
		{"stepping", &card->stepping},
		{"sku", &card->sku},
		{"flashversion", &card->flash},
		{"interface_version", &card->interface},
	};
	char path[PATH_ROOM];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		path_of(path, "%s/class/mic/mic%d/%s", root, card->mic, files[i].name);
		read_text(files[i].text, path);
	}
}

/* The card that micN says it is; where it does not say, the next one without a name. */
static struct card *card_of(struct machine *machine, const char *root, int mic)
{
	char path[PATH_ROOM], target[PATH_ROOM];
	ssize_t length;
	const char *address;

	path_of(path, "%s/class/mic/mic%d/device", root, mic);
	length = readlink(path, target, sizeof(target) - 1);
	target[length < 0 ? 0 : length] = '\0';
	address = strrchr(target, '/') == NULL ? target : strrchr(target, '/') + 1;
	for (unsigned i = 0; i < machine->count; i++) {
		struct card *card = &machine->cards[i];

		if (card->mic != MIC_NONE)
			continue;
		if (length < 0 || strcmp(card->address, address) == 0)
			return card;
	}
	return machine_add(machine);
}

static bool is_mic(const char *name, int *mic)
{
	char end;

	return sscanf(name, "mic%3d%c", mic, &end) == 1 && isdigit((unsigned char)name[3]);
}

static void name_cards(struct machine *machine, const char *root)
{
	bool there[CARDS_MAX] = {false};
	char path[PATH_ROOM];
	struct dirent *entry;
	DIR *class;
	int mic;

	path_of(path, "%s/class/mic", root);
	class = opendir(path);
	if (class == NULL)
		return;
	while ((entry = readdir(class)) != NULL)
		if (is_mic(entry->d_name, &mic) && mic < CARDS_MAX)
			there[mic] = true;
	closedir(class);
	for (mic = 0; mic < CARDS_MAX; mic++) {
		struct card *card = there[mic] ? card_of(machine, root, mic) : NULL;

		if (card == NULL)
			continue;
		card->mic = mic;
		read_mic(card, root);
	}
}

void sysfs_read(struct machine *machine, const char *root)
{
	char path[PATH_ROOM];

	for (unsigned i = 0; i < machine->count; i++)
		read_bus(&machine->cards[i], root);
	path_of(path, "%s/class/mic/ctrl", root);
	machine->driver_loaded = access(path, F_OK) == 0;
	path_of(path, "%s/class/mic/ctrl/version", root);
	read_text(&machine->driver_version, path);
	path_of(path, "%s/class/mic/scif/watchdog_enabled", root);
	read_text(&machine->watchdog_enabled, path);
	path_of(path, "%s/class/mic/scif/watchdog_to", root);
	read_text(&machine->watchdog_timeout, path);
	path_of(path, "%s/class/mic/scif/watchdog_auto_reboot", root);
	read_text(&machine->watchdog_reboot, path);
	name_cards(machine, root);
}
