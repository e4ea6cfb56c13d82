/* SPDX-License-Identifier: BSD-2-Clause */
/* A step in words. */
#include "step.h"

#include <inttypes.h>

static void print_contents(FILE *out, const struct value *value)
{
	size_t i;

	if (!value->at_count)
		return;
	fputc('{', out);
	for (i = 0; i < value->at_count; i++)
		fprintf(out, "%s%" PRIdPTR, i ? ", " : "", value->at[i]);
	fputc('}', out);
}

static void print_value(FILE *out, const struct value *value)
{
	if (value->is == VALUE_NULL)
		fputs("NULL", out);
	else if (value->is == VALUE_NUMBER && (value->number < -65536 || value->number > 1048576))
		fprintf(out, "0x%" PRIxPTR, value->number);
	else if (value->is == VALUE_NUMBER)
		fprintf(out, "%" PRIdPTR, value->number);
	else if (!value->at_count)
		fputs("pointer", out);
	print_contents(out, value);
}

void step_print(FILE *out, const struct step *step)
{
	size_t i;

	fprintf(out, "%s(", step->function ? step->function : "?");
	for (i = 0; i < step->count; i++) {
		fputs(i ? ", " : "", out);
		print_value(out, &step->arguments[i]);
	}
	fputc(')', out);
	if (!step->came_back)
		fputs(" has not come back", out);
	else if (step->error)
		fprintf(out, " = %s", step->error);
	else if (!step->returns_nothing)
		fprintf(out, " = %" PRIdPTR, step->ret);
	if (step->times > 1)
		fprintf(out, ", %u times", step->times);
}

const char *step_who(const struct step *step)
{
	static char text[64];
	bool is_peer = step->process > PEER_PROCESS;
	int process = is_peer ? step->process - PEER_PROCESS : step->process;

	if (step->thread > 1)
		snprintf(text, sizeof(text), "%s %d, thread %d", is_peer ? "peer" : "process",
			 process, step->thread);
	else
		snprintf(text, sizeof(text), "%s %d", is_peer ? "peer" : "process", process);
	return text;
}
