/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads declarations at the outermost level of a header.  Preprocessor lines are skipped, so both
 * branches of an #if count; that is right for the headers of this project, which guard C++ only.
 */
#include "header.h"

#include "report.h"
#include "tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct words {
	struct token *at;
	unsigned count;
};

static bool is_any(const struct token *token, const char *const *words)
{
	for (; *words; words++)
		if (token_is(token, *words))
			return true;
	return false;
}

static bool is_dropped(const struct token *token)
{
	static const char *const dropped[] = {"extern",	       "static",   "inline",	 "__inline",
					      "__inline__",    "restrict", "__restrict", "register",
					      "__extension__", NULL};

	return is_any(token, dropped);
}

static bool is_type_word(const struct token *token)
{
	static const char *const words[] = {"void",	"char",	 "short",  "int",
					    "long",	"float", "double", "signed",
					    "unsigned", "_Bool", NULL};

	return is_any(token, words);
}

static bool is_qualifier(const struct token *token)
{
	static const char *const words[] = {"const", "volatile", NULL};

	return is_any(token, words);
}

static bool is_tag_word(const struct token *token)
{
	static const char *const words[] = {"struct", "union", "enum", NULL};

	return is_any(token, words);
}

/* Index behind the bracket that matches the one at `open`. */
static unsigned behind(const struct words *words, unsigned open)
{
	int depth = 0;
	unsigned i = open;

	for (; i < words->count; i++) {
		if (token_is(&words->at[i], "(") || token_is(&words->at[i], "[") ||
		    token_is(&words->at[i], "{"))
			depth++;
		if (token_is(&words->at[i], ")") || token_is(&words->at[i], "]") ||
		    token_is(&words->at[i], "}"))
			depth--;
		if (!depth)
			return i + 1;
	}
	return i;
}

static struct words tokenize(const char *text)
{
	struct words words = {.at = pool_alloc((strlen(text) + 1) * sizeof *words.at)};
	struct token token;

	while ((token = token_next(&text)).kind != TOKEN_END)
		if (token.kind != TOKEN_SPACE)
			words.at[words.count++] = token;
	return words;
}

/* Without dropped words and attributes. */
static struct words stripped(const struct words *words, unsigned from, unsigned to)
{
	struct words kept = {.at = pool_alloc((to - from + 1) * sizeof *kept.at)};

	for (unsigned i = from; i < to; i++) {
		if (token_is(&words->at[i], "__attribute__") && i + 1 < to) {
			i = behind(words, i + 1) - 1;
			continue;
		}
		if (!is_dropped(&words->at[i]))
			kept.at[kept.count++] = words->at[i];
	}
	return kept;
}

static const char *spelled(const struct words *words, unsigned from, unsigned to)
{
	struct names parts = {0};

	for (unsigned i = from; i < to; i++)
		names_add(&parts, pool_text(words->at[i].at, words->at[i].length));
	return names_join(&parts, " ");
}

/* Index of the parameter's name, or `to` when it has none. */
static unsigned parameter_name(const struct words *words, unsigned from, unsigned to)
{
	bool typed = false;

	for (unsigned i = from; i < to; i++) {
		if (words->at[i].kind != TOKEN_IDENTIFIER || is_qualifier(&words->at[i]))
			continue;
		if (is_tag_word(&words->at[i])) {
			i++;
			typed = true;
		} else if (is_type_word(&words->at[i])) {
			typed = true;
		} else if (typed) {
			return i;
		} else {
			typed = true;
		}
	}
	return to;
}

/* One parameter as a type: the name goes, an array becomes a pointer, `unsigned` gets its `int`. */
static const char *parameter_type(const struct words *words, unsigned from, unsigned to)
{
	unsigned name = parameter_name(words, from, to);
	struct names parts = {0};

	for (unsigned i = from; i < to; i++) {
		if (i == name)
			continue;
		if (token_is(&words->at[i], "[")) {
			names_add(&parts, "*");
			i = behind(words, i) - 1;
			continue;
		}
		names_add(&parts, pool_text(words->at[i].at, words->at[i].length));
		if (token_is(&words->at[i], "unsigned") &&
		    (i + 1 == to || i + 1 == name || !is_type_word(&words->at[i + 1])))
			names_add(&parts, "int");
	}
	return names_join(&parts, " ");
}

static void add_parameter(const struct words *words, unsigned from, unsigned to,
			  struct names *types, struct names *parameters)
{
	unsigned name = parameter_name(words, from, to);

	names_add(types, parameter_type(words, from, to));
	names_add(parameters,
		  name < to ? pool_text(words->at[name].at, words->at[name].length) : "");
}

/* The types as text; the names go to `parameters`. */
static const char *read_parameters(const struct words *words, unsigned from, unsigned to,
				   struct names *parameters)
{
	struct names types = {0};
	unsigned start = from;

	if (from == to || (from + 1 == to && token_is(&words->at[from], "void")))
		return "void";
	for (unsigned i = from; i < to; i++) {
		if (token_is(&words->at[i], "("))
			i = behind(words, i) - 1;
		if (i >= to || !token_is(&words->at[i], ","))
			continue;
		add_parameter(words, start, i, &types, parameters);
		start = i + 1;
	}
	add_parameter(words, start, to, &types, parameters);
	return names_join(&types, ", ");
}

static const char *one_line(const char *from, const char *to)
{
	char *text = pool_alloc((size_t)(to - from) + 1), *end = text;

	for (; from < to; from++) {
		bool blank = strchr(" \t\r\n", *from) != NULL;

		if (!blank)
			*end++ = *from;
		else if (end > text && end[-1] != ' ')
			*end++ = ' ';
	}
	return text;
}

/* A declaration `type name ( parameters )`, given without what follows the bracket. */
static bool declaration(const struct words *all, unsigned from, unsigned to,
			struct prototype *prototype)
{
	struct words words = stripped(all, from, to);
	unsigned open = 0, close;

	while (open < words.count && !token_is(&words.at[open], "("))
		open++;
	if (open < 2 || open == words.count || words.at[open - 1].kind != TOKEN_IDENTIFIER)
		return false;
	close = behind(&words, open);
	if (close != words.count)
		return false;
	prototype->name = pool_text(words.at[open - 1].at, words.at[open - 1].length);
	prototype->returns = spelled(&words, 0, open - 1);
	prototype->types =
		pool_printf("%s (%s)", prototype->returns,
			    read_parameters(&words, open + 1, close - 1, &prototype->parameters));
	prototype->text = one_line(words.at[0].at, words.at[words.count - 1].at + 1);
	return true;
}

bool prototype_parse(const char *text, struct prototype *prototype)
{
	struct words words = tokenize(text);

	prototype->file = "";
	if (words.count && token_is(&words.at[words.count - 1], ";"))
		words.count--;
	return tokens_balanced(text) && declaration(&words, 0, words.count, prototype);
}

/* Blanks out preprocessor lines, keeping the line ends. */
static void drop_directives(char *text)
{
	bool at_start = true;

	for (; *text; text++) {
		if (*text == '\n') {
			at_start = true;
		} else if (at_start && *text == '#') {
			for (; *text && *text != '\n'; text++) {
				if (*text == '\\' && text[1] == '\n')
					*text++ = ' ';
				else
					*text = ' ';
			}
			text--;
		} else if (!strchr(" \t", *text)) {
			at_start = false;
		}
	}
}

static int line_of(const char *text, const char *at)
{
	int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static void add(struct prototypes *prototypes, const struct prototype *prototype)
{
	struct prototype *at;

	if (prototypes_find(prototypes, prototype->name))
		return;
	at = pool_alloc((prototypes->count + 1) * sizeof *at);
	if (prototypes->count)
		memcpy(at, prototypes->at, prototypes->count * sizeof *at);
	at[prototypes->count++] = *prototype;
	prototypes->at = at;
}

static char *slurp(const char *file)
{
	FILE *stream = fopen(file, "rb");
	char *text = pool_text("", 0), part[4096];
	size_t length;

	if (!stream) {
		report(file, 1, "cannot be read (%s); the API's headers must be in --include",
		       strerror(errno));
		return NULL;
	}
	while ((length = fread(part, 1, sizeof part, stream)))
		text = pool_printf("%s%s", text, pool_text(part, length));
	fclose(stream);
	return text;
}

static void collect_words(struct names *words, const char *text)
{
	struct token token;

	while ((token = token_next(&text)).kind != TOKEN_END)
		if (token.kind == TOKEN_IDENTIFIER)
			names_add(words, pool_text(token.at, token.length));
}

bool header_read(struct prototypes *prototypes, const char *file, const char *prefix)
{
	char *text = slurp(file);
	struct words words;
	unsigned start = 0;

	if (!text)
		return false;
	collect_words(&prototypes->words, text);
	drop_directives(text);
	words = tokenize(text);
	for (unsigned i = 0; i < words.count; i++) {
		struct prototype prototype = {.file = file};
		bool body = token_is(&words.at[i], "{");

		if (token_is(&words.at[i], "("))
			i = behind(&words, i) - 1;
		else if (!body && !token_is(&words.at[i], ";") && !token_is(&words.at[i], "}"))
			continue;
		else {
			if (i > start && !token_is(&words.at[start], "typedef") &&
			    declaration(&words, start, i, &prototype) &&
			    !strncmp(prototype.name, prefix, strlen(prefix))) {
				prototype.line = line_of(text, words.at[start].at);
				add(prototypes, &prototype);
			}
			if (body && !(i > start && token_is(&words.at[start], "extern") &&
				      words.at[start + 1].kind == TOKEN_TEXT))
				i = behind(&words, i) - 1;
			start = i + 1;
		}
	}
	return true;
}

const struct prototype *prototypes_find(const struct prototypes *prototypes, const char *name)
{
	for (unsigned i = 0; i < prototypes->count; i++)
		if (!strcmp(prototypes->at[i].name, name))
			return &prototypes->at[i];
	return NULL;
}
