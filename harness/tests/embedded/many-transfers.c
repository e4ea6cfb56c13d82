/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More transfers of one end at once than a connection has places for: each thread reads a page that
 * the test holds back, so that none ends; those that found no place wait for one, and when the page
 * comes all of them end well.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "asleep.h"
#include "ends.h"

enum { SKIPPED = 77, PAGE = 4096, THREADS = 80, VALUE = 7 };

static scif_epd_t own, peer;
static unsigned char *held, *target;
static off_t window;
static _Atomic pid_t tids[THREADS];

static void *writer(void *number)
{
	size_t i = (size_t)(uintptr_t)number;

	atomic_store(&tids[i], (pid_t)syscall(SYS_gettid));
	return (void *)(intptr_t)scif_vwriteto(own, held + i, 1, window + (off_t)i, SCIF_RMA_SYNC);
}

/* Who reads the page waits from here on. */
static int hold(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.range = {.start = (uintptr_t)held, .len = PAGE},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &reg) != 0) {
		puts("pages cannot be held back here (userfaultfd)");
		exit(SKIPPED);
	}
	return fd;
}

static void let_go(int fd)
{
	static _Alignas(PAGE) unsigned char content[PAGE];
	struct uffdio_copy copy = {.dst = (uintptr_t)held, .src = (uintptr_t)content, .len = PAGE};

	memset(content, VALUE, PAGE);
	must(ioctl(fd, UFFDIO_COPY, &copy), "UFFDIO_COPY");
}

static void await_all_asleep(void)
{
	for (int i = 0; i < THREADS; i++) {
		int fd;

		while (!atomic_load(&tids[i]))
			asleep_pace();
		fd = asleep_open(tids[i]);
		must(fd, "stat of a thread");
		while (!asleep_now(fd))
			asleep_pace();
		close(fd);
	}
}

int main(void)
{
	pthread_t threads[THREADS];
	int fd, wrong = 0;

	connect_ends(&own, &peer);
	held = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(held == MAP_FAILED ? -1 : 0, "mmap");
	must(posix_memalign((void **)&target, PAGE, PAGE) == 0 ? 0 : -1, "memory");
	memset(target, 0, PAGE);
	window = scif_register(peer, target, PAGE, 0, SCIF_PROT_WRITE, 0);
	must(window, "scif_register");
	fd = hold();
	for (size_t i = 0; i < THREADS; i++)
		must(-pthread_create(&threads[i], NULL, writer, (void *)(uintptr_t)i), "thread");
	await_all_asleep();
	let_go(fd);
	for (size_t i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		if (result != NULL || target[i] != VALUE) {
			printf("transfer %zu: result %ld, byte %d\n", i, (long)(intptr_t)result,
			       target[i]);
			wrong++;
		}
	}
	return wrong != 0;
}
