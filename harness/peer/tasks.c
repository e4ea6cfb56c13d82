/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs that run in a thread of their own, so that a call can block while the peer goes on
 * listening. A task is named by a tag; its request line is kept until it is asked for its end.
 */
#include "peer.h"

#include "../runtime/asleep.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define TASK_MAX 256
#define N(i)	 request_number(request, i)

struct task {
	pthread_t thread;
	struct request request;
	struct reply reply;
	int stat;	    /* to ask whether it sleeps */
	atomic_int running; /* the verb has begun: from here on only the call can sleep */
	atomic_int done;
	bool joined;
};

static struct task tasks[TASK_MAX];
static int task_count;

static void on_interrupt(int sig)
{
	(void)sig;
}

void tasks_init(void)
{
	struct sigaction action = {.sa_handler = on_interrupt};

	sigaction(SIGUSR1, &action, NULL);
}

static void *task_main(void *arg)
{
	struct task *task = arg;

	task->stat = asleep_open(gettid());
	atomic_store(&task->running, 1);
	if (!run_call(&task->request, &task->reply) && !run_memory(&task->request, &task->reply))
		reply_bad(&task->reply, "no such verb for a thread");
	atomic_store(&task->done, 1);
	return NULL;
}

void task_begin(const struct request *request, struct reply *reply)
{
	struct task *task = &tasks[task_count];
	char line[PEER_LINE];
	size_t used = 0;

	if (task_count == TASK_MAX) {
		reply_bad(reply, "too many threads");
		return;
	}
	used = (size_t)stpcpy(line, request->verb + 1) - (size_t)line;
	for (int i = 0; i < request->argc; i++) {
		line[used++] = ' ';
		used = (size_t)stpcpy(line + used, request->argv[i]) - (size_t)line;
	}
	memset(task, 0, sizeof *task);
	if (!request_parse(&task->request, line)) {
		reply_bad(reply, "malformed line");
		return;
	}
	if (pthread_create(&task->thread, NULL, task_main, task)) {
		reply_bad(reply, "no thread");
		return;
	}
	while (!atomic_load(&task->running))
		sched_yield();
	reply_value(reply, task_count++);
}

static struct task *find(const struct request *request, struct reply *reply)
{
	intmax_t tag = N(0);

	if (tag >= 0 && tag < task_count && !tasks[tag].joined)
		return &tasks[tag];
	reply_bad(reply, "no such tag");
	return NULL;
}

/* asleep TAG: 1 once it sleeps in the kernel, 0 when it has ended instead */
static void task_asleep(const struct request *request, struct reply *reply)
{
	struct task *task = find(request, reply);

	if (!task)
		return;
	while (!asleep_now(task->stat)) {
		if (atomic_load(&task->done)) {
			reply_value(reply, 0);
			return;
		}
		asleep_pace();
	}
	reply_value(reply, 1);
}

static void task_interrupt(const struct request *request, struct reply *reply)
{
	struct task *task = find(request, reply);

	if (!task)
		return;
	pthread_kill(task->thread, SIGUSR1);
	reply_value(reply, 0);
}

static void task_done(const struct request *request, struct reply *reply)
{
	struct task *task = find(request, reply);

	if (task)
		reply_value(reply, atomic_load(&task->done));
}

/* end TAG: the reply of the verb itself, once it has one */
static void task_end(const struct request *request, struct reply *reply)
{
	struct task *task = find(request, reply);

	if (!task)
		return;
	pthread_join(task->thread, NULL);
	close(task->stat);
	task->joined = true;
	*reply = task->reply;
}

static const struct verb verbs[] = {
	{"asleep", 1, task_asleep},
	{"interrupt", 1, task_interrupt},
	{"done", 1, task_done},
	{"end", 1, task_end},
};

bool run_task(const struct request *request, struct reply *reply)
{
	return run_verb(verbs, sizeof verbs / sizeof *verbs, request, reply);
}
