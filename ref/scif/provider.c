/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which provider the SCIF entry points use: the one that SCIF_PROVIDER names, otherwise a card's
 * driver if its device node answers, otherwise the embedded one.  Only a success is remembered, so
 * a program that corrects a bad SCIF_PROVIDER can go on.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../hw/hw.h"
#include "provider.h"

/* What serves where there is no driver; a library for cards has nothing. */
#ifdef WITHOUT_EMBEDDED
static const struct scif_provider *const without_driver;
#else
static const struct scif_provider *const without_driver = &scif_provider_embedded;
#endif

/* A node without a driver behind it, or with another one, is as good as none. */
static bool answers(const struct hw_device *device)
{
	return device->present && device->error != ENXIO && device->error != ENODEV &&
	       device->error != ENOTTY;
}

/* The node could not be asked for reasons of this process; next time it may be. */
static bool undecided(const struct hw_device *device)
{
	return device->error == EMFILE || device->error == ENFILE || device->error == ENOMEM;
}

static int choose_without_driver(const struct scif_provider **provider)
{
	*provider = without_driver;
	return without_driver != NULL ? 0 : -ENXIO;
}

static int choose(const struct scif_provider **provider)
{
	const char *name = secure_getenv("SCIF_PROVIDER");
	enum hw_family family = HW_ANY;
	struct hw_device device;

	if (name != NULL && strcmp(name, "embedded") == 0)
		return choose_without_driver(provider);
	if (name != NULL && !hw_family_named(name, &family))
		return -ENXIO;
	hw_device_find(family, &device);
	if (name != NULL && !device.present)
		return -ENXIO;
	if (name == NULL && !answers(&device))
		return choose_without_driver(provider);
	if (name == NULL && undecided(&device))
		return -device.error;
	*provider = &scif_provider_hw;
	return hw_use(&device);
}

const struct scif_provider *scif_provider(void)
{
	static const struct scif_provider *chosen;
	/* Pairs with the release below: what hw_use() has fixed is seen with the pointer. */
	const struct scif_provider *provider = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
	int before = errno, error;

	if (provider != NULL)
		return provider;
	error = choose(&provider);
	if (error < 0) {
		errno = -error;
		return NULL;
	}
	errno = before;
	__atomic_store_n(&chosen, provider, __ATOMIC_RELEASE);
	return provider;
}
