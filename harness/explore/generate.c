/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes up sequences. Most steps are such that they get through in the state that the model knows
 * of, some are not; nothing is made up that waits for somebody else.
 */
#include "explore.h"

#include <ctype.h>
#include <string.h>

#include "../runner/format.h"

#define STEPS	 40
#define ATTEMPTS 50
/* A thousandth each. */
#define MEANT	850 /* the state that the verb wants */
#define NAMED	30  /* a number that names nothing */
#define KNOWN	200 /* a port that somebody has or had */
#define PRELUDE 800

/* What a step has made. */
struct object {
	char kind;
	int peer;
	unsigned int step, reply;
};

struct making {
	struct explore_run run;
	struct explore_sequence *sequence;
	uint64_t random;
	struct object *objects;
	size_t object_count;
	unsigned int last_id;
	bool means_well; /* whatever may be as it should be is so */
};

static const struct {
	char name;
	unsigned int count;
	intmax_t numbers[12];
} sets[] = {
	{'P', 8, {0, 0, 0, 2000, 2001, 2002, 1024, 1023}},
	{'B', 6, {1, 5, 5, 2, 0, 16}},
	{'F', 8, {0, 0, 0, 0, 0, 0, 0, 2}},
	{'L', 9, {1, 3, 100, 1000, 4000, 4095, 4096, 5000, 0}},
	{'V', 5, {1, 4, 5, 5, 0}},
	{'S', 4, {1, 2, 3, 4}},
	{'Z', 8, {4096, 4096, 4096, 8192, 8192, 100, 4095, 0}},
	{'O', 6, {0, 0, 0x10000, 0x10000, 0x11000, 100}},
	{'R', 8, {3, 3, 3, 3, 1, 2, 0, 4}},
	{'M', 6, {0, 0, 0, 0x10, 0x10, 0x20}},
	{'G', 8, {0, 0, 0, 1, 4, 5, 8, 16}},
	{'N', 5, {1, 1, 2, 0, 3}},
	{'H', 6, {0x31, 0x11, 0x21, 0x32, 0x30, 1}},
	{'Y', 4, {1, 1, 0, 2}},
	{'I', 6, {0, 0, 0x400000, 0x400001, 0x400000, 500000}},
	{'Q', 7, {0600, 0600, 0400, 0200, 0, 0600, 1}},
	{'U', 7, {0666, 0666, 0444, 0222, 0, 0666, 0777}},
	{'D', 6, {0, 0, 8, 4095, 4096, 16384}},
	{'X', 4, {0, 1, 1, 2}},
	{'J', 6, {1, 1, 4, 16, 512, 0}},
	{'W', 3, {0, 0, 2}},
};
static const char *const controllers[] = {"scif0", "scif0", "loopback", "nothing"};

/* What most sequences begin with, so that they come to anything in so few steps. */
static const struct {
	const char *api, *verb, *words;
	int peer; /* 1: one of them, 2: the other */
} prelude[] = {
	{"scif", "listener", "0 5", 1},
	{"scif", "open", "", 2},
	{"scif", "connect", "e:unbound t", 2},
	{"scif", "accept", "e:listening 0", 1},
	{"scif", "connect", "e:connecting t", 2},
	{"scif", "window", "e:connected 8192 0 3 0 S", 1},
	{"scif", "window", "e:connected 8192 0 3 0 S", 2},
	{"rsm", "alloc", "16384", 1},
	{"rsm", "alloc", "16384", 2},
	{"rsm", "rsm_controller", "scif0", 1},
	{"rsm", "rsm_controller", "scif0", 2},
	{"rsm", "rsm_create", "c a 8192 1", 1},
	{"rsm", "rsm_publish", "x I n 438", 1},
	{"rsm", "rsm_connect", "c n ^s 384", 2},
	{"rsm", "rsm_barrier", "i", 2},
};
#define PRELUDE_COUNT (sizeof(prelude) / sizeof(*prelude))

/* Sebastiano Vigna's splitmix64: any seed is as good as any other. */
static uint64_t next_random(struct making *m)
{
	uint64_t z = m->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static size_t below(struct making *m, size_t limit)
{
	return next_random(m) % limit;
}

static bool happens(struct making *m, unsigned int thousandth)
{
	return below(m, 1000) < thousandth;
}

/* As the verb wants it. */
static bool as_meant(struct making *m)
{
	return m->means_well || happens(m, MEANT);
}

static bool as_nothing(struct making *m)
{
	return !m->means_well && happens(m, NAMED);
}

static void put_number(struct explore_step *step, intmax_t number)
{
	step->words[step->count++] = (struct explore_word){.number = number};
}

/* "bound" is in "listening or bound", "new" in "export_new", but neither is in "unbound". */
static bool is_named(const char *names, const char *state)
{
	const char *at = names;

	while ((at = strstr(at, state)) && at > names && isalpha((unsigned char)at[-1]))
		at++;
	return at != NULL;
}

static bool is_in_state(struct making *m, const struct object *object, const char *state)
{
	const struct explore_process *peer = &m->run.peers[object->peer];
	intmax_t number;
	const char *present = NULL;

	if (peer->number && explore_told(&m->run, object->step, object->reply, &number))
		present = model_state(m->run.explorer->model, peer->number, (intptr_t)number);
	return present && is_named(present, state);
}

/* One of those that FITS says fit, each as likely; NULL where there is none. */
static const struct object *pick(struct making *m, const char *kinds, int peer, const char *state)
{
	const struct object *chosen = NULL;
	size_t count = 0, i;

	for (i = 0; i < m->object_count; i++) {
		const struct object *object = &m->objects[i];

		if (!strchr(kinds, object->kind) || (peer && object->peer != peer) ||
		    (*state && !is_in_state(m, object, state)))
			continue;
		if (below(m, ++count) == 0)
			chosen = object;
	}
	return chosen;
}

/* One of the names that stand there with bars between them. To be freed. */
static char *choose_state(struct making *m, const char *names)
{
	const char *at = names;
	size_t count = 1, chosen;

	for (; *at; at++)
		count += *at == '|';
	chosen = below(m, count);
	for (at = names; chosen; chosen--)
		at = strchr(at, '|') + 1;
	return format_text("%.*s", (int)strcspn(at, "|"), at);
}

static const struct object *pick_likely(struct making *m, const char *kinds, int peer,
					const char *state)
{
	const struct object *object = NULL;

	if (*state && as_meant(m))
		object = pick(m, kinds, peer, state);
	/* Where nothing is as the verb wants it, another verb comes to more. */
	if (!object && (!*state || happens(m, 1000 - MEANT)))
		object = pick(m, kinds, peer, "");
	return object;
}

static void put_object(struct explore_step *step, const struct object *object)
{
	step->words[step->count++] =
		(struct explore_word){.step = object->step, .reply = object->reply};
}

static bool take_set(struct making *m, struct explore_step *step, char name)
{
	size_t i;

	if (name == 'C') {
		i = below(m, sizeof(controllers) / sizeof(*controllers));
		step->words[step->count++] = (struct explore_word){.text = controllers[i]};
		return true;
	}
	if (name == 'P' && happens(m, KNOWN) && pick(m, "t", 0, "")) {
		put_object(step, pick(m, "t", 0, ""));
		return true;
	}
	for (i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		if (sets[i].name != name)
			continue;
		put_number(step, sets[i].numbers[below(m, sets[i].count)]);
		return true;
	}
	return false;
}

/* What names no object, for the kinds that are no addresses. */
static bool take_nothing(struct making *m, struct explore_step *step, char kind)
{
	static const intmax_t nothings[] = {-1, 999, 0};

	if (!strchr("eocxis", kind) || !as_nothing(m))
		return false;
	put_number(step, strchr("cxi", kind) ? 0 : nothings[below(m, 3)]);
	return true;
}

/* Where a port is, and the port. */
static bool take_port(struct making *m, struct explore_step *step)
{
	int other = EXPLORE_PEERS + 1 - step->peer;
	const struct object *port = pick(m, "t", as_meant(m) ? other : 0, "");

	if (!port || as_nothing(m)) {
		put_number(step, (intmax_t)below(m, 3));
		put_number(step, 3000);
		return port != NULL;
	}
	put_number(step, port->peer - 1);
	put_object(step, port);
	return true;
}

static bool take_object(struct making *m, struct explore_step *step, const char *word)
{
	bool of_other = *word == '^';
	const char *colon = strchr(word, ':');
	char *kinds = format_text("%.*s", (int)(strcspn(word, ":") - of_other), word + of_other);
	int peer = of_other && as_meant(m) ? EXPLORE_PEERS + 1 - step->peer : step->peer;
	char *state = choose_state(m, colon ? colon + 1 : "");
	const struct object *object;
	bool taken = take_nothing(m, step, *kinds);

	if (!taken) {
		object = pick_likely(m, kinds, peer, state);
		taken = object != NULL;
		if (taken)
			put_object(step, object);
	}
	free(kinds);
	free(state);
	return taken;
}

static bool take_word(struct making *m, struct explore_step *step, const char *word)
{
	if (strchr("0123456789", *word))
		put_number(step, strtoll(word, NULL, 10));
	else if (strcmp(word, controllers[0]) == 0)
		step->words[step->count++] = (struct explore_word){.text = controllers[0]};
	else if (*word == 't')
		return take_port(m, step);
	else if (*word == 'n')
		put_number(step, as_meant(m) ? EXPLORE_PEERS - step->peer : (intmax_t)below(m, 3));
	else if (!word[1] && *word >= 'A' && *word <= 'Z')
		return take_set(m, step, *word);
	else
		return take_object(m, step, word);
	return true;
}

/* False: something that it needs is not there. */
static bool fill_words(struct making *m, struct explore_step *step, const char *told)
{
	char *words = copy_text(told), *rest, *word;
	bool filled = true;

	for (word = strtok_r(words, " ", &rest); word && filled; word = strtok_r(NULL, " ", &rest))
		filled = take_word(m, step, word);
	free(words);
	return filled;
}

static const struct explore_verb *choose_verb(struct making *m)
{
	const char *api = m->run.explorer->api;
	size_t total = 0, i, at;

	for (i = 0; i < explore_verb_count; i++) {
		if (!*explore_verbs[i].api || strcmp(explore_verbs[i].api, api) == 0)
			total += explore_verbs[i].weight;
	}
	at = below(m, total);
	for (i = 0; i < explore_verb_count; i++) {
		if (*explore_verbs[i].api && strcmp(explore_verbs[i].api, api) != 0)
			continue;
		if (at < explore_verbs[i].weight)
			break;
		at -= explore_verbs[i].weight;
	}
	return &explore_verbs[i];
}

static void note_objects(struct making *m, const struct explore_step *step)
{
	intmax_t number;
	unsigned int i;

	for (i = 0; step->verb->makes[i]; i++) {
		if (step->verb->makes[i] == '.' || !explore_told(&m->run, step->id, i + 1, &number))
			continue;
		m->objects = grown_array(m->objects, m->object_count + 1, sizeof(*m->objects));
		m->objects[m->object_count++] = (struct object){
			.kind = step->verb->makes[i],
			.peer = step->peer,
			.step = step->id,
			.reply = i + 1,
		};
	}
}

/* False: the step is not allowed. */
static bool make_step(struct making *m, const struct explore_step *step,
		      struct explore_fault *fault)
{
	struct explore_step nonblock = {.goes_with = step->id, .peer = step->peer};

	explore_add(m->sequence, step);
	if (!explore_run_step(&m->run, step, fault))
		return false;
	note_objects(m, step);
	if (strcmp(step->verb->name, "open") != 0)
		return true;
	/* So that its connect does not wait. */
	nonblock.id = ++m->last_id;
	nonblock.verb = explore_verb("nonblock");
	nonblock.words[nonblock.count++] = (struct explore_word){.step = step->id, .reply = 1};
	put_number(&nonblock, 1);
	return make_step(m, &nonblock, fault);
}

static bool make_any(struct making *m, struct explore_fault *fault)
{
	struct explore_step step;
	int attempt;

	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		step = (struct explore_step){.peer = 1 + (int)below(m, EXPLORE_PEERS)};
		step.verb = choose_verb(m);
		if (!step.verb->weight || !fill_words(m, &step, step.verb->words))
			continue;
		step.id = ++m->last_id;
		return make_step(m, &step, fault);
	}
	return true;
}

static bool make_prelude(struct making *m, struct explore_fault *fault)
{
	int first = 1 + (int)below(m, EXPLORE_PEERS);
	struct explore_step step;
	size_t i;

	for (i = 0; i < PRELUDE_COUNT; i++) {
		if (strcmp(prelude[i].api, m->run.explorer->api) != 0)
			continue;
		step = (struct explore_step){
			.peer = prelude[i].peer == 1 ? first : EXPLORE_PEERS + 1 - first,
			.verb = explore_verb(prelude[i].verb),
		};
		if (!fill_words(m, &step, prelude[i].words))
			continue;
		step.id = ++m->last_id;
		if (!make_step(m, &step, fault))
			return false;
	}
	return true;
}

bool explore_generate(struct explorer *explorer, uint64_t seed, struct explore_sequence *sequence,
		      struct explore_fault *fault)
{
	struct making m = {.sequence = sequence, .random = seed};
	bool allowed = true;

	if (explore_run_start(&m.run, explorer) != 0)
		return false;
	m.means_well = happens(&m, PRELUDE);
	if (m.means_well)
		allowed = make_prelude(&m, fault);
	m.means_well = false;
	while (allowed && sequence->count < STEPS && !explorer->is_broken)
		allowed = make_any(&m, fault);
	explore_run_end(&m.run);
	free(m.objects);
	return !allowed;
}
