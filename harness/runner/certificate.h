/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces of a certificate that its writer and its verifier need. */
#ifndef CTS_RUNNER_CERTIFICATE_H
#define CTS_RUNNER_CERTIFICATE_H

#include <jansson.h>

#include "session.h"

/* Adds {name: SHA-256} of each file of the folder but the certificate. Returns 0 or a negative
 * errno. */
int certificate_artefacts(json_t *artefacts, const char *folder);

/* The functions of the API that the library exports. */
json_t *certificate_exports(const struct session *session);

#endif
