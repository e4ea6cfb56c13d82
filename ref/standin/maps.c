/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric's look into the process's mappings.  The file behind one is found through the mapping
 * itself, where the kernel allows that: shared memory without a name is memory to a driver.
 */
#define maps_path fabric_maps_path
#include "../embedded/maps.c"
#undef maps_path

bool maps_path(struct maps *m, uintptr_t addr, char *path, size_t size);

bool maps_path(struct maps *m, uintptr_t addr, char *path, size_t size)
{
	struct area area;

	if (maps_next(m, addr, &area) && area.start <= addr) {
		snprintf(path, size, "/proc/self/map_files/%" PRIxPTR "-%" PRIxPTR, area.start,
			 area.end);
		if (access(path, R_OK) == 0)
			return true;
	}
	return fabric_maps_path(m, addr, path, size);
}
