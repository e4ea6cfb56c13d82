/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of clauses while one resource is short. A call that the clause lets succeed is made
 * with nothing of the resource to be had, then with a little, then with more, until it succeeds.
 * Every failure before that is one that is documented for the function, changes nothing and costs
 * nothing; the success is the one that the clause demands.
 */
#include "engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAST_LEVEL = 50, MOST_CALLS = 12, SPARE = 100, MOST_SINGLE = 8, STACK_BYTES = 256 << 10 };

static const struct shortage {
	const char *name;
	void (*begin)(int level);
	void (*end)(void);
} * chosen;
static int level;

/* --- what is short: nothing is to be had at level 0 --- */

static size_t doubled(int times)
{
	return times ? cts_page_size() << (times - 1) : 0;
}

static void descriptors_begin(int n)
{
	limit_above_use(RLIMIT_NOFILE, (size_t)n);
}

static void descriptors_end(void)
{
	cts_limit_restore(RLIMIT_NOFILE);
}

static void address_space_begin(int n)
{
	limit_above_use(RLIMIT_AS, doubled(n));
}

static void address_space_end(void)
{
	cts_limit_restore(RLIMIT_AS);
}

static void data_begin(int n)
{
	limit_above_use(RLIMIT_DATA, doubled(n));
}

static void data_end(void)
{
	cts_limit_restore(RLIMIT_DATA);
}

static void file_size_begin(int n)
{
	limit_above_use(RLIMIT_FSIZE, doubled(n));
}

static void file_size_end(void)
{
	cts_limit_restore(RLIMIT_FSIZE);
}

static void locked_begin(int n)
{
	limits_bind();
	limit_above_use(RLIMIT_MEMLOCK, doubled(n));
}

static void locked_end(void)
{
	cts_limit_restore(RLIMIT_MEMLOCK);
	limits_bind_no_more();
}

static void processes_begin(int n)
{
	real_user_counts(true);
	limits_bind();
	limit_above_use(RLIMIT_NPROC, (size_t)n);
}

static void processes_end(void)
{
	cts_limit_restore(RLIMIT_NPROC);
	limits_bind_no_more();
	real_user_counts(false);
}

/* As many mappings as the kernel lets a process have; neighbours differ in what they allow. */
static struct {
	unsigned char *pages;
	size_t most;
	void *single[MOST_SINGLE];
	int count;
} filler;

static void filler_make(void)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "re");

	if (!file || fscanf(file, "%zu", &filler.most) != 1)
		cts_unresolved("/proc/sys/vm/max_map_count cannot be read");
	fclose(file);
	filler.pages = mmap(NULL, filler.most * cts_page_size(), PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (filler.pages == MAP_FAILED)
		cts_unresolved("no address space for %zu mappings", filler.most);
}

/* A page is divided from its neighbours only below the limit, and a new one can still be had at it.
 */
static void maps_begin(int n)
{
	size_t i = 0;

	if (!filler.pages)
		filler_make();
	while (i < filler.most && mprotect(filler.pages + i * cts_page_size(), cts_page_size(),
					   i % 2 ? PROT_READ : PROT_READ | PROT_WRITE) == 0)
		i++;
	if (i == filler.most)
		cts_untested("more mappings can be had than the kernel says");
	while (filler.count < MOST_SINGLE &&
	       (filler.single[filler.count] = mmap(NULL, cts_page_size(), PROT_NONE,
						   MAP_SHARED | MAP_ANONYMOUS, -1, 0)) !=
		       MAP_FAILED)
		filler.count++;
	for (; n > 0 && filler.count > 0; n--)
		munmap(filler.single[--filler.count], cts_page_size());
	for (; n > 0 && i > 0; n--)
		mprotect(filler.pages + --i * cts_page_size(), cts_page_size(), PROT_NONE);
}

static void maps_end(void)
{
	while (filler.count > 0)
		munmap(filler.single[--filler.count], cts_page_size());
	mprotect(filler.pages, filler.most * cts_page_size(), PROT_NONE);
}

/* The ports that are given out on demand begin with one that is taken. */
static void ports_begin(int n)
{
	static int port;
	int (*opener)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "scif_open");
	int (*binder)(int, uint16_t) = (int (*)(int, uint16_t))dlsym(RTLD_DEFAULT, "scif_bind");

	if (!opener || !binder)
		cts_untested("there are no ports of SCIF here");
	if (!port && (port = binder(opener(), 0)) <= 0)
		cts_unresolved("no port can be taken");
	cts_ports((unsigned)port, (unsigned)(port + n));
}

static void ports_end(void)
{
	ports_restore(shared);
}

/* Of the calls that take it, those from the n-th on fail. */
static void calls_begin(const char *klass, int n, int err)
{
	cts_need("inject");
	if (inject_arm(klass, -n - 1, err) == -1)
		cts_unresolved("the fault preload does not know the class %s", klass);
}

static void calls_end(void)
{
	int seen;

	inject_disarm(&seen);
}

static void heap_begin(int n)
{
	calls_begin("heap", n, ENOMEM);
}

static void mappings_begin(int n)
{
	calls_begin("mapping", n, ENOMEM);
}

static void shared_begin(int n)
{
	calls_begin("shared", n, ENOSPC);
}

static void buffers_begin(int n)
{
	calls_begin("socket", n, ENOBUFS);
}

static void threads_begin(int n)
{
	calls_begin("thread", n, EAGAIN);
}

static const struct shortage shortages[] = {
	{"descriptors", descriptors_begin, descriptors_end},
	{"heap", heap_begin, calls_end},
	{"data", data_begin, data_end},
	{"address-space", address_space_begin, address_space_end},
	{"mappings", mappings_begin, calls_end},
	{"map-count", maps_begin, maps_end},
	{"shared-memory", shared_begin, calls_end},
	{"file-size", file_size_begin, file_size_end},
	{"locked-memory", locked_begin, locked_end},
	{"socket-buffers", buffers_begin, calls_end},
	{"threads", threads_begin, calls_end},
	{"processes", processes_begin, processes_end},
	{"ports", ports_begin, ports_end},
};

bool shortage_choose(int nth)
{
	if (nth >= (int)(sizeof shortages / sizeof *shortages))
		return false;
	chosen = &shortages[nth];
	return true;
}

bool shortage_named(const char *name)
{
	for (int i = 0; shortage_choose(i); i++)
		if (!strcmp(chosen->name, name))
			return true;
	chosen = NULL;
	return false;
}

const char *shortage_name(void)
{
	return chosen ? chosen->name : NULL;
}

/* --- the call --- */

int shortage_spare(const char *function)
{
	return chosen && !strcmp(current->function, function) ? SPARE : 0;
}

bool shortage_fits(const struct cts_case *c)
{
	return c->call && !c->is_error && !c->scenario && !c->provoke.kind && !c->during &&
	       !c->as && !c->untestable && !c->ruled_out && !c->is_long;
}

/* What the caller's stack needs is no resource of the call. */
static void extend_stack(void)
{
	volatile char depth[STACK_BYTES];

	for (size_t i = 0; i < sizeof depth; i += 1024)
		depth[i] = 0;
}

void shortage_begin(void)
{
	extend_stack();
	if (level < LAST_LEVEL)
		chosen->begin(level);
}

void shortage_end(void)
{
	if (level < LAST_LEVEL)
		chosen->end();
}

static bool is_by_shortage(const struct cts_case *c)
{
	return c->is_error && c->provoke.kind &&
	       (!strcmp(c->provoke.kind, "fault") || !strcmp(c->provoke.kind, "limit"));
}

static bool allows(const struct cts_case *c, int err)
{
	for (int i = 0; i < c->expects[0].errno_count; i++)
		if (c->expects[0].errnos[i] == err)
			return true;
	return false;
}

/* Where clauses say what a shortage gives it is one of that; ports are none that a limit or a fault
 * takes away. */
static bool is_documented(int err)
{
	bool said = false;

	for (int i = 0; i < cts_case_count; i++) {
		said |= is_by_shortage(&cts_cases[i]);
		if (is_by_shortage(&cts_cases[i]) && allows(&cts_cases[i], err))
			return true;
	}
	for (int i = 0; (!said || chosen->begin == ports_begin) && i < cts_case_count; i++)
		if (cts_cases[i].is_error && cts_api->error_number(cts_cases[i].outcome) == err)
			return true;
	return false;
}

/* Which errors came, each once. */
static void note_error(int err)
{
	char *came = shared->came;
	size_t used = strlen(came);

	if (!strstr(came, error_name(err)))
		snprintf(came + used, sizeof shared->came - used, "%s%s", used ? ", " : "",
			 error_name(err));
}

bool shortage_call(const struct cts_case *c, void *v, struct cts_result *r)
{
	struct cts_holdings before, after;
	char why[160] = "";
	bool grew = true;

	/* What the library sets up once and keeps is set up by the first calls that get so far. */
	for (int nth = 1; grew && nth <= MOST_CALLS; nth++) {
		holdings_settle();
		before = cts_holdings();
		provoked_call(c, v, r);
		if (!c->failed || !c->failed(r))
			return true;
		note_error(r->err);
		holdings_settle();
		after = cts_holdings();
		grew = !growth_allowed() && holdings_grew(&before, &after, why, sizeof why);
	}
	if (grew)
		verdict_derived(FAIL, KIND_SIDE_EFFECT, "%s with every call that failed", why);
	if (!is_documented(r->err))
		verdict_derived(FAIL, KIND_ERRNO, "%s is not documented for that",
				error_name(r->err));
	if (level++ == LAST_LEVEL)
		verdict_derived(FAIL, KIND_VALUE, "the call fails when nothing is short any more");
	return false;
}
