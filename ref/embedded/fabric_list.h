/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What scif-fabric shows: nodes, processes and endpoints, as a JSON document or as a table.
 */
#ifndef EMBEDDED_FABRIC_LIST_H
#define EMBEDDED_FABRIC_LIST_H

#include <jansson.h>
#include <stdio.h>

/* The document described in scif-fabric(1), format scif-fabric/1; NULL with a negative errno. */
json_t *fabric_list(const char *fabric, int *error);

void fabric_print(FILE *out, const json_t *list);

#endif
