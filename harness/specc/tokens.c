/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks C text token by token. */
#include "tokens.h"

#include <ctype.h>
#include <string.h>

static bool starts_identifier(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool continues_identifier(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t comment_length(const char *at)
{
	const char *end;

	if (at[0] != '/')
		return 0;
	if (at[1] == '/')
		return strcspn(at, "\n");
	if (at[1] != '*')
		return 0;
	end = strstr(at + 2, "*/");
	return end ? (size_t)(end + 2 - at) : strlen(at);
}

static size_t space_length(const char *at)
{
	size_t length = 0, step;

	do {
		step = strspn(at + length, " \t\r\n\f\v");
		if (!step)
			step = comment_length(at + length);
		length += step;
	} while (step);
	return length;
}

/* Length with both quotes; up to the end of the text when the closing one is missing. */
static size_t text_length(const char *at)
{
	size_t length = 1;

	while (at[length] && at[length] != at[0])
		length += at[length] == '\\' && at[length + 1] ? 2 : 1;
	return length + (at[length] == at[0]);
}

static size_t number_length(const char *at)
{
	size_t length = 0;

	while (continues_identifier(at[length]) || at[length] == '.' ||
	       ((at[length] == '+' || at[length] == '-') && length &&
		strchr("eEpP", at[length - 1]) && strncmp(at, "0x", 2)))
		length++;
	return length;
}

static size_t punctuation_length(const char *at)
{
	static const char *const longest_first[] = {
		"...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
		"&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"};

	for (size_t i = 0; i < sizeof longest_first / sizeof *longest_first; i++)
		if (!strncmp(at, longest_first[i], strlen(longest_first[i])))
			return strlen(longest_first[i]);
	return 1;
}

struct token token_next(const char **at)
{
	struct token token = {.at = *at};

	if (!*token.at) {
		token.kind = TOKEN_END;
	} else if ((token.length = space_length(token.at))) {
		token.kind = TOKEN_SPACE;
	} else if (starts_identifier(*token.at)) {
		token.kind = TOKEN_IDENTIFIER;
		while (continues_identifier(token.at[token.length]))
			token.length++;
	} else if (isdigit((unsigned char)*token.at) ||
		   (*token.at == '.' && isdigit((unsigned char)token.at[1]))) {
		token.kind = TOKEN_NUMBER;
		token.length = number_length(token.at);
	} else if (*token.at == '"' || *token.at == '\'') {
		token.kind = TOKEN_TEXT;
		token.length = text_length(token.at);
	} else {
		token.kind = TOKEN_PUNCTUATION;
		token.length = punctuation_length(token.at);
	}
	*at += token.length;
	return token;
}

bool token_is(const struct token *token, const char *text)
{
	return token->length == strlen(text) && !memcmp(token->at, text, token->length);
}

/* After these an identifier is a member, a tag or a label, never a variable. */
static bool hides_variable(const struct token *before)
{
	return token_is(before, ".") || token_is(before, "->") || token_is(before, "struct") ||
	       token_is(before, "union") || token_is(before, "enum") || token_is(before, "goto");
}

char *tokens_prefix(const char *text, const struct names *names, const char *prefix)
{
	size_t grown = strlen(text) * (strlen(prefix) + 1) + 1;
	char *out = pool_alloc(grown), *end = out;
	struct token before = {.kind = TOKEN_END, .at = ""};
	struct token token;

	while ((token = token_next(&text)).kind != TOKEN_END) {
		const char *word = pool_text(token.at, token.length);

		if (token.kind == TOKEN_IDENTIFIER && !hides_variable(&before) &&
		    names_find(names, word) >= 0)
			end = stpcpy(end, prefix);
		end = stpcpy(end, word);
		if (token.kind != TOKEN_SPACE)
			before = token;
	}
	return out;
}

static struct token next_solid(const char **at)
{
	struct token token;

	do
		token = token_next(at);
	while (token.kind == TOKEN_SPACE);
	return token;
}

unsigned tokens_count_calls(const char *text, const char *function)
{
	struct token token;
	unsigned count = 0;

	while ((token = next_solid(&text)).kind != TOKEN_END) {
		const char *ahead = text;
		struct token next = next_solid(&ahead);

		count += token.kind == TOKEN_IDENTIFIER && token_is(&token, function) &&
			 token_is(&next, "(");
	}
	return count;
}

static int depth_change(const struct token *token)
{
	if (token->kind != TOKEN_PUNCTUATION || token->length != 1)
		return 0;
	if (strchr("([{", *token->at))
		return 1;
	return strchr(")]}", *token->at) ? -1 : 0;
}

bool tokens_is_call(const char *text, const char *function)
{
	struct token token = next_solid(&text);
	int depth = 0;

	if (!token_is(&token, function))
		return false;
	token = next_solid(&text);
	if (!token_is(&token, "("))
		return false;
	for (depth = 1; depth > 0; depth += depth_change(&token)) {
		token = next_solid(&text);
		if (token.kind == TOKEN_END)
			return false;
	}
	return next_solid(&text).kind == TOKEN_END;
}

static bool closed(const struct token *token)
{
	if (token->kind == TOKEN_TEXT)
		return token->length > 1 && token->at[token->length - 1] == token->at[0];
	return true;
}

bool tokens_balanced(const char *text)
{
	char open[64];
	struct token token;
	unsigned depth = 0;

	while ((token = next_solid(&text)).kind != TOKEN_END) {
		int change = depth_change(&token);

		if (!closed(&token))
			return false;
		if (change > 0 && depth < sizeof open)
			open[depth++] = *token.at == '(' ? ')' : *token.at == '[' ? ']' : '}';
		else if (change > 0 || (change < 0 && (!depth || open[--depth] != *token.at)))
			return false;
	}
	return depth == 0;
}

bool tokens_end_statement(const char *text)
{
	struct token last = {.at = ""}, token;

	while ((token = next_solid(&text)).kind != TOKEN_END)
		last = token;
	return token_is(&last, ";") || token_is(&last, "}");
}

static const char *trimmed(const char *from, const char *to)
{
	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	return pool_text(from, (size_t)(to - from));
}

struct names tokens_split(const char *text)
{
	struct names parts = {0};
	const char *start = text;
	struct token token;
	int depth = 0;

	if (next_solid(&(const char *){text}).kind == TOKEN_END)
		return parts;
	while ((token = token_next(&text)).kind != TOKEN_END) {
		depth += depth_change(&token);
		if (depth || !token_is(&token, ","))
			continue;
		names_add(&parts, trimmed(start, token.at));
		start = text;
	}
	names_add(&parts, trimmed(start, text));
	return parts;
}
