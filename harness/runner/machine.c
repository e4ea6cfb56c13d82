/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks knc-info, which knows the bus and the driver's pages, and adds what the machine itself is.
 */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "locate.h"

/* The document that a command prints; NULL where it is none of knc-info's. */
static json_t *read_document(const char *command)
{
	FILE *stream = popen(command, "re");
	json_t *document = stream ? json_loadf(stream, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
	const char *format = json_string_value(json_object_get(document, "format"));

	/* Its exit status only repeats what the document says. */
	if (stream)
		pclose(stream);
	if (format && strcmp(format, "knc-info/1") == 0)
		return document;
	json_decref(document);
	return NULL;
}

static json_t *ask_knc_info(void)
{
	char *program = locate_knc_info(), *command;
	size_t length;
	FILE *stream;
	json_t *document;

	if (!program)
		return NULL;
	stream = text_stream(&command, &length);
	print_shell_word(stream, program);
	fputs(" --json 2>/dev/null", stream);
	fclose(stream);
	document = read_document(command);
	free(command);
	free(program);
	return document;
}

/* The first line of a file, from where KEY and a colon end in it if there is a KEY; or null. */
static json_t *line_of(const char *path, const char *key)
{
	FILE *file = fopen(path, "re");
	size_t length = key ? strlen(key) : 0;
	char line[256];
	json_t *found = NULL;

	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *text = line, *colon = strchr(line, ':');
		char *printable;

		if (key && (strncmp(line, key, length) != 0 || !colon))
			continue;
		if (key)
			text = colon + 1 + strspn(colon + 1, " \t");
		printable = printable_text(text, strcspn(text, "\n"));
		found = json_string(printable);
		free(printable);
	}
	if (file)
		fclose(file);
	return found ? found : json_null();
}

static json_t *board_line(const char *name)
{
	const char *root = secure_getenv("SCIF_SYSFS_ROOT");
	char *path = format_text("%s/class/dmi/id/%s", root ? root : "/sys", name);
	json_t *line = line_of(path, NULL);

	free(path);
	return line;
}

static json_t *host_json(void)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "vendor", board_line("sys_vendor"), "product",
			 board_line("product_name"), "board", board_line("board_name"), "firmware",
			 board_line("bios_version"), "processor",
			 line_of("/proc/cpuinfo", "model name"));
}

static bool is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

json_t *machine_read(void)
{
	const char *provider = getenv("SCIF_PROVIDER");
	json_t *machine;

	if (provider && strcmp(provider, "embedded") == 0)
		return NULL;
	machine = ask_knc_info();
	if (!machine)
		return NULL;
	if (!is_true(machine, "driver_loaded") &&
	    !is_true(json_object_get(machine, "device"), "present") &&
	    json_array_size(json_object_get(machine, "cards")) == 0) {
		json_decref(machine);
		return NULL;
	}
	json_object_set_new(machine, "host", host_json());
	return machine;
}

/* --- for a person --- */

static const char *text_in(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "not known";
}

static void print_row(FILE *stream, const char *name, const char *text)
{
	fprintf(stream, "    %-12s %s\n", name, text);
}

static void print_number(FILE *stream, const json_t *object, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(object, key));

	if (number)
		fprintf(stream, "%lld", (long long)number);
	else
		putc('?', stream);
}

static void print_speed(FILE *stream, const json_t *link, const char *key)
{
	json_int_t speed = json_integer_value(json_object_get(link, key));

	if (speed)
		fprintf(stream, "%lld.%lld GT/s", (long long)speed / 10, (long long)speed % 10);
	else
		fputs("? GT/s", stream);
}

static void print_link(FILE *stream, const json_t *link)
{
	fprintf(stream, "    %-12s x", "link");
	print_number(stream, link, "width");
	fputs(" at ", stream);
	print_speed(stream, link, "speed_100mt");
	fputs("; the card can x", stream);
	print_number(stream, link, "width_max");
	fputs(" at ", stream);
	print_speed(stream, link, "speed_max_100mt");
	putc('\n', stream);
}

static void print_card(FILE *stream, const json_t *card)
{
	const json_t *pci = json_object_get(card, "pci"), *mic = json_object_get(card, "mic");

	if (json_is_integer(mic))
		fprintf(stream, "  mic%lld, node %lld\n", (long long)json_integer_value(mic),
			(long long)json_integer_value(mic) + 1);
	else
		fputs("  a card without a name\n", stream);
	if (json_is_object(pci)) {
		fprintf(stream, "    %-12s 8086:%.4s at %s (%s)\n", "device",
			text_in(pci, "device") + 2, text_in(pci, "address"),
			text_in(pci, "products"));
		print_link(stream, json_object_get(pci, "link"));
		print_row(stream, "bound to", text_in(pci, "driver"));
	}
	fprintf(stream, "    %-12s %s, stepping %s, SKU %s\n", "family", text_in(card, "family"),
		text_in(card, "stepping"), text_in(card, "sku"));
	print_row(stream, "flash", text_in(card, "flash"));
	print_row(stream, "interface", text_in(card, "interface"));
	fprintf(stream, "    %-12s %s, scif_status %s\n", "state", text_in(card, "state"),
		text_in(card, "scif_status"));
}

void machine_print(FILE *stream, const json_t *machine)
{
	const json_t *host = json_object_get(machine, "host");
	const json_t *device = json_object_get(machine, "device");
	const json_t *card;
	size_t i;

	fputs("\nCards and driver\n", stream);
	if (!machine) {
		fputs("  none was used\n", stream);
		return;
	}
	fprintf(stream, "  %-14s %s %s, board %s, firmware %s\n", "host", text_in(host, "vendor"),
		text_in(host, "product"), text_in(host, "board"), text_in(host, "firmware"));
	fprintf(stream, "  %-14s %s\n", "processor", text_in(host, "processor"));
	fprintf(stream, "  %-14s %s, at %s, encoding %s\n", "driver",
		text_in(machine, "driver_version"), text_in(device, "path"),
		text_in(device, "encoding"));
	json_array_foreach(json_object_get(machine, "cards"), i, card) print_card(stream, card);
	fprintf(stream, "  %s\n", text_in(machine, "summary"));
}
