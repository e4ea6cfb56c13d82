/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that registers, unregisters and gives back memory again and again, as it does with buffers of one use, holds
 * no more pages than a few of them need.
 */
#include <dirent.h>
#include <errno.h>
#include <scif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ends.h"

enum { ROUNDS = 24 };
static const size_t SIZE = (size_t)16 << 20, MOST = (size_t)128 << 20;

/* Connected to another endpoint of this process. */
static scif_epd_t connected(void)
{
	scif_epd_t epd, accepted;

	connect_ends(&epd, &accepted);
	return epd;
}

/* What lies in files of memory that this process has open. */
static size_t held(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t bytes = 0;

	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		char target[64];
		struct stat st;
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		if (n < 0)
			continue;
		target[n] = '\0';
		if (!strncmp(target, "/memfd:", 7) && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
			bytes += (size_t)st.st_blocks * 512;
	}
	closedir(dir);
	return bytes;
}

int main(void)
{
	char fabric[40];
	size_t most = 0;

	snprintf(fabric, sizeof(fabric), "returned-%d", (int)getpid());
	setenv("SCIF_FABRIC", fabric, 1);
	scif_epd_t epd = connected();
	for (int i = 0; i < ROUNDS; i++) {
		void *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		must(bytes == MAP_FAILED ? -1 : 0, "mmap");
		memset(bytes, i, SIZE);
		off_t window = scif_register(epd, bytes, SIZE, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);
		must(window < 0 ? -1 : 0, "register");
		must(scif_unregister(epd, window, SIZE), "unregister");
		munmap(bytes, SIZE);
		most = held() > most ? held() : most;
	}
	printf("%d times %zu MiB: at most %zu MiB are held\n", ROUNDS, SIZE >> 20, most >> 20);
	return most < SIZE || most > MOST;
}
