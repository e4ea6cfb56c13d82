/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads a file by libyaml and answers questions about its nodes by path. */
#include "document.h"

#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *file, size_t *size)
{
	FILE *stream = fopen(file, "rb");
	char *content;
	long length;

	if (!stream) {
		report(file, 1, "cannot be read (%s); a readable YAML file belongs here",
		       strerror(errno));
		return NULL;
	}
	if (fseek(stream, 0, SEEK_END) || (length = ftell(stream)) < 0 ||
	    fseek(stream, 0, SEEK_SET)) {
		report(file, 1, "cannot be read (%s); a plain file belongs here", strerror(errno));
		fclose(stream);
		return NULL;
	}
	content = pool_alloc((size_t)length + 1);
	*size = fread(content, 1, (size_t)length, stream);
	fclose(stream);
	return content;
}

struct document *document_load(const char *file)
{
	struct document *document = pool_alloc(sizeof *document);
	yaml_parser_t parser;

	document->file = file;
	document->content = read_file(file, &document->size);
	if (!document->content)
		return NULL;
	if (!yaml_parser_initialize(&parser)) {
		report(file, 1, "cannot be parsed; libyaml has no memory left");
		return NULL;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)document->content,
				     document->size);
	if (!yaml_parser_load(&parser, &document->yaml)) {
		report(file, (int)parser.problem_mark.line + 1,
		       "%s%s%s; well-formed YAML is needed", parser.context ? parser.context : "",
		       parser.context ? ": " : "",
		       parser.problem ? parser.problem : "cannot be parsed");
		yaml_parser_delete(&parser);
		return NULL;
	}
	yaml_parser_delete(&parser);
	if (!yaml_document_get_root_node(&document->yaml)) {
		report(file, 1, "the file is empty; a YAML mapping belongs here");
		yaml_document_delete(&document->yaml);
		return NULL;
	}
	return document;
}

void document_free(struct document *document)
{
	if (document)
		yaml_document_delete(&document->yaml);
}

const char *node_scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
						      : NULL;
}

const char *node_kind(const yaml_node_t *node)
{
	if (node->type == YAML_SEQUENCE_NODE)
		return "a list";
	if (node->type == YAML_MAPPING_NODE)
		return "a mapping";
	return node->data.scalar.length ? "text" : "empty";
}

yaml_node_t *document_child(const struct document *document, int id)
{
	return yaml_document_get_node((yaml_document_t *)&document->yaml, id);
}

static yaml_node_t *member(const struct document *document, yaml_node_t *node, const char *key,
			   size_t length)
{
	yaml_node_pair_t *pair;

	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		const char *name = node_scalar(document_child(document, pair->key));

		if (name && strlen(name) == length && !memcmp(name, key, length))
			return document_child(document, pair->value);
	}
	return NULL;
}

static yaml_node_t *item(const struct document *document, yaml_node_t *node, const char *key)
{
	unsigned long index = strtoul(key, NULL, 10);
	yaml_node_item_t *start = node->data.sequence.items.start;

	if (index >= (unsigned long)(node->data.sequence.items.top - start))
		return NULL;
	return document_child(document, start[index]);
}

/* The node at `path`; otherwise NULL, and *deepest is the last node on the way to it. */
static yaml_node_t *walk(const struct document *document, const char *path, yaml_node_t **deepest)
{
	yaml_node_t *node = yaml_document_get_root_node((yaml_document_t *)&document->yaml);

	while (node && *path) {
		size_t length = strcspn(path, "/");

		*deepest = node;
		if (node->type == YAML_MAPPING_NODE)
			node = member(document, node, path, length);
		else if (node->type == YAML_SEQUENCE_NODE)
			node = item(document, node, path);
		else
			node = NULL;
		path += length + (path[length] == '/');
	}
	if (node)
		*deepest = node;
	return node;
}

yaml_node_t *document_node(const struct document *document, const char *path)
{
	yaml_node_t *deepest = NULL;

	return walk(document, path, &deepest);
}

int document_line(const struct document *document, const char *path)
{
	yaml_node_t *deepest = NULL;

	walk(document, path, &deepest);
	return deepest ? (int)deepest->start_mark.line + 1 : 1;
}

int document_content_line(const struct document *document, const char *path)
{
	yaml_node_t *deepest = NULL;
	int line;

	walk(document, path, &deepest);
	if (!deepest)
		return 1;
	line = (int)deepest->start_mark.line + 1;
	if (deepest->type != YAML_SCALAR_NODE)
		return line;
	return line + (deepest->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
		       deepest->data.scalar.style == YAML_FOLDED_SCALAR_STYLE);
}

struct names document_names(const struct document *document, const char *path)
{
	yaml_node_t *node = document_node(document, path);
	struct names names = {0};
	yaml_node_item_t *at;

	if (!node)
		return names;
	if (node_scalar(node)) {
		names_add(&names, node_scalar(node));
		return names;
	}
	if (node->type != YAML_SEQUENCE_NODE) {
		report(document->file, (int)node->start_mark.line + 1,
		       "%s is %s; a name or a list of names belongs here", path, node_kind(node));
		return names;
	}
	for (at = node->data.sequence.items.start; at < node->data.sequence.items.top; at++) {
		yaml_node_t *entry = document_child(document, *at);

		if (node_scalar(entry))
			names_add(&names, node_scalar(entry));
		else
			report(document->file, (int)entry->start_mark.line + 1,
			       "an entry of %s is %s; a name belongs here", path, node_kind(entry));
	}
	return names;
}

struct pairs document_pairs(const struct document *document, const char *path)
{
	yaml_node_t *node = document_node(document, path);
	struct pairs pairs = {0};
	yaml_node_pair_t *at;

	if (!node)
		return pairs;
	if (node->type != YAML_MAPPING_NODE) {
		report(document->file, (int)node->start_mark.line + 1,
		       "%s is %s; a mapping {name: value} belongs here", path, node_kind(node));
		return pairs;
	}
	pairs.at = pool_alloc(
		(size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start + 1) *
		sizeof *pairs.at);
	for (at = node->data.mapping.pairs.start; at < node->data.mapping.pairs.top; at++) {
		yaml_node_t *key = document_child(document, at->key);
		const char *name = node_scalar(key);

		if (!name) {
			report(document->file, (int)key->start_mark.line + 1,
			       "a key of %s is %s; a name belongs here", path, node_kind(key));
			continue;
		}
		pairs.at[pairs.count++] = (struct pair){
			.key = name,
			.value = node_scalar(document_child(document, at->value)),
			.line = (int)key->start_mark.line + 1,
		};
	}
	return pairs;
}
