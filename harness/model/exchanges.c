/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of the peers, from the requests of the log and what was replied
 * (docs/peer-protocol.md). A peer does nothing but what it is asked to.
 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"

#define WORDS 64

/*
 * What a request calls. An argument, and the result, is a number N: word N of the request, rN: word
 * N of the reply, p: an address, 0: null, *N: what the words from N on stand for; #N: how many
 * pairs they are; =N: N itself; and behind @ what the argument points to afterwards, words with
 * commas between them.
 */
static const struct verb {
	const char *name, *function, *result, *arguments;
} verbs[] = {
	{"open", "scif_open", "r1", ""},
	{"close", "scif_close", "r1", "1"},
	{"bind", "scif_bind", "r1", "1 2"},
	{"listen", "scif_listen", "r1", "1 2"},
	{"connect", "scif_connect", "r1", "1 @2,3"},
	{"accept", "scif_accept", "", "1 @r2,r3 @r1 2"},
	{"send", "scif_send", "r1", "1 p 2 3"},
	{"recv", "scif_recv", "r1", "1 p 2 3"},
	{"register", "scif_register", "r1", "1 2 3 4 5 6"},
	{"window", "scif_register", "r1", "1 r2 2 3 4 5"},
	{"unregister", "scif_unregister", "r1", "1 2 3"},
	{"mmap", "scif_mmap", "r1", "2 3 4 5 1 6"},
	{"munmap", "scif_munmap", "r1", "1 2"},
	{"readfrom", "scif_readfrom", "r1", "1 2 3 4 5"},
	{"writeto", "scif_writeto", "r1", "1 2 3 4 5"},
	{"vreadfrom", "scif_vreadfrom", "r1", "1 2 3 4 5"},
	{"vwriteto", "scif_vwriteto", "r1", "1 2 3 4 5"},
	{"fence_mark", "scif_fence_mark", "", "1 2 @r1"},
	{"fence_wait", "scif_fence_wait", "r1", "1 2"},
	{"fence_signal", "scif_fence_signal", "r1", "1 2 3 4 5 6"},
	{"poll", "scif_poll", "", "@1,2,r1 p 3"},
	{"nodes", "scif_get_nodeIDs", "r1", "p p @r2"},
	{"rsm_controller", "rsm_get_controller", "", "p @r1"},
	{"rsm_release", "rsm_release_controller", "", "1"},
	{"rsm_create", "rsm_memseg_export_create", "", "1 @r1 2 3 4"},
	{"rsm_publish", "rsm_memseg_export_publish", "", "1 @2,r1 *3 #3"},
	{"rsm_republish", "rsm_memseg_export_republish", "", "1 *2 #2"},
	{"rsm_unpublish", "rsm_memseg_export_unpublish", "", "1"},
	{"rsm_destroy", "rsm_memseg_export_destroy", "", "1"},
	{"rsm_rebind", "rsm_memseg_export_rebind", "", "1 2 3 4"},
	{"rsm_connect", "rsm_memseg_import_connect", "", "1 2 3 4 @r1"},
	{"rsm_disconnect", "rsm_memseg_import_disconnect", "", "1"},
	{"rsm_map", "rsm_memseg_import_map", "", "1 @r1 p 2 3 4"},
	{"rsm_unmap", "rsm_memseg_import_unmap", "", "1"},
	{"rsm_get", "rsm_memseg_import_get", "", "1 2 4 3"},
	{"rsm_put", "rsm_memseg_import_put", "", "1 2 4 3"},
	{"rsm_get8", "rsm_memseg_import_get8", "", "1 2 4 3"},
	{"rsm_get16", "rsm_memseg_import_get16", "", "1 2 4 3"},
	{"rsm_get32", "rsm_memseg_import_get32", "", "1 2 4 3"},
	{"rsm_get64", "rsm_memseg_import_get64", "", "1 2 4 3"},
	{"rsm_put8", "rsm_memseg_import_put8", "", "1 2 4 3"},
	{"rsm_put16", "rsm_memseg_import_put16", "", "1 2 4 3"},
	{"rsm_put32", "rsm_memseg_import_put32", "", "1 2 4 3"},
	{"rsm_put64", "rsm_memseg_import_put64", "", "1 2 4 3"},
	{"rsm_barrier", "rsm_memseg_import_init_barrier", "", "1 p r1"},
	{"rsm_open_barrier", "rsm_memseg_import_open_barrier", "", "1"},
	{"rsm_order_barrier", "rsm_memseg_import_order_barrier", "", "1"},
	{"rsm_close_barrier", "rsm_memseg_import_close_barrier", "", "1"},
	{"rsm_destroy_barrier", "rsm_memseg_import_destroy_barrier", "", "1"},
	{"rsm_mode", "rsm_memseg_import_set_mode", "", "1 2"},
	{"rsm_post", "rsm_intr_signal_post", "", "1 2"},
	{"rsm_wait", "rsm_intr_signal_wait", "", "1 2"},
	{"rsm_get_mode", "rsm_memseg_import_get_mode", "", "1 @r1"},
	{"rsm_wait_pollfd", "rsm_intr_signal_wait_pollfd", "", "@1,2,r2 =1 3 @r1"},
	{"rsm_pollfd", "rsm_memseg_get_pollfd", "", "1 @r1,r2"},
	{"rsm_release_pollfd", "rsm_memseg_release_pollfd", "", "1"},
};

struct exchange {
	int process, thread;
	size_t index, begin, end;
	const char *request;
	unsigned times, waited;
};

struct line {
	char *text;
	const char *words[WORDS];
	size_t count;
};

static void split(struct line *line, const char *text)
{
	char *rest, *word;

	*line = (struct line){.text = copy_text(text ? text : "")};
	for (word = strtok_r(line->text, " ", &rest); word && line->count < WORDS;
	     word = strtok_r(NULL, " ", &rest))
		line->words[line->count++] = word;
}

static bool number_of(const struct line *line, size_t word, intptr_t *number)
{
	if (word >= line->count)
		return false;
	*number = (intptr_t)strtoull(line->words[word], NULL, 0);
	return true;
}

/* What a word of a row stands for; false where it is not told. */
static bool lookup(const char *word, const struct line *request, const struct line *reply,
		   intptr_t *number)
{
	if (*word == 'r')
		return !strcmp(reply->count ? reply->words[0] : "", "ok") &&
		       number_of(reply, (size_t)atoi(word + 1), number);
	return number_of(request, (size_t)atoi(word), number);
}

static void add_at(struct value *value, intptr_t number)
{
	value->at = grown_array(value->at, value->at_count + 1, sizeof(*value->at));
	value->at[value->at_count++] = number;
}

static struct value make_value(const char *word, const struct line *request,
			       const struct line *reply)
{
	size_t from = (size_t)atoi(word + 1);
	struct value value = {0};
	const char *part;
	intptr_t number;

	if (*word == '#')
		return (struct value){.is = VALUE_NUMBER,
				      .number = request->count > from
							? (intptr_t)(request->count - from) / 2
							: 0};
	if (*word == '=')
		return (struct value){.is = VALUE_NUMBER, .number = (intptr_t)from};
	for (; *word == '*' && number_of(request, from, &number); from++)
		add_at(&value, number);
	for (part = *word == '@' ? word : NULL; part; part = strchr(part + 1, ',')) {
		if (lookup(part + 1, request, reply, &number))
			add_at(&value, number);
	}
	if (strchr("*@p", *word))
		return value;
	if (lookup(word, request, reply, &number))
		value = (struct value){.is = VALUE_NUMBER, .number = number};
	return value;
}

static void make_arguments(struct step *step, const char *row, const struct line *request,
			   const struct line *reply)
{
	char *copy = copy_text(row), *rest, *word;
	size_t i = 0;

	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		free(step->arguments[i].at);
		step->arguments[i++] = make_value(word, request, reply);
	}
	step->count = i;
	free(copy);
}

static void take_result(struct step *step, const struct verb *verb, const struct line *request,
			const char *text, bool returns_errors)
{
	bool failed = !strncmp(text, "err ", 4);
	struct line reply;

	split(&reply, text);
	make_arguments(step, verb->arguments, request, &reply);
	step->came_back = failed || !strncmp(text, "ok", 2);
	step->ret = 0;
	if (failed) {
		step->error = text + 4;
		step->ret = returns_errors ? 1 : -1;
	} else if (!strcmp(verb->name, "poll")) {
		/* The reply is what the only entry shows. */
		step->ret = step->arguments[0].at_count > 2 && step->arguments[0].at[2];
	} else if (*verb->result) {
		lookup(verb->result, request, &reply, &step->ret);
	}
	free(reply.text);
}

static const struct verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	}
	return NULL;
}

static struct peer_process *peer_of(struct reader *reader, int number)
{
	if (number < 0)
		number = 0;
	while (reader->peer_count <= (size_t)number) {
		reader->peers =
			grown_array(reader->peers, reader->peer_count + 1, sizeof(*reader->peers));
		reader->peers[reader->peer_count++] =
			(struct peer_process){.process = PEER_PROCESS + ++reader->processes};
	}
	return &reader->peers[number];
}

static struct step *add_call(struct reader *reader, const struct exchange *exchange,
			     const char *function)
{
	struct step *step = history_add_step(reader, exchange->index, STEP_CALL);

	step->process = exchange->process;
	step->thread = exchange->thread;
	step->function = function;
	step->times = exchange->times ? exchange->times : 1;
	step->waited = exchange->waited;
	return step;
}

static void add_moves(struct reader *reader, const struct exchange *exchange)
{
	size_t step = reader->history->step_count - 1;

	history_add_move(reader, step, exchange->begin, false);
	if (reader->history->steps[step].came_back)
		history_add_move(reader, step, exchange->end, true);
}

static void add_plain(struct reader *reader, const struct exchange *exchange,
		      const struct verb *verb, const struct line *request, const char *reply)
{
	struct step *step = add_call(reader, exchange, verb->function);

	take_result(step, verb, request, reply, !strcmp(reader->tables->api, "rsm"));
	add_moves(reader, exchange);
}

/* listener PORT BACKLOG: three calls, of which the log has the last one's word. */
static void add_listener(struct reader *reader, const struct exchange *exchange,
			 const struct line *request, const char *reply)
{
	struct line words;
	intptr_t of[4] = {0};
	struct step *step;
	size_t i;

	split(&words, reply);
	for (i = 1; i < 4; i++)
		number_of(&words, i, &of[i]);
	number_of(request, 1, &of[0]);
	if (!strncmp(reply, "ok", 2)) {
		step = add_call(reader, exchange, "scif_open");
		step->ret = of[1];
		step->came_back = true;
		add_moves(reader, exchange);
		step = add_call(reader, exchange, "scif_bind");
		step->arguments[0] = (struct value){.is = VALUE_NUMBER, .number = of[1]};
		step->arguments[1] = (struct value){.is = VALUE_NUMBER, .number = of[0]};
		step->count = 2;
		step->ret = of[2];
		step->came_back = true;
		add_moves(reader, exchange);
		step = add_call(reader, exchange, "scif_listen");
		step->arguments[0] = (struct value){.is = VALUE_NUMBER, .number = of[1]};
		number_of(request, 2, &of[0]);
		step->arguments[1] = (struct value){.is = VALUE_NUMBER, .number = of[0]};
		step->count = 2;
		step->came_back = true;
		add_moves(reader, exchange);
	}
	free(words.text);
}

static void add_sign(struct reader *reader, const struct exchange *exchange, enum step_kind kind,
		     size_t time)
{
	size_t number = reader->history->step_count;
	struct step *step = history_add_step(reader, exchange->index, kind);

	step->process = exchange->process;
	history_add_move(reader, number, time, false);
}

/* hello 1: ok 1 PID NODE LIBRARY */
static void start_process(struct reader *reader, struct peer_process *peer,
			  struct exchange *exchange, const char *reply)
{
	struct line words;
	intptr_t node = -1;

	if (peer->last_reply)
		add_sign(reader, exchange, STEP_ENDED, exchange->begin);
	peer->process = exchange->process = PEER_PROCESS + ++reader->processes;
	split(&words, reply);
	number_of(&words, 3, &node);
	free(words.text);
	add_sign(reader, exchange, STEP_STARTED, exchange->begin);
	reader->history->steps[reader->history->step_count - 1].arguments[0] =
		(struct value){.is = VALUE_NUMBER, .number = node};
}

static void start_running(struct reader *reader, int peer, const struct exchange *exchange,
			  const struct line *request, const char *reply)
{
	const struct verb *verb = find_verb(request->words[0] + 1);
	struct line nothing = {0};
	intptr_t tag;
	size_t at = reader->history->step_count;
	struct step *step;
	struct line words;

	split(&words, reply);
	if (verb && number_of(&words, 1, &tag)) {
		step = add_call(reader, exchange, verb->function);
		step->thread = 2 + (int)tag;
		make_arguments(step, verb->arguments, request, &nothing);
		history_add_move(reader, at, exchange->begin, false);
		reader->running = grown_array(reader->running, reader->running_count + 1,
					      sizeof(*reader->running));
		reader->running[reader->running_count++] =
			(struct running){.peer = peer,
					 .tag = (int)tag,
					 .step = at,
					 .verb = verb,
					 .request = copy_text(exchange->request)};
	}
	free(words.text);
}

static struct running *find_running(struct reader *reader, int peer, const struct line *request)
{
	intptr_t tag;
	size_t i;

	for (i = reader->running_count; number_of(request, 1, &tag) && i-- > 0;) {
		if (reader->running[i].peer == peer && reader->running[i].tag == tag)
			return &reader->running[i];
	}
	return NULL;
}

static void end_running(struct reader *reader, const struct running *running,
			const struct exchange *exchange, const char *reply)
{
	struct step *step = &reader->history->steps[running->step];
	struct line request;

	if (step->came_back)
		return;
	split(&request, running->request);
	take_result(step, running->verb, &request, reply, !strcmp(reader->tables->api, "rsm"));
	free(request.text);
	if (step->came_back)
		history_add_move(reader, running->step, exchange->end, true);
}

static void add_deed(struct reader *reader, const struct exchange *exchange, enum step_kind kind,
		     size_t time, intptr_t address)
{
	size_t at = reader->history->step_count;

	add_sign(reader, exchange, kind, time);
	reader->history->steps[at].arguments[0] =
		(struct value){.is = VALUE_NUMBER, .number = address};
}

/* hold: ok ADDRESS; release ADDRESS SEED; asleep TAG: ok 1, and what a transfer was told is known.
 */
static void read_memory(struct reader *reader, const struct exchange *exchange,
			const struct line *request, const char *reply,
			const struct running *running)
{
	const char *verb = request->words[0];
	intptr_t number = 0;
	struct line words;
	bool is_good;

	split(&words, reply);
	is_good = number_of(&words, 1, &number) && !strcmp(words.words[0], "ok");
	if (!strcmp(verb, "release") && number_of(request, 1, &number))
		add_deed(reader, exchange, STEP_RELEASED, exchange->begin, number);
	else if (!strcmp(verb, "hold") && is_good)
		add_deed(reader, exchange, STEP_HELD, exchange->end, number);
	else if (!strcmp(verb, "asleep") && is_good && number && running)
		add_deed(reader, exchange, STEP_STALLED, exchange->end,
			 reader->history->steps[running->step].arguments[1].number);
	free(words.text);
}

static void read_request(struct reader *reader, int peer, struct exchange *exchange,
			 const struct line *request, const char *reply)
{
	const char *word = request->words[0];
	const struct verb *verb = find_verb(word);
	struct running *running = find_running(reader, peer, request);

	if (verb)
		add_plain(reader, exchange, verb, request, reply);
	else if (!strcmp(word, "listener")) {
		/* One after the other, hence each at the end of all. */
		exchange->begin = exchange->end;
		add_listener(reader, exchange, request, reply);
	} else if (*word == '&')
		start_running(reader, peer, exchange, request, reply);
	else if (!strcmp(word, "end") && running)
		end_running(reader, running, exchange, reply);
	else if (!strcmp(word, "interrupt") && running)
		reader->history->steps[running->step].interrupted = true;
	else if (!strcmp(word, "hold") || !strcmp(word, "release") || !strcmp(word, "asleep"))
		read_memory(reader, exchange, request, reply, running);
	else if (!strcmp(word, "exit") || !strcmp(word, "die") || !strcmp(word, "stop"))
		add_sign(reader, exchange, STEP_ENDED, exchange->end);
}

void history_read_exchange(struct reader *reader, const json_t *event, size_t index, size_t begin,
			   size_t end)
{
	int number = (int)json_integer_value(json_array_get(event, 1));
	const char *text = json_string_value(json_array_get(event, 2));
	const char *reply = json_string_value(json_array_get(event, 3));
	struct peer_process *peer = peer_of(reader, number);
	struct exchange exchange = {.process = peer->process,
				    .thread = 1,
				    .index = index,
				    .begin = begin,
				    .end = end,
				    .request = text};
	const json_t *extras = json_array_get(event, json_array_size(event) - 1);
	struct line request;

	exchange.times = (unsigned)json_integer_value(json_object_get(extras, "times"));
	exchange.waited = (unsigned)json_integer_value(json_object_get(extras, "waited"));
	/* A peer does one thing after the other. */
	if (exchange.begin < peer->last_reply)
		exchange.begin = peer->last_reply;
	split(&request, text);
	if (request.count && !strcmp(request.words[0], "hello"))
		start_process(reader, peer, &exchange, reply);
	else if (request.count)
		read_request(reader, number, &exchange, &request, reply ? reply : "");
	if (reply)
		peer->last_reply = end;
	else if (!exchange.waited)
		add_sign(reader, &exchange, STEP_LAST_SIGN, exchange.begin);
	free(request.text);
}

void history_end_peer(struct reader *reader, int number, size_t index, size_t time)
{
	struct exchange exchange = {.process = peer_of(reader, number)->process, .index = index};

	add_sign(reader, &exchange, STEP_LAST_SIGN, time);
}

void history_end_exchanges(struct reader *reader)
{
	struct exchange exchange = {0};
	size_t i;

	/* A log that tells of calls that overlap tells also which peers were killed. */
	for (i = 0; i < reader->peer_count; i++) {
		exchange.process = reader->peers[i].process;
		if (reader->peers[i].last_reply && !reader->history->knows_intervals)
			add_sign(reader, &exchange, STEP_LAST_SIGN, reader->peers[i].last_reply);
	}
	for (i = 0; i < reader->running_count; i++)
		free(reader->running[i].request);
	free(reader->running);
	free(reader->peers);
}
