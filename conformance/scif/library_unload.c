/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on a closed endpoint, and then the library goes, while the program still has its memory. */
#include "ends.h"

#include <dlfcn.h>
#include <stdlib.h>

#define LEFT_WELL 7
#define NO_START  8 /* the copy opens no endpoint */

/* The library once more, in a name space of its own, where it can be unloaded. */
struct copy {
	void *handle;
	__typeof__(scif_open) *open;
	__typeof__(scif_bind) *bind;
	__typeof__(scif_listen) *listen;
	__typeof__(scif_connect) *connect;
	__typeof__(scif_accept) *accept;
	__typeof__(scif_close) *close;
	__typeof__(scif_send) *send;
	__typeof__(scif_register) *reg;
	__typeof__(scif_unregister) *unregister;
	__typeof__(scif_fence_mark) *fence_mark;
	__typeof__(__errno_location) *error; /* its C library is one of its own as well */
};

#ifdef LM_ID_NEWLM
static struct copy load_copy(void)
{
	Dl_info of;
	void *present = dlsym(RTLD_DEFAULT, "scif_open");

	CTS_REQUIRE(present && dladdr(present, &of) && of.dli_fname);
	struct copy c = {.handle = dlmopen(LM_ID_NEWLM, of.dli_fname, RTLD_NOW)};

	if (!c.handle)
		cts_untested("the library cannot be loaded a second time: %s", dlerror());
	c.open = dlsym(c.handle, "scif_open");
	c.bind = dlsym(c.handle, "scif_bind");
	c.listen = dlsym(c.handle, "scif_listen");
	c.connect = dlsym(c.handle, "scif_connect");
	c.accept = dlsym(c.handle, "scif_accept");
	c.close = dlsym(c.handle, "scif_close");
	c.send = dlsym(c.handle, "scif_send");
	c.reg = dlsym(c.handle, "scif_register");
	c.unregister = dlsym(c.handle, "scif_unregister");
	c.fence_mark = dlsym(c.handle, "scif_fence_mark");
	c.error = dlsym(c.handle, "__errno_location");
	CTS_REQUIRE(c.error && c.open && c.bind && c.listen && c.connect && c.accept && c.close &&
		    c.send && c.reg && c.unregister && c.fence_mark);
	return c;
}
#else
static struct copy load_copy(void)
{
	cts_untested("this C library does not load a library a second time");
}
#endif

/* Both ends through the copy; false: it does not connect them. */
static bool connect_copy(const struct copy *c, scif_epd_t pair[2])
{
	struct scif_portID at = {.node = cts_self_node()}, from;
	scif_epd_t listener = c->open();
	int port = c->bind(listener, 0);

	pair[0] = c->open();
	if (listener < 0 || port < 0 || c->listen(listener, 1) != 0 || pair[0] < 0 ||
	    fcntl(pair[0], F_SETFL, O_NONBLOCK) != 0)
		return false;
	at.port = (uint16_t)port;
	c->connect(pair[0], &at);
	return c->accept(listener, &from, &pair[1], SCIF_ACCEPT_SYNC) == 0 &&
	       c->connect(pair[0], &at) >= 0 && c->close(listener) == 0;
}

/* The text allows all of these for a number that is no endpoint any more. */
static bool is_no_endpoint(const struct copy *c, int ret)
{
	int err = *c->error();

	return ret == -1 && (err == EBADF || err == EINVAL || err == ENOTTY);
}

/* A child, so that its end is seen: what it returns is the status that it wants to leave with. */
static int use_and_unload(void *arg)
{
	const struct copy *c = arg;
	size_t page = cts_page_size();
	unsigned char *memory = aligned_alloc(page, page);
	scif_epd_t pair[2];
	int mark;

	scif_epd_t first = c->open();
	if (first == SCIF_OPEN_FAILED)
		return NO_START;
	if (!memory || c->close(first) != 0 || !connect_copy(c, pair))
		return 1;
	memset(memory, 5, page);
	off_t offset = c->reg(pair[0], memory, page, 0, READ_WRITE, 0);
	if (offset == SCIF_REGISTER_FAILED || c->close(pair[0]) != 0)
		return 2;
	if (!is_no_endpoint(c, c->unregister(pair[0], offset, page)) ||
	    !is_no_endpoint(c, c->fence_mark(pair[0], SCIF_FENCE_INIT_SELF, &mark)) ||
	    !is_no_endpoint(c, c->send(pair[0], "x", 1, 0)))
		return 3;
	if (dlclose(c->handle) != 0 || !cts_is_byte(memory, page, 5))
		return 4;
	free(memory);
	return LEFT_WELL;
}

SCENARIO(b02_library_unload)
{
	cts_need("second_copy");
	struct copy c = load_copy();

	int status = cts_wait_child(cts_fork(use_and_unload, &c));
	if (status == NO_START)
		cts_untested("a second copy of the library opens no endpoint in this process");
	CTS_ASSERT(CTS_OBSERVE(status).ret == LEFT_WELL);
	CTS_ASSERT(dlclose(c.handle) == 0);
}
