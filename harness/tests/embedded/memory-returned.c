/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that registers, unregisters and gives back memory again and again, as it does with buffers of one use, holds
 * no more pages than a few of them need.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <scif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 24, BROKEN = 99 };
static const size_t SIZE = (size_t)16 << 20, MOST = (size_t)128 << 20;

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(BROKEN);
}

/* Connected to another endpoint of this process. */
static scif_epd_t connected(void)
{
	scif_epd_t listener = scif_open(), epd = scif_open(), accepted;
	struct scif_portID to, from;
	uint16_t self;

	must(scif_get_nodeIDs(NULL, 0, &self), "get_nodeIDs");
	int port = scif_bind(listener, 0);
	must(port, "bind");
	must(scif_listen(listener, 1), "listen");
	to = (struct scif_portID){self, (uint16_t)port};
	fcntl(epd, F_SETFL, O_NONBLOCK);
	scif_connect(epd, &to);
	must(scif_accept(listener, &from, &accepted, SCIF_ACCEPT_SYNC), "accept");
	must(scif_connect(epd, &to), "connect");
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
