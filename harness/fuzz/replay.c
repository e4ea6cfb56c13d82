/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target on the files and folders of files that are named, without a fuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MOST = 4096, LIMIT_SECONDS = 60 };

static unsigned replayed;

static void replay_file(const char *path)
{
	uint8_t *data = malloc(INPUT_MOST);
	FILE *file = fopen(path, "re");
	size_t size;

	if (data == NULL || file == NULL) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	size = fread(data, 1, INPUT_MOST, file);
	fclose(file);
	fprintf(stderr, "# %s\n", path);
	alarm(LIMIT_SECONDS);
	LLVMFuzzerTestOneInput(data, size);
	alarm(0);
	free(data);
	replayed++;
}

static void replay(const char *path)
{
	struct dirent **entries;
	struct stat status;
	char inside[4096];
	int count;

	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
		replay_file(path);
		return;
	}
	count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] == '.')
			continue;
		snprintf(inside, sizeof(inside), "%s/%s", path, entries[i]->d_name);
		replay(inside);
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%u inputs\n", replayed);
	return replayed == 0;
}
