/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A YAML file with the line of every node.  libcyaml loads what has a fixed shape but keeps no
 * positions and knows no mapping with free keys; both come from here, addressed by a path such as
 * "clauses/3/then/errno" (mapping keys and sequence indices).
 */
#ifndef SPECC_DOCUMENT_H
#define SPECC_DOCUMENT_H

#include "pool.h"

#include <yaml.h>

struct document {
	const char *file; /* as it is to be named in messages */
	const char *content;
	size_t size;
	yaml_document_t yaml;
};

struct pair {
	const char *key;
	const char *value; /* NULL when it is no scalar */
	int line;
};

struct pairs {
	struct pair *at;
	unsigned count;
};

/* NULL after a report when the file cannot be read or is no YAML. */
struct document *document_load(const char *file);
void document_free(struct document *document);

yaml_node_t *document_node(const struct document *document, const char *path);
yaml_node_t *document_child(const struct document *document, int id);
const char *node_scalar(const yaml_node_t *node); /* NULL when it is no scalar */
const char *node_kind(const yaml_node_t *node);	  /* for messages: "text", "a list", ... */

/* Line of the node, or of its deepest parent that exists: where what is missing belongs. */
int document_line(const struct document *document, const char *path);

/* Line of the first line of content: differs from document_line for block scalars. */
int document_content_line(const struct document *document, const char *path);

/* A scalar, or a list of scalars, as a list; reports anything else. */
struct names document_names(const struct document *document, const char *path);

/* A mapping with free keys; reports anything else. */
struct pairs document_pairs(const struct document *document, const char *path);

#endif
