/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry of this process's endpoints.  It is written through a mapping, so describing an
 * endpoint costs no system call; a slot's sequence number lets the reader notice a write in
 * progress.
 */
#include "registry.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault_point.h"
#include "node.h"
#include "process.h"

enum { FIRST_CAPACITY = 4096 };

static struct {
	pthread_mutex_t lock;
	int fd;
	struct fd_identity identity;
	struct registry_header *map; /* NULL: none, or the parent's */
	uint32_t capacity;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static size_t size_for(uint32_t capacity)
{
	return sizeof(struct registry_header) + (size_t)capacity * sizeof(struct registry_slot);
}

static struct registry_slot *slots(void)
{
	return (struct registry_slot *)(registry.map + 1);
}

/* What the parent knew about the descriptors that the child has inherited. */
static void copy_parent(int parent_fd, uint32_t capacity)
{
	size_t done = 0;
	size_t size = (size_t)capacity * sizeof(struct registry_slot);
	char *to = (char *)slots();

	while (done < size) {
		ssize_t count = pread(parent_fd, to + done, size - done,
				      (off_t)(sizeof(struct registry_header) + done));

		if (count <= 0)
			return;
		done += (size_t)count;
	}
}

static int create(uint32_t capacity)
{
	int fd = fd_keep(memfd_create(REGISTRY_NAME, MFD_CLOEXEC));
	void *map;
	int error;

	if (fd < 0)
		return -errno;
	if (fd_set_size(fd, (off_t)size_for(capacity)) < 0) {
		error = -errno;
		goto fail;
	}
	map = mmap(NULL, size_for(capacity), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		error = -errno;
		goto fail;
	}
	/* A child must not write the parent's registry. */
	madvise(map, size_for(capacity), MADV_DONTFORK);
	registry.fd = fd;
	fd_identify(fd, &registry.identity);
	registry.map = map;
	registry.capacity = capacity;
	registry.map->magic = REGISTRY_MAGIC;
	registry.map->version = REGISTRY_VERSION;
	registry.map->pid = (uint32_t)getpid();
	registry.map->node = node_self();
	registry.map->capacity = capacity;
	return 0;
fail:
	close(fd);
	return error;
}

static int ensure(void)
{
	int parent_fd = registry.fd;
	uint32_t capacity = registry.capacity == 0 ? FIRST_CAPACITY : registry.capacity;
	bool inherited;
	int error;

	if (registry.map != NULL)
		return 0;
	inherited = fd_is(parent_fd, &registry.identity);
	error = create(capacity);
	if (error < 0 || !inherited)
		return error;
	copy_parent(parent_fd, capacity);
	close(parent_fd);
	return 0;
}

int registry_init(void)
{
	int error;

	pthread_mutex_lock(&registry.lock);
	error = ensure();
	pthread_mutex_unlock(&registry.lock);
	return error;
}

static bool grow(uint32_t fd)
{
	uint32_t capacity = registry.capacity;
	void *map;

	while (capacity <= fd)
		capacity *= 2;
	if (!fd_is(registry.fd, &registry.identity))
		return false;
	if (fd_set_size(registry.fd, (off_t)size_for(capacity)) < 0)
		return false;
	map = mremap(registry.map, size_for(registry.capacity), size_for(capacity), MREMAP_MAYMOVE);
	if (map == MAP_FAILED)
		return false;
	registry.map = map;
	registry.capacity = capacity;
	registry.map->capacity = capacity;
	return true;
}

static struct registry_slot *slot_for(int fd)
{
	if (fd < 0 || ensure() < 0)
		return NULL;
	if ((uint32_t)fd >= registry.capacity && !grow((uint32_t)fd))
		return NULL;
	return &slots()[fd];
}

static void slot_write(struct registry_slot *slot, const struct registry_entry *entry)
{
	/* The reader is another process: odd before, even after, each store ordered by the fence.
	 */
	slot->sequence++;
	atomic_thread_fence(memory_order_seq_cst);
	FAULT_POINT("registry-slot");
	slot->used = entry != NULL;
	if (entry != NULL)
		slot->entry = *entry;
	atomic_thread_fence(memory_order_seq_cst);
	slot->sequence++;
}

void registry_endpoint(int fd, const struct registry_entry *entry)
{
	struct registry_entry next = *entry;
	struct registry_slot *slot;

	pthread_mutex_lock(&registry.lock);
	slot = slot_for(fd);
	if (slot != NULL) {
		bool same = slot->used && slot->entry.inode == entry->inode;

		next.windows = same ? slot->entry.windows : 0;
		next.bytes = same ? slot->entry.bytes : 0;
		slot_write(slot, &next);
	}
	pthread_mutex_unlock(&registry.lock);
}

void registry_windows(int fd, uint32_t windows, uint64_t bytes)
{
	struct registry_slot *slot;

	pthread_mutex_lock(&registry.lock);
	slot = slot_for(fd);
	if (slot != NULL && slot->used) {
		struct registry_entry next = slot->entry;

		next.windows = windows;
		next.bytes = bytes;
		slot_write(slot, &next);
	}
	pthread_mutex_unlock(&registry.lock);
}

void registry_remove(int fd)
{
	struct registry_slot *slot;

	pthread_mutex_lock(&registry.lock);
	slot = slot_for(fd);
	if (slot != NULL && slot->used)
		slot_write(slot, NULL);
	pthread_mutex_unlock(&registry.lock);
}

void registry_forked(void)
{
	pthread_mutex_init(&registry.lock, NULL);
	registry.map = NULL;
}
