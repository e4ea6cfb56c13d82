/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which provider the SCIF entry points use.  Only a success is remembered, so a program that
 * corrects a bad SCIF_PROVIDER can go on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider.h"

static const struct scif_provider *const providers[] = {
	&scif_provider_embedded,
};

static const struct scif_provider *find(const char *name)
{
	if (name == NULL)
		return providers[0];
	for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++)
		if (strcmp(providers[i]->name, name) == 0)
			return providers[i];
	return NULL;
}

const struct scif_provider *scif_provider(void)
{
	static const struct scif_provider *chosen;
	/* The tables are constant data: a reader needs only the pointer itself, in one piece. */
	const struct scif_provider *provider = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

	if (provider != NULL)
		return provider;
	provider = find(getenv("SCIF_PROVIDER"));
	if (provider == NULL) {
		errno = ENXIO;
		return NULL;
	}
	__atomic_store_n(&chosen, provider, __ATOMIC_RELAXED);
	return provider;
}
