/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page stores and the allocator of their frames. A frame is free when no window refers to it and no
 * process can have it mapped as application memory; the second is found out by looking into
 * /proc/self/maps once enough frames wait for it.
 */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connection.h"
#include "fault_point.h"
#include "process.h"

static const uint64_t STORE_PAGES = UINT64_C(1) << 20; /* of the first store: 4 GiB, sparse */
static const uint64_t STORE_PAGES_MAX = UINT64_C(1) << 30;
static const uint64_t FIRST_REACH = 256;  /* pages of a view */
static const uint64_t IDLE_FRAMES = 4096; /* worth a look into the maps */
/* A few peers' stores keep their descriptor, the others are mapped again out of their view. */
static const unsigned PEER_DESCRIPTORS = 8;

struct frame {
	uint32_t references; /* of windows */
	uint32_t holder;     /* process that may have it mapped as its memory, 0 none */
};

struct frames {
	pthread_mutex_t lock; /* robust: a holder may be killed */
	uint64_t cursor;      /* where the search for free frames goes on */
	uint64_t top;	      /* end of the frames ever used */
	uint64_t idle;	      /* frames without reference but with a holder */
	uint64_t live;	      /* frames with references */
	struct frame frame[];
};

static struct store *stores;
static unsigned peer_descriptors;
static pthread_mutex_t stores_lock = PTHREAD_MUTEX_INITIALIZER;

/* After a death every frame's word is right by itself; what is counted of them may not be. */
static void frames_count(struct frames *f)
{
	f->live = f->idle = 0;
	for (uint64_t i = 0; i < f->top; i++) {
		f->live += f->frame[i].references != 0;
		f->idle += f->frame[i].references == 0 && f->frame[i].holder != 0;
	}
}

static void frames_lock(struct frames *f)
{
	if (pthread_mutex_lock(&f->lock) != EOWNERDEAD)
		return;
	pthread_mutex_consistent(&f->lock);
	frames_count(f);
}

static void frames_unlock(struct frames *f)
{
	pthread_mutex_unlock(&f->lock);
}

static size_t frames_size(uint64_t pages)
{
	return sizeof(struct frames) + pages * sizeof(struct frame);
}

static struct frames *frames_create(uint64_t pages)
{
	struct frames *f = mmap(NULL, frames_size(pages), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f == MAP_FAILED)
		return NULL;
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&f->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return f;
}

static void *map_view(int fd, uint64_t pages, int prot)
{
	void *base = mmap(NULL, pages << PAGE_BITS, prot, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (base == MAP_FAILED)
		return NULL;
	/* Gigabytes of mostly nothing; what the application has of it is dumped where it has it. */
	madvise(base, pages << PAGE_BITS, MADV_DONTDUMP);
	return base;
}

int store_extend(struct store *s, uint64_t pages)
{
	uint64_t now = atomic_load(&s->reachable);
	uint64_t next = now ? 2 * now : FIRST_REACH;
	while (next < pages)
		next *= 2;
	if (next > s->pages)
		next = s->pages;
	/* Two threads may both do it; the one that reaches further is told. */
	if (mprotect(s->base, next << PAGE_BITS, PROT_READ | PROT_WRITE))
		return -ENOMEM;
	while (now < next && !atomic_compare_exchange_weak(&s->reachable, &now, next))
		;
	return 0;
}

static void store_destroy(struct store *s)
{
	if (s->base)
		munmap(s->base, s->pages << PAGE_BITS);
	if (s->frames)
		munmap(s->frames, frames_size(s->pages));
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static int create_memfd(uint64_t pages)
{
	int fd = fd_keep(memfd_create("scif-store", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (fd < 0)
		return -errno;
	if (fd_set_size(fd, pages << PAGE_BITS) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		int error = errno;
		close(fd);
		return -error;
	}
	return fd;
}

static int store_create(const struct store_class *class, uint64_t pages, struct store **store)
{
	int fd = create_memfd(pages);
	if (fd < 0)
		return fd;
	struct stat st;
	struct store *s = calloc(1, sizeof(*s));
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	*s = (struct store){
		.kind = STORE_OWN,
		.fd = fd,
		.pages = pages,
		.writable = true,
		.class = *class,
		.references = 1,
		.frames = frames_create(pages),
		.base = map_view(fd, pages, PROT_NONE),
	};
	if (!s->frames || !s->base || fstat(fd, &st)) {
		store_destroy(s);
		return -ENOMEM;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	s->next = stores;
	stores = s;
	*store = s;
	return 0;
}

bool store_class_same(const struct store_class *a, const struct store_class *b)
{
	return a->secret == b->secret && a->known == b->known && (!a->known || a->uid == b->uid);
}

static struct store_class class_of_user(uid_t uid, bool known)
{
	return (struct store_class){
		.uid = known ? uid : 0,
		.known = known,
		.secret = prctl(PR_GET_DUMPABLE) != 1,
	};
}

struct store_class store_class_of(const struct conn *c)
{
	return class_of_user(c->peer_uid, true);
}

static struct store *own_store(const struct store_class *class)
{
	for (struct store *s = stores; s; s = s->next)
		if (s->kind == STORE_OWN && !s->inherited && store_class_same(&s->class, class))
			return s;
	return NULL;
}

int store_own(const struct store_class *class, struct store **store)
{
	pthread_mutex_lock(&stores_lock);
	*store = own_store(class);
	int error = *store ? 0 : store_create(class, STORE_PAGES, store);
	if (!error)
		(*store)->references++;
	pthread_mutex_unlock(&stores_lock);
	return error;
}

int mem_store_fd(uid_t peer_uid, bool peer_known)
{
	struct store_class class = class_of_user(peer_uid, peer_known);
	struct store *s;
	int error = store_own(&class, &s);
	if (error)
		return error;
	store_put(s);
	return s->fd;
}

/* --- frames --- */

static bool frame_free(const struct frame *frame)
{
	return !frame->references && !frame->holder;
}

/* First run of free frames in [from, to); `to` when there is none. */
static uint64_t find_run(const struct frames *f, uint64_t from, uint64_t to, uint64_t pages)
{
	uint64_t start = from;
	for (uint64_t i = from; i < to; i++) {
		if (!frame_free(&f->frame[i]))
			start = i + 1;
		else if (i + 1 - start == pages)
			return start;
	}
	return to;
}

static bool take_run(struct store *s, uint64_t pages, uint64_t *frame)
{
	struct frames *f = s->frames;
	uint64_t at = find_run(f, f->cursor, s->pages, pages);
	if (at == s->pages)
		at = find_run(f, 0, s->pages, pages);
	if (at == s->pages)
		return false;
	/* First: who counts after a death looks no further. */
	f->cursor = at + pages;
	if (f->top < f->cursor)
		f->top = f->cursor;
	for (uint64_t i = 0; i < pages; i++)
		f->frame[at + i].references = 1;
	FAULT_POINT("frames-taken");
	f->live += pages;
	*frame = at;
	return true;
}

static void punch(struct store *s, uint64_t frame, uint64_t pages)
{
	if (pages)
		fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, frame << PAGE_BITS,
			  pages << PAGE_BITS);
}

static bool outside_view(const struct store *s, const struct area *area)
{
	return area->shared && area->ino == s->ino && area->dev == s->dev &&
	       (area->start < (uintptr_t)s->base ||
		area->end > (uintptr_t)s->base + (s->pages << PAGE_BITS));
}

struct store *store_of_area(const struct area *area)
{
	for (struct store *s = stores; s; s = s->next)
		if (s->kind == STORE_OWN && outside_view(s, area))
			return s;
	return NULL;
}

/* Sets a bit for every frame that this process has mapped outside the view. */
static int mark_mapped(struct store *s, unsigned char *bits)
{
	struct maps maps;
	int error = maps_open(&maps);
	if (error)
		return error;
	struct area area;
	for (uintptr_t at = 0; maps_next(&maps, at, &area); at = area.end) {
		if (!outside_view(s, &area))
			continue;
		uint64_t frame = area.offset >> PAGE_BITS;
		uint64_t end = frame + ((area.end - area.start) >> PAGE_BITS);
		for (; frame < end && frame < s->pages; frame++)
			bits[frame / 8] |= 1u << frame % 8;
	}
	maps_close(&maps);
	return 0;
}

static void collect_marked(struct store *s, const unsigned char *bits)
{
	struct frames *f = s->frames;
	uint32_t self = getpid(), asked = 0;
	bool dead = false;
	uint64_t run = 0;
	f->idle = 0;
	for (uint64_t i = 0; i < f->top; i++) {
		struct frame *frame = &f->frame[i];
		bool gone = false;
		if (!frame->references && frame->holder) {
			if (frame->holder != self && frame->holder != asked) {
				asked = frame->holder;
				dead = process_dead(asked);
			}
			gone = frame->holder == self ? !(bits[i / 8] & 1u << i % 8) : dead;
			f->idle += !gone;
		}
		if (gone) {
			frame->holder = 0;
			run++;
		} else {
			punch(s, i - run, run);
			run = 0;
		}
	}
	punch(s, f->top - run, run);
}

/* Frees the frames that are no longer mapped by anybody; under the frames' lock. */
static void collect(struct store *s)
{
	size_t size = s->pages / 8 + 1;
	unsigned char *bits = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bits == MAP_FAILED)
		return;
	if (mark_mapped(s, bits) == 0)
		collect_marked(s, bits);
	munmap(bits, size);
}

int store_take(struct store *s, uint64_t pages, uint64_t *frame)
{
	struct frames *f = s->frames;
	if (pages > s->pages)
		return -ENOMEM;
	frames_lock(f);
	if (f->idle > IDLE_FRAMES && f->idle > f->live / 2)
		collect(s);
	bool taken = take_run(s, pages, frame);
	if (!taken && f->idle) {
		collect(s);
		taken = take_run(s, pages, frame);
	}
	frames_unlock(f);
	return taken ? 0 : -ENOMEM;
}

void store_reference(struct store *s, uint64_t frame, uint64_t pages)
{
	if (!s->frames || frame > s->pages || pages > s->pages - frame)
		return;
	frames_lock(s->frames);
	for (uint64_t i = frame; i < frame + pages; i++) {
		if (s->frames->frame[i].references++)
			continue;
		FAULT_POINT("frames-referenced");
		s->frames->live++;
		s->frames->idle -= s->frames->idle > 0;
	}
	frames_unlock(s->frames);
}

void store_release(struct store *s, uint64_t frame, uint64_t pages)
{
	if (!s->frames || frame > s->pages || pages > s->pages - frame)
		return;
	struct frames *f = s->frames;
	uint64_t run = 0;
	frames_lock(f);
	for (uint64_t i = frame; i < frame + pages; i++) {
		bool freed = false;
		FAULT_POINT("frames-released");
		if (f->frame[i].references && --f->frame[i].references == 0) {
			f->live--;
			freed = !f->frame[i].holder;
			f->idle += !freed;
		}
		if (!freed)
			punch(s, i - run, run);
		run = freed ? run + 1 : 0;
	}
	punch(s, frame + pages - run, run);
	frames_unlock(f);
}

void store_hold(struct store *s, uint64_t frame, uint64_t pages)
{
	uint32_t self = getpid();
	frames_lock(s->frames);
	for (uint64_t i = frame; i < frame + pages; i++)
		s->frames->frame[i].holder = self;
	FAULT_POINT("frames-held");
	frames_unlock(s->frames);
}

static uint64_t size_for(const struct store_class *class, uint64_t pages)
{
	uint64_t size = STORE_PAGES;
	for (struct store *s = stores; s; s = s->next)
		if (s->kind == STORE_OWN && store_class_same(&s->class, class) &&
		    size < 2 * s->pages)
			size = 2 * s->pages;
	while (size < pages)
		size *= 2;
	return size;
}

int store_with_room(const struct store_class *class, struct store *preferred, uint64_t pages,
		    struct store **store, uint64_t *frame)
{
	*store = preferred;
	if (store_take(preferred, pages, frame) == 0)
		return 0;
	pthread_mutex_lock(&stores_lock);
	struct store *s = stores;
	for (; s; s = s->next)
		if (s->kind == STORE_OWN && !s->inherited && store_class_same(&s->class, class) &&
		    s != preferred && store_take(s, pages, frame) == 0)
			break;
	int error = 0;
	if (!s) {
		uint64_t size = size_for(class, pages);
		error = size > STORE_PAGES_MAX ? -ENOMEM : store_create(class, size, &s);
		if (!error)
			error = store_take(s, pages, frame);
	}
	pthread_mutex_unlock(&stores_lock);
	*store = s;
	return error ? -ENOMEM : 0;
}

/* --- other people's files --- */

struct store *store_find(const struct area *area, uint64_t pages)
{
	uint64_t end = (area->offset >> PAGE_BITS) + pages;
	struct store *found = NULL;
	pthread_mutex_lock(&stores_lock);
	for (struct store *s = stores; s && !found; s = s->next)
		if (s->kind != STORE_PEER && s->ino == area->ino && s->dev == area->dev &&
		    end <= s->pages)
			found = s;
	if (found)
		found->references++;
	pthread_mutex_unlock(&stores_lock);
	return found;
}

static bool same_file(int fd, const struct area *area)
{
	struct stat st;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_ino != area->ino)
		return false;
	/* stat and maps name the device differently on some file systems: compare as the maps do */
	struct area mine;
	struct maps maps;
	void *probe = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (probe == MAP_FAILED)
		return st.st_dev == area->dev;
	bool same = false;
	if (maps_open(&maps) == 0) {
		same = maps_next(&maps, (uintptr_t)probe, &mine) && mine.ino == area->ino &&
		       mine.dev == area->dev;
		maps_close(&maps);
	}
	munmap(probe, PAGE_BYTES);
	return same;
}

/* Opening anything but a regular file could have effects. */
static int open_regular(const char *path, int flags, const struct area *area)
{
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_ino != area->ino)
		return -1;
	int fd = fd_keep(open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	if (fd >= 0 && !same_file(fd, area)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_by_descriptor(int flags, const struct area *area)
{
	DIR *dir = opendir("/proc/self/fd");
	if (!dir)
		return -1;
	int fd = -1;
	for (struct dirent *entry; fd < 0 && (entry = readdir(dir));) {
		char path[sizeof("/proc/self/fd/") + sizeof(entry->d_name)];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		fd = open_regular(path, flags, area);
	}
	closedir(dir);
	return fd;
}

static int open_area(struct maps *maps, const struct area *area, int flags)
{
	char path[4096] = "";
	int fd = -1;
	if (maps_path(maps, area->start, path, sizeof(path)))
		fd = open_regular(path, flags, area);
	return fd >= 0 ? fd : open_by_descriptor(flags, area);
}

static void store_insert(struct store *s)
{
	s->next = stores;
	stores = s;
}

static int store_of_file(int fd, enum store_kind kind, bool sealed, bool writable, uint64_t pages,
			 const struct stat *st, struct store **store)
{
	int prot = sealed ? PROT_NONE : writable ? PROT_READ | PROT_WRITE : PROT_READ;
	struct store *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct store){
		.kind = kind,
		.fd = -1,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.pages = pages,
		.writable = writable,
		.references = 1,
		.reachable = sealed ? 0 : pages,
		.base = map_view(fd, pages, prot),
	};
	if (!s->base) {
		free(s);
		return -ENOMEM;
	}
	store_insert(s);
	*store = s;
	return 0;
}

int store_open_shared(struct maps *maps, const struct area *area, bool write, struct store **store,
		      int *fd)
{
	struct stat st;
	*fd = open_area(maps, area, O_RDWR);
	bool writable = *fd >= 0;
	if (!writable && !write)
		*fd = open_area(maps, area, O_RDONLY);
	if (*fd < 0)
		return -EAGAIN;
	int error = fstat(*fd, &st) ? -errno : 0;
	if (!error) {
		st.st_dev = area->dev;
		pthread_mutex_lock(&stores_lock);
		error = store_of_file(*fd, STORE_SHARED, false, writable,
				      (st.st_size + PAGE_BYTES - 1) >> PAGE_BITS, &st, store);
		pthread_mutex_unlock(&stores_lock);
	}
	if (error)
		close(*fd);
	return error;
}

static struct store *peer_store(const struct stat *st, bool writable, uint64_t pages)
{
	for (struct store *s = stores; s; s = s->next)
		if (s->kind != STORE_SHARED && s->ino == st->st_ino && s->dev == st->st_dev &&
		    pages <= s->pages && s->writable == writable)
			return s;
	return NULL;
}

static int check_file(int fd, bool sealed, uint64_t *pages, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EPROTO;
	if (sealed && !(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK))
		return -EPROTO;
	uint64_t there = (st->st_size + PAGE_BYTES - 1) >> PAGE_BITS;
	if (!*pages)
		*pages = there;
	/* A larger one is not made by ours, and would take all room for addresses. */
	return *pages && *pages <= there && *pages <= STORE_PAGES_MAX ? 0 : -EPROTO;
}

int store_open_peer(int fd, bool sealed, bool writable, uint64_t pages, struct store **store)
{
	struct stat st;
	int error = check_file(fd, sealed, &pages, &st);
	if (error) {
		close(fd);
		return error;
	}
	pthread_mutex_lock(&stores_lock);
	struct store *s = peer_store(&st, writable, pages);
	if (s)
		s->references++;
	else
		error = store_of_file(fd, STORE_PEER, sealed, writable, pages, &st, &s);
	if (!error && s->kind == STORE_PEER && s->fd < 0 && peer_descriptors < PEER_DESCRIPTORS) {
		peer_descriptors++;
		s->fd = fd;
		fd = -1;
	}
	pthread_mutex_unlock(&stores_lock);
	if (fd >= 0)
		close(fd);
	*store = s;
	return error;
}

void store_get(struct store *s)
{
	pthread_mutex_lock(&stores_lock);
	s->references++;
	pthread_mutex_unlock(&stores_lock);
}

void store_put(struct store *s)
{
	pthread_mutex_lock(&stores_lock);
	bool last = --s->references == 0 && s->kind != STORE_OWN;
	if (last) {
		struct store **link = &stores;
		while (*link != s)
			link = &(*link)->next;
		*link = s->next;
		peer_descriptors -= s->kind == STORE_PEER && s->fd >= 0;
	}
	pthread_mutex_unlock(&stores_lock);
	if (last)
		store_destroy(s);
}

int store_map(const struct store *s, uint64_t frame, uint64_t pages, int prot, void *target,
	      int flags)
{
	size_t size = pages << PAGE_BITS;
	if (s->fd >= 0) {
		void *at = mmap(target, size, prot, MAP_SHARED | MAP_FIXED | flags, s->fd,
				frame << PAGE_BITS);
		return at == MAP_FAILED ? -errno : 0;
	}
	/* Old length 0 of a shared mapping: the same pages once more, at another place. */
	void *at = mremap(s->base + (frame << PAGE_BITS), 0, size, MREMAP_MAYMOVE | MREMAP_FIXED,
			  target);
	if (at == MAP_FAILED || mprotect(at, size, prot))
		return -errno;
	return 0;
}

/* --- fork --- */

bool store_any(void)
{
	for (struct store *s = stores; s; s = s->next)
		if (s->kind == STORE_OWN)
			return true;
	return false;
}

void store_atfork_prepare(void)
{
	pthread_mutex_lock(&stores_lock);
}

void store_atfork_parent(void)
{
	pthread_mutex_unlock(&stores_lock);
}

/* New connections of the child get a store of its own, which goes when the child goes. */
void store_atfork_child(void)
{
	for (struct store *s = stores; s; s = s->next)
		s->inherited = true;
	pthread_mutex_unlock(&stores_lock);
}
