/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The specification in memory: what libcyaml loaded, plus what only the positioned document knows.
 * A member marked "resolved" is filled in after loading.
 */
#ifndef SPECC_SPEC_H
#define SPECC_SPEC_H

#include "document.h"
#include "header.h"
#include "pool.h"
#include "tokens.h"

#include <stdbool.h>

struct source {
	char *document;
	char *section;
};

struct outcome {
	char *name;
	char *text;
};

struct then {
	char *returns;
	char **check;
	unsigned check_count;
	char **unchanged;
	unsigned unchanged_count;
	char *choice;
	struct names errnos; /* resolved */
};

struct binding {
	const char *name;
	const char *fixture;
	const char *type;     /* C type of the variable; NULL when the fixture is unknown */
	const char *function; /* NULL for the built-in value() */
	struct names arguments;
	int line;
};

struct clause {
	char *id;
	char *text;
	char *source;
	char *outcome;
	char **errata;
	unsigned errata_count;
	char **reports; /* of faults that the clause would show */
	unsigned report_count;
	char **needs;
	unsigned needs_count;
	bool is_long;
	char **setup;
	unsigned setup_count;
	char *as;
	char *call;
	char **during;
	unsigned during_count;
	struct then *then;
	char *control;
	char *control_none;
	char *control_as;
	char **control_setup;
	unsigned control_setup_count;
	char *control_returns;
	bool *repeat;
	char *scenario;
	char *untestable;
	char *ruled_out;
	bool undocumented;

	/* resolved */
	const struct document *document;
	const char *path; /* of the mapping that the clause's keys are in */
	int line;
	const char *state; /* of a cell of the matrix, otherwise NULL */
	struct binding *bindings;
	unsigned binding_count;
	const char *provoke_kind;
	struct pairs provoke;
	struct pairs params;
	struct names all_needs; /* own, of the fixtures, of the provoker, of `as` */
	bool is_error;
	const struct override *override; /* of the profile that differs, or NULL */
};

struct function {
	char *name;
	char *prototype_text;
	char *header;
	struct source source;
	char *summary;
	char *failure;
	bool errno_set;
	char *linkage;
	char *supplement; /* where it is documented when the text does not have it, or NULL */
	struct outcome *successes;
	unsigned success_count;
	struct outcome *errors;
	unsigned error_count;
	struct clause *clauses;
	unsigned clause_count;

	/* resolved */
	const struct document *document;
	struct prototype prototype;
	struct pairs parameters; /* name and text */
	struct clause **all;	 /* own clauses, then the cells of the matrix */
	unsigned all_count;
};

struct state_call {
	char *function;
	char *call;
	char *variant;
	char *source;
	char **setup;
	unsigned setup_count;
	char **needs;
	unsigned needs_count;
	bool *repeat;
	bool is_long;
};

struct states {
	char **states;
	unsigned state_count;
	struct state_call *calls;
	unsigned call_count;
	const struct document *document; /* resolved */
};

struct fixture {
	char *name;
	char *type;
	char *function;
	unsigned args;
	unsigned args_max;
	char *text;
	char **needs;
	unsigned needs_count;
};

struct provoker {
	char *name;
	char **keys;
	unsigned key_count;
	char *text;
	char **needs;
	unsigned needs_count;
};

struct need {
	char *name;
	char *text;
};

struct vocabulary {
	struct fixture *fixtures;
	unsigned fixture_count;
	struct provoker *provokers;
	unsigned provoker_count;
	struct need *needs;
	unsigned need_count;
	const struct document *document; /* resolved */
};

/* What every API may use, then what the API at hand has of its own. */
#define VOCABULARIES 2

struct erratum {
	char *id;
	unsigned *facts;
	unsigned fact_count;
	char *kind;
	char *clash;
	char *ruling;
	char *why;
	char **clauses;
	unsigned clause_count;
};

struct errata {
	struct erratum *entries;
	unsigned entry_count;
	const struct document *document; /* resolved */
};

/* A fault that was reported of some implementation, or found in a program that uses one. */
struct fault_report {
	char *id;
	char **apis; /* each of which has clauses that would show it */
	unsigned api_count;
	char *text;
};

struct fault_reports {
	struct fault_report *entries;
	unsigned entry_count;
	const struct document *document; /* resolved */
};

struct override {
	char *clause;
	struct then *then;
	char *tag;
	char *where;
	bool accepts_text;
	bool is_slow;			 /* the case takes as long as a long one */
	const struct document *document; /* resolved */
	const char *path;		 /* resolved: of the override */
	const char *profile;		 /* resolved: its name */
};

struct profile {
	char *name;
	char *text;
	struct override *overrides;
	unsigned override_count;
	const struct document *document; /* resolved */
};

struct library {
	char *name;
	char *link; /* what the linker is told */
	char *pkg_config;
};

struct api {
	char *name;
	char **headers;
	unsigned header_count;
	char *error_style; /* "errno": code in errno; "value": the code is what is returned */
	char *error_prefix; /* of the headers' constants that are error codes; style value */
	char *prefix;
	char *id_skips; /* what the names in ids leave out after the prefix, or NULL */
	char *failure;
	char *state_type; /* functions with a parameter of this type need a row in the matrix */
	char *state_variable; /* what the matrix binds to the fixture of the state */
	char *runtime;	      /* the header of the test runtime */
	struct library *library;	 /* for the manual pages, or NULL */
	const struct document *document; /* resolved */
};

struct spec {
	struct api api;
	struct vocabulary vocabularies[VOCABULARIES];
	unsigned vocabulary_count;
	struct errata errata;
	struct fault_reports reports;
	struct states states;
	struct profile *profiles;
	unsigned profile_count;
	struct function *functions;
	unsigned function_count;
	struct prototypes prototypes;
	const struct document **documents; /* of all files, in the order of their names */
	unsigned document_count;
	const char *directory;
	bool incomplete; /* a clause file could not be loaded: what refers to it cannot be judged */
};

/* Reads every file; what cannot be loaded is reported and left out. */
void spec_load(struct spec *spec, const char *api, const char *directory, const char *include);

void spec_unload(struct spec *spec);

/* The bindings of a `given` mapping, with room for `before` more in front of them. */
struct binding *spec_given(const struct document *document, const char *path, unsigned before,
			   unsigned *count);

/* Adds the cells of the state matrix to their functions. */
void states_expand(struct spec *spec);

/* Reports everything that is wrong beyond the shape of the files. */
void spec_check(struct spec *spec);
void spec_check_across(const struct spec *spec);

/* The SHA-256 of all files, as text. */
const char *spec_hash(const struct spec *spec);

/* `spec/scif/scif_bind.yaml`: how a file is named in what is generated, wherever it was built. */
const char *spec_file_name(const struct spec *spec, const char *file);

struct function *spec_function(const struct spec *spec, const char *name);
const struct erratum *spec_erratum(const struct spec *spec, const char *id);
const struct fault_report *spec_fault_report(const struct spec *spec, const char *id);
const struct fixture *spec_fixture(const struct spec *spec, const char *name);
const struct provoker *spec_provoker(const struct spec *spec, const char *name);
bool spec_need(const struct spec *spec, const char *name);
bool function_has_success(const struct function *function, const char *name);
bool function_has_error(const struct function *function, const char *name);

/* True for a name of errno(3), or of the headers when the API returns its errors. */
bool spec_error_exists(const struct spec *spec, const char *name);
bool spec_returns_errors(const struct spec *spec);
const char *
spec_error_place(const struct spec *spec); /* where such names come from, for messages */

const char *function_failure(const struct spec *spec, const struct function *function);

/* The opposite of a failure value; `!= X`, `== X` and plain X are the forms there are. */
const char *condition_of_success(const char *failure);

/* "SCIF-FENCE-MARK-": what the ids of a function's clauses start with. */
const char *function_id_prefix(const struct spec *spec, const char *name);

/* Path of a key of a clause, for document_line and its like. */
const char *clause_path(const struct clause *clause, const char *key);
int clause_line(const struct clause *clause, const char *key);

/* "spec document, section; refinement" */
const char *clause_source(const struct function *function, const struct clause *clause);

/* Which of the suite's provokers makes the case: for the plan. */
const char *clause_provoker(const struct clause *clause);

#endif
