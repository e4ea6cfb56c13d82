/* SPDX-License-Identifier: BSD-2-Clause */
/* The elements of a page, its head with the style sheet, its end with the script. */
#include "html.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "report.h"
#include "report_css.h"
#include "report_js.h"

#define GENERATOR "scif-cts " SUITE_VERSION

static void write_attribute(struct html_page *page, const char *name, const char *value)
{
	char *text = printable_text(value, strlen(value));

	xmlTextWriterWriteAttribute(page->writer, BAD_CAST name, BAD_CAST text);
	free(text);
}

static void start(struct html_page *page, const char *name, va_list attributes)
{
	const char *attribute, *value;

	xmlTextWriterStartElement(page->writer, BAD_CAST name);
	while ((attribute = va_arg(attributes, const char *))) {
		value = va_arg(attributes, const char *);
		if (value)
			write_attribute(page, attribute, value);
	}
}

void html_start(struct html_page *page, const char *name, ...)
{
	va_list attributes;

	va_start(attributes, name);
	start(page, name, attributes);
	va_end(attributes);
}

void html_end(struct html_page *page)
{
	xmlTextWriterFullEndElement(page->writer);
}

void html_void(struct html_page *page, const char *name, ...)
{
	va_list attributes;

	va_start(attributes, name);
	start(page, name, attributes);
	va_end(attributes);
	xmlTextWriterEndElement(page->writer);
}

void html_text(struct html_page *page, const char *text)
{
	char *printable = printable_text(text, strlen(text));

	xmlTextWriterWriteString(page->writer, BAD_CAST printable);
	free(printable);
}

void html_format(struct html_page *page, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	html_text(page, text);
	free(text);
}

void html_element(struct html_page *page, const char *name, const char *class, const char *text)
{
	html_start(page, name, "class", class, NULL);
	html_text(page, text);
	html_end(page);
}

void html_link(struct html_page *page, const char *prefix, const char *id, const char *text)
{
	char *target = format_text("#%s%s", prefix, id);

	html_start(page, "a", "href", target, NULL);
	html_text(page, text);
	html_end(page);
	free(target);
}

void html_line(struct html_page *page)
{
	xmlTextWriterWriteRaw(page->writer, BAD_CAST "\n");
}

void html_section(struct html_page *page, const char *id, const char *title)
{
	html_line(page);
	html_start(page, "section", "id", id, NULL);
	html_element(page, "h2", NULL, title);
}

static void write_pair(struct html_page *page, const char *name, const char *value,
		       const char *element)
{
	if (!value)
		return;
	html_element(page, "dt", NULL, name);
	html_start(page, "dd", NULL);
	html_element(page, element, NULL, value);
	html_end(page);
}

void html_pair(struct html_page *page, const char *name, const char *value)
{
	write_pair(page, name, value, "span");
}

void html_code_pair(struct html_page *page, const char *name, const char *value)
{
	write_pair(page, name, value, "code");
}

/* Style and script hold neither '<' nor '&', so that they mean the same in HTML and in XML. */
static void write_raw_element(struct html_page *page, const char *name, const char *content)
{
	html_line(page);
	html_start(page, name, NULL);
	xmlTextWriterWriteRaw(page->writer, BAD_CAST content);
	html_end(page);
}

static void write_meta(struct html_page *page, const char *name, const char *content)
{
	html_line(page);
	html_void(page, "meta", "name", name, "content", content, NULL);
}

void html_open(struct html_page *page, const char *format, const char *title)
{
	page->is_plain = false;
	page->buffer = xmlBufferCreate();
	page->writer = page->buffer ? xmlNewTextWriterMemory(page->buffer, 0) : NULL;
	if (!page->writer)
		abort();
	xmlTextWriterWriteDTD(page->writer, BAD_CAST "html", NULL, NULL, NULL);
	html_line(page);
	html_start(page, "html", "lang", "en", "xmlns", "http://www.w3.org/1999/xhtml", NULL);
	html_start(page, "head", NULL);
	html_line(page);
	html_void(page, "meta", "charset", "utf-8", NULL);
	write_meta(page, "viewport", "width=device-width, initial-scale=1");
	write_meta(page, "color-scheme", "light dark");
	write_meta(page, "generator", GENERATOR);
	write_meta(page, "format", format);
	html_line(page);
	/* Without one a browser asks the server for favicon.ico. */
	html_void(page, "link", "rel", "icon", "href", "data:,", NULL);
	html_element(page, "title", NULL, title);
	write_raw_element(page, "style", report_css);
	html_end(page);
	html_line(page);
	html_start(page, "body", NULL);
	html_start(page, "main", NULL);
}

void html_start_table(struct html_page *page, const char *const *heads)
{
	html_start(page, "div", "class", "wide", NULL);
	html_start(page, "table", NULL);
	html_start(page, "thead", NULL);
	html_start(page, "tr", NULL);
	for (; *heads; heads++)
		html_element(page, "th", NULL, *heads);
	html_end(page);
	html_end(page);
	html_start(page, "tbody", NULL);
}

void html_end_table(struct html_page *page)
{
	html_end(page);
	html_end(page);
	html_end(page);
}

/* The lines of write_meta(); a page whose text holds them elsewhere is no page of ours. */
bool html_is_alike(const char *page, const char *format)
{
	char *lines = format_text("\n<meta name=\"generator\" content=\"%s\"/>"
				  "\n<meta name=\"format\" content=\"%s\"/>\n",
				  GENERATOR, format);
	bool is_alike = strstr(page, lines) != NULL;

	free(lines);
	return is_alike;
}

int html_close(struct html_page *page)
{
	html_end(page);
	if (!page->is_plain)
		write_raw_element(page, "script", report_js);
	return xmlTextWriterEndDocument(page->writer) < 0 || xmlTextWriterFlush(page->writer) < 0
		       ? -ENOMEM
		       : 0;
}

int html_save(const struct html_page *page, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return -errno;
	fwrite(xmlBufferContent(page->buffer), 1, xmlBufferLength(page->buffer), file);
	return report_close(file);
}

void html_free(struct html_page *page)
{
	xmlFreeTextWriter(page->writer);
	xmlBufferFree(page->buffer);
	*page = (struct html_page){0};
}
