/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mutants of librsm that were written by hand and that can be made from outside; by_hand.tsv
 * says what each gets wrong.
 */
#include "rsm_by_hand.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "rsm_wrapped.h"

/* The calls of the wrapped library that a mutant replaces. */
#define CALL(name, parameters, arguments) static __typeof__(&name) real_##name;
#define CALL_WITHOUT_RESULT		  CALL

#include "rsm_calls.def"

#undef CALL
#undef CALL_WITHOUT_RESULT

/* --- controllers, topology, identifiers --- */

static int get_controller_counts_twice(char *name, rsmapi_controller_handle_t *controller)
{
	rsmapi_controller_handle_t again;
	int result = real_rsm_get_controller(name, controller);

	if (result == RSM_SUCCESS)
		real_rsm_get_controller(name, &again);
	return result;
}

static int get_controller_heeds_case(char *name, rsmapi_controller_handle_t *controller)
{
	const char *at;

	for (at = name; at && *at; at++) {
		if (*at >= 'A' && *at <= 'Z')
			return RSMERR_CTLR_NOT_PRESENT;
	}
	return real_rsm_get_controller(name, controller);
}

static void free_topology_frees_nothing(rsm_topology_t *topology_data)
{
	(void)topology_data;
}

static int topology_names_next_node(rsm_topology_t **topology_data)
{
	int result = real_rsm_get_interconnect_topology(topology_data);
	rsm_connections_t *path;
	int i;

	if (result != RSM_SUCCESS || !(*topology_data)->topology_hdr.local_cntlr_count)
		return result;
	path = (*topology_data)->connections[0];
	for (i = 0; i < path->hdr.remote_cntlr_count; i++)
		path->remote_cntlr[i].remote_nodeid++;
	return result;
}

static int range_one_longer(const char *appid, rsm_memseg_id_t *baseid, uint32_t *length)
{
	int result = real_rsm_get_segmentid_range(appid, baseid, length);

	if (result == RSM_SUCCESS)
		++*length;
	return result;
}

/* --- exports --- */

static int create_leaks_descriptor(rsmapi_controller_handle_t controller,
				   rsm_memseg_export_handle_t *memseg, void *vaddr, size_t size,
				   uint_t flags)
{
	int result = real_rsm_memseg_export_create(controller, memseg, vaddr, size, flags);

	if (result == RSM_SUCCESS)
		eventfd(0, EFD_CLOEXEC);
	return result;
}

static int create_writes_on_failure(rsmapi_controller_handle_t controller,
				    rsm_memseg_export_handle_t *memseg, void *vaddr, size_t size,
				    uint_t flags)
{
	int result = real_rsm_memseg_export_create(controller, memseg, vaddr, size, flags);

	if (result == RSMERR_BAD_LENGTH || result == RSMERR_BAD_MEM_ALIGNMENT)
		*memseg = (rsm_memseg_export_handle_t)-1;
	return result;
}

static int publish_chooses_itself(rsm_memseg_export_handle_t memseg, rsm_memseg_id_t *segment_id,
				  rsmapi_access_entry_t access_list[], uint_t access_list_length)
{
	rsm_memseg_id_t other = 0;
	int result =
		real_rsm_memseg_export_publish(memseg, segment_id, access_list, access_list_length);

	if (result != RSM_SUCCESS || *segment_id >= RSM_USER_APP_ID_BASE)
		return result;
	real_rsm_memseg_export_unpublish(memseg);
	return real_rsm_memseg_export_publish(memseg, &other, access_list, access_list_length);
}

static int publish_ignores_list(rsm_memseg_export_handle_t memseg, rsm_memseg_id_t *segment_id,
				rsmapi_access_entry_t access_list[], uint_t access_list_length)
{
	int result =
		real_rsm_memseg_export_publish(memseg, segment_id, access_list, access_list_length);

	if (result == RSM_SUCCESS)
		real_rsm_memseg_export_republish(memseg, NULL, 0);
	return result;
}

static int republish_changes_nothing(rsm_memseg_export_handle_t memseg,
				     rsmapi_access_entry_t access_list[], uint_t access_list_length)
{
	(void)memseg;
	(void)access_list;
	(void)access_list_length;
	return RSM_SUCCESS;
}

static int unpublish_leaves_importers(rsm_memseg_export_handle_t memseg)
{
	(void)memseg;
	return RSM_SUCCESS;
}

static int rebind_changes_nothing(rsm_memseg_export_handle_t memseg, void *vaddr, offset_t off,
				  size_t size)
{
	(void)memseg;
	(void)vaddr;
	(void)off;
	(void)size;
	return RSM_SUCCESS;
}

/* --- imports and mappings --- */

static int connect_asks_for_more(rsmapi_controller_handle_t controller, rsm_node_id_t node_id,
				 rsm_memseg_id_t segment_id, rsm_permission_t perm,
				 rsm_memseg_import_handle_t *im_memseg)
{
	if (perm == RSM_PERM_READ || perm == RSM_PERM_WRITE) {
		int result = real_rsm_memseg_import_connect(controller, node_id, segment_id,
							    RSM_PERM_RDWR, im_memseg);

		if (result == RSM_SUCCESS)
			return result;
	}
	return real_rsm_memseg_import_connect(controller, node_id, segment_id, perm, im_memseg);
}

static int connect_leaks_descriptor(rsmapi_controller_handle_t controller, rsm_node_id_t node_id,
				    rsm_memseg_id_t segment_id, rsm_permission_t perm,
				    rsm_memseg_import_handle_t *im_memseg)
{
	int result =
		real_rsm_memseg_import_connect(controller, node_id, segment_id, perm, im_memseg);

	if (result == RSM_SUCCESS)
		eventfd(0, EFD_CLOEXEC);
	return result;
}

static int map_ignores_offset(rsm_memseg_import_handle_t im_memseg, void **address,
			      rsm_attribute_t attr, rsm_permission_t perm, off_t offset,
			      size_t length)
{
	int result = real_rsm_memseg_import_map(im_memseg, address, attr, perm, offset, length);

	if (result != RSM_SUCCESS || offset == 0)
		return result;
	real_rsm_memseg_import_unmap(im_memseg);
	return real_rsm_memseg_import_map(im_memseg, address, attr, perm, 0, length);
}

static int map_ignores_permission(rsm_memseg_import_handle_t im_memseg, void **address,
				  rsm_attribute_t attr, rsm_permission_t perm, off_t offset,
				  size_t length)
{
	int result = real_rsm_memseg_import_map(im_memseg, address, attr, perm, offset, length);

	if (result == RSM_SUCCESS)
		mprotect(*address, length, PROT_READ | PROT_WRITE);
	return result;
}

static int map_not_at_fixed(rsm_memseg_import_handle_t im_memseg, void **address,
			    rsm_attribute_t attr, rsm_permission_t perm, off_t offset,
			    size_t length)
{
	return real_rsm_memseg_import_map(
		im_memseg, address, attr & ~(rsm_attribute_t)RSM_MAP_FIXED, perm, offset, length);
}

static int unmap_leaves_it(rsm_memseg_import_handle_t im_memseg)
{
	(void)im_memseg;
	return RSM_SUCCESS;
}

/* --- transfers --- */

static int get8_one_item_short(rsm_memseg_import_handle_t im_memseg, off_t offset, uint8_t *datap,
			       ulong_t rep_cnt)
{
	return real_rsm_memseg_import_get8(im_memseg, offset, datap,
					   rep_cnt > 1 ? rep_cnt - 1 : rep_cnt);
}

static int put32_one_item_short(rsm_memseg_import_handle_t im_memseg, off_t offset, uint32_t *datap,
				ulong_t rep_cnt)
{
	return real_rsm_memseg_import_put32(im_memseg, offset, datap,
					    rep_cnt > 1 ? rep_cnt - 1 : rep_cnt);
}

static int put16_swaps_bytes(rsm_memseg_import_handle_t im_memseg, off_t offset, uint16_t *datap,
			     ulong_t rep_cnt)
{
	uint16_t swapped;

	if (rep_cnt != 1)
		return real_rsm_memseg_import_put16(im_memseg, offset, datap, rep_cnt);
	swapped = __builtin_bswap16(*datap);
	return real_rsm_memseg_import_put16(im_memseg, offset, &swapped, 1);
}

static int get64_only_32_bits(rsm_memseg_import_handle_t im_memseg, off_t offset, uint64_t *datap,
			      ulong_t rep_cnt)
{
	int result = real_rsm_memseg_import_get64(im_memseg, offset, datap, rep_cnt);
	ulong_t i;

	for (i = 0; result == RSM_SUCCESS && i < rep_cnt; i++)
		datap[i] = (uint32_t)datap[i];
	return result;
}

static int put_short_at_page_end(rsm_memseg_import_handle_t im_memseg, off_t offset, void *src_addr,
				 size_t length)
{
	return real_rsm_memseg_import_put(im_memseg, offset, src_addr,
					  length > 1 && (offset + length) % 4096 == 0 ? length - 1
										      : length);
}

static int get_short_at_page_end(rsm_memseg_import_handle_t im_memseg, off_t offset, void *dst_addr,
				 size_t length)
{
	return real_rsm_memseg_import_get(im_memseg, offset, dst_addr,
					  length > 1 && (offset + length) % 4096 == 0 ? length - 1
										      : length);
}

static int put_writes_what_it_refuses(rsm_memseg_import_handle_t im_memseg, off_t offset,
				      void *src_addr, size_t length)
{
	int result = real_rsm_memseg_import_put(im_memseg, offset, src_addr, length);

	if (result == RSMERR_BAD_LENGTH)
		real_rsm_memseg_import_put(im_memseg, offset, src_addr, 1);
	return result;
}

static int put_leaks_mapping(rsm_memseg_import_handle_t im_memseg, off_t offset, void *src_addr,
			     size_t length)
{
	mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return real_rsm_memseg_import_put(im_memseg, offset, src_addr, length);
}

static int get_leaks_mapping(rsm_memseg_import_handle_t im_memseg, off_t offset, void *dst_addr,
			     size_t length)
{
	mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return real_rsm_memseg_import_get(im_memseg, offset, dst_addr, length);
}

static int putv_residual_off_by_one(rsm_scat_gath_t *sg_io)
{
	int result = real_rsm_memseg_import_putv(sg_io);

	if (result != RSM_SUCCESS && result != RSMERR_BAD_SGIO && sg_io->io_residual_count > 0)
		sg_io->io_residual_count--;
	return result;
}

static int getv_residual_off_by_one(rsm_scat_gath_t *sg_io)
{
	int result = real_rsm_memseg_import_getv(sg_io);

	if (result != RSM_SUCCESS && result != RSMERR_BAD_SGIO && sg_io->io_residual_count > 0)
		sg_io->io_residual_count--;
	return result;
}

static int putv_residual_left_on_success(rsm_scat_gath_t *sg_io)
{
	int result = real_rsm_memseg_import_putv(sg_io);

	if (result == RSM_SUCCESS)
		sg_io->io_residual_count = 1;
	return result;
}

static int putv_posts_no_signal(rsm_scat_gath_t *sg_io)
{
	uint_t flags;
	int result;

	if (!sg_io)
		return real_rsm_memseg_import_putv(sg_io);
	flags = sg_io->flags;
	sg_io->flags &= ~(uint_t)RSM_IMPLICIT_SIGPOST;
	result = real_rsm_memseg_import_putv(sg_io);
	sg_io->flags = flags;
	return result;
}

/* --- barriers and modes --- */

static int without_loss(int result)
{
	return result == RSMERR_CONN_ABORTED || result == RSMERR_BARRIER_FAILURE ||
			       result == RSMERR_REMOTE_NODE_UNREACHABLE
		       ? RSM_SUCCESS
		       : result;
}

static int close_barrier_never_fails(rsmapi_barrier_t *barrier)
{
	return without_loss(real_rsm_memseg_import_close_barrier(barrier));
}

static int order_barrier_never_fails(rsmapi_barrier_t *barrier)
{
	return without_loss(real_rsm_memseg_import_order_barrier(barrier));
}

static int order_barrier_closes(rsmapi_barrier_t *barrier)
{
	int result = real_rsm_memseg_import_order_barrier(barrier);

	if (result == RSM_SUCCESS)
		real_rsm_memseg_import_close_barrier(barrier);
	return result;
}

static int close_barrier_leaves_open(rsmapi_barrier_t *barrier)
{
	return real_rsm_memseg_import_order_barrier(barrier);
}

static int destroy_barrier_leaves_it(rsmapi_barrier_t *barrier)
{
	(void)barrier;
	return RSM_SUCCESS;
}

static int init_barrier_opens(rsm_memseg_import_handle_t im_memseg, rsm_barrier_type_t type,
			      rsmapi_barrier_t *barrier)
{
	int result = real_rsm_memseg_import_init_barrier(im_memseg, type, barrier);

	if (result == RSM_SUCCESS)
		real_rsm_memseg_import_open_barrier(barrier);
	return result;
}

static int set_mode_changes_nothing(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t mode)
{
	(void)im_memseg;
	(void)mode;
	return RSM_SUCCESS;
}

static int get_mode_is_implicit(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t *mode)
{
	int result = real_rsm_memseg_import_get_mode(im_memseg, mode);

	if (result == RSM_SUCCESS)
		*mode = RSM_BARRIER_MODE_IMPLICIT;
	return result;
}

/* --- signals --- */

static int signal_post_every_other(void *memseg, uint_t flags)
{
	static atomic_uint number;

	return atomic_fetch_add(&number, 1) % 2 ? RSM_SUCCESS
						: real_rsm_intr_signal_post(memseg, flags);
}

static int signal_post_twice(void *memseg, uint_t flags)
{
	int result = real_rsm_intr_signal_post(memseg, flags);

	if (result == RSM_SUCCESS)
		real_rsm_intr_signal_post(memseg, flags & ~(uint_t)RSM_SIGPOST_NO_ACCUMULATE);
	return result;
}

static int signal_post_always_accumulates(void *memseg, uint_t flags)
{
	return real_rsm_intr_signal_post(memseg, flags & ~(uint_t)RSM_SIGPOST_NO_ACCUMULATE);
}

static int signal_post_never_accumulates(void *memseg, uint_t flags)
{
	return real_rsm_intr_signal_post(memseg, flags | RSM_SIGPOST_NO_ACCUMULATE);
}

static int signal_wait_ends_early(void *memseg, int timeout)
{
	return real_rsm_intr_signal_wait(memseg, timeout > 1 ? timeout / 2 : timeout);
}

static int signal_wait_takes_two(void *memseg, int timeout)
{
	int result = real_rsm_intr_signal_wait(memseg, timeout);

	if (result == RSM_SUCCESS)
		real_rsm_intr_signal_wait(memseg, 0);
	return result;
}

static int signal_wait_timeout_succeeds(void *memseg, int timeout)
{
	int result = real_rsm_intr_signal_wait(memseg, timeout);

	return result == RSMERR_TIMEOUT ? RSM_SUCCESS : result;
}

static int wait_pollfd_counts_all(struct pollfd fds[], nfds_t nfds, int timeout, int *numfdsp)
{
	int result = real_rsm_intr_signal_wait_pollfd(fds, nfds, timeout, numfdsp);

	if (result == RSM_SUCCESS && numfdsp)
		*numfdsp = (int)nfds;
	return result;
}

static int wait_pollfd_ends_early(struct pollfd fds[], nfds_t nfds, int timeout, int *numfdsp)
{
	return real_rsm_intr_signal_wait_pollfd(fds, nfds, timeout > 1 ? timeout / 2 : timeout,
						numfdsp);
}

static int wait_pollfd_takes_nothing(struct pollfd fds[], nfds_t nfds, int timeout, int *numfdsp)
{
	int ready = poll(fds, nfds, timeout);

	if (numfdsp && ready >= 0)
		*numfdsp = ready;
	return ready > 0 ? RSM_SUCCESS : ready == 0 ? RSMERR_TIMEOUT : RSMERR_INTERRUPTED;
}

static int get_pollfd_clears_revents(void *memseg, struct pollfd *pollfd)
{
	int result = real_rsm_memseg_get_pollfd(memseg, pollfd);

	if (result == RSM_SUCCESS)
		pollfd->revents = 0;
	return result;
}

static int get_pollfd_wrong_event(void *memseg, struct pollfd *pollfd)
{
	int result = real_rsm_memseg_get_pollfd(memseg, pollfd);

	if (result == RSM_SUCCESS)
		pollfd->events = POLLPRI;
	return result;
}

static int get_pollfd_does_not_count(void *memseg, struct pollfd *pollfd)
{
	int result = real_rsm_memseg_get_pollfd(memseg, pollfd);

	if (result == RSM_SUCCESS)
		real_rsm_memseg_release_pollfd(memseg);
	return result;
}

static int release_pollfd_takes_signal(void *memseg)
{
	real_rsm_intr_signal_wait(memseg, 0);
	return real_rsm_memseg_release_pollfd(memseg);
}

#define MUTATIONS(MUTATION)                                                                        \
	MUTATION("rsm-controller-counts-twice", get_controller, get_controller_counts_twice)       \
	MUTATION("rsm-controller-heeds-case", get_controller, get_controller_heeds_case)           \
	MUTATION("rsm-topology-not-freed", free_interconnect_topology,                             \
		 free_topology_frees_nothing)                                                      \
	MUTATION("rsm-topology-wrong-node", get_interconnect_topology, topology_names_next_node)   \
	MUTATION("rsm-segmentid-range-longer", get_segmentid_range, range_one_longer)              \
	MUTATION("rsm-create-leaks-descriptor", memseg_export_create, create_leaks_descriptor)     \
	MUTATION("rsm-create-writes-on-failure", memseg_export_create, create_writes_on_failure)   \
	MUTATION("rsm-publish-chooses-itself", memseg_export_publish, publish_chooses_itself)      \
	MUTATION("rsm-publish-ignores-list", memseg_export_publish, publish_ignores_list)          \
	MUTATION("rsm-republish-ignored", memseg_export_republish, republish_changes_nothing)      \
	MUTATION("rsm-unpublish-ignored", memseg_export_unpublish, unpublish_leaves_importers)     \
	MUTATION("rsm-rebind-ignored", memseg_export_rebind, rebind_changes_nothing)               \
	MUTATION("rsm-connect-asks-for-more", memseg_import_connect, connect_asks_for_more)        \
	MUTATION("rsm-connect-leaks-descriptor", memseg_import_connect, connect_leaks_descriptor)  \
	MUTATION("rsm-map-ignores-offset", memseg_import_map, map_ignores_offset)                  \
	MUTATION("rsm-map-ignores-permission", memseg_import_map, map_ignores_permission)          \
	MUTATION("rsm-map-not-at-fixed", memseg_import_map, map_not_at_fixed)                      \
	MUTATION("rsm-unmap-leaves-it", memseg_import_unmap, unmap_leaves_it)                      \
	MUTATION("rsm-get8-one-item-short", memseg_import_get8, get8_one_item_short)               \
	MUTATION("rsm-put32-one-item-short", memseg_import_put32, put32_one_item_short)            \
	MUTATION("rsm-put16-swaps-bytes", memseg_import_put16, put16_swaps_bytes)                  \
	MUTATION("rsm-get64-only-32-bits", memseg_import_get64, get64_only_32_bits)                \
	MUTATION("rsm-put-short-at-page-end", memseg_import_put, put_short_at_page_end)            \
	MUTATION("rsm-get-short-at-page-end", memseg_import_get, get_short_at_page_end)            \
	MUTATION("rsm-put-writes-refused", memseg_import_put, put_writes_what_it_refuses)          \
	MUTATION("rsm-put-leaks-mapping", memseg_import_put, put_leaks_mapping)                    \
	MUTATION("rsm-get-leaks-mapping", memseg_import_get, get_leaks_mapping)                    \
	MUTATION("rsm-putv-residual-off-by-one", memseg_import_putv, putv_residual_off_by_one)     \
	MUTATION("rsm-getv-residual-off-by-one", memseg_import_getv, getv_residual_off_by_one)     \
	MUTATION("rsm-putv-residual-on-success", memseg_import_putv,                               \
		 putv_residual_left_on_success)                                                    \
	MUTATION("rsm-putv-posts-no-signal", memseg_import_putv, putv_posts_no_signal)             \
	MUTATION("rsm-close-barrier-never-fails", memseg_import_close_barrier,                     \
		 close_barrier_never_fails)                                                        \
	MUTATION("rsm-order-barrier-never-fails", memseg_import_order_barrier,                     \
		 order_barrier_never_fails)                                                        \
	MUTATION("rsm-order-barrier-closes", memseg_import_order_barrier, order_barrier_closes)    \
	MUTATION("rsm-close-barrier-leaves-open", memseg_import_close_barrier,                     \
		 close_barrier_leaves_open)                                                        \
	MUTATION("rsm-destroy-barrier-ignored", memseg_import_destroy_barrier,                     \
		 destroy_barrier_leaves_it)                                                        \
	MUTATION("rsm-init-barrier-opens", memseg_import_init_barrier, init_barrier_opens)         \
	MUTATION("rsm-set-mode-ignored", memseg_import_set_mode, set_mode_changes_nothing)         \
	MUTATION("rsm-get-mode-is-implicit", memseg_import_get_mode, get_mode_is_implicit)         \
	MUTATION("rsm-signal-lost", intr_signal_post, signal_post_every_other)                     \
	MUTATION("rsm-signal-doubled", intr_signal_post, signal_post_twice)                        \
	MUTATION("rsm-signal-always-accumulates", intr_signal_post,                                \
		 signal_post_always_accumulates)                                                   \
	MUTATION("rsm-signal-never-accumulates", intr_signal_post, signal_post_never_accumulates)  \
	MUTATION("rsm-signal-wait-early", intr_signal_wait, signal_wait_ends_early)                \
	MUTATION("rsm-signal-wait-takes-two", intr_signal_wait, signal_wait_takes_two)             \
	MUTATION("rsm-signal-wait-timeout-succeeds", intr_signal_wait,                             \
		 signal_wait_timeout_succeeds)                                                     \
	MUTATION("rsm-wait-pollfd-counts-all", intr_signal_wait_pollfd, wait_pollfd_counts_all)    \
	MUTATION("rsm-wait-pollfd-early", intr_signal_wait_pollfd, wait_pollfd_ends_early)         \
	MUTATION("rsm-wait-pollfd-takes-nothing", intr_signal_wait_pollfd,                         \
		 wait_pollfd_takes_nothing)                                                        \
	MUTATION("rsm-get-pollfd-clears-revents", memseg_get_pollfd, get_pollfd_clears_revents)    \
	MUTATION("rsm-get-pollfd-wrong-event", memseg_get_pollfd, get_pollfd_wrong_event)          \
	MUTATION("rsm-get-pollfd-does-not-count", memseg_get_pollfd, get_pollfd_does_not_count)    \
	MUTATION("rsm-release-pollfd-takes-signal", memseg_release_pollfd,                         \
		 release_pollfd_takes_signal)

#define INSTALLER(name, call, function)                                                            \
	static void install_##function(void)                                                       \
	{                                                                                          \
		wrapped_rsm_##call = function;                                                     \
	}

MUTATIONS(INSTALLER)

const struct mutation rsm_by_hand[] = {MUTATIONS(MUTATION_ENTRY)};
const size_t rsm_by_hand_count = sizeof(rsm_by_hand) / sizeof(*rsm_by_hand);

void rsm_by_hand_prepare(void)
{
#define CALL(name, parameters, arguments) real_##name = wrapped_##name;
#define CALL_WITHOUT_RESULT		  CALL

#include "rsm_calls.def"
}
