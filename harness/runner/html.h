/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages in HTML that are well-formed XML too.  libxml2's writer does all escaping; whatever text
 * comes in is made valid first.
 */
#ifndef CTS_RUNNER_HTML_H
#define CTS_RUNNER_HTML_H

#include <libxml/xmlwriter.h>
#include <stdbool.h>

struct html_page {
	xmlBuffer *buffer;
	xmlTextWriter *writer;
	/* Without the script, which is for clauses; false once the page is open. */
	bool is_plain;
};

/* Up to the start of <main>, with the style sheet inside.  FORMAT names the layout. */
void html_open(struct html_page *page, const char *format, const char *title);
/* Whether a page that somebody has was written by this suite in the layout FORMAT. */
bool html_is_alike(const char *page, const char *format);
/* A table that may be wider than the page, up to its rows; heads end with NULL. */
void html_start_table(struct html_page *page, const char *const *heads);
void html_end_table(struct html_page *page);
/* To the end, with the script unless it is plain.  Returns 0 or a negative errno. */
int html_close(struct html_page *page);
/* Writes a closed page into a file; returns 0 or a negative errno. */
int html_save(const struct html_page *page, const char *path);
void html_free(struct html_page *page);

/* An element with pairs of attribute and value up to NULL; one whose value is NULL is left out. */
void html_start(struct html_page *page, const char *name, ...) __attribute__((sentinel));
void html_end(struct html_page *page);
/* One that has no content and no end tag. */
void html_void(struct html_page *page, const char *name, ...) __attribute__((sentinel));

void html_text(struct html_page *page, const char *text);
void html_format(struct html_page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* An element that holds a text and, where CLASS is not NULL, has a class. */
void html_element(struct html_page *page, const char *name, const char *class, const char *text);
/* Text that leads to PREFIX and ID on the same page. */
void html_link(struct html_page *page, const char *prefix, const char *id, const char *text);
/* Between what the source of the page should have on lines of its own. */
void html_line(struct html_page *page);

/* <section id=ID> with a heading, to be ended by html_end(). */
void html_section(struct html_page *page, const char *id, const char *title);
/* A row of a list of names and values; nothing where there is no value. */
void html_pair(struct html_page *page, const char *name, const char *value);
void html_code_pair(struct html_page *page, const char *name, const char *value);

#endif
