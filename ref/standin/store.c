/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric's page stores.  It keeps what it shares with peers of one user from those of another;
 * a driver hands nobody a file, so any page may be registered for any peer.
 */
#define store_class_same  fabric_store_class_same
#define store_open_shared fabric_store_open_shared
#include "../embedded/store.c"
#undef store_open_shared
#undef store_class_same

bool store_class_same(const struct store_class *a, const struct store_class *b);
int store_open_shared(struct maps *maps, const struct area *area, bool write, struct store **store,
		      int *fd);

bool store_class_same(const struct store_class *a, const struct store_class *b)
{
	(void)a;
	(void)b;
	return true;
}

/* A file with the area's bytes, mapped in its place; the descriptor or -1. */
static int replace_by_file(const struct area *area)
{
	size_t size = area->end - area->start;
	int fd = fd_keep(memfd_create("scif-standin", MFD_CLOEXEC));

	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)(area->offset + size)) == 0 &&
	    pwrite(fd, (void *)area->start, size, (off_t)area->offset) == (ssize_t)size &&
	    mmap((void *)area->start, size, area->prot, MAP_SHARED | MAP_FIXED, fd,
		 (off_t)area->offset) != MAP_FAILED)
		return fd;
	close(fd);
	return -1;
}

/*
 * Without privilege the file behind shared memory that has no name cannot be had.  It gets another
 * one, which the processes that share it by fork do not see.
 */
int store_open_shared(struct maps *maps, const struct area *area, bool write, struct store **store,
		      int *fd)
{
	int error = fabric_store_open_shared(maps, area, write, store, fd);
	struct stat st;

	if (error != -EAGAIN || (*fd = replace_by_file(area)) < 0)
		return error;
	error = fstat(*fd, &st) != 0 ? -EAGAIN : 0;
	if (error == 0) {
		pthread_mutex_lock(&stores_lock);
		error = store_of_file(*fd, STORE_SHARED, false, true,
				      (uint64_t)st.st_size >> PAGE_BITS, &st, store);
		pthread_mutex_unlock(&stores_lock);
	}
	if (error != 0)
		close(*fd);
	return error;
}
