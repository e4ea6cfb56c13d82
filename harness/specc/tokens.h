/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A C tokenizer just good enough for snippets and prototypes: it knows where identifiers are, and
 * that strings, characters and comments hold none.
 */
#ifndef SPECC_TOKENS_H
#define SPECC_TOKENS_H

#include "pool.h"

#include <stdbool.h>

enum token_kind {
	TOKEN_END,
	TOKEN_SPACE, /* white space and comments */
	TOKEN_IDENTIFIER,
	TOKEN_NUMBER,
	TOKEN_TEXT, /* string or character constant */
	TOKEN_PUNCTUATION
};

struct token {
	enum token_kind kind;
	const char *at;
	size_t length;
};

/* The token at *at; advances *at behind it. */
struct token token_next(const char **at);
bool token_is(const struct token *token, const char *text);

/* Prefixes every identifier of `text` that is in `names`, but no member name after . or -> */
char *tokens_prefix(const char *text, const struct names *names, const char *prefix);

unsigned tokens_count_calls(const char *text, const char *function);

/* True when `text` is `function(...)` and nothing else but white space. */
bool tokens_is_call(const char *text, const char *function);

/* True when round, square and curly brackets match and no string or comment is left open. */
bool tokens_balanced(const char *text);

/* True when the last token ends a statement or a block. */
bool tokens_end_statement(const char *text);

/* Splits `a, f(b, c), {1, 2}` at the outer commas; blanks around the parts are dropped. */
struct names tokens_split(const char *text);

#endif
