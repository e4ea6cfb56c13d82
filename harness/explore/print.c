/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells a sequence as a program: two processes on two nodes, whose steps take turns. It ends with
 * status 1 where the last call gives what it gave here.
 */
#include "explore.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

static const char heading[] = "#define _GNU_SOURCE\n"
			      "#include <errno.h>\n"
			      "#include <fcntl.h>\n"
			      "#include <poll.h>\n"
			      "#include <sched.h>\n"
			      "#include <stdatomic.h>\n"
			      "#include <stdint.h>\n"
			      "#include <stdio.h>\n"
			      "#include <stdlib.h>\n"
			      "#include <string.h>\n"
			      "#include <sys/mman.h>\n"
			      "#include <sys/wait.h>\n"
			      "#include <unistd.h>\n";

static const char frame[] =
	"static struct shared {\n"
	"\tatomic_int turn;\n"
	"\tintptr_t value[STEPS][4];\n"
	"\tint error[STEPS];\n"
	"} *shared;\n"
	"\n"
	"/* What an earlier step was told. */\n"
	"#define TOLD(step, word) shared->value[step][word]\n"
	"\n"
	"/* Fresh pages, filled as the peers of the suite fill them. */\n"
	"__attribute__((unused)) static void *bytes(size_t length, unsigned seed)\n"
	"{\n"
	"\tunsigned char *at = mmap(NULL, length + 4096, PROT_READ | PROT_WRITE,\n"
	"\t\t\t\t MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
	"\n"
	"\tif (at == MAP_FAILED)\n"
	"\t\t_exit(3);\n"
	"\tfor (size_t i = 0; seed && i < length; i++)\n"
	"\t\tat[i] = (unsigned char)(seed * 37 + i % 251 + i / 251 * 7);\n"
	"\treturn at;\n"
	"}\n";

static const char ending[] = "static void run(int node)\n"
			     "{\n"
			     "\tchar number[2] = {(char)('0' + node), '\\0'};\n"
			     "\n"
			     "\tsetenv(\"SCIF_NODE\", number, 1);\n"
			     "\talarm(20);\n"
			     "\tfor (int i = 0; i < STEPS; i++) {\n"
			     "\t\tif (steps[i].node != node)\n"
			     "\t\t\tcontinue;\n"
			     "\t\twhile (atomic_load(&shared->turn) != i)\n"
			     "\t\t\tsched_yield();\n"
			     "\t\tsteps[i].call(i);\n"
			     "\t\tprintf(\"node %d: %s = %jd, error %d\\n\", node, steps[i].name, "
			     "(intmax_t)TOLD(i, 0),\n"
			     "\t\t       shared->error[i]);\n"
			     "\t\tfflush(stdout);\n"
			     "\t\tatomic_store(&shared->turn, i + 1);\n"
			     "\t}\n"
			     "\t/* What this process holds stays until the other is through. */\n"
			     "\twhile (atomic_load(&shared->turn) != STEPS)\n"
			     "\t\tsched_yield();\n"
			     "\t_exit(0);\n"
			     "}\n"
			     "\n"
			     "int main(void)\n"
			     "{\n"
			     "\tchar fabric[32];\n"
			     "\tint status;\n"
			     "\n"
			     "\tsnprintf(fabric, sizeof(fabric), \"fault-%d\", (int)getpid());\n"
			     "\tsetenv(\"SCIF_FABRIC\", fabric, 1);\n"
			     "\tshared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, "
			     "MAP_SHARED | MAP_ANONYMOUS, -1,\n"
			     "\t\t      0);\n"
			     "\tif (shared == MAP_FAILED)\n"
			     "\t\treturn 3;\n"
			     "\tfor (int node = 0; node < 2; node++) {\n"
			     "\t\tif (!fork())\n"
			     "\t\t\trun(node);\n"
			     "\t}\n"
			     "\twhile (wait(&status) > 0)\n"
			     "\t\t;\n"
			     "\tif (!shows())\n"
			     "\t\treturn 0;\n"
			     "\tputs(\"the fault shows\");\n"
			     "\treturn 1;\n"
			     "}\n";

static size_t place(const struct explore_sequence *sequence, unsigned int id)
{
	size_t i = 0;

	while (sequence->steps[i].id != id)
		i++;
	return i;
}

static void print_word(FILE *out, const struct explore_sequence *sequence,
		       const struct explore_word *word)
{
	if (word->text)
		fprintf(out, "\"%s\"", word->text);
	else if (word->step)
		fprintf(out, "TOLD(%zu, %u)", place(sequence, word->step), word->reply - 1);
	else if (word->number > 65536)
		fprintf(out, "0x%" PRIxMAX, word->number);
	else
		fprintf(out, "%" PRIdMAX, word->number);
}

/* A line of the verb's text, with the words in place of $1 and so on. */
static void print_text(FILE *out, const struct explore_sequence *sequence,
		       const struct explore_step *step)
{
	const char *at;

	for (at = step->verb->text; *at; at++) {
		if (*at == '$' && isdigit((unsigned char)at[1]))
			print_word(out, sequence, &step->words[*++at - '1']);
		else
			putc(*at, out);
	}
}

static void print_step(FILE *out, const struct explore_sequence *sequence, size_t at, bool is_rsm)
{
	const struct explore_step *step = &sequence->steps[at];
	/* A block, for what the verb declares. */
	bool has_block = strstr(step->verb->text, ";\n\n\t") != NULL;

	fprintf(out, "\nstatic void step_%zu(int step)\n{\n", at);
	fputs("\tintptr_t *o = shared->value[step], r = 0;\n\tint e = 0;\n", out);
	fputs(has_block ? "\t" : "\n\t", out);
	print_text(out, sequence, step);
	fprintf(out, "\n\to[0] = r;\n\tshared->error[step] = %s;\n}\n",
		is_rsm ? "e" : "r == -1 ? errno : e");
}

static void print_table(FILE *out, const struct explore_sequence *sequence)
{
	size_t i;

	fputs("\nstatic const struct {\n\tint node;\n\tconst char *name;\n\tvoid (*call)(int "
	      "step);\n"
	      "} steps[STEPS] = {\n",
	      out);
	for (i = 0; i < sequence->count; i++)
		fprintf(out, "\t{%d, \"%s\", step_%zu},\n", sequence->steps[i].peer - 1,
			sequence->steps[i].verb->name, i);
	fputs("};\n\n", out);
}

/* The numbers of a success that mean the same in another process. */
static void print_numbers(FILE *out, const struct explore_step *step, const char *reply,
			  size_t last)
{
	const char *at = strchr(reply, ' ');
	unsigned int i;

	for (i = 0; at && step->verb->makes[i]; i++, at = strchr(at + 1, ' ')) {
		if (strchr(".ts", step->verb->makes[i]))
			fprintf(out, " && TOLD(%zu, %u) == %" PRIdMAX, last, i,
				strtoimax(at + 1, NULL, 0));
	}
}

static void print_shows(FILE *out, const struct explore_sequence *sequence,
			const struct explore_fault *fault)
{
	size_t last = sequence->count - 1;
	const char *reply = fault->reply;

	fputs("/* What came back where the fault was found. */\nstatic int shows(void)\n{\n", out);
	if (!reply)
		fputs("\treturn atomic_load(&shared->turn) == STEPS - 1;\n", out);
	else if (strncmp(reply, "err ", 4) == 0)
		fprintf(out,
			"\treturn atomic_load(&shared->turn) == STEPS && shared->error[%zu] == "
			"%s;\n",
			last, reply + 4);
	else {
		fprintf(out, "\treturn atomic_load(&shared->turn) == STEPS && !shared->error[%zu]",
			last);
		print_numbers(out, &sequence->steps[last], reply, last);
		fputs(";\n", out);
	}
	fputs("}\n\n", out);
}

static void print_comment(FILE *out, const struct explorer *explorer,
			  const struct explore_fault *fault, uint64_t seed)
{
	const char *line = fault->text, *end;
	bool is_rsm = strcmp(explorer->api, "rsm") == 0;

	fprintf(out,
		"/*\n * Found by scif-cts explore --api %s --seed %" PRIu64
		". The last step of the two processes:\n *\n",
		explorer->api, seed);
	for (; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		fprintf(out, " *%.*s\n", (int)(end - line), line);
	}
	fprintf(out,
		" *\n * cc -o fault fault.c -l%s; the exit status is 1 where the fault shows.\n "
		"*/\n",
		is_rsm ? "rsm" : "scif");
}

void explore_print(FILE *out, const struct explorer *explorer,
		   const struct explore_sequence *sequence, const struct explore_fault *fault,
		   uint64_t seed)
{
	bool is_rsm = strcmp(explorer->api, "rsm") == 0;
	size_t i;

	print_comment(out, explorer, fault, seed);
	fputs(heading, out);
	fprintf(out, "\n#include <%s>\n\n#define STEPS %zu\n\n", is_rsm ? "rsmapi.h" : "scif.h",
		sequence->count);
	fputs(frame, out);
	for (i = 0; i < sequence->count; i++)
		print_step(out, sequence, i, is_rsm);
	print_table(out, sequence);
	print_shows(out, sequence, fault);
	fputs(ending, out);
}
