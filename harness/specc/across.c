/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only all files together show: ids used twice, functions without a file, rows, errata and
 * overrides that name what is not there, reports that no clause would show again.
 */
#include "report.h"
#include "spec.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

static struct clause *find_clause(const struct spec *spec, const char *id)
{
	for (unsigned i = 0; i < spec->function_count; i++)
		for (unsigned j = 0; j < spec->functions[i].all_count; j++)
			if (!strcmp(spec->functions[i].all[j]->id, id))
				return spec->functions[i].all[j];
	return NULL;
}

static void check_duplicates(const struct spec *spec)
{
	for (unsigned i = 0; i < spec->function_count; i++)
		for (unsigned j = 0; j < spec->functions[i].all_count; j++) {
			const struct clause *clause = spec->functions[i].all[j];
			const struct clause *first = find_clause(spec, clause->id);

			if (first != clause)
				report(clause->document->file, clause->line,
				       "duplicate id %s, first at %s:%d; ids are unique over all "
				       "files",
				       clause->id, first->document->file, first->line);
		}
}

static void check_complete(const struct spec *spec)
{
	for (unsigned i = 0; i < spec->prototypes.count; i++) {
		const struct prototype *prototype = &spec->prototypes.at[i];

		if (!spec_function(spec, prototype->name))
			report(prototype->file, prototype->line,
			       "%s has no clause file; spec/%s/%s.yaml", prototype->name,
			       spec->api.name, prototype->name);
	}
}

static bool takes_state(const struct spec *spec, const struct prototype *prototype)
{
	return spec->api.state_type &&
	       (strstr(prototype->types, pool_printf("(%s,", spec->api.state_type)) ||
		strstr(prototype->types, pool_printf("(%s)", spec->api.state_type)) ||
		strstr(prototype->types, pool_printf(", %s,", spec->api.state_type)) ||
		strstr(prototype->types, pool_printf(", %s)", spec->api.state_type)));
}

static void check_rows(const struct spec *spec)
{
	struct names rows = {0};

	if (!spec->states.document)
		return;
	for (unsigned i = 0; i < spec->states.call_count; i++)
		names_add(&rows, spec->states.calls[i].function);
	for (unsigned i = 0; i < spec->prototypes.count; i++) {
		const struct prototype *prototype = &spec->prototypes.at[i];

		if (takes_state(spec, prototype) && names_find(&rows, prototype->name) < 0)
			report(spec->states.document->file,
			       document_line(spec->states.document, "calls"),
			       "the state matrix has no row for %s; every function that takes a %s",
			       prototype->name, spec->api.state_type);
	}
}

/* False for names that belong to another API of the same specification. */
static bool concerns_api(const struct spec *spec, const char *id)
{
	size_t length = strcspn(id, "-");
	char *api = pool_text(id, length);

	for (char *at = api; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return !strcmp(api, spec->api.name) ||
	       access(pool_printf("%s/%s.yaml", spec->directory, api), R_OK);
}

static bool matches_any(const struct spec *spec, const char *pattern)
{
	size_t length = strlen(pattern);
	bool prefix = length && pattern[length - 1] == '*';

	if (!prefix)
		return find_clause(spec, pattern) != NULL;
	for (unsigned i = 0; i < spec->function_count; i++)
		for (unsigned j = 0; j < spec->functions[i].all_count; j++)
			if (!strncmp(spec->functions[i].all[j]->id, pattern, length - 1))
				return true;
	return false;
}

static void check_erratum(const struct spec *spec, unsigned index)
{
	const struct erratum *erratum = &spec->errata.entries[index];
	const struct document *document = spec->errata.document;
	const char *path = pool_printf("entries/%u", index);

	if (spec_erratum(spec, erratum->id) != erratum)
		report(document->file, document_line(document, path),
		       "erratum %s given twice; ids are unique", erratum->id);
	if (strcmp(erratum->kind, "ruling") && strcmp(erratum->kind, "ruled_out") &&
	    strcmp(erratum->kind, "limit"))
		report(document->file, document_line(document, pool_printf("%s/kind", path)),
		       "%s: unknown kind %s; ruling, ruled_out or limit", erratum->id,
		       erratum->kind);
	for (unsigned i = 0; i < erratum->clause_count; i++)
		if (concerns_api(spec, erratum->clauses[i]) &&
		    !matches_any(spec, erratum->clauses[i]))
			report(document->file,
			       document_line(document, pool_printf("%s/clauses/%u", path, i)),
			       "%s: no clause matches %s; an id, or the start of ids and *",
			       erratum->id, erratum->clauses[i]);
}

static bool has_clause_of(const struct spec *spec, const char *report)
{
	for (unsigned i = 0; i < spec->function_count; i++)
		for (unsigned j = 0; j < spec->functions[i].clause_count; j++) {
			const struct clause *clause = &spec->functions[i].clauses[j];

			for (unsigned r = 0; r < clause->report_count; r++)
				if (!strcmp(clause->reports[r], report))
					return true;
		}
	return false;
}

static void check_report(const struct spec *spec, unsigned index)
{
	const struct fault_report *entry = &spec->reports.entries[index];
	const struct document *document = spec->reports.document;
	int line = document_line(document, pool_printf("entries/%u", index));

	if (spec_fault_report(spec, entry->id) != entry)
		report(document->file, line, "report %s given twice; ids are unique", entry->id);
	for (unsigned i = 0; i < entry->api_count; i++) {
		if (access(pool_printf("%s/%s.yaml", spec->directory, entry->apis[i]), R_OK))
			report(document->file, line, "%s: no API %s; the name of a file of spec/",
			       entry->id, entry->apis[i]);
		if (!strcmp(entry->apis[i], spec->api.name) && !has_clause_of(spec, entry->id))
			report(document->file, line,
			       "no clause of %s has the report %s; one with reports: [%s]",
			       spec->api.name, entry->id, entry->id);
	}
}

static void check_override_then(const struct spec *spec, const struct override *override,
				const struct clause *clause)
{
	const struct document *document = override->document;
	int line = document_line(document, override->path);

	if (!clause->call) {
		if (override->then)
			report(document->file, line,
			       "%s has no call whose result could be replaced; drop then (a "
			       "scenario asks cts_profile itself)",
			       override->clause);
		return;
	}
	if (!override->then || (!override->then->returns && !override->then->errnos.count)) {
		report(document->file, line, "override of %s without then; returns or errno",
		       override->clause);
		return;
	}
	for (unsigned i = 0; i < override->then->errnos.count; i++)
		if (!spec_error_exists(spec, override->then->errnos.at[i]))
			report(document->file,
			       document_line(document,
					     pool_printf("%s/then/errno", override->path)),
			       "%s: no such error %s; %s", override->clause,
			       override->then->errnos.at[i], spec_error_place(spec));
	if (override->then->unchanged_count)
		report(document->file,
		       document_line(document, pool_printf("%s/then/unchanged", override->path)),
		       "%s: unchanged cannot be replaced; it holds for every profile",
		       override->clause);
	if (override->then->returns && !tokens_balanced(override->then->returns))
		report(document->file,
		       document_line(document, pool_printf("%s/then/returns", override->path)),
		       "%s: brackets do not match in %s; one whole C expression is needed",
		       override->clause, override->then->returns);
}

static void check_override(const struct spec *spec, const struct profile *profile,
			   const struct override *override)
{
	const struct document *document = profile->document;
	struct clause *clause = find_clause(spec, override->clause);
	int line = document_line(document, override->path);

	if (!concerns_api(spec, override->clause))
		return;
	if (!override->tag || (strcmp(override->tag, "observed") && strcmp(override->tag, "read")))
		report(document->file,
		       document_line(document, pool_printf("%s/tag", override->path)),
		       "override of %s %s%s; tag: observed or tag: read", override->clause,
		       override->tag ? "with unknown tag " : "without tag",
		       override->tag ? override->tag : "");
	if (!override->where)
		report(document->file, line,
		       "override of %s without where; the row or section that shows it",
		       override->clause);
	if (!clause) {
		report(document->file, line, "override of unknown clause %s; an id of spec/%s/",
		       override->clause, spec->api.name);
		return;
	}
	if (clause->override)
		report(document->file, line, "second override of %s; keep one", override->clause);
	clause->override = override;
	check_override_then(spec, override, clause);
}

void spec_check_across(const struct spec *spec)
{
	check_duplicates(spec);
	if (spec->incomplete)
		return;
	check_complete(spec);
	check_rows(spec);
	for (unsigned i = 0; i < spec->errata.entry_count; i++)
		check_erratum(spec, i);
	for (unsigned i = 0; i < spec->reports.entry_count; i++)
		check_report(spec, i);
	for (unsigned i = 0; i < spec->profile_count; i++)
		for (unsigned j = 0; j < spec->profiles[i].override_count; j++)
			check_override(spec, &spec->profiles[i], &spec->profiles[i].overrides[j]);
}
