/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 of memory and of files. */
#include "hash.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>

static void finish(struct sha256_ctx *context, char text[HASH_TEXT])
{
	unsigned char digest[SHA256_DIGEST_SIZE];
	size_t i;

	sha256_digest(context, sizeof(digest), digest);
	for (i = 0; i < sizeof(digest); i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

void hash_bytes(char text[HASH_TEXT], const void *bytes, size_t length)
{
	struct sha256_ctx context;

	sha256_init(&context);
	sha256_update(&context, length, bytes);
	finish(&context, text);
}

int hash_file(char text[HASH_TEXT], const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned char block[65536];
	struct sha256_ctx context;
	size_t got;
	int status;

	if (!file)
		return -errno;
	sha256_init(&context);
	while ((got = fread(block, 1, sizeof(block), file)) > 0)
		sha256_update(&context, got, block);
	status = ferror(file) ? -EIO : 0;
	fclose(file);
	finish(&context, text);
	return status;
}
