/* SPDX-License-Identifier: BSD-2-Clause */
/* A held page: see held.h. */
#include "held.h"

#include "pattern.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int held_open(struct held_page *h, size_t len)
{
	return held_open_start(h, len, len);
}

#if __has_include(<linux/userfaultfd.h>)
#include <linux/userfaultfd.h>

static int held_register(struct held_page *h)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {(uintptr_t)h->addr, h->len},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (ioctl(h->uffd, UFFDIO_API, &api) == -1)
		return -errno;
	if (ioctl(h->uffd, UFFDIO_REGISTER, &range) == -1)
		return -errno;
	return 0;
}

/* Without privilege only user code is held back; a system call that meets the page gets EFAULT. */
static int open_userfaultfd(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	return fd == -1 ? (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY) : fd;
}

int held_open_start(struct held_page *h, size_t held, size_t len)
{
	int err;

	h->len = held;
	h->uffd = open_userfaultfd();
	if (h->uffd == -1)
		return -errno;
	h->addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (h->addr == MAP_FAILED) {
		err = -errno;
		goto close_uffd;
	}
	err = held_register(h);
	if (!err)
		return 0;
	munmap(h->addr, len);
close_uffd:
	close(h->uffd);
	h->uffd = -1;
	return err;
}

int held_release(struct held_page *h, unsigned seed)
{
	void *content = aligned_alloc((size_t)sysconf(_SC_PAGESIZE), h->len);

	if (!content)
		return -ENOMEM;
	cts_fill_at(content, h->len, seed, 0);
	struct uffdio_copy copy = {
		.dst = (uintptr_t)h->addr,
		.src = (uintptr_t)content,
		.len = h->len,
	};
	int err = ioctl(h->uffd, UFFDIO_COPY, &copy) == -1 ? -errno : 0;
	free(content);
	return err;
}

void held_close(struct held_page *h)
{
	if (h->uffd != -1)
		close(h->uffd); /* the kernel lets sleepers go on with ordinary zero pages */
	h->uffd = -1;
}
#else
/* A card's kernel is older than userfaultfd. */
int held_open_start(struct held_page *h, size_t held, size_t len)
{
	(void)len;
	h->uffd = -1;
	h->len = held;
	return -ENOSYS;
}

int held_release(struct held_page *h, unsigned seed)
{
	(void)h, (void)seed;
	return -ENOSYS;
}

void held_close(struct held_page *h)
{
	(void)h;
}
#endif
