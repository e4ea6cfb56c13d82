/* SPDX-License-Identifier: BSD-2-Clause */
/* An API of three functions that never has to run: what the spec compiler's tests compile against. */
#ifndef MINI_H
#define MINI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int mini_epd_t;
typedef void (*mini_handler_t)(int event);

struct mini_id {
	uint16_t node, port;
};

#define MINI_FIRST_PORT 1088

/* Not a function: mini_comment(void); */
mini_epd_t mini_open(void);
int mini_bind(mini_epd_t, uint16_t pn);
extern int mini_connect(mini_epd_t epd, const struct mini_id *to, mini_handler_t handler)
	__attribute__((nonnull(2)));

static inline int mini_number(mini_epd_t epd)
{
	return epd;
}

#ifdef __cplusplus
}
#endif

#endif
