/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes every call on.  All definitions are weak, so that a mutant replaces those it wants. */
#include "rsm_wrapped.h"

#include <dlfcn.h>

#define CALL(name, parameters, arguments)                                                          \
	__typeof__(&name) wrapped_##name;                                                          \
	__attribute__((weak)) int name parameters                                                  \
	{                                                                                          \
		return wrapped_##name arguments;                                                   \
	}
#define CALL_WITHOUT_RESULT(name, parameters, arguments)                                           \
	__typeof__(&name) wrapped_##name;                                                          \
	__attribute__((weak)) void name parameters                                                 \
	{                                                                                          \
		wrapped_##name arguments;                                                          \
	}

#include "rsm_calls.def"

#undef CALL
#undef CALL_WITHOUT_RESULT

__attribute__((weak)) void wrapped_found(void)
{
}

/* Programs that use no librsm are preloaded too, a shell for example; there is nothing to wrap
 * then. */
__attribute__((constructor)) static void find_all(void)
{
#define CALL(name, parameters, arguments) *(void **)&wrapped_##name = dlsym(RTLD_NEXT, #name);
#define CALL_WITHOUT_RESULT		  CALL

#include "rsm_calls.def"
	wrapped_found();
}
