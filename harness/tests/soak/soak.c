/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sudden death: workers on both nodes make random legal calls of both APIs while one of them is killed, stopped for a
 * while, or its node taken down, again and again. After each time the others must go on, fail in no way that is not
 * documented, and find what was acknowledged; nothing of the dead may be left, and nobody may have more than before.
 * Who does what and when follows from the seed, as far as the machine lets it.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aftermath.h"
#include "board.h"
#include "documented.h"
#include "holding.h"

enum { SKIPPED = 77, EVENTS_BETWEEN_PAUSES = 50, KILLS_BETWEEN_LISTS = 10, REPORT_EVERY = 1000 };
/* The first slot of each node is let live long, so that what it has can be seen to grow. */
enum { ELDER_DIES = 150 };
enum { MOST_STEPS = 12, MOST_US = 400, STOP_US = 3000, LOOK_US = 1000 };

struct board *board;

static struct {
	long kills;
	uint64_t seed;
	double scale;
	const char *plans;
} settings = {.kills = 200, .seed = 1, .scale = 1, .plans = "conformance"};

static long killed, stopped, downs, events;
static uint32_t last_life, last_pause;
static struct dice dice;
static struct {
	uint32_t life;
	int pauses;
	struct holding holding;
} first[SLOTS];

/* In a worker: its slot and its life. */
static struct {
	int slot;
	uint32_t life;
} me;

void complain(const char *format, ...)
{
	va_list args;

	/* What fails on a node that is taken down may fail. */
	if (me.life != 0 && may_be_gone(me.slot, me.life))
		return;
	if (atomic_exchange(&board->complained, true))
		return;
	va_start(args, format);
	vsnprintf(board->complaint, sizeof(board->complaint), format, args);
	va_end(args);
}

struct dice dice_for(uint64_t seed, uint32_t life, int part)
{
	return (struct dice){(seed + 1) * 0x9e3779b97f4a7c15u ^
			     ((uint64_t)life << 8 | (uint64_t)part) * 0xbf58476d1ce4e5b9u};
}

/* splitmix64 */
uint32_t dice_throw(struct dice *d, uint32_t sides)
{
	uint64_t x = d->state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((x ^ x >> 31) >> 32) % sides;
}

/* --- time --- */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void let_pass_us(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* A second, by the time scale, for all that must happen soon. */
static bool soon(bool (*is_so)(int slot), int slot)
{
	double limit = now_s() + settings.scale;

	while (!is_so(slot)) {
		if (board->complained || now_s() > limit)
			return false;
		let_pass_us(LOOK_US);
	}
	return true;
}

/* --- lives --- */

static void end_all(void)
{
	for (int i = 0; i < SLOTS; i++) {
		pid_t pid = board->slot[i].pid;

		if (pid <= 0)
			continue;
		kill(pid, SIGCONT);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static void give_up(void)
{
	printf("after %ld events, %ld kills: %s\n", events, killed, board->complaint);
	for (int i = 0; i < SLOTS; i++) {
		struct slot *s = &board->slot[i];

		printf("  slot %d, node %d, life %u: client %s (%lu), server %s (%lu)\n", i,
		       slot_node(i), s->life, s->doing[CLIENT] ? s->doing[CLIENT] : "nothing",
		       (unsigned long)s->steps[CLIENT],
		       s->doing[SERVER] ? s->doing[SERVER] : "nothing",
		       (unsigned long)s->steps[SERVER]);
	}
	printf("again: scif-soak --seed %lu --kills %ld\n", (unsigned long)settings.seed,
	       settings.kills);
	fflush(stdout);
	if (getenv("SOAK_HALT") != NULL)
		pause();
	end_all();
	aftermath_fabric("reset", NULL, NULL);
	exit(EXIT_FAILURE);
}

static void begin(int slot)
{
	struct slot *s = &board->slot[slot];
	uint32_t life = ++last_life;
	pid_t pid;

	memset(board->account[life % LIVES], 0, sizeof(board->account[0]));
	board->place[life % LIVES] =
		((uint32_t)slot * PLACES_OF_SLOT + s->lives++ % PLACES_OF_SLOT) * PLACE;
	s->doing[CLIENT] = s->doing[SERVER] = NULL;
	atomic_store(&s->life, life);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		me.slot = slot;
		me.life = life;
		worker_live(slot, life);
	}
	if (pid < 0) {
		complain("fork: %s", strerror(errno));
		give_up();
	}
	s->pid = pid;
}

static bool is_ready(int slot)
{
	return board->slot[slot].ready == board->slot[slot].life;
}

static void expect_ready(int slot)
{
	if (soon(is_ready, slot))
		return;
	complain("who takes the place of slot %d does not get ready", slot);
	give_up();
}

static void doom(int slot)
{
	atomic_store(&board->slot[slot].doomed, board->slot[slot].life);
}

static void bury(int slot)
{
	struct slot *s = &board->slot[slot];
	int status = 0;
	pid_t pid = s->pid;

	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		complain("life %u of slot %d ends by itself, with status %d", s->life, slot,
			 status);
	atomic_store(&s->life, 0);
	s->pid = 0;
	killed++;
}

/* --- the others --- */

static uint64_t before[SLOTS][PARTS];

static bool has_moved(int slot)
{
	for (int part = 0; part < PARTS; part++)
		if (board->slot[slot].steps[part] == before[slot][part])
			return false;
	return true;
}

static void expect_progress(void)
{
	for (int i = 0; i < SLOTS; i++)
		for (int part = 0; part < PARTS; part++)
			before[i][part] = board->slot[i].steps[part];
	for (int i = 0; i < SLOTS; i++) {
		if (board->slot[i].life == 0 || soon(has_moved, i))
			continue;
		complain("slot %d makes no progress", i);
	}
	if (board->complained)
		give_up();
}

/* --- events --- */

static uint64_t wanted_steps;

static bool has_come_so_far(int slot)
{
	return board->slot[slot].steps[CLIENT] >= wanted_steps;
}

/* The instant is a number of steps and some microseconds of the next one. */
static void await_instant(int victim)
{
	atomic_store(&board->prey, victim);
	wanted_steps = board->slot[victim].steps[CLIENT] + dice_throw(&dice, MOST_STEPS);
	if (!soon(has_come_so_far, victim)) {
		complain("slot %d makes no progress", victim);
		give_up();
	}
	let_pass_us(dice_throw(&dice, MOST_US));
	atomic_store(&board->prey, -1);
}

static int choose_victim(void)
{
	int slot = (int)dice_throw(&dice, SLOTS);

	while (slot % SLOTS_OF_NODE == 0 && dice_throw(&dice, ELDER_DIES) != 0)
		slot = (int)dice_throw(&dice, SLOTS);
	return slot;
}

static void stop_a_while(pid_t pid)
{
	kill(pid, SIGSTOP);
	waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WSTOPPED);
	let_pass_us(1 + dice_throw(&dice, STOP_US));
	stopped++;
}

static void kill_one(int victim, bool stop_first)
{
	pid_t pid = board->slot[victim].pid;

	await_instant(victim);
	doom(victim);
	if (stop_first)
		stop_a_while(pid);
	kill(pid, SIGKILL);
	bury(victim);
	expect_progress();
	if (killed % KILLS_BETWEEN_LISTS == 0)
		aftermath_of(pid);
	else
		aftermath_of_name(pid);
	begin(victim);
	expect_ready(victim);
}

static void stop_one(int victim)
{
	struct slot *s = &board->slot[victim];

	await_instant(victim);
	stop_a_while(s->pid);
	kill(s->pid, SIGCONT);
	expect_progress();
}

static void take_node_down(int node)
{
	char number[8];
	int from = node * SLOTS_OF_NODE, to = from + SLOTS_OF_NODE;
	pid_t pid = board->slot[from].pid;

	snprintf(number, sizeof(number), "%d", node);
	await_instant(from);
	for (int i = from; i < to; i++)
		doom(i);
	aftermath_fabric("node", "down", number);
	for (int i = from; i < to && !board->complained; i++)
		bury(i);
	downs++;
	expect_progress();
	aftermath_of(pid);
	aftermath_fabric("node", "up", number);
	for (int i = from; i < to; i++)
		begin(i);
	for (int i = from; i < to; i++)
		expect_ready(i);
}

static void one_event(void)
{
	int victim = choose_victim();
	uint32_t kind = dice_throw(&dice, 100);

	events++;
	if (kind < 2)
		take_node_down(slot_node(victim));
	else if (kind < 10)
		stop_one(victim);
	else
		kill_one(victim, kind < 20);
	if (board->complained)
		give_up();
}

/* --- pauses --- */

static bool has_rested(int slot)
{
	return board->slot[slot].rested == last_pause;
}

/* What others still sweep up may be with it: then it measures again. */
static bool has_not_grown(int slot)
{
	struct slot *s = &board->slot[slot];

	if (!has_rested(slot))
		return false;
	if (holding_grown(&first[slot].holding, &s->holding) == NULL)
		return true;
	atomic_store(&s->rested, 0);
	return false;
}

static void compare_holding(int slot)
{
	struct slot *s = &board->slot[slot];
	const char *grown;

	/* In its first two pauses a process still gets to know what there is. */
	if (first[slot].life != s->life)
		first[slot].pauses = 0;
	first[slot].life = s->life;
	if (first[slot].pauses++ < 2) {
		first[slot].holding = s->holding;
		return;
	}
	if (soon(has_not_grown, slot))
		return;
	grown = holding_grown(&first[slot].holding, &s->holding);
	if (grown == NULL)
		complain("slot %d does not say what it has", slot);
	else
		complain("the %s of slot %d grow: %ld descriptors, %ld mappings, %ld bytes, %ld pages; "
			 "%ld, %ld, %ld, %ld %d pauses ago",
			 grown, slot, s->holding.descriptors, s->holding.mappings, s->holding.heap,
			 s->holding.resident, first[slot].holding.descriptors,
			 first[slot].holding.mappings, first[slot].holding.heap,
			 first[slot].holding.resident, first[slot].pauses - 2);
}

static void pause_all(void)
{
	atomic_store(&board->pause, ++last_pause);
	for (int i = 0; i < SLOTS; i++)
		if (!soon(has_rested, i))
			complain("slot %d does not come to rest", i);
	for (int i = 0; i < SLOTS && !board->complained; i++)
		compare_holding(i);
	if (board->complained)
		give_up();
	atomic_store(&board->pause, 0);
}

/* --- all --- */

static void end_well(void)
{
	atomic_store(&board->over, true);
	for (int i = 0; i < SLOTS; i++) {
		int status = -1;

		waitpid(board->slot[i].pid, &status, 0);
		if (status != 0)
			complain("slot %d ends with status %d", i, status);
		board->slot[i].pid = 0;
	}
	aftermath_of_all();
	if (board->complained)
		give_up();
}

static void soak(void)
{
	long reported = 0;

	for (int i = 0; i < SLOTS; i++)
		begin(i);
	for (int i = 0; i < SLOTS; i++)
		expect_ready(i);
	while (killed < settings.kills) {
		one_event();
		if (events % EVENTS_BETWEEN_PAUSES == 0)
			pause_all();
		if (killed / REPORT_EVERY > reported) {
			reported = killed / REPORT_EVERY;
			printf("%ld kills\n", killed);
			fflush(stdout);
		}
	}
	pause_all();
	end_well();
}

static int usage(void)
{
	fputs("usage: scif-soak [--kills N] [--seed N] [--timeout-scale X] [--plans DIRECTORY]\n", stderr);
	return 2;
}

static bool read_options(int argc, char **argv)
{
	static const struct option options[] = {{"kills", required_argument, NULL, 'k'},
						{"seed", required_argument, NULL, 's'},
						{"timeout-scale", required_argument, NULL, 't'},
						{"plans", required_argument, NULL, 'p'},
						{0}};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'k':
			settings.kills = strtol(optarg, NULL, 10);
			break;
		case 's':
			settings.seed = strtoull(optarg, NULL, 10);
			break;
		case 't':
			settings.scale = strtod(optarg, NULL);
			break;
		case 'p':
			settings.plans = optarg;
			break;
		default:
			return false;
		}
	}
	return optind == argc && settings.kills > 0 && settings.scale > 0;
}

int main(int argc, char **argv)
{
	char fabric[64];
	double start;

	if (!read_options(argc, argv))
		return usage();
	if (!documented_load(settings.plans)) {
		printf("no plans in %s\n", settings.plans);
		return SKIPPED;
	}
	snprintf(fabric, sizeof(fabric), "soak-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	setenv("SCIF_PROVIDER", "embedded", 1);
	aftermath_begin(fabric);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (board == MAP_FAILED)
		return EXIT_FAILURE;
	board->seed = settings.seed;
	dice = dice_for(settings.seed, 0, PARTS);
	printf("seed %lu%s\n", (unsigned long)settings.seed,
	       aftermath_sees_files() ? "" : "; files are not looked for: no mount namespace for us");
	start = now_s();
	soak();
	printf("%ld kills, %ld stops, %ld node downs in %.0f s: nothing to complain about\n", killed,
	       stopped, downs, now_s() - start);
	return EXIT_SUCCESS;
}
