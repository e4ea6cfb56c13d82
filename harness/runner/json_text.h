/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a JSON document that somebody else may have written. */
#ifndef CTS_RUNNER_JSON_TEXT_H
#define CTS_RUNNER_JSON_TEXT_H

#include <jansson.h>

/* The text under KEY; NULL where there is none. */
static inline const char *json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

#endif
