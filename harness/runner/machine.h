/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cards, their driver and the machine they are in, as the report of a certification on them has
 * it.
 */
#ifndef CTS_RUNNER_MACHINE_H
#define CTS_RUNNER_MACHINE_H

#include <jansson.h>
#include <stdio.h>

/*
 * What knc-info says of this machine, with a member "host"; NULL where there is neither card nor
 * driver, or where SCIF_PROVIDER keeps the run away from them.  To be given to json_decref().
 */
json_t *machine_read(void);

void machine_print(FILE *stream, const json_t *machine);

#endif
