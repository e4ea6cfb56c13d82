/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small ELF reader for shared libraries of this machine's own class.  Every offset is checked
 * against the size of the file before it is followed: the file is somebody else's.
 */
#include "library.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format.h"
#include "hash.h"

/* The ELF header of this very program, placed by the linker. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

#define SYMBOL_BINDING(info)	 ((info) >> 4)
#define SYMBOL_TYPE(info)	 ((info)&0xf)
#define SYMBOL_VISIBILITY(other) ((other)&0x3)

struct image {
	const unsigned char *bytes;
	size_t size;
	const ElfW(Ehdr) * header;
	const ElfW(Phdr) * segments;
};

struct dynamic {
	const ElfW(Dyn) * entries;
	size_t count;
	const char *strings;
	size_t strings_size;
	const ElfW(Sym) * symbols;
	size_t symbol_count;
};

static const void *at(const struct image *image, uint64_t offset, uint64_t size, size_t alignment)
{
	if (offset > image->size || size > image->size - offset || offset % alignment)
		return NULL;
	return image->bytes + offset;
}

/* The file's copy of SIZE bytes at a virtual address; *rest gets what the file holds from there on.
 */
static const void *at_address(const struct image *image, uint64_t address, uint64_t size,
			      size_t alignment, uint64_t *rest)
{
	int i;

	for (i = 0; i < image->header->e_phnum; i++) {
		const ElfW(Phdr) *segment = &image->segments[i];
		uint64_t inside;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr)
			continue;
		inside = address - segment->p_vaddr;
		if (inside > segment->p_filesz || size > segment->p_filesz - inside)
			continue;
		if (rest)
			*rest = segment->p_filesz - inside;
		return at(image, segment->p_offset + inside, size, alignment);
	}
	return NULL;
}

static const char *machine_name(unsigned int machine)
{
	switch (machine) {
	case EM_386:
		return "i386";
	case EM_X86_64:
		return "x86-64";
	case EM_ARM:
		return "arm";
	case EM_AARCH64:
		return "aarch64";
	case EM_RISCV:
		return "riscv";
	case EM_PPC64:
		return "ppc64";
	case EM_S390:
		return "s390";
	case 181:
		return "k1om";
	default:
		return "another machine";
	}
}

static char *check_header(struct image *image)
{
	const ElfW(Ehdr) *header = image->header = at(image, 0, sizeof(*header), 1);

	if (image->size < EI_NIDENT || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
		return copy_text("not an ELF file");
	if (image->bytes[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
	    image->bytes[EI_DATA] != __ehdr_start.e_ident[EI_DATA])
		return copy_text("an ELF file of another word size or byte order");
	if (!header)
		return copy_text("a truncated ELF file");
	if (header->e_machine != __ehdr_start.e_machine)
		return format_text("built for %s, this machine is %s",
				   machine_name(header->e_machine),
				   machine_name(__ehdr_start.e_machine));
	if (header->e_type != ET_DYN)
		return copy_text("an ELF file, but no shared library");
	image->segments =
		at(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof(*image->segments),
		   _Alignof(ElfW(Phdr)));
	if (!image->segments || header->e_phentsize != sizeof(*image->segments))
		return copy_text("an ELF file with a damaged program header");
	return NULL;
}

static uint64_t dynamic_value(const struct dynamic *dynamic, ElfW(Sxword) tag)
{
	size_t i;

	for (i = 0; i < dynamic->count && dynamic->entries[i].d_tag != DT_NULL; i++) {
		if (dynamic->entries[i].d_tag == tag)
			return dynamic->entries[i].d_un.d_val;
	}
	return 0;
}

/* The number of dynamic symbols, which only the hash tables tell. */
static size_t gnu_symbol_count(const struct image *image, uint64_t address)
{
	const uint32_t *header = at_address(image, address, 16, 4, NULL);
	const uint32_t *buckets, *chain;
	uint64_t bucket_count, first, chains, last = 0, i;

	if (!header)
		return 0;
	bucket_count = header[0];
	first = header[1];
	address += 16 + (uint64_t)header[2] * sizeof(ElfW(Addr));
	buckets = at_address(image, address, bucket_count * 4, 4, NULL);
	if (!buckets)
		return 0;
	for (i = 0; i < bucket_count; i++) {
		if (buckets[i] > last)
			last = buckets[i];
	}
	if (last < first)
		return first;
	chains = address + bucket_count * 4;
	for (;; last++) {
		chain = at_address(image, chains + (last - first) * 4, 4, 4, NULL);
		if (!chain)
			return 0;
		if (*chain & 1)
			return last + 1;
	}
}

static size_t count_symbols(const struct image *image, const struct dynamic *dynamic)
{
	uint64_t table = dynamic_value(dynamic, DT_GNU_HASH);
	const uint32_t *header;

	if (table)
		return gnu_symbol_count(image, table);
	table = dynamic_value(dynamic, DT_HASH);
	header = table ? at_address(image, table, 8, 4, NULL) : NULL;
	return header ? header[1] : 0;
}

static char *read_dynamic(const struct image *image, struct dynamic *dynamic)
{
	uint64_t rest = 0;
	int i;

	for (i = 0; i < image->header->e_phnum; i++) {
		const ElfW(Phdr) *segment = &image->segments[i];

		if (segment->p_type != PT_DYNAMIC)
			continue;
		dynamic->entries =
			at(image, segment->p_offset, segment->p_filesz, _Alignof(ElfW(Dyn)));
		dynamic->count = segment->p_filesz / sizeof(ElfW(Dyn));
	}
	if (!dynamic->entries)
		return copy_text("an ELF file without a dynamic section");
	dynamic->strings_size = dynamic_value(dynamic, DT_STRSZ);
	dynamic->strings = at_address(image, dynamic_value(dynamic, DT_STRTAB),
				      dynamic->strings_size, 1, &rest);
	if (!dynamic->strings || !dynamic->strings_size ||
	    dynamic->strings[dynamic->strings_size - 1])
		return copy_text("an ELF file with a damaged string table");
	dynamic->symbol_count = count_symbols(image, dynamic);
	dynamic->symbols =
		at_address(image, dynamic_value(dynamic, DT_SYMTAB),
			   dynamic->symbol_count * sizeof(ElfW(Sym)), _Alignof(ElfW(Sym)), NULL);
	if (!dynamic->symbols)
		return copy_text("an ELF file with a damaged symbol table");
	return NULL;
}

static const char *string_at(const struct dynamic *dynamic, uint64_t offset)
{
	return offset < dynamic->strings_size ? dynamic->strings + offset : "";
}

static bool is_exported_function(const ElfW(Sym) * symbol)
{
	unsigned int binding = SYMBOL_BINDING(symbol->st_info);
	unsigned int type = SYMBOL_TYPE(symbol->st_info);
	unsigned int visibility = SYMBOL_VISIBILITY(symbol->st_other);

	if (symbol->st_shndx == SHN_UNDEF || (binding != STB_GLOBAL && binding != STB_WEAK))
		return false;
	if (visibility != STV_DEFAULT && visibility != STV_PROTECTED)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_exports(struct library *library, const struct dynamic *dynamic)
{
	size_t i;

	library->exports = zeroed_array(dynamic->symbol_count, sizeof(*library->exports));
	for (i = 0; i < dynamic->symbol_count; i++) {
		if (is_exported_function(&dynamic->symbols[i]))
			library->exports[library->export_count++] =
				copy_text(string_at(dynamic, dynamic->symbols[i].st_name));
	}
	library_sort_exports(library);
}

static void read_names(struct library *library, const struct dynamic *dynamic)
{
	static const char *const runtimes[] = {"libasan.", "libtsan.", "libubsan.", "liblsan."};
	uint64_t soname = dynamic_value(dynamic, DT_SONAME);
	size_t i, r;

	if (soname)
		library->soname = copy_text(string_at(dynamic, soname));
	for (i = 0; i < dynamic->count && dynamic->entries[i].d_tag != DT_NULL; i++) {
		const char *needed = string_at(dynamic, dynamic->entries[i].d_un.d_val);

		if (dynamic->entries[i].d_tag != DT_NEEDED || library->sanitizer)
			continue;
		for (r = 0; r < sizeof(runtimes) / sizeof(*runtimes); r++) {
			if (strncmp(needed, runtimes[r], strlen(runtimes[r])) == 0)
				library->sanitizer = copy_text(needed);
		}
	}
}

static char *hexadecimal(const unsigned char *bytes, size_t size)
{
	char *text = zeroed_array(2 * size + 1, 1);
	size_t i;

	for (i = 0; i < size; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return text;
}

/* Looks for the build id among the notes of one segment. */
static void read_notes(struct library *library, const struct image *image,
		       const ElfW(Phdr) * segment)
{
	uint64_t offset = segment->p_offset, end = segment->p_offset + segment->p_filesz;

	while (!library->build_id && offset + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *note = at(image, offset, sizeof(*note), 4);
		uint64_t name = offset + sizeof(*note), description, next;
		const unsigned char *bytes;
		const char *owner;

		if (!note)
			return;
		description = name + ((uint64_t)note->n_namesz + 3) / 4 * 4;
		next = description + ((uint64_t)note->n_descsz + 3) / 4 * 4;
		owner = at(image, name, note->n_namesz, 1);
		bytes = at(image, description, note->n_descsz, 1);
		if (!owner || !bytes)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(owner, "GNU", 4) == 0)
			library->build_id = hexadecimal(bytes, note->n_descsz);
		offset = next;
	}
}

static void read_build_id(struct library *library, const struct image *image)
{
	int i;

	for (i = 0; i < image->header->e_phnum; i++) {
		if (image->segments[i].p_type == PT_NOTE)
			read_notes(library, image, &image->segments[i]);
	}
}

static void read_hash(struct library *library, const struct image *image)
{
	hash_bytes(library->sha256, image->bytes, image->size);
}

static char *read_image(struct library *library, struct image *image)
{
	struct dynamic dynamic = {0};
	char *wrong = check_header(image);

	if (!wrong)
		wrong = read_dynamic(image, &dynamic);
	if (wrong)
		return wrong;
	read_names(library, &dynamic);
	read_exports(library, &dynamic);
	read_build_id(library, image);
	read_hash(library, image);
	return NULL;
}

static char *map_file(struct image *image, const char *path)
{
	struct stat status;
	void *bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return copy_text(strerror(errno));
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return copy_text("not a regular file");
	}
	if (status.st_size < EI_NIDENT) {
		close(fd);
		return copy_text("not an ELF file");
	}
	bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return copy_text(strerror(errno));
	image->bytes = bytes;
	image->size = status.st_size;
	return NULL;
}

char *library_read(struct library *library, const char *path)
{
	struct image image = {0};
	char *wrong;

	memset(library, 0, sizeof(*library));
	wrong = map_file(&image, path);
	if (wrong)
		return wrong;
	library->path = copy_text(path);
	library->real_path = realpath(path, NULL);
	wrong = library->real_path ? read_image(library, &image) : copy_text(strerror(errno));
	munmap((void *)image.bytes, image.size);
	if (wrong)
		library_free(library);
	return wrong;
}

void library_sort_exports(struct library *library)
{
	qsort(library->exports, library->export_count, sizeof(*library->exports), compare_names);
}

bool library_needs_linking(const struct library *library)
{
	return library->sanitizer && strncmp(library->sanitizer, "libubsan.", 9) != 0;
}

bool library_exports(const struct library *library, const char *function)
{
	return bsearch(&function, library->exports, library->export_count,
		       sizeof(*library->exports), compare_names) != NULL;
}

void library_free(struct library *library)
{
	size_t i;

	for (i = 0; i < library->export_count; i++)
		free(library->exports[i]);
	free(library->exports);
	free(library->path);
	free(library->real_path);
	free(library->soname);
	free(library->build_id);
	free(library->sanitizer);
	memset(library, 0, sizeof(*library));
}
