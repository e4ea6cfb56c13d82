/* SPDX-License-Identifier: BSD-2-Clause */
/* RSMAPI in the model. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

struct rsm {
	struct model *model;
};

static void *create(struct model *model)
{
	struct rsm *rsm = zeroed_array(1, sizeof(*rsm));

	rsm->model = model;
	return rsm;
}

static void destroy(void *state)
{
	free(state);
}

static void start(void *state)
{
	(void)state;
}

static void sign(void *state, const struct step *step)
{
	(void)state;
	(void)step;
}

static void begin(void *state, struct flight *flight)
{
	(void)state;
	(void)flight;
}

static void disturb(void *state, const struct step *one, struct flight *other)
{
	(void)state;
	(void)one;
	(void)other;
}

static struct complaint *end(void *state, struct flight *flight)
{
	const struct rsm *rsm = state;
	const char *error = flight->step->error;

	if (!error || tables_documented(model_tables(rsm->model), flight->function, error))
		return NULL;
	return complain(rsm->model, flight, "", "the documented errors", "",
			"%s is not documented for the call", error);
}

const struct model_api model_of_rsm = {
	.name = "rsm",
	.create = create,
	.destroy = destroy,
	.start = start,
	.sign = sign,
	.begin = begin,
	.end = end,
	.disturb = disturb,
};
