/* SPDX-License-Identifier: BSD-2-Clause */
/* The shape of each kind of file, as libcyaml schemas, and loading against them. */
#ifndef SPECC_SCHEMA_H
#define SPECC_SCHEMA_H

#include "document.h"

#include <cyaml/cyaml.h>
#include <stdbool.h>

extern const cyaml_schema_value_t schema_api, schema_function, schema_states, schema_vocabulary,
	schema_errata, schema_reports, schema_profile;

/*
 * Compares the document with the schema and reports every difference with its line; libcyaml alone
 * would stop at the first and name none.  When there is none, libcyaml loads the file; the result
 * is freed by schema_free_all().
 */
void *schema_load(const struct document *document, const cyaml_schema_value_t *schema);
void schema_free_all(void);

#endif
