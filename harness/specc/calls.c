/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes calls.c: around every function of the API that a library exports a wrapper that notes the
 * call in the raw log (docs/certificate.md). The programs of the cases are linked with the linker's
 * --wrap for each of these functions, so that no test has to say it.
 *
 * Writes preload.c too, which does by names what the linker does there: for a library that stands
 * before the implementation in a program that was linked without us (harness/trace).
 */
#include "emit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The parameters' types, as prototype.types has them. */
static struct names parameter_types(const struct prototype *prototype)
{
	const char *at = strchr(prototype->types, '(') + 1, *end = strrchr(prototype->types, ')');
	struct names types = {0};
	int depth = 0;

	if (!strncmp(at, "void", 4) && at + 4 == end)
		return types;
	for (const char *start = at; at <= end; at++) {
		depth += (*at == '(') - (*at == ')' && at < end);
		if (at < end && (depth || *at != ','))
			continue;
		names_add(&types, pool_text(start, (size_t)(at - start)));
		start = at + 1 + (at < end && at[1] == ' ');
	}
	return types;
}

static const char *parameters(const struct names *types)
{
	struct names parts = {0};

	for (unsigned i = 0; i < types->count; i++)
		names_add(&parts, pool_printf("%s a%u", types->at[i], i));
	return types->count ? names_join(&parts, ", ") : "void";
}

static const char *arguments(const struct names *types)
{
	struct names parts = {0};

	for (unsigned i = 0; i < types->count; i++)
		names_add(&parts, pool_printf("a%u", i));
	return names_join(&parts, ", ");
}

/* Pointers behind which the log looks; NULL: whatever the parameter's name is. */
static const struct {
	const char *type, *parameter, *name;
} classes[] = {
	{"struct scif_portID *", NULL, "OBSERVED_PORT"},
	{"struct scif_pollepd *", NULL, "OBSERVED_POLL"},
	{"int *", NULL, "OBSERVED_INT"},
	{"uint32_t *", "length", "OBSERVED_INT"},
	{"rsm_memseg_id_t *", NULL, "OBSERVED_ID"},
	{"rsm_barrier_mode_t *", NULL, "OBSERVED_INT"},
	{"uint16_t *", "self", "OBSERVED_SHORT"},
	{"uint16_t *", "nodes", "OBSERVED_SHORTS"},
	{"rsm_scat_gath_t *", NULL, "OBSERVED_TRANSFERS"},
	{"rsmapi_access_entry_t *", NULL, "OBSERVED_ACCESS"},
	{"struct pollfd *", "pollfd", "OBSERVED_POLLFD_MADE"},
	{"struct pollfd *", NULL, "OBSERVED_POLLFDS"},
	{"rsm_topology_t * *", NULL, "OBSERVED_TOPOLOGY"},
	{"char *", NULL, "OBSERVED_NAME"},
	{"const char *", NULL, "OBSERVED_NAME"},
	{"void *", NULL, "OBSERVED_ADDRESS"},
	{"rsmapi_barrier_t *", NULL, "OBSERVED_ADDRESS"},
	{"rsmapi_controller_handle_t", NULL, "OBSERVED_ADDRESS"},
	{"rsm_memseg_export_handle_t", NULL, "OBSERVED_ADDRESS"},
	{"rsm_memseg_import_handle_t", NULL, "OBSERVED_ADDRESS"},
	{"rsm_localmemory_handle_t", NULL, "OBSERVED_ADDRESS"},
	{"void * *", NULL, "OBSERVED_ADDRESS_MADE"},
	{"rsmapi_controller_handle_t *", NULL, "OBSERVED_ADDRESS_MADE"},
	{"rsm_memseg_export_handle_t *", NULL, "OBSERVED_ADDRESS_MADE"},
	{"rsm_memseg_import_handle_t *", NULL, "OBSERVED_ADDRESS_MADE"},
	{"rsm_localmemory_handle_t *", NULL, "OBSERVED_ADDRESS_MADE"},
};

static const char *parameter_name(const struct function *function, unsigned index)
{
	const struct names *names = &function->prototype.parameters;

	return index < names->count ? names->at[index] : "";
}

static const char *class_of(const struct spec *spec, const char *type, const char *name,
			    unsigned index)
{
	const char *state = spec->api.state_type;

	if (state && !strcmp(type, state))
		return "OBSERVED_ENDPOINT";
	if (state && !strcmp(type, pool_printf("%s *", state)))
		return "OBSERVED_ENDPOINT_MADE";
	for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++) {
		if (!strcmp(type, classes[i].type) &&
		    (!classes[i].parameter || !strcmp(name, classes[i].parameter)))
			return classes[i].name;
	}
	return pool_printf("OBSERVED_CLASS(a%u)", index);
}

static void write_enter(FILE *out, const struct spec *spec, const struct function *function,
			const struct names *types)
{
	const char *returns = function->prototype.returns;

	if (types->count)
		fputs("\tconst struct observed_argument arguments[] = {\n", out);
	for (unsigned i = 0; i < types->count; i++) {
		const char *name = parameter_name(function, i);

		fprintf(out, "\t\t{%s, \"%s\", (intptr_t)a%u},\n",
			class_of(spec, types->at[i], name, i), name, i);
	}
	fputs(types->count ? "\t};\n" : "\tconst struct observed_argument *arguments = NULL;\n",
	      out);
	fprintf(out, "\tstruct observed_call *call = observe_call(\"%s\", %s, %u, arguments);\n",
		function->name, strchr(returns, '*') ? "OBSERVED_POINTER" : "OBSERVED_NUMBER",
		types->count);
}

static void write_wrapper(FILE *out, const struct spec *spec, const struct function *function)
{
	const char *returns = function->prototype.returns, *name = function->name;
	struct names types = parameter_types(&function->prototype);

	fprintf(out, "\n%s __real_%s(%s);\n%s __wrap_%s(%s);\n", returns, name, parameters(&types),
		returns, name, parameters(&types));
	fprintf(out, "%s __wrap_%s(%s)\n{\n", returns, name, parameters(&types));
	write_enter(out, spec, function, &types);
	if (!strcmp(returns, "void"))
		fprintf(out, "\n\t__real_%s(%s);\n\tobserve_return_nothing(call, arguments);\n}\n",
			name, arguments(&types));
	else
		fprintf(out,
			"\t%s ret = __real_%s(%s);\n\n\tobserve_return(call, arguments, "
			"(intptr_t)ret);\n"
			"\treturn ret;\n}\n",
			returns, name, arguments(&types));
}

static bool is_exported(const struct function *function)
{
	return !function->linkage || strcmp(function->linkage, "inline");
}

/* NAME calls __wrap_NAME, which calls __real_NAME, which finds the implementation's. */
static void write_preloaded(FILE *out, const struct spec *spec, const struct function *function)
{
	const char *returns = function->prototype.returns, *name = function->name;
	struct names types = parameter_types(&function->prototype);
	const char *declared = parameters(&types), *passed = types.count ? arguments(&types) : "";
	const char *give = strcmp(returns, "void") ? "return " : "";

	(void)spec;
	fprintf(out, "\n%s __real_%s(%s);\n%s __wrap_%s(%s);\n", returns, name, declared, returns,
		name, declared);
	fprintf(out,
		"%s __real_%s(%s)\n{\n\tstatic __typeof__(&%s) found;\n\n"
		"\tif (!found)\n\t\t*(void **)&found = preload_find(\"%s\");\n",
		returns, name, declared, name, name);
	fprintf(out, "\tif (found)\n\t\t%sfound(%s);\n", give, passed);
	if (*give)
		fprintf(out, "\telse\n\t\treturn (%s)preload_absent(\"%s\");\n", returns, name);
	fprintf(out,
		"}\n%s %s(%s)\n{\n\tif (preload_records(__builtin_return_address(0)))\n"
		"\t\t%s__wrap_%s(%s);\n\telse\n\t\t%s__real_%s(%s);\n}\n",
		returns, name, declared, give, name, passed, give, name, passed);
}

static bool write_file(const struct spec *spec, const char *file, const char *own_header,
		       void (*write)(FILE *, const struct spec *, const struct function *))
{
	FILE *out = fopen(file, "w");
	bool good = out;

	if (out) {
		fputs("/* Generated by specc: what the raw log notes of every call; do not edit. "
		      "*/\n",
		      out);
		for (unsigned i = 0; i < spec->api.header_count; i++)
			fprintf(out, "#include \"%s\"\n", spec->api.headers[i]);
		fprintf(out, "#include \"%s\"\n", own_header);
		for (unsigned i = 0; i < spec->function_count; i++) {
			if (is_exported(&spec->functions[i]))
				write(out, spec, &spec->functions[i]);
		}
		good = !ferror(out);
		good = !fclose(out) && good;
	}
	if (!good)
		fprintf(stderr, "specc: %s cannot be written: %s\n", file, strerror(errno));
	return good;
}

bool emit_calls(const struct spec *spec, const char *file)
{
	return write_file(spec, file, "observe.h", write_wrapper);
}

bool emit_preload(const struct spec *spec, const char *file)
{
	return write_file(spec, file, "preload.h", write_preloaded);
}
